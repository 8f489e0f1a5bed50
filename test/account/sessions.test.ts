// The mode with refresh tokens: short access tokens, tokens that are used once, cookies that scripts and other sites do
// not get, sessions that their user can list and end.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { rule } from '../support/rule.js'
import type { Served, TestResponse } from '../support/serve.js'
import { goldenTokens } from '../support/serve.js'
import { logIn, post, serveAccounts } from './golden.js'

let served: Served
beforeAll(async () => {
  served = await serveAccounts({
    config: { auth: { jwtManagement: 'refresh' }, limits: { authRateLimit: 0 }, url: 'https://api.example.test' },
  })
})
afterAll(() => served.close())

interface Signed {
  readonly jwt: string
  readonly refreshToken: string
}

const erin = async () => (await logIn(served, 'erin', 'erin-Secret1')).body as Signed
const bob = async () => (await logIn(served, 'bob', 'bob-Secret1')).body as Signed
const me = async (token: string) => (await served.request('/api/users/me', { token })).status
const refresh = (refreshToken: unknown, headers = {}) => post(served, '/api/auth/refresh', { refreshToken }, undefined, headers)
const payload = (token: string) => JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString())

rule('accounts.11', 'signing in gives an access token of ten minutes and a refresh token', async () => {
  const { jwt, refreshToken } = await erin()
  const access = payload(jwt)
  expect(access).toMatchObject({ userId: '5', type: 'access' })
  expect(access.exp - access.iat).toBe(600)
  expect(payload(refreshToken)).toMatchObject({ userId: '5', type: 'refresh', sessionId: access.sessionId })
  expect([await me(jwt), await me(refreshToken), await me(goldenTokens().alice!)]).toEqual([200, 401, 401])
})

rule('accounts.11', 'a refresh token gives new tokens, once; used again later it ends every session of the device', async () => {
  const { jwt, refreshToken } = await erin()
  const renewed = (await refresh(refreshToken)).body
  expect([await me(renewed.jwt), await me(jwt)]).toEqual([200, 200])
  const twin = await refresh(refreshToken)
  expect(payload(twin.body.refreshToken).sessionId).toBe(payload(renewed.refreshToken).sessionId)
  await served.sql("update strapi_sessions set updated_at = ? where status = 'rotated'", Date.now() - 60_000)
  expect((await refresh(refreshToken)).status).toBe(401)
  expect((await refresh(renewed.refreshToken)).status).toBe(401)
  expect([await me(renewed.jwt), await me(jwt)]).toEqual([401, 401])
})

test('an invalid refresh token is refused', async () => {
  const { jwt } = await erin()
  for (const token of [jwt, 'x', goldenTokens().alice, '']) expect((await refresh(token)).status).toBe(401)
  for (const token of [undefined, 5, { a: 1 }]) expect((await refresh(token)).status).toBe(400)
})

/** Bob signs in; the device's name is the client's. */
const onDevice = async (deviceId?: string) =>
  (await post(served, '/api/auth/local', { identifier: 'bob', password: 'bob-Secret1', deviceId })).body as Signed
const signOut = (token: string, body?: unknown) => grantedTo(token).then((granted) => post(served, '/api/auth/logout', body, granted))

rule('accounts.12', 'signing out ends the current session; one device, or all, where that is said', async () => {
  const [phone, client, twin, unnamed] = [await onDevice('phone'), await onDevice('desk'), await onDevice('desk'), await onDevice()]
  const still = async () => Promise.all([phone, client, twin, unnamed].map(({ jwt }) => me(jwt)))
  expect((await signOut(unnamed.jwt, {})).body).toEqual({ ok: true })
  expect(await still()).toEqual([200, 200, 200, 401])
  expect((await refresh(unnamed.refreshToken)).status).toBe(401)
  expect((await signOut(client.jwt)).body).toEqual({ ok: true })
  expect(await still()).toEqual([200, 401, 200, 401])
  expect((await signOut(twin.jwt, { deviceId: 'phone' })).status).toBe(200)
  expect(await still()).toEqual([401, 401, 200, 401])
  const again = await onDevice('phone')
  expect((await signOut(twin.jwt, { scope: 'all' })).status).toBe(200)
  expect([await me(twin.jwt), await me(again.jwt)]).toEqual([401, 401])
})

test('a session that was refreshed is signed out of with all its tokens', async () => {
  const first = await onDevice()
  const second = (await refresh(first.refreshToken)).body as Signed
  expect((await signOut(first.jwt)).status).toBe(200)
  expect([await me(first.jwt), await me(second.jwt), (await refresh(second.refreshToken)).status]).toEqual([401, 401, 401])
})

rule('accounts.13', 'sessions are listed as Strapi lists them: the current one, then the last active', async () => {
  await signOut((await onDevice()).jwt, { scope: 'all' })
  const [old, current, last] = [await onDevice('phone'), await onDevice(), await onDevice('desk')]
  const refreshed = (await refresh(old.refreshToken)).body as Signed
  const { sessionId } = payload(refreshed.jwt)
  const [session] = await served.sql('select updated_at from strapi_sessions where session_id = ?', sessionId)
  await served.sql('update strapi_sessions set updated_at = ? where session_id = ?', session!.updated_at + 1000, sessionId)
  const { data } = (await served.request('/api/auth/sessions', { token: current.jwt })).body
  expect(data.map((one: { id: string }) => one.id)).toEqual([current, refreshed, last].map(({ jwt }) => payload(jwt).sessionId))
  expect(data.map(({ deviceId, current }: { deviceId: string; current: boolean }) => [deviceId, current])).toEqual([
    [null, true],
    ['phone', false],
    ['desk', false],
  ])
  const moment = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
  for (const one of data) expect(one).toEqual({ ...one, loginAt: moment, lastActiveAt: moment })
  // The refreshed session is the same sign-in.
  expect(Date.parse(data[1].loginAt)).toBeLessThan(Date.parse(data[2].loginAt))
  const byOld = (await served.request('/api/auth/sessions', { token: old.jwt })).body.data
  expect(byOld[0]).toMatchObject({ id: payload(refreshed.jwt).sessionId, current: true })
})

