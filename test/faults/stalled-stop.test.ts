// Clients stall while the service stops: they are cut, and all parts after them still close in order (R50).
import { existsSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { UserConfig } from '../../src/foundation/config/config.js'
import { goldenTokens } from '../support/serve.js'
import { type Child, copyGolden, remove, start } from './child.js'

let folder: string
let child: Child
let sockets: Socket[]
beforeEach(() => {
  sockets = []
})
afterEach(async () => {
  for (const socket of sockets) socket.destroy()
  child.process.kill('SIGKILL')
  await child.ended
  await remove(folder)
})

const pause = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds))
const authorization = `Bearer ${goldenTokens().full}`
const tag = (name: string) => JSON.stringify({ data: { name } })
const body = tag('slow')
const post = `POST /api/tags HTTP/1.1\r\nHost: x\r\nAuthorization: ${authorization}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`
/** Some 15 MB: more than the buffers of a connection take. */
const large = `/api/articles?populate[tags][populate][articles][populate][tags][populate]=articles&pagination[pageSize]=25`

/** Starts the service and lets it write, so that all its threads are there. */
async function serve(limits: UserConfig['limits']): Promise<string> {
  folder = await copyGolden({ limits: { drainDelay: 0, ...limits } })
  child = start(folder)
  const origin = await child.origin
  const written = await fetch(`${origin}/api/tags`, {
    method: 'POST',
    headers: { authorization, 'content-type': 'application/json' },
    body: tag('first'),
  })
  expect(written.status).toBe(201)
  return origin
}

function send(origin: string, text: string): Promise<{ readonly socket: Socket; text(): string }> {
  return new Promise((resolve) => {
    const socket = connect(Number(new URL(origin).port), '127.0.0.1')
    sockets.push(socket)
    let got = ''
    socket.on('error', () => {})
    socket.on('data', (bytes) => {
      got += bytes.toString('latin1')
    })
    socket.once('connect', () => socket.write(text, () => resolve({ socket, text: () => got })))
  })
}

/** The last connection that closes takes the log of the database with it. */
const isClosed = () => !existsSync(join(folder, '.tmp', 'data.db-wal'))
const lines = () =>
  child
    .output()
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as { level: number; msg: string })
const errors = () =>
  lines()
    .filter(({ level }) => level >= 50)
    .map(({ msg }) => msg)

test('a body that does not come in is not waited for: the stop is orderly and soon', async () => {
  const origin = await serve({ drainTimeout: 5_000 })
  await send(origin, post + body.slice(0, 5))
  await pause(200)
  child.signal('SIGTERM')
  const { code, after } = await child.ended
  expect({ code, closed: isClosed(), errors: errors() }).toEqual({ code: 0, closed: true, errors: [] })
  expect(after).toBeGreaterThan(900)
  expect(lines().some(({ msg }) => msg.startsWith('closed stalled connections'))).toBe(true)
})

test('a response that the client does not read delays the stop for a limited time only', async () => {
  const origin = await serve({ drainTimeout: 20_000 })
  expect((await (await fetch(origin + large)).arrayBuffer()).byteLength).toBeGreaterThan(8_000_000)
  const { socket } = await send(origin, `GET ${large} HTTP/1.1\r\nHost: x\r\n\r\n`)
  socket.pause()
  await pause(1_500)
  child.signal('SIGTERM')
  // After drainTimeout the process would end with status 1.
  const { code } = await child.ended
  expect({ code, closed: isClosed(), errors: errors() }).toEqual({ code: 0, closed: true, errors: [] })
})

test('a body that comes in slowly, but in time, is answered', async () => {
  const origin = await serve({ drainTimeout: 200_000 })
  const slow = await send(origin, post)
  await pause(200)
  child.signal('SIGTERM')
  for (const part of body.match(/.{1,8}/g)!) {
    await pause(300)
    slow.socket.write(part)
  }
  const { code } = await child.ended
  expect(slow.text()).toMatch(/^HTTP\/1\.1 201 /)
  expect({ code, closed: isClosed() }).toEqual({ code: 0, closed: true })
})

test('threads that end with the process are not reported as failures', async () => {
  const origin = await serve({ drainTimeout: 100_000 })
  await send(origin, post + body.slice(0, 5))
  await pause(200)
  child.signal('SIGTERM')
  await pause(300)
  child.signal('SIGTERM')
  expect(await child.ended).toMatchObject({ code: 1 })
  expect(errors()).toEqual([])
})
