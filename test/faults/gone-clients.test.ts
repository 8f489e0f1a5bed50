// Reads whose clients have left (R16): waiting ones are not begun and running ones end, so that the next reader does not wait for them.
// Work is measured in CPU time, which other processes on the machine do not change.
import { connect } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { cpuMsOf } from '../support/cpu-time.js'
import { managed, scrape, sumOf } from '../support/management.js'
import { serveGolden } from '../support/serve.js'
import { until } from '../support/until.js'
import { type Child, copyGolden, remove, start } from './child.js'
import { grow } from './grow.js'

let [folder, origin]: string[] = []
let child: Child
beforeAll(async () => {
  folder = await copyGolden({ ...managed, limits: { readTimeout: 600_000, cacheBytes: 0 } })
  grow(join(folder, '.tmp', 'data.db'), 60_000)
  child = start(folder)
  origin = await child.origin
})
afterAll(async () => {
  child.process.kill('SIGKILL')
  await child.ended
  await remove(folder!)
})

/** CPU time of the service. */
const cpuTime = (): number => cpuMsOf(child.process.pid!)

const active = async (): Promise<number> => sumOf(await scrape({ log: child.output().split('\n') }), 'http_server_active_requests')!

/** Sends requests, each on a new connection, and resets the connections while most of the requests wait. Returns the CPU time at that point. */
async function leave(paths: readonly string[]): Promise<number> {
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
  await until('most requests wait', async () => (await active()) > paths.length / 2)
  const spent = cpuTime()
  for (const socket of sockets) socket.resetAndDestroy()
  return spent
}

/** Reads a path; returns the CPU time of that. */
async function read(path: string): Promise<number> {
  const spent = cpuTime()
  const response = await fetch(origin + path)
  expect(response.status).toBe(200)
  await response.arrayBuffer()
  return cpuTime() - spent
}

const light = '/api/tags?pagination[pageSize]=3'

test('four hundred abandoned responses of a megabyte are not created', async () => {
  const heavy = '/api/articles?pagination[pageSize]=100&populate=*&locale=*'
  await read(heavy)
  const one = await read(heavy)
  const spent = await leave(Array(400).fill(heavy))
  await read(light)
  await until('no request is left', async () => (await active()) === 0)
  await read(heavy)
  expect(cpuTime() - spent, `one takes ${one} ms`).toBeLessThan(Math.max(one, 10) * 50)
})

test('abandoned scans leave their threads', async () => {
  const scan = (index: number) =>
    `/api/articles?locale=*&sort=rank&${Array.from({ length: 100 }, (_, at) => `filters[$or][${at}][body][$containsi]=zz${index}${at}`).join('&')}`
  await read(scan(98))
  const one = await read(scan(99))
  const spent = await leave(Array.from({ length: 30 }, (_, index) => scan(index)))
  await read(light)
  await until('no request is left', async () => (await active()) === 0)
  // Needs a thread for scans.
  await read(scan(99))
  expect(cpuTime() - spent, `one takes ${one} ms`).toBeLessThan(one * 6)
})

test('responses queued on a connection end with it', async () => {
  const served = await serveGolden({ config: { ...managed, limits: { cacheBytes: 0 } } })
  try {
    const waiting = async () => sumOf(await scrape(served), 'http_server_active_requests')!
    const socket = connect(Number(new URL(served.origin).port), '127.0.0.1')
    socket.on('error', () => {})
    socket.pause()
    const path = '/api/articles?pagination[pageSize]=100&populate=*&locale=*'
    socket.write(`GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`.repeat(200))
    await until('many wait', async () => (await waiting()) > 100)
    socket.resetAndDestroy()
    await until('none waits', async () => (await waiting()) === 0)
  } finally {
    await served.close()
  }
})

test('event streams queued on a connection end with it', async () => {
  const served = await serveGolden({ config: { events: { stream: true } } })
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
    ;(await opened(request.repeat(25))).resetAndDestroy()
    await until('there is room for another stream', async () => (await status()) === 200)
  } finally {
    await served.close()
  }
})
