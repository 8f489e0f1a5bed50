// Administrators, roles, API tokens and the activity log: managed by administrators with rights.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { resources } from '../../src/http/admin/resources.js'
import {
  addAdministrator,
  adminPassword,
  adminRole,
  allowAdmins,
  projectWithNotes,
  requestAdmin,
  rowsOf,
  type SignedIn,
  signInAdmin,
} from '../support/administration.js'
import { rule } from '../support/rule.js'
import { type Served, serveProject, type TestResponse } from '../support/serve.js'
import { secrets } from './callers.js'

let served: Served
let ada: SignedIn
let ed: SignedIn
beforeAll(async () => {
  served = await serveProject(projectWithNotes, { environment: secrets, config: { limits: { authRateLimit: 0 } } })
  await addAdministrator(served, 'ada@admins.example')
  await addAdministrator(served, 'ed@admins.example', ['strapi-editor'])
  ada = await signInAdmin(served, 'ada@admins.example')
  ed = await signInAdmin(served, 'ed@admins.example')
})
afterAll(() => served?.close())

const get = (path: string, token = ada.accessToken) => requestAdmin(served, path, { token })
const send = (method: string, path: string, body?: unknown, token = ada.accessToken): Promise<TestResponse> =>
  requestAdmin(served, path, { method, token, body })
const lastActs = async (count: number) => (await get(`/activity?limit=${count}`)).body.data

rule('administration.16', 'each resource that names an action needs it, and nothing else', async () => {
  await addAdministrator(served, 'none@admins.example', ['no-rights'])
  const none = await signInAdmin(served, 'none@admins.example')
  const withAction = resources.filter(({ who }) => typeof who === 'object')
  expect(withAction.length).toBeGreaterThan(10)
  const places = withAction.map(({ method, path, who }) => {
    const { action, on } = who as { readonly action: string; readonly on?: { readonly uid: string } }
    return { method, path: path.replaceAll(/:\w+/g, '999999'), action: on === undefined ? action : `${action} ${on.uid}` }
  })
  const request = ({ method, path }: (typeof places)[number]) =>
    requestAdmin(served, path, { method, token: none.accessToken, ...(method === 'GET' || method === 'DELETE' ? {} : { body: [] }) })
  for (const place of places) expect((await request(place)).status, `${place.method} ${place.path}`).toBe(403)
  const conditional = { action: 'admin::users.read', properties: '{}', conditions: '["admin::is-creator"]' }
  await allowAdmins(served, 'no-rights')
  await served.sql('INSERT INTO admin_permissions (action, properties, conditions) VALUES (?, ?, ?)', ...Object.values(conditional))
  const [row] = await served.sql('SELECT max(id) AS id FROM admin_permissions')
  const role = await adminRole(served, 'no-rights')
  await served.sql('INSERT INTO admin_permissions_role_lnk (permission_id, role_id) VALUES (?, ?)', row!.id, role)
  expect((await get('/admins', none.accessToken)).status).toBe(403)
  await allowAdmins(served, 'no-rights', ...new Set(places.map(({ action }) => action)))
  for (const place of places) expect([200, 400, 404], `${place.method} ${place.path}`).toContain((await request(place)).status)
})

rule('administration.17', 'one response for the shell, sent again when it has changed', async () => {
  const first = await get('/start')
  expect(first.body.data).toMatchObject({
    me: { email: 'ada@admins.example', isSuperAdmin: true, roles: [{ code: 'strapi-super-admin' }] },
    locales: [{ code: 'en', isDefault: true }],
    settings: { apiPrefix: '/api', isProduction: true, changesModel: false },
  })
  const uids = first.body.data.types.map(({ uid }: { uid: string }) => uid)
  expect(uids).toEqual(['api::note.note', 'plugin::users-permissions.user'])
  const etag = first.headers.get('etag')!
  const again = await requestAdmin(served, '/start', { token: ada.accessToken, headers: { 'if-none-match': etag } })
  expect([again.status, again.text]).toEqual([304, ''])
  await send('PATCH', '/me', { lastname: 'Lovelace' })
  const changed = await requestAdmin(served, '/start', { token: ada.accessToken, headers: { 'if-none-match': etag } })
  expect([changed.status, changed.body.data.me.lastname]).toEqual([200, 'Lovelace'])
  expect((await get('/start', ed.accessToken)).body.data).toMatchObject({ types: [], rights: [], me: { isSuperAdmin: false } })
})

