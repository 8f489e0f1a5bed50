// Events of users reach webhooks and listeners as recorded from Strapi 5.54, without secrets; deletions too.
import { afterAll, beforeAll, expect } from 'vitest'
import type { EntryEvent } from '../../src/service/index.js'
import { rule } from '../support/rule.js'
import { goldenTokens, type Served } from '../support/serve.js'
import { patience } from '../support/until.js'
import { letters, logIn, post, serveAccounts, setAccounts } from './golden.js'

const { full } = goldenTokens()
const heard: EntryEvent[] = []
let served: Served
beforeAll(async () => {
  served = await serveAccounts({
    config: { limits: { authRateLimit: 0 } },
    code: { listeners: [(event) => void ('entry' in event && heard.push(event))] },
  })
})
afterAll(() => served.close())

const put = (id: number, body: object, token = full!) =>
  served.request(`/api/users/${id}`, { method: 'PUT', token, headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })

/** The events of one act, once there are as many. */
async function after(count: number, act: () => Promise<unknown>): Promise<readonly string[]> {
  heard.length = 0
  await act()
  await expect.poll(() => heard.length, patience).toBe(count)
  return heard.map(({ event, uid, entry }) => `${event} ${uid} ${entry.username}`)
}

const event = (name: string, user: string) => `entry.${name} plugin::users-permissions.user ${user}`

rule('webhooks.15', 'changes, new passwords, e-mails, confirmations and deletions of users are events, without secrets', async () => {
  const body = { username: 'watched', email: 'watched@example.test', password: 'secret-123', role: 1 }
  let id = 0
  const seen: string[] = []
  const of = async (count: number, act: () => Promise<unknown>) => {
    const found = await after(count, act)
    seen.push(...heard.map((one) => JSON.stringify(one)))
    return found
  }
  expect(await of(1, async () => (id = (await post(served, '/api/users', body, full)).body.id))).toEqual([event('create', 'watched')])
  expect(await of(1, () => put(id, { email: 'other@example.test' }))).toEqual([event('update', 'watched')])
  expect(await of(1, () => put(id, { role: 2 }))).toEqual([event('update', 'watched')])
  expect(heard[0]!.entry).toMatchObject({ role: { id: 2 } })
  expect(await of(1, () => put(id, { role: { connect: [{ id: 1 }] }, password: 'secret-124' }))).toEqual([event('update', 'watched')])
  expect(await of(1, () => put(id, {}))).toEqual([event('update', 'watched')])
  const { jwt } = (await logIn(served, 'watched', 'secret-124')).body
  const change = { currentPassword: 'secret-124', password: 'secret-125', passwordConfirmation: 'secret-125' }
  expect(await of(1, () => post(served, '/api/auth/change-password', change, jwt))).toEqual([event('update', 'watched')])
  expect(await of(1, () => post(served, '/api/auth/forgot-password', { email: 'other@example.test' }))).toEqual([
    event('update', 'watched'),
  ])
  const { code } = (await letters(served, 1))[0]!
  const reset = { code, password: 'secret-126', passwordConfirmation: 'secret-126' }
  expect(await of(1, () => post(served, '/api/auth/reset-password', reset))).toEqual([event('update', 'watched')])

  await setAccounts(served, { email_confirmation: true })
  const own = { username: 'newcomer', email: 'newcomer@example.test', password: 'secret-123' }
  const register = () => post(served, '/api/auth/local/register', own)
  expect(await of(2, register)).toEqual([event('create', 'newcomer'), event('update', 'newcomer')])
  // Each e-mail waits for a random time.
  await letters(served, 2)
  const again = () => post(served, '/api/auth/send-email-confirmation', { email: 'newcomer@example.test' })
  expect(await of(1, again)).toEqual([event('update', 'newcomer')])
  const link = `/api/auth/email-confirmation?confirmation=${(await letters(served, 3)).at(-1)!.code}`
  expect(await of(1, () => served.request(link))).toEqual([event('update', 'newcomer')])
  expect(heard[0]!.entry).toMatchObject({ confirmed: true })

  // Refused and ineffective changes are not events: only the deletion after them is.
  const idle = async () => {
    await post(served, '/api/auth/forgot-password', { email: 'nobody@example.test' })
    await served.request(link)
    await put(id, { email: 'newcomer@example.test' })
    await logIn(served, 'watched', 'secret-126')
    await served.request(`/api/users/${id}`, { method: 'DELETE', token: full! })
  }
  expect(await of(1, idle)).toEqual([event('delete', 'watched')])
  for (const text of seen) expect(text).not.toMatch(/secret-12|\$2[aby]\$|"(password|resetPasswordToken|confirmationToken)"|[0-9a-f]{64}/)
})
