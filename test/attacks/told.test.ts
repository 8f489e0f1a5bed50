// Information in responses for caches and browsers, and in the log about requests: enough to find a cause, and no user's values.
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Served } from '../support/serve.js'
import { goldenTokens, serveGolden } from '../support/serve.js'

let served: Served
const json = { 'content-type': 'application/json' }
beforeAll(async () => {
  served = await serveGolden({
    config: { limits: { hookTimeout: 200 } },
    code: {
      hooks: [
        { name: 'slow', types: ['api::city.city'], before: () => new Promise((resolve) => setTimeout(resolve, 400)) },
        {
          name: 'broken',
          types: ['api::tag.tag'],
          actions: ['create'],
          before: () => {
            throw new TypeError('a bug of the hook')
          },
        },
      ],
    },
  })
})
afterAll(() => served.close())

const token = goldenTokens().full!
const lines = () => served.log.map((line) => JSON.parse(line))
const line = (path: string) => lines().findLast((one) => one.msg === 'request' && one.path === path)

test('S141 refusals, failures and responses with tokens are not cached', async () => {
  const login = (password: string) =>
    served.request('/api/auth/local', { method: 'POST', headers: json, body: JSON.stringify({ identifier: 'alice', password }) })
  const answers = [
    await served.request('/api/articles', { token: 'wrong' }),
    await served.request('/api/upload/files/1'),
    await served.request('/api/users/me'),
    await login('wrong'),
    await served.request('/api/auth/email-confirmation?confirmation=x'),
    await served.request('/api/connect/nothing'),
    await served.request('/api/auth/nothing/callback'),
    await served.request('/api/tags', { method: 'POST', token, headers: json, body: '{"data":{"name":"x"}}' }),
  ]
  expect(answers.map(({ headers }) => headers.get('cache-control'))).toEqual(answers.map(() => 'no-store'))
  expect((await served.request('/api/tags')).headers.get('cache-control')).toBe('public, no-cache')
})

test('S135 responses of the API are not pages', async () => {
  for (const path of ['/api/tags', '/api/nothing', '/_health', '/api/tags?sort=nothing']) {
    const policy = (await served.request(path)).headers.get('content-security-policy')
    expect(policy, path).toBe("default-src 'none'; frame-ancestors 'self'")
  }
})

test('O44 in production the start page names no type that is closed; browsers find no picture, and no error', async () => {
  const { text } = await served.request('/')
  expect(text).toContain('/api/articles')
  expect(text).not.toContain('secret-notes')
  expect(text).not.toContain('needs a permission')
  expect((await served.request('/favicon.ico')).status).toBe(204)
})

test('a request has its path, type and refusal in the log, and no value', async () => {
  await served.request('/api/articles?filters[title]=CANARY&sort=nothing')
  expect(line('/api/articles')).toMatchObject({
    uid: 'api::article.article',
    status: 400,
    error: { name: 'ValidationError', message: 'Invalid key …' },
  })
  await served.request('/api/tags', { method: 'PUT' })
  await served.request('/api/auth/local', { method: 'POST', headers: json, body: '{"identifier":["CANARY"],"password":{"a":"CANARY"}}' })
  expect(line('/api/auth/local').error.name).toBe('ValidationError')
  await served.request('/api/tags?pagination[pageSize]=1')
  expect(line('/api/tags')).not.toHaveProperty('error')
  expect(served.log.join('')).not.toContain('CANARY')
})

test('each 500 and 503 has its cause in the log, once a second', async () => {
  const make = (type: string) => served.request(`/api/${type}`, { method: 'POST', token, headers: json, body: '{"data":{"name":"x"}}' })
  const from = served.log.length
  expect((await Promise.all(Array.from({ length: 10 }, () => make('tags')))).map(({ status }) => status)).toEqual(Array(10).fill(500))
  expect((await make('cities')).status).toBe(503)
  await new Promise((resolve) => setTimeout(resolve, 1_300))
  const told = served.log
    .slice(from)
    .map((one) => JSON.parse(one))
    .filter(({ level }) => level === 50)
  const bugs = told.filter(({ msg }) => msg.startsWith('a request failed'))
  expect(bugs[0]).toMatchObject({ err: { message: 'broken failed: a bug of the hook' } })
  expect(bugs.length).toBeLessThan(4)
  expect(bugs.reduce((sum, { suppressed = 1 }) => sum + suppressed, 0)).toBe(10)
  expect(told.some(({ msg, err }) => msg.startsWith('a request was refused') && /took longer/.test(err.message))).toBe(true)
})
