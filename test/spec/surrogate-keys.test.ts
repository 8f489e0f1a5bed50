// Surrogate keys of responses for other caches: every change of a response is announced by an event about one of them.
import { afterAll, beforeAll, expect, vi } from 'vitest'
import type { ContentEvent } from '../../src/foundation/public/events.js'
import { rule } from '../support/rule.js'
import { type Served, serveProject, type TestResponse } from '../support/serve.js'
import { patience } from '../support/until.js'
import { addToken, secrets } from './callers.js'
import { access, contentType, reading } from './library.js'

const to = (type: string, relation: string, more: object) => ({ type: 'relation', relation, target: `api::${type}.${type}`, ...more })
const writing = (type: string) => ['create', 'update', 'delete'].map((action) => `api::${type}.${type}.${action}`)
const project = {
  ...contentType('article', {
    title: { type: 'string' },
    author: to('author', 'manyToOne', { inversedBy: 'articles' }),
    tags: to('tag', 'manyToMany', { inversedBy: 'articles' }),
  }),
  ...contentType('author', { name: { type: 'string' }, articles: to('article', 'oneToMany', { mappedBy: 'author' }) }),
  ...contentType('tag', { name: { type: 'string' }, articles: to('article', 'manyToMany', { mappedBy: 'tags' }) }),
  ...contentType('place', { name: { type: 'string' } }),
  ...access(['article', 'author', 'tag', 'place'].flatMap((type) => [...reading(type), ...writing(type)])),
}

const events: ContentEvent[] = []
let served: Served
beforeAll(async () => {
  served = await serveProject(project, {
    config: { cache: { surrogateKeys: 'Surrogate-Key' } },
    environment: secrets,
    code: { listeners: [(event) => void events.push(event)] },
  })
})
afterAll(() => served?.close())

const keysOf = ({ headers }: TestResponse): readonly string[] => headers.get('surrogate-key')?.split(' ') ?? []
/** The keys that the example of the guide purges. */
const purgedBy = (event: ContentEvent): readonly string[] =>
  'entry' in event ? [`t-${event.uid}`, `d-${event.entry.documentId}`, 't-all'] : ['t-plugin::upload.file', 't-all']

async function write(method: string, path: string, data?: object): Promise<string> {
  const headers = { 'content-type': 'application/json' }
  const answer = await served.request(`/api/${path}`, { method, headers, ...(data !== undefined && { body: JSON.stringify({ data }) }) })
  expect(answer.status, answer.text).toBeLessThan(300)
  return answer.body?.data.documentId ?? ''
}

rule('caching.7', 'public responses name their types and document', async () => {
  const article = await write('POST', 'articles', { title: 'first' })
  const uids = (...types: readonly string[]) => types.map((type) => `t-api::${type}.${type}`)
  const keys = async (path: string) => keysOf(await served.request(`/api/${path}`))
  expect(await keys('places')).toEqual(uids('place'))
  expect(await keys(`articles/${article}`)).toEqual([...uids('article'), `d-${article}`])
  for (const path of ['populate=author', 'filters[author][name]=nobody', 'sort=author.name'])
    expect(await keys(`articles?${path}`), path).toEqual(uids('article', 'author'))
  expect(await keys('articles?populate[author][populate]=articles.tags')).toEqual(expect.arrayContaining(uids('article', 'author')))
  const first = await served.request(`/api/articles/${article}`)
  const again = await served.request(`/api/articles/${article}`, { headers: { 'if-none-match': first.headers.get('etag')! } })
  expect([again.status, keysOf(again)]).toEqual([304, [...uids('article'), `d-${article}`]])
  // Caches of others keep no response to credentials.
  await addToken(served, 'reader', { type: 'full-access' })
  const own = await served.request('/api/places', { token: 'reader' })
  expect([own.status, keysOf(own)]).toEqual([200, []])
  const plain = await serveProject(project)
  expect((await plain.request('/api/places')).headers.has('surrogate-key')).toBe(false)
  await plain.close()
  const tagged = await serveProject(project, { config: { cache: { surrogateKeys: 'Cache-Tag' } } })
  expect((await tagged.request('/api/articles?populate=author')).headers.get('cache-tag')).toBe(uids('article', 'author').join(','))
  await tagged.close()
})

