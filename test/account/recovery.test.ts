// New passwords and confirmed addresses: codes work once and end, old credentials end with the password, letters lead to
// configured places only.
import { createHash } from 'node:crypto'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { grant } from '../spec/callers.js'
import { rule } from '../support/rule.js'
import type { Served } from '../support/serve.js'
import { goldenTokens } from '../support/serve.js'
import { until } from '../support/until.js'
import { changeSetting, letters, logIn, post, serveAccounts, setAccounts } from './golden.js'
import { listenForMail } from './mail-server.js'

let served: Served
beforeEach(async () => {
  served = await serveAccounts({ config: { limits: { authRateLimit: 0 }, url: 'https://api.example.test' } })
})
afterEach(() => served.close())

const me = async (token: string) => (await served.request('/api/users/me', { token })).status
const reset = (code: string, password: string) =>
  post(served, '/api/auth/reset-password', { code, password, passwordConfirmation: password })

async function resetCode(email: string, nth = 1): Promise<string> {
  await post(served, '/api/auth/forgot-password', { email })
  return (await letters(served, nth)).at(-1)!.code
}

rule('accounts.8', 'S067 a code sets a new password once, and is not stored as it is', async () => {
  const code = await resetCode('ERIN@example.test')
  expect(code).toMatch(/^[0-9a-f]{64}$/)
  expect(JSON.stringify(await served.sql('select * from octavo_one_time_tokens'))).not.toContain(code)
  expect(await served.sql('select hash from octavo_one_time_tokens')).toEqual([{ hash: createHash('sha256').update(code).digest('hex') }])
  const answers = await Promise.all([reset(code, 'erin-Secret2'), reset(code, 'erin-Secret3')])
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 400])
  const password = answers[0]!.status === 200 ? 'erin-Secret2' : 'erin-Secret3'
  expect((await logIn(served, 'erin', password)).status).toBe(200)
  expect((await logIn(served, 'erin', 'erin-Secret1')).status).toBe(400)
  expect((await reset(code, 'erin-Secret4')).body.error.message).toBe('Incorrect code provided')
})

rule('accounts.8', 'S067 a code that is too old, replaced by a newer one, or of a blocked user is refused', async () => {
  const first = await resetCode('erin@example.test')
  const second = await resetCode('erin@example.test', 2)
  expect((await reset(first, 'erin-Secret2')).status).toBe(400)
  await served.sql('update octavo_one_time_tokens set expires_at = ?', Date.now() - 1)
  expect((await reset(second, 'erin-Secret2')).status).toBe(400)
  const third = await resetCode('erin@example.test', 3)
  await served.sql("update up_users set blocked = true where username = 'erin'")
  expect((await reset(third, 'erin-Secret2')).status).toBe(400)
  expect((await reset('0'.repeat(64), 'erin-Secret2')).status).toBe(400)
})

test('S067 a plain-text code stored by Strapi is refused', async () => {
  await served.sql("update up_users set reset_password_token = 'plain' where username = 'erin'")
  expect((await reset('plain', 'erin-Secret2')).status).toBe(400)
})

rule('accounts.9', 'S071 sessions and codes issued before a password was changed or reset are void', async () => {
  const golden = goldenTokens().alice!
  const before = (await logIn(served, 'alice', 'alice-Secret1')).body.jwt
  expect([await me(golden), await me(before)]).toEqual([200, 200])
  const body = { currentPassword: 'alice-Secret1', password: 'alice-Secret2', passwordConfirmation: 'alice-Secret2' }
  const changed = await post(served, '/api/auth/change-password', body, before)
  expect([changed.status, await me(changed.body.jwt)]).toEqual([200, 200])
  expect([await me(golden), await me(before)]).toEqual([401, 401])
  const again = await reset(await resetCode('alice@example.test'), 'alice-Secret3')
  expect([await me(changed.body.jwt), await me(again.body.jwt)]).toEqual([401, 200])
})

test('S071 so it is when someone else sets the password: over the API, or Strapi on the same database', async () => {
  const { full } = goldenTokens()
  const first = (await logIn(served, 'erin', 'erin-Secret1')).body.jwt
  const headers = { 'content-type': 'application/json' }
  const body = JSON.stringify({ password: 'erin-Secret2' })
  expect((await served.request('/api/users/5', { method: 'PUT', headers, token: full!, body })).status).toBe(200)
  const second = (await logIn(served, 'erin', 'erin-Secret2')).body.jwt
  expect([await me(first), await me(second)]).toEqual([401, 200])
  await served.sql("update up_users set password = (select password from up_users where username = 'bob') where username = 'erin'")
  expect(await me(second)).toBe(401)
})

