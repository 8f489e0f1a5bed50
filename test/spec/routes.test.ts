// Custom routes: paths, permissions, validation, return values, and their capabilities.
import { type } from 'arktype'
import * as v from 'valibot'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import * as z from 'zod'
import { defineRoute } from '../../src/foundation/config/code-settings.js'
import type { BeforeCall } from '../../src/foundation/public/hooks.js'
import type { CustomRoute, RouteCall, StandardSchema } from '../../src/foundation/public/routes.js'
import { rule } from '../support/rule.js'
import { type RequestOptions, type Served, serveProject } from '../support/serve.js'
import { patience } from '../support/until.js'
import { addToken, addUser, grant, jwt, secrets } from './callers.js'

const [order, note] = ['api::order.order', 'api::note.note'] as const

const typeOf = (name: string, attributes: object, draftAndPublish = false) => ({
  [`src/api/${name}/content-types/${name}/schema.json`]: {
    kind: 'collectionType',
    collectionName: `${name}s`,
    info: { singularName: name, pluralName: `${name}s`, displayName: name },
    options: { draftAndPublish },
    attributes,
  },
})
const files = {
  ...typeOf('order', { name: { type: 'string', required: true }, customer: { type: 'integer', private: true }, bill: { type: 'media' } }),
  ...typeOf('note', { text: { type: 'string' }, order: { type: 'relation', relation: 'manyToOne', target: order } }, true),
}

/** The handler of the current test's route. */
let handle: (call: RouteCall) => unknown = () => 'nothing to do'
let before: (call: BeforeCall) => unknown = () => {}
let scopesAsked = 0
const own = (call: RouteCall) => handle(call)
const route = (method: CustomRoute['method'], path: string, more: object = {}): CustomRoute =>
  ({ method, path, auth: false, handle: own, ...more }) as CustomRoute

/** An asynchronous validator without a library. */
const asynchronous: StandardSchema<unknown, string> = {
  '~standard': {
    version: 1,
    vendor: 'test',
    validate: async (value) => {
      await new Promise((resolve) => setTimeout(resolve, 5))
      if (value === 'broken') throw new TypeError('a fault of the validator')
      const { name } = value as { name?: unknown }
      return typeof name === 'string'
        ? { value: name.toUpperCase() }
        : { issues: [{ message: 'no name', path: ['name', { key: 0 }, Symbol('x')] }] }
    },
  },
}

const routes: readonly CustomRoute[] = [
  route('GET', '/open'),
  route('POST', '/open', { body: 'json' }),
  route('GET', '/shops/:shop/orders/:documentId'),
  route('POST', '/orders/:documentId/checkout', { auth: undefined, action: `${order}.checkout` }),
  route('GET', '/orders/featured', { auth: undefined, action: `${order}.find` }),
  route('PATCH', '/orders/:id', { auth: undefined, action: 'api::billing.invoice.correct' }),
  route('GET', '/mine', { auth: undefined, action: `${order}.mine` }),
  route('GET', '/robots.txt', { base: 'root' }),
  route('POST', '/webhooks/:sender', { base: 'root', body: 'raw' }),
  route('POST', '/copies', { body: 'stream' }),
  defineRoute({
    method: 'POST',
    path: '/zod/:size',
    auth: false,
    params: z.object({ size: z.coerce.number().int() }),
    query: z.object({ page: z.coerce.number().default(1), tags: z.array(z.string()).optional() }),
    body: z.object({ name: z.string().trim().min(2), lines: z.array(z.object({ count: z.number() })) }),
    handle: ({ params, query, body }) => ({
      next: params.size + 1,
      page: query.page,
      tags: query.tags,
      name: body.name,
      lines: body.lines.length,
    }),
  }),
  defineRoute({
    method: 'POST',
    path: '/valibot',
    auth: false,
    body: v.object({ name: v.pipe(v.string(), v.minLength(2)), when: v.pipe(v.string(), v.isoDate()) }),
    handle: ({ body }) => body.name + body.when,
  }),
  defineRoute({
    method: 'POST',
    path: '/arktype',
    auth: false,
    body: type({ name: 'string > 1', 'age?': 'number' }),
    handle: ({ body }) => body.name,
  }),
  defineRoute({ method: 'POST', path: '/asynchronous', auth: false, body: asynchronous, handle: ({ body }) => body }),
  defineRoute({
    method: 'GET',
    path: '/faulty',
    auth: false,
    query: {
      '~standard': {
        ...asynchronous['~standard'],
        validate: () => {
          throw new TypeError('a fault of the validator')
        },
      },
    },
    handle: () => 1,
  }),
]

