// Two services on one database: what one decides, the other keeps to at once.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { rule } from '../support/rule.js'
import type { Served } from '../support/serve.js'
import { goldenTokens, serveExisting } from '../support/serve.js'
import { letters, logIn, post, serveAccounts } from './golden.js'

let first: Served
let second: Served
beforeAll(async () => {
  first = await serveAccounts({
    config: { auth: { sharedLimits: true }, limits: { authAddressRateLimit: 10 }, trustProxy: 1 },
  })
  second = await serveExisting(first, { NODE_ENV: 'development' })
})
afterAll(async () => {
  await second.close()
  await first.close()
})

const json = { 'content-type': 'application/json' }
const me = async (served: Served, token: string) => (await served.request('/api/users/me', { token })).status

rule('tokens.2', 'S038 a token that is taken away at one service is refused by the other at its next request', async () => {
  const { readonly: token, full } = goldenTokens()
  expect((await second.request('/api/tags', { token: token! })).status).toBe(200)
  await first.sql("delete from strapi_api_tokens where name = 'readonly'")
  expect((await second.request('/api/tags', { token: token! })).status).toBe(401)
  expect((await second.request('/api/tags', { token: full! })).status).toBe(200)
})

test('S070 S071 a user who is blocked, or whose password is set, at one service is signed out of the other', async () => {
  const { full } = goldenTokens()
  const put = (body: object) => first.request('/api/users/5', { method: 'PUT', token: full!, headers: json, body: JSON.stringify(body) })
  const { jwt } = (await logIn(second, 'erin', 'erin-Secret1')).body
  expect([await me(first, jwt), await me(second, jwt)]).toEqual([200, 200])
  await put({ password: 'erin-Secret2' })
  expect([await me(first, jwt), await me(second, jwt)]).toEqual([401, 401])
  const again = (await logIn(second, 'erin', 'erin-Secret2')).body.jwt
  await put({ blocked: true })
  expect([await me(first, again), await me(second, again)]).toEqual([401, 401])
  await put({ blocked: false, password: 'erin-Secret1' })
})

test('S067 a code from one service is used once, at either', async () => {
  await post(first, '/api/auth/forgot-password', { email: 'erin@example.test' }, undefined, { 'x-forwarded-for': '10.9.0.1' })
  const [{ code } = { code: '' }] = await letters(first, 1)
  const body = { code, password: 'erin-Secret1', passwordConfirmation: 'erin-Secret1' }
  const answers = await Promise.all([first, second].map((served) => post(served, '/api/auth/reset-password', body)))
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 400])
})

rule(
  'accounts.15',
  'S074 a counter that another service began a moment later counts, one from an earlier start of the machine does not',
  async () => {
    const attempt = async (): Promise<number> => {
      const body = { identifier: `nobody ${Math.random()}`, password: 'x' }
      return (await post(first, '/api/auth/local', body, undefined, { 'x-forwarded-for': '10.9.0.4' })).status
    }
    for (let count = 0; count < 10; count++) expect(await attempt()).toBe(400)
    expect(await attempt()).toBe(429)
    await first.sql('update octavo_rate_limits set ends_at = ends_at + 5000')
    expect(await attempt()).toBe(429)
    await first.sql('update octavo_rate_limits set ends_at = ends_at + 3600000')
    expect(await attempt()).toBe(400)
  },
)

rule('accounts.15', 'S074 attempts at both services count together', async () => {
  const guess = async (served: Served) => (await post(served, '/api/auth/local', { identifier: 'nobody-at-all', password: 'x' })).status
  const from = (served: Served, address: string) =>
    post(served, '/api/auth/local', { identifier: `nobody ${address} ${Math.random()}`, password: 'x' }, undefined, {
      'x-forwarded-for': address,
    })
  const statuses: number[] = []
  for (let attempt = 0; attempt < 12; attempt++) statuses.push((await from(attempt % 2 === 0 ? first : second, '10.9.0.2')).status)
  expect(statuses).toEqual([...Array(10).fill(400), 429, 429])
  const together = await Promise.all(Array.from({ length: 24 }, (_, index) => from(index % 2 === 0 ? first : second, '10.9.0.3')))
  expect(together.filter(({ status }) => status === 400).length).toBeLessThanOrEqual(10)
  expect(await guess(first)).toBe(400)
})

test('S076 an account is slowed down at both', async () => {
  const from = (served: Served, address: string, password: string) =>
    post(served, '/api/auth/local', { identifier: 'bob', password }, undefined, { 'x-forwarded-for': address })
  for (let guess = 0; guess < 6; guess++) await from(guess % 2 === 0 ? first : second, `10.9.1.${guess}`, 'wrong')
  const refused = await from(second, '10.9.1.9', 'bob-Secret1')
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '1'])
  await new Promise((resolve) => setTimeout(resolve, 1100))
  expect((await from(first, '10.9.1.10', 'bob-Secret1')).status).toBe(200)
  // Their number is bounded, each kind for itself.
  const digits = `select 0 as d ${Array.from({ length: 9 }, (_, digit) => `union all select ${digit + 1} `).join('')}`
  const kinds = [...new Set((await first.sql('select "key" from octavo_rate_limits')).map(({ key }) => key.split(' ')[0]))]
  expect(kinds.length).toBeGreaterThan(0)
  for (const kind of kinds)
    await first.sql(`insert into octavo_rate_limits ("key", count, ends_at) select '${kind} ' || a.d || b.d || c.d || d.d || e.d, 1, m.latest
      from (${digits}) a, (${digits}) b, (${digits}) c, (${digits}) d, (${digits}) e, (select max(ends_at) as latest from octavo_rate_limits) m`)
  for (let guess = 0; guess < 3; guess++) await from(first, `10.9.2.${guess}`, 'wrong')
  const counts = await Promise.all(
    kinds.map(async (kind) => (await first.sql(`select count(*) as count from octavo_rate_limits where "key" like '${kind} %'`))[0]!.count),
  )
  expect(Math.min(...counts.map(Number))).toBeLessThanOrEqual(100_000)
})

test('reading and signing in with success write no counter', async () => {
  const before = await first.sql('select "key", count from octavo_rate_limits order by "key"')
  expect((await first.request('/api/tags')).status).toBe(200)
  expect(await first.sql('select "key", count from octavo_rate_limits order by "key"')).toEqual(before)
})
