// The management port on a real service: probes, refusals, and its absence by default.
import { renameSync } from 'node:fs'
import { connect } from 'node:net'
import { afterAll, beforeAll, expect, vi } from 'vitest'
import { isOnServer } from '../support/databases.js'
import { managed, managementOrigin, requestManagement } from '../support/management.js'
import { rule } from '../support/rule.js'
import { type Served, serveProject } from '../support/serve.js'
import { patience } from '../support/until.js'
import { access, contentType, plain, reading, seeded } from './library.js'

const notes = { ...contentType('note', { name: { type: 'string' } }), ...seeded('note', plain({ first: {} })), ...access(reading('note')) }

/** Blocks the event loop for `milliseconds`. */
function block(milliseconds: number): void {
  const end = performance.now() + milliseconds
  while (performance.now() < end);
}

let served: Served
let isBlocking: () => void
const blocking = new Promise<void>((resolve) => {
  isBlocking = resolve
})
beforeAll(async () => {
  const route = {
    method: 'GET',
    path: '/block',
    auth: false,
    handle: async () => {
      isBlocking()
      await new Promise((resolve) => setTimeout(resolve, 50))
      block(7_000)
      return {}
    },
  } as const
  served = await serveProject(notes, { config: managed, code: { routes: [route] } })
})
afterAll(() => served.close())

rule('operations.1', 'there is a management port only where it is configured, and its paths are not those of the service', async () => {
  expect(managementOrigin(served.log)).not.toBeNull()
  for (const path of ['/live', '/ready', '/metrics']) {
    expect((await requestManagement(served, path)).status, path).toBe(200)
    expect((await served.request(path)).status, path).toBe(404)
  }
  expect((await requestManagement(served, '/api/notes')).status).toBe(404)
  expect((await served.request('/_health')).status).toBe(204)
  const without = await serveProject(notes)
  expect(managementOrigin(without.log)).toBeNull()
  await without.close()
})

rule('operations.2', 'GET /live is 503 while the event loop is late, and 200 again afterwards', async () => {
  // A busy machine may have held up the start.
  await vi.waitFor(async () => expect((await requestManagement(served, '/live')).body.status).toBe('live'), patience)
  const blocked = served.request('/api/block')
  await blocking
  // Sent before the event loop is blocked or while it is: the response comes with the first turn after it.
  await vi.waitFor(async () => {
    const { status, body } = await requestManagement(served, '/live')
    expect(status).toBe(503)
    expect(body.status).toBe('late')
    expect(body.eventLoopLag).toBeGreaterThan(5_000)
  }, patience)
  expect((await blocked).status).toBe(200)
  await vi.waitFor(async () => expect((await requestManagement(served, '/live')).status).toBe(200), patience)
})

rule('operations.3', 'GET /ready is 200, and 503 with the failing parts while the database cannot be used', async () => {
  const ready = await requestManagement(served, '/ready')
  expect([ready.status, ready.body]).toEqual([200, { status: 'ready' }])
  if (isOnServer) return
  const sick = await serveProject(notes, { config: managed })
  renameSync(sick.database, `${sick.database}.away`)
  await vi.waitFor(async () => {
    const { status, body } = await requestManagement(sick, '/ready')
    expect(status).toBe(503)
    expect(body).toEqual({ status: 'not ready', failing: [{ part: 'database', problem: expect.stringMatching(/data\.db is gone/) }] })
  }, patience)
  expect((await sick.request('/_health')).status).toBe(503)
  expect((await requestManagement(sick, '/live')).status).toBe(200)
  await sick.close()
})

/** Sends bytes to the management port, and resolves to all that comes until it closes the connection. */
function exchange(sent: string): Promise<string> {
  const { port } = new URL(managementOrigin(served.log)!)
  return new Promise((resolve) => {
    let received = ''
    const socket = connect(Number(port), '127.0.0.1', () => socket.write(sent))
    socket.on('data', (bytes) => {
      received += bytes
    })
    socket.on('error', () => {})
    socket.on('close', () => resolve(received))
  })
}

rule('operations.5', 'other paths are 404, other methods 405, and bodies are bounded', async () => {
  for (const path of ['/', '/metricsx', '/live/', '/%', '/_health']) expect((await requestManagement(served, path)).status, path).toBe(404)
  for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS', 'PATCH']) {
    const { status, headers } = await requestManagement(served, '/live', { method })
    expect([method, status, headers.get('allow')]).toEqual([method, 405, 'GET, HEAD'])
  }
  const head = await requestManagement(served, '/ready?verbose', { method: 'HEAD' })
  expect([head.status, head.text, head.headers.get('cache-control')]).toEqual([200, '', 'no-store'])
  expect(await exchange(`GET /live HTTP/1.1\r\nHost: a\r\nX-Long: ${'a'.repeat(10_000)}\r\n\r\n`)).toMatch(/^HTTP\/1\.1 431 /)
  expect(await exchange('GET /live HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\nab')).toMatch(/^HTTP\/1\.1 200 /)
  expect(await exchange('GET /live HTTP/1.1\r\nHost:')).toMatch(/^HTTP\/1\.1 408 /)
})
