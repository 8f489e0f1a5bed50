// Sign-in of administrators, their sessions, and access to /admin/api.
import { createConfig, lintFromString } from '@redocly/openapi-core'
import { afterAll, beforeAll, expect } from 'vitest'
import type * as z from 'zod'
import { refusalStatuses } from '../../src/http/admin/openapi.js'
import { resources } from '../../src/http/admin/resources.js'
import { isTagged } from '../../src/http/admin/revisions.js'
import {
  addAdministrator,
  adminPassword,
  cookieOf,
  pageHeaders,
  requestAdmin,
  rowsOf,
  type SignedIn,
  signInAdmin,
} from '../support/administration.js'
import { rule } from '../support/rule.js'
import { type Served, serveProject } from '../support/serve.js'
import { addToken, addUser, jwt, secrets } from './callers.js'

const note = {
  kind: 'collectionType',
  collectionName: 'notes',
  info: { singularName: 'note', pluralName: 'notes', displayName: 'Note' },
  options: { draftAndPublish: false },
  attributes: { title: { type: 'string' } },
}
const files = { 'src/api/note/content-types/note/schema.json': note }

let served: Served
let ada: SignedIn
beforeAll(async () => {
  served = await serveProject(files, { environment: secrets, config: { limits: { authRateLimit: 1_000 } } })
  await addAdministrator(served, 'ada@admins.example')
  await addToken(served, 'may-do-everything', { type: 'full-access' })
  ada = await signInAdmin(served, 'ada@admins.example')
})
afterAll(() => served?.close())

const all = (token: string | undefined, at = served) => requestAdmin(at, '/session/all', token === undefined ? {} : { token })
const post = (path: string, body: unknown, more: object = {}) => requestAdmin(served, path, { method: 'POST', body, ...more })

rule('administration.1', 'content tokens and tokens of users are refused, those of administrators by the content API', async () => {
  const user = await addUser(served, 'nina', 'authenticated')
  expect((await all(ada.accessToken)).status).toBe(200)
  const refresh = ada.cookie.split('=')[1]!
  for (const token of ['may-do-everything', jwt(user), jwt(1), 'x', refresh, `${ada.accessToken}x`, undefined])
    expect((await all(token)).status, String(token)).toBe(401)
  expect((await served.request('/api/notes', { token: 'may-do-everything' })).status).toBe(200)
  expect((await served.request('/api/notes', { token: ada.accessToken })).status).toBe(401)
  expect((await served.request('/api/users/me', { token: ada.accessToken })).status).toBe(401)
  expect((await all(jwt(1, { secret: 'secret of the panel' }))).status).toBe(401)
})

rule('administration.1', 'every resource of the table refuses callers without credentials, and other methods', async () => {
  for (const { method, path, who } of resources) {
    const asked = await requestAdmin(served, path.replaceAll(/:\w+/g, '1'), { method, isForeign: true })
    expect(asked.status, `${method} ${path}`).toBe(who === 'anybody' ? asked.status : who === 'page' ? 403 : 401)
  }
  const wrong = await requestAdmin(served, '/session/all', { method: 'PATCH', token: ada.accessToken })
  expect([wrong.status, wrong.headers.get('allow')]).toEqual([405, 'HEAD, GET, DELETE'])
  for (const path of ['/nothing', '/session/all/x/y', '/Session/all', '/', ''])
    expect((await requestAdmin(served, path, { token: ada.accessToken })).status, path).toBe(404)
})