rule('caching.10', 'a missing document has the caching and keys of an existing one, and no ETag', async () => {
  const ofArticle = ['t-api::article.article', 'd-nothing']
  for (const method of ['GET', 'HEAD']) {
    const gone = await served.request('/api/articles/nothing', { method })
    expect([gone.status, keysOf(gone)], method).toEqual([404, ofArticle])
    expect([gone.headers.get('cache-control'), gone.headers.get('etag')], method).toEqual(['public, no-cache', null])
  }
  const populated = await served.request('/api/articles/nothing?populate=author')
  expect(keysOf(populated)).toEqual(['t-api::article.article', 't-api::author.author', 'd-nothing'])
  await addToken(served, 'editor', { type: 'full-access' })
  const own = await served.request('/api/articles/nothing', { token: 'editor' })
  expect([own.status, own.headers.get('cache-control'), keysOf(own)]).toEqual([404, 'private, no-cache', []])
  // No document: nothing would forget it.
  const unknown = await served.request('/api/nothing')
  expect([unknown.status, unknown.headers.get('cache-control'), keysOf(unknown)]).toEqual([404, null, []])
  // Once it is there, an event purges the 404, and the document is sent.
  const made = await write('POST', 'articles', { title: 'later' })
  await vi.waitFor(() => expect(events.flatMap(purgedBy)).toEqual(expect.arrayContaining([ofArticle[0], `d-${made}`])), patience)
})

rule('caching.7', 'every change of a response is followed by an event about one of its keys', async () => {
  const author = await write('POST', 'authors', { name: 'Ada' })
  const tag = await write('POST', 'tags', { name: 'old' })
  const article = await write('POST', 'articles', { title: 'one', author, tags: [tag] })
  const paths = [
    'articles',
    `articles/${article}`,
    `articles/${article}?populate=*`,
    'articles?filters[author][name]=Ada',
    'articles?filters[tags][name]=new&fields=title',
    'articles?sort=author.name&fields=title',
    `authors/${author}?populate=articles`,
    'authors?populate[articles][count]=true',
    'authors?filters[articles][tags][name]=new',
    'tags?populate[articles][populate]=author',
    'tags?populate[articles][count]=true',
    'tags?filters[articles][title][$ne]=two',
    'places?sort=name',
  ]
  const look = async (): Promise<ReadonlyMap<string, TestResponse>> =>
    new Map(await Promise.all(paths.map(async (path) => [path, await served.request(`/api/${path}`)] as const)))
  const changes: readonly (() => Promise<unknown>)[] = [
    () => write('PUT', `articles/${article}`, { title: 'two' }),
    () => write('PUT', `authors/${author}`, { name: 'Grace' }),
    () => write('PUT', `tags/${tag}`, { name: 'new' }),
    () => write('PUT', `authors/${author}`, { articles: { set: [] } }),
    () => write('PUT', `tags/${tag}`, { articles: { disconnect: [article] } }),
    () => write('PUT', `articles/${article}`, { author, tags: { connect: [tag] } }),
    () => write('POST', 'places', { name: 'somewhere' }),
    () => write('DELETE', `tags/${tag}`),
    () => write('DELETE', `authors/${author}`),
    () => write('DELETE', `articles/${article}`),
  ]
  let changed = 0
  for (const [index, change] of changes.entries()) {
    const before = await look()
    const heard = events.length
    await change()
    await vi.waitFor(() => expect(events.length).toBeGreaterThan(heard), patience)
    const purged = new Set(events.slice(heard).flatMap(purgedBy))
    for (const [path, { text, status }] of await look()) {
      const former = before.get(path)!
      if (former.text === text || former.status !== 200) continue
      changed++
      expect(
        keysOf(former).some((key) => purged.has(key)),
        `${path} after change ${index}: ${keysOf(former)}, ${status}`,
      ).toBe(true)
    }
  }
  expect(changed).toBeGreaterThan(25)
})

rule('caching.8', 'a response with too many keys has one for everything', async () => {
  const long = 'a-type-with-a-name-that-is-as-long-as-a-name-of-a-type-may-well-be-for-someone'
  const types = Array.from({ length: 50 }, (_, index) => `t${index}-${long}`)
  const related = Object.fromEntries(types.map((type, index) => [`to${index}`, to(type, 'oneToOne', {})]))
  const own = await serveProject(
    {
      ...Object.assign({}, ...types.map((type) => contentType(type, { name: { type: 'string' } }))),
      ...contentType('hub', related),
      ...access(['hub', ...types].flatMap((type) => reading(type))),
    },
    { config: { cache: { surrogateKeys: 'Surrogate-Key' } } },
  )
  expect(keysOf(await own.request('/api/hubs'))).toEqual(['t-api::hub.hub'])
  expect(keysOf(await own.request('/api/hubs?populate=*'))).toEqual(['t-all'])
  await own.close()
})
