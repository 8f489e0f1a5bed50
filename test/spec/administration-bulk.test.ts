// One action on many documents, with a result for each of them.
import { afterAll, beforeAll, describe, expect } from 'vitest'
import { signInAdmin } from '../support/administration.js'
import { rule } from '../support/rule.js'
import type { Served, TestResponse } from '../support/serve.js'
import { patience } from '../support/until.js'
import { type AdminClient, front, giveRights, newsroomRoles, serveNewsroom, signInClient, story, writer } from './newsroom.js'

let served: Served
let ada: AdminClient
const clients: Record<string, AdminClient> = {}
const limits = { authRateLimit: 1_000 }

beforeAll(async () => {
  served = await serveNewsroom({ config: { limits } })
  ada = await signInClient(served, 'ada@office.example')
  for (const [code, rows] of Object.entries(newsroomRoles)) {
    await giveRights(served, code, rows)
    clients[code] = await signInClient(served, `${code}@office.example`, [code])
  }
})
afterAll(() => served?.close())

async function ok(asked: Promise<TestResponse>): Promise<TestResponse> {
  const answer = await asked
  if (answer.status >= 300) throw new Error(answer.text)
  return answer
}

const create = async (data: object, client: AdminClient = ada): Promise<string> => {
  const id: string = (await ok(ada.send('POST', `/content/${story}`, { data }))).body.data.documentId
  await served.sql('UPDATE stories SET created_by_id = ? WHERE document_id = ?', client.id, id)
  return id
}
/** Creates `count` stories that a filter on `summary` finds. */
async function stories(count: number, summary: string, client: AdminClient = ada): Promise<readonly string[]> {
  const ids: string[] = []
  for (let index = 0; index < count; index++) ids.push(await create({ title: `${summary} ${index}`, summary }, client))
  return ids
}
const inGerman = async (id: string) =>
  ok(ada.send('PATCH', `/content/${story}/${id}?locale=de`, { changes: { title: 'Deutsch' } }, { 'if-none-match': '*' }))
const bulk = (client: AdminClient, action: string, body: object, headers?: Record<string, string>) =>
  client.send('POST', '/bulk', { action, type: story, ...body }, headers)
const stateOf = async (id: string, locale = 'en') => (await ada.get(`/content/${story}/${id}?locale=${locale}`)).body.data?.state ?? null
const statusesOf = ({ body }: TestResponse) =>
  body.data.results.map(({ error }: { error: { status: number } | null }) => error?.status ?? 200)
const published = async (summary: string) =>
  (await ok(ada.get(`/content/${story}/total?status=published&filters[summary]=${summary}`))).body.data.total as number

rule('administration-bulk.1', 'an action on documents by their ids has a result for each, and continues after a refusal', async () => {
  const [one, two] = await stories(2, 'named')
  const bad = await create({ title: null, summary: 'named' })
  const documents = [one!, bad, 'aaaaaaaaaaaaaaaaaaaaaaaa', two!, one!]
  const { body } = await ok(bulk(ada, 'publish', { documents }))
  expect(body.data.results).toMatchObject([
    { documentId: one, error: null },
    { documentId: bad, error: { status: 400, name: 'ValidationError', errors: [{ path: ['title'] }] } },
    { documentId: 'aaaaaaaaaaaaaaaaaaaaaaaa', error: { status: 404 } },
    { documentId: two, error: null },
  ])
  expect([await stateOf(one!), await stateOf(bad), await stateOf(two!)]).toEqual(['published', 'draft', 'published'])
  const tag = (await ada.get(`/content/${story}/${one}`)).headers.get('etag') ?? ''
  await ok(ada.send('PATCH', `/content/${story}/${one}`, { changes: { title: 'Other' } }, { 'if-match': tag }))
  expect(await stateOf(one!)).toBe('changed')
  expect(statusesOf(await ok(bulk(ada, 'discard', { documents: [one] })))).toEqual([200])
  expect((await ada.get(`/content/${story}/${one}`)).body.data.draft.title).toBe('named 0')
  expect(statusesOf(await ok(bulk(ada, 'unpublish', { documents: [one, two] })))).toEqual([200, 200])
  expect([await stateOf(one!), await stateOf(two!)]).toEqual(['draft', 'draft'])
  expect(statusesOf(await ok(bulk(ada, 'delete', { documents: [one, two] })))).toEqual([200, 200])
  expect(await stateOf(one!)).toBe(null)
})