rule('administration.2', 'an administrator signs in with the stored password', async () => {
  const { data } = ada.answer.body
  expect(Date.parse(data.accessTokenExpiresAt)).toBeLessThanOrEqual(Date.now() + 600_000)
  expect((await signInAdmin(served, ' ADA@Admins.example ')).answer.status).toBe(200)
  const wrong = await post('/session', { email: 'ada@admins.example', password: 'wrong' })
  const unknown = await post('/session', { email: 'nobody@admins.example', password: adminPassword })
  expect([wrong.status, wrong.body]).toEqual([400, unknown.body])
  expect(wrong.body.error.message).toBe('Invalid email or password')
  await addAdministrator(served, 'blocked@admins.example', [], { blocked: 1 })
  await addAdministrator(served, 'invited@admins.example', [], { is_active: 0 })
  const messageOf = async (email: string, password: string) => (await post('/session', { email, password })).body.error.message
  expect(await messageOf('blocked@admins.example', adminPassword)).toBe('This account is blocked')
  expect(await messageOf('invited@admins.example', adminPassword)).toBe('This account is not active')
  expect(await messageOf('blocked@admins.example', 'wrong')).toBe('Invalid email or password')
})

rule('administration.3', 'the refresh token is a cookie that is used once', async () => {
  const flags = (answer: { headers: Headers }) => answer.headers.get('set-cookie')!.split('; ').slice(1)
  expect(flags(ada.answer)).toEqual(['Path=/admin/api/session', 'HttpOnly', 'Secure', 'SameSite=Strict'])
  const remembered = await signInAdmin(served, 'ada@admins.example', { remember: true })
  expect(flags(remembered.answer)[0]).toMatch(/^Max-Age=12\d{5}$/)
  const next = await post('/session/refresh', {}, { cookie: remembered.cookie })
  expect(next.status, next.text).toBe(200)
  expect(flags(next)[0]).toMatch(/^Max-Age=12\d{5}$/)
  expect((await all(next.body.data.accessToken)).status).toBe(200)
  await served.sql('UPDATE strapi_sessions SET updated_at = ? WHERE status = ?', Date.now() - 60_000, 'rotated')
  expect((await post('/session/refresh', {}, { cookie: remembered.cookie })).status).toBe(401)
  expect((await post('/session/refresh', {}, { cookie: cookieOf(next) })).status).toBe(401)
  expect((await all(next.body.data.accessToken)).status).toBe(401)
  for (const cookie of ['octavo_admin=x', `octavo_admin=${ada.accessToken}`])
    expect((await post('/session/refresh', {}, { cookie })).status, cookie).toBe(401)
  for (const headers of [{}, { cookie: 'other=1' }]) {
    const { status, body, headers: given } = await post('/session/refresh', {}, headers)
    expect([status, body, given.get('set-cookie')]).toEqual([200, { data: null }, null])
  }
})

rule('administration.4', 'only a page of this origin may set or send the cookie', async () => {
  const body = { email: 'ada@admins.example', password: adminPassword }
  const own = pageHeaders(served.origin)
  const send = (headers: Record<string, string>, path = '/session') =>
    requestAdmin(served, path, { method: 'POST', body, isForeign: true, headers, cookie: ada.cookie })
  expect((await send({ ...own, 'sec-fetch-site': 'same-origin' })).status).toBe(200)
  const { origin: _origin, ...without } = own
  const { 'octavo-admin': _header, ...plain } = own
  const others = [
    { ...own, origin: 'https://evil.example' },
    { ...own, origin: 'null' },
    { ...own, 'sec-fetch-site': 'cross-site' },
    { ...own, 'sec-fetch-site': 'same-site' },
    { ...own, 'octavo-admin': '0' },
    without,
    plain,
  ]
  for (const headers of others)
    for (const path of ['/session', '/session/refresh']) expect((await send(headers, path)).status, JSON.stringify(headers)).toBe(403)
  expect((await send({ ...own, 'content-type': 'text/plain' })).status).toBe(400)
  expect((await requestAdmin(served, '/session', { method: 'DELETE', isForeign: true, cookie: ada.cookie })).status).toBe(403)
  expect((await requestAdmin(served, '/session/all', { cookie: ada.cookie })).status).toBe(401)
  expect((await all(ada.accessToken)).headers.get('access-control-allow-origin')).toBe(null)
})