test('S070 blocking, deleting and requiring a confirmed address end a sign-in at the next request', async () => {
  const erin = (await logIn(served, 'erin', 'erin-Secret1')).body.jwt
  const dan = (await logIn(served, 'dan', 'dan-Secret1')).body.jwt
  expect([await me(erin), await me(dan)]).toEqual([200, 200])
  await setAccounts(served, { email_confirmation: true })
  expect([await me(erin), await me(dan)]).toEqual([200, 401])
  await served.sql("update up_users set blocked = true where username = 'erin'")
  expect(await me(erin)).toBe(401)
  await served.sql("update up_users set blocked = false where username = 'erin'")
  await served.sql("delete from up_users where username = 'erin'")
  expect(await me(erin)).toBe(401)
})

rule('accounts.9', 'S070 blocking through the service voids earlier sessions and codes, also after unblocking', async () => {
  const { full } = goldenTokens()
  const erin = (await logIn(served, 'erin', 'erin-Secret1')).body.jwt
  const headers = { 'content-type': 'application/json' }
  const put = (body: object) => served.request('/api/users/5', { method: 'PUT', headers, token: full!, body: JSON.stringify(body) })
  expect((await put({ blocked: true })).body.blocked).toBe(true)
  expect(await me(erin)).toBe(401)
  expect((await put({ blocked: false })).body.blocked).toBe(false)
  expect(await me(erin)).toBe(401)
})

test('S073 a new user under the id of a deleted one has nothing of it', async () => {
  const golden = goldenTokens().alice!
  const token = (await logIn(served, 'alice', 'alice-Secret1')).body.jwt
  await served.sql('delete from up_users where id = 1')
  await served.sql(
    `insert into up_users (id, document_id, username, email, provider, confirmed, blocked, created_at)
    values (1, 'other', 'other', 'other@example.test', 'local', true, false, ?)`,
    Date.now(),
  )
  await served.sql('insert into up_users_role_lnk (user_id, role_id) values (1, 1)')
  expect([await me(token), await me(golden)]).toEqual([401, 401])
})

rule('accounts.7', 'S083 e-mails lead to the configured page, regardless of the request, and go to the stored address', async () => {
  await setAccounts(served, { email_reset_password: 'https://site.example.test/new-password' })
  const headers = { host: 'evil.example', 'x-forwarded-host': 'evil.example', origin: 'https://evil.example' }
  await post(served, '/api/auth/forgot-password?url=https://evil.example', { email: 'Erin@Example.test' }, undefined, headers)
  expect((await post(served, '/api/auth/forgot-password', { email: 'erin@example.test', url: 'https://evil.example' })).status).toBe(400)
  const [letter] = await letters(served, 1)
  expect(letter!.to).toBe('erin@example.test')
  expect(letter!.text).toContain(`https://site.example.test/new-password?code=${letter!.code}`)
  expect(letter!.text).not.toContain('evil')
})

test('templates are filled in and never run; values are escaped', async () => {
  const message = '<%= USER.username %>|<%= process.exit() %>|<%= constructor %>|<% while(true){} %>|<%= TOKEN %>'
  await changeSetting(served, 'plugin_users-permissions_email', ({ reset_password }) => {
    reset_password.options.message = message
  })
  await served.sql("update up_users set username = '<b>&' where username = 'erin'")
  await post(served, '/api/auth/forgot-password', { email: 'erin@example.test' })
  const [letter] = await letters(served, 1)
  expect(letter!.text).toMatch(/^&lt;b&gt;&amp;\|\|\|\|[0-9a-f]{64}$/)
})

