// Requests while the service stops (R50): those sent before it stopped listening are answered from any stage of processing,
// and the responses announce that they are the last.
import { connect, type Socket } from 'node:net'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { until } from '../support/until.js'
import type { Child } from './child.js'
import { copyGolden, remove, start } from './child.js'

let folder: string
let child: Child
let sockets: Socket[]
beforeEach(() => {
  sockets = []
})
afterEach(async () => {
  for (const socket of sockets) socket.destroy()
  child.process.kill('SIGCONT')
  child.process.kill('SIGKILL')
  await child.ended
  await remove(folder)
})

const pause = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds))
const asking = (path: string) => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`

interface Talk {
  readonly socket: Socket
  text(): string
  answers(): number
  readonly closed: Promise<string>
}

/** A connection that sends a text and collects the response. */
function talk(origin: string, sent: string): Promise<Talk> {
  return new Promise((resolve, reject) => {
    const socket = connect(Number(new URL(origin).port), '127.0.0.1')
    sockets.push(socket)
    let text = ''
    let how = 'closed'
    socket.on('data', (bytes) => {
      text += bytes
    })
    const closed = new Promise<string>((ended) => socket.on('close', () => ended(how)))
    socket.on('error', ({ code }: NodeJS.ErrnoException) => {
      how = code ?? 'error'
      reject(new Error(code))
    })
    const answers = () => text.split('HTTP/1.1 200 ').length - 1
    socket.once('connect', () => socket.write(sent, () => resolve({ socket, text: () => text, answers, closed })))
  })
}

test.each([1, 2, 3])('a starved process answers the requests in its queues when it is stopped (round %i)', async () => {
  folder = await copyGolden()
  child = start(folder)
  const origin = await child.origin
  const kept = await Promise.all(Array.from({ length: 40 }, () => talk(origin, asking('/api/tags?pagination[pageSize]=1'))))
  while (kept.some((one) => one.answers() === 0)) await pause(20)
  // Nothing is read or accepted from here on, until the signal comes: first or last in line.
  child.process.kill('SIGSTOP')
  for (const { socket } of kept.slice(0, 20)) socket.write(asking('/api/tags?pagination[pageSize]=2'))
  for (const { socket } of kept.slice(20, 30)) socket.write(asking('/api/tags?pagination[pageSize]=3').repeat(5))
  const added = await Promise.all(Array.from({ length: 60 }, () => talk(origin, asking('/api/tags?pagination[pageSize]=4'))))
  await pause(50)
  child.signal('SIGTERM')
  child.process.kill('SIGCONT')
  const ends = await Promise.all([...kept, ...added].map(({ closed }) => closed))
  expect(ends.filter((end) => end !== 'closed')).toEqual([])
  expect({
    idle: kept.slice(0, 20).map((one) => one.answers()),
    pipelined: kept.slice(20, 30).map((one) => one.answers()),
    backlog: added.map((one) => one.answers()),
  }).toEqual({ idle: Array(20).fill(2), pipelined: Array(10).fill(6), backlog: Array(60).fill(1) })
  // No response announces that it is the last while another follows.
  for (const one of [...kept, ...added]) {
    const earlier = one.text().split('HTTP/1.1 ').slice(1, -1)
    expect(earlier.filter((head) => /^connection: close/im.test(head))).toEqual([])
  }
  expect(await child.ended).toMatchObject({ code: 0 })
})

test('during drainDelay everything is served, responses close their connections, and health is 503', async () => {
  folder = await copyGolden({ limits: { drainDelay: 6_000 } })
  child = start(folder)
  const origin = await child.origin
  const kept = await talk(origin, asking('/api/tags'))
  while (kept.answers() === 0) await pause(20)
  child.signal('SIGTERM')
  let health = await fetch(`${origin}/_health`)
  await until('the service knows', async () => {
    health = await fetch(`${origin}/_health`)
    return health.status === 503
  })
  expect(health.headers.get('retry-after')).not.toBeNull()
  const added = await talk(origin, asking('/api/tags'))
  kept.socket.write(asking('/api/tags'))
  expect(await Promise.all([kept.closed, added.closed])).toEqual(['closed', 'closed'])
  expect([kept.answers(), added.answers()]).toEqual([2, 1])
  expect(added.text()).toMatch(/^connection: close/im)
  const { code, after } = await child.ended
  expect(code).toBe(0)
  expect(after).toBeGreaterThan(5_900)
  // A planned stop is nothing to be woken for.
  expect(
    child
      .output()
      .split('\n')
      .filter((line) => /"level":[56]0/.test(line)),
  ).toEqual([])
})

test('SIGINT waits for no balancer', async () => {
  folder = await copyGolden({ limits: { drainDelay: 3_600_000 } })
  child = start(folder)
  await child.origin
  child.signal('SIGINT')
  expect(await child.ended).toMatchObject({ code: 0 })
})
