// Names that are addresses of other users: registration cannot take another user's identity, and commands ask if a name is ambiguous.
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { grant } from '../spec/callers.js'
import { rule } from '../support/rule.js'
import { goldenTokens, type Served, serveGolden } from '../support/serve.js'
import { post } from './golden.js'

let served: Served
afterEach(() => served?.close())

rule('accounts.5', 'O13 a name that is the address of another user, and an address that is a name, are taken', async () => {
  served = await serveGolden()
  await served.sql("update up_users set username = 'erin@elsewhere.test' where id = 5")
  const register = async (username: string, email: string) =>
    (await post(served, '/api/auth/local/register', { username, email, password: 'secret-123' })).body.error?.message
  for (const [name, email] of [
    ['alice@example.test', 'fresh@example.test'],
    ['ALICE@example.test', 'fresh@example.test'],
    ['fresh', 'erin@elsewhere.test'],
  ]) {
    expect(await register(name!, email!)).toBe('Email or Username are already taken')
  }
  expect(await register('fresh@example.test', 'fresh@example.test')).toBeUndefined()
})

rule('accounts.5', "O13 a name that differs from another user's address only in case still signs in", async () => {
  served = await serveGolden()
  const account = (username: string, email: string) =>
    post(served, '/api/auth/local/register', { username, email, password: `of ${email}` })
  const name = 'Bob@Elsewhere.test'
  expect((await account(name, 'own@example.test')).status).toBe(200)
  expect((await account('other', 'bob@elsewhere.test')).status).toBe(200)
  const signIn = async (identifier: string, password: string) =>
    (await post(served, '/api/auth/local', { identifier, password })).body.user?.username
  expect(await signIn(name, 'of own@example.test')).toBe(name)
  expect(await signIn('bob@elsewhere.test', 'of bob@elsewhere.test')).toBe('other')
})

test('O12 a command that could mean one user or another names both and changes nothing', async () => {
  served = await serveGolden()
  await served.sql("update up_users set username = 'alice@example.test' where id = 5")
  const run = (...words: readonly string[]) =>
    spawnSync(process.execPath, [join('dist', 'main.js'), 'users', ...words, served.folder], {
      encoding: 'utf8',
      env: { ...process.env, ...served.sameDatabase },
    })
  const { status, stdout, stderr } = run('role', 'alice@example.test', 'editor')
  expect(status).not.toBe(0)
  expect(stdout + stderr).toContain(
    '"alice@example.test" is ambiguous: it could be 1 (alice, alice@example.test) or 5 (alice@example.test, erin@example.test).',
  )
  expect(await served.sql('select role_id from up_users_role_lnk where user_id = 5')).toEqual([{ role_id: 1 }])
  expect(run('role', 'erin@example.test', 'editor').status).toBe(0)
  expect(await served.sql('select role_id from up_users_role_lnk where user_id in (1, 5) order by user_id')).toEqual([
    { role_id: 1 },
    { role_id: 3 },
  ])
})

test('O26 the ways to other services are limited by address', async () => {
  served = await serveGolden()
  const statuses: number[] = []
  for (let attempt = 0; attempt < 12; attempt++) statuses.push((await served.request('/api/connect/myid')).status)
  expect(statuses).toEqual([...Array(10).fill(400), 429, 429])
})

const grantUsers = (action: string) => grant(served, 'authenticated', `plugin::users-permissions.user.${action}`)

rule('accounts.25', 'S045 a user who may change users cannot raise or take over others, unless the setting allows it', async () => {
  const { alice, full } = goldenTokens()
  const put = async (id: number, body: object, token = alice!) =>
    (
      await served.request(`/api/users/${id}`, {
        method: 'PUT',
        token,
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      })
    ).status
  const add = async (name: string, role: unknown) =>
    (await post(served, '/api/users', { username: name, email: `${name}@example.test`, password: 'secret-123', role }, alice)).status
  served = await serveGolden()
  for (const action of ['create', 'update']) await grantUsers(action)
  const roles = [
    ...[3, { connect: [{ id: 3 }] }, { set: [3] }, { set: 3 }, { set: [{ id: 3 }] }, { connect: [{ id: 1 }], set: [3] }],
    ...[{ connect: [{ id: 3 }], set: [1] }, { set: [{ id: { toString: 1 } }] }],
  ]
  for (const body of [...roles.map((role) => ({ role })), { provider: 'x' }, { confirmed: true }, { blocked: false }]) {
    expect([body, await put(1, body), await put(2, body)]).toEqual([body, 403, 403])
  }
  expect([await put(2, { password: 'taken-over-1' }), await put(2, { email: 'mine@example.test' })]).toEqual([403, 403])
  expect([
    await put(1, { username: 'alice2' }),
    await put(1, { password: 'alice-Secret9' }, full!),
    await put(5, { role: 3 }, full!),
  ]).toEqual([200, 200, 200])
  await served.close()
  served = await serveGolden()
  for (const action of ['create', 'update']) await grantUsers(action)
  expect([await add('one', 3), await add('two', { connect: [{ id: 1 }, { id: 3 }] }), await add('three', 1)]).toEqual([403, 403, 201])
  await served.close()
  served = await serveGolden({ config: { auth: { userWrites: 'as-strapi' } } })
  for (const action of ['create', 'update']) await grantUsers(action)
  expect([await put(2, { password: 'as-Strapi-1' }), await put(1, { role: 3 })]).toEqual([200, 200])
})

