// Webhooks over kills, stops and several processes: no event is lost, and none is sent again after a later one about the same document.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { text as textOf } from 'node:stream/consumers'
import Database from 'better-sqlite3'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { testSqlite } from '../support/sqlite-only.js'
import { patience } from '../support/until.js'
import { headerOf, ok, openReceiver, type Received, type Receiver, status } from '../webhooks/receiver.js'
import type { Child } from './child.js'
import { openChildren } from './children.js'
import { clientOf } from './faulty.js'
import { type SendRequest, send } from './operations.js'

const main = join(import.meta.dirname, '..', '..', 'dist', 'main.js')
const { folder, run } = openChildren({
  limits: { webhookRetryDelay: 50, webhookMaxRetryDelay: 500, webhookAttempts: 1_000, webhookTimeout: 20_000 },
  webhooks: { allowPrivateAddresses: ['127.0.0.1'] },
})
let receiver: Receiver
beforeEach(async () => {
  receiver = await openReceiver()
})
afterEach(() => receiver.close())

/** Runs `octavo webhooks`. */
async function webhooks(environment: Readonly<Record<string, string>>, ...given: readonly string[]) {
  const child = spawn(process.execPath, [main, 'webhooks', ...given], { env: { ...process.env, NODE_ENV: 'production', ...environment } })
  const [out, error] = await Promise.all([textOf(child.stdout), textOf(child.stderr), once(child, 'close')])
  return { out: out.trim(), error: error.trim() }
}
const create = async (...events: readonly string[]): Promise<void> => {
  const { out, error } = await webhooks(
    {},
    ...['create', folder(), '--name', 'all', '--url', `${receiver.origin}/all`, '--events', events.join(',')],
  )
  expect([out.slice(0, 6), error]).toEqual(['whsec_', ''])
}

const askOf = async (child: Child): Promise<SendRequest> => clientOf(await child.origin)
const sequenceOf = (received: Received): number => Number(/^evt_(\d+)_/.exec(headerOf(received, 'webhook-id')!)![1])
const names = () => receiver.received.map(({ body }) => body.entry.name)

/** For each document, the events about it in the order of their arrival. */
function byDocument(): readonly (readonly number[])[] {
  const found = new Map<string, number[]>()
  for (const one of receiver.received) {
    const { documentId } = one.body.entry
    found.set(documentId, [...(found.get(documentId) ?? []), sequenceOf(one)])
  }
  return [...found.values()]
}
const expectOrder = () => {
  for (const sequences of byDocument()) expect(sequences).toEqual([...sequences].sort((one, other) => one - other))
}

test('after kills in the middle of deliveries every event is delivered, in order per document', async () => {
  await create('entry.create', 'entry.update')
  let requests = 0
  receiver.respond = (received, response, socket) => {
    const respond = ++requests % 7 === 0 ? status(500) : ok
    setTimeout(() => respond(received, response, socket), 20)
  }
  const expected: string[] = []
  for (let round = 0; round < 3; round++) {
    const child = run()
    const request = await askOf(child)
    await Promise.all(
      Array.from({ length: 5 }, async (_, index) => {
        const name = (version: number) => `${round} ${index} ${version}`
        const created = await send(request, 'POST', '/api/cities', { name: name(0) })
        expect(created.status).toBe(201)
        expected.push(name(0))
        for (const version of [1, 2, 3, 4]) {
          const { status: code } = await send(request, 'PUT', `/api/cities/${created.body.data.documentId}`, { name: name(version) })
          expect(code).toBe(200)
          expected.push(name(version))
        }
      }),
    )
    child.process.kill('SIGKILL')
    await child.ended
  }
  expect(new Set(names()).size).toBeLessThan(expected.length)
  await run().origin
  await vi.waitFor(() => expect([...new Set(names())].sort()).toEqual([...expected].sort()), patience)
  expectOrder()
})

test('a process that is stopped loses its lease to another one, and sends nothing again when it continues', async () => {
  await create('entry.create', 'entry.update')
  const stopped = run()
  const request = await askOf(stopped)
  // The first attempt gets no response, so that the process has the lease when it is stopped.
  let isHeld = false
  receiver.respond = (received, response, socket) => {
    if (isHeld) ok(received, response, socket)
    isHeld = true
  }
  const { documentId } = (await send(request, 'POST', '/api/cities', { name: 'city 0' })).body.data
  await vi.waitFor(() => expect(isHeld).toBe(true), patience)
  const other = await askOf(run())
  stopped.process.kill('SIGSTOP')
  for (const index of [1, 2, 3]) expect((await send(other, 'PUT', `/api/cities/${documentId}`, { name: `city ${index}` })).status).toBe(200)
  expect(names()).toEqual(['city 0'])
  await vi.waitFor(() => expect(names()).toEqual(['city 0', 'city 0', 'city 1', 'city 2', 'city 3']), patience)
  stopped.process.kill('SIGCONT')
  await vi.waitFor(
    async () => expect((await send(request, 'PUT', `/api/cities/${documentId}`, { name: 'city 4' })).status).toBe(200),
    patience,
  )
  await vi.waitFor(() => expect(names().slice(5)).toEqual(['city 4']), patience)
  expectOrder()
  stopped.process.kill('SIGKILL')
  expect((await send(other, 'PUT', `/api/cities/${documentId}`, { name: 'city 5' })).status).toBe(200)
  await vi.waitFor(() => expect(names().slice(6)).toEqual(['city 5']), patience)
})

