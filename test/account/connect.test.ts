// Signing in by another service: bound to one browser, back to configured pages only, never into someone else's account.
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { rule } from '../support/rule.js'
import type { Served } from '../support/serve.js'
import { post, serveAccounts, setAccounts } from './golden.js'
import { type OpenIdServer, startOpenId } from './openid-server.js'

let served: Served
let openId: OpenIdServer
beforeAll(async () => {
  openId = await startOpenId('octavo', 'shared-secret')
  const company = { key: 'octavo', secret: 'shared-secret', issuer: openId.issuer, callback: 'https://site.example.test/signed-in' }
  served = await serveAccounts({
    config: {
      url: 'https://api.example.test',
      limits: { authRateLimit: 0 },
      auth: { providers: { company, off: { ...company, enabled: false } }, allowedCallbacks: ['https://other.example.test/app'] },
    },
  })
})
afterAll(async () => {
  await served.close()
  openId.close()
})
beforeEach(() => {
  openId.nonce = null
  openId.person = { sub: 's-1', email: 'Nina@example.test', email_verified: true, preferred_username: 'nina' }
})

const start = (query = '') => served.request(`/api/connect/company${query}`)
const cookieOf = (answer: { headers: Headers }) => answer.headers.get('set-cookie')!.split(';')[0]!

/** The whole flow; resolves to the response of the callback. */
async function journey(query = '') {
  const started = await start(query)
  return served.request(openId.agree(started.headers.get('location')!), { headers: { cookie: cookieOf(started) } })
}

async function signIn() {
  const back = await journey()
  const code = new URL(back.headers.get('location')!).searchParams.get('access_token')!
  return served.request(`/api/auth/company/callback?access_token=${code}`)
}

rule('accounts.17', 'a new account is created, and found again when its address and name have changed there', async () => {
  const first = await signIn()
  expect(first.body.user).toMatchObject({ username: 'nina', email: 'nina@example.test', provider: 'company', confirmed: true })
  expect((await served.request('/api/users/me', { token: first.body.jwt })).body.username).toBe('nina')
  openId.person = { sub: 's-1', email: 'other@example.test', email_verified: true, preferred_username: 'renamed' }
  expect((await signIn()).body.user.id).toBe(first.body.user.id)
})

test('the way there carries state, nonce and a challenge; the cookie is for the way back alone', async () => {
  const started = await start()
  const location = new URL(started.headers.get('location')!)
  expect(Object.fromEntries(location.searchParams)).toMatchObject({
    response_type: 'code',
    client_id: 'octavo',
    redirect_uri: 'https://api.example.test/api/connect/company/callback',
    scope: 'openid email profile',
    code_challenge_method: 'S256',
  })
  for (const name of ['state', 'nonce', 'code_challenge']) expect(location.searchParams.get(name)!.length).toBeGreaterThan(40)
  expect(started.headers.get('set-cookie')!.split('; ').slice(1).sort()).toEqual([
    'HttpOnly',
    'Max-Age=600',
    'Path=/api/connect',
    'SameSite=Lax',
  ])
})

rule('accounts.18', 'the way back without the cookie, with another state or in another browser is refused', async () => {
  const [mine, other] = [await start(), await start()]
  const back = openId.agree(mine.headers.get('location')!)
  expect((await served.request(back)).status).toBe(400)
  expect((await served.request(back, { headers: { cookie: cookieOf(other) } })).status).toBe(400)
  expect((await served.request(back, { headers: { cookie: 'octavo_connect=x.y.z' } })).status).toBe(400)
  expect((await served.request(back.replace(/state=.*/, 'state='), { headers: { cookie: cookieOf(mine) } })).status).toBe(400)
  openId.nonce = 'of-another'
  expect((await served.request(back, { headers: { cookie: cookieOf(mine) } })).status).toBe(400)
})

rule('accounts.18', 'the code that the site gets works once, and is none of the service’s tokens', async () => {
  const back = await journey()
  expect(back.headers.get('location')).toMatch(/^https:\/\/site\.example\.test\/signed-in\?access_token=[0-9a-f]{64}$/)
  const code = new URL(back.headers.get('location')!).searchParams.get('access_token')
  const pick = () => served.request(`/api/auth/company/callback?access_token=${code}`)
  expect([(await pick()).status, (await pick()).status]).toEqual([200, 400])
  expect((await served.request('/api/auth/company/callback?access_token=theirs')).status).toBe(400)
  expect((await served.request('/api/auth/company/callback')).body.error.message).toBe('No access_token.')
})