rule('administration.18', 'an administrator is invited, accepts, is changed, blocked and deleted', async () => {
  const author = await adminRole(served, 'strapi-author')
  const invited = await send('POST', '/admins', { email: 'New@Admins.example', firstname: 'New', roles: [author] })
  expect(invited.status, invited.text).toBe(201)
  const { id } = invited.body.data
  expect(invited.body.data).toMatchObject({ email: 'new@admins.example', isActive: false, isInvited: true, roles: [{ id: author }] })
  const codeOf = ({ body }: TestResponse) => (body.invitation ?? body.data).link.split('/').at(-1)
  const accept = (code: string, password = adminPassword) =>
    requestAdmin(served, `/session/invitation/${code}`, { method: 'POST', body: { password, firstname: 'Newer' } })
  const other = await send('POST', `/admins/${id}/invitation`, {})
  expect((await accept(codeOf(invited))).status).toBe(400)
  expect((await get(`/session/invitation/${codeOf(other)}`, '')).body.data).toMatchObject({ email: 'new@admins.example' })
  expect((await accept(codeOf(other), 'weak')).status).toBe(400)
  const accepted = await accept(codeOf(other))
  expect(accepted.status, accepted.text).toBe(200)
  expect((await accept(codeOf(other))).status).toBe(400)
  expect((await send('POST', `/admins/${id}/invitation`, {})).status).toBe(400)
  const token = accepted.body.data.accessToken
  expect((await get('/me', token)).body.data).toMatchObject({ firstname: 'Newer', isActive: true, isInvited: false })
  expect((await send('POST', '/admins', { email: 'new@admins.example', firstname: 'X', roles: [] })).status).toBe(400)
  expect((await send('PATCH', `/admins/${id}`, { isBlocked: true })).body.data.isBlocked).toBe(true)
  expect((await get('/me', token)).status).toBe(401)
  expect((await send('PATCH', `/admins/${id}`, { isBlocked: false, email: 'newest@admins.example' })).status).toBe(200)
  const { accessToken } = await signInAdmin(served, 'newest@admins.example')
  expect((await send('DELETE', `/admins/${id}`)).status).toBe(204)
  expect((await get('/me', accessToken)).status).toBe(401)
  expect((await get(`/admins/${id}`)).status).toBe(404)
  expect((await rowsOf(served, 'admin_users_roles_lnk')).filter(({ user_id }) => user_id === id)).toEqual([])
})

rule('administration.13', 'the last super administrator stays', async () => {
  const { id } = (await get('/me')).body.data
  const editor = await adminRole(served, 'strapi-editor')
  const refused = [
    await send('PATCH', `/admins/${id}`, { isBlocked: true }),
    await send('PATCH', `/admins/${id}`, { isActive: false }),
    await send('PATCH', `/admins/${id}`, { roles: [editor] }),
    await send('DELETE', `/admins/${id}`),
  ]
  for (const { status, body } of refused) expect([status, body.error?.message]).toEqual([400, expect.stringMatching(/^The last super/)])
  const superRole = await adminRole(served, 'strapi-super-admin')
  expect((await send('PATCH', `/admins/${id}`, { roles: [superRole, editor] })).status).toBe(200)
})

rule('administration.19', 'administrators cannot give roles that they lack, or touch others who have one', async () => {
  await allowAdmins(served, 'strapi-editor', 'admin::users.create', 'admin::users.update', 'admin::users.delete')
  const { id } = (await get('/me')).body.data
  const [editor, superRole] = [await adminRole(served, 'strapi-editor'), await adminRole(served, 'strapi-super-admin')]
  const as = (method: string, path: string, body?: unknown) => send(method, path, body, ed.accessToken)
  expect((await as('POST', '/admins', { email: 'x@admins.example', firstname: 'X', roles: [superRole] })).status).toBe(403)
  const made = await as('POST', '/admins', { email: 'x@admins.example', firstname: 'X', roles: [editor] })
  expect(made.status, made.text).toBe(201)
  expect((await as('PATCH', `/admins/${made.body.data.id}`, { roles: [superRole] })).status).toBe(403)
  for (const body of [{ isBlocked: true }, { email: 'mine@admins.example' }])
    expect((await as('PATCH', `/admins/${id}`, body)).status).toBe(403)
  expect((await as('DELETE', `/admins/${id}`)).status).toBe(403)
  expect((await as('PATCH', `/admins/${made.body.data.id}`, { roles: [999_999] })).status).toBe(400)
})