test('writes end while a receiver responds to nothing', async () => {
  await create('entry.create')
  receiver.respond = () => {}
  const request = await askOf(run())
  for (let index = 0; index < 12; index++) expect((await send(request, 'POST', '/api/cities', { name: `city ${index}` })).status).toBe(201)
  await vi.waitFor(() => expect(names()).toHaveLength(5), patience)
  // No attempt has ended yet: a write that waited for one would have come after it.
  const { out } = await webhooks({}, 'deliveries', 'all', folder(), '--json')
  expect(JSON.parse(out)).toEqual([])
})

test('events that a command sends again do not wait for the end of other deliveries', async () => {
  writeFileSync(
    join(folder(), 'octavo.config.json'),
    JSON.stringify({ limits: { webhookRetryDelay: 3_600_000, webhookTimeout: 20_000 }, webhooks: { allowPrivateAddresses: true } }),
  )
  await create('entry.create')
  const held: (() => void)[] = []
  let isRepaired = false
  receiver.respond = (received, response, socket) => {
    const { name } = received.body.entry
    if (name.startsWith('held')) held.push(() => ok(received, response, socket))
    else (isRepaired ? ok : status(500))(received, response, socket)
  }
  const request = await askOf(run())
  await send(request, 'POST', '/api/cities', { name: 'fails' })
  await send(request, 'POST', '/api/cities', { name: 'held 1' })
  await vi.waitFor(() => expect(held).toHaveLength(1), patience)
  const waiting = async () => JSON.parse((await webhooks({}, 'deliveries', 'all', folder(), '--waiting', '--json')).out)
  await vi.waitFor(async () => expect(await waiting()).toHaveLength(1), patience)
  const [{ sequence }] = await waiting()
  isRepaired = true
  expect((await webhooks({}, 'resend', 'all', folder(), '--sequence', String(sequence))).out).toBe('1 event will be sent again.')
  await vi.waitFor(() => expect(names().filter((name) => name === 'fails')).toHaveLength(2), patience)
  expect(held).toHaveLength(1)
  held[0]!()
})

testSqlite('a shutdown does not wait for results that cannot be stored', 'on servers, nothing locks the whole database', async () => {
  const limits = { webhookTimeout: 20_000, drainTimeout: 45_000 }
  writeFileSync(join(folder(), 'octavo.config.json'), JSON.stringify({ limits, webhooks: { allowPrivateAddresses: true } }))
  await create('entry.create')
  let respond = (): void => {}
  receiver.respond = (received, response, socket) => {
    respond = () => ok(received, response, socket)
  }
  const child = run()
  await send(await askOf(child), 'POST', '/api/cities', { name: 'city' })
  await vi.waitFor(() => expect(names()).toEqual(['city']), patience)
  const database = new Database(join(folder(), '.tmp', 'data.db'))
  try {
    database.exec('begin immediate')
    respond()
    child.signal('SIGTERM')
    await child.ended
    expect(child.output() + child.errors()).not.toContain('shutdown timed out')
  } finally {
    database.close()
  }
  receiver.respond = ok
  await run().origin
  await vi.waitFor(() => expect(names()).toEqual(['city', 'city']), patience)
})

test('a connection is made to the checked address, even if its name resolves differently afterwards', async () => {
  // Listens on every address of this machine, so only the check decides.
  const everywhere = createServer((_request, response) => response.end())
  let requests = 0
  everywhere.on('request', () => requests++)
  everywhere.listen(0, '0.0.0.0')
  await once(everywhere, 'listening')
  const { port } = everywhere.address() as { port: number }
  const preload = join(folder(), 'resolver.mjs')
  writeFileSync(
    preload,
    `import dns from 'node:dns'
    import { appendFileSync, readFileSync } from 'node:fs'
    import { syncBuiltinESMExports } from 'node:module'
    const original = dns.lookup
    dns.lookup = (name, options, callback) => {
      if (name !== 'rebound.test') return original(name, options, callback)
      const answers = readFileSync(${JSON.stringify(join(folder(), 'answers'))}, 'utf8').trim().split('\\n')
      const asked = ${JSON.stringify(join(folder(), 'asked'))}
      let count = 0
      try { count = readFileSync(asked, 'utf8').length } catch {}
      appendFileSync(asked, '.')
      const found = answers[Math.min(count, answers.length - 1)].split(' ').map((address) => ({ address, family: 4 }))
      process.nextTick(callback, null, found)
    }
    syncBuiltinESMExports()`,
  )
  const environment = { NODE_OPTIONS: `--import ${preload}` }
  const answers = (...lines: readonly string[]) => writeFileSync(join(folder(), 'answers'), lines.join('\n'))
  const asked = () => (existsSync(join(folder(), 'asked')) ? readFileSync(join(folder(), 'asked'), 'utf8').length : 0)
  try {
    answers('127.0.0.1')
    const url = `http://rebound.test:${port}/hook`
    const { error } = await webhooks(environment, 'create', folder(), '--name', 'rebound', '--url', url, '--events', 'all')
    expect([error, asked()]).toEqual(['', 0])
    // The first response is allowed. A second one would be refused: the name must not be resolved again.
    answers('127.0.0.1', '127.0.0.2')
    expect((await webhooks(environment, 'trigger', 'rebound', folder())).out).toMatch(/responded 200/)
    expect([asked(), requests]).toEqual([1, 1])
    for (const answer of ['127.0.0.2', '127.0.0.1 127.0.0.2', '127.0.0.2 127.0.0.1', '169.254.169.254']) {
      answers(answer)
      const { error: refused } = await webhooks(environment, 'trigger', 'rebound', folder())
      expect(refused).toMatch(/rebound\.test leads to the private address 1/)
    }
    expect(requests).toBe(1)
  } finally {
    everywhere.close()
  }
})
