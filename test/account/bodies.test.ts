// Errors in bodies about users are reported as by Strapi 5.54 (recorded with the same bodies on the golden database): which errors,
// how many, in which order.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { rule } from '../support/rule.js'
import { goldenTokens, type Served, serveGolden } from '../support/serve.js'
import { post, setAccounts } from './golden.js'

let served: Served
beforeAll(async () => {
  served = await serveGolden({ config: { limits: { authRateLimit: 0 } } })
})
afterAll(() => served.close())

const { full, alice } = goldenTokens()
const user = { username: 'somebody', email: 'somebody@example.test', password: 'secret123', role: 1 }
const errorsOf = async (path: string, body: unknown, token?: string) => {
  const answer = await post(served, path, body, token)
  const { message, details } = answer.body.error
  return [
    answer.status,
    message,
    ...(details.errors ?? []).map((error: { path: string[]; message: string }) => `${error.path.join('.')}: ${error.message}`),
  ]
}
const typed = (name: string, type: string, shown: string) => `${name} must be a \`${type}\` type, but the final value was: \`${shown}\`.`

test.each([
  [null, 'role', typed('role', 'object', 'null')],
  [[], 'role', typed('role', 'object', '[]')],
  [[1], 'role', typed('role', 'object', '[\n  "1"\n]')],
  [-1, 'role', typed('role', 'strapiID', '-1')],
  [1.5, 'role', typed('role', 'strapiID', '1.5')],
  [true, 'role', typed('role', 'strapiID', 'true')],
  [{}, 'role.connect', 'role.connect is a required field'],
  [{ id: 1 }, 'role.connect', 'role.connect is a required field'],
  [{ set: [1] }, 'role.connect', 'role.connect is a required field'],
  [{ connect: [1] }, 'role.connect.0', typed('role.connect[0]', 'object', '1')],
])('a role %j is refused as in Strapi', async (role, path, message) => {
  expect(await errorsOf('/api/users', { ...user, role }, full)).toEqual([400, message, `${path}: ${message}`])
})

test('a change may set the role, or leave it as it is, and takes no role away', async () => {
  const body = { username: 'role-changes', email: 'role-changes@example.test', password: 'secret123', role: 1 }
  const { id } = (await post(served, '/api/users', body, full)).body
  const changed = async (role: unknown) => {
    const headers = { 'content-type': 'application/json' }
    const { status, body } = await served.request(`/api/users/${id}`, {
      method: 'PUT',
      token: full!,
      headers,
      body: JSON.stringify({ role }),
    })
    const now = await served.request(`/api/users/${id}?populate=role`, { token: full! })
    return [status, now.body.role.id, ...(body.error?.details.errors ?? []).map((error: { message: string }) => error.message)]
  }
  expect(await changed({ set: [2] })).toEqual([200, 2])
  expect(await changed({ set: [{ id: 1 }], connect: [{ id: 3 }] })).toEqual([200, 1])
  expect(await changed({ set: 2 })).toEqual([200, 2])
  expect(await changed({})).toEqual([200, 2])
  expect(await changed({ connect: [] })).toEqual([200, 2])
  expect(await changed({ set: [] })).toEqual([400, 2, 'Cannot remove role'])
  expect(await changed({ disconnect: [{ id: 2 }] })).toEqual([400, 2, 'Cannot remove role'])
  expect(await changed({ disconnect: [2] })).toEqual([400, 2, typed('role.disconnect[0]', 'object', '2'), 'Cannot remove role'])
  expect(await changed({ set: [''] })).toEqual([400, 2, 'role.set[0] must be a valid id'])
})

