// The service's own pages for users: the targets of e-mails if the settings have no page, and the requests of these pages.
import { afterAll, beforeAll, expect } from 'vitest'
import { revoke } from '../spec/callers.js'
import { rule } from '../support/rule.js'
import type { Served } from '../support/serve.js'
import { changeSetting, letters, post, serveAccounts, setAccounts } from './golden.js'

const policy = (more: string) =>
  `default-src 'none'; ${more}style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`
const browser = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'
const newPassword = '/_octavo/new-password'
const confirmed = '/_octavo/email-confirmed'

let served: Served
beforeAll(async () => {
  served = await serveAccounts({ config: { url: 'https://api.example.test/cms' } })
})
afterAll(() => served.close())

const open = (path: string, accept: string, method = 'GET') => served.request(path, { method, headers: { accept } })

rule('accounts.31', 'without a page in the settings, an e-mail links to a page of the service, with the code in the fragment', async () => {
  const link = async (nth: number): Promise<string> => {
    await post(served, '/api/auth/forgot-password', { email: 'erin@example.test' })
    return (await letters(served, nth)).at(-1)!.text
  }
  const page = `https://api.example.test/cms${newPassword}`
  expect(await link(1)).toMatch(new RegExp(`<p>${page}#code=[0-9a-f]{64}</p>`))
  const message = (text: string) =>
    changeSetting(served, 'plugin_users-permissions_email', ({ reset_password }) => {
      reset_password.options.message = text
    })
  // Text after the address in a template is not part of a request.
  await message('<a href="<%= URL %>/<%= TOKEN %>">here</a>')
  expect(await link(2)).toMatch(new RegExp(`href="${page}#/[0-9a-f]{64}"`))
  await message('<a href="<%= URL %>?code=<%= TOKEN %>">here</a>')
  await setAccounts(served, { email_reset_password: 'https://site.example.test/#' })
  expect(await link(3)).toMatch(/"https:\/\/site.example.test\/#\?code=[0-9a-f]{64}"/)
  for (const none of ['', 'app://new-password', null]) await setAccounts(served, { email_reset_password: none })
  expect(await link(4)).toMatch(new RegExp(`href="${page}#code=[0-9a-f]{64}"`))
})