let served: Served
let ann = 0
beforeAll(async () => {
  served = await serveProject(files, {
    environment: secrets,
    config: {
      limits: { routeTimeout: 4_000, bodyBytes: 100_000, uploadBytes: 1_000_000, responseBytes: 1_000_000 },
      cors: { origins: ['https://site.example'] },
    },
    code: {
      routes,
      hooks: [{ before: (call) => before(call) }],
      types: {
        [order]: {
          scope: ({ caller }) => {
            scopesAsked++
            return caller.kind !== 'user' || { customer: { $eq: caller.id } }
          },
        },
        [note]: {
          policies: { find: ({ query }) => query.sort === undefined, create: ({ data }) => data?.text !== 'forbidden' },
          reads: { after: ({ response }) => void Object.assign(response.body.meta, { hooked: true }) },
          defaults: { fields: ['text'] },
        },
      },
    },
  })
  await addToken(served, 'all', { type: 'full-access' })
  await addToken(served, 'reads', { type: 'read-only' })
  await addToken(served, 'checks-out', { type: 'custom', actions: [`${order}.checkout`] })
  ann = await addUser(served, 'ann', 'authenticated')
  for (const action of ['find', 'findOne', 'create', 'update', 'mine']) await grant(served, 'authenticated', `${order}.${action}`)
  for (const action of ['find', 'findOne', 'create']) await grant(served, 'authenticated', `${note}.${action}`)
})
afterAll(() => served.close())
beforeEach(() => {
  handle = () => 'nothing to do'
  before = () => {}
})

const json = (body: unknown, more: RequestOptions = {}): RequestOptions => ({
  ...more,
  method: more.method ?? 'POST',
  headers: { 'content-type': 'application/json', ...more.headers },
  body: JSON.stringify(body),
})
const post = (path: string, body: unknown, more: RequestOptions = {}) => served.request(path, json(body, more))
/** Waits until a line that was logged since has this text. */
const logged = (since: number, text: string): Promise<void> => expect.poll(() => served.log.slice(since).join(''), patience).toContain(text)

rule('routes.1', 'a route responds to its method at its path', async () => {
  handle = ({ params, request }) => ({ params, url: request.url, method: request.method })
  expect((await served.request('/api/open?x=1')).body).toEqual({ params: {}, url: '/api/open?x=1', method: 'GET' })
  for (const path of ['/api/OPEN', '/api/open/', '/API/Open']) expect((await served.request(path)).status).toBe(200)
  const { body } = await served.request('/api/shops/K%C3%B6ln%2FS%C3%BCd/Orders/7')
  expect(body.params).toEqual({ shop: 'Köln/Süd', documentId: '7' })
  for (const path of ['/open', '/api/open/more', '/api/shops/x/orders', '/api/robots.txt', '/api/api/open', '/api/opens'])
    expect([path, (await served.request(path)).status]).toEqual([path, 404])
  handle = ({ request }) => new Response(request.url, { headers: { 'content-type': 'text/plain' } })
  expect((await served.request('/robots.txt')).text).toBe('/robots.txt')
})

rule('routes.13', 'responses are compressed, and only refused permissions have hints', async () => {
  const notes = JSON.stringify({ notes: 'n'.repeat(5_000) })
  const codes: readonly (readonly [string, string])[] = [
    ['value', 'gzip'],
    ['response', 'gzip'],
    ['bytes', ''],
    ['untouched', ''],
  ]
  const headers = { 'content-type': 'application/json' }
  const code = {
    routes: [
      route('GET', '/value', { handle: () => JSON.parse(notes) as unknown }),
      route('GET', '/response', { handle: () => new Response(notes, { headers }) }),
      route('GET', '/bytes', { handle: () => Buffer.from(notes) }),
      route('GET', '/untouched', { handle: () => new Response(notes, { headers: { ...headers, 'cache-control': 'no-transform' } }) }),
      route('GET', '/list', { handle: () => ({ data: [] }) }),
      route('GET', '/missing', {
        handle: () => {
          throw Object.assign(new Error('No such thing'), { name: 'NotFoundError' })
        },
      }),
      route('POST', '/orders/:documentId/checkout', { auth: undefined, action: `${order}.checkout` }),
    ],
  }
  const development = await serveProject(files, { environment: { ...secrets, NODE_ENV: 'development' }, code })
  try {
    const sendRequest = (path: string, init: RequestInit = {}) => fetch(`${development.origin}/api${path}`, init)
    for (const [path, coding] of codes) {
      const response = await sendRequest(`/${path}`, { headers: { 'accept-encoding': 'gzip' } })
      expect([path, response.headers.get('content-encoding') ?? '', await response.text()]).toEqual([path, coding, notes])
    }
    for (const path of ['/list?page=2&sort=nothing', '/missing?populate=x']) {
      const response = await sendRequest(path)
      expect([response.headers.get('octavo-hint'), await response.text()]).toEqual([null, expect.not.stringContaining('hint')])
    }
    const refused = (await (await sendRequest('/orders/abcdefghijklmnopqrstuvwx/checkout', { method: 'POST' })).json()) as {
      readonly error: { readonly status: number; readonly details: { readonly hint: string } }
    }
    expect(refused.error.status).toBe(403)
    expect(refused.error.details.hint).toContain(`octavo roles grant public ${order}.checkout`)
  } finally {
    await development.close()
  }
})

