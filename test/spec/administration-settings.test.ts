// Settings in the administration API: read and changed by part, in force for the next request, and never with a secret.
import { afterAll, beforeAll, expect } from 'vitest'
import { addAdministrator, allowAdmins, projectWithNotes, requestAdmin, type SignedIn, signInAdmin } from '../support/administration.js'
import { rule } from '../support/rule.js'
import { type Served, serveProject, type TestResponse } from '../support/serve.js'
import { patience } from '../support/until.js'
import { file, sample } from '../uploads/sending.js'
import { secrets } from './callers.js'
import { sendForm } from './media-client.js'

const parts = {
  uploads: { key: 'plugin_upload_settings', read: 'plugin::upload.settings.read', update: 'plugin::upload.settings.read' },
  'media-view': { key: 'plugin_upload_view_configuration', read: 'plugin::upload.configure-view', update: 'plugin::upload.configure-view' },
  users: {
    key: 'plugin_users-permissions_advanced',
    read: 'plugin::users-permissions.advanced-settings.read',
    update: 'plugin::users-permissions.advanced-settings.update',
  },
  emails: {
    key: 'plugin_users-permissions_email',
    read: 'plugin::users-permissions.email-templates.read',
    update: 'plugin::users-permissions.email-templates.update',
  },
  providers: {
    key: 'plugin_users-permissions_grant',
    read: 'plugin::users-permissions.providers.read',
    update: 'plugin::users-permissions.providers.update',
  },
} as const
type Part = keyof typeof parts
const names = Object.keys(parts) as Part[]

let served: Served
let ada: SignedIn
beforeAll(async () => {
  served = await serveProject(projectWithNotes, {
    environment: secrets,
    config: { limits: { authRateLimit: 0 } },
  })
  await addAdministrator(served, 'ada@settings.example')
  ada = await signInAdmin(served, 'ada@settings.example')
})
afterAll(() => served?.close())

const at = (part: Part) => `/settings/${part}`
const get = (part: Part, by = ada) => requestAdmin(served, at(part), { token: by.accessToken })
const put = (part: Part, body: unknown, revision: string | null, by = ada): Promise<TestResponse> =>
  requestAdmin(served, at(part), {
    ...{ method: 'PUT', token: by.accessToken, body },
    headers: revision === null ? {} : { 'if-match': `"${revision}"` },
  })
const storedOf = async (part: Part) => {
  const [row] = await served.sql('SELECT value FROM strapi_core_store_settings WHERE "key" = ?', parts[part].key)
  return JSON.parse(row!.value as string)
}
async function change(part: Part, changes: Record<string, unknown>): Promise<TestResponse> {
  const { body } = await get(part)
  const changed = await put(part, { ...body.data.settings, ...changes }, body.data.revision)
  expect(changed.status, changed.text).toBe(200)
  return changed
}

rule('administration-settings.1', 'every part is read and replaced with its revision, by administrators with the right to it', async () => {
  for (const part of names) {
    const { read, update } = parts[part]
    const [reader, writer] = [`${part}-reader`, `${part}-writer`]
    await allowAdmins(served, reader, read)
    await allowAdmins(served, writer, update)
    const signedIn: SignedIn[] = []
    for (const role of [reader, writer]) {
      await addAdministrator(served, `${role}@settings.example`, [role])
      signedIn.push(await signInAdmin(served, `${role}@settings.example`))
    }
    for (const other of names) {
      const own = (action: string) => (parts[other].read === action ? 200 : 403)
      expect((await get(other, signedIn[0])).status, `${reader} ${other}`).toBe(own(read))
      const { body } = await get(other)
      const { settings, revision } = body.data
      const given = settings
      expect((await put(other, given, revision, signedIn[1])).status, `${writer} ${other}`).toBe(part === other ? 200 : 403)
      expect((await put(other, given, revision, signedIn[0])).status).toBe(parts[other].update === read ? 200 : 403)
    }
    const writing = signedIn[1]!
    const { body } = await get(part)
    const given = body.data.settings
    expect((await put(part, given, null)).status).toBe(428)
    const late = await put(part, given, 'another')
    expect([late.status, late.body.error.details]).toEqual([412, body.data])
    // Administrators who may only change it do not learn its current value.
    const isSame = update === (read as string)
    const untold = await put(part, given, 'another', writing)
    expect([untold.status, untold.body.error.details, untold.headers.get('etag')]).toEqual(
      isSame ? [412, body.data, late.headers.get('etag')] : [412, {}, null],
    )
    const before = await storedOf(part)
    expect((await put(part, given, body.data.revision)).status).toBe(200)
    expect(await storedOf(part)).toEqual(before)
  }
  await served.sql('UPDATE strapi_sessions SET metadata = ? WHERE origin = ?', '{"passwordAt":"2020-01-01T00:00:00.000Z"}', 'admin')
  for (const part of names) {
    const { body } = await get(part)
    const { status } = await put(part, body.data.settings, body.data.revision)
    expect(status, part).toBe(part === 'uploads' || part === 'media-view' ? 200 : 403)
  }
  ada = await signInAdmin(served, 'ada@settings.example')
})

