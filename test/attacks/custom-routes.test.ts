// Attacks on custom routes: every route by every caller, tricks with paths and keys, bodies that are too large or too slow, and code that
// misbehaves while others are served.
import { once } from 'node:events'
import { connect } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import * as z from 'zod'
import type { CustomRoute, RouteCall } from '../../src/foundation/public/routes.js'
import { addToken, addUser, grant, jwt, secrets } from '../spec/callers.js'
import { type Served, serveProject } from '../support/serve.js'
import { patience } from '../support/until.js'

const order = 'api::order.order'
let called: string[] = []
let handle: (call: RouteCall) => unknown = () => 1

const route = (method: CustomRoute['method'], path: string, more: object): CustomRoute =>
  ({
    ...{ method, path, ...more },
    handle: (call: RouteCall) => {
      called.push(`${method} ${path}`)
      return handle(call)
    },
  }) as CustomRoute

/** The routes and their callers, apart from those with full access. */
const routes: readonly (readonly [CustomRoute, readonly string[]])[] = [
  [route('GET', '/secret/report', { action: `${order}.report` }), ['ann', 'custom']],
  [route('GET', '/secret/:name/find', { action: 'api::report.report.find' }), ['read-only']],
  [route('POST', '/secret/report', { action: `${order}.correct`, body: 'json' }), ['custom']],
  [route('PUT', '/secret/:name', { action: `${order}.correct`, body: 'raw' }), ['custom']],
  [route('PATCH', '/secret/:name', { action: `${order}.nobody`, body: z.object({ name: z.string() }) }), []],
  [route('DELETE', '/secret/:name', { action: `${order}.public` }), ['public']],
  [route('POST', '/jobs', { base: 'root', action: `${order}.correct`, body: 'stream' }), ['custom']],
  [route('GET', '/open/:name', { auth: false }), ['everybody']],
  [route('POST', '/open', { auth: false, body: 'json' }), ['everybody']],
  [route('POST', '/open/checked', { auth: false, body: z.looseObject({}), query: z.looseObject({}) }), ['everybody']],
]

let served: Served
let tokens: Readonly<Record<string, string | undefined>>
beforeAll(async () => {
  served = await serveProject(
    {
      'src/api/order/content-types/order/schema.json': {
        kind: 'collectionType',
        collectionName: 'orders',
        info: { singularName: 'order', pluralName: 'orders', displayName: 'Order' },
        attributes: { name: { type: 'string' } },
      },
    },
    {
      environment: secrets,
      config: { limits: { routeTimeout: 500, requestTimeout: 1_000, bodyBytes: 10_000, uploadBytes: 100_000 } },
      code: { routes: routes.map(([one]) => one) },
    },
  )
  await addToken(served, 'full', { type: 'full-access' })
  await addToken(served, 'read-only', { type: 'read-only' })
  await addToken(served, 'custom', { type: 'custom', actions: [`${order}.report`, `${order}.correct`] })
  await addToken(served, 'expired', { type: 'full-access', expiresAt: Date.now() - 1_000 })
  const [ann, blocked] = [await addUser(served, 'ann', 'authenticated'), await addUser(served, 'bob', 'authenticated', { blocked: 1 })]
  await grant(served, 'authenticated', `${order}.report`)
  await grant(served, 'public', `${order}.public`)
  tokens = {
    ...{ public: undefined, full: 'full', 'read-only': 'read-only', custom: 'custom', ann: jwt(ann) },
    ...{
      expired: 'expired',
      wrong: 'wrong',
      blocked: jwt(blocked),
      forged: jwt(ann, { secret: 'another' }),
      unsigned: jwt(ann, { algorithm: 'none' }),
    },
  }
})
afterAll(() => served.close())

const refused: ReadonlySet<string> = new Set(['expired', 'wrong', 'blocked', 'forged', 'unsigned'])

test('every route is open to exactly those who are granted its action', async () => {
  const wrong: string[] = []
  for (const [{ method, path, base, auth }, allowed] of routes) {
    const url = (base === 'root' ? '' : '/api') + path.replace(':name', 'x')
    for (const [caller, token] of Object.entries(tokens)) {
      called = []
      const json = { headers: { 'content-type': 'application/json' }, body: '{"name":"x"}' }
      const { status } = await served.request(url, { method, ...(method === 'GET' ? {} : json), ...(token === undefined ? {} : { token }) })
      const isOpen = auth === false || caller === 'full' || allowed.includes(caller)
      const expected = auth !== false && refused.has(caller) ? 401 : isOpen ? 200 : 403
      const runs = expected === 200 ? 1 : 0
      if (status !== expected || called.length !== runs)
        wrong.push(`${caller}: ${method} ${url}: ${status}, not ${expected}; ${called.length} calls`)
    }
  }
  expect(wrong).toEqual([])
})