describe('at the start', () => {
  const start = (definition: string, more: object = {}) =>
    serveProject({ ...files, 'octavo.config.mjs': `export default { routes: [${definition}] }` }, more).then(async (started) => {
      await started.close()
      return 'started'
    })
  const one = (method: string, path: string, more = '') => `{ method: '${method}', path: '${path}', auth: false, handle: () => 1, ${more} }`

  rule('routes.2', 'a route that shadows another one is refused, naming both', async () => {
    const refused: readonly (readonly [string, string])[] = [
      [one('GET', '/orders'), 'routes[0] (GET /api/orders) shadows GET /orders of api::order.order'],
      [one('PUT', '/Orders/:id'), 'shadows PUT /orders/:documentId of api::order.order'],
      [one('GET', '/orders/abcdefghijklmnopqrstuvwx'), 'shadows GET /orders/:documentId'],
      [one('POST', '/orders/:id/actions/:what'), 'shadows POST /orders/:documentId/actions/publish'],
      [one('GET', '/users/me'), 'shadows GET /users/me of the service'],
      [one('GET', '/users/:name'), 'shadows GET /users'],
      [one('GET', '/users/7'), 'shadows GET /users/:id of the service'],
      [one('GET', '/auth/github/callback'), 'shadows GET /auth/:provider/callback'],
      [`${one('POST', '/a/:b')}, ${one('POST', '/A/:c')}`, 'routes[1] (POST /api/A/:c) shadows routes[0] (POST /api/a/:b)'],
      [one('GET', '/api/open', `base: 'root'`), 'is below /api, which belongs to the service'],
      [one('GET', '/uploads/x', `base: 'root'`), 'is below /uploads'],
      [one('GET', '/_health', `base: 'root'`), 'is below /_health'],
    ]
    const streaming = `export default { events: { stream: true }, routes: [${one('POST', '/Events')}] }`
    await expect(serveProject({ ...files, 'octavo.config.mjs': streaming })).rejects.toThrow(
      'routes[0] (POST /api/Events) shadows the event stream (/events)',
    )
    for (const [definition, message] of refused) await expect(start(definition), definition).rejects.toThrow(message)
    const fine = [
      one('GET', '/orders/featured'),
      one('PATCH', '/orders/:id'),
      one('DELETE', '/orders'),
      one('PATCH', '/users/:who'),
      one('GET', '/events'),
    ]
    const others = [
      one('GET', '/users/statistics'),
      one('GET', '/orders/:id/lines'),
      one('GET', '/apis', `base: 'root'`),
      one('POST', '/orders/:id/actions/archive'),
    ]
    expect(await start([...fine, ...others].join(','))).toBe('started')
  })

  test('an invalid definition is refused with the reason', async () => {
    const wrong: readonly (readonly [string, string])[] = [
      [`{ method: 'GET', path: '/a', handle: () => 1 }`, 'needs either an action'],
      [`{ method: 'GET', path: '/a', action: 'api::a.b.c', auth: false, handle: () => 1 }`, 'needs either an action'],
      [`{ method: 'GET', path: '/a', action: 'checkout', handle: () => 1 }`, 'routes[0].action): must have the form'],
      [`{ method: 'FETCH', path: '/a', auth: false, handle: () => 1 }`, 'method'],
      [`{ method: 'GET', path: '/a', auth: false }`, 'handle): must be a function'],
      [one('GET', '/a', `body: 'json'`), 'which has no body'],
      [one('POST', '/a', `body: { type: 'object' }`), 'must be "json", "raw", "stream" or a schema'],
      [one('GET', '/a', `query: {}`), 'Standard Schema'],
      [one('GET', '/a', `handler: 1`), 'handler'],
      ...[
        'a',
        '/:a',
        '/a//b',
        '/a/',
        '/a/../b',
        '/a/:b/:b',
        '/a/:__proto__',
        '/a/*',
        '/a b',
        '/a/:b-:c',
        '/a/(.*)',
        `/${'a/'.repeat(30)}b`,
      ].map((path) => [one('GET', path), 'routes[0].path)'] as const),
    ]
    for (const [definition, message] of wrong) await expect(start(definition), definition).rejects.toThrow(message)
  })
})

