// O04, O05: with `api.rest.draftGrant`, a caller without permission for drafts learns nothing of them in any way: responses stay the
// same, byte for byte, when all values that only drafts have are changed.
import { afterAll, beforeAll, describe, expect } from 'vitest'
import { loadModel } from '../../src/model/schema/load.js'
import { grant } from '../spec/callers.js'
import { rule } from '../support/rule.js'
import type { Served, TestResponse } from '../support/serve.js'
import { goldenProject, goldenTokens, serveGolden } from '../support/serve.js'
import { cutDrafts, requestsFrom, rewriteDrafts, rootsOf } from './closed-drafts.js'

const model = await loadModel({ folder: goldenProject })
const { readonly, alice, full } = goldenTokens() as { readonly: string; alice: string; full: string }

describe.each(['strapi', 'specification'] as const)('with the contract %s', (contract) => {
  let served: Served
  beforeAll(async () => {
    served = await serveGolden({ config: { api: { rest: { contract, draftGrant: true } } } })
    const drafts = await served.sql('select id from articles where published_at is null order by id')
    for (const [index, { id }] of (await served.sql('select id from comments order by id')).entries())
      await served.sql(
        `insert into comments_subjects_mph (comment_id, subjects_id, subjects_type, field, "order") values (?, ?, 'api::article.article', 'subjects', 9)`,
        ...[id, drafts[index % drafts.length]!.id],
      )
  })
  afterAll(() => served.close())

  async function answersTo(requests: readonly string[], token: string | undefined): Promise<readonly string[]> {
    const answers: string[] = []
    let next = 0
    const work = async (): Promise<void> => {
      while (next < requests.length) {
        const at = next++
        const { status, text } = await served.request(`/api${requests[at]}`, token === undefined ? {} : { token })
        answers[at] = `${status} ${text}`
      }
    }
    await Promise.all([work(), work(), work()])
    return answers
  }

  rule('status.8', 'O04 O05 no request of the walk reveals content, number or order of drafts', async () => {
    const roots = rootsOf(model)
    const deep = roots.flatMap((root) => requestsFrom(model, root, 2, process.env.WALK === 'all'))
    const wide = roots.flatMap((root) => requestsFrom(model, root, 0, true))
    const flat = roots.flatMap((root) => requestsFrom(model, root, 1, true))
    const sampled = flat.filter((_, at) => at % 3 === 0)
    const walks = [
      { caller: 'a read-only token', requests: deep, token: readonly },
      { caller: 'nobody', requests: wide.filter((_, at) => at % 3 === 0), token: undefined },
      { caller: 'alice', requests: wide.filter((_, at) => at % 3 === 1), token: alice },
    ]
    const sendRequest = async (): Promise<(readonly string[])[]> => {
      const all: (readonly string[])[] = []
      for (const { requests, token } of walks) all.push(await answersTo(requests, token))
      return all
    }
    await rewriteDrafts(served, model, 'SECRET')
    const before = await sendRequest()
    const seen = await answersTo(sampled, full)
    await rewriteDrafts(served, model, 'ANOTHER')
    await cutDrafts(served, model)
    const after = await sendRequest()
    const learned = walks.flatMap(({ caller, requests }, walk) =>
      requests.filter((_, at) => before[walk]![at] !== after[walk]![at]).map((request) => `${caller}: ${request}`),
    )
    expect(learned).toEqual([])
    expect(before.flat().filter((answer) => answer.slice(4).includes('SECRET'))).toEqual([])
    expect(before[0]!.filter((answer) => answer.startsWith('200')).length).toBeGreaterThan(deep.length / 3)
    expect(before.flat().filter((answer) => answer.startsWith('5'))).toEqual([])
    // Proof that the walk can detect changes: a caller with permission for drafts sees the change.
    const told = await answersTo(sampled, full)
    expect(seen.filter((answer, at) => answer !== told[at]).length).toBeGreaterThan(8)
  })
})

describe('writes by a caller who may not read drafts', () => {
  let served: Served
  beforeAll(async () => {
    served = await serveGolden({ config: { api: { rest: { contract: 'specification', draftGrant: true } } } })
    await rewriteDrafts(served, model, 'SECRET')
    for (const name of ['article', 'author', 'homepage'])
      for (const action of ['create', 'update', 'delete', 'publish', 'unpublish', 'discard'])
        await grant(served, 'public', `api::${name}.${name}.${action}`)
  })
  afterAll(() => served.close())

  const look = async (statement: string): Promise<string> => Object.values((await served.sql(statement))[0]!)[0]
  const send = (method: string, path: string, data?: object): Promise<TestResponse> =>
    served.request(`/api${path}`, {
      method,
      ...(data && { headers: { 'content-type': 'application/json' }, body: JSON.stringify({ data }) }),
    })

  rule('status.9', 'responses of writes that leave a draft name it and have nothing else', async () => {
    const id = await look("select document_id from articles where published_at is null and locale = 'en' limit 1")
    const created = await send('POST', '/articles?status=draft&populate=*', { title: 'Mine', slug: 'mine-alone' })
    const changed = await send('PUT', `/articles/${id}?status=draft&populate=*`, { rank: 3 })
    const discarded = await send('POST', `/articles/${id}/actions/discard?populate=*`)
    const unpublished = await send('POST', `/articles/${id}/actions/unpublish?populate=tags`)
    const nested = await served.request(`/api/articles/${id}?status=draft`, {
      method: 'PUT',
      headers: { 'content-type': 'application/json', 'strapi-response-format': 'v4' },
      body: '{"data":{"rank":4}}',
    })
    expect([created.status, changed.status, discarded.status, unpublished.status]).toEqual([201, 200, 200, 200])
    for (const { text, body } of [created, changed, discarded, unpublished]) {
      expect(Object.keys(body.data)).toEqual(['id', 'documentId'])
      expect(text).not.toContain('SECRET')
    }
    expect(nested.body).toEqual({ data: { id: expect.any(Number), documentId: id, attributes: {} }, meta: {} })
  })

  rule('status.8', 'relations populated in the response of a write show no drafts', async () => {
    const { text, status } = await send('POST', '/authors?populate[articles][populate][0]=tags&populate[favorites]=true', {
      name: 'New',
      email: 'new@example.test',
      articles: [1],
    })
    expect([status, text]).toEqual([201, expect.any(String)])
    expect(text).not.toContain('SECRET')
    expect((await send('PUT', '/homepage?populate[top]=true&status=draft', { title: 'x' })).text).not.toContain('SECRET')
  })

  rule('status.8', 'parameters that compare versions are refused in writes as in reads', async () => {
    const id = await look('select document_id from articles where published_at is null limit 1')
    for (const query of ['publicationFilter=modified', 'hasPublishedVersion=true'])
      expect((await send('PUT', `/articles/${id}?status=draft&${query}`, { rank: 1 })).status).toBe(403)
  })

  rule('status.9', 'filters of a DELETE do not look into drafts', async () => {
    const id = await look(
      "select document_id from articles where locale = 'en' and document_id not in (select document_id from articles where published_at is not null) limit 1",
    )
    await send('DELETE', `/articles/${id}?filters[title][$startsWith]=SECRET`)
    expect(await look(`select count(*) from articles where document_id = '${id}'`)).not.toBe(0)
  })
})
