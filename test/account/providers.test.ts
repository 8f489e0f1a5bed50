// The providers known by name, each with its peculiarities. Their addresses lead to servers of the test.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Served, TestResponse } from '../support/serve.js'
import { changeSetting, serveAccounts } from './golden.js'
import { type OAuthServer, startOAuth } from './oauth-server.js'
import { type OpenIdServer, startOpenId } from './openid-server.js'

const settings = { key: 'octavo', secret: 'shared-secret', callback: 'https://site.example.test/signed-in' }
const own = globalThis.fetch
let served: Served
let plain: OAuthServer
let google: OpenIdServer
beforeAll(async () => {
  plain = await startOAuth(settings.key, settings.secret)
  google = await startOpenId(settings.key, settings.secret, 'https://accounts.google.com')
  const hosts: Readonly<Record<string, string>> = {
    'github.com': plain.origin,
    'api.github.com': plain.origin,
    'discord.com': plain.origin,
    'accounts.google.com': google.origin,
  }
  globalThis.fetch = (input, init) => {
    const url = new URL(input instanceof Request ? input.url : input)
    const local = hosts[url.host]
    return own(local === undefined ? input : `${local}${url.pathname}${url.search}`, init)
  }
  served = await serveAccounts({
    config: {
      url: 'https://api.example.test',
      limits: { authRateLimit: 0 },
      auth: { providers: { github: settings, discord: settings, google: settings } },
    },
  })
})
afterAll(async () => {
  globalThis.fetch = own
  await served.close()
  plain.close()
  google.close()
})
beforeEach(() => {
  plain.answers = {}
  plain.asked.length = 0
})

/** The whole flow; resolves to the response of the callback if that is refused, and otherwise to that of the sign-in. */
async function signIn(name: string): Promise<TestResponse> {
  const started = await served.request(`/api/connect/${name}`)
  const location = started.headers.get('location')!
  const cookie = started.headers.get('set-cookie')!.split(';')[0]!
  const back = await served.request((name === 'google' ? google : plain).agree(location), { headers: { cookie } })
  if (back.status !== 302) return back
  const code = new URL(back.headers.get('location')!).searchParams.get('access_token')
  return served.request(`/api/auth/${name}/callback?access_token=${code}`)
}

const start = async (name: string) => new URL((await served.request(`/api/connect/${name}`)).headers.get('location')!)
const refusal = ({ status, body }: TestResponse) => [status, body.error.message]

describe('GitHub', () => {
  const emails = (...list: readonly object[]) => ({ '/user/emails': list })
  const verified = (email: string) => ({ email, primary: true, verified: true, visibility: null })

  test('the browser is sent to GitHub, for the addresses too', async () => {
    const location = await start('github')
    expect(location.origin + location.pathname).toBe('https://github.com/login/oauth/authorize')
    expect(location.searchParams.get('scope')).toBe('user:email')
  })

  test('a profile that hides its address is completed from the list of addresses', async () => {
    const others = [
      { email: 'old@example.test', primary: false, verified: true },
      { email: 'no@users.noreply.github.com', primary: false, verified: true },
    ]
    plain.answers = {
      '/user': { id: 583231, login: 'octo', name: 'The Octo', email: null },
      ...emails(...others, verified('Octo@Example.test')),
    }
    const { status, body } = await signIn('github')
    expect([status, body.user.username, body.user.email, body.user.provider]).toEqual([200, 'octo', 'octo@example.test', 'github'])
    expect(await served.sql("select subject from octavo_identities where provider = 'github'")).toEqual([{ subject: '583231' }])
    expect(plain.asked).toEqual(['/login/oauth/access_token', '/user', '/user/emails'])
  })

  test('S080 the address of the profile is not believed, nor one that is not verified', async () => {
    plain.answers = {
      '/user': { id: 7, login: 'claims', email: 'erin@example.test' },
      ...emails({ ...verified('erin@example.test'), verified: false }),
    }
    expect(refusal(await signIn('github'))).toEqual([400, 'Email was not available.'])
    plain.answers = { '/user': { id: 7, login: 'claims', email: 'free@example.test' }, ...emails() }
    expect(refusal(await signIn('github'))).toEqual([400, 'Email was not available.'])
    expect(await served.sql("select id from octavo_identities where subject = '7'")).toEqual([])
  })

  test("S080 a verified address of another user's account, confirmed or not, does not sign in to it", async () => {
    for (const confirmed of [0, 1]) {
      await served.sql('update up_users set confirmed = ? where username = ?', confirmed, 'erin')
      plain.answers = { '/user': { id: 8, login: 'erin8' }, ...emails(verified('erin@example.test')) }
      expect(refusal(await signIn('github'))).toEqual([400, 'Email is already taken.'])
    }
  })

  test('the account number identifies a user, even if another account has taken the name', async () => {
    plain.answers = { '/user': { id: 900, login: 'renamed' }, ...emails(verified('first900@example.test')) }
    const first = await signIn('github')
    plain.answers = { '/user': { id: 900, login: 'other' }, ...emails(verified('second900@example.test')) }
    expect((await signIn('github')).body.user.id).toBe(first.body.user.id)
    plain.answers = { '/user': { id: 901, login: 'renamed' }, ...emails(verified('third901@example.test')) }
    const second = await signIn('github')
    expect([second.body.user.id === first.body.user.id, second.body.user.username]).toEqual([false, expect.stringMatching(/^renamed-/)])
  })

  test('an endless response is not read to its end', async () => {
    plain.answers = { '/user': { id: 10, login: 'long', padding: 'x'.repeat(2_000_000) }, ...emails(verified('long@example.test')) }
    expect(refusal(await signIn('github'))).toEqual([400, 'Unexpected response from the provider'])
  })

  test('unexpected responses of GitHub refuse the sign-in', async () => {
    const broken = 'Unexpected response from the provider'
    expect(refusal(await signIn('github'))).toEqual([400, broken])
    for (const profile of [null, [], 'x', {}, { id: '' }, { id: { a: 1 }, login: 'x' }]) {
      plain.answers = { '/user': profile, ...emails(verified('odd@example.test')) }
      expect([profile, ...refusal(await signIn('github'))]).toEqual([profile, 400, broken])
    }
    plain.answers = { '/user': { id: 9, login: 'x' }, '/user/emails': { message: 'no' } }
    expect(refusal(await signIn('github'))).toEqual([400, 'Email was not available.'])
    // A code that GitHub refuses comes with status 200 and no token.
    const started = await served.request('/api/connect/github')
    const cookie = started.headers.get('set-cookie')!.split(';')[0]!
    const state = new URL(started.headers.get('location')!).searchParams.get('state')
    expect((await served.request(`/api/connect/github/callback?code=made-up&state=${state}`, { headers: { cookie } })).status).toBe(400)
  })
})