rule('administration.5', 'a commit of any program ends sessions that it invalidates', async () => {
  const acts: readonly (readonly [string, string])[] = [
    ['UPDATE admin_users SET blocked = ? WHERE email = ?', 'blocked'],
    ['UPDATE admin_users SET is_active = NOT is_active WHERE id >= ? AND email = ?', 'inactive'],
    ["UPDATE admin_users SET password = CONCAT(password, 'x') WHERE id >= ? AND email = ?", 'password'],
    ['DELETE FROM strapi_sessions WHERE id >= ? AND device_id = ?', 'session'],
    ['DELETE FROM admin_users WHERE id >= ? AND email = ?', 'deleted'],
  ]
  for (const [statement, name] of acts) {
    const email = `${name}-later@admins.example`
    await addAdministrator(served, email)
    const { accessToken, cookie } = await signInAdmin(served, email, { deviceId: email })
    expect((await all(accessToken)).status, name).toBe(200)
    await served.sql(statement, 1, email)
    expect((await all(accessToken)).status, name).toBe(401)
    expect((await post('/session/refresh', {}, { cookie })).status, name).toBe(401)
  }
})

rule('administration.6', 'sessions are listed and ended', async () => {
  await addAdministrator(served, 'lists@admins.example')
  const one = await signInAdmin(served, 'lists@admins.example', { deviceId: 'desk' })
  const other = await signInAdmin(served, 'lists@admins.example', { deviceId: 'phone' })
  const listed = (await all(one.accessToken)).body.data
  expect(listed.map(({ deviceId, current }: { deviceId: string; current: boolean }) => [deviceId, current])).toEqual([
    ['desk', true],
    ['phone', false],
  ])
  expect((await rowsOf(served, 'strapi_sessions')).every(({ origin }) => origin === 'admin')).toBe(true)
  const end = (id: string, token: string) => requestAdmin(served, `/session/all/${id}`, { method: 'DELETE', token })
  expect((await end(listed[1].id, ada.accessToken)).status).toBe(404)
  expect((await end(listed[1].id, one.accessToken)).status).toBe(204)
  expect((await all(other.accessToken)).status).toBe(401)
  const third = await signInAdmin(served, 'lists@admins.example')
  const out = await requestAdmin(served, '/session', { method: 'DELETE', cookie: third.cookie })
  expect([out.status, cookieOf(out)]).toEqual([204, 'octavo_admin='])
  expect((await all(third.accessToken)).status).toBe(401)
  expect((await requestAdmin(served, '/session', { method: 'DELETE', cookie: 'octavo_admin=x' })).status).toBe(204)
  expect((await requestAdmin(served, '/session/all', { method: 'DELETE', token: one.accessToken })).status).toBe(204)
  expect((await all(one.accessToken)).status).toBe(401)
})

rule('administration.9', 'unknown members are refused, with all errors', async () => {
  const { status, body } = await post('/session', { email: 1, more: true })
  expect([status, body.error.message]).toEqual([400, '3 errors occurred'])
  expect(body.error.details.errors.map(({ path }: { path: string[] }) => path.join('.')).sort()).toEqual(['email', 'more', 'password'])
  expect((await post('/session', [])).status).toBe(400)
})

