// Management of the content API by administrators: its roles and users, locales, webhooks.
import { afterAll, beforeAll, expect } from 'vitest'
import { addAdministrator, adminRole, requestAdmin, rowsOf, type SignedIn, signInAdmin } from '../support/administration.js'
import { rule } from '../support/rule.js'
import { type Served, serveProject, type TestResponse } from '../support/serve.js'
import { until } from '../support/until.js'
import { headerOf, openReceiver, type Receiver, status } from '../webhooks/receiver.js'
import { addToken, secrets } from './callers.js'

const files = {
  'src/api/note/content-types/note/schema.json': {
    kind: 'collectionType',
    collectionName: 'notes',
    info: { singularName: 'note', pluralName: 'notes', displayName: 'Note' },
    options: { draftAndPublish: false },
    pluginOptions: { i18n: { localized: true } },
    attributes: { title: { type: 'string', pluginOptions: { i18n: { localized: true } } } },
  },
}

let served: Served
let receiver: Receiver
let ada: SignedIn
beforeAll(async () => {
  receiver = await openReceiver()
  const config = { limits: { authRateLimit: 0, webhookAttempts: 1 }, webhooks: { allowPrivateAddresses: ['127.0.0.1'] } }
  served = await serveProject(files, { environment: secrets, config })
  await addAdministrator(served, 'ada@admins.example')
  await addToken(served, 'all', { type: 'full-access' })
  ada = await signInAdmin(served, 'ada@admins.example')
})
afterAll(async () => {
  await served?.close()
  await receiver?.close()
})

const get = (path: string, token = ada.accessToken) => requestAdmin(served, path, { token })
const send = (method: string, path: string, body?: unknown, token = ada.accessToken): Promise<TestResponse> =>
  requestAdmin(served, path, { method, token, body })
const lastAct = async () => (await get('/activity?limit=1')).body.data[0]

rule('administration.23', 'roles of the content API allow their new permissions at the next request', async () => {
  const [find, create] = ['api::note.note.find', 'api::note.note.create']
  expect((await get('/api-actions')).body.data).toEqual(expect.arrayContaining([find, create, 'plugin::upload.content-api.upload']))
  const all: readonly { id: number; type: string; actions: string[] }[] = (await get('/api-roles')).body.data
  const visitors = all.find(({ type }) => type === 'public')!
  expect((await served.request('/api/notes')).status).toBe(403)
  await served.sql(
    "UPDATE up_permissions SET action = 'plugin::gone.thing.find' WHERE action = ?",
    'plugin::users-permissions.auth.connect',
  )
  const { actions } = (await get(`/api-roles/${visitors.id}`)).body.data
  expect((await send('PATCH', `/api-roles/${visitors.id}`, { actions: [...actions, find] })).body.data.actions).toContain(find)
  expect((await served.request('/api/notes')).status).toBe(200)
  expect(await lastAct()).toMatchObject({ action: 'update', subject: 'api-role', name: 'Public', fields: ['actions'] })
  expect((await send('PATCH', `/api-roles/${visitors.id}`, { actions: ['api::note.note.nothing'] })).status).toBe(400)
  expect((await send('PATCH', `/api-roles/${visitors.id}`, { actions })).status).toBe(200)
  expect((await served.request('/api/notes')).status).toBe(403)
  const made = await send('POST', '/api-roles', { name: 'Writers', actions: [find, create] })
  expect([made.status, made.body.data.type, made.body.data.actions]).toEqual([201, 'writers', [create, find]])
  expect((await send('POST', '/api-roles', { name: 'Writers' })).status).toBe(400)
  expect((await send('PATCH', `/api-roles/${made.body.data.id}`, { name: 'Public' })).status).toBe(400)
  expect((await send('DELETE', `/api-roles/${visitors.id}`)).status).toBe(400)
  expect((await send('DELETE', `/api-roles/${made.body.data.id}`)).status).toBe(204)
  expect((await get(`/api-roles/${made.body.data.id}`)).status).toBe(404)
})

