// The administration API under attack: foreign credentials, hostile input, and simultaneous actions.
import { afterAll, beforeAll, expect, test } from 'vitest'
import * as z from 'zod'
import { resources } from '../../src/http/admin/resources.js'
import { routes } from '../../src/http/rest/routes.js'
import { addToken, addUser, jwt, secrets } from '../spec/callers.js'
import {
  addAdministrator,
  adminPassword,
  pageHeaders,
  projectWithNotes,
  requestAdmin,
  rowsOf,
  type SignedIn,
  signInAdmin,
} from '../support/administration.js'
import { type Served, serveProject } from '../support/serve.js'

let served: Served
let ada: SignedIn
beforeAll(async () => {
  served = await serveProject(projectWithNotes, { environment: secrets, config: { limits: { authRateLimit: 0 } } })
  await addAdministrator(served, 'ada@admins.example')
  await addToken(served, 'may-do-everything', { type: 'full-access' })
  ada = await signInAdmin(served, 'ada@admins.example')
})
afterAll(() => served?.close())

const concrete = (path: string, value = '1') => path.replaceAll(/:\w+/g, value)

test('S145 no credential of the content API passes below /admin/api, and none of an administrator in the content API', async () => {
  const user = await addUser(served, 'nina', 'authenticated')
  const foreign = ['may-do-everything', jwt(user), jwt(1), ada.cookie.split('=')[1]!]
  for (const { method, path, who } of resources) {
    if (who === 'anybody' || who === 'page') continue
    for (const token of foreign) {
      const { status } = await requestAdmin(served, concrete(path), { method, token, cookie: ada.cookie })
      expect(status, `${method} ${path}`).toBe(401)
    }
  }
  const content = [...routes.map(({ method, path }) => [method, `/api${concrete(path)}`]), ['GET', '/api/notes'], ['POST', '/api/notes']]
  for (const [method, path] of content)
    for (const token of [ada.accessToken, ada.cookie.split('=')[1]!])
      expect((await served.request(path!, { method: method!, token })).status, `${method} ${path}`).toBe(401)
})

/** Values of every kind that a field may be sent. */
const hostile: readonly unknown[] = [
  ...[null, true, -1, 0, 1.5, 1e308, '', ' ', '\u0000', 'a\u0000b', '\ud800', "' or 1=1 --", '%', '${7*7}', '<script>', '__proto__'],
  ...['x'.repeat(100_000), [], [[]], [null], ['x'.repeat(10_000)], {}, { constructor: { prototype: {} } }, { $gt: 0 }, [9e15], [0]],
]

/** Values that make a body valid otherwise. */
const right: Readonly<Record<string, unknown>> = {
  ...{ email: 'x@admins.example', password: adminPassword, currentPassword: adminPassword, firstname: 'X', lastname: 'X', code: 'x' },
  ...{ name: 'X', roles: [], type: 'read-only', url: 'https://hooks.example', events: [], username: 'x', role: 1 },
}

/** The names of the fields of a body or a query. */
const fieldsOf = (schema: z.ZodType | null): readonly string[] => {
  if (schema === null) return []
  const { properties = {}, anyOf = [] } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as {
    readonly properties?: object
    readonly anyOf?: readonly { readonly properties?: object }[]
  }
  return [properties, ...anyOf.map((one) => one.properties ?? {})].flatMap((one) => Object.keys(one))
}

const pathValues = [
  '0',
  '-1',
  '1e9',
  '%00',
  '%2e%2e%2f',
  'a'.repeat(450),
  '999999999999999',
  '__proto__',
  '%F0%9F%92%A9',
  "'",
  '1%20or%201',
]