rule('administration-settings.2', 'uploads have the formats of the next setting', async () => {
  const formats = async () => {
    const sent = await sendForm(served, '/files', [file(sample('large.jpg'), 'large.jpg', 'image/jpeg')], ada)
    return Object.keys(sent.body.data[0].formats)
  }
  expect((await formats()).length).toBeGreaterThan(1)
  await change('uploads', { responsiveDimensions: false })
  expect(await formats()).toEqual(['thumbnail'])
  await change('uploads', { responsiveDimensions: true })
  expect((await formats()).length).toBeGreaterThan(1)
})

rule('administration-settings.2', 'sign-up and sign-in by other services follow at once', async () => {
  const register = (name: string) =>
    served.request('/api/auth/local/register', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ username: name, email: `${name}@users.example`, password: 'Secret-horse-7' }),
    })
  await change('users', { allow_register: true })
  expect((await register('anna')).status).toBe(200)
  await change('users', { allow_register: false })
  expect((await register('bert')).status).toBe(400)
  const connect = () => fetch(`${served.origin}/api/connect/github`, { redirect: 'manual' })
  expect((await connect()).status).toBe(400)
  const { github } = (await get('providers')).body.data.settings.providers
  const on = { enabled: true, key: 'the-key', secret: 'the-secret', callback: github.callback, scope: ['user'] }
  await change('providers', { providers: { github: on } })
  const sent = await connect()
  expect(sent.status).toBe(302)
  expect(sent.headers.get('location')).toContain('client_id=the-key')
  await change('providers', { providers: { github: { ...on, enabled: false } } })
  expect((await connect()).status).toBe(400)
})

rule('administration-settings.2', 'the next e-mail has the new words', async () => {
  const developing = await serveProject(projectWithNotes, { environment: { ...secrets, NODE_ENV: 'development' } })
  try {
    await addAdministrator(developing, 'eva@settings.example')
    const { accessToken: token } = await signInAdmin(developing, 'eva@settings.example')
    const { body } = await requestAdmin(developing, at('emails'), { token })
    const { settings, revision } = body.data
    const reset_password = { ...settings.reset_password, object: 'New words', message: 'Go to <%= URL %>' }
    const headers = { 'if-match': `"${revision}"` }
    const asked = { method: 'PUT', token, headers, body: { ...settings, reset_password } }
    expect((await requestAdmin(developing, at('emails'), asked)).status).toBe(200)
    const account = { username: 'carl', email: 'carl@users.example', password: 'Secret-horse-7' }
    const post = (path: string, sent: object) =>
      developing.request(path, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(sent) })
    await post('/api/auth/local/register', account)
    await post('/api/auth/forgot-password', { email: account.email })
    await expect.poll(() => developing.log.join('\n'), patience).toMatch(/New words.*Go to /s)
  } finally {
    await developing.close()
  }
})

rule('administration-settings.3', 'invalid settings are refused and change nothing', async () => {
  const { settings: email } = (await get('emails')).body.data
  const message = (text: string) => ({ reset_password: { ...email.reset_password, message: text } })
  const wrong: readonly (readonly [Part, Record<string, unknown>])[] = [
    ['uploads', { sizeOptimization: 'yes' }],
    ['uploads', { aiMetadata: true }],
    ['media-view', { pageSize: 1_000 }],
    ['media-view', { sort: 'hash:ASC' }],
    ['users', { default_role: 'public' }],
    ['users', { default_role: 'nobody' }],
    ['users', { email_reset_password: 'javascript:alert(1)' }],
    ['users', { email_confirmation_redirection: '/here' }],
    ['users', { allow_register: 1 }],
    ...[
      '<% x %>',
      '<%- URL %>',
      '<%= process.exit() %>',
      '<%= USER.password %>',
      '${7*7}',
      '<%= URL',
      '<%= <%= URL %> %>',
      '<%=<%= URL %>= x %>',
    ].map((text) => ['emails', message(text)] as const),
    ['emails', { reset_password: { ...email.reset_password, object: '<% x %>' } }],
    ['emails', { reset_password: { ...email.reset_password, response_email: 'nobody' } }],
    ['emails', { welcome: email.reset_password }],
    ['providers', { providers: { unknown: { enabled: false, key: '' } } }],
    ['providers', { providers: { github: { enabled: true, key: '' } } }],
    ['providers', { providers: { github: { enabled: true } } }],
  ]
  const before = await Promise.all(names.map(storedOf))
  for (const [part, changes] of wrong) {
    const { body } = await get(part)
    const answer = await put(part, { ...body.data.settings, ...changes }, body.data.revision)
    expect(answer.status, `${part} ${JSON.stringify(changes)}`).toBe(400)
  }
  expect(await Promise.all(names.map(storedOf))).toEqual(before)
  const text = 'Hello <%= USER.username %>, <%=URL%>?code=<%= TOKEN %> costs $5'
  await change('emails', message(text))
  expect((await storedOf('emails')).reset_password).toMatchObject({ icon: 'sync', options: { message: text } })
})