rule('administration.24', 'users are created, changed, blocked and deleted', async () => {
  const roles: readonly { id: number; type: string }[] = (await get('/api-roles')).body.data
  const role = roles.find(({ type }) => type === 'authenticated')!.id
  const nina = { username: 'nina', email: 'Nina@users.example', password: 'nina-Secret1', role }
  const made = await send('POST', '/users', nina)
  expect(made.status, made.text).toBe(201)
  expect(made.body.data).toMatchObject({ email: 'nina@users.example', isConfirmed: true, isBlocked: false, role: { id: role } })
  const { id } = made.body.data
  const logIn = (password: string) =>
    served.request('/api/auth/local', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ identifier: 'nina', password }),
    })
  const { jwt } = (await logIn('nina-Secret1')).body
  const me = async () => (await served.request('/api/users/me', { token: jwt })).status
  expect(await me()).toBe(200)
  expect((await send('POST', '/users', nina)).status).toBe(400)
  expect((await send('PATCH', `/users/${id}`, { role: 999_999 })).status).toBe(400)
  expect((await send('PATCH', `/users/${id}`, { isBlocked: true })).body.data.isBlocked).toBe(true)
  expect(await lastAct()).toMatchObject({ action: 'update', subject: 'user', name: 'nina', fields: ['blocked'] })
  expect(await me()).toBe(401)
  await send('PATCH', `/users/${id}`, { isBlocked: false, password: 'nina-Secret2' })
  expect([(await logIn('nina-Secret1')).status, (await logIn('nina-Secret2')).status]).toEqual([400, 200])
  expect(JSON.stringify(await rowsOf(served, 'octavo_activity'))).not.toContain('nina-Secret')
  expect((await get('/users')).body.data.map((user: { id: number }) => user.id)).toContain(id)
  expect((await get('/users')).text).not.toContain('password')
  expect((await send('DELETE', `/users/${id}`)).status).toBe(204)
  expect((await send('DELETE', `/users/${id}`)).status).toBe(404)
})

rule('administration.24', 'a right on some fields of users, or with a condition, is none here', async () => {
  await addAdministrator(served, 'clerk@admins.example', ['clerks'])
  const clerk = await signInAdmin(served, 'clerk@admins.example')
  const grant = async (properties: object, conditions: readonly string[]) => {
    const values = ['plugin::content-manager.explorer.read', 'plugin::users-permissions.user', JSON.stringify(properties)]
    await served.sql(
      'INSERT INTO admin_permissions (action, subject, properties, conditions) VALUES (?, ?, ?, ?)',
      ...values,
      JSON.stringify(conditions),
    )
    const [row] = await served.sql('SELECT max(id) AS id FROM admin_permissions')
    const role = await adminRole(served, 'clerks')
    await served.sql('INSERT INTO admin_permissions_role_lnk (permission_id, role_id) VALUES (?, ?)', row!.id, role)
    return (await get('/users', clerk.accessToken)).status
  }
  const fields = ['username', 'email', 'provider', 'confirmed', 'blocked', 'role']
  expect(await grant({ fields: ['username'] }, [])).toBe(403)
  expect(await grant({ fields }, ['admin::is-creator'])).toBe(403)
  expect(await grant({ fields: fields.slice(1) }, [])).toBe(200)
  expect((await send('DELETE', '/users/1', undefined, clerk.accessToken)).status).toBe(403)
})

rule('administration.25', 'locales are added, renamed, made the default one and removed', async () => {
  expect((await get('/locales')).body.data).toEqual([{ code: 'en', name: 'English (en)', isDefault: true }])
  expect((await send('POST', '/locales', { code: 'de' })).body.data).toEqual({ code: 'de', name: 'German (de)', isDefault: false })
  expect((await send('POST', '/locales', { code: 'DE' })).status).toBe(400)
  expect((await send('PATCH', '/locales/de', { name: 'Deutsch', isDefault: true })).body.data).toEqual({
    ...{ code: 'de', name: 'Deutsch', isDefault: true },
  })
  const made = await served.request('/api/notes', {
    ...{ method: 'POST', token: 'all', headers: { 'content-type': 'application/json' } },
    body: JSON.stringify({ data: { title: 'eins' } }),
  })
  expect(made.body.data.locale).toBe('de')
  expect((await send('DELETE', '/locales/de')).status).toBe(400)
  expect((await send('PATCH', '/locales/en', { isDefault: true })).status).toBe(200)
  expect((await send('DELETE', '/locales/de')).body.error.message).toContain('1 document uses')
  expect((await send('POST', '/locales', { code: 'fr', name: 'Français' })).status).toBe(201)
  expect((await send('DELETE', '/locales/fr')).status).toBe(204)
  expect((await send('PATCH', '/locales/fr', { name: 'x' })).status).toBe(404)
  expect(await lastAct()).toMatchObject({ action: 'delete', subject: 'locale', subjectId: 'fr' })
})

