// What a write costs: how many statements the driver runs for one request, its begin and its commit included. Strapi 5.54 runs
// 46, 44 and 20 for these. The writer's thread counts what the driver reports, and the log tells it at the level `trace`.
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Served } from '../support/serve.js'
import { goldenTokens, serveGolden } from '../support/serve.js'
import { describeSqlite } from '../support/sqlite-only.js'

const token = goldenTokens().full!

describeSqlite('statements of one write', 'its writer thread counts them', () => {
  let served: Served
  beforeAll(async () => {
    served = await serveGolden({ environment: { LOG_LEVEL: 'trace' } })
  })
  afterAll(() => served.close())

  /** What was written, and the statements that the log tells of it. */
  async function written(method: string, path: string, data?: object) {
    const before = counted(served.log).length
    const answer = await served.ask(path, {
      method,
      token,
      ...(data === undefined ? {} : { headers: { 'content-type': 'application/json' }, body: JSON.stringify({ data }) }),
    })
    expect(answer.status, answer.text).toBeLessThan(300)
    const statements = counted(served.log).slice(before)
    expect(statements).toHaveLength(1)
    return { documentId: answer.body?.data.documentId as string, statements: statements[0]! }
  }
  const idsAt = async (path: string): Promise<readonly string[]> =>
    (await served.ask(path, { token })).body.data.map(({ documentId }: { documentId: string }) => documentId)

  test('POST with two relations, published: at most 12', async () => {
    const [author] = await idsAt('/api/authors?sort=id')
    const tags = (await idsAt('/api/tags?sort=id')).slice(0, 2)
    // The first start and the first use of a token are writes of their own.
    await served.ask('/api/tags', { token })
    await expect.poll(() => counted(served.log).length, { timeout: 10_000 }).toBe(2)
    const { documentId, statements } = await written('POST', '/api/articles', { title: 'Counted', author, tags })
    expect(statements).toBeGreaterThan(4)
    expect(statements).toBeLessThanOrEqual(12)
    const { body } = await served.ask(`/api/articles/${documentId}?populate[author]=true&populate[tags]=true`, { token })
    expect(body.data.author.documentId).toBe(author)
    expect(body.data.tags.map(({ documentId: id }: { documentId: string }) => id)).toEqual(tags)
  })

  // One of them looks whether another process has moved content (live-model.17).
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

/** The numbers of statements that the log tells, one for each committed write. */
const counted = (log: readonly string[]): readonly number[] =>
  log.flatMap((line) => {
    const { statements } = JSON.parse(line) as { statements?: number }
    return statements === undefined ? [] : [statements]
  })