rule('administration.9', 'resources without a body take no members, and one whose members may all be absent needs none', async () => {
  const { origin } = served
  const send = (method: string, path: string, body?: string, type = 'application/json') =>
    served.request(`/admin/api${path.replaceAll(/:\w+/g, '1')}`, {
      ...{ method, token: ada.accessToken, headers: { origin, 'octavo-admin': '1', 'content-type': type, cookie: ada.cookie } },
      ...(body === undefined ? {} : { body }),
    })
  const bodiless = resources.filter(({ method, body, form }) => method !== 'GET' && body === null && form === undefined)
  expect(bodiless.length).toBeGreaterThan(15)
  for (const { method, path } of bodiless) {
    const [member, text, broken] = [
      await send(method, path, '{"locale":"de"}'),
      await send(method, path, '{}', 'text/plain'),
      await send(method, path, '{'),
    ]
    const told = [member, text, broken].map(({ status, body }) => `${status} ${body.error.message}`)
    expect(told, `${method} ${path}`).toEqual([
      '400 Unrecognized key: "locale"',
      '400 The body must be JSON, with the content type application/json',
      expect.stringMatching(/^400 .*JSON/),
    ])
  }
  const optional = resources.filter(({ method, body }) => method === 'POST' && body?.safeParse({}).success)
  expect(optional.map(({ path }) => path)).toEqual(
    expect.arrayContaining(['/content/:type/:document/clone', '/model/undo', '/webhooks/:id/test', '/tokens/:id/regenerate']),
  )
  for (const { method, path } of optional) {
    const answer = await served.request(`/admin/api${path.replaceAll(/:\w+/g, '9')}`, {
      ...{ method, token: ada.accessToken, headers: { origin, 'octavo-admin': '1' } },
    })
    expect(answer.body.error?.message ?? '', path).not.toContain('JSON')
  }
})

rule('administration.7', 'attempts are limited per address and per account', async () => {
  const limited = await serveProject(files, { environment: secrets, config: { limits: { authRateLimit: 3 } } })
  try {
    await addAdministrator(limited, 'ada@admins.example')
    const attempt = (password: string) =>
      requestAdmin(limited, '/session', { method: 'POST', body: { email: 'ada@admins.example', password } })
    for (const expected of [400, 400, 400, 429]) expect((await attempt('wrong')).status).toBe(expected)
    const refused = await attempt(adminPassword)
    expect([refused.status, Number(refused.headers.get('retry-after')) > 0]).toEqual([429, true])
  } finally {
    await limited.close()
  }
  for (let index = 0; index < 6; index++) await post('/session', { email: 'guessed@admins.example', password: 'wrong' })
  expect((await post('/session', { email: 'guessed@admins.example', password: 'wrong' })).status).toBe(429)
})

rule('administration.8', 'the password is given again', async () => {
  const wrong = await post('/session/password', { password: 'wrong' }, { token: ada.accessToken })
  expect([wrong.status, wrong.body.error.message]).toEqual([400, 'Invalid password'])
  const before = Date.now()
  const right = await post('/session/password', { password: adminPassword }, { token: ada.accessToken })
  expect(Date.parse(right.body.data.passwordAt)).toBeGreaterThanOrEqual(before)
})

rule('administration.8', 'guesses at sign-in do not block the password of a signed-in administrator', async () => {
  await addAdministrator(served, 'nora@admins.example')
  const nora = await signInAdmin(served, 'nora@admins.example')
  const guesses: number[] = []
  for (let guess = 0; guess < 8; guess++) guesses.push((await post('/session', { email: 'nora@admins.example', password: 'wrong' })).status)
  expect(guesses.at(-1)).toBe(429)
  const given = await post('/session/password', { password: adminPassword }, { token: nora.accessToken })
  expect(given.status, given.text).toBe(200)
})

rule('administration.10', 'missing tables are named, and an administration that is off is not served', async () => {
  const lacking = await serveProject(files, { environment: secrets })
  try {
    await lacking.sql('DROP TABLE admin_permissions_role_lnk')
    const { status, body } = await all('x', lacking)
    expect([status, body.error.name]).toEqual([501, 'NotImplementedError'])
    expect(body.error.message).toContain('it lacks admin_permissions_role_lnk.')
    await expect(lacking.sql('SELECT * FROM admin_permissions_role_lnk')).rejects.toThrow()
  } finally {
    await lacking.close()
  }
  const off = await serveProject(files, { environment: secrets, config: { admin: { enabled: false } } })
  try {
    expect((await off.request('/admin/api/session/all')).status).toBe(404)
  } finally {
    await off.close()
  }
})

