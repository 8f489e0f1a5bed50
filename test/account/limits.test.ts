// Attempts are limited by route and address, and slowed down by account; no trick of the caller resets the count.
import { afterEach, expect, test } from 'vitest'
import { validationError } from '../../src/foundation/errors/errors.js'
import { openCounters, openLimiter } from '../../src/identity/access/rate-limit.js'
import { rule } from '../support/rule.js'
import type { Served } from '../support/serve.js'
import { logIn, post, serveAccounts } from './golden.js'

let served: Served
afterEach(() => served?.close())

/** An address has the same limit of attempts as an account. */
const tenPerAddress = { config: { limits: { authAddressRateLimit: 10 } } }

rule('accounts.15', 'S074 the eleventh attempt of a minute is refused, however it is dressed up', async () => {
  served = await serveAccounts(tenPerAddress)
  for (let attempt = 0; attempt < 10; attempt++) expect((await logIn(served, `somebody${attempt}`, 'wrong')).status).toBe(400)
  const paths = ['/api/auth/local', '/API/Auth/Local', '/api/auth/local/', '/api/auth/local?email=a', '/api/auth/loca%6c']
  for (const [index, path] of paths.entries()) {
    const headers = { 'x-forwarded-for': `10.0.0.${index}`, forwarded: `for=10.0.0.${index}`, 'x-real-ip': `10.0.0.${index}` }
    const body = { identifier: `another${index}`, password: 'wrong', email: `x${index}@example.test` }
    const answer = await post(served, path, body, undefined, headers)
    expect([path, answer.status]).toEqual([path, 429])
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(answer.body.error).toEqual({
      status: 429,
      name: 'RateLimitError',
      message: 'Too many requests, please try again later.',
      // Served in development.
      details: { hint: expect.stringContaining('limits.authRateLimit') },
    })
  }
  expect((await post(served, '/api/auth/forgot-password', { email: 'a@example.test' })).status).toBe(200)
})

rule('accounts.15', 'many attempts at one name use up no attempts of others at the same address', async () => {
  served = await serveAccounts()
  const statuses = new Set<number>()
  for (let attempt = 0; attempt < 80; attempt++) statuses.add((await logIn(served, 'nobody-here', 'wrong')).status)
  expect([...statuses]).toEqual([400, 429])
  expect((await logIn(served, 'nobody-else', 'wrong')).status).toBe(400)
})

test('S074 simultaneous guesses do not bypass the limit', async () => {
  served = await serveAccounts(tenPerAddress)
  const answers = await Promise.all(Array.from({ length: 30 }, (_, index) => logIn(served, `somebody${index}`, 'wrong')))
  expect(answers.filter(({ status }) => status === 400).length).toBeLessThanOrEqual(10)
})

test('signing up counts, also with success', async () => {
  served = await serveAccounts()
  const statuses: number[] = []
  for (let attempt = 0; attempt < 12; attempt++) {
    const body = { username: `serial${attempt}`, email: `serial${attempt % 2}@example.test`, password: attempt < 2 ? 'secret-123' : 'x' }
    statuses.push((await post(served, '/api/auth/local/register', body)).status)
  }
  expect(statuses).toEqual([200, 200, ...Array(10).fill(400)])
  // Each of the two addresses was tried six times.
  const again = { username: 'serial', email: ' Serial0@example.test ', password: 'secret-123' }
  const more: number[] = []
  for (let attempt = 0; attempt < 5; attempt++) more.push((await post(served, '/api/auth/local/register', again)).status)
  expect(more).toEqual([400, 400, 400, 400, 429])
})

rule('accounts.15', 'a site that signs its visitors in from one address locks no visitor out; a flood from it ends', async () => {
  served = await serveAccounts({ config: { limits: { authAddressRateLimit: 30 } } })
  const register = (index: number) =>
    post(served, '/api/auth/local/register', { username: `visitor${index}`, email: `visitor${index}@example.test`, password: 'secret-1' })
  for (let visitor = 0; visitor < 12; visitor++) expect((await register(visitor)).status).toBe(200)
  for (let visitor = 0; visitor < 12; visitor++) expect((await logIn(served, `visitor${visitor}`, 'wrong')).status).toBe(400)
  for (let visitor = 0; visitor < 12; visitor++) expect((await logIn(served, `visitor${visitor}`, 'secret-1')).status).toBe(200)
  for (const [path, name] of [
    ['forgot-password', 'email'],
    ['send-email-confirmation', 'email'],
    ['reset-password', 'code'],
  ] as const)
    for (let visitor = 0; visitor < 12; visitor++) {
      const { status } = await post(served, `/api/auth/${path}`, { [name]: `visitor${visitor}@example.test` })
      expect([path, status]).not.toEqual([path, 429])
    }
  for (let visitor = 12; visitor < 30; visitor++) await logIn(served, `nobody${visitor}`, 'wrong')
  expect((await logIn(served, 'visitor1', 'secret-1')).status).toBe(429)
})