rule('administration-bulk.1', 'each action is in the log of activity under its administrator', async () => {
  const ids = await stories(2, 'logged')
  await ok(bulk(clients.editor!, 'publish', { documents: ids }))
  for (const id of ids) {
    const { body } = await ada.get(`/activity?subject=${story}&subjectId=${id}&limit=1`)
    expect(body.data[0]).toMatchObject({ action: 'publish', administrator: { id: clients.editor!.id } })
  }
})

rule('administration-bulk.2', 'the parameters of a list select documents', async () => {
  const ids = await stories(3, 'listed')
  await inGerman(ids[1]!)
  await served.sql('UPDATE stories SET score = 7 WHERE document_id = ?', ids[2]!)
  const chosen = async (where: object, more: object = {}) =>
    (await ok(bulk(ada, 'unpublish', { where, ...more }))).body.data.results.map(({ documentId }: { documentId: string }) => documentId)
  expect(await chosen({ filters: { summary: 'listed' } })).toEqual(ids)
  expect(await chosen({ filters: { summary: 'listed', score: { $gt: 5 } } })).toEqual([ids[2]])
  expect(await chosen({ filters: { $and: [{ summary: 'listed' }, { score: { $null: true } }] } })).toEqual([ids[0], ids[1]])
  expect(await chosen({ q: 'listed 1' })).toEqual([ids[1]])
  expect(await chosen({ locale: 'de', filters: { title: 'Deutsch', documentId: { $in: ids } } })).toEqual([ids[1]])
  expect(await chosen({ locale: '*', filters: { documentId: ids[1] } })).toEqual([ids[1]])
  expect(await chosen({ status: 'published', filters: { summary: 'listed' } })).toEqual([])
  await ok(bulk(ada, 'publish', { documents: [ids[0]] }))
  expect(await chosen({ hasPublishedVersion: true, filters: { summary: 'listed' } })).toEqual([ids[0]])
  const refusals: readonly (readonly [object, number])[] = [
    [{ where: { filters: { nothing: 'x' } } }, 400],
    [{ where: { filters: { summary: null } } }, 400],
    [{ where: { fields: ['title'] } }, 400],
    [{}, 400],
    [{ documents: ids, where: {} }, 400],
    [{ documents: [] }, 400],
    [{ documents: ids, type: 'api::nothing.nothing' }, 404],
    [{ documents: ids, type: writer }, 400],
    [{ documents: ids, more: true }, 400],
  ]
  for (const [body, status] of refusals) expect([body, (await bulk(ada, 'publish', body)).status]).toEqual([body, status])
})

rule('administration-bulk.3', 'an action applies to the named locales that a document has', async () => {
  const [both, english] = await stories(2, 'tongues')
  await inGerman(both!)
  const several = await ok(bulk(ada, 'publish', { documents: [both, english], locale: 'en,de' }))
  expect(statusesOf(several)).toEqual([200, 200])
  expect([await stateOf(both!), await stateOf(both!, 'de'), await stateOf(english!)]).toEqual(['published', 'published', 'published'])
  expect(statusesOf(await ok(bulk(ada, 'unpublish', { documents: [both, english], locale: 'de' })))).toEqual([200, 404])
  expect([await stateOf(both!), await stateOf(both!, 'de')]).toEqual(['published', 'draft'])
  // Without another word, that of the list.
  await ok(bulk(ada, 'publish', { where: { locale: 'de', filters: { documentId: both } } }))
  expect(await stateOf(both!, 'de')).toBe('published')
  await ok(bulk(ada, 'delete', { documents: [both], locale: '*' }))
  expect(await stateOf(both!, 'de')).toBe(null)
})

