// Uploads that break off are not errors of the service (R20): they appear in the request log and in its counts, and leave no files.
import { connect } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Served } from '../support/serve.js'
import { serveGolden } from '../support/serve.js'
import { until } from '../support/until.js'
import { file, formOf, leftovers, sample, send, stored, tokens } from './sending.js'

let served: Served
beforeAll(async () => {
  served = await serveGolden({ config: { limits: { slowQuery: 0 } }, environment: { LOG_LEVEL: 'debug' } })
})
afterAll(() => served.close())

const lines = () =>
  served.log.map((line) => JSON.parse(line) as { level: number; msg: string; route?: string; status?: number; aborted?: boolean })

/** Sends a part of an upload and goes: politely, with a reset, or after the request without a word of its body. */
function breakOff(form: Buffer, how: 'end' | 'reset', share: number, chunked: boolean, after: number): Promise<void> {
  const boundary = form.subarray(2, form.indexOf('\r\n')).toString()
  const { port } = new URL(served.origin)
  const length = chunked ? 'Transfer-Encoding: chunked' : `Content-Length: ${form.length}`
  return new Promise((resolve) => {
    const socket = connect(Number(port), '127.0.0.1', () => {
      socket.write(
        `POST /api/upload HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${tokens.full}\r\nContent-Type: multipart/form-data; boundary=${boundary}\r\n${length}\r\n\r\n`,
      )
      const part = form.subarray(0, form.length * share)
      const body = chunked ? Buffer.concat([Buffer.from(`${part.length.toString(16)}\r\n`), part]) : part
      const leave = () => (how === 'end' ? socket.end() : socket.resetAndDestroy())
      socket.write(body, () => (after === 0 ? leave() : setTimeout(leave, after)))
    })
    socket.resume()
    socket.on('error', () => {})
    socket.on('close', () => resolve())
  })
}

test('R20 uploads that break off are lines about requests, not errors', async () => {
  const form = Buffer.from(
    await new Response(formOf([file(Buffer.alloc(300_000, 'x'), 'half.bin'), file(sample('tiny.png'), 'a.png')])).arrayBuffer(),
  )
  const before = [await served.sql('select count(*) from files'), stored(served)]
  const ways = (['end', 'reset'] as const).flatMap((how) =>
    [0, 0.001, 0.5, 0.9999].flatMap((share) => [true, false].map((chunked) => [how, share, chunked] as const)),
  )
  const start = served.log.length
  const all = (after: number) => ways.map(([how, share, chunked]) => breakOff(form, how, share, chunked, after))
  await Promise.all(all(100))
  // Many at once: some connections end before anybody has begun to read their forms.
  await Promise.all([5, 10, 20, 40].flatMap(all))
  const requests = () =>
    lines()
      .slice(start)
      .filter(({ route }) => route === '/api/upload')
  // A reset may take a request away before anybody has read it.
  const least = 5 * ways.filter(([how]) => how === 'end').length
  await until('the requests are logged', () => requests().length >= least)
  await until('no leftovers', () => leftovers(served).length === 0)
  expect(
    lines()
      .slice(start)
      .filter(({ level }) => level >= 40),
  ).toEqual([])
  expect(requests().every(({ status = 0, aborted }) => aborted === true || status === 400)).toBe(true)
  expect([await served.sql('select count(*) from files'), stored(served)]).toEqual(before)
  expect((await send(served, [file(sample('tiny.png'), 'after.png')])).status).toBe(201)
})