rule('administration.19', 'roles are created empty, changed, and deleted if no administrator has them', async () => {
  const made = await send('POST', '/roles', { name: 'Press Office' })
  expect(made.status, made.text).toBe(201)
  expect(made.body.data).toMatchObject({ name: 'Press Office', administrators: 0 })
  expect(made.body.data.code).toMatch(/^press-office-[a-z0-9]{8}$/)
  const { id } = made.body.data
  expect((await send('POST', '/roles', { name: 'Press Office' })).status).toBe(400)
  expect((await send('PATCH', `/roles/${id}`, { name: 'Press', description: 'News' })).body.data).toMatchObject({
    name: 'Press',
    description: 'News',
  })
  await allowAdmins(served, made.body.data.code, 'admin::roles.read')
  await addAdministrator(served, 'press@admins.example', [made.body.data.code])
  expect((await send('DELETE', `/roles/${id}`)).body.error.message).toBe('Some administrators still have this role')
  await served.sql('DELETE FROM admin_users_roles_lnk WHERE role_id = ?', id)
  const before = (await rowsOf(served, 'admin_permissions')).length
  expect((await send('DELETE', `/roles/${id}`)).status).toBe(204)
  expect((await rowsOf(served, 'admin_permissions')).length).toBe(before - 1)
  const superRole = await adminRole(served, 'strapi-super-admin')
  expect((await send('DELETE', `/roles/${superRole}`)).status).toBe(400)
  expect((await send('PATCH', `/roles/${superRole}`, { name: 'Mine' })).status).toBe(400)
})

rule('administration.20', 'API tokens are created, changed, regenerated and deleted', async () => {
  const made = await send('POST', '/tokens', { name: 'site', type: 'custom', actions: ['api::note.note.find'], lifespan: 3_600_000 })
  expect(made.status, made.text).toBe(201)
  const { key, data } = made.body
  const notes = async (token: string, method = 'GET') => (await served.request('/api/notes', { token, method })).status
  expect([await notes(key), await notes(key, 'POST')]).toEqual([200, 403])
  const now = Date.now()
  expect(Date.parse(data.expiresAt)).toBeGreaterThan(now + 3_000_000)
  expect((await get('/tokens')).text).not.toContain(key)
  expect(made.headers.get('cache-control')).toBe('no-store, no-transform')
  const change = (body: object) => send('PATCH', `/tokens/${data.id}`, body)
  expect((await change({ actions: ['api::note.note.nothing'] })).status).toBe(400)
  expect((await change({ type: 'read-only', actions: ['api::note.note.find'] })).status).toBe(400)
  expect((await change({ actions: ['api::note.note.create'] })).body.data.actions).toEqual(['api::note.note.create'])
  expect(await notes(key)).toBe(403)
  expect(await rowsOf(served, 'strapi_api_token_permissions_token_lnk')).toHaveLength(1)
  expect((await change({ type: 'read-only' })).body.data).toMatchObject({ type: 'read-only', actions: [] })
  expect(await notes(key)).toBe(200)
  const again = await send('POST', `/tokens/${data.id}/regenerate`, {})
  expect([await notes(key), await notes(again.body.key)]).toEqual([401, 200])
  expect((await send('POST', '/tokens', { name: 'site', type: 'read-only' })).status).toBe(400)
  expect((await send('POST', '/tokens', { name: 'none', type: 'custom' })).status).toBe(400)
  expect((await send('DELETE', `/tokens/${data.id}`)).status).toBe(204)
  expect(await notes(again.body.key)).toBe(401)
  expect((await get(`/tokens/${data.id}`)).status).toBe(404)
})

rule('administration.20', 'full access is given by super administrators alone: it allows more than any right of a role', async () => {
  await addAdministrator(served, 'tokens@admins.example', ['token-keepers'])
  await allowAdmins(
    served,
    'token-keepers',
    ...['create', 'read', 'update', 'regenerate', 'delete'].map((verb) => `admin::api-tokens.${verb}`),
  )
  const keeper = (await signInAdmin(served, 'tokens@admins.example')).accessToken
  const full = (await send('POST', '/tokens', { name: 'everything', type: 'full-access' })).body
  const own = (await send('POST', '/tokens', { name: 'own', type: 'read-only' }, keeper)).body.data
  const refused = [
    await send('POST', '/tokens', { name: 'more', type: 'full-access' }, keeper),
    await send('PATCH', `/tokens/${own.id}`, { type: 'full-access' }, keeper),
    await send('POST', `/tokens/${full.data.id}/regenerate`, {}, keeper),
  ]
  for (const { status, body } of refused) expect([status, body.error.message]).toEqual([403, 'Only super administrators give full access'])
  expect((await get('/tokens')).body.data.map(({ name, type }: { name: string; type: string }) => `${name} ${type}`)).toEqual([
    'everything full-access',
    'own read-only',
  ])
  expect((await served.request('/api/notes', { token: full.key })).status).toBe(200)
  expect((await send('PATCH', `/tokens/${full.data.id}`, { name: 'all', type: 'full-access' }, keeper)).status).toBe(200)
  expect((await send('PATCH', `/tokens/${full.data.id}`, { type: 'read-only' }, keeper)).status).toBe(200)
  for (const { id } of [full.data, own]) expect((await send('DELETE', `/tokens/${id}`, undefined, keeper)).status).toBe(204)
})