describe('rights', () => {
  // Statuses of publishing, unpublishing and deleting, for the own story and for that of another user.
  const table: Readonly<Record<string, readonly (readonly [number, number])[]>> = {
    editor: [
      [200, 200],
      [200, 200],
      [200, 200],
    ],
    author: [
      [404, 200],
      [404, 200],
      [404, 200],
    ],
    colleague: [
      [404, 200],
      [404, 200],
      [404, 200],
    ],
    fields: [
      [403, 403],
      [403, 403],
      [403, 403],
    ],
    german: [
      [404, 404],
      [404, 404],
      [404, 404],
    ],
    reader: [
      [403, 403],
      [403, 403],
      [403, 403],
    ],
    blind: [
      [403, 403],
      [403, 403],
      [403, 403],
    ],
    unknown: [
      [403, 403],
      [403, 403],
      [403, 403],
    ],
    none: [
      [403, 403],
      [403, 403],
      [403, 403],
    ],
  }
  for (const [code, expected] of Object.entries(table))
    rule('administration-bulk.4', `the rights of ${code} decide each document`, async () => {
      const client = clients[code]!
      const results = []
      for (const action of ['publish', 'unpublish', 'delete']) {
        const documents = [await create({ title: 'Other' }), await create({ title: 'Own' }, client)]
        const answer = await bulk(client, action, { documents })
        results.push(answer.status === 200 ? statusesOf(answer) : [answer.status, answer.status])
      }
      expect(results).toEqual(expected)
    })

  rule(
    'administration-bulk.4',
    'a list has only readable documents, and rights to one type or locale do not extend to others',
    async () => {
      const others = await stories(2, 'seen')
      const own = await stories(1, 'seen', clients.author!)
      const { body } = await ok(bulk(clients.author!, 'publish', { where: { filters: { summary: 'seen' } } }))
      expect(body.data.results).toEqual([{ documentId: own[0], name: null, error: null }])
      expect(await stateOf(others[0]!)).toBe('draft')
      // Unreadable attributes cannot be filtered.
      expect((await bulk(clients.fields!, 'publish', { where: { filters: { secret: 'x' } } })).status).toBe(403)
      await giveRights(served, 'publisher', [
        { action: 'read', subject: story, properties: { fields: ['title'], locales: null } },
        { action: 'publish', subject: story },
      ])
      const publisher = await signInClient(served, 'publisher@office.example', ['publisher'])
      expect((await bulk(publisher, 'publish', { where: { filters: { summary: 'seen' } } })).status).toBe(400)
      expect((await bulk(clients.editor!, 'delete', { type: writer, documents: ['aaaaaaaaaaaaaaaaaaaaaaaa'] })).status).toBe(403)
      expect((await bulk(clients.editor!, 'delete', { type: front, documents: ['aaaaaaaaaaaaaaaaaaaaaaaa'] })).status).toBe(403)
      const id = await create({ title: 'English' })
      await inGerman(id)
      expect(statusesOf(await ok(bulk(clients.german!, 'publish', { documents: [id], locale: 'de' })))).toEqual([200])
      expect(statusesOf(await ok(bulk(clients.german!, 'publish', { documents: [id], locale: 'en,de' })))).toEqual([200])
      expect([await stateOf(id), await stateOf(id, 'de')]).toEqual(['draft', 'published'])
      expect(statusesOf(await ok(bulk(clients.german!, 'publish', { documents: [id], locale: '*' })))).toEqual([403])
      expect(await stateOf(id)).toBe('draft')
    },
  )
})

rule('administration-bulk.5', 'deleting requires the password again', async () => {
  const ids = await stories(1, 'guarded')
  const old = await signInClient(served, 'old@office.example')
  const past = new Date(Date.now() - 3_600_000).toISOString()
  await served.sql('UPDATE strapi_sessions SET metadata = ? WHERE user_id = ?', JSON.stringify({ passwordAt: past }), String(old.id))
  const refused = await bulk(old, 'delete', { documents: ids })
  expect([refused.status, refused.body.error.details]).toEqual([403, { reason: 'password' }])
  expect((await bulk(old, 'publish', { documents: ids })).status).toBe(200)
  expect(await stateOf(ids[0]!)).toBe('published')
})

