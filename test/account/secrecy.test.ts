// Validity of codes and credentials: codes expire with the state that they were sent for, existing accounts are not revealed, only
// tokens in Octavo's and Strapi's form are accepted.
import { afterEach, expect, test } from 'vitest'
import { jwt } from '../attacks/fixture.js'
import { isOnMysql, isOnServer } from '../support/databases.js'
import { rule } from '../support/rule.js'
import { goldenTokens, type Served, serveGolden } from '../support/serve.js'
import { patience } from '../support/until.js'
import { letters, post, serveAccounts, setAccounts } from './golden.js'

let served: Served
afterEach(() => served?.close())

const full = goldenTokens().full!
const unlimited = { limits: { authRateLimit: 0 } }
const json = { 'content-type': 'application/json' }
const put = (id: number, body: object) =>
  served.request(`/api/users/${id}`, { method: 'PUT', token: full, headers: json, body: JSON.stringify(body) })
const reset = (code: string) =>
  post(served, '/api/auth/reset-password', { code, password: 'Attacker-1', passwordConfirmation: 'Attacker-1' })

rule(
  'accounts.22',
  'O19 an e-mailed code expires when the address, the password or the blocking of its user changes, in any way',
  async () => {
    served = await serveAccounts({ config: unlimited })
    const ways: readonly (() => unknown)[] = [
      () => put(5, { email: 'erin-new@example.test' }),
      () => served.sql("update up_users set email = 'elsewhere@example.test' where id = 5"),
      () => put(5, { password: 'erin-Secret9' }),
      () => served.sql('update up_users set password = (select password from up_users where id = 1) where id = 5'),
      async () => {
        await put(5, { blocked: true })
        await put(5, { blocked: false })
      },
    ]
    for (const [index, way] of ways.entries()) {
      const [row] = await served.sql('select email from up_users where id = 5')
      await post(served, '/api/auth/forgot-password', { email: row!.email })
      const { code } = (await letters(served, index + 1)).at(-1)!
      await way()
      const { status, body } = await reset(code)
      expect([index, status, body.error?.message]).toEqual([index, 400, 'Incorrect code provided'])
    }
    await put(5, { username: 'erin2' })
    const [row] = await served.sql('select email from up_users where id = 5')
    await post(served, '/api/auth/forgot-password', { email: row!.email })
    const { code } = (await letters(served, ways.length + 1)).at(-1)!
    await put(5, { username: 'erin3', email: String(row!.email) })
    expect((await reset(code)).status).toBe(200)
  },
)

rule('accounts.22', 'O19 a confirmation code that was sent to an old address confirms no new one', async () => {
  served = await serveAccounts({ config: unlimited })
  await setAccounts(served, { email_confirmation: true })
  const { body } = await post(served, '/api/auth/local/register', {
    username: 'newcomer',
    email: 'old@example.test',
    password: 'secret-123',
  })
  const [letter] = await letters(served, 1)
  await put(body.user.id, { email: 'new@example.test' })
  expect((await served.request(`/api/auth/email-confirmation?confirmation=${letter!.code}`)).status).toBe(400)
  expect(await served.sql('select confirmed from up_users where id = ?', body.user.id)).toEqual([{ confirmed: 0 }])
})

