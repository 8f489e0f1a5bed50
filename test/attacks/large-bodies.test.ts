// Bodies within `bodyBytes` with as much content as possible: each is answered, none with 500, and none delays other clients.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { threadCpuMs } from '../support/cpu-time.js'
import { isOnServer } from '../support/databases.js'
import type { Served } from '../support/serve.js'
import { goldenTokens, serveGolden } from '../support/serve.js'

let served: Served
const token = goldenTokens().full!
beforeAll(async () => {
  served = await serveGolden()
})
afterAll(() => served.close())

const many = <Value>(count: number, of: (index: number) => Value): Value[] => Array.from({ length: count }, (_, index) => of(index))
const keys = (count: number) => Object.fromEntries(many(count, (index) => [`key${index}`, 1]))
const paragraph = { type: 'paragraph', children: [{ type: 'text', text: 'x' }] }
const send = (path: string, body: string, method = 'POST') =>
  served.request(path, { method, token, headers: { 'content-type': 'application/json' }, body })

/** CPU time of this thread, which serves, during the slowest health check while something runs; a few milliseconds without load. */
async function beside<Result>(run: () => Promise<Result>): Promise<{ readonly result: Result; readonly maxCpuMs: number }> {
  let [maxCpuMs, running] = [0, true]
  const looking = (async () => {
    while (running) {
      const before = threadCpuMs()
      await served.request('/_health')
      maxCpuMs = Math.max(maxCpuMs, threadCpuMs() - before)
    }
  })()
  const result = await run()
  running = false
  await looking
  return { result, maxCpuMs }
}

const article = (rest: object) => JSON.stringify({ data: { title: 'A large one', ...rest } })

test.each([
  [
    '15,000 components',
    '/api/authors',
    JSON.stringify({ data: { name: 'x', links: many(15_000, (i) => ({ label: `l${i}`, url: 'u' })) } }),
  ],
  ['50,000 unknown keys', '/api/authors', JSON.stringify({ data: keys(50_000) })],
  ['70,000 keys of JSON', '/api/articles', article({ metadata: keys(70_000) })],
  ['400,000 numbers', '/api/articles', article({ metadata: many(400_000, () => 1) })],
  ['500,000 brackets', '/api/articles', '['.repeat(500_000)],
  ['500,000 closed brackets', '/api/articles', '['.repeat(500_000) + ']'.repeat(500_000)],
  ['400,000 brackets in JSON', '/api/articles', `{"data":{"title":"deep","metadata":${'['.repeat(400_000)}${']'.repeat(400_000)}}}`],
  ['a wide list and a suspicious text', '/api/articles', `{"a":[${'1,'.repeat(400_000)}1],"b":"__proto__"}`],
  ['60,000 targets', '/api/articles', article({ tags: many(60_000, (i) => i + 1) })],
  ['40,000 targets to connect', '/api/articles', article({ tags: { connect: many(40_000, (i) => ({ id: i + 1 })) } })],
  ['10,000 wrong blocks', '/api/articles', article({ content: many(10_000, () => ({ type: 'paragraph', children: [{ type: 'x' }] })) })],
  ['5,000 brackets at a sign-in', '/api/auth/local', `{"identifier":${'['.repeat(5_000)}${']'.repeat(5_000)},"password":"x"}`],
  ['5,000 brackets beside an address', '/api/auth/forgot-password', `{"email":"a@b.c","x":${'['.repeat(5_000)}${']'.repeat(5_000)}}`],
])('S127 %s: 400, and others are served beside', async (_what, path, body) => {
  const { result, maxCpuMs } = await beside(() => send(path, body))
  expect(result.status, result.text.slice(0, 300)).toBe(400)
  expect(Object.keys(result.body)).toEqual(['data', 'error'])
  expect(maxCpuMs).toBeLessThan(1_000)
})

test('S127 bodies up to the limits are written and read again while others are served', async () => {
  const { id } = (await send('/api/tags', '{"data":{"name":"many times"}}')).body.data
  const links = many(2_000, (index) => ({ label: `l${index}`, url: 'https://example.org' }))
  const author = await beside(() => send('/api/authors?populate=links', JSON.stringify({ data: { name: 'x', links } })))
  expect(author.result.status, author.result.text.slice(0, 300)).toBe(201)
  expect(author.result.body.data.links).toHaveLength(2_000)
  const { documentId } = author.result.body.data
  const again = author.result.body.data.links.map(({ id: entry }: { id: number }) => ({ id: entry })).toReversed()
  const turned = await beside(() => send(`/api/authors/${documentId}?populate=links`, JSON.stringify({ data: { links: again } }), 'PUT'))
  expect(turned.result.status, turned.result.text.slice(0, 300)).toBe(200)
  expect(turned.result.body.data.links[0].label).toBe('l1999')
  expect((await send(`/api/authors/${documentId}`, '', 'DELETE')).status).toBe(204)

  const content = many(10_000, () => paragraph)
  const text = await beside(() =>
    send('/api/articles', article({ content, metadata: keys(9_000), tags: { connect: many(3_000, () => id) } })),
  )
  expect(text.result.status, text.result.text.slice(0, 300)).toBe(201)
  expect(text.result.body.data.content).toHaveLength(10_000)
  expect(Object.keys(text.result.body.data.metadata)).toHaveLength(9_000)
  for (const { maxCpuMs } of [author, turned, text]) expect(maxCpuMs).toBeLessThan(3_000)
})