rule('accounts.13', 'callers other than users have no sessions', async () => {
  for (const [method, path] of [
    ['GET', '/api/auth/sessions'],
    ['DELETE', '/api/auth/sessions/x'],
    ['POST', '/api/auth/logout'],
  ] as const) {
    const answer = await served.request(path, { method, token: goldenTokens().full! })
    expect([path, answer.status, answer.body.error.message]).toEqual([path, 401, 'Missing authentication'])
  }
})

/** The golden roles `authenticated` and `editor` have different permissions for sessions: editors get them here. */
async function grantedTo(token: string): Promise<string> {
  for (const name of ['logout', 'getSessions', 'revokeSession']) {
    const action = `plugin::users-permissions.auth.${name}`
    const granted = 'select 1 from up_permissions p join up_permissions_role_lnk l on l.permission_id = p.id'
    if ((await served.sql(`${granted} where l.role_id = 3 and p.action = ?`, action)).length > 0) continue
    await served.sql('insert into up_permissions (action) values (?)', action)
    await served.sql('insert into up_permissions_role_lnk (permission_id, role_id) values ((select max(id) from up_permissions), 3)')
  }
  return token
}

rule('accounts.13', 'S086 users see and end their own sessions; another’s are not there', async () => {
  const [mine, other] = [await erin(), await bob()]
  const { data } = (await served.request('/api/auth/sessions', { token: mine.jwt })).body
  const { sessionId } = payload(mine.jwt)
  expect(data.find((one: { id: string }) => one.id === sessionId)).toMatchObject({ current: true })
  const foreign = payload(other.jwt).sessionId
  expect(JSON.stringify(data)).not.toContain(foreign)
  const end = (id: string) => served.request(`/api/auth/sessions/${id}`, { method: 'DELETE', token: mine.jwt })
  expect((await end(foreign)).status).toBe(404)
  expect(await me(other.jwt)).toBe(200)
  expect((await end(sessionId)).body).toEqual({ data: {} })
  expect((await end(sessionId)).status).toBe(401)
  expect([await me(mine.jwt), (await refresh(mine.refreshToken)).status]).toEqual([401, 401])
})

test('S071 a new password ends all sessions on all devices', async () => {
  const [first, second] = [await bob(), await bob()]
  const body = { currentPassword: 'bob-Secret1', password: 'bob-Secret2', passwordConfirmation: 'bob-Secret2' }
  const changed = await post(served, '/api/auth/change-password', body, second.jwt)
  expect([changed.status, await me(changed.body.jwt)]).toEqual([200, 200])
  expect([await me(first.jwt), await me(second.jwt), (await refresh(first.refreshToken)).status]).toEqual([401, 401, 401])
})

rule('accounts.14', 'S085 the cookie is out of reach of scripts, other paths and other sites', async () => {
  const wanted = { 'x-strapi-refresh-cookie': 'httpOnly' }
  const login = await post(served, '/api/auth/local', { identifier: 'erin', password: 'erin-Secret1' }, undefined, wanted)
  expect(login.body).not.toHaveProperty('refreshToken')
  const cookie = login.headers.get('set-cookie')!
  const [value, ...attributes] = cookie.split('; ')
  expect(value).toMatch(/^strapi_up_refresh=[^;]+$/)
  expect(attributes.map((attribute) => attribute.replace(/\d+$/, 'n')).sort()).toEqual([
    'HttpOnly',
    'Max-Age=n',
    'Path=/api/auth',
    'SameSite=Lax',
  ])
  const pair = cookie.split(';')[0]!
  const withCookie = (headers: Record<string, string>): Promise<TestResponse> =>
    post(served, '/api/auth/refresh', {}, undefined, { cookie: pair, ...wanted, ...headers })
  expect((await withCookie({ origin: 'https://evil.example' })).status).toBe(403)
  expect((await withCookie({ 'sec-fetch-site': 'cross-site' })).status).toBe(403)
  const renewed = await withCookie({ origin: 'https://api.example.test' })
  expect([renewed.status, Object.keys(renewed.body)]).toEqual([200, ['jwt']])
  expect(renewed.headers.get('set-cookie')).toContain('HttpOnly')
})

rule('accounts.14', 'S085 in production it is sent over https only', async () => {
  const production = await serveAccounts({
    config: { auth: { jwtManagement: 'refresh', cookie: { always: true } } },
    environment: { NODE_ENV: 'production' },
  })
  expect((await logIn(production, 'erin', 'erin-Secret1')).headers.get('set-cookie')).toContain('; Secure')
  await production.close()
})

test('without the mode there are no sessions', async () => {
  const plain = await serveAccounts()
  const { jwt } = (await logIn(plain, 'erin', 'erin-Secret1')).body
  expect((await post(plain, '/api/auth/refresh', { refreshToken: 'x' })).status).toBe(404)
  expect((await plain.request('/api/auth/sessions', { token: jwt })).status).toBe(404)
  await plain.close()
})