rule('accounts.29', 'an address is confirmed by the e-mail to a new account', async () => {
  await setAccounts(served, { email_confirmation: true, email_confirmation_redirection: 'https://site.example.test/welcome' })
  const own = { username: 'newcomer', email: 'newcomer@example.test', password: 'secret-123' }
  const registered = await post(served, '/api/auth/local/register', own)
  expect(Object.keys(registered.body)).toEqual(['user'])
  expect((await logIn(served, 'newcomer', 'secret-123')).body.error.message).toBe('Your account email is not confirmed')
  const [letter] = await letters(served, 1)
  expect(letter!.text).toContain('https://api.example.test/api/auth/email-confirmation?confirmation=')
  const link = `/api/auth/email-confirmation?confirmation=${letter!.code}`
  const looked = await served.request(link, { method: 'HEAD' })
  expect([looked.status, looked.headers.get('location')]).toEqual([204, null])
  expect((await logIn(served, 'newcomer', 'secret-123')).status).toBe(400)
  const confirmed = await served.request(link)
  expect([confirmed.status, confirmed.headers.get('location')]).toEqual([302, 'https://site.example.test/welcome'])
  expect((await logIn(served, 'newcomer', 'secret-123')).status).toBe(200)
  const opened = await served.request(link)
  expect([opened.status, opened.headers.get('location')]).toEqual([302, 'https://site.example.test/welcome'])
  await served.sql("update up_users set confirmed = false where username = 'newcomer'")
  expect((await served.request(link)).body.error.message).toBe('Invalid token')
  await served.sql("update up_users set confirmed = true where username = 'newcomer'")
  await served.sql('update octavo_one_time_tokens set expires_at = ?', Date.now() - 1)
  expect((await served.request(link)).body.error.message).toBe('Invalid token')
  expect((await served.request('/api/auth/email-confirmation')).body.error.message).toBe('confirmation is a required field')
  const again = await post(served, '/api/auth/send-email-confirmation', { email: 'newcomer@example.test' })
  // The same for every address, so that it does not reveal which accounts exist.
  expect([again.status, again.body]).toEqual([200, { email: 'newcomer@example.test', sent: true }])
})

rule('accounts.10', 'if addresses must be confirmed, a new account has no token and cannot sign in yet', async () => {
  await setAccounts(served, { email_confirmation: true })
  const own = { username: 'later', email: 'later@example.test', password: 'secret-123' }
  expect(Object.keys((await post(served, '/api/auth/local/register', own)).body)).toEqual(['user'])
  expect((await logIn(served, 'later', 'secret-123')).status).toBe(400)
  const [letter] = await letters(served, 1)
  expect((await served.request(`/api/auth/email-confirmation?confirmation=${letter!.code}`)).status).toBe(302)
  expect((await logIn(served, 'later', 'secret-123')).status).toBe(200)
})

test('signing up can be switched off', async () => {
  await setAccounts(served, { allow_register: false })
  const answer = await post(served, '/api/auth/local/register', { username: 'late', email: 'late@example.test', password: 'secret-123' })
  expect([answer.status, answer.body.error.message]).toEqual([400, 'Register action is currently disabled'])
})

test('e-mails are sent over SMTP if configured', async () => {
  const { url, heard, close } = await listenForMail()
  const mailing = await serveAccounts({ environment: { SMTP_URL: url, MAIL_FROM: 'Magazine <post@example.test>', NODE_ENV: 'production' } })
  await post(mailing, '/api/auth/forgot-password', { email: 'erin@example.test' })
  await until('the letter is sent', () => heard.includes('.'))
  expect(heard).toContain('RCPT TO:<erin@example.test>')
  expect(heard).toContain('MAIL FROM:<post@example.test>')
  expect(heard.join('\n')).toContain('Subject: Reset password')
  expect(heard.join('\n')).toContain('multipart/alternative')
  expect(heard.join('\n')).toContain('text/plain')
  await mailing.close()
  close()
})

rule('email.2', 'a template keeps its configured sender, reply address and text', async () => {
  const { url, heard, close } = await listenForMail()
  const mailing = await serveAccounts({
    config: { url: 'https://api.example.test' },
    environment: { SMTP_URL: url, MAIL_FROM: 'Magazine <post@example.test>', NODE_ENV: 'production' },
  })
  await changeSetting(mailing, 'plugin_users-permissions_email', ({ reset_password: { options } }) => {
    options.from = { name: 'My Shop', email: 'shop@example.test' }
    options.message = '<p>Hi &amp; <%= ADMIN_URL %></p><p><a href="<%= SERVER_URL %>/x">here</a></p>'
  })
  await post(mailing, '/api/auth/forgot-password', { email: 'erin@example.test' })
  await until('the letter is sent', () => heard.includes('.'))
  const all = heard.join('\n')
  expect(heard).toContain('MAIL FROM:<shop@example.test>')
  // The service has a page for a new password (accounts.31).
  expect(mailing.log.join('\n')).not.toContain('leads to no page')
  expect(all).toContain('From: My Shop <shop@example.test>')
  expect(all).toContain('Hi & https://api.example.test/admin')
  expect(all).toContain('here (https://api.example.test/x)')

  heard.length = 0
  const { full } = goldenTokens()
  const sent = await post(
    mailing,
    '/api/email',
    { to: 'a@example.test, B <b@example.test>', subject: 'Hello', text: 't', html: '<b>h</b>' },
    full,
  )
  expect([sent.status, sent.body]).toEqual([200, {}])
  expect(heard).toContain('RCPT TO:<b@example.test>')
  expect(heard).toContain('MAIL FROM:<post@example.test>')
  close()
  await mailing.close()
})

