// Streams that custom routes return, and the end of routes when their clients leave or the service stops.
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { Readable } from 'node:stream'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach, expect } from 'vitest'
import type { CustomRoute, RouteCall } from '../../src/foundation/public/routes.js'
import { rule } from '../support/rule.js'
import { briefLimits, type Served, serveProject } from '../support/serve.js'
import { patience } from '../support/until.js'

let handle: (call: RouteCall) => unknown = () => 'nothing to do'
const route = (method: CustomRoute['method'], path: string): CustomRoute => ({ method, path, auth: false, handle: (call) => handle(call) })
const serve = (limits: object = {}) =>
  serveProject(
    {},
    { config: { limits: { routeTimeout: 1_000, ...limits } }, code: { routes: [route('GET', '/stream'), route('POST', '/act')] } },
  )

let served: Served
beforeAll(async () => {
  served = await serve()
})
afterAll(() => served.close())
beforeEach(() => {
  handle = () => 'nothing to do'
})

const logged = (since: number, text: string): Promise<void> => expect.poll(() => served.log.slice(since).join(''), patience).toContain(text)

/** A client that reads only on request. */
async function open(path = '/api/stream', of: Served = served): Promise<{ socket: Socket; text: () => string }> {
  const { hostname, port } = new URL(of.origin)
  const socket = connect(Number(port), hostname)
  let text = ''
  socket.on('data', (bytes) => {
    text += bytes
  })
  socket.on('error', () => {})
  await once(socket, 'connect')
  socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`)
  return { socket, text: () => text }
}

rule('routes.8', 'iterables, streams and the bodies of responses are sent piece by piece', async () => {
  async function* words() {
    yield 'one '
    await pause(50)
    yield Buffer.from('two ')
    await pause(50)
    yield 'three'
  }
  const streams: readonly (() => unknown)[] = [
    words,
    () => new Response(words() as never),
    () => Readable.from(words()),
    () => Readable.toWeb(Readable.from(words())),
    () => ({ [Symbol.asyncIterator]: () => words() }),
  ]
  for (const stream of streams) {
    handle = stream
    const response = await fetch(`${served.origin}/api/stream`)
    expect([response.status, response.headers.get('transfer-encoding'), await response.text()]).toEqual([200, 'chunked', 'one two three'])
  }
  handle = () => Response.json({ short: true })
  expect((await served.request('/api/stream')).headers.get('content-length')).toBe('14')
  handle = async function* nothing() {}
  expect((await served.request('/api/stream')).headers.get('content-length')).toBe('0')
  // The head of a response does not wait for a stream that begins late.
  const { promise, resolve } = withResolver()
  handle = async function* late() {
    await promise
    yield 'at last'
  }
  const response = await fetch(`${served.origin}/api/stream`)
  expect(response.status).toBe(200)
  resolve()
  expect(await response.text()).toBe('at last')
})

function withResolver(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let resolve = (): void => {}
  const promise = new Promise<void>((settle) => {
    resolve = settle
  })
  return { promise, resolve }
}

rule('routes.8', 'a stream is as fast as its client, and ends when the client leaves', async () => {
  let [yielded, ended, signal] = [0, false, null as AbortSignal | null]
  handle = (call) => {
    signal = call.signal
    return (async function* () {
      try {
        for (;;) {
          yielded++
          yield Buffer.alloc(100_000, 'x')
        }
      } finally {
        ended = true
      }
    })()
  }
  const { socket, text } = await open()
  await expect.poll(() => text().length, patience).toBeGreaterThan(1_000_000)
  socket.pause()
  // The socket buffers of both sides hold a few megabytes.
  let before = -1
  let polls = 0
  const stands = (): boolean => {
    polls = before === yielded ? polls + 1 : 0
    before = yielded
    return polls >= 20
  }
  await expect.poll(stands, patience).toBe(true)
  const stopped = yielded
  expect(stopped).toBeLessThan(text().length / 100_000 + 400)
  socket.resume()
  await expect.poll(() => yielded, patience).toBeGreaterThan(stopped + 10)
  expect([ended, signal!.aborted]).toEqual([false, false])
  socket.destroy()
  await expect.poll(() => [ended, signal!.aborted], patience).toEqual([true, true])
  expect((signal!.reason as Error).name).toBe('ClientClosedRequestError')
})

rule('routes.8', 'a hanging stream ends when the client leaves, also before its first byte', async () => {
  let cancelled = 0
  const hanging = () => new ReadableStream({ pull: () => new Promise(() => {}), cancel: () => void cancelled++ }, { highWaterMark: 0 })
  handle = hanging
  const first = await open()
  await expect.poll(first.text, patience).toContain('200 OK')
  first.socket.destroy()
  await expect.poll(() => cancelled, patience).toBe(1)
  // The client leaves while the function still works.
  const { promise, resolve } = withResolver()
  let working: AbortSignal | null = null
  handle = async ({ signal }) => {
    working = signal
    await promise
    return hanging()
  }
  const second = await open()
  await expect.poll(() => working?.aborted, patience).toBe(false)
  second.socket.destroy()
  await expect.poll(() => working?.aborted, patience).toBe(true)
  resolve()
  await expect.poll(() => cancelled, patience).toBe(2)
  // A result that comes after the response.
  handle = async () => {
    await pause(1_300)
    return hanging()
  }
  expect((await served.request('/api/stream')).status).toBe(503)
  await expect.poll(() => cancelled, patience).toBe(3)
  // HEAD has no body.
  handle = hanging
  const head = await fetch(`${served.origin}/api/stream`, { method: 'HEAD' })
  expect([head.status, head.headers.get('content-type')]).toEqual([200, 'application/octet-stream'])
  await expect.poll(() => cancelled, patience).toBe(4)
})

rule('routes.8', 'a failing stream is 500 before its first byte, and cut off afterwards', async () => {
  handle = async function* broken() {
    if (Date.now() > 0) throw new Error('failed at once')
    yield ''
  }
  let since = served.log.length
  const answer = await served.request('/api/stream')
  expect([answer.status, answer.body.error.message]).toEqual([500, 'Internal Server Error'])
  await logged(since, 'failed at once')

  const cut: readonly (readonly [() => unknown, string])[] = [
    [
      async function* () {
        yield 'a beginning'
        await pause(50)
        throw new Error('failed later')
      },
      'failed later',
    ],
    [
      async function* () {
        yield 'a beginning'
        await pause(50)
        yield { not: 'bytes' }
      },
      'a stream yielded a value of the type object, which is neither a text nor bytes',
    ],
    [() => new Response(slowly('x'.repeat(20)) as never, { headers: { 'content-length': '10' } }), 'CONTENT_LENGTH_MISMATCH'],
    [() => new Response(slowly('x'.repeat(5)) as never, { headers: { 'content-length': '10' } }), 'CONTENT_LENGTH_MISMATCH'],
  ]
  for (const [stream, message] of cut) {
    handle = stream
    since = served.log.length
    const { socket, text } = await open()
    await once(socket, 'close')
    expect(text()).toContain('200 OK')
    expect(text().endsWith('0\r\n\r\n')).toBe(false)
    await logged(since, message)
    expect(served.log.slice(since).join('')).toContain('the stream of a response failed')
  }
  handle = () => new Response(slowly('x'.repeat(10)) as never, { headers: { 'content-length': '10' } })
  const right = await served.request('/api/stream')
  expect([right.text, right.headers.get('content-length')]).toEqual(['x'.repeat(10), '10'])
})

async function* slowly(text: string) {
  yield Buffer.from(text.slice(0, 1))
  await pause(50)
  for (const character of text.slice(1)) yield Buffer.from(character)
}

rule('routes.8', 'an idle stream is ended, but no connection whose function may still return', async () => {
  const impatient = await serve({ ...briefLimits, routeTimeout: 12_000 })
  try {
    let signal: AbortSignal | null = null
    async function* silent(call: RouteCall) {
      signal = call.signal
      yield 'the only word'
      await new Promise((resolve) => call.signal.addEventListener('abort', resolve))
    }
    handle = (call) => (call.request.method === 'POST' ? pause(9_000).then(() => 'in time') : silent(call))
    const act = fetch(`${impatient.origin}/api/act`, { method: 'POST' }).then((response) => response.json())
    const { socket, text } = await open('/api/stream', impatient)
    expect(await act).toBe('in time')
    if (!socket.closed) await once(socket, 'close')
    expect(text()).toContain('the only word')
    await expect.poll(() => signal?.aborted, patience).toBe(true)
  } finally {
    await impatient.close()
  }
})

rule('routes.12', 'a shutdown waits for responses, and notifies endless streams', async () => {
  const stopped = await serve({ routeTimeout: 60_000 })
  const begun: string[] = []
  handle = ({ request, stopping }) => {
    begun.push(request.method)
    if (request.method === 'POST') return pause(500).then(() => 'in time')
    return (async function* () {
      yield 'first '
      if (!stopping.aborted) await new Promise((resolve) => stopping.addEventListener('abort', resolve))
      yield 'last'
    })()
  }
  const stream = fetch(`${stopped.origin}/api/stream`).then((response) => response.text())
  const act = fetch(`${stopped.origin}/api/act`, { method: 'POST' }).then((response) => response.json())
  await expect.poll(() => [...begun].sort(), patience).toEqual(['GET', 'POST'])
  const closed = stopped.close()
  expect(await Promise.all([stream, act])).toEqual(['first last', 'in time'])
  await closed
  expect(stopped.log.join('')).not.toContain('stalled')
})