rule('routes.3', 'the action of a route is granted to roles and tokens', async () => {
  let calls = 0
  handle = ({ caller }) => {
    calls++
    return caller
  }
  const user = jwt(ann)
  const checkout = (token?: string) => post('/api/orders/x/checkout', {}, token === undefined ? {} : { token })
  expect([(await checkout('all')).body, (await checkout('checks-out')).status]).toEqual([{ kind: 'token', id: expect.any(Number) }, 200])
  for (const [token, status] of [
    ['reads', 403],
    [user, 403],
    [undefined, 403],
    ['nobody', 401],
  ] as const) {
    const { status: got, body } = await checkout(token)
    expect([got, body.error.status]).toEqual([status, status])
  }
  expect(calls).toBe(2)
  expect((await served.request('/api/mine', { token: user })).body).toEqual({ kind: 'user', id: ann })
  expect((await served.request('/api/orders/featured', { token: 'reads' })).status).toBe(200)
  await grant(served, 'public', `${order}.mine`)
  await expect.poll(async () => (await served.request('/api/mine')).body, patience).toEqual({ kind: 'public' })
  // An open route has other senders, whose credentials are not Octavo's.
  for (const authorization of ['Bearer nobody', 'Basic eDp5', `Bearer ${user}`])
    expect((await served.request('/api/open', { headers: { authorization } })).body).toEqual({ kind: 'public' })
  // Refused bodies are not read.
  expect((await post('/api/orders/x/checkout', 'x'.repeat(1_000), { token: 'reads' })).status).toBe(403)
})

rule('routes.4', 'actions of routes are listed and granted like all others', async () => {
  const { body } = await served.request('/api/users-permissions/permissions', { token: 'all' })
  expect(body.permissions['api::order'].controllers.order).toMatchObject({
    find: {},
    checkout: { enabled: false },
    mine: { enabled: false },
  })
  expect(body.permissions['api::billing'].controllers.invoice).toEqual({ correct: { enabled: false, policy: '' } })
  const permissions = { 'api::order': { controllers: { order: { checkout: { enabled: true }, nothing: { enabled: true } } } } }
  expect((await post('/api/users-permissions/roles', { name: 'Cashier', permissions }, { token: 'all' })).status).toBe(200)
  const { roles } = (await served.request('/api/users-permissions/roles', { token: 'all' })).body
  const { id } = roles.find(({ name }: { name: string }) => name === 'Cashier')
  const role = (await served.request(`/api/users-permissions/roles/${id}`, { token: 'all' })).body.role
  expect(role.permissions['api::order'].controllers.order).toMatchObject({ checkout: { enabled: true }, find: { enabled: false } })
  const cashier = await addUser(served, 'cashier', 'cashier')
  expect((await post('/api/orders/x/checkout', {}, { token: jwt(cashier) })).status).toBe(200)
})

