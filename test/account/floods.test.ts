// Many attempts at once: they are reserved before any work is done, hashing has a separate queue, and users are found by an index.
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { openCounters, openLimiter } from '../../src/identity/access/rate-limit.js'
import { openPasswords } from '../../src/identity/accounts/passwords.js'
import { access, component, contentType } from '../spec/library.js'
import { cpuTimeOf, threadCpuMs } from '../support/cpu-time.js'
import { rule } from '../support/rule.js'
import { goldenTokens, type Served, serveGolden, serveProject } from '../support/serve.js'
import { testSqlite } from '../support/sqlite-only.js'
import { logIn, post, serveAccounts } from './golden.js'

let served: Served
afterEach(() => served?.close())

/** An address has the same limit of attempts as an account. */
const tenPerAddress = { config: { limits: { authAddressRateLimit: 10 } } }

rule(
  'accounts.15',
  'O07 of 400 logins at once from one address sixty are tried, and a file of /uploads does not wait for the others',
  async () => {
    served = await serveGolden()
    const file = readdirSync(join(served.folder, 'uploads')).find((name) => name.endsWith('.jpg'))
    const statuses: number[] = []
    const logins = Promise.all(
      Array.from({ length: 400 }, async (_, index) => statuses.push((await logIn(served, `unknown${index}`, 'wrong')).status)),
    )
    expect((await served.request(`/uploads/${file}`)).status).toBe(200)
    const hashed = statuses.filter((status) => status === 400).length
    await logins
    expect(statuses.filter((status) => status === 400).length).toBe(60)
    expect(statuses.filter((status) => status === 429).length).toBe(340)
    // Two threads hash; the file is read by others.
    expect(hashed).toBeLessThan(60)
    expect((await served.request('/_health')).status).toBe(204)
  },
)

