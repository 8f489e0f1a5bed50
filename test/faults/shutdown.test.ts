// SIGTERM (R50): requests sent before it get a full response, then the process ends with status 0. The limits of the service for clients
// that stall are far beyond those of the tests, which therefore fail if it waits for them.
import { connect } from 'node:net'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Child } from './child.js'
import { copyGolden, remove, start } from './child.js'
import type { Connection, Exchange } from './connection.js'
import { converse } from './connection.js'
import { grow } from './grow.js'

let folder: string
let child: Child
let connections: Connection[]
beforeEach(async () => {
  folder = await copyGolden({
    limits: { drainDelay: 0, drainTimeout: 3_600_000, requestTimeout: 290_000 },
  })
  grow(join(folder, '.tmp', 'data.db'), 30_000)
  child = start(folder)
  connections = []
})
afterEach(async () => {
  for (const connection of connections) connection.close()
  child.process.kill('SIGKILL')
  await child.ended
  await remove(folder)
})

const pause = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds))
let asked = 0
/** Looks through every article; the text is new each time, so that nothing is remembered. */
const slow = () => `/api/articles?filters[body][$containsi]=zz${++asked}&locale=*&status=draft`
const light = () => '/api/tags?pagination[pageSize]=5'
const large = () => '/api/articles?populate=*&pagination[pageSize]=100'

test('SIGTERM under load: every earlier request is answered in full, then the process ends', async () => {
  const origin = await child.origin
  const kinds = Array.from({ length: 32 }, (_, index) => (index < 4 ? slow : index < 10 ? large : light))
  connections = await Promise.all(kinds.map((next) => converse(origin, next)))
  const answered = () => connections.flatMap(({ exchanges }) => exchanges).filter(({ status }) => status !== null).length
  while (answered() < 300) await pause(50)
  const stopped = performance.now()
  child.signal('SIGTERM')
  const quiet = Promise.all(connections.map((connection) => connection.stop()))
  const { code } = await child.ended
  await quiet
  const before = connections.flatMap(({ exchanges }) => exchanges).filter(({ sent }) => sent < stopped)
  const told = ({ path, status }: Exchange) => `${status} ${path}`
  expect({
    lost: before.filter(({ status }) => status === null).map(told),
    refused: before.filter(({ status }) => status !== null && status !== 200).map(told),
    code,
  }).toEqual({ lost: [], refused: [], code: 0 })
})

test('SIGTERM with idle connections ends the process', async () => {
  const origin = await child.origin
  connections = await Promise.all(Array.from({ length: 8 }, () => converse(origin, light)))
  await pause(300)
  await Promise.all(connections.map((connection) => connection.stop()))
  child.signal('SIGTERM')
  expect(await child.ended).toMatchObject({ code: 0 })
})

test.each([
  ['have never asked for anything', ''],
  ['have asked for half a thing', 'GET /api/tags HTTP/1.1\r\nHost'],
])('SIGTERM with connections that %s ends the process', async (_what, sent) => {
  const { port } = new URL(await child.origin)
  const socket = connect(Number(port), '127.0.0.1')
  socket.on('error', () => undefined)
  socket.write(sent)
  await pause(300)
  child.signal('SIGTERM')
  const end = await child.ended
  socket.destroy()
  expect(end).toMatchObject({ code: 0 })
})

test('after SIGTERM new connections are refused, while current requests go on', async () => {
  const origin = await child.origin
  connections = await Promise.all(Array.from({ length: 8 }, () => converse(origin, slow)))
  await pause(100)
  child.signal('SIGTERM')
  const quiet = Promise.all(connections.map((connection) => connection.stop()))
  await pause(50)
  const answer = await fetch(`${origin}/api/tags`).then(
    ({ status }) => status,
    () => 'refused',
  )
  expect(['refused', 503]).toContain(answer)
  await quiet
  for (const { exchanges } of connections) expect(exchanges.at(-1)!.status).toBe(200)
  expect(await child.ended).toMatchObject({ code: 0 })
})

test('a second SIGTERM ends the process at once, regardless of running requests', async () => {
  const origin = await child.origin
  connections = await Promise.all(Array.from({ length: 200 }, () => converse(origin, slow)))
  await pause(300)
  child.signal('SIGTERM')
  await pause(300)
  expect(child.process.exitCode).toBeNull()
  child.signal('SIGTERM')
  expect(await child.ended).toMatchObject({ code: 1 })
})

test('SIGINT works like SIGTERM', async () => {
  const origin = await child.origin
  expect((await fetch(`${origin}${light()}`)).status).toBe(200)
  child.signal('SIGINT')
  expect(await child.ended).toMatchObject({ code: 0 })
})