rule('accounts.18', 'S079 users come back to configured pages only', async () => {
  for (const callback of [
    'https://evil.example',
    '//evil.example',
    '/\\evil.example',
    'https://site.example.test@evil.example/signed-in',
    'https://site.example.test.evil.example/signed-in',
    'https://site.example.test/signed-in/../x',
    'https://site.example.test/signed-in?x=1',
    'http://site.example.test/signed-in',
    'javascript:alert(1)',
  ]) {
    const answer = await start(`?callback=${encodeURIComponent(callback)}`)
    expect([callback, answer.status, answer.body.error.message]).toEqual([callback, 400, 'Invalid callback URL'])
  }
  const back = await journey(`?callback=${encodeURIComponent('https://other.example.test/app')}`)
  expect(back.headers.get('location')).toMatch(/^https:\/\/other\.example\.test\/app\?access_token=/)
})

rule('accounts.17', 'S080 an address that belongs to an account with a password, verified or not, does not lead into it', async () => {
  await served.sql("update up_users set confirmed = false where username = 'erin'")
  openId.person = { sub: 's-2', email: 'erin@example.test', email_verified: true, preferred_username: 'erin' }
  const back = await journey()
  expect([back.status, back.body.error.message]).toEqual([400, 'Email is already taken.'])
  expect(await served.sql("select * from octavo_identities where subject = 's-2'")).toEqual([])
})

rule('accounts.17', 'an address that the service has not verified makes no account', async () => {
  openId.person = { sub: 's-3', email: 'unverified@example.test', email_verified: false }
  expect((await journey()).body.error.message).toBe('Email was not available.')
})

test('a name that is taken gets an addition; blocked users stay out', async () => {
  openId.person = { sub: 's-4', email: 'alice2@example.test', email_verified: true, preferred_username: 'alice' }
  const { body } = await signIn()
  expect(body.user.username).toMatch(/^alice-[0-9a-f]{8}$/)
  await served.sql('update up_users set blocked = true where id = ?', body.user.id)
  expect((await signIn()).body.error.message).toBe('Your account has been blocked by an administrator')
})

test('accounts of other services have no password to guess', async () => {
  await signIn()
  for (const password of ['', 'x', 'null']) {
    expect((await post(served, '/api/auth/local', { identifier: 'nina@example.test', password })).status).toBe(400)
  }
})

test('R25 a deleted account is created again once, also without the unique index of the links to accounts', async () => {
  openId.person = { sub: 's-5', email: 'gone@example.test', email_verified: true, preferred_username: 'gone' }
  await signIn()
  await served.sql("delete from up_users where username = 'gone'")
  const [index] =
    process.env.DATABASE_CLIENT === 'mysql'
      ? await served.sql(`select distinct index_name as name from information_schema.statistics
          where table_schema = database() and table_name = 'octavo_identities' and column_name = 'subject'`)
      : []
  if (index !== undefined) await served.sql(`drop index "${index.name}" on octavo_identities`)
  const made = (await signIn()).body.user.id
  expect((await signIn()).body.user.id).toBe(made)
  expect(await served.sql("select user_id from octavo_identities where subject = 's-5'")).toEqual([{ user_id: made }])
})

test('new users are refused where registration is off', async () => {
  await setAccounts(served, { allow_register: false })
  openId.person = { sub: 's-9', email: 'late@example.test', email_verified: true }
  expect((await journey()).body.error.message).toBe('Register action is currently disabled')
})

test('providers that are off or unknown are refused', async () => {
  for (const name of ['off', 'google', 'nothing', '__proto__', 'email', 'local']) {
    expect([name, (await served.request(`/api/connect/${name}`)).body.error.message]).toEqual([name, 'This provider is disabled'])
  }
  expect((await served.request('/api/auth/google/callback?access_token=x')).body.error.message).toBe('This provider is disabled')
})
