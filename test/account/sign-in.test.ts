// Sign-in and registration: one response for known and unknown accounts, only text in bodies, passwords within bcrypt's length, limits.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { rule } from '../support/rule.js'
import type { Served } from '../support/serve.js'
import { goldenTokens, serveExisting } from '../support/serve.js'
import { changeSetting, logIn, post, serveAccounts } from './golden.js'

const { full } = goldenTokens()
let served: Served
beforeAll(async () => {
  served = await serveAccounts({ config: { limits: { authRateLimit: 0 } } })
})
afterAll(() => served.close())

/** Microseconds of work of this process, which the service is part of: other work on the machine does not count. */
const work = (since: NodeJS.CpuUsage) => {
  const { user, system } = process.cpuUsage(since)
  return user + system
}

rule('accounts.1', 'S062 known and unknown accounts get the same response in the same time', async () => {
  const spent: Record<string, number> = { alice: 0, nobody: 0 }
  const bodies = new Set<string>()
  for (let round = 0; round < 20; round++) {
    for (const identifier of ['alice', 'nobody']) {
      const start = process.cpuUsage()
      const answer = await logIn(served, identifier, 'wrong-password')
      spent[identifier]! += work(start)
      bodies.add(`${answer.status} ${answer.text}`)
    }
  }
  expect([...bodies]).toEqual([
    '400 {"data":null,"error":{"status":400,"name":"ValidationError","message":"Invalid identifier or password","details":{}}}',
  ])
  // Without a password to check, a response would take a tenth of the work.
  const [known, unknown] = [spent.alice!, spent.nobody!]
  expect(Math.min(known, unknown) / Math.max(known, unknown)).toBeGreaterThan(0.5)
})

rule('accounts.7', 'S062 requesting a new password does not reveal accounts either', async () => {
  const answers = await Promise.all(
    ['alice@example.test', 'nobody@example.test', 'carol@example.test'].map((email) =>
      post(served, '/api/auth/forgot-password', { email }),
    ),
  )
  expect(answers.map(({ status, text }) => [status, text])).toEqual(Array(3).fill([200, '{"ok":true}']))
})

rule('accounts.5', 'S064 a name and an address that are taken are refused in the same words', async () => {
  const password = 'secret-123'
  const byName = await post(served, '/api/auth/local/register', { username: 'alice', email: 'new@example.test', password })
  const byEmail = await post(served, '/api/auth/local/register', { username: 'newcomer', email: 'Alice@example.test', password })
  expect([byName.status, byName.text]).toEqual([byEmail.status, byEmail.text])
  expect(byName.body.error.message).toBe('Email or Username are already taken')
})

describe('S065 values other than texts are refused in every field of every body', () => {
  const fields: Readonly<Record<string, readonly string[]>> = {
    local: ['identifier', 'password'],
    'local/register': ['email', 'username', 'password'],
    'forgot-password': ['email'],
    'reset-password': ['code', 'password', 'passwordConfirmation'],
    'send-email-confirmation': ['email'],
  }
  test.each(Object.entries(fields))('%s', async (route, names) => {
    const good = {
      identifier: 'alice',
      email: 'x@example.test',
      username: 'xyz',
      password: 'secret-1',
      passwordConfirmation: 'secret-1',
      code: 'c',
    }
    for (const name of names) {
      for (const value of [{ $ne: null }, ['alice'], 5, true, null]) {
        const body = { ...Object.fromEntries(names.map((one) => [one, good[one as keyof typeof good]])), [name]: value }
        const answer = await post(served, `/api/auth/${route}`, body)
        expect([route, name, value, answer.status]).toEqual([route, name, value, 400])
        expect(answer.body.error.details.errors.map(({ path }: { path: string[] }) => path[0])).toContain(name)
      }
    }
  })

  rule('accounts.2', 'change-password, by a user who is signed in', async () => {
    const { jwt } = (await logIn(served, 'erin', 'erin-Secret1')).body
    const good = { currentPassword: 'erin-Secret1', password: 'secret-2', passwordConfirmation: 'secret-2' }
    for (const name of Object.keys(good)) {
      for (const value of [{ $ne: null }, ['erin-Secret1'], 5, true, null]) {
        const answer = await post(served, '/api/auth/change-password', { ...good, [name]: value }, jwt)
        expect([name, value, answer.status]).toEqual([name, value, 400])
      }
    }
    expect((await logIn(served, 'erin', 'erin-Secret1')).status).toBe(200)
  })

  test('the device of a sign-in', async () => {
    for (const deviceId of [5, true, { $ne: null }, ['phone'], 'x'.repeat(201)]) {
      const answer = await post(served, '/api/auth/local', { identifier: 'erin', password: 'erin-Secret1', deviceId })
      expect([deviceId, answer.status, answer.body.error?.message]).toEqual([deviceId, 400, 'Invalid deviceId'])
    }
  })

  rule('accounts.2', 'bodies that are not objects', async () => {
    for (const body of [[], 'x', 5, null]) expect((await post(served, '/api/auth/local', body)).status).toBe(400)
  })
})

