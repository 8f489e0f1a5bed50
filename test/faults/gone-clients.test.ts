// Reads whose clients have left (R16): they are not begun, and those under way end, so that whoever asks next does not
// wait for answers that nobody takes.
import { connect } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { managed, scrape, sumOf } from '../support/management.js'
import { serveGolden } from '../support/serve.js'
import { type Child, copyGolden, remove, start } from './child.js'
import { grow } from './grow.js'

let [folder, origin]: string[] = []
let child: Child
beforeAll(async () => {
  folder = await copyGolden({ limits: { readTimeout: 60_000, cacheBytes: 0 } })
  grow(join(folder, '.tmp', 'data.db'), 20_000)
  child = start(folder)
  origin = await child.origin
})
afterAll(async () => {
  child.process.kill('SIGKILL')
  await child.ended
  await remove(folder!)
})

/** Sends requests, each on a connection of its own, and resets them after `milliseconds`. */
async function leave(paths: readonly string[], milliseconds: number): Promise<void> {
  const { port } = new URL(origin!)
  const sockets = await Promise.all(
    paths.map(
      (path) =>
        new Promise<ReturnType<typeof connect>>((resolve, reject) => {
          const socket = connect(Number(port), '127.0.0.1')
          socket.on('error', reject)
          socket.on('connect', () => socket.write(`GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`, () => resolve(socket)))
        }),
    ),
  )
  await new Promise((resolve) => setTimeout(resolve, milliseconds))
  for (const socket of sockets) socket.resetAndDestroy()
}

/** Milliseconds of an answer. */
async function timeOf(path: string): Promise<number> {
  const started = performance.now()
  const response = await fetch(origin + path)
  expect(response.status).toBe(200)
  await response.arrayBuffer()
  return performance.now() - started
}

const light = '/api/tags?pagination[pageSize]=3'

test('four hundred abandoned answers of a megabyte are not made: a light read comes at once', async () => {
  const heavy = '/api/articles?pagination[pageSize]=100&populate=*&locale=*'
  await timeOf(heavy)
  const one = await timeOf(heavy)
  await leave(Array(400).fill(heavy), 50)
  expect(await timeOf(light), `one takes ${Math.round(one)} ms`).toBeLessThan(one * 50)
})

test('abandoned scans leave their threads at once', async () => {
  const scan = (index: number) =>
    `/api/articles?locale=*&sort=rank&${Array.from({ length: 40 }, (_, at) => `filters[$or][${at}][body][$containsi]=zz${index}${at}`).join('&')}`
  const one = await timeOf(scan(99))
  await leave(
    Array.from({ length: 30 }, (_, index) => scan(index)),
    300,
  )
  expect(await timeOf(light), `one takes ${Math.round(one)} ms`).toBeLessThan(one * 5)
})

test('answers that wait behind others on a connection end with it', async () => {
  const served = await serveGolden({ config: { ...managed, limits: { cacheBytes: 0 } } })
  try {
    const active = async () => sumOf(await scrape(served), 'http_server_active_requests')
    const socket = connect(Number(new URL(served.origin).port), '127.0.0.1')
    socket.on('error', () => {})
    socket.pause()
    const path = '/api/articles?pagination[pageSize]=100&populate=*&locale=*'
    socket.write(`GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`.repeat(200))
    await vi.waitFor(async () => expect(await active()).toBeGreaterThan(100), 10_000)
    socket.resetAndDestroy()
    await vi.waitFor(async () => expect(await active()).toBe(0), 10_000)
  } finally {
    await served.close()
  }
})

test('event streams that wait behind others on a connection end with it', async () => {
  const served = await serveGolden({ config: { events: { stream: true }, limits: { eventStreamsPerAddress: 5 } } })
  try {
    const { port } = new URL(served.origin)
    const request = 'GET /api/events HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n'
    const opened = (text: string) =>
      new Promise<ReturnType<typeof connect>>((resolve) => {
        const socket = connect(Number(port), '127.0.0.1', () => socket.write(text))
        socket.on('error', () => {})
        socket.once('data', () => resolve(socket))
      })
    const status = async () => {
      const response = await fetch(`${served.origin}/api/events`)
      await response.body?.cancel()
      return response.status
    }
    ;(await opened(request.repeat(8))).resetAndDestroy()
    await vi.waitFor(async () => expect(await status()).toBe(200), 10_000)
  } finally {
    await served.close()
  }
})