rule('routes.5', 'input is validated by schemas of any library', async () => {
  const lines = [{ count: 1 }]
  const { body } = await post('/api/zod/41?page=3&tags[]=a&tags[]=b', { name: ' Ada ', lines })
  expect(body).toEqual({ next: 42, page: 3, tags: ['a', 'b'], name: 'Ada', lines: 1 })
  const failure = async (path: string, given: unknown) => {
    const answer = await post(path, given)
    expect([answer.status, answer.body.data, answer.body.error.name], answer.text).toEqual([400, null, 'ValidationError'])
    return answer.body.error
  }
  const several = await failure('/api/zod/41', { name: 'A', lines: [{ count: 1 }, { count: 'two' }] })
  expect(several.message).toBe('2 errors occurred')
  expect(several.details).toMatchObject({
    source: 'body',
    errors: [
      { path: ['name'], name: 'ValidationError', message: expect.any(String) },
      { path: ['lines', '1', 'count'], name: 'ValidationError' },
    ],
  })
  expect((await failure('/api/zod/many', { name: 'Ada', lines })).details).toMatchObject({ source: 'params', errors: [{ path: ['size'] }] })
  const query = await failure('/api/zod/1?page=x', { name: 'Ada', lines })
  expect(query.details.source).toBe('query')
  expect(query.message).toBe(query.details.errors[0].message)
  expect((await failure('/api/zod/1', [])).details).toMatchObject({ source: 'body', errors: [{ path: [] }] })

  expect((await post('/api/valibot', { name: 'Ada', when: '2026-11-24' })).body).toBe('Ada2026-11-24')
  expect((await failure('/api/valibot', { name: 'A', when: 'x' })).details.errors.map(({ path }: { path: unknown }) => path)).toEqual([
    ['name'],
    ['when'],
  ])
  expect((await post('/api/arktype', { name: 'Ada' })).body).toBe('Ada')
  expect((await failure('/api/arktype', { name: 'Ada', age: 'x' })).details.errors).toMatchObject([{ path: ['age'] }])
  expect((await post('/api/asynchronous', { name: 'ada' })).body).toBe('ADA')
  expect((await failure('/api/asynchronous', {})).details.errors).toEqual([
    { path: ['name', '0', 'Symbol(x)'], message: 'no name', name: 'ValidationError' },
  ])
  const since = served.log.length
  const faulty = await served.request('/api/faulty')
  expect([faulty.status, faulty.text.includes('fault')]).toEqual([500, false])
  await logged(since, 'the route GET /faulty failed: a fault of the validator')
})

rule('routes.6', 'bodies are JSON and forms, bytes, or streams, within their limits', async () => {
  handle = ({ body }) => body ?? 'none'
  expect((await post('/api/open', { a: [1, { b: null }] })).body).toEqual({ a: [1, { b: null }] })
  const form = { method: 'POST', headers: { 'content-type': 'application/x-www-form-urlencoded' }, body: 'a[b]=1&c=2' }
  expect((await served.request('/api/open', form)).body).toEqual({ a: { b: '1' }, c: '2' })
  expect((await served.request('/api/open', { method: 'POST' })).body).toBe('none')
  const typed = (type: string) => served.request('/api/open', { method: 'POST', headers: { 'content-type': type }, body: '{}' })
  const plain = await typed('text/plain')
  expect([plain.status, plain.body.error.message]).toEqual([
    400,
    'The body was not read: its Content-Type is "text/plain"; application/json is needed',
  ])
  for (const [body, status] of [
    ['{"a":', 400],
    ['1', 400],
    [`{"a":"${'x'.repeat(100_000)}"}`, 413],
    [`${'['.repeat(600)}${']'.repeat(600)}`, 400],
  ] as const)
    expect((await served.request('/api/open', { method: 'POST', headers: { 'content-type': 'application/json' }, body })).status).toBe(
      status,
    )

  handle = ({ body, params, request }) => ({
    sender: params.sender,
    bytes: (body as Buffer).toString('base64'),
    signature: request.headers['x-signature'],
  })
  const raw = await served.request('/webhooks/stripe', {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-signature': 's1' },
    body: ' {"a" : 1}\n',
  })
  expect(raw.body).toEqual({ sender: 'stripe', bytes: Buffer.from(' {"a" : 1}\n').toString('base64'), signature: 's1' })
  expect((await served.request('/webhooks/none', { method: 'POST' })).body.bytes).toBe('')
  expect((await served.request('/webhooks/large', { method: 'POST', body: 'x'.repeat(100_001) })).status).toBe(413)

  handle = async ({ body }) => {
    let bytes = 0
    for await (const chunk of body as AsyncIterable<Uint8Array>) bytes += chunk.length
    return bytes
  }
  expect((await served.request('/api/copies', { method: 'POST', body: 'x'.repeat(900_000) })).body).toBe(900_000)
  expect((await served.request('/api/copies', { method: 'POST', body: 'x'.repeat(1_000_001) })).status).toBe(413)
  const unannounced = await fetch(`${served.origin}/api/copies`, {
    method: 'POST',
    duplex: 'half',
    body: new ReadableStream({
      start: (controller) => {
        for (let n = 0; n < 11; n++) controller.enqueue(new Uint8Array(100_000))
        controller.close()
      },
    }),
  } as RequestInit)
  expect(unannounced.status).toBe(413)
})