rule('accounts.16', 'S076 an account is guessed ever more slowly from wherever; its sessions go on', async () => {
  served = await serveAccounts({ config: { trustProxy: 1 } })
  const { jwt } = (await logIn(served, 'erin', 'erin-Secret1')).body
  const from = (address: string, password: string) =>
    post(served, '/api/auth/local', { identifier: 'erin', password }, undefined, { 'x-forwarded-for': address })
  for (let guess = 0; guess < 6; guess++) expect((await from(`10.1.0.${guess}`, 'wrong')).status).toBe(400)
  const refused = await from('10.1.1.1', 'wrong')
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '1'])
  expect((await from('10.1.1.2', 'erin-Secret1')).status).toBe(429)
  expect((await served.request('/api/users/me', { token: jwt })).status).toBe(200)
  await new Promise((resolve) => setTimeout(resolve, 1100))
  expect((await from('10.1.1.3', 'erin-Secret1')).status).toBe(200)
})

rule('accounts.16', 'strangers keep no owner out of an address that the account was signed in from', async () => {
  served = await serveAccounts({ config: { trustProxy: 1 } })
  const from = (address: string, password: string) =>
    post(served, '/api/auth/local', { identifier: 'erin', password }, undefined, { 'x-forwarded-for': address })
  expect((await from('10.5.0.1', 'erin-Secret1')).status).toBe(200)
  for (let guess = 0; guess < 9; guess++) await from(`10.5.1.${guess}`, 'wrong')
  expect((await from('10.5.2.1', 'erin-Secret1')).status).toBe(429)
  expect((await from('10.5.0.1', 'erin-Secret1')).status).toBe(200)
  // Guesses from there are slowed down too, and no further.
  const guesses: number[] = []
  for (let guess = 0; guess < 8; guess++) guesses.push((await from('10.5.0.1', 'wrong')).status)
  expect(guesses).toEqual([...Array(6).fill(400), 429, 429])
})

test('addresses of one IPv6 network count together', async () => {
  const limiter = openLimiter(openCounters(100), { authRateLimit: 2, authAddressRateLimit: 2 })
  const guess = (address: string) =>
    limiter
      .perAddress('x', address, 'failures', async () => {
        throw validationError('wrong')
      })
      .catch((error: Error) => error.name)
  expect([await guess('2001:db8:1:2::1'), await guess('2001:db8:1:2:ffff::9'), await guess('2001:db8:1:2:3:4:5:6')]).toEqual([
    'ValidationError',
    'ValidationError',
    'RateLimitError',
  ])
  expect(await guess('2001:db8:1:3::1')).toBe('ValidationError')
  expect([await guess('::ffff:10.0.0.1'), await guess('10.0.0.1'), await guess('10.0.0.1')].at(-1)).toBe('RateLimitError')
})

rule('accounts.16', 'S076 a thousand addresses get as few guesses at an account as one', async () => {
  let clock = 1_800_000_000_000
  const limiter = openLimiter(
    openCounters(100_000, () => clock),
    { authRateLimit: 10, authAddressRateLimit: 60 },
  )
  let guesses = 0
  const guess = (address: string) =>
    limiter
      .perAddress('local', address, 'failures', () =>
        limiter.perAccount('alice', async () => {
          guesses++
          throw validationError('wrong')
        }),
      )
      .catch(() => undefined)
  const quarter = async () => {
    const before = guesses
    for (let second = 0; second < 900; second++, clock += 1000)
      for (let each = 0; each < 5; each++) await guess(`10.0.${second % 250}.${each}`)
    return guesses - before
  }
  // Five that are free, then after 1, 2, 4, … 60 seconds.
  expect(await quarter()).toBeLessThan(30)
  expect(await quarter()).toBeLessThan(30)
})
