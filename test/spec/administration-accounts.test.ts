// Creation of administrators' accounts and passwords.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { addAdministrator, adminPassword, projectWithNotes, requestAdmin, rowsOf, signInAdmin } from '../support/administration.js'
import { rule } from '../support/rule.js'
import { type Served, serveExisting, serveProject, type TestResponse } from '../support/serve.js'
import { secrets } from './callers.js'

/** Codes are in the log. */
const environment = { ...secrets, NODE_ENV: 'development' }
const config = { limits: { authRateLimit: 0 }, url: 'https://cms.example.test' }

let served: Served
beforeAll(async () => {
  served = await serveProject(projectWithNotes, { environment, config })
})
afterAll(() => served?.close())

const post = (path: string, body: unknown, more: { token?: string; at?: Served } = {}): Promise<TestResponse> =>
  requestAdmin(more.at ?? served, path, { method: 'POST', body, ...more })

/** Waits for something in the log, and resolves to its first group. */
async function logged(form: RegExp, at = served): Promise<string> {
  for (let turn = 0; turn < 300; turn++) {
    const found = at.log.map((line) => form.exec(line)).findLast((match) => match !== null)
    if (found !== undefined) return found[1]!
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
  throw new Error(`The log has no ${String(form)}`)
}

const firstCode = /The code for the first one is ([A-Z2-9-]{19}),/

rule('administration.11', 'guesses of strangers do not prevent the creation of the first administrator', async () => {
  const guessed = await serveProject(projectWithNotes, { environment, config: { trustProxy: 1 } })
  try {
    const code = await logged(firstCode, guessed)
    const from = (address: string, given: string) => {
      const body = { email: 'ada@admins.example', firstname: 'Ada', password: adminPassword, code: given }
      return requestAdmin(guessed, '/session/first', { method: 'POST', body, headers: { 'x-forwarded-for': address } })
    }
    const statuses = async (address: string, times: number) => {
      const found: number[] = []
      for (let guess = 0; guess < times; guess++) found.push((await from(address, 'AAAA-AAAA-AAAA-AAAA')).status)
      return found
    }
    for (let stranger = 0; stranger < 8; stranger++) expect(await statuses(`10.4.0.${stranger}`, 1)).toEqual([400])
    expect(await statuses('10.4.1.1', 11)).toEqual([...Array(10).fill(400), 429])
    expect((await from('10.4.2.2', code)).status).toBe(200)
  } finally {
    await guessed.close()
  }
})

rule('administration.11', 'the first administrator needs the code from the log', async () => {
  const code = await logged(firstCode)
  expect((await requestAdmin(served, '/session/first')).body.data).toMatchObject({ isMissing: true, needsCode: true })
  expect(served.log.filter((line) => firstCode.test(line))).toHaveLength(1)
  const ada = { email: 'Ada@Admins.example', firstname: 'Ada', password: adminPassword }
  for (const wrong of ['AAAA-AAAA-AAAA-AAAA', code.slice(1), ''])
    expect((await post('/session/first', { ...ada, code: wrong })).status, wrong).toBe(400)
  const beside = await serveExisting(served, environment)
  try {
    // Another process knows the code too.
    const first = await post('/session/first', { ...ada, code: code.toLowerCase() }, { at: beside })
    expect(first.status, first.text).toBe(200)
    expect((await requestAdmin(served, '/session/all', { token: first.body.data.accessToken })).status).toBe(200)
  } finally {
    await beside.close()
  }
  expect((await rowsOf(served, 'admin_roles')).map(({ code: role }) => role)).toEqual([
    'strapi-super-admin',
    'strapi-editor',
    'strapi-author',
  ])
  expect((await requestAdmin(served, '/session/first')).body.data).toMatchObject({ isMissing: false })
  const again = await post('/session/first', { ...ada, email: 'eve@admins.example', code })
  expect([again.status, again.body.error.message]).toEqual([400, 'There is an administrator already'])
  expect((await signInAdmin(served, 'ada@admins.example')).answer.status).toBe(200)
  expect(await rowsOf(served, 'admin_users')).toMatchObject([{ email: 'ada@admins.example', is_active: 1, blocked: 0 }])
  expect((await rowsOf(served, 'octavo_activity')).filter(({ action }) => action !== 'sign-in')).toMatchObject([
    { action: 'create', subject: 'administrator', name: 'ada@admins.example', address: '127.0.0.1' },
  ])
})

test('a service that has administrators logs no code', async () => {
  const beside = await serveExisting(served, environment)
  await beside.close()
  expect(beside.log.filter((line) => firstCode.test(line))).toEqual([])
})

const letterCode = /admin\/reset\/([0-9a-f]{64})/

rule('administration.14', 'a code from an e-mail sets a new password once', async () => {
  await addAdministrator(served, 'bea@admins.example')
  const before = await signInAdmin(served, 'bea@admins.example')
  for (const email of ['nobody@admins.example', 'BEA@admins.example'])
    expect((await post('/session/forgot', { email })).status, email).toBe(204)
  const code = await logged(letterCode)
  expect(JSON.stringify(await rowsOf(served, 'octavo_one_time_tokens'))).not.toContain(code)
  expect((await post('/session/reset', { code, password: 'short' })).status).toBe(400)
  const reset = await post('/session/reset', { code, password: 'Another-Horse-8' })
  expect(reset.status, reset.text).toBe(200)
  expect((await requestAdmin(served, '/session/all', { token: reset.body.data.accessToken })).body.data).toHaveLength(1)
  expect((await requestAdmin(served, '/session/all', { token: before.accessToken })).status).toBe(401)
  expect((await post('/session/reset', { code, password: 'Another-Horse-9' })).status).toBe(400)
  expect((await post('/session', { email: 'bea@admins.example', password: adminPassword })).status).toBe(400)
  expect((await post('/session', { email: 'bea@admins.example', password: 'Another-Horse-8' })).status).toBe(200)
})

rule('administration.14', 'an account that is blocked or not active cannot use a code', async () => {
  await addAdministrator(served, 'cy@admins.example')
  await post('/session/forgot', { email: 'cy@admins.example' })
  const code = await logged(/to cy@admins.example: .*admin\/reset\/([0-9a-f]{64})/)
  for (const column of ['blocked', 'is_active']) {
    await served.sql(`UPDATE admin_users SET ${column} = ? WHERE email = ?`, column === 'blocked' ? 1 : 0, 'cy@admins.example')
    expect((await post('/session/reset', { code, password: 'Another-Horse-8' })).status, column).toBe(400)
    await served.sql(`UPDATE admin_users SET ${column} = ? WHERE email = ?`, column === 'blocked' ? 0 : 1, 'cy@admins.example')
  }
})

rule('administration.15', 'a new password follows the rules of the panel, and the current one is needed', async () => {
  await addAdministrator(served, 'dot@admins.example')
  const one = await signInAdmin(served, 'dot@admins.example')
  const other = await signInAdmin(served, 'dot@admins.example')
  const change = (currentPassword: string, password: string) =>
    post('/session/change-password', { currentPassword, password }, { token: one.accessToken })
  for (const [password, message] of [
    ['Sh0rt', 'The password must have at least 8 characters'],
    ['ALL-UPPER-1', 'The password must have a lower-case letter'],
    ['all-lower-1', 'The password must have an upper-case letter'],
    ['No-Digit-At-All', 'The password must have a digit'],
    [`Aa1${'é'.repeat(35)}`, 'The password must be less than 73 bytes'],
  ] as const)
    expect((await change(adminPassword, password)).body.error.message).toBe(message)
  expect((await change('wrong', 'Another-Horse-8')).status).toBe(400)
  expect((await change(adminPassword, adminPassword)).status).toBe(400)
  const changed = await change(adminPassword, 'Another-Horse-8')
  expect(changed.status, changed.text).toBe(200)
  for (const { accessToken } of [one, other]) expect((await requestAdmin(served, '/session/all', { token: accessToken })).status).toBe(401)
  expect((await requestAdmin(served, '/session/all', { token: changed.body.data.accessToken })).status).toBe(200)
})
