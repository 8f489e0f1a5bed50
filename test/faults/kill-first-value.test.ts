// kill -9 before and after the commit of the request with which an administrator makes a document: it is sent again with its key, and
// there is one document, with the result of the write that made it.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect } from 'vitest'
import { addAdministrator, requestAdmin, signInAdmin } from '../support/administration.js'
import { rule } from '../support/rule.js'
import { serveExisting, type TestResponse } from '../support/serve.js'
import { copyGolden, remove } from './child.js'
import { end, type Faulty, startFaulty } from './faulty.js'

const environment = { ADMIN_JWT_SECRET: 'a-secret-of-this-test' }
const cities = '/content/api::city.city'
let folder: string
let orders: string
let token: string
let running: Faulty
const startAgain = async () => startFaulty(folder, orders, environment)
beforeAll(async () => {
  folder = await copyGolden()
  orders = join(folder, 'faults')
  mkdirSync(orders)
  const served = await serveExisting({ folder }, environment)
  await addAdministrator(served, 'ada@killed.example')
  token = (await signInAdmin(served, 'ada@killed.example')).accessToken
  await served.close()
  running = await startAgain()
})
afterAll(async () => {
  await end(running)
  await remove(folder)
})

const send = async (method: string, path: string, body?: unknown, headers = {}): Promise<TestResponse> =>
  requestAdmin({ origin: await running.child.origin, request: running.request }, path, {
    method,
    token,
    headers,
    ...(body === undefined ? {} : { body }),
  })
const create = (name: string) =>
  send('POST', cities, { data: { name } }, { prefer: 'return=minimal', 'idempotency-key': name.replaceAll(' ', '-') })
const find = async (name: string): Promise<readonly { readonly documentId: string }[]> =>
  (await send('GET', `${cities}?filters[name]=${encodeURIComponent(name)}`)).body.data

rule('administration-saving.6', 'a document is made once, also if the service was killed before the response', async () => {
  // Counts the statements of the transaction.
  writeFileSync(join(orders, 'order'), JSON.stringify({ n: 1_000 }))
  const rehearsed = await create('not killed')
  expect((await create('not killed')).text).toBe(rehearsed.text)
  const statements = Number(readFileSync(join(orders, 'counted'), 'utf8'))
  expect(statements).toBeGreaterThan(4)
  // Before the commit, and between the commit and the response.
  for (const n of [statements - 1, statements]) {
    const name = `killed at ${n}`
    writeFileSync(join(orders, 'order'), JSON.stringify({ n }))
    await expect(create(name)).rejects.toThrow(TypeError)
    expect((await running.child.ended).signal).toBe('SIGKILL')
    running = await startAgain()
    const [made] = await find(name)
    expect(made !== undefined).toBe(n === statements)
    let current: string | undefined
    if (made !== undefined) {
      // Another administrator changes the document before the request is repeated.
      const path = `${cities}/${made.documentId}`
      const state = { 'if-match': (await send('GET', path)).headers.get('etag')! }
      current = (await send('PATCH', path, { changes: { name: `${name}, changed` } }, state)).body.data.revision
    }
    const again = await create(name)
    const { documentId, revision } = again.body.data
    const found = [...(await find(name)), ...(await find(`${name}, changed`))]
    expect([again.status, found.map((one) => one.documentId)]).toEqual([201, [made?.documentId ?? documentId]])
    // The result of the write, not the state of the document: the client must not take the change for its own.
    expect([typeof revision, revision === current]).toEqual(['string', false])
  }
})
