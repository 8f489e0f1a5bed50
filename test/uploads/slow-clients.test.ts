// Files of the media library for clients that do not receive them: the time in memory is bounded.
import { randomBytes } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, vi } from 'vitest'
import { contentType } from '../spec/library.js'
import { managed, scrape, sumOf } from '../support/management.js'
import { rule } from '../support/rule.js'
import { type Served, serveProject } from '../support/serve.js'
import { patience } from '../support/until.js'

let served: Served
beforeAll(async () => {
  const limits = { compressionBytes: 1_600_000_000, responseTimeout: 1_000 }
  served = await serveProject(contentType('note', { name: { type: 'string' } }), { config: { ...managed, limits } })
  const folder = join(served.folder, 'public', 'uploads')
  mkdirSync(folder, { recursive: true })
  // More than the buffers of a connection hold, also where it is compressed.
  writeFileSync(join(folder, 'large.txt'), randomBytes(20_000_000).toString('hex'))
})
afterAll(() => served?.close())

rule('headers.17', 'a compressed file is not held for a client that does not receive it', async () => {
  const socket = connect(Number(new URL(served.origin).port), '127.0.0.1')
  socket.on('error', () => {})
  socket.pause()
  socket.write('GET /uploads/large.txt HTTP/1.1\r\nHost: x\r\nAccept-Encoding: gzip\r\n\r\n')
  // A response is counted once its connection is closed, here by the service.
  const ended = async () => sumOf(await scrape(served), 'http_server_request_duration_seconds_count', { http_route: '/uploads/*' })
  await vi.waitFor(async () => expect(await ended()).toBe(1), patience)
  socket.destroy()
})
