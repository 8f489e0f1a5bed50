// docs/spec/caching.md: no response is stale after a write of any client; ETags, and permissions of caches.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { isOnServer } from '../support/databases.js'
import { rule } from '../support/rule.js'
import { goldenTokens, type Served, serveExisting, serveGolden, type TestResponse } from '../support/serve.js'
import { patience } from '../support/until.js'
import { grant, revoke } from './callers.js'

const token = goldenTokens().full!
const json = { 'content-type': 'application/json' }

let served: Served
let beside: Served
beforeAll(async () => {
  served = await serveGolden({ config: { limits: { cacheBytes: 25_600_000 } } })
  beside = await serveExisting(served)
})
afterAll(async () => {
  await beside.service.close()
  await served.close()
})

const write = (at: Served, method: string, path: string, data?: object): Promise<TestResponse> =>
  at.request(`/api/${path}`, { method, token, ...(data === undefined ? {} : { headers: json, body: JSON.stringify({ data }) }) })

/** Response for a path in both processes, requested twice in each: the second time from the cache if it is cached. */
async function said(path: string): Promise<string> {
  const texts: string[] = []
  for (const at of [served, beside, served, beside]) texts.push((await at.request(`/api/${path}`, { token })).text)
  expect(new Set(texts).size, path).toBe(1)
  return texts[0]!
}

rule('caching.1', 'each kind of write is in the next read, in this process and in another one', async () => {
  const made = await write(served, 'POST', 'articles', { title: 'first' })
  const { documentId } = made.body.data
  const author = (await write(served, 'POST', 'authors', { name: 'an author' })).body.data.documentId
  const paths = [
    `articles/${documentId}?populate=*`,
    `articles/${documentId}?status=draft&populate=*`,
    'articles?filters[title][$contains]=first&status=draft&fields=title&populate[tags][fields]=name&populate[author][populate]=*',
    'articles?sort=updatedAt:desc&pagination[pageSize]=1&status=draft&populate[cover]=true&populate[localizations]=true',
    `authors/${author}?populate[articles][fields]=title`,
    'tags?populate[articles][count]=true&pagination[pageSize]=3&sort=createdAt:desc',
    'articles?filters[tags][name][$eq]=a%20new%20tag&status=draft',
  ]
  const steps: readonly [string, string, object?][] = [
    ['PUT', `articles/${documentId}?status=draft`, { title: 'second' }],
    ['PUT', `articles/${documentId}?status=draft`, { author }],
    ['POST', 'tags', { name: 'a new tag' }],
    ['POST', `articles/${documentId}/actions/unpublish`],
    ['PUT', `authors/${author}`, { articles: { set: [] } }],
    ['PUT', `articles/${documentId}?status=draft`, { title: 'first again', seo: { metaTitle: 'a title of a component' } }],
    ['POST', `articles/${documentId}/actions/publish`],
    ['PUT', `articles/${documentId}?locale=fr&status=draft`, { title: 'premier' }],
    ['PUT', `authors/${author}`, { name: 'another name' }],
    ['DELETE', `articles/${documentId}?locale=fr`],
    ['DELETE', `articles/${documentId}`],
  ]
  const fresh = await serveExisting(served)
  try {
    for (const [index, [method, path, data]] of steps.entries()) {
      await Promise.all(paths.map(said))
      const at = index % 2 === 0 ? served : beside
      const answer = await write(at, method, path, data)
      expect([method, path, answer.status < 300], answer.text).toEqual([method, path, true])
      for (const asked of paths) expect(await said(asked), `${asked} after ${method} ${path}`).toBe(await uncached(fresh, asked))
    }
  } finally {
    await fresh.service.close()
  }
})

let salt = 0
/** Response for a path without caches: an empty filter makes it another read. */
async function uncached(at: Served, path: string): Promise<string> {
  const { text } = await at.request(`/api/${path}${path.includes('?') ? '&' : '?'}filters[$or][0][id][$gt]=${-++salt}`, { token })
  return text
}