rule('administration.28', 'the description has every resource of the table', async () => {
  const { body } = await requestAdmin(served, '/openapi.json', { token: ada.accessToken })
  const described = Object.entries(body.paths as Record<string, object>).flatMap(([path, operations]) =>
    Object.keys(operations).map((method) => `${method.toUpperCase()} ${path.replaceAll(/\{(\w+)\}/g, ':$1')}`),
  )
  expect(described.sort()).toEqual(resources.map(({ method, path }) => `${method} ${path}`).sort())
  const config = await createConfig({ extends: ['recommended'], rules: { 'info-license': 'off', 'no-server-example.com': 'off' } })
  const problems = await lintFromString({ source: JSON.stringify(body), config })
  const shown = problems.map(({ ruleId, message, location }) => `${ruleId} ${location[0]?.pointer}: ${message}`)
  expect(shown.filter((problem) => !problem.startsWith('no-ambiguous-paths'))).toEqual([])
})

rule('administration.28', 'the description has the query, the headers and the statuses of every resource', async () => {
  const { body } = await requestAdmin(served, '/openapi.json', { token: ada.accessToken })
  expect((await requestAdmin(served, '/openapi.json')).status).toBe(401)
  const operationOf = (method: string, path: string) => body.paths[path.replaceAll(/:(\w+)/g, '{$1}')][method.toLowerCase()]
  const named = (method: string, path: string, place: string): string[] =>
    operationOf(method, path)
      .parameters.filter((parameter: { in: string }) => parameter.in === place)
      .map(({ name }: { name: string }) => name)
      .sort()
  const list = 'filters sort fields populate q locale status publicationFilter hasPublishedVersion limit after before'.split(' ').sort()
  expect(named('GET', '/content/:type', 'query')).toEqual(list)
  expect(named('GET', '/content/:type/total', 'query')).toEqual([...list, 'by'].sort())
  expect(named('PATCH', '/content/:type/:document', 'header')).toEqual(['If-Match', 'If-None-Match', 'Prefer'])
  expect(named('POST', '/content/:type/:document/publish', 'header')).toEqual(['Idempotency-Key', 'If-Match', 'Prefer'])
  expect(named('POST', '/content/:type', 'header')).toEqual(['Idempotency-Key', 'Prefer'])
  expect(named('POST', '/model/apply', 'header')).toEqual(['octavo-agree'])
  expect(named('POST', '/session', 'header')).toEqual(['Octavo-Admin', 'Origin'])
  for (const resource of resources) {
    const { method, path, response: answer } = resource
    const { responses } = operationOf(method, path)
    const isRead = method === 'GET' && answer !== null
    const hasTag = (status: number | string) => responses[status]?.headers?.ETag !== undefined
    const headers = named(method, path, 'header')
    const at = `${method} ${path}`
    expect([at, 428 in responses, 412 in responses || !(428 in responses)]).toEqual([at, headers.includes('If-Match'), true])
    expect([at, 304 in responses, hasTag(resource.status)]).toEqual([at, isRead, isTagged(resource)])
    const isOnce = resource.respondAgain !== undefined
    expect([at, headers.includes('Idempotency-Key'), 409 in responses || !isOnce, 422 in responses]).toEqual([at, isOnce, true, isOnce])
    expect([at, isRead ? headers.includes('If-None-Match') : true]).toEqual([at, true])
    expect([at, Object.keys(responses).filter((status) => /^4|XX$/.test(status))]).toEqual([
      at,
      refusalStatuses(resource)
        .filter((status) => status < 500)
        .map(String),
    ])
    // Undescribed parameters are refused.
    if (resource.query === null) continue
    expect([at, named(method, path, 'query')]).toEqual([at, Object.keys((resource.query as z.ZodObject).shape).sort()])
    expect([at, resource.query.safeParse({ undescribed: '1' }).success]).toEqual([at, false])
  }
  // A limit is a number, although a query has texts.
  const [limit] = operationOf('GET', '/admins').parameters.filter(({ name }: { name: string }) => name === 'limit')
  expect(limit.schema).toEqual({ type: 'integer', minimum: 1, maximum: 200, default: 50 })
})