rule('routes.7', 'the result of a function is the response', async () => {
  const returned = async (value: unknown) => {
    handle = () => value
    const { status, text, headers } = await served.request('/api/open')
    return [status, headers.get('content-type'), text]
  }
  const type = 'application/json; charset=utf-8'
  expect(await returned({ a: 1n, when: new Date(0), none: undefined })).toEqual([200, type, '{"a":"1","when":"1970-01-01T00:00:00.000Z"}'])
  expect(await returned('a text')).toEqual([200, type, '"a text"'])
  expect(await returned(null)).toEqual([200, type, 'null'])
  expect(await returned(0)).toEqual([200, type, '0'])
  expect(await returned(undefined)).toEqual([204, null, ''])
  expect(await returned(Promise.resolve([]))).toEqual([200, type, '[]'])
  expect(await returned(Buffer.from('bytes'))).toEqual([200, 'application/octet-stream', 'bytes'])
  expect(await returned(Response.json({ made: true }, { status: 201 }))).toEqual([201, 'application/json', '{"made":true}'])
  expect(await returned(new Response(null, { status: 204 }))).toEqual([204, null, ''])
  expect(await returned(Response.redirect('https://elsewhere.example/x', 302))).toEqual([302, null, ''])
  handle = () => {
    const response = new Response('<p>', {
      status: 418,
      headers: { 'content-type': 'text/html', 'content-security-policy': "default-src 'self'" },
    })
    response.headers.append('set-cookie', 'a=1')
    response.headers.append('set-cookie', 'b=2')
    response.headers.set('connection', 'keep-alive')
    response.headers.set('x-request-id', 'of another service')
    return response
  }
  const { status, headers, text } = await served.request('/api/open')
  expect([status, text, headers.getSetCookie(), headers.get('content-security-policy')]).toEqual([
    418,
    '<p>',
    ['a=1', 'b=2'],
    "default-src 'self'",
  ])
  expect(headers.get('content-length')).toBe('3')
  expect(headers.get('x-request-id')).toMatch(/^[\w-]{36}$/)
  // A response of another server is passed on as it is understood.
  handle = () => fetch(`${served.origin}/robots.txt`, { headers: { 'accept-encoding': 'gzip' } })
  const robots = handle
  handle = (call) => (call.request.url === '/robots.txt' ? new Response('passed on', { headers: { 'x-own': 'kept' } }) : robots(call))
  const passed = await served.request('/api/open')
  expect([passed.status, passed.text, passed.headers.get('x-own')]).toEqual([200, 'passed on', 'kept'])
})