describe('S068 passwords are limited to the length that bcrypt distinguishes', () => {
  const register = (username: string, password: string) =>
    post(served, '/api/auth/local/register', { username, email: `${username}@example.test`, password })

  rule('accounts.6', '72 bytes are all; no longer one is taken, and none that only begins right lets in', async () => {
    expect((await register('longest', 'x'.repeat(72))).status).toBe(200)
    expect((await register('toolong', 'x'.repeat(73))).body.error.message).toBe('Password must be less than 73 bytes')
    expect((await register('toolong', 'é'.repeat(37))).status).toBe(400)
    expect((await logIn(served, 'longest', 'x'.repeat(72))).status).toBe(200)
    expect((await logIn(served, 'longest', 'x'.repeat(73))).status).toBe(400)
    expect((await logIn(served, 'longest', 'x'.repeat(900_000))).status).toBe(400)
  })

  test('a null character does not end a text, and case is significant', async () => {
    expect((await register('nullish', 'secret\0more')).status).toBe(200)
    expect((await logIn(served, 'nullish', 'secret')).status).toBe(400)
    expect((await logIn(served, 'nullish', 'secret\0more')).status).toBe(200)
    expect((await register('composed', 'pässword'.normalize('NFC'))).status).toBe(200)
    expect((await logIn(served, 'composed', 'pässword'.normalize('NFD'))).status).toBe(400)
  })

  rule('accounts.6', 'they are stored as Strapi stores them', async () => {
    const [row] = await served.sql("select password from up_users where username = 'longest'")
    expect(row!.password).toMatch(/^\$2a\$10\$[./A-Za-z0-9]{53}$/)
  })
})

test('S049 a new account cannot say more about itself than name, address and password', async () => {
  const own = { username: 'mallory', email: 'mallory@example.test', password: 'secret-123' }
  for (const more of [{ confirmed: true }, { blocked: false }, { role: 1 }, { provider: 'x' }, { resetPasswordToken: 'x' }, { id: 1 }]) {
    const answer = await post(served, '/api/auth/local/register', { ...own, ...more })
    expect([answer.status, answer.body.error.message]).toEqual([400, `Invalid parameters: ${Object.keys(more)[0]}`])
  }
})

test('S082 an address must match exactly', async () => {
  for (const identifier of ['alice@example.test ', 'álice@example.test', 'alıce@example.test', 'ALICE'])
    expect([identifier, (await logIn(served, identifier, 'alice-Secret1')).status]).toEqual([identifier, 400])
  expect((await logIn(served, 'ALICE@EXAMPLE.TEST', 'alice-Secret1')).status).toBe(200)
})

test('callers that may manage users add, change and remove them; a body cannot choose ids or codes', async () => {
  const body = { username: 'managed', email: 'managed@example.test', password: 'secret-123', role: 1, id: 4711, resetPasswordToken: 'mine' }
  const created = await post(served, '/api/users', body, full)
  expect([created.status, created.body.role.type]).toEqual([201, 'authenticated'])
  expect(created.body.id).not.toBe(4711)
  expect(await served.sql('select reset_password_token as code from up_users where id = ?', created.body.id)).toEqual([{ code: null }])
  const path = `/api/users/${created.body.id}`
  const headers = { 'content-type': 'application/json' }
  const changed = await served.request(path, {
    method: 'PUT',
    headers,
    token: full!,
    body: JSON.stringify({ role: 3, username: 'renamed' }),
  })
  expect([changed.status, changed.body.username, changed.body.role.type]).toEqual([200, 'renamed', 'editor'])
  expect((await served.request(path, { method: 'DELETE', token: full! })).body.username).toBe('renamed')
  expect((await served.request(path, { token: full! })).status).toBe(204)
  expect((await served.request(path, { method: 'PUT', headers, token: full!, body: '{}' })).body.error.message).toBe('User not found')
})

rule('accounts.3', 'unknown fields in bodies about passwords are refused', async () => {
  const { jwt } = (await logIn(served, 'erin', 'erin-Secret1')).body
  const body = { foo: 1, bar: 2, password: 'secret2' }
  const { status, body: answer } = await post(served, '/api/auth/change-password', body, jwt)
  const says = (name: string, message: string) => ({ path: [name], message, name: 'ValidationError' })
  expect([status, answer.error.details.errors]).toEqual([
    400,
    [
      says('passwordConfirmation', 'passwordConfirmation is a required field'),
      says('currentPassword', 'currentPassword is a required field'),
      { path: [], message: 'this field has unspecified keys: foo, bar', name: 'ValidationError', value: body },
    ],
  ])
  const extra = async (path: string, more: object) => (await post(served, path, { ...more, foo: 1 })).body.error?.message
  expect(await extra('/api/auth/forgot-password', { email: 'erin@example.test' })).toBe('this field has unspecified keys: foo')
  const reset = { code: 'c', password: 'secret2', passwordConfirmation: 'secret2' }
  expect(await extra('/api/auth/reset-password', reset)).toBe('this field has unspecified keys: foo')
  expect(await extra('/api/auth/local', { identifier: 'erin', password: 'erin-Secret1' })).toBeUndefined()
})

rule('accounts.35', 'sign-in settings of the admin panel are respected, or named at the start', async () => {
  const said = async () => (await logIn(served, 'nobody', 'secret-123')).body.error.message
  const set = (change: (value: Record<string, unknown>) => void) => changeSetting(served, 'plugin_users-permissions_grant', change)
  await set((value) =>
    Object.assign(value, { email: { enabled: false }, twitch: { enabled: true, key: 'k' }, google: { enabled: true, key: 'k' } }),
  )
  expect(await said()).toBe('This provider is disabled')
  const registered = await post(served, '/api/auth/local/register', {
    username: 'dawn',
    email: 'dawn@example.test',
    password: 'secret-123',
  })
  expect(registered.status).toBe(200)
  const beside = await serveExisting(served)
  expect(beside.log.filter((line) => line.includes('signing in through')).map((line) => JSON.parse(line).msg)).toEqual([
    expect.stringContaining('signing in through twitch is on'),
  ])
  await beside.close()
  await set((value) => Object.assign(value, { email: { enabled: true }, twitch: { enabled: false }, google: { enabled: false } }))
  expect(await said()).toBe('Invalid identifier or password')
})