rule('administration-bulk.1', 'unchanged documents have no entry in the log of activity', async () => {
  const ids = await stories(8, 'never published')
  expect(statusesOf(await ok(bulk(ada, 'unpublish', { where: { filters: { summary: 'never published' } } })))).toEqual(ids.map(() => 200))
  const log = (await ok(ada.get('/activity?limit=200'))).body.data as { subjectId: string; action: string }[]
  expect(log.filter(({ subjectId, action }) => action === 'unpublish' && ids.includes(subjectId))).toEqual([])
})

rule('administration-bulk.14', 'more documents than the limit are refused, and none is changed', async () => {
  const summary = 'over the limit'
  const some = (from: number) =>
    Promise.all(Array.from({ length: Math.min(50, 501 - from) }, (_, each) => create({ title: `${summary} ${from + each}`, summary })))
  for (let from = 0; from < 501; from += 50) await some(from)
  const message = 'At most 500 documents in one request'
  const refused = {
    where: { filters: { summary: 'over the limit' } },
    documents: Array.from({ length: 501 }, (_, index) => `document-${index}`),
  }
  for (const [member, value] of Object.entries(refused)) {
    const errors = [{ path: [member], code: 'tooMany', params: { max: 500 }, message, name: 'ValidationError' }]
    expect((await bulk(ada, 'publish', { [member]: value })).body).toEqual({
      data: null,
      error: { status: 400, name: 'ValidationError', message, details: { errors } },
    })
  }
  expect(await published('over the limit')).toBe(0)
  const rest = { filters: { summary: 'over the limit', title: { $ne: 'over the limit 0' } } }
  expect(statusesOf(await ok(bulk(ada, 'publish', { where: rest })))).toEqual(Array.from({ length: 500 }, () => 200))
  expect(await published('over the limit')).toBe(500)
})

rule('administration-bulk.12', 'a repeated Idempotency-Key returns the stored results, and nothing is done again', async () => {
  const ids = await stories(3, 'repeated')
  const key = { 'idempotency-key': 'bulk-1' }
  const first = await ok(bulk(ada, 'delete', { documents: ids }, key))
  const again = await ok(bulk(ada, 'delete', { documents: ids }, key))
  expect([statusesOf(first), again.body]).toEqual([[200, 200, 200], first.body])
  expect((await bulk(ada, 'delete', { documents: ids.slice(1) }, key)).status).toBe(422)
  // The same key of another user is a different one.
  expect(statusesOf(await ok(bulk(clients.editor!, 'delete', { documents: ids }, key)))).toEqual([404, 404, 404])
})

rule('administration-bulk.15', 'a client that closes the connection stops the rest, and the log has the completed part', async () => {
  const ids = await stories(60, 'abandoned')
  const acts = async () =>
    (
      await served.sql(
        `SELECT subject_id FROM octavo_activity WHERE action = 'publish' AND subject = ? AND subject_id IN (${ids.map(() => '?').join(', ')})`,
        ...[story, ...ids],
      )
    ).map((row) => String(row.subject_id))
  const { accessToken } = await signInAdmin(served, 'ada@office.example')
  const key = { 'idempotency-key': 'bulk-3' }
  const body = { documents: ids }
  const abort = new AbortController()
  const abandoned = fetch(`${served.origin}/admin/api/bulk`, {
    method: 'POST',
    headers: { authorization: `Bearer ${accessToken}`, 'content-type': 'application/json', ...key },
    body: JSON.stringify({ action: 'publish', type: story, ...body }),
    signal: abort.signal,
  })
  while ((await acts()).length < 5) await new Promise((resolve) => setTimeout(resolve, 1))
  abort.abort()
  await expect(abandoned).rejects.toThrow()
  await expect.poll(async () => (await bulk(ada, 'publish', body, key)).status, patience).toBe(200)
  const done = await acts()
  expect(done.length).toBeLessThan(60)
  expect(await published('abandoned')).toBe(done.length)
  const { results } = (await ok(bulk(ada, 'publish', body, key))).body.data
  expect(results).toEqual(
    ids.map((documentId, index) => ({
      documentId,
      name: null,
      error:
        index < done.length
          ? null
          : {
              status: 503,
              name: 'ServiceUnavailableError',
              message: 'Not done: the client closed the connection',
              locale: null,
              errors: [],
            },
    })),
  )
  expect(await acts()).toEqual(done)
})