rule('routes.9', 'routes see and write only the documents of their caller', async () => {
  const { documents } = served.service
  const [mine, theirs] = [
    await documents(order).create({ data: { name: 'mine', customer: ann } }),
    await documents(order).create({ data: { name: 'theirs', customer: 4711 } }),
  ]
  await documents(note).createMany({
    data: [
      { text: 'one', order: mine.documentId },
      { text: 'two', order: theirs.documentId },
    ],
    status: 'published',
  })
  const asAnn = () => served.request('/api/mine', { token: jwt(ann) })
  handle = async (call) => {
    const own = call.documents(order)
    const named = { documentId: theirs.documentId }
    return {
      found: (await own.findMany()).map(({ name }) => name),
      one: await own.findOne(named),
      count: await own.count(),
      through: await own.count({ filters: { name: 'theirs' } }),
      changed: await own.update({ ...named, data: { name: 'taken' } }),
      all: await call.unrestricted.documents(order).count(),
      notes: (await call.documents(note).findMany({ status: 'published', populate: ['order'] })).map((one) => one.order),
    }
  }
  const seen = await asAnn()
  expect(seen.body, seen.text).toMatchObject({ found: ['mine'], one: null, count: 1, through: 0, changed: null, all: 2 })
  // Populated relations are in the scope too; defaults of the type, which would leave it out, do not apply.
  expect(seen.body.notes).toEqual([expect.objectContaining({ name: 'mine' }), null])

  const refusals: readonly (readonly [(call: RouteCall) => unknown, number, string])[] = [
    [({ documents: own }) => own(note).findMany({ sort: 'text' }), 403, 'PolicyError'],
    [({ documents: own }) => own(note).create({ data: { text: 'forbidden' } }), 403, 'PolicyError'],
    [({ documents: own }) => own(note).delete({ documentId: 'x' }), 403, 'ForbiddenError'],
    [({ documents: own }) => own('plugin::users-permissions.user').findMany(), 403, 'ForbiddenError'],
    [
      ({ transaction }) => transaction((write) => [write(order).create({ data: { name: 'of another', customer: 4711 } })]),
      403,
      'ForbiddenError',
    ],
    [({ transaction }) => transaction((write) => [write(note).create({ data: { text: 'forbidden' } })]), 403, 'PolicyError'],
    [({ upload }) => upload({ content: Buffer.from('x'), name: 'x.txt' }), 403, 'ForbiddenError'],
    [
      ({ documents: own }) =>
        (own as RouteCall['unrestricted']['documents'])(order, { grants: undefined }).count({ filters: { nothing: 1 } }),
      400,
      'ValidationError',
    ],
  ]
  for (const [work, status, name] of refusals) {
    handle = work
    const { status: got, body } = await asAnn()
    expect([got, body.error?.name], work.toString()).toEqual([status, name])
  }
  handle = async ({ documents: own, unrestricted }) => {
    const { grantsOf } = await import('../../src/foundation/grants.js')
    return (own as typeof unrestricted.documents)(order, { grants: grantsOf('all', new Set([`${order}.find`])) }).findMany()
  }
  expect((await asAnn()).status).toBe(500)

  // The scope is called once for a request, and only if the route acts for its caller.
  for (const [work, asked] of [
    [() => 1, 0],
    [({ unrestricted, may }: RouteCall) => [may(`${order}.find`), unrestricted.documents(order).count()].length, 0],
    [async ({ documents: own }: RouteCall) => (await own(order).count()) + (await own(order).findMany()).length, 1],
  ] as const) {
    handle = work
    scopesAsked = 0
    expect((await asAnn()).status).toBe(200)
    expect(scopesAsked).toBe(asked)
  }

  // Hooks see the caller of the route; unrestricted calls are the project's own.
  const callers: unknown[] = []
  before = ({ caller }) => void callers.push(caller)
  handle = async ({ documents: own, unrestricted, transaction, may }) => {
    await own(order).create({ data: { name: 'a', customer: ann } })
    await transaction((write) => [write(order).create({ data: { name: 'b', customer: ann } })])
    await unrestricted.documents(order).create({ data: { name: 'c' } })
    await unrestricted.upload({
      content: Buffer.from('a bill'),
      name: 'bill.txt',
      linkTo: { uid: order, documentId: mine.documentId, field: 'bill' },
    })
    return [may(`${order}.create`), may(`${order}.delete`)]
  }
  expect((await asAnn()).body).toEqual([true, false])
  expect(callers).toEqual([{ kind: 'user', id: ann }, { kind: 'user', id: ann }, null])
  handle = ({ caller, documents: own }) =>
    own(order)
      .findMany()
      .then(() => caller)
  expect((await served.request('/api/open')).body.error.name).toBe('ForbiddenError')
})

rule('routes.10', 'errors with names of the API are responses; others are 500 and logged', async () => {
  const answer = async (work: (call: RouteCall) => unknown) => {
    handle = work
    const { status, body, headers } = await served.request('/api/open', { headers: { 'x-request-id': 'request-of-a-route' } })
    return { status, body, headers }
  }
  const named = await answer(() => {
    throw Object.assign(new Error('Out of stock'), { name: 'ConflictError', details: { left: 0 } })
  })
  expect(named.body).toEqual({ data: null, error: { status: 409, name: 'ConflictError', message: 'Out of stock', details: { left: 0 } } })
  const cyclic: Record<string, unknown> = {}
  cyclic.self = cyclic
  const faults: readonly (readonly [(call: RouteCall) => unknown, string])[] = [
    [() => (undefined as never as { x: number }).x, 'the route GET /open failed: Cannot read properties'],
    [() => Promise.reject(new RangeError('a fault')), 'the route GET /open failed: a fault'],
    [
      () => {
        throw 'a text'
      },
      "the route GET /open threw a value that is not an error: 'a text'",
    ],
    [
      () => {
        throw null
      },
      'the route GET /open threw a value that is not an error: null',
    ],
    [
      () => {
        throw Object.create(null)
      },
      'the route GET /open threw a value that is not an error',
    ],
    [() => cyclic, 'the route GET /open returned a value that cannot be sent as JSON'],
    [() => () => 1, 'the route GET /open returned a value that cannot be sent as JSON: a function'],
    [() => Symbol('x'), 'the route GET /open returned a value that cannot be sent as JSON: a symbol'],
    [
      () => ({
        toJSON: () => {
          throw new Error('not today')
        },
      }),
      'cannot be sent as JSON: not today',
    ],
    [() => 'x'.repeat(1_000_001), 'the route GET /open returned more than limits.responseBytes'],
    [() => Response.error(), 'the route GET /open returned a Response with the status 0'],
    [
      async () => {
        const response = new Response('x')
        await response.text()
        return response
      },
      'whose body was already read',
    ],
  ]
  for (const [work, message] of faults) {
    const since = served.log.length
    const { status, body } = await answer(work)
    expect([status, body], work.toString()).toEqual([
      500,
      { data: null, error: { status: 500, name: 'InternalServerError', message: 'Internal Server Error' } },
    ])
    await logged(since, message)
    expect(
      served.log
        .slice(since)
        .filter((line) => line.includes('"level":50'))
        .join(''),
    ).toContain('"requestId":"request-of-a-route"')
  }
  let aborted: unknown = null
  const late = await answer(
    ({ signal }) =>
      new Promise(() => {
        signal.addEventListener('abort', () => {
          aborted = signal.reason
        })
      }),
  )
  expect([late.status, late.body.error.message]).toEqual([503, 'the route GET /open took longer than 4000 milliseconds'])
  expect(late.headers.get('retry-after')).toBe('1')
  expect((aborted as Error).message).toContain('took longer')
  const since = served.log.length
  expect((await answer(({ log }) => log.warn('stock is low', { left: 2, code: 'forged' }))).status).toBe(204)
  await logged(since, 'stock is low')
  const line = served.log
    .slice(since)
    .map((text) => JSON.parse(text))
    .find(({ msg }) => msg === 'stock is low')
  expect(line).toMatchObject({ level: 40, left: 2, code: 'the route GET /open', requestId: 'request-of-a-route' })
})

