// Bodies that break off, or do not come in: lines about requests in the log and no errors of the service (R20).
import { connect } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { rule } from '../support/rule.js'
import { goldenTokens, type Served, serveGolden } from '../support/serve.js'
import { until } from '../support/until.js'

let served: Served
afterEach(() => served.close())

const pause = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds))
const body = JSON.stringify({ data: { name: 'x'.repeat(2_000) } })

/** Sends a part of a body; then ends, resets or keeps the connection, or continues byte by byte. Resolves to the received text when it is closed. */
function sendPart(path: string, how: 'end' | 'reset' | 'keep' | 'drip', share: number, chunked = false): Promise<string> {
  const length = chunked ? 'Transfer-Encoding: chunked' : `Content-Length: ${body.length}`
  const head = `POST ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${goldenTokens().full}\r\nContent-Type: application/json\r\n${length}\r\n\r\n`
  const part = body.slice(0, body.length * share)
  return new Promise((resolve) => {
    let text = ''
    const socket = connect(Number(new URL(served.origin).port), '127.0.0.1', async () => {
      socket.write(head + (chunked && part !== '' ? `${part.length.toString(16)}\r\n${part}\r\n` : part))
      await pause(100)
      if (how === 'end') socket.end()
      if (how === 'reset') socket.resetAndDestroy()
      while (how === 'drip' && !socket.destroyed) {
        socket.write('x')
        await pause(100)
      }
    })
    socket.on('data', (bytes) => {
      text += bytes.toString('latin1')
    })
    socket.on('error', () => {})
    socket.on('close', () => resolve(text))
  })
}

const lines = () => served.log.map((line) => JSON.parse(line) as { level: number; msg: string; route?: string; status?: number })

test('bodies that break off are lines about requests, not errors', async () => {
  served = await serveGolden({ config: { limits: { slowQuery: 0 } } })
  const ways = (['end', 'reset'] as const).flatMap((how) =>
    [0, 0.01, 0.5, 0.99].flatMap((share) => [true, false].map((chunked) => [how, share, chunked] as const)),
  )
  await Promise.all(['/api/tags', '/api/auth/local'].flatMap((path) => ways.map(([...way]) => sendPart(path, ...way))))
  const answered = await served.request('/api/tags')
  expect(answered.status).toBe(200)
  await until('all requests are logged', () => lines().filter(({ route }) => route !== undefined).length > 2 * ways.length)
  expect(lines().filter(({ level }) => level >= 40)).toEqual([])
  expect(lines().filter(({ route }) => route !== undefined).length).toBe(2 * ways.length + 1)
})

test('a body that does not come in is 408, however its client goes on, and the connection ends', async () => {
  served = await serveGolden({ config: { limits: { requestTimeout: 1_000, slowQuery: 0 } } })
  const late = await Promise.all([
    sendPart('/api/tags', 'keep', 0.5),
    sendPart('/api/tags', 'keep', 0.5, true),
    sendPart('/api/tags', 'drip', 0.1),
  ])
  for (const text of late) {
    expect(text).toMatch(/^HTTP\/1\.1 408 /)
    expect(JSON.parse(text.slice(text.indexOf('\r\n\r\n')))).toMatchObject({
      data: null,
      error: { status: 408, name: 'RequestTimeoutError' },
    })
  }
  expect(lines().filter(({ level }) => level >= 40)).toEqual([])
  expect(lines().filter(({ status }) => status === 408).length).toBe(late.length)
})

rule('errors.10', 'a client that reads when it has sent everything finds the response that came early', async () => {
  served = await serveGolden({ config: { limits: { uploadBytes: 1_000_000 } } })
  const [pieces, piece] = [35, Buffer.alloc(100_000)]
  const head = `POST /api/upload HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${goldenTokens().full}\r\nContent-Type: multipart/form-data; boundary=x\r\n`
  const socket = connect(Number(new URL(served.origin).port), '127.0.0.1')
  const failed: Error[] = []
  socket.on('error', (error) => failed.push(error))
  socket.pause()
  socket.write(`${head}Content-Length: ${pieces * piece.length}\r\n\r\n`)
  for (let sent = 0; sent < pieces; sent++) {
    await pause(100)
    socket.write(piece)
  }
  let text = ''
  socket.on('data', (bytes) => {
    text += bytes.toString('latin1')
  })
  socket.resume()
  await until('the response is there', () => text.includes('}}') || failed.length > 0)
  socket.destroy()
  expect(failed).toEqual([])
  expect(text).toMatch(/^HTTP\/1\.1 413 /)
  expect(text).toContain('The form is too large')
})