rule(
  'accounts.25',
  'O13 a user who may change users takes no name that is an address, and no address that is a name, of others',
  async () => {
    const { alice, full } = goldenTokens()
    const serve = async (userWrites: 'bounded' | 'as-strapi') => {
      served = await serveGolden({ config: { auth: { userWrites } } })
      for (const action of ['create', 'update']) await grantUsers(action)
      await served.sql("update up_users set username = 'erin@elsewhere.test' where id = 5")
    }
    const put = async (id: number, body: object, token = alice!) => {
      const headers = { 'content-type': 'application/json' }
      const answer = await served.request(`/api/users/${id}`, { method: 'PUT', token, headers, body: JSON.stringify(body) })
      return answer.status === 200 ? 200 : [answer.status, answer.body.error.message]
    }
    const add = async (username: string, email: string, token = alice!) => {
      const answer = await post(served, '/api/users', { username, email, password: 'secret-123', role: 1 }, token)
      return answer.status === 201 ? 201 : [answer.status, answer.body.error.message]
    }
    await serve('bounded')
    expect(await put(1, { email: 'Erin@elsewhere.test' })).toEqual([400, 'Email already taken'])
    for (const username of ['erin@example.test', 'ERIN@example.test']) {
      expect(await put(1, { username })).toEqual([400, 'Username already taken'])
      expect(await add(username, 'fresh@example.test')).toEqual([400, 'This attribute must be unique'])
    }
    expect(await add('fresh', 'erin@elsewhere.test')).toEqual([400, 'Email already taken'])
    // A user's own address may be the user's name, and the reverse; unchanged values are not errors.
    expect([await put(1, { username: 'alice@example.test' }), await put(1, { email: 'alice@example.test' })]).toEqual([200, 200])
    expect(await put(1, { username: 'new-alice', email: 'new-alice@example.test' })).toBe(200)
    expect([await put(1, { email: 'erin@elsewhere.test' }, full!), await put(1, { email: 'erin@elsewhere.test' })]).toEqual([200, 200])
    expect(await add('erin@example.test', 'other@example.test', full!)).toBe(201)
    await served.close()
    await serve('as-strapi')
    expect([await put(1, { email: 'erin@elsewhere.test' }), await add('erin@example.test', 'fresh@example.test')]).toEqual([200, 201])
  },
)

rule('accounts.26', 'O14 names that look like others are refused, and taken where the project says so', async () => {
  const register = async (username: string, number: number) => {
    const body = { username, email: `look${number}@example.test`, password: 'secret-123' }
    return (await post(served, '/api/auth/local/register', body)).status
  }
  const lookAlike = ['\u0430lice', 'ali\u200Bce', 'alice ', ' alice', 'ａｌｉｃｅ', 'al\u0000ice', '\u202Eecila', 'Αlice']
  served = await serveGolden({ config: { limits: { authRateLimit: 0 } } })
  for (const [number, name] of lookAlike.entries()) expect([name, await register(name, number)]).toEqual([name, 400])
  for (const [number, name] of ['Zoë de Wit', 'Алиса', '李小龙', 'x_-.9'].entries()) {
    expect([name, await register(name, 100 + number)]).toEqual([name, 200])
  }
  await served.close()
  served = await serveGolden({ config: { limits: { authRateLimit: 0 }, auth: { register: { names: 'as-strapi' } } } })
  expect(await register(lookAlike[0]!, 200)).toBe(200)
})