rule('routes.11', 'HEAD, OPTIONS, 404 and 405 are as for all routes', async () => {
  handle = () => ({ a: 1 })
  const head = await fetch(`${served.origin}/api/open`, { method: 'HEAD' })
  expect([head.status, head.headers.get('content-length'), await head.text()]).toEqual([200, '7', ''])
  const allowed = async (method: string, path: string) => {
    const { status, headers } = await served.request(path, { method })
    return [status, headers.get('allow')]
  }
  const expected: readonly (readonly [method: string, path: string, status: number, allow: string | null])[] = [
    ['OPTIONS', '/api/open', 200, 'HEAD, GET, POST'],
    ['DELETE', '/api/open', 405, 'HEAD, GET, POST'],
    ['OPTIONS', '/api/orders/x/checkout', 200, 'POST'],
    ['PUT', '/api/orders/x/checkout', 405, 'POST'],
    ['GET', '/api/orders/x/checkout', 404, null],
    ['HEAD', '/api/orders/x/checkout', 404, null],
    ['OPTIONS', '/api/orders/x', 200, 'HEAD, GET, PUT, DELETE, PATCH'],
    ['POST', '/api/orders/x', 405, 'HEAD, GET, PUT, DELETE, PATCH'],
    ['OPTIONS', '/api/orders', 200, 'HEAD, GET, POST'],
    ['GET', '/api/copies', 404, null],
    ['DELETE', '/api/copies', 405, 'POST'],
    ['OPTIONS', '/webhooks/x', 200, 'POST'],
    ['DELETE', '/webhooks/x', 405, 'POST'],
    ['DELETE', '/robots.txt', 405, 'HEAD, GET'],
    ['DELETE', '/nothing', 405, 'HEAD, GET'],
  ]
  for (const [method, path, ...wanted] of expected)
    expect([method, path, ...(await allowed(method, path))]).toEqual([method, path, ...wanted])

  const origin = { headers: { origin: 'https://site.example' } }
  const { headers } = await served.request('/api/open', origin)
  expect(headers.get('access-control-allow-origin')).toBe('https://site.example')
  expect(
    (await served.request('/api/open', { headers: { origin: 'https://evil.example' } })).headers.get('access-control-allow-origin'),
  ).toBeNull()
  const preflight = await served.request('/api/orders/x/checkout', {
    method: 'OPTIONS',
    headers: { ...origin.headers, 'access-control-request-method': 'POST' },
  })
  expect([preflight.status, preflight.headers.get('access-control-allow-methods')]).toEqual([204, 'GET,POST,PUT,PATCH,DELETE,HEAD,OPTIONS'])
  for (const header of ['x-request-id', 'x-content-type-options', 'content-security-policy', 'vary'])
    expect(headers.get(header)).not.toBeNull()
  const since = served.log.length
  await served.request('/api/shops/secret-shop/orders/1?token=secret', { headers: { 'x-request-id': 'a-request-to-log' } })
  await logged(since, 'a-request-to-log')
  const line = served.log.slice(since).find((text) => text.includes('a-request-to-log'))!
  expect(JSON.parse(line)).toMatchObject({ method: 'GET', route: '/api/shops/:shop/orders/:documentId', status: 200, caller: 'public' })
  expect(line).not.toContain('secret')
})
