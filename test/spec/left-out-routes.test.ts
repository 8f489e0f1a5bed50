// docs/spec/endpoints.md: routes of content-types that the configuration leaves out. Statuses and Allow are those that Strapi 5.54 was seen
// to send for routers with `only` and `except`.
import { spawnSync } from 'node:child_process'
import { afterAll, beforeAll, expect } from 'vitest'
import { removeProjects, root } from '../start/command.js'
import { rule } from '../support/rule.js'
import { type Served, serveProject } from '../support/serve.js'
import { addToken, grant, secrets } from './callers.js'
import { contentType } from './library.js'
import { hintOf } from './mistakes.js'

const relation = { type: 'relation', relation: 'manyToOne', target: 'api::secret.secret' }
const files = {
  ...contentType('order', { title: { type: 'string' }, secret: relation }, { draftAndPublish: true }),
  ...contentType('secret', { word: { type: 'string' } }),
  ...contentType('note', { title: { type: 'string' } }),
  'src/api/home/content-types/home/schema.json': {
    kind: 'singleType',
    collectionName: 'homes',
    info: { singularName: 'home', pluralName: 'homes', displayName: 'Home' },
    attributes: { title: { type: 'string' } },
  },
}
const types = {
  'api::order.order': { routes: { except: ['create', 'delete', 'unpublish'] } },
  'api::secret.secret': { routes: { only: [] } },
  'api::note.note': { routes: { only: ['findOne', 'create'] } },
  'api::home.home': { routes: { only: ['update'] } },
} as const
const order = 'api::order.order'

let served: Served
let development: Served
beforeAll(async () => {
  served = await serveProject(files, { config: { types }, environment: secrets })
  development = await serveProject(files, { config: { types }, environment: { ...secrets, NODE_ENV: 'development' } })
  for (const one of [served, development]) await addToken(one, 'all', { type: 'full-access' })
  await addToken(served, 'orders', { type: 'custom', actions: [`${order}.find`, 'api::secret.secret.find'] })
})
afterAll(async () => {
  await Promise.all([served, development].map((one) => one?.close()))
  removeProjects()
})

const data = { body: JSON.stringify({ data: { title: 'One' } }), headers: { 'content-type': 'application/json' } }

rule('endpoints.16', 'reads without a route are 404, other methods 405, and Allow lists the existing ones', async () => {
  const outcomes: readonly (readonly [string, string, number, string | null])[] = [
    ['GET', '/api/orders', 200, null],
    ['HEAD', '/api/orders', 200, null],
    ['POST', '/api/orders', 405, 'HEAD, GET'],
    ['OPTIONS', '/api/orders', 200, 'HEAD, GET'],
    ['DELETE', '/api/orders/abc', 405, 'HEAD, GET, PUT'],
    ['PUT', '/api/orders/abc', 404, null],
    ['GET', '/api/secrets', 404, null],
    ['HEAD', '/api/secrets', 404, null],
    ['POST', '/api/secrets', 405, 'HEAD, GET'],
    ['GET', '/api/secrets/abc', 404, null],
    ['DELETE', '/api/secrets/abc', 405, 'HEAD, GET'],
    ['GET', '/api/notes', 404, null],
    ['PUT', '/api/notes', 405, 'HEAD, GET, POST'],
    ['POST', '/api/notes', 201, null],
    ['OPTIONS', '/api/notes/abc', 200, 'HEAD, GET'],
    ['GET', '/api/home', 404, null],
    ['PUT', '/api/home', 200, null],
    ['DELETE', '/api/home', 405, 'HEAD, GET, PUT'],
    ['PATCH', '/api/home', 405, 'HEAD, GET, PUT'],
  ]
  for (const [method, path, status, allow] of outcomes) {
    const answer = await served.request(path, { method, token: 'all', ...(/^P/.test(method) ? data : {}) })
    expect([method, path, answer.status, answer.headers.get('allow')]).toEqual([method, path, status, allow])
    if (status === 405) expect(answer.text).toBe('Method Not Allowed')
    // Invalid credentials do not reveal which routes exist.
    if (status >= 404 && status !== 404) expect((await served.request(path, { method, token: 'wrong' })).status).toBe(status)
  }
  expect((await served.request('/api/secrets', { token: 'wrong' })).status).toBe(404)
})

rule('endpoints.16', 'publication actions can be left out', async () => {
  const { documentId } = await served.service.documents(order).create({ data: { title: 'Draft' } })
  const act = async (action: string) =>
    (await served.request(`/api/orders/${documentId}/actions/${action}`, { method: 'POST', token: 'all' })).status
  expect([await act('publish'), await act('unpublish'), await act('discard')]).toEqual([200, 404, 200])
})