test('another way to write a path leads to the same decision', async () => {
  const paths = [
    ...['/api/secret/report', '/API/SECRET/REPORT', '/api/secret/report/', '/api/secret/%72eport', '/api/%73ecret/report'],
    ...[
      '//api/secret/report',
      '/api//secret/report',
      '/api/./secret/report',
      '/api/x/../secret/report',
      '/api/secret/report;x',
      '/api/secret/report%00',
    ],
    ...[
      '/api/secret/report%2F',
      '/api/secret%2Freport',
      '/api\\secret\\report',
      '/api/secret/report?',
      '/api/secret/report#x',
      '/api/secret/report//',
    ],
  ]
  for (const path of paths) {
    called = []
    // `fetch` would normalize the path.
    const { hostname, port } = new URL(served.origin)
    const socket = connect(Number(port), hostname)
    let text = ''
    socket.on('data', (bytes) => {
      text += bytes
    })
    socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`)
    await once(socket, 'close')
    const status = Number(/^HTTP\/1\.1 (\d+)/.exec(text)?.[1])
    expect([400, 403, 404], `${path}: ${status}`).toContain(status)
    expect(called).toEqual([])
  }
  // Any parameter value is a text.
  handle = ({ params }) => params
  expect((await served.request('/api/open/..%2F..%2Fetc%2Fpasswd')).body).toEqual({ name: '../../etc/passwd' })
  expect((await served.request('/api/open/__proto__')).body).toEqual({ name: '__proto__' })
  expect((await served.request(`/api/open/${'x'.repeat(600)}`)).status).toBe(414)
})

test('keys of prototypes change no object', async () => {
  handle = ({ query, body }) => {
    const plain = {} as Record<string, unknown>
    return [
      plain.admin,
      (query as { admin?: unknown }).admin,
      (body as { admin?: unknown } | undefined)?.admin,
      'x'.constructor === String,
    ].map((value) => value ?? null)
  }
  const post = (path: string, body: string, type = 'application/json') =>
    served.request(path, { method: 'POST', headers: { 'content-type': type }, body })
  for (const path of ['/api/open', '/api/open/checked']) {
    for (const query of ['?__proto__[admin]=1', '?constructor[prototype][admin]=1', '?a[__proto__][admin]=1', '?__proto__.admin=1']) {
      expect((await post(path + query, '{}')).body).toEqual([null, null, null, true])
      expect((await post(path, query.slice(1), 'application/x-www-form-urlencoded')).body).toEqual([null, null, null, true])
    }
    expect((await post(path, '{"__proto__":{"admin":1}}')).status).toBe(400)
    expect((await post(path, '{"a":{"\\u005f_proto__":{"admin":1}}}')).status).toBe(400)
    expect((await post(path, '{"constructor":{"prototype":{"admin":1}}}')).body).toEqual([null, null, null, true])
  }
  expect(({} as { admin?: unknown }).admin).toBeUndefined()
  const many = `?${Array.from({ length: 900 }, (_, index) => `a[${index}][b][c]=${index}`).join('&')}`
  expect((await served.request(`/api/open/x${many.slice(0, 15_000)}`)).status).toBe(200)
})

test('bodies that are too large or too slow are refused, and those of refused callers are not read', async () => {
  handle = async ({ body }) => {
    if (typeof body !== 'object' || body === null || !(Symbol.asyncIterator in body)) return 1
    for await (const _chunk of body as AsyncIterable<Uint8Array>);
    return 1
  }
  const send = (path: string, method: string, bytes: number, token: string) =>
    served.request(path, { method, token, headers: { 'content-type': 'application/json' }, body: `"${'x'.repeat(bytes)}"` })
  called = []
  expect((await send('/api/secret/report', 'POST', 20_000, 'custom')).status).toBe(413)
  expect((await send('/api/secret/x', 'PUT', 20_000, 'custom')).status).toBe(413)
  expect((await send('/jobs', 'POST', 200_000, 'custom')).status).toBe(413)
  for (const [path, method] of [
    ['/api/secret/report', 'POST'],
    ['/api/secret/x', 'PUT'],
    ['/jobs', 'POST'],
  ] as const)
    expect((await send(path, method, 200_000, 'read-only')).status).toBe(403)
  expect(called).toEqual([])
  // A body that never comes is not the route's time.
  const { hostname, port } = new URL(served.origin)
  for (const [path, status] of [
    ['POST /api/open', 408],
    ['PUT /api/secret/x', 408],
  ] as const) {
    const socket = connect(Number(port), hostname)
    let text = ''
    socket.on('data', (bytes) => {
      text += bytes
    })
    socket.on('error', () => {})
    const head = `Authorization: Bearer custom\r\nContent-Type: application/json\r\nContent-Length: 100`
    socket.write(`${path} HTTP/1.1\r\nHost: x\r\n${head}\r\n\r\n{`)
    await expect.poll(() => text, patience).toContain(`HTTP/1.1 ${status}`)
    socket.destroy()
  }
  expect(called).toEqual([])
})

test('faulty code affects no other requests', async () => {
  const cyclic: { self?: unknown } = {}
  cyclic.self = cyclic
  const misdeeds: readonly (() => unknown)[] = [
    () => new Promise(() => {}),
    () => cyclic,
    () => Promise.reject(undefined),
    () => {
      throw Symbol('thrown')
    },
    () =>
      new Proxy(
        {},
        {
          ownKeys: () => {
            throw new Error('no keys')
          },
        },
      ),
    () => new Response('x', { status: 200, headers: { 'x-large': 'x'.repeat(20_000) } }),
    async function* () {
      yield 'x'
      throw new Error('after the beginning')
    },
  ]
  let misdeed = 0
  handle = ({ params }) => (params.name === 'bad' ? misdeeds[misdeed++ % misdeeds.length]!() : 'fine')
  const bad = Array.from({ length: 3 * misdeeds.length }, () =>
    served.request('/api/open/bad').then(
      ({ status }) => status,
      () => 'cut off',
    ),
  )
  for (let round = 0; round < 30; round++) expect((await served.request('/api/open/good')).body).toBe('fine')
  const statuses = await Promise.all(bad)
  expect(statuses.filter((status) => status !== 'cut off' && ![200, 500, 503].includes(Number(status)))).toEqual([])
  expect(statuses.filter((status) => status === 503)).toHaveLength(3)
  expect((await served.request('/_health')).status).toBe(204)
  expect((await served.request('/api/orders', { token: 'full' })).status).toBe(200)
})