rule('administration.26', 'webhooks are created, changed, tested and deleted, and their deliveries are shown and repeated', async () => {
  const values = { name: 'build', url: `${receiver.origin}/build`, events: ['entry.create'], headers: { 'X-Key': 'a secret value' } }
  const made = await send('POST', '/webhooks', values)
  expect(made.status, made.text).toBe(201)
  expect(made.body.secret).toMatch(/^whsec_/)
  const { id } = made.body.data
  expect(made.body.data).toMatchObject({ headers: ['X-Key'], isEnabled: true, waiting: 0, failed: 0, last: null })
  for (const text of [(await get('/webhooks')).text, JSON.stringify(await rowsOf(served, 'octavo_activity'))])
    expect([text.includes('a secret value'), text.includes(made.body.secret)]).toEqual([false, false])
  expect((await send('POST', '/webhooks', values)).status).toBe(400)
  expect((await send('POST', '/webhooks', { ...values, name: 'inner', url: 'http://10.0.0.1/' })).status).toBe(400)
  expect((await send('POST', '/webhooks', { ...values, name: 'odd', events: ['entry.nothing'] })).status).toBe(400)

  const tested = await send('POST', `/webhooks/${id}/test`, {})
  expect(tested.body.data).toMatchObject({ status: 200, error: null })
  expect(receiver.received.at(-1)!.body.event).toBe('trigger-test')
  expect(headerOf(receiver.received.at(-1)!, 'x-key')).toBe('a secret value')

  receiver.respond = status(500)
  await served.request('/api/notes', {
    ...{ method: 'POST', token: 'all', headers: { 'content-type': 'application/json' } },
    body: JSON.stringify({ data: { title: 'two' } }),
  })
  await until('an attempt has failed', async () => (await get(`/webhooks/${id}`)).body.data.failed === 1)
  const failed = (await get(`/webhooks/${id}/unfinished`)).body.data
  expect(failed).toMatchObject([{ event: 'entry.create', attempts: 1, dueAt: null }])
  expect((await get(`/webhooks/${id}/unfinished?state=waiting`)).body.data).toEqual([])
  expect((await get(`/webhooks/${id}/deliveries`)).body.data).toMatchObject([{ status: 500, attempt: 1, event: 'entry.create' }])
  receiver.respond = status(204)
  expect((await send('POST', `/webhooks/${id}/resend`, { failed: true })).body.data).toEqual({ count: 1 })
  await until('there are two attempts', async () => (await get(`/webhooks/${id}/deliveries`)).body.data.length === 2)
  const page = await get(`/webhooks/${id}/deliveries?limit=1`)
  expect(page.body.data).toMatchObject([{ status: 204 }])
  expect((await get(`/webhooks/${id}/deliveries?limit=1&after=${page.body.meta.next}`)).body.data).toMatchObject([{ status: 500 }])
  expect((await send('POST', `/webhooks/${id}/resend`, { sequences: [999_999] })).status).toBe(400)
  expect((await send('POST', `/webhooks/${id}/resend`, {})).status).toBe(400)

  // Hidden values and signing secrets of one receiver are not sent to another.
  const elsewhere = receiver.origin.replace('127.0.0.1', 'localhost')
  const moved = await send('PATCH', `/webhooks/${id}`, { url: `${elsewhere}/build` })
  expect([moved.status, moved.body.error.message]).toEqual([400, expect.stringContaining('X-Key')])
  expect((await send('PATCH', `/webhooks/${id}`, { url: `${elsewhere}/build`, headers: { 'x-other': 'y' } })).status).toBe(400)
  expect((await send('PATCH', `/webhooks/${id}`, { url: `${receiver.origin}/other` })).status).toBe(200)
  const secretsOf = () => served.sql('select secret, former_secret from octavo_webhooks where webhook_id = ?', id)
  const [signedBy] = await secretsOf()
  expect((await send('PATCH', `/webhooks/${id}`, { url: `${elsewhere}/build`, headers: { 'x-key': 'another' } })).status).toBe(200)
  expect(await secretsOf()).toEqual([
    { secret: expect.not.stringMatching(`^${signedBy!.secret.replaceAll(/[+/]/g, '.')}$`), former_secret: null },
  ])
  expect((await send('PATCH', `/webhooks/${id}`, { url: `${receiver.origin}/build`, headers: { 'X-Key': null } })).status).toBe(200)

  const changed = await send('PATCH', `/webhooks/${id}`, { headers: { 'x-key': null, 'X-Other': '1' }, isEnabled: false })
  expect(changed.body.data).toMatchObject({ headers: ['X-Other'], isEnabled: false })
  expect((await send('POST', `/webhooks/${id}/resend`, { after: 0 })).status).toBe(400)
  const rotated = await send('POST', `/webhooks/${id}/secret`, {})
  expect(rotated.body.data.secret).not.toBe(made.body.secret)
  expect((await send('DELETE', `/webhooks/${id}`)).status).toBe(204)
  expect((await get(`/webhooks/${id}`)).status).toBe(404)
})