rule('accounts.15', 'O01 an attempt counts however it is refused, and one that succeeds is given back', async () => {
  served = await serveAccounts(tenPerAddress)
  for (let attempt = 0; attempt < 12; attempt++) expect((await logIn(served, 'erin', 'erin-Secret1')).status).toBe(200)
  const bodies = [{}, { identifier: ['x'] }, { identifier: 'x', password: 7 }, [], { identifier: '' }]
  for (let attempt = 0; attempt < 10; attempt++) expect((await post(served, '/api/auth/local', bodies[attempt % 5])).status).toBe(400)
  expect((await post(served, '/api/auth/local', {})).status).toBe(429)
  expect((await logIn(served, 'erin', 'erin-Secret1')).status).toBe(429)
  for (let attempt = 0; attempt < 10; attempt++) expect((await post(served, '/api/auth/forgot-password', {})).status).toBe(400)
  expect((await post(served, '/api/auth/forgot-password', {})).status).toBe(429)
  const broken = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{' }
  for (let attempt = 0; attempt < 10; attempt++) expect((await served.request('/api/auth/refresh', broken)).status).toBe(400)
  expect((await served.request('/api/auth/refresh', broken)).status).toBe(429)
})

test('O07 concurrent guesses at one account from many addresses are limited like sequential ones', async () => {
  served = await serveAccounts({ config: { trustProxy: 1 } })
  const statuses = await Promise.all(
    Array.from({ length: 60 }, async (_, index) => {
      const body = { identifier: 'alice', password: `guess${index}` }
      return (await post(served, '/api/auth/local', body, undefined, { 'x-forwarded-for': `10.2.0.${index}` })).status
    }),
  )
  expect(statuses.filter((status) => status === 400).length).toBeLessThanOrEqual(6)
  expect(statuses.filter((status) => status === 429).length).toBeGreaterThanOrEqual(54)
})

test('O07 the queue for hashing is bounded: further attempts get 503', async () => {
  const passwords = openPasswords()
  const outcomes = await Promise.all(
    Array.from({ length: 104 }, () =>
      passwords.matches('x', null).then(
        () => 'checked',
        (error: { status: number; retryAfter: number }) => `${error.status} ${error.retryAfter}`,
      ),
    ),
  )
  expect(outcomes).toEqual([...Array(101).fill('checked'), '503 1', '503 1', '503 1'])
  expect(await passwords.matches('secret', await passwords.hash('secret'))).toBe(true)
})

rule('accounts.34', 'a client that sets many passwords at once waits for itself, and gives way where too many wait', async () => {
  served = await serveGolden()
  const { full } = goldenTokens()
  const { body: users } = await served.request('/api/users', { token: full! })
  const statuses: number[] = []
  const setting = Array.from({ length: 140 }, async () => {
    const { status } = await served.request(`/api/users/${users[0].id}`, {
      ...{ method: 'PUT', token: full!, headers: { 'content-type': 'application/json' }, body: '{"password":"another-Secret1"}' },
    })
    statuses.push(status)
  })
  while (!statuses.includes(503)) await new Promise((resolve) => setTimeout(resolve, 5))
  for (const { status } of await Promise.all(['nobody', 'nobody else'].map((name) => logIn(served, name, 'wrong'))))
    expect(status).toBe(400)
  expect(statuses.filter((status) => status === 200).length).toBeLessThan(50)
  await Promise.all(setting)
  expect(new Set(statuses)).toEqual(new Set([200, 503]))
})

rule('accounts.34', 'passwords of documents are bounded, and no other write waits for them', async () => {
  served = await serveProject({
    ...contentType('note', { title: { type: 'string' }, keys: { type: 'component', component: 'parts.key', repeatable: true } }),
    ...component('parts', 'key', { secret: { type: 'password' } }),
    ...access(['api::note.note.create']),
  })
  const keys = (count: number) => ({ data: { keys: Array.from({ length: count }, (_, index) => ({ secret: `secret ${index % 2}` })) } })
  const tooMany = await post(served, '/api/notes', keys(51))
  expect([tooMany.status, tooMany.body.error.message]).toEqual([400, 'The data has more than 50 passwords'])
  const ended: string[] = []
  const slow = post(served, '/api/notes', keys(50)).then(({ status }) => ended.push(`slow ${status}`))
  for (let index = 0; index < 3; index++) ended.push(`other ${(await post(served, '/api/notes', { data: { title: 'x' } })).status}`)
  await slow
  expect(ended).toEqual(['other 201', 'other 201', 'other 201', 'slow 201'])
  const rows = await served.sql('select secret from components_parts_keys')
  expect([rows.length, new Set(rows.map(({ secret }) => secret)).size]).toEqual([50, 50])
  expect(rows.every(({ secret }) => /^\$2[aby]\$10\$/.test(secret))).toBe(true)
})

rule('accounts.30', 'a stored value that is not a bcrypt hash takes as long as a wrong password', async () => {
  const passwords = openPasswords()
  const stored = await passwords.hash('secret')
  const took = async (of: string | null) => {
    const times: number[] = []
    for (let turn = 0; turn < 5; turn++) {
      times.push(await cpuTimeOf(async () => expect(await passwords.matches('wrong', of)).toBe(false)))
    }
    return Math.min(...times)
  }
  const wrong = await took(stored)
  for (const other of [
    'moved',
    '',
    '$2a$10$short',
    '$argon2id$v=19$m=65536,t=3,p=4$c2FsdA$aGFzaA',
    `${stored}x`,
    `$2a$99$${stored.slice(7)}`,
  ])
    expect([other, (await took(other)) > wrong / 3]).toEqual([other, true])
})

test('O07 an attempt on which the service fails is not counted', async () => {
  const limiter = openLimiter(openCounters(10), { authRateLimit: 2, authAddressRateLimit: 2 })
  const fail = () => limiter.perAddress('x', '10.0.0.1', 'all', () => limiter.perAccount('a', () => Promise.reject(new Error('ours'))))
  for (let attempt = 0; attempt < 20; attempt++) await expect(fail()).rejects.toThrow('ours')
})

testSqlite(
  'O07 users are found by an index in every database, with or without our own',
  'PostgreSQL reads a small table as a whole',
  async () => {
    served = await serveGolden({ config: { auth: { jwtManagement: 'refresh' } } })
    const plan = async (query: string) => (await served.sql(`explain query plan ${query}`)).map(({ detail }) => String(detail))
    for (const query of [
      "select id from up_users where provider = 'local' and (email = 'a' or username = 'b') order by id",
      "select id from up_users where email = 'a' order by id",
      "select id from up_users where username = 'a' order by id",
      "select id from strapi_sessions where session_id = 'a' and origin = 'users-permissions'",
    ]) {
      expect(
        (await plan(query)).filter((step) => /^SCAN/.test(step)),
        query,
      ).toEqual([])
    }
  },
)

test('O07 with 300,000 users 150 logins at once do not stop the loop', async () => {
  served = await serveGolden({ config: { limits: { authRateLimit: 0 } } })
  const digits =
    '(select 0 as d union all select 1 union all select 2 union all select 3 union all select 4 union all select 5 union all select 6 union all select 7 union all select 8 union all select 9)'
  const number = "'many' || (a.d + 10 * b.d + 100 * c.d + 1000 * d.d + 10000 * e.d + 100000 * f.d)"
  await served.sql(`insert into up_users (document_id, username, email, provider, confirmed, blocked)
     select ${number}, ${number}, ${number} || '@example.test', 'local', true, false
     from ${digits} a, ${digits} b, ${digits} c, ${digits} d, ${digits} e, ${digits} f where f.d < 3`)
  const before = threadCpuMs()
  await served.sql("select count(*) from up_users where username = 'nobody' or lower(email) = 'nobody'")
  const perScan = threadCpuMs() - before
  let longest = 0
  let last = threadCpuMs()
  const watch = setInterval(() => {
    const now = threadCpuMs()
    longest = Math.max(longest, now - last)
    last = now
  }, 5)
  const statuses = await Promise.all(Array.from({ length: 150 }, async (_, index) => (await logIn(served, `Nobody${index}`, 'x')).status))
  clearInterval(watch)
  expect(new Set(statuses)).toEqual(new Set([400, 503]))
  // 150 scans of all users would be one pause.
  expect(longest / perScan).toBeLessThan(40)
})

rule('accounts.15', 'limits use a monotonic clock: a change of the system time unlocks and locks no account', async () => {
  served = await serveAccounts(tenPerAddress)
  const before = Date.now
  try {
    for (let attempt = 0; attempt < 10; attempt++) await logIn(served, `somebody${attempt}`, 'wrong')
    for (const step of [-3_600_000, 3_600_000]) {
      Date.now = () => before() + step
      const { status, headers } = await logIn(served, 'another', 'wrong')
      expect(status).toBe(429)
      expect(Number(headers.get('retry-after'))).toBeLessThanOrEqual(60)
    }
  } finally {
    Date.now = before
  }
})

rule(
  'accounts.15',
  'counters that are shared go by the clock of the machine: one that would end later than any can has ended',
  async () => {
    served = await serveAccounts({ config: { auth: { sharedLimits: true }, ...tenPerAddress.config } })
    for (let attempt = 0; attempt < 10; attempt++) await logIn(served, `somebody${attempt}`, 'wrong')
    const refused = await logIn(served, 'another', 'wrong')
    expect([refused.status, Number(refused.headers.get('retry-after')) <= 60]).toEqual([429, true])
    // As the time of day, or another start of the machine, would have it.
    for (const endsAt of [Date.now() + 60_000, 2 ** 50]) {
      await served.sql('update octavo_rate_limits set ends_at = ?', endsAt)
      expect((await logIn(served, `again${endsAt}`, 'wrong')).status).toBe(400)
      expect(await served.sql('select count from octavo_rate_limits where "key" like \'address local %\'')).toEqual([{ count: 1 }])
    }
  },
)
