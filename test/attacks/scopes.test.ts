// A document outside of a caller's scope does not exist for it in any way: responses stay the same, byte for byte, when all values
// of such documents are changed, and when they are removed.
import { afterAll, beforeAll, describe, expect } from 'vitest'
import { loadModel } from '../../src/model/schema/load.js'
import type { ContentType } from '../../src/model/schema/types.js'
import { rule } from '../support/rule.js'
import type { Served } from '../support/serve.js'
import { goldenProject, goldenTokens, serveGolden } from '../support/serve.js'
import { requestsFrom, rewriteRows, rootsOf } from './closed-drafts.js'

const model = await loadModel({ folder: goldenProject })
const { readonly, alice, full } = goldenTokens() as { readonly: string; alice: string; full: string }

/** Documents with an id from here on are outside of everybody's scope, but of that of full-access tokens. */
const border = 'g'
const scoped = [...model.types.values()].filter(({ uid, singleType }) => uid.startsWith('api::') && !singleType)
const isHidden = ({ uid, singleType }: ContentType): string | null =>
  uid.startsWith('api::') && !singleType ? `document_id >= '${border}'` : null

describe.each(['strapi', 'specification'] as const)('with the contract %s', (contract) => {
  let served: Served
  beforeAll(async () => {
    served = await serveGolden({
      config: { api: { rest: { contract } } },
      code: {
        types: Object.fromEntries(
          scoped.map(({ uid }) => [
            uid,
            { scope: ({ may }) => may('plugin::upload.content-api.destroy') || { documentId: { $lt: border } } },
          ]),
        ),
      },
    })
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

  rule('scopes.1', 'no request of the walk reveals content, number or order of hidden documents', async () => {
    const roots = rootsOf(model)
    const deep = roots.flatMap((root) => requestsFrom(model, root, 2, process.env.WALK === 'all'))
    const wide = roots.flatMap((root) => requestsFrom(model, root, 0, true))
    const sampled = roots.flatMap((root) => requestsFrom(model, root, 1, true)).filter((_, at) => at % 3 === 0)
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
    await rewriteRows(served, model, 'SECRET', isHidden)
    const before = await sendRequest()
    const seen = await answersTo(sampled, full)
    await rewriteRows(served, model, 'ANOTHER', isHidden)
    const rewritten = await sendRequest()
    const told = await answersTo(sampled, full)
    for (const type of model.types.values()) {
      const hidden = isHidden(type)
      if (hidden !== null) await served.sql(`delete from "${type.table}" where ${hidden}`)
    }
    const without = await sendRequest()
    const learned = walks.flatMap(({ caller, requests }, walk) =>
      requests
        .filter((_, at) => before[walk]![at] !== rewritten[walk]![at] || before[walk]![at] !== without[walk]![at])
        .map((request) => `${caller}: ${request}`),
    )
    expect(learned).toEqual([])
    expect(before.flat().filter((answer) => answer.slice(4).includes('SECRET'))).toEqual([])
    expect(before[0]!.filter((answer) => answer.startsWith('200')).length).toBeGreaterThan(deep.length / 3)
    expect(before.flat().filter((answer) => answer.startsWith('5'))).toEqual([])
    // Proof that the walk can detect changes: a caller with access to all documents sees the change.
    expect(seen.filter((answer, at) => answer !== told[at]).length).toBeGreaterThan(8)
  })
})