rule(
  'accounts.33',
  'the page for a new password loads only its own small files, is not cached, and shows no data of a request',
  async () => {
    const { status, headers, text } = await served.request(newPassword)
    expect([status, headers.get('content-type'), headers.get('cache-control')]).toEqual([200, 'text/html; charset=utf-8', 'no-store'])
    expect(headers.get('content-security-policy')).toBe(policy("script-src 'self'; connect-src 'self'; "))
    expect([headers.get('referrer-policy'), headers.get('x-content-type-options')]).toEqual(['no-referrer', 'nosniff'])
    expect(text).toContain('data-action="/cms/api/auth/reset-password"')
    expect(text).not.toMatch(/<style|<script(?![^>]* src=)|\son\w+=|style=|https?:\/\/|Octavo/)
    const assets = new Set([...text.matchAll(/(?:href|src)="([^"]+)"/g)].map(([, path]) => path!))
    expect([...assets].every((path) => path.startsWith('/cms/'))).toBe(true)
    let bytes = Buffer.byteLength(text)
    for (const path of assets) {
      const asset = await served.request(path.slice('/cms'.length))
      expect([path, asset.status, asset.headers.get('cache-control')]).toEqual([path, 200, 'public, max-age=31536000, immutable'])
      bytes += Buffer.byteLength(asset.text)
    }
    expect([assets.size, bytes < 8_000]).toEqual([3, true])
    expect((await served.request(`${newPassword}?code=<script>&title="x"`)).text).toBe(text)
    expect((await open(newPassword, browser, 'HEAD')).status).toBe(200)
    expect((await served.request(newPassword, { method: 'POST', body: 'code=x' })).status).toBe(405)
  },
)

rule('accounts.32', 'without a page in the settings, a confirmation link opens a page of the service, also a second time', async () => {
  await setAccounts(served, { email_confirmation: true })
  const sent = (await letters(served, 0)).length
  await post(served, '/api/auth/local/register', { username: 'paged', email: 'paged@example.test', password: 'secret-123' })
  const { code } = (await letters(served, sent + 1)).at(-1)!
  const link = `/api/auth/email-confirmation?confirmation=${code}`
  expect((await open(link, browser, 'HEAD')).status).toBe(204)
  for (const accept of [browser, 'application/json', '*/*']) {
    const { status, headers } = await open(link, accept)
    expect([accept, status, headers.get('location'), headers.get('cache-control')]).toEqual([accept, 302, `/cms${confirmed}`, 'no-store'])
  }
  const { status, headers, text } = await served.request(confirmed)
  expect([status, headers.get('cache-control'), headers.get('content-security-policy')]).toEqual([200, 'no-store', policy('')])
  expect(text).toContain('<h1><img src="/cms/favicon.svg" alt="" width="32" height="32">Your e-mail address is confirmed</h1>')
  expect(text).not.toMatch(/<script|<form/)
})

rule('accounts.32', 'a refused link is a page in a browser, and JSON for other clients or if the settings name a page', async () => {
  const wrong = (n: number | string) => `/api/auth/email-confirmation?confirmation=wrong-${n}`
  const json = { data: null, error: { status: 400, name: 'ValidationError', message: 'Invalid token', details: {} } }
  const plain = [
    'application/json',
    '*/*',
    'text/*',
    'application/json, text/html',
    'text/html;q=0',
    'text/html;q=0.5,application/json;q=0.9',
    '',
  ]
  for (const [n, accept] of plain.entries()) {
    const { status, headers, body } = await open(wrong(n), accept)
    delete body.error.details.hint
    expect([accept, status, headers.get('content-type'), body]).toEqual([accept, 400, 'application/json; charset=utf-8', json])
  }
  for (const accept of [browser, 'text/html', 'Text/HTML; charset=utf-8 ; Q=0.9, application/json;q=0.8']) {
    const { status, headers, text } = await open(wrong('"><script>alert(1)</script>'), accept)
    expect([accept, status, headers.get('content-type'), headers.get('cache-control')]).toEqual([
      ...[accept, 400, 'text/html; charset=utf-8', 'no-store'],
    ])
    expect(headers.get('content-security-policy')).toBe(policy(''))
    expect(text).toContain('This link confirms no address')
    expect(text).not.toMatch(/alert|wrong|<script/)
  }
  expect((await open('/api/auth/email-confirmation', browser)).text).toContain('This link confirms no address')
  const logged = served.log
    .map((line) => JSON.parse(line))
    .findLast(({ path, status }) => path?.endsWith('email-confirmation') && status === 400)
  expect(logged.error).toMatchObject({ name: 'ValidationError', message: 'confirmation is a required field' })
  let limited = await open(wrong('often'), browser)
  for (let tries = 0; tries < 12 && limited.status === 400; tries++) limited = await open(wrong('often'), browser)
  expect([limited.status, Number(limited.headers.get('retry-after')) > 0]).toEqual([429, true])
  expect(limited.text).toContain('Too many attempts')
  await setAccounts(served, { email_confirmation_redirection: 'https://site.example.test/welcome' })
  expect((await open(wrong('named'), browser)).body.error.message).toBe('Invalid token')
  await setAccounts(served, { email_confirmation_redirection: null })
  await revoke(served, 'public', 'plugin::users-permissions.auth.emailConfirmation')
  const closed = await open(wrong('closed'), browser)
  expect([closed.status, closed.text.includes('This link cannot be used here')]).toEqual([403, true])
  expect((await open(wrong('closed'), '*/*')).body.error.status).toBe(403)
})

rule('accounts.33', 'the pages exist without the start page, and with another prefix or policy', async () => {
  const other = await serveAccounts({
    config: {
      ...{ startPage: false, docs: { enabled: false }, api: { rest: { prefix: '/content/v1' } } },
      http: { headers: { 'content-security-policy': "default-src 'self'" } },
    },
  })
  for (const path of [newPassword, confirmed]) {
    const { status, headers, text } = await other.request(path)
    expect([status, headers.get('cache-control'), headers.get('content-security-policy')]).toEqual([200, 'no-store', "default-src 'self'"])
    expect(text).not.toContain('favicon')
    for (const [, asset] of text.matchAll(/(?:href|src)="([^"]+)"/g)) expect((await other.request(asset!)).status).toBe(200)
  }
  expect((await other.request(newPassword)).text).toContain('data-action="/content/v1/auth/reset-password"')
  expect((await other.request('/_octavo/start-page.js')).status).toBe(404)
  await other.close()
})