rule('caching.1', 'a write by another program is in the next read', async () => {
  const { documentId } = (await write(served, 'POST', 'tags', { name: 'by hand 0' })).body.data
  for (let number = 1; number < 20; number++) {
    await said(`tags/${documentId}`)
    await served.sql('UPDATE tags SET name = ? WHERE document_id = ?', `by hand ${number}`, documentId)
    expect(await said(`tags/${documentId}`)).toContain(`"by hand ${number}"`)
    // Between two writes of the service, and right after one.
    await write(served, 'PUT', `tags/${documentId}`, { name: `by hand ${number} of the service` })
    await served.sql('UPDATE tags SET name = ? WHERE document_id = ?', `again ${number}`, documentId)
    expect(await said(`tags/${documentId}`)).toContain(`"again ${number}"`)
  }
})

test.skipIf(isOnServer)('caching.1: a write by a foreign trigger is in the next read', async () => {
  const at = await serveGolden()
  try {
    await at.sql("CREATE TRIGGER tagged AFTER UPDATE ON tags BEGIN UPDATE authors SET name = 'by a trigger'; END")
    const first = '/api/authors?sort=id&pagination[pageSize]=1&fields=name'
    for (const _ of [1, 2]) expect((await at.request(first, { token })).text).not.toContain('by a trigger')
    const [{ documentId }] = (await at.request('/api/tags?pagination[pageSize]=1', { token })).body.data
    await write(at, 'PUT', `tags/${documentId}`, { weight: 3 })
    expect((await at.request(first, { token })).text).toContain('by a trigger')
  } finally {
    await at.close()
  }
})

rule('caching.1', 'readers never miss acknowledged writes of several processes', async () => {
  const { documentId } = (await write(served, 'POST', 'authors', { name: '0' })).body.data
  let acknowledged = 0
  let isOver = false
  const numberOf = ({ body }: TestResponse): number => Number(body.data.name)
  const readers = [served, beside, served, beside].map(async (at) => {
    let seen = 0
    let count = 0
    while (!isOver) {
      const before = acknowledged
      const read = numberOf(await at.request(`/api/authors/${documentId}`, { token }))
      expect(read).toBeGreaterThanOrEqual(Math.max(before, seen))
      seen = read
      count++
    }
    return count
  })
  for (let number = 1; number <= 150; number++) {
    const answer = await write(number % 3 === 0 ? beside : served, 'PUT', `authors/${documentId}`, { name: String(number) })
    expect(answer.status, answer.text).toBe(200)
    acknowledged = number
    // Some rounds write nothing, so that responses are cached.
    if (number % 10 === 0) await new Promise((resolve) => setTimeout(resolve, 20))
  }
  isOver = true
  for (const count of await Promise.all(readers)) expect(count).toBeGreaterThan(20)
})

const readable = [
  '/api/articles?populate=*&sort=id',
  '/api/articles/gs092liserx3lbaaglvq3g8a',
  '/api/homepage',
  '/api/upload/files?sort=id',
  '/api/upload/files/1',
  '/api/users?sort=id',
  '/api/users/1',
]

rule('caching.2', 'the tag depends on the body: the same in every process, and 304 for clients that have it', async () => {
  for (const path of readable) {
    const answers = [await served.request(path, { token }), await served.request(path, { token }), await beside.request(path, { token })]
    const tags = new Set(answers.map(({ status, headers }) => `${status} ${headers.get('etag')}`))
    expect(tags.size, path).toBe(1)
    const etag = answers[0]!.headers.get('etag')!
    expect(etag).toMatch(/^"[\w-]{27}"$/)
    for (const method of ['GET', 'HEAD']) {
      for (const known of [etag, `"another", ${etag}`, `W/${etag}`, '*']) {
        const unchanged = await served.request(path, { method, token, headers: { 'if-none-match': known } })
        const form = known.startsWith('W/') ? known : etag
        expect([path, known, unchanged.status, unchanged.text, unchanged.headers.get('etag')]).toEqual([path, known, 304, '', form])
        expect(unchanged.headers.get('cache-control')).toBe('private, no-cache')
        expect(unchanged.headers.get('vary')).toContain('Authorization')
      }
      const other = await served.request(path, { method, token, headers: { 'if-none-match': '"another"' } })
      expect([path, method, other.status, other.headers.get('etag')]).toEqual([path, method, 200, etag])
    }
  }
})

