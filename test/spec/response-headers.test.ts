// docs/spec/headers.md: headers of the configuration, on every response.
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, expect } from 'vitest'
import type * as Octavo from '../../src/service/index.js'
import { project, removeProjects, root } from '../start/command.js'
import { rule } from '../support/rule.js'
import { type Served, serveMagazine } from '../support/serve.js'
import { addToken, secrets } from './callers.js'

const policy = "default-src 'self'; frame-ancestors https://studio.example"
const headers = {
  'Content-Security-Policy': policy,
  'X-Frame-Options': 'DENY',
  'Permissions-Policy': 'camera=()',
}
const routes = [
  { method: 'GET', path: '/own', auth: false, handle: () => new Response('x', { headers: { 'x-frame-options': 'SAMEORIGIN' } }) },
  {
    ...({ method: 'GET', path: '/slow', auth: false } as const),
    handle: async function* () {
      yield 'first'
      await new Promise((resolve) => setTimeout(resolve, 100))
      yield 'last'
    },
  },
  {
    ...({ method: 'GET', path: '/broken', auth: false } as const),
    handle: () => {
      throw new Error('broken')
    },
  },
] as const

let served: Served
let plain: Served
beforeAll(async () => {
  const config = { http: { headers }, events: { stream: { path: '/live' } } }
  served = await serveMagazine({ config, environment: secrets, code: { routes } })
  plain = await serveMagazine({ environment: secrets })
  await addToken(served, 'all', { type: 'full-access' })
})
afterAll(async () => {
  await Promise.all([served, plain].map((one) => one?.close()))
  removeProjects()
})

const logo = '/uploads/tidewright_logo_11bd3cce54.svg'

rule('headers.20', 'they are on every response, errors included', async () => {
  const asked: readonly (readonly [string, number, object])[] = [
    ['/api/tags', 200, {}],
    ['/api/tags?sort=nope', 400, {}],
    ['/api/pitches', 403, {}],
    ['/api/tags', 401, { token: 'wrong' }],
    ['/api/nothing', 404, {}],
    ['/api/tags', 405, { method: 'PATCH' }],
    ['/api/tags', 200, { method: 'HEAD' }],
    ['/api/tags', 204, { method: 'OPTIONS', headers: { origin: 'https://a.example', 'access-control-request-method': 'GET' } }],
    ['//tags', 400, {}],
    ['/api/%zz', 400, {}],
    ['/api/broken', 500, {}],
    ['/api/slow', 200, {}],
    ['/api/openapi.json', 200, {}],
    ['/', 200, {}],
    ['/docs', 200, {}],
    ['/favicon.svg', 200, {}],
    ['/_health', 204, {}],
    [logo, 200, {}],
    [logo, 206, { headers: { range: 'bytes=0-9' } }],
    ['/uploads/none.png', 404, {}],
  ]
  for (const [path, status, options] of asked) {
    const answer = await served.request(path, options)
    expect([path, answer.status, answer.headers.get('permissions-policy'), answer.headers.get('x-frame-options')]).toEqual([
      ...[path, status, 'camera=()', 'DENY'],
    ])
    expect(answer.headers.get('x-content-type-options')).toBe('nosniff')
  }
  const stream = await fetch(`${served.origin}/api/live`, { headers: { authorization: 'Bearer all' } })
  expect([stream.status, stream.headers.get('permissions-policy')]).toEqual([200, 'camera=()'])
  await stream.body!.cancel()
  const compressed = await served.request('/api/articles?populate=*', { headers: { 'accept-encoding': 'gzip' } })
  expect([compressed.headers.get('content-encoding'), compressed.headers.get('permissions-policy')]).toEqual(['gzip', 'camera=()'])
})

rule('headers.20', 'a custom route sets its own; malformed HTTP is refused without them', async () => {
  expect((await served.request('/api/own')).headers.get('x-frame-options')).toBe('SAMEORIGIN')
  expect((await plain.request('/api/tags')).headers.get('permissions-policy')).toBeNull()
  const socket = connect(Number(new URL(served.origin).port), '127.0.0.1')
  socket.write('nonsense\r\n\r\n')
  expect(await text(socket)).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/)
})

rule('headers.21', 'a policy also applies to pages, and files keep theirs', async () => {
  const policyOf = async (one: Served, path: string) => (await one.request(path)).headers.get('content-security-policy')
  for (const path of ['/api/tags', '/', '/docs', '/api/nothing']) expect([path, await policyOf(served, path)]).toEqual([path, policy])
  const own = await policyOf(plain, logo)
  expect(own).toContain('sandbox')
  expect(await policyOf(served, logo)).toBe(`${policy}, ${own}`)
})

rule('headers.22', 'invalid headers and those of the service are refused with an explanation', async () => {
  const { loadConfig } = (await import(`${root}/dist/index.js`)) as typeof Octavo
  const wrong: readonly (readonly [object, RegExp])[] = [
    [{ 'Content-Length': '7' }, /http\.headers.*"Content-Length" is set by the service for each response/],
    [{ 'transfer-encoding': 'chunked' }, /"transfer-encoding" is set by the service/],
    [{ 'Set-Cookie': 'a=b' }, /"Set-Cookie" is set by the service/],
    [{ Vary: '*' }, /"Vary" is set by the service/],
    [{ 'Access-Control-Allow-Origin': '*' }, /"Access-Control-Allow-Origin" is set by the service; cors\.origins and cors\.headers/],
    [{ 'X Y': 'a' }, /"X Y" is not the name of a header/],
    [{ 'X-A': 'a\r\nX-B: b' }, /the value of "X-A" has a character that headers cannot have/],
    [{ 'X-A': ' ' }, /the value of "X-A" is empty/],
    [{ 'X-A': 'a', 'x-a': 'b' }, /"x-a" appears twice/],
    [{ 'X-A': 7 }, /http\.headers\.X-A/],
  ]
  for (const [given, message] of wrong) {
    const folder = project({ 'octavo.config.json': { http: { headers: given } } })
    await expect(loadConfig(folder, {}), JSON.stringify(given)).rejects.toThrow(message)
  }
  const fine = await loadConfig(project({ 'octavo.config.json': { http: { headers: { 'X-A': ' a ' } } } }), {})
  expect(fine.responseHeaders).toEqual({ 'x-a': 'a' })
})