rule('administration-settings.1', 'sending back a GET response changes nothing, with any stored values', async () => {
  const strange: Readonly<Record<Part, Record<string, unknown>>> = {
    uploads: { sizeOptimization: 'yes' },
    'media-view': { pageSize: 1_000, sort: 'hash:ASC' },
    users: { allow_register: true, default_role: 'public', email_reset_password: '/reset' },
    emails: { reset_password: { options: { from: { email: 'Shop <shop@site.example>' }, object: '<% x %>', message: '<%= CODE() %>' } } },
    providers: { github: { enabled: true, key: '', secret: 's', callbackUrl: '/x', scope: 'all' }, other: 3 },
  }
  for (const part of names) {
    const stored = await storedOf(part)
    const store = (value: unknown) =>
      served.sql('UPDATE strapi_core_store_settings SET value = ? WHERE "key" = ?', JSON.stringify(value), parts[part].key)
    for (const value of [stored, { ...stored, ...strange[part] }, {}]) {
      await store(value)
      const { body } = await get(part)
      const same = await put(part, body.data.settings, body.data.revision)
      expect([same.status, same.body, await storedOf(part)], part).toEqual([200, body, value])
    }
    await store(stored)
  }
})

rule('administration-settings.4', 'unknown members stay, and changes are in the log', async () => {
  for (const part of names) {
    const stored = await storedOf(part)
    await served.sql(
      'UPDATE strapi_core_store_settings SET value = ? WHERE "key" = ?',
      JSON.stringify({ ...stored, other: { kept: 1 } }),
      parts[part].key,
    )
  }
  await change('uploads', { autoOrientation: true })
  await change('media-view', { pageSize: 20 })
  await change('users', { email_reset_password: 'https://site.example/reset' })
  await change('providers', { providers: { discord: { enabled: false, key: 'k' } } })
  for (const part of names) expect((await storedOf(part)).other, part).toEqual({ kept: 1 })
  expect(await storedOf('uploads')).toMatchObject({ autoOrientation: true, aiMetadata: true })
  expect((await storedOf('providers')).discord).toMatchObject({ icon: 'discord', key: 'k', callbackUrl: 'api/auth/discord/callback' })
  const { body } = await requestAdmin(served, '/activity?limit=3', { token: ada.accessToken })
  expect(body.data.map(({ subject, subjectId, fields }: Record<string, unknown>) => [subject, subjectId, fields])).toEqual([
    ['settings', 'providers', ['discord']],
    ['settings', 'users', ['email_reset_password']],
    ['settings', 'media-view', ['pageSize']],
  ])
})

rule('administration-settings.5', 'a secret is never shown, and stays unless it is given', async () => {
  const { body } = await get('providers')
  expect(body.data.settings.providers.google.hasSecret).toBe(false)
  const google = { enabled: false, key: 'public-key', scope: ['email'] }
  const first = await change('providers', { providers: { google: { ...google, secret: 'very-hidden-words' } } })
  const second = await change('providers', { providers: { google: { ...google, key: 'other-key' } } })
  expect(await storedOf('providers')).toMatchObject({ google: { key: 'other-key', secret: 'very-hidden-words' } })
  const late = await put('providers', { providers: { google } }, first.body.data.revision)
  expect(late.status).toBe(412)
  const log = await requestAdmin(served, '/activity?limit=200', { token: ada.accessToken })
  for (const { text } of [first, second, late, await get('providers'), log]) expect(text).not.toContain('very-hidden')
  expect(second.body.data.settings.providers.google.hasSecret).toBe(true)
  const shown = (await get('providers')).body.data
  const contrary = { providers: { google: { ...shown.settings.providers.google, hasSecret: false } } }
  const refused = await put('providers', contrary, shown.revision)
  expect([refused.status, refused.body.error.details.errors[0].path]).toEqual([400, ['providers', 'google', 'hasSecret']])
  const elsewhere = { providers: { google: { ...google, callback: 'https://site.example', subdomain: 'one' } } }
  const kept = await put('providers', elsewhere, shown.revision)
  expect([kept.status, kept.body.error.details.errors[0].path]).toEqual([400, ['providers', 'google', 'secret']])
  await change('providers', { providers: { google: { ...elsewhere.providers.google, secret: 'other-hidden-words' } } })
  await change('providers', { providers: { google: { ...shown.settings.providers.google, callback: null, subdomain: null } } })
  expect((await get('providers')).body.data.settings.providers.google).toMatchObject({ hasSecret: true, callback: null, subdomain: null })
  await change('providers', { providers: { google: { ...google, secret: '' } } })
  expect((await get('providers')).body.data.settings.providers.google.hasSecret).toBe(false)
})