describe('Discord', () => {
  const me = (more: object) => ({
    '/api/users/@me': { id: '80351110224678912', username: 'nelly', avatar: '8342729096ea3675442027381ff50dfe', ...more },
  })

  test('the browser is sent to Discord', async () => {
    const location = await start('discord')
    expect([location.origin + location.pathname, location.searchParams.get('scope')]).toEqual([
      'https://discord.com/oauth2/authorize',
      'identify email',
    ])
  })

  test('a name is unique alone, an old one with its number; the picture is not taken', async () => {
    plain.answers = me({ discriminator: '0', email: 'Nelly@example.test', verified: true })
    const { status, body } = await signIn('discord')
    expect([status, body.user.username, body.user.email]).toEqual([200, 'nelly', 'nelly@example.test'])
    expect(JSON.stringify(body)).not.toContain('8342729096')
    plain.answers = me({ id: '80351110224678913', discriminator: '1337', email: 'nelly2@example.test', verified: true })
    expect((await signIn('discord')).body.user.username).toBe('nelly#1337')
    plain.answers = me({ id: '80351110224678914', username: 'olaf', email: 'olaf@example.test', verified: true })
    expect((await signIn('discord')).body.user.username).toBe('olaf')
  })

  test('S080 an address that is not verified, or withheld, makes no account and leads into none', async () => {
    for (const more of [
      { email: 'new@example.test', verified: false },
      { email: 'new@example.test' },
      { email: null, verified: true },
      { verified: 'true', email: 'new@example.test' },
    ]) {
      plain.answers = me({ id: '99', ...more })
      expect([more, ...refusal(await signIn('discord'))]).toEqual([more, 400, 'Email was not available.'])
    }
    plain.answers = me({ id: '99', email: 'alice@example.test', verified: true })
    expect(refusal(await signIn('discord'))).toEqual([400, 'Email is already taken.'])
  })
})

describe('Google', () => {
  test('the browser is sent where Google’s own description says', async () => {
    const location = await start('google')
    expect([location.origin, location.searchParams.get('scope')]).toEqual(['https://accounts.google.com', 'openid email profile'])
  })

  test('the signed token identifies the user', async () => {
    google.person = { sub: '110169484474386276334', email: 'Gina@gmail.test', email_verified: true, name: 'Gina G', picture: 'https://x/y' }
    const { status, body } = await signIn('google')
    expect([status, body.user.username, body.user.email]).toEqual([200, 'Gina G', 'gina@gmail.test'])
    google.person = { sub: '110169484474386276335', email: 'plain@gmail.test', email_verified: true }
    expect((await signIn('google')).body.user.username).toBe('plain')
  })

  test('S080 an address that is not verified makes no account', async () => {
    for (const email_verified of [false, 'true', undefined, 1]) {
      google.person = { sub: '5', email: 'gus@gmail.test', email_verified }
      expect([email_verified, ...refusal(await signIn('google'))]).toEqual([email_verified, 400, 'Email was not available.'])
    }
  })

  test('a token of another issuer, for another site, or that has ended is refused', async () => {
    google.person = { sub: '6', email: 'g6@gmail.test', email_verified: true }
    for (const token of [{ iss: 'https://evil.example' }, { aud: 'another-site' }, { exp: 1 }]) {
      google.token = token
      expect([token, ...refusal(await signIn('google'))]).toEqual([token, 400, 'Unexpected response from the provider'])
    }
    google.token = {}
    expect((await signIn('google')).status).toBe(200)
  })
})

test('an account of one service is not entered through another', async () => {
  google.person = { sub: '77', email: 'cross@example.test', email_verified: true }
  expect((await signIn('google')).status).toBe(200)
  plain.answers = { '/api/users/@me': { id: '77', username: 'cross', email: 'cross@example.test', verified: true } }
  expect(refusal(await signIn('discord'))).toEqual([400, 'Email is already taken.'])
})

test("provider settings stored by Strapi's admin are used unless the configuration has them", async () => {
  const bare = await serveAccounts({ config: { url: 'https://api.example.test', limits: { authRateLimit: 0 } } })
  const request = async (name: string) => (await bare.request(`/api/connect/${name}`)).headers.get('location')
  expect(await request('discord')).toBeNull()
  const stored = { enabled: true, key: 'from-admin', secret: 's', callbackUrl: 'https://site.example.test/x', scope: ['identify', 'email'] }
  await changeSetting(bare, 'plugin_users-permissions_grant', (services) => {
    services.discord = stored
  })
  expect(new URL((await request('discord'))!).searchParams.get('client_id')).toBe('from-admin')
  await bare.close()
})