rule('administration.8', 'strong acts ask for the password again', async () => {
  await addAdministrator(served, 'old@admins.example')
  const old = await signInAdmin(served, 'old@admins.example', { deviceId: 'old' })
  const loginAt = new Date(Date.now() - 601_000).toISOString()
  await served.sql('UPDATE strapi_sessions SET metadata = ? WHERE device_id = ?', JSON.stringify({ loginAt }), 'old')
  for (const { method, path } of resources.filter(({ isStrong }) => isStrong === true)) {
    const { status, body } = await send(method, path.replaceAll(/:\w+/g, '999999'), {}, old.accessToken)
    expect([status, body.error.details], `${method} ${path}`).toEqual([403, { reason: 'password' }])
  }
  expect((await get('/tokens', old.accessToken)).status).toBe(200)
  await send('POST', '/session/password', { password: adminPassword }, old.accessToken)
  expect((await send('POST', '/roles', { name: 'After the password' }, old.accessToken)).status).toBe(201)
  const refreshed = await requestAdmin(served, '/session/refresh', { method: 'POST', body: {}, cookie: old.cookie })
  const next = refreshed.body.data.accessToken
  expect((await send('POST', '/roles', { name: 'After the refresh' }, next)).status).toBe(201)
})

rule('administration.21', 'changes have an entry, failures have none', async () => {
  const { id } = (await send('POST', '/tokens', { name: 'logged', type: 'read-only' })).body.data
  await send('PATCH', `/tokens/${id}`, { description: 'a secret plan' })
  await send('PATCH', `/tokens/${id}`, { actions: ['api::note.note.find'] })
  await send('DELETE', `/tokens/${id}`)
  const acts = await lastActs(3)
  const me = (await get('/me')).body.data
  const common = {
    administrator: { id: me.id, email: me.email },
    subject: 'token',
    subjectId: String(id),
    name: 'logged',
    address: '127.0.0.1',
  }
  expect(acts).toMatchObject([
    { ...common, action: 'delete', fields: [] },
    { ...common, action: 'update', fields: ['description'] },
    { ...common, action: 'create', fields: [] },
  ])
  expect(JSON.stringify(await rowsOf(served, 'octavo_activity'))).not.toContain('a secret plan')
  expect((await get(`/activity?subject=token&subjectId=${id}`)).body.data).toHaveLength(3)
  expect((await get('/activity?administrator=999999')).body.data).toEqual([])
  // Nor has what names no field, which changes nothing.
  const role = (await send('POST', '/roles', { name: 'Unchanged' })).body.data.id
  const tables = ['admin_users', 'admin_roles', 'octavo_activity']
  const before = await Promise.all(tables.map((table) => rowsOf(served, table)))
  for (const path of [`/admins/${me.id}`, '/me', `/roles/${role}`])
    expect([path, (await send('PATCH', path, {})).status]).toEqual([path, 200])
  expect(await Promise.all(tables.map((table) => rowsOf(served, table)))).toEqual(before)
})

rule('administration.22', 'pages are consistent during concurrent changes', async () => {
  const whole = (await get('/activity?limit=200')).body.data.map((entry: { id: number }) => entry.id)
  const seen: number[] = []
  for (let after = ''; ; ) {
    const { body } = await get(`/activity?limit=3${after}`)
    seen.push(...body.data.map((entry: { id: number }) => entry.id))
    if (seen.length === 3) await send('POST', '/roles', { name: 'Made between two pages' })
    if (body.meta.next === null) break
    after = `&after=${body.meta.next}`
  }
  expect(seen).toEqual(whole)
  const { next } = (await get('/activity?limit=1')).body.meta
  expect((await get(`/activity?limit=1&subject=token&after=${next}`)).status).toBe(400)
  expect((await get(`/admins?after=${next}`)).status).toBe(400)
  for (const query of ['limit=0', 'limit=201', 'limit=x', 'more=1', 'limit=1&limit=2', 'after=x'])
    expect((await get(`/activity?${query}`)).status, query).toBe(400)
  const admins = await get('/admins?limit=2')
  const rest = await get(`/admins?limit=2&after=${admins.body.meta.next}`)
  const ids = [...admins.body.data, ...rest.body.data].map(({ id }: { id: number }) => id)
  expect(new Set(ids).size).toBe(4)
})

test('the log keeps its last entries', async () => {
  const small = await serveProject(projectWithNotes, { environment: secrets, config: { limits: { activityEntries: 2 } } })
  try {
    await addAdministrator(small, 'ada@admins.example')
    const { accessToken } = await signInAdmin(small, 'ada@admins.example')
    for (const name of ['a', 'b', 'c']) await requestAdmin(small, '/roles', { method: 'POST', token: accessToken, body: { name } })
    expect((await rowsOf(small, 'octavo_activity')).map(({ name }) => name)).toEqual(['b', 'c'])
  } finally {
    await small.close()
  }
})