rule('caching.2', 'another body has another tag: after a write, for another caller, in another format', async () => {
  const path = '/api/articles?populate=*&sort=id'
  const tagOf = async (headers: Record<string, string> = {}, by: string | undefined = token) =>
    (await served.request(path, { headers, ...(by === undefined ? {} : { token: by }) })).headers.get('etag')
  const tags = [await tagOf(), await tagOf({ 'strapi-response-format': 'v4' }), await tagOf({ 'strapi-encode-source-maps': 'true' })]
  const made = await write(served, 'POST', 'articles', { title: 'that changes the tag' })
  tags.push(await tagOf())
  expect(new Set(tags).size).toBe(4)
  await write(served, 'DELETE', `articles/${made.body.data.documentId}`)
  expect(await tagOf()).toBe(tags[0])
})

rule('caching.3', 'shared caches may store public responses, private ones the others; errors have no tag', async () => {
  const open = await served.request('/api/articles')
  expect([open.status, open.headers.get('cache-control')]).toEqual([200, 'public, no-cache'])
  const own = await served.request('/api/articles', { token })
  expect(own.headers.get('cache-control')).toBe('private, no-cache')
  for (const path of ['/api/articles/nothing-has-this-id', '/api/articles?sort=nothing', '/api/nothing']) {
    const { status, headers } = await served.request(path, { token, headers: { 'if-none-match': '*' } })
    expect(status).toBeGreaterThanOrEqual(400)
    expect(headers.get('etag')).toBeNull()
  }
})

rule('caching.4', 'a compressed response has the weak form of the tag, the first time and from memory', async () => {
  const path = '/api/articles?populate=*&sort=title'
  const etag = (await served.request(path, { token })).headers.get('etag')!
  for (const coding of ['gzip', 'br', 'gzip', 'br']) {
    const { headers, body } = await served.request(path, { token, headers: { 'accept-encoding': coding } })
    expect([headers.get('etag'), headers.get('content-encoding')]).toEqual([`W/${etag}`, coding])
    expect(body.data.length).toBeGreaterThan(0)
    const unchanged = await served.request(path, { token, headers: { 'accept-encoding': coding, 'if-none-match': `W/${etag}` } })
    expect([unchanged.status, unchanged.text, unchanged.headers.get('etag')]).toEqual([304, '', `W/${etag}`])
  }
  for (const [sent, form] of [
    [etag, etag],
    [`"x", W/${etag}`, `W/${etag}`],
    ['*', etag],
  ] as const) {
    const unchanged = await served.request(path, { token, headers: { 'if-none-match': sent } })
    expect([unchanged.status, unchanged.headers.get('etag')]).toEqual([304, form])
  }
  const description = (await served.request('/api/openapi.json')).headers.get('etag')
  const same = await served.request('/api/openapi.json', { headers: { 'if-none-match': `W/${description}` } })
  expect([same.status, same.headers.get('etag')]).toEqual([304, `W/${description}`])
})

rule('caching.5', 'responses that are not cached are the same', async () => {
  const none = await serveExisting(served)
  try {
    for (const path of readable) {
      const texts = [await served.request(path, { token }), await served.request(path, { token }), await none.request(path, { token })]
      expect(new Set(texts.map(({ text }) => text)).size, path).toBe(1)
    }
  } finally {
    await none.service.close()
  }
})

rule('caching.6', 'a change of permissions applies to the next request', async () => {
  const path = '/api/articles?populate[author]=true&pagination[pageSize]=2&sort=id'
  const authors = async () => (await served.request(path)).text.includes('"author"')
  const before = await authors()
  for (let round = 0; round < 5; round++) {
    await (before ? revoke : grant)(served, 'public', 'api::author.author.find')
    expect(await authors()).toBe(!before)
    await (before ? grant : revoke)(served, 'public', 'api::author.author.find')
    expect(await authors()).toBe(before)
  }
})

test.skipIf(isOnServer)('caching.5: URLs of private files are signed for each response', async () => {
  const at = await serveGolden({
    config: { uploads: { storage: { provider: 'local', private: true, signedUrlExpires: 30 } } },
  })
  try {
    const address = async () => (await at.request('/api/upload/files?sort=id', { token })).text
    const first = await address()
    expect(first).toContain('signature=')
    await expect.poll(address, patience).not.toBe(first)
  } finally {
    await at.close()
  }
})
