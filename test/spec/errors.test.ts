// docs/spec/errors.md: the body of a refusal, its names and its details.
import { once } from 'node:events'
import { connect } from 'node:net'
import { afterAll, beforeAll, expect } from 'vitest'
import { rule } from '../support/rule.js'
import type { Served } from '../support/serve.js'
import { serveMagazine } from '../support/serve.js'
import { all, expected, readOnly, versions } from './magazine.js'

let magazine: Served
let narrow: Served
beforeAll(async () => {
  magazine = await readOnly('specification')
  narrow = await serveMagazine({ config: { limits: { queryComplexity: 20, headerBytes: 4096, requestTimeout: 1_000 } } })
})
afterAll(() => Promise.all([magazine, narrow].map((served) => served.close())))

const error = async (path: string, served = magazine) => (await served.request(`/api/${path}`)).body.error

rule('errors.1', 'a refusal has null as data, and an error with four members', async () => {
  for (const path of ['nothing', 'pitches', 'tags?sort=nope', 'tags?page=1', 'tags/nobody', 'upload/files/999', 'users']) {
    const { status, body } = await magazine.request(`/api/${path}`)
    expect(Object.keys(body)).toEqual(['data', 'error'])
    expect(body.data).toBeNull()
    expect(Object.keys(body.error)).toEqual(['status', 'name', 'message', 'details'])
    expect(body.error.status).toBe(status)
  }
})

rule('errors.2', 'every status has its name', async () => {
  const notFound = { status: 404, name: 'NotFoundError', message: 'Not Found', details: {} }
  for (const path of ['nothing', 'tags/nobody', 'article']) expect(await error(path)).toEqual(notFound)
  for (const path of ['pitches', 'users'])
    expect(await error(path)).toEqual({ status: 403, name: 'ForbiddenError', message: 'Forbidden', details: {} })
  const { body } = await magazine.request('/api/tags', { token: 'nonsense' })
  expect(body.error).toEqual({ status: 401, name: 'UnauthorizedError', message: 'Missing or invalid credentials', details: {} })
  expect(await error('tags?page=1')).toMatchObject({ status: 400, name: 'PaginationError' })
  expect(await error('tags?sort=nope')).toMatchObject({ status: 400, name: 'ValidationError' })
  expect((await magazine.request('//')).body.error).toMatchObject({ status: 400, name: 'BadRequestError' })
})

rule('errors.3', 'an unknown name is reported with its parameter', async () => {
  const cases: Readonly<Record<string, string>> = {
    filters: 'filters[nope]=1',
    sort: 'sort=nope',
    fields: 'fields=nope',
    populate: 'populate[nope]=true',
  }
  for (const [param, query] of Object.entries(cases))
    expect(await error(`articles?${query}`)).toEqual({
      status: 400,
      name: 'ValidationError',
      message: 'Invalid key nope',
      details: { key: 'nope', path: null, source: 'query', param },
    })
})

rule('errors.4', 'the path is that of the parent, or of the forbidden attribute', async () => {
  const cases = [
    ['articles?filters[author][nope]=1', 'Invalid key nope at author', 'nope', 'author'],
    ['articles?filters[category][parent][nope]=1', 'Invalid key nope at category.parent', 'nope', 'category.parent'],
    ['articles?filters[title][$foo]=1', 'Invalid key $foo at title', '$foo', 'title'],
    ['articles?filters[editorNote]=1', 'Invalid key editorNote', 'editorNote', 'editorNote'],
    ['authors?filters[articles][editorNote]=1', 'Invalid key editorNote at articles.editorNote', 'editorNote', 'articles.editorNote'],
    ['articles?sort=author.nope', 'Invalid key nope at author', 'nope', 'author'],
    ['articles?fields=editorNote', 'Invalid key editorNote', 'editorNote', 'editorNote'],
    ['articles?populate[author][limit]=1', 'Invalid key limit at author', 'limit', 'author'],
  ] as const
  for (const [path, message, key, where] of cases) {
    const { message: told, details } = await error(path)
    expect([path, told, details.key, details.path]).toEqual([path, message, key, where])
  }
})

rule('errors.5', 'one document and single types check the same', async () => {
  const { documentId } = (await magazine.request('/api/articles')).body.data[0]
  for (const query of ['filters[nope]=1', 'sort=nope', 'fields=nope', 'populate[nope]=true', 'filters[title][$foo]=1']) {
    const list = await error(`articles?${query}`)
    for (const path of [`articles/${documentId}`, 'articles/nobody']) expect([path, await error(`${path}?${query}`)]).toEqual([path, list])
    expect([query, (await magazine.request(`/api/homepage?${query}`)).status]).toEqual([query, 400])
  }
})

rule('errors.6', 'queries that make Strapi fail are refused', async () => {
  const queries = [
    'fields=',
    'filters[readingMinutes]=abc',
    'filters[title][$between]=a',
    'filters[$or]=a',
    'filters[$or][title]=a',
    'filters[title][$or][0]=a',
    'filters[0][title]=a',
    'sort=title.x',
  ]
  for (const query of queries) expect([query, (await magazine.request(`/api/articles?${query}`)).status]).toEqual([query, 400])
})

rule('errors.6', 'or accepted if they have one plain meaning', async () => {
  const others = versions('article').filter(({ author }) => author !== '@author:maria-holt')
  expect(all(await magazine.request('/api/articles?filters[author][$not][name]=Maria%20Holt'))).toEqual(expected(others))
})

rule('errors.7', 'the size of a query is bounded', async () => {
  const conditions = (count: number) => Array.from({ length: count }, (_, index) => `filters[$and][${index}][title]=a`).join('&')
  expect((await narrow.request(`/api/articles?${conditions(5)}`)).status).toBe(200)
  const { status, body } = await narrow.request(`/api/articles?${conditions(40)}`)
  expect([status, body.error.name]).toEqual([400, 'ValidationError'])
  expect((await narrow.request(`/api/articles?sort=${'title,'.repeat(40)}title`)).status).toBe(400)
  const levels = Array.from({ length: 24 }, (_, index) => (index % 2 === 0 ? 'author' : 'articles'))
  expect((await narrow.request(`/api/articles?populate=${levels.join('.')}`)).status).toBe(400)
})

rule('errors.7', 'so is the size of headers', async () => {
  expect((await narrow.request(`/api/tags?x=${'a'.repeat(3000)}`)).status).toBe(200)
  expect((await narrow.request(`/api/tags?x=${'a'.repeat(5000)}`)).status).toBe(431)
  expect((await narrow.request('/api/tags', { headers: { 'x-long': 'a'.repeat(5000) } })).status).toBe(431)
  expect((await narrow.request('/api/tags')).status).toBe(200)
})

rule('errors.9', 'a body that does not arrive is 408', async () => {
  const socket = connect(Number(new URL(narrow.origin).port), '127.0.0.1')
  let text = ''
  socket.on('data', (bytes) => {
    text += bytes
  })
  socket.write('POST /api/auth/local HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 20\r\n\r\n{')
  await once(socket, 'close')
  expect(text).toMatch(/^HTTP\/1\.1 408 /)
  expect(text).toContain('"name":"RequestTimeoutError"')
})
