// Deliberately slow clients: with headers, with bodies, with reading responses. Their connections end, and others are served.
import { connect, type Socket } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import type { Served } from '../support/serve.js'
import { goldenTokens, serveGolden } from '../support/serve.js'
import { until } from '../support/until.js'

let served: Served
let sockets: Socket[] = []
afterEach(async () => {
  for (const socket of sockets) socket.destroy()
  sockets = []
  await served.close()
})

const pause = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds))

interface Slow {
  readonly socket: Socket
  text(): string
  readonly closed: Promise<void>
}

function open(sent: string | Buffer): Promise<Slow> {
  return new Promise((resolve) => {
    const socket = connect(Number(new URL(served.origin).port), '127.0.0.1')
    sockets.push(socket)
    let text = ''
    socket.on('data', (bytes) => {
      text += bytes.toString('latin1')
    })
    socket.on('error', () => {})
    const closed = new Promise<void>((done) => socket.once('close', () => done()))
    socket.once('connect', () => socket.write(sent, () => resolve({ socket, text: () => text, closed })))
  })
}

test('O08 headers that never end: 408, and the connection ends, however long the client goes on', async () => {
  served = await serveGolden({ config: { limits: { requestTimeout: 3_000, connections: 20 } } })
  const slow = await Promise.all(Array.from({ length: 20 }, () => open('GET / HTTP/1.1\r\nHost: x\r\nX-')))
  const dripping = setInterval(() => {
    for (const { socket } of slow) socket.write('a')
  }, 50)
  await Promise.all(slow.map(({ closed }) => closed))
  clearInterval(dripping)
  for (const one of slow) expect(one.text()).toMatch(/^HTTP\/1\.1 408 /)
  expect((await served.request('/_health')).status).toBe(204)
})

test('O09 responses that are not read make room for others, and end', async () => {
  served = await serveGolden({ config: { limits: { maxBufferedResponseBytes: 12_000_000, responseTimeout: 6_000 } } })
  const large = '/api/articles?populate[tags][populate][articles][populate][tags]=true&pagination[pageSize]=25'
  const size = (await served.request(large)).text.length
  expect(size).toBeGreaterThan(500_000)
  const count = Math.ceil(11_000_000 / size)
  const slow = await Promise.all(
    Array.from({ length: count }, async (_, index) => {
      const one = await open(`GET ${large}&z=${index} HTTP/1.1\r\nHost: x\r\n\r\n`)
      one.socket.pause()
      return one
    }),
  )
  await until('there is room for others', async () => (await served.request(`${large}&beside=1`)).status === 200)
  for (let index = 0; index < 3; index++) expect((await served.request(`${large}&beside=${index}`)).status).toBe(200)
  // Those that were not cut for others are when their time is over; only then do they read.
  await pause(7_000)
  for (const { socket } of slow) socket.resume()
  await Promise.all(slow.map(({ closed }) => closed))
})

test('O09 an address within its share keeps its responses, however new those of a repeating address are', async () => {
  const answer = 6_000_000
  served = await serveGolden({
    environment: { OCTAVO_TRUST_PROXY: '1' },
    config: { limits: { maxBufferedResponseBytes: 16 * answer } },
  })
  const large = '/api/articles?populate[tags][populate][articles][populate][tags][populate][articles]=true&pagination[pageSize]=10'
  const size = (await served.request(large)).text.length
  expect([size > 0.8 * answer, size < 1.2 * answer], String(size)).toEqual([true, true])
  const begin = async (address: string, index: number) => {
    const one = await open(`GET ${large}&z=${index} HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: ${address}\r\nConnection: close\r\n\r\n`)
    await new Promise<void>((begun) =>
      one.socket.once('data', () => {
        one.socket.pause()
        begun()
      }),
    )
    return one
  }
  const steady = await Promise.all(['8.8.4.1', '8.8.4.2', '8.8.4.3'].map(begin))
  await pause(2_500)
  const gaveWay: boolean[] = []
  for (let round = 0; round < 2; round++) {
    const greedy = await Promise.all(Array.from({ length: 9 }, (_, index) => begin('9.9.9.9', index)))
    await pause(1_000)
    for (const { socket } of greedy) socket.resume()
    await Promise.all(greedy.map(({ closed }) => closed))
    gaveWay.push(greedy.some((one) => one.text().length < size))
  }
  for (const { socket } of steady) socket.resume()
  await Promise.all(steady.map(({ closed }) => closed))
  for (const one of steady) expect([one.text().slice(9, 12), one.text().length > size]).toEqual(['200', true])
  expect(gaveWay).toEqual([true, true])
})

test('O10 bodies that never end are bounded together, and make room for one that comes', async () => {
  served = await serveGolden({ config: { limits: { maxBufferedBodyBytes: 5_000_000, authRateLimit: 0 } } })
  const part = Buffer.alloc(400_000, 'x')
  const head = 'POST /api/auth/local HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 1000000\r\n\r\n'
  const slow: Slow[] = []
  for (let index = 0; index < 12; index++) slow.push(await open(Buffer.concat([Buffer.from(head), part])))
  await pause(1_500)
  const body = JSON.stringify({ identifier: 'nobody', password: 'x'.repeat(600_000) })
  const answer = await served.request('/api/auth/local', { method: 'POST', headers: { 'content-type': 'application/json' }, body })
  expect(answer.status).toBe(400)
  await until('one gives way', () => slow.some((one) => one.text().startsWith('HTTP/1.1 503 ')))
  expect(slow.filter((one) => one.text() !== '').length).toBeLessThan(6)
})

test('fields of forms that never end are bounded with the bodies; forms with a few words in them stay', async () => {
  served = await serveGolden({ config: { limits: { maxBufferedBodyBytes: 2_000_000 } } })
  const field = (name: string, bytes: number) => `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${'x'.repeat(bytes)}\r\n`
  const form = (content: string) =>
    open(
      `POST /api/upload HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${goldenTokens().full}\r\nContent-Type: multipart/form-data; boundary=b\r\nContent-Length: 9000000\r\n\r\n${content}--b`,
    )
  const small = await form(field('fileInfo', 1_000))
  const slow: Slow[] = []
  for (let index = 0; index < 10; index++) slow.push(await form([1, 2, 3].map((part) => field(`a${part}`, 90_000)).join('')))
  await pause(1_500)
  slow.push(await form([1, 2, 3].map((part) => field(`a${part}`, 90_000)).join('')))
  await until('three give way', () => slow.filter((one) => one.text().startsWith('HTTP/1.1 503 ')).length >= 3)
  expect(slow.filter((one) => one.text() === '').length).toBeGreaterThan(3)
  expect(small.text()).toBe('')
})

test('S126 more than 200 headers are 431, not left out', async () => {
  served = await serveGolden()
  const headers = (count: number) => Array.from({ length: count }, (_, index) => `a${index}:\r\n`).join('')
  const many = await open(`GET /api/tags HTTP/1.1\r\nHost: x\r\n${headers(1_500)}\r\n`)
  await many.closed
  expect(many.text()).toMatch(/^HTTP\/1\.1 431 /)
  const few = await open(`GET /api/tags HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${headers(150)}\r\n`)
  await few.closed
  expect(few.text()).toMatch(/^HTTP\/1\.1 200 /)
})
