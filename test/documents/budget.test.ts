// The cost of a write: the number of statements that the driver runs for a request, begin and commit included. Strapi 5.54 runs
// 46, 44 and 20 for these. The writer thread counts them, and the log has the number at the level `trace`.
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Served } from '../support/serve.js'
import { goldenTokens, serveGolden } from '../support/serve.js'
import { describeSqlite } from '../support/sqlite-only.js'
import { until } from '../support/until.js'

const token = goldenTokens().full!

describeSqlite('statements of one write', 'its writer thread counts them', () => {
  let served: Served
  beforeAll(async () => {
    served = await serveGolden({ environment: { LOG_LEVEL: 'trace' } })
    // The first start and the first use of a token are writes too.
    await served.request('/api/tags', { token })
    await until('the log has both', () => counted(served.log).length === 2)
  })
  let requests = 0
  // A closed service has logged everything: each request was one write, after those of the start and of the first use of a token.
  afterAll(async () => {
    await served.close()
    expect(counted(served.log)).toHaveLength(2 + requests)
  })

  /** Sends a write; resolves to its document and the number of its statements. */
  async function written(method: string, path: string, data?: object) {
    const before = counted(served.log).length
    requests++
    const answer = await served.request(path, {
      method,
      token,
      ...(data === undefined ? {} : { headers: { 'content-type': 'application/json' }, body: JSON.stringify({ data }) }),
    })
    expect(answer.status, answer.text).toBeLessThan(300)
    await until('the log has its statements', () => counted(served.log).length > before)
    return { documentId: answer.body?.data.documentId as string, statements: counted(served.log)[before]! }
  }
  const idsAt = async (path: string): Promise<readonly string[]> =>
    (await served.request(path, { token })).body.data.map(({ documentId }: { documentId: string }) => documentId)

  test('POST with two relations, published: at most 12', async () => {
    const [author] = await idsAt('/api/authors?sort=id')
    const tags = (await idsAt('/api/tags?sort=id')).slice(0, 2)
    const { documentId, statements } = await written('POST', '/api/articles', { title: 'Counted', author, tags })
    expect(statements).toBeGreaterThan(4)
    expect(statements).toBeLessThanOrEqual(12)
    const { body } = await served.request(`/api/articles/${documentId}?populate[author]=true&populate[tags]=true`, { token })
    expect(body.data.author.documentId).toBe(author)
    expect(body.data.tags.map(({ documentId: id }: { documentId: string }) => id)).toEqual(tags)
  })

  // One of them checks if another process has moved content (live-model.17).
  test('PUT of one scalar of a published document: at most 7', async () => {
    const [article] = await idsAt('/api/articles?sort=id')
    const { statements } = await written('PUT', `/api/articles/${article}`, { title: 'Counted again' })
    expect(statements).toBeGreaterThan(3)
    expect(statements).toBeLessThanOrEqual(7)
  })

  test('DELETE of a published document: at most 9', async () => {
    const { documentId } = await written('POST', '/api/articles', { title: 'Counted out' })
    const { statements } = await written('DELETE', `/api/articles/${documentId}`)
    expect(statements).toBeGreaterThan(3)
    expect(statements).toBeLessThanOrEqual(9)
  })
})

/** The numbers of statements in the log, one for each committed write. */
const counted = (log: readonly string[]): readonly number[] =>
  log.flatMap((line) => {
    const { statements } = JSON.parse(line) as { statements?: number }
    return statements === undefined ? [] : [statements]
  })