rule('email.1', 'e-mails are sent by permitted callers, and have addresses and texts alone', async () => {
  const { full } = goldenTokens()
  const mail = { to: 'x@example.test', subject: 's', text: 't' }
  expect((await post(served, '/api/email', mail)).status).toBe(403)
  expect((await post(served, '/api/email', mail, full)).body).toEqual({})
  expect((await letters(served, 1))[0]).toMatchObject({ to: 'x@example.test', text: 't' })
  const refused: readonly (readonly [object, string])[] = [
    [{}, 'to'],
    [{ ...mail, to: 'nobody' }, 'to'],
    [{ ...mail, to: { address: 'x@example.test' } }, 'to'],
    [{ ...mail, to: Array.from({ length: 51 }, (_, index) => `x${index}@example.test`) }, 'to'],
    [{ ...mail, bcc: 'x@example.test\r\nX-Evil: 1' }, 'bcc'],
    [{ ...mail, subject: 'a\r\nBcc: y@example.test' }, 'subject'],
    [{ ...mail, html: { path: '/etc/passwd' } }, 'html'],
    [{ ...mail, replyTo: Array.from({ length: 60 }, () => 'junk <a@b.co> , x@y.co, \r\nBcc: z@z.co') }, 'replyTo'],
    [{ ...mail, to: { toString: 1 } }, 'to'],
    [{ ...mail, subject: { toString: 1, valueOf: 1 } }, 'subject'],
    [{ ...mail, attachments: [{ path: '/etc/passwd' }] }, 'attachments'],
    [{ to: mail.to, subject: 's' }, 'text'],
  ]
  for (const [body, field] of refused) {
    const answer = await post(served, '/api/email', body, full)
    expect([field, answer.status, answer.body.error.details.errors[0].path]).toEqual([field, 400, [field]])
  }
  const unnamed = await serveAccounts({ environment: { SMTP_URL: 'smtp://127.0.0.1:1', NODE_ENV: 'production' } })
  expect(unnamed.log.join('\n')).toContain('E-mails leave as no-reply@example.com')
  expect((await post(unnamed, '/api/email', mail, full)).status).toBe(503)
  await unnamed.close()
  const quiet = await serveAccounts({ environment: { NODE_ENV: 'production' } })
  expect((await post(quiet, '/api/email', mail, full)).body.error).toMatchObject({
    status: 501,
    message: 'E-mail is not configured (SMTP_URL)',
  })
  await quiet.close()
})

rule('email.1', 'a client that sends many e-mails waits for itself, and gives way where too many wait', async () => {
  let begin = (): void => {}
  const mail = await listenForMail(
    new Promise((resolve) => {
      begin = resolve
    }),
  )
  const environment = { SMTP_URL: mail.url, MAIL_FROM: 'desk@site.test' }
  const busy = await serveAccounts({ environment })
  await grant(busy, 'authenticated', 'plugin::email.email.send')
  const { jwt } = (await logIn(busy, 'erin', 'erin-Secret1')).body
  const statuses: number[] = []
  const send = async (token: string, to: string) => {
    const { status } = await post(busy, '/api/email', { to, subject: 's', text: 't' }, token)
    statuses.push(status)
    return status
  }
  const many = Array.from({ length: 106 }, () => send(goldenTokens().full!, 'many@example.test'))
  await until('two are refused', () => statuses.length >= 2)
  const others = Promise.all(['one@example.test', 'two@example.test'].map((to) => send(jwt, to)))
  await until('three are refused', () => statuses.length >= 3)
  expect(statuses).toEqual([503, 503, 503])
  begin()
  expect(await others).toEqual([200, 200])
  await Promise.all(many)
  expect(statuses.filter((status) => status === 200)).toHaveLength(105)
  const recipients = mail.heard.filter((line) => line.startsWith('RCPT TO')).map((line) => /<(\w+)@/.exec(line)![1])
  expect(recipients.slice(0, 15)).toContain('one')
  await busy.close()
  mail.close()
})

test('in production without mail, no code gets into the log', async () => {
  const quiet = await serveAccounts({ environment: { NODE_ENV: 'production' } })
  await post(quiet, '/api/auth/forgot-password', { email: 'erin@example.test' })
  await until('the log has a line about it', () => quiet.log.some((line) => line.includes('was not sent')))
  expect(quiet.log.join('\n')).not.toMatch(/code=|erin@example/)
  await quiet.close()
})