test('S127 thousands of relations are set, put into another order and taken away', async () => {
  const values = many(3_000, (index) => `('many${String(index).padStart(20, '0')}', 'n${index}')`)
  await served.sql(`INSERT INTO tags (document_id, name) VALUES ${values.join(', ')}`)
  const tags = (await served.sql("SELECT document_id FROM tags WHERE document_id LIKE 'many%' ORDER BY id")).map((row) => row.document_id)
  const made = await send('/api/articles?status=draft', article({ tags }))
  expect(made.status, made.text.slice(0, 300)).toBe(201)
  const { documentId } = made.body.data
  const shown = async () =>
    (await served.request(`/api/articles/${documentId}?status=draft&populate[tags][fields][0]=name`, { token })).body.data.tags.map(
      (tag: { documentId: string }) => tag.documentId,
    )
  expect(await shown()).toEqual(tags)
  const put = (value: unknown) => send(`/api/articles/${documentId}?status=draft`, JSON.stringify({ data: { tags: value } }), 'PUT')
  expect((await put(tags.toReversed())).status).toBe(200)
  expect(await shown()).toEqual(tags.toReversed())
  expect((await put({ disconnect: tags.slice(10) })).status).toBe(200)
  expect(await shown()).toEqual(tags.slice(0, 10).toReversed())
})

test('S127 thousands are positioned next to a document whose two versions are far apart', async () => {
  const author = (await send('/api/authors', '{"data":{"name":"placed"}}')).body.data
  const articles = async (names: readonly string[], isPublished: boolean): Promise<readonly number[]> => {
    const moment = isOnServer ? "timestamp '2024-01-01 00:00:00'" : '1'
    const values = names.map((name) => `('${name}', '${name}', ${isPublished ? moment : 'null'}, 'en')`)
    const rows = await served.sql(
      `INSERT INTO articles (document_id, title, published_at, locale) VALUES ${values.join(', ')} RETURNING id`,
    )
    return rows.map(({ id }) => id)
  }
  const draft = await articles(['farapart'], false)
  const between = await articles(
    many(20_000, (index) => `between${index}`),
    true,
  )
  const published = await articles(['farapart'], true)
  const added = await articles(
    many(3_995, (index) => `added${index}`),
    true,
  )
  const present = [...draft, ...between, ...published]
  const links = present.map((id, index) => `(${author.id}, ${id}, ${index + 1})`)
  await served.sql(`INSERT INTO authors_favorites_lnk (author_id, article_id, article_ord) VALUES ${links.join(', ')}`)
  const connect = added.map((id) => ({ id, position: { before: 'farapart' } }))
  const { result, maxCpuMs } = await beside(() =>
    send(`/api/authors/${author.documentId}`, JSON.stringify({ data: { favorites: { connect } } }), 'PUT'),
  )
  expect(result.status, result.text.slice(0, 300)).toBe(200)
  const linked = 'SELECT article_id FROM authors_favorites_lnk WHERE author_id = ? ORDER BY article_ord'
  const shown = (await served.sql(linked, author.id)).map((row) => row.article_id)
  expect(shown).toEqual([...added, ...present])
  expect(maxCpuMs).toBeLessThan(700)
})

test('S127 validation stops early in a body with a thousand errors', async () => {
  const wrong = many(10_000, () => ({ type: 'paragraph', children: [{ type: 'x' }] }))
  const { body } = await send('/api/articles', article({ content: wrong }))
  expect(body.error.message).toBe('1000 errors occurred')
})

test('S127 a text of 500,000 brackets is not a list of blocks', async () => {
  const { result, maxCpuMs } = await beside(() => send('/api/articles', article({ content: '['.repeat(500_000) })))
  expect(result.status).toBe(201)
  expect(result.body.data.content).toBeNull()
  expect(maxCpuMs).toBeLessThan(1_000)
})

test('O50 source maps of a large response are added in pieces while others are served', async () => {
  const path = '/api/articles?populate[tags][populate][articles]=true&pagination[pageSize]=25'
  const plain = (await served.request(path)).text
  expect(plain.length).toBeGreaterThan(400_000)
  const { result, maxCpuMs } = await beside(() => served.request(path, { headers: { 'strapi-encode-source-maps': 'true' } }))
  expect(result.text).not.toBe(plain)
  expect(result.text.replace(/(?:\u200b|\u200c|\u200d|\ufeff)+/g, '')).toBe(plain)
  expect(maxCpuMs).toBeLessThan(1_000)
})