rule('accounts.27', 'a role is named by its row id or its documentId, in each form of a body', async () => {
  const rows = await served.sql('select id, document_id from up_roles where id in (1, 2) order by id')
  const [one, two] = rows.map(({ document_id }) => document_id as string)
  const made = async (name: string, role: unknown) => {
    const body = { username: name, email: `${name}@example.test`, password: 'secret123', role }
    const answer = await post(served, '/api/users', body, full)
    return [answer.status, answer.body.role?.id ?? answer.body.error.message, answer.body.id]
  }
  const [status, role, id] = await made('by-document', one)
  expect([status, role]).toEqual([201, 1])
  expect((await made('by-connect', { connect: [{ documentId: one }, { documentId: two }] })).slice(0, 2)).toEqual([201, 2])
  const missing = (name: string) => `Document with id "${name}", locale "null" not found`
  expect((await made('by-nothing', 'abc')).slice(0, 2)).toEqual([400, missing('abc')])
  expect((await made('by-set', { set: [{ documentId: one }] })).slice(0, 2)).toEqual([400, 'role.connect is a required field'])
  const changed = async (to: unknown) => {
    const headers = { 'content-type': 'application/json' }
    const answer = await served.request(`/api/users/${id}`, { method: 'PUT', token: full!, headers, body: JSON.stringify({ role: to }) })
    const [now] = await served.sql('select role_id from up_users_role_lnk where user_id = ?', id)
    return [answer.status, Number(now!.role_id), ...(answer.status === 200 ? [] : [answer.body.error.message])]
  }
  const forms: readonly (readonly [unknown, readonly unknown[]])[] = [
    [two, [200, 2]],
    [{ documentId: one }, [200, 1]],
    [{ id: 2 }, [200, 2]],
    [{ connect: [{ documentId: one }] }, [200, 1]],
    [{ set: [{ documentId: two }] }, [200, 2]],
    [{ set: [one] }, [200, 1]],
    [{ set: { documentId: two } }, [200, 2]],
    [{ connect: [{ id: 2, documentId: one }] }, [200, 1]],
    [{ disconnect: [{ documentId: one }], connect: [{ documentId: two }] }, [200, 2]],
    [{ disconnect: [{ documentId: two }] }, [400, 2, 'Cannot remove role']],
    [{ connect: [one] }, [400, 2, typed('role.connect[0]', 'object', `"${one}"`)]],
    [{ set: ['x'] }, [400, 2, missing('x')]],
    [{ connect: [{ documentId: 'x' }] }, [400, 2, missing('x')]],
    [{ documentId: 5 }, [400, 2, typed('role.documentId', 'string', '5')]],
    [{ connect: [{ id: 'abc' }] }, [400, 2, 'role.connect[0].id must be a valid id']],
    [one?.toUpperCase(), [400, 2, missing(one!.toUpperCase())]],
  ]
  for (const [to, outcome] of forms) expect([to, ...(await changed(to))]).toEqual([to, ...outcome])
})

rule('accounts.28', 'the role of new users stays until another one is chosen', async () => {
  const drop = async (role: number) => {
    const { status, body } = await served.request(`/api/users-permissions/roles/${role}`, { method: 'DELETE', token: full! })
    return [status, body.error?.name, body.error?.message]
  }
  expect(await drop(1)).toEqual([400, 'ApplicationError', expect.stringContaining('role of new users')])
  const { status } = await post(served, '/api/users-permissions/roles', { name: 'Newcomers' }, full)
  const [made] = await served.sql("select id from up_roles where name = 'Newcomers'")
  await setAccounts(served, { default_role: 'newcomers' })
  expect([status, await drop(made!.id)]).toEqual([200, [400, 'ApplicationError', expect.stringContaining('role of new users')]])
  await setAccounts(served, { default_role: 'authenticated' })
  expect(await drop(made!.id)).toEqual([200, undefined, undefined])
})

rule('accounts.24', 'several errors come in the order and number of Strapi', async () => {
  const list = [400, typed('this', 'object', '[]'), `: ${typed('this', 'object', '[]')}`]
  expect(await errorsOf('/api/users', [], full)).toEqual(list)
  expect(await errorsOf('/api/auth/reset-password', [])).toEqual(list)
  expect(await errorsOf('/api/users', { ...user, username: '', password: '' }, full)).toEqual([
    400,
    '4 errors occurred',
    'username: username must be at least 1 characters',
    'username: username is a required field',
    'password: password must be at least 1 characters',
    'password: password is a required field',
  ])
  expect(await errorsOf('/api/users', { email: null, username: null, password: null, role: null }, full)).toEqual([
    400,
    '4 errors occurred',
    ...['email', 'username', 'password'].map((name) => `${name}: ${typed(name, 'string', 'null')}`),
    `role: ${typed('role', 'object', 'null')}`,
  ])
  expect(await errorsOf('/api/users', { ...user, username: 'alice', role: 999 }, full)).toEqual([400, '2 errors occurred'])
  expect(await errorsOf('/api/auth/reset-password', { code: 5, password: 5, passwordConfirmation: 6 })).toEqual([
    400,
    '4 errors occurred',
    `passwordConfirmation: ${typed('passwordConfirmation', 'string', '6')}`,
    'passwordConfirmation: Passwords do not match',
    `password: ${typed('password', 'string', '5')}`,
    `code: ${typed('code', 'string', '5')}`,
  ])
  const short = { code: 'x', password: 'a', passwordConfirmation: 'a' }
  expect(await errorsOf('/api/auth/reset-password', short)).toEqual([400, 'Incorrect code provided'])
})

test('registering with credentials that may find roles returns the role', async () => {
  const body = { username: 'by-token', email: 'by-token@example.test', password: 'secret123' }
  const answer = await post(served, '/api/auth/local/register', body, full)
  expect([answer.status, answer.body.user.role.type]).toEqual([200, 'authenticated'])
  expect((await post(served, '/api/auth/local/register', { ...body, username: 'by-alice' }, alice)).status).toBe(403)
  const plain = await post(served, '/api/auth/local/register', { ...body, username: 'by-none', email: 'by-none@example.test' })
  expect([plain.status, 'role' in plain.body.user]).toEqual([200, false])
})