rule('endpoints.17', 'only hints name them, not the description or the start page', async () => {
  const { paths } = (await served.request('/api/openapi.json', { token: 'all' })).body as { paths: Record<string, object> }
  const described = Object.entries(paths).flatMap(([path, item]) => Object.keys(item).map((method) => `${method} ${path}`))
  expect(described.filter((one) => /orders|secrets|notes|home/.test(one)).sort()).toEqual([
    'get /notes/{id}',
    'get /orders',
    'get /orders/{id}',
    'post /notes',
    'post /orders/{id}/actions/discard',
    'post /orders/{id}/actions/publish',
    'put /home',
    'put /orders/{id}',
  ])
  const page = (await development.request('/')).text
  expect(page).toContain('/api/orders')
  for (const path of ['/api/secrets', '/api/notes', '/api/home']) expect(page).not.toContain(path)
  const hintAt = async (method: string, path: string) => hintOf(await development.request(path, { method, token: 'all' }))
  expect(await hintAt('POST', '/api/orders')).toMatch(/^There is no route for create of .*types\['api::order\.order'\]\.routes/)
  expect(await hintAt('GET', '/api/secrets')).toContain('no route for find of')
  expect(await hintAt('POST', '/api/orders/abc/actions/unpublish')).toContain('no route for unpublish of')
  expect(await hintAt('PUT', '/api/orders')).not.toContain('octavo.config')
})

rule('endpoints.17', 'a custom route may replace only routes that are left out', async () => {
  const route = (method: 'GET' | 'POST', path: string, action: string) => ({ method, path, action, handle: () => ({ own: true }) })
  const own = await serveProject(files, {
    config: { types },
    environment: secrets,
    code: { types, routes: [route('POST', '/orders', `${order}.create`), route('GET', '/notes', 'api::note.note.find')] },
  })
  await addToken(own, 'maker', { type: 'custom', actions: [`${order}.create`] })
  await addToken(own, 'reader', { type: 'custom', actions: [`${order}.find`] })
  expect((await own.request('/api/orders', { method: 'POST', token: 'maker' })).body).toEqual({ own: true })
  expect((await own.request('/api/orders', { method: 'POST', token: 'reader' })).status).toBe(403)
  expect((await own.request('/api/orders', { token: 'reader' })).status).toBe(200)
  expect((await own.request('/api/orders', { method: 'PUT', token: 'reader' })).headers.get('allow')).toBe('HEAD, GET, POST')
  await own.close()
  const taken = { types, routes: [route('GET', '/orders', `${order}.find`)] }
  await expect(serveProject(files, { code: taken })).rejects.toThrow(`shadows GET /orders of ${order}`)
})

rule('endpoints.18', 'commands refuse useless grants and explain why', () => {
  const run = (...words: string[]) => {
    const { status, stderr } = spawnSync(process.execPath, [`${root}/dist/main.js`, ...words], {
      encoding: 'utf8',
      env: { PATH: process.env.PATH, ...secrets, ...served.sameDatabase },
    })
    return { status, error: stderr }
  }
  const refused = run('roles', 'grant', 'public', `${order}.create`, served.folder)
  expect([refused.status, refused.error]).toEqual([
    1,
    expect.stringContaining(`${order}.create cannot be granted, because octavo.config leaves out its route: types['${order}'].routes.`),
  ])
  const token = ['tokens', 'create', served.folder, '--name', 'n', '--type', 'custom', '--permissions']
  expect(run(...token, `${order}.find,${order}.unpublish`).error).toContain(`${order}.unpublish cannot be granted`)
  expect(run('roles', 'grant', 'public', 'api::secret.secret.find,api::order.order.update', served.folder).status).toBe(0)
})

rule('endpoints.18', 'the routes of roles list only useful actions', async () => {
  const treeOf = async (one: Served) => {
    const { body } = await one.request('/api/users-permissions/permissions', { token: 'all' })
    const { permissions } = body as { permissions: Record<string, { controllers: Record<string, object> }> }
    return Object.fromEntries(
      Object.entries(permissions).flatMap(([scope, { controllers }]) =>
        scope.startsWith('api::') ? [[scope, Object.keys(Object.values(controllers)[0]!)]] : [],
      ),
    )
  }
  expect(await treeOf(served)).toEqual({
    'api::home': ['find', 'update'],
    'api::note': ['find', 'findOne', 'create'],
    'api::order': ['find', 'findOne', 'update'],
    'api::secret': ['find'],
  })
  const route = { method: 'GET', path: '/own', action: `${order}.own`, handle: () => null } as const
  const own = await serveProject(files, { environment: secrets, code: { types, routes: [route] } })
  await addToken(own, 'all', { type: 'full-access' })
  expect((await treeOf(own))['api::order']).toEqual(['find', 'findOne', 'create', 'update', 'delete', 'own'])
  await own.close()
})

rule('endpoints.19', 'relations and code are not affected', async () => {
  const secret = await served.service.documents('api::secret.secret').create({ data: { word: 'hush' } })
  await served.service.documents(order).create({ data: { title: 'With a secret', secret: secret.documentId }, status: 'published' })
  const path = '/api/orders?filters[title]=With a secret&populate=secret'
  expect((await served.request(path, { token: 'orders' })).body.data[0].secret.word).toBe('hush')
  await grant(served, 'public', `${order}.find`)
  expect((await served.request(path)).body.data[0].secret?.word ?? null).toBe('hush')
  await served.service.documents('api::secret.secret').delete({ documentId: secret.documentId })
})