rule('administration.29', 'every read has an ETag, and is 304 for a client that has the response', async () => {
  const reads = resources.filter(({ method, path, response }) => method === 'GET' && response !== null && !path.includes(':'))
  let tags = 0
  for (const { path } of reads) {
    const first = await requestAdmin(served, path, { token: ada.accessToken })
    if (first.status !== 200) continue
    const etag = first.headers.get('etag')!
    const again = await requestAdmin(served, path, { token: ada.accessToken, headers: { 'if-none-match': `"x", W/${etag}` } })
    expect([path, again.status, again.text, again.headers.get('etag')]).toEqual([path, 304, '', `W/${etag}`])
    const other = await requestAdmin(served, path, { token: ada.accessToken, headers: { 'if-none-match': '"x"' } })
    expect([path, other.status]).toEqual([path, 200])
    tags += 1
  }
  expect(tags).toBeGreaterThan(20)
  const [role] = (await requestAdmin(served, '/roles', { token: ada.accessToken })).body.data
  for (const path of [`/roles/${role.id}/rights`, '/types/api::note.note/layout', '/admins/1', '/content/api::note.note?sort=title']) {
    const etag = (await requestAdmin(served, path, { token: ada.accessToken })).headers.get('etag')!
    expect((await requestAdmin(served, path, { token: ada.accessToken, headers: { 'if-none-match': etag } })).status).toBe(304)
  }
  const made = await requestAdmin(served, '/content/api::note.note', {
    method: 'POST',
    token: ada.accessToken,
    body: { data: { title: 'New' } },
  })
  const note = `/content/api::note.note/${made.body.data.documentId}`
  expect(
    (await requestAdmin(served, note, { token: ada.accessToken, headers: { 'if-none-match': made.headers.get('etag')! } })).status,
  ).toBe(304)
})

rule('administration.30', 'every refusal has details, and says in words what must be given', async () => {
  const token = ada.accessToken
  const send = (body: string, type = 'application/json') =>
    served.request('/admin/api/roles', { method: 'POST', token, body, headers: { 'content-type': type } })
  for (const [body, status, name] of [
    ['{', 400, 'SyntaxError'],
    ['1', 400, 'SyntaxError'],
    [JSON.stringify({ name: 'x'.repeat(2_000_000) }), 413, 'PayloadTooLargeError'],
  ] as const)
    expect((await send(body)).body.error).toMatchObject({ status, name, details: {} })
  const wrong = async (path: string) => {
    const { message, details } = (await requestAdmin(served, path, { token })).body.error
    return [message, details.errors[0].path]
  }
  expect(await wrong('/admins/abc')).toEqual(['This must be an id', ['id']])
  expect(await wrong('/admins?limit=0')).toEqual(['limit must be a number from 1 to 200', ['limit']])
  expect(await wrong('/activity?limit=201')).toEqual(['limit must be a number from 1 to 200', ['limit']])
  expect(await wrong('/files?folder=abc')).toEqual(['This must be an id of a folder, or root', ['folder']])
  const rights = await requestAdmin(served, '/roles/1/rights', { method: 'PUT', token, body: { rights: [] } })
  expect(rights.body.error.message).toBe('Say which state you mean: If-Match with the ETag of the rights of the role')
  const layout = await requestAdmin(served, '/types/api::note.note/layout', { token })
  const { revision: _, ...unchanged } = layout.body.data
  const put = await requestAdmin(served, '/types/api::note.note/layout', { method: 'PUT', token, body: unchanged })
  expect(put.body.error.message).toBe('Say which state you mean: If-Match with the ETag of the layout')
})