test('S146 every resource responds to any body without failing, and within its contract', async () => {
  const failures: string[] = []
  const request = async (method: string, path: string, body?: string) => {
    const { status, body: answer } = await served.request(`/admin/api${path}`, {
      ...{ method, token: ada.accessToken, headers: { ...pageHeaders(served.origin), cookie: ada.cookie } },
      ...(body === undefined ? {} : { body }),
    })
    if (status >= 500 || (status >= 400 && answer?.error?.status !== status))
      failures.push(`${status} ${method} ${path} ${body?.slice(0, 200)}`)
  }
  // Requests that end the session of this test or delete an account have separate tests.
  const ends = /^DELETE \/session|^POST \/session\/(?:change-password|refresh)|^PATCH \/me/
  for (const { method, path, body, query } of resources) {
    if (ends.test(`${method} ${path}`)) continue
    const hasBody = body !== null
    if (path.includes(':')) for (const value of pathValues) await request(method, concrete(path, value), hasBody ? '{}' : undefined)
    for (const field of fieldsOf(query))
      for (const value of ['', 'x', '-1', '0', '1e99', '%00', "'", '%F0%9F%92%A9', 'a'.repeat(2_000)])
        await request(method, `${concrete(path)}?${field}=${value}`)
    if (!hasBody) continue
    const fields = fieldsOf(body)
    const whole = Object.fromEntries(fields.flatMap((field) => (field in right ? [[field, right[field]] as const] : [])))
    for (const text of ['', 'null', '[]', '"x"', '{', '{"__proto__":{"a":1}}', `${'['.repeat(5_000)}${']'.repeat(5_000)}`])
      await request(method, concrete(path, '999999'), text)
    for (const field of fields)
      for (const value of hostile) await request(method, concrete(path, '999999'), JSON.stringify({ ...whole, [field]: value }))
  }
  expect(failures).toEqual([])
})

test('S147 two super administrators who block each other at once: one of them stays', async () => {
  for (let round = 0; round < 5; round++) {
    await served.sql('UPDATE admin_users SET blocked = ? WHERE email = ?', 1, 'ada@admins.example')
    const names = [`one-${round}@admins.example`, `two-${round}@admins.example`]
    const ids = await Promise.all(names.map((name) => addAdministrator(served, name)))
    const tokens = await Promise.all(names.map(async (name) => (await signInAdmin(served, name)).accessToken))
    await served.sql('UPDATE admin_users SET blocked = ? WHERE email NOT IN (?, ?)', 1, ...names)
    const block = (id: number, token: string) =>
      requestAdmin(served, `/admins/${id}`, { method: 'PATCH', token, body: { isBlocked: true } })
    await Promise.all([block(ids[1]!, tokens[0]!), block(ids[0]!, tokens[1]!)])
    const active = (await rowsOf(served, 'admin_users')).filter(({ blocked, email }) => blocked === 0 && names.includes(String(email)))
    expect(active.length, `round ${round}`).toBeGreaterThanOrEqual(1)
  }
  await served.sql('UPDATE admin_users SET blocked = ? WHERE email = ?', 0, 'ada@admins.example')
})

test('S148 a refresh token that two use at once starts one session, and two codes of one invitation one account', async () => {
  const { cookie } = await signInAdmin(served, 'ada@admins.example', { deviceId: 'twice' })
  const refresh = () => requestAdmin(served, '/session/refresh', { method: 'POST', body: {}, cookie })
  const answers = await Promise.all([refresh(), refresh(), refresh()])
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200])
  const sessions = (await rowsOf(served, 'strapi_sessions')).filter(({ device_id }) => device_id === 'twice')
  expect(sessions.map(({ status }) => status).sort()).toEqual(['active', 'rotated'])
  const { accessToken } = await signInAdmin(served, 'ada@admins.example')
  const invited = await requestAdmin(served, '/admins', {
    ...{ method: 'POST', token: accessToken },
    body: { email: 'twice@admins.example', firstname: 'X', roles: [] },
  })
  const code = invited.body.invitation.link.split('/').at(-1)
  const accept = (password: string) => requestAdmin(served, `/session/invitation/${code}`, { method: 'POST', body: { password } })
  const accepted = await Promise.all([accept('First-Horse-1'), accept('Second-Horse-2')])
  expect(accepted.map(({ status }) => status).sort()).toEqual([200, 400])
})