rule(
  'accounts.23',
  'O20 S063 existing accounts are not revealed: the same response, statements and commits, and e-mails only to existing accounts',
  async () => {
    served = await serveAccounts({ config: unlimited })
    await served.sql("update up_users set confirmed = false where username = 'erin'")
    const lastOnServer = isOnMysql
      ? "select auto_increment - 1 as seq from information_schema.tables where table_schema = database() and table_name = 'octavo_one_time_tokens'"
      : 'select last_value as seq from octavo_one_time_tokens_id_seq where is_called'
    const last = isOnServer ? lastOnServer : "select seq from sqlite_sequence where name = 'octavo_one_time_tokens'"
    const writes = async (): Promise<number> => (await served.sql(last))[0]?.seq ?? 0
    const addresses = ['erin@example.test', 'alice@example.test', 'carol@example.test', 'nobody@example.test']
    for (const path of ['/api/auth/send-email-confirmation', '/api/auth/forgot-password']) {
      const seen: unknown[] = []
      for (const email of addresses) {
        const before = await writes()
        const { status, body } = await post(served, path, { email })
        seen.push([status, JSON.stringify(body).replace(email, '…')])
        await expect.poll(writes, patience).toBe(before + 1)
      }
      expect(new Set(seen.map((one) => JSON.stringify(one))).size).toBe(1)
    }
    const sent = await letters(served, 3)
    await new Promise((resolve) => setTimeout(resolve, 1_200))
    expect((await letters(served, 3)).length).toBe(sent.length)
    expect(sent.map(({ to }) => to).sort()).toEqual(['alice@example.test', 'erin@example.test', 'erin@example.test'])
  },
)

rule('accounts.23', "O20 a project can be configured to have Strapi's responses", async () => {
  served = await serveAccounts({ config: { ...unlimited, auth: { confirmationRequests: 'as-strapi' } } })
  await served.sql("update up_users set confirmed = false where username in ('carol', 'erin')")
  await served.sql("update up_users set blocked = true where username = 'carol'")
  const request = async (email: string) => {
    const { status, body } = await post(served, '/api/auth/send-email-confirmation', { email })
    return [status, body.error?.message]
  }
  expect(await request('alice@example.test')).toEqual([400, 'Already confirmed'])
  expect(await request('carol@example.test')).toEqual([400, 'User blocked'])
  expect(await request('erin@example.test')).toEqual([200, undefined])
  expect(await request('nobody@example.test')).toEqual([200, undefined])
})

rule('authentication.12', 'S069 a JWT of the right signature lets in only in the form that we and Strapi make', async () => {
  served = await serveGolden()
  const now = Math.floor(Date.now() / 1000)
  const me = async (payload: object) => (await served.request('/api/users/me', { token: jwt(payload) })).status
  const good = { id: 1, iat: now, exp: now + 600 }
  expect(await me(good)).toBe(200)
  expect((await served.request('/api/users/me', { token: goldenTokens().alice! })).status).toBe(200)
  const bad: readonly object[] = [
    { id: 1, iat: now },
    { ...good, exp: 1e99 },
    { ...good, exp: '9999999999' },
    { ...good, exp: now + 1e12 },
    { ...good, iat: now + 3_600 },
    { ...good, iss: 'another service' },
    { ...good, aud: 'another service' },
    { ...good, type: 'refresh' },
    { ...good, type: 'sealed' },
    { ...good, sealed: {} },
    { ...good, sessionId: 'x', userId: '1' },
    { ...good, id: -1 },
    { ...good, id: 1.5 },
  ]
  for (const payload of bad) expect([payload, await me(payload)]).toEqual([payload, 401])
})

test('O41 without NODE_ENV and without mail the log says that a message was not sent, and has no code', async () => {
  for (const environment of [{ NODE_ENV: '' }, { NODE_ENV: 'production' }, { NODE_ENV: 'staging' }]) {
    served = await serveGolden({ environment })
    await post(served, '/api/auth/forgot-password', { email: 'erin@example.test' })
    await expect.poll(() => served.log.some((line) => line.includes('was not sent')), patience).toBe(true)
    expect(served.log.join('\n')).not.toMatch(/code=|E-mail \\"/)
    await served.close()
  }
})

test('a delayed e-mail is sent before the service ends', async () => {
  served = await serveAccounts()
  await post(served, '/api/auth/forgot-password', { email: 'erin@example.test' })
  await expect.poll(async () => (await served.sql('select count(*) as count from octavo_one_time_tokens'))[0]!.count, patience).toBe(1)
  const { log } = served
  await new Promise((resolve) => setTimeout(resolve, 50))
  await served.service.close()
  expect(log.join('\n')).toContain('E-mail \\"')
})
