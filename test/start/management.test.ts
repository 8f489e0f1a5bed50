// The management port of processes: its end when the service stops, and ports in use.
import { readdirSync } from 'node:fs'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { afterAll, afterEach, expect, vi } from 'vitest'
import { type Child, copyGolden, remove, start } from '../faults/child.js'
import { contentType } from '../spec/library.js'
import { managementOrigin } from '../support/management.js'
import { rule } from '../support/rule.js'
import { requestAt } from '../support/serve.js'
import { patience } from '../support/until.js'
import { octavo, project, removeProjects } from './command.js'

const notes = contentType('note', { name: { type: 'string' } })

let child: Child | null = null
let folder: string | null = null
afterEach(async () => {
  child?.process.kill('SIGKILL')
  await child?.ended
  if (folder !== null) await remove(folder)
  child = folder = null
})
afterAll(removeProjects)

/** A port in use. */
async function takenPort(): Promise<{ readonly port: number; readonly server: Server }> {
  const server = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  return { port: (server.address() as AddressInfo).port, server }
}

rule('operations.4', 'a stopping service is not ready at once, keeps serving, and closes the management port last', async () => {
  folder = await copyGolden({ limits: { drainDelay: 10_000 }, management: { port: 0 } })
  child = start(folder)
  const origin = await child.origin
  const management = managementOrigin(child.output().split('\n'))!
  expect((await requestAt(management, '/ready')).status).toBe(200)
  child.signal('SIGTERM')
  await vi.waitFor(async () => expect((await requestAt(management, '/ready')).status).toBe(503), patience)
  const { body } = await requestAt(management, '/ready')
  expect(body).toEqual({ status: 'not ready', failing: [{ part: 'service', problem: 'The service is stopping' }] })
  // Requests are still served now.
  expect((await requestAt(origin, '/api/tags')).status).toBe(200)
  expect((await requestAt(management, '/live')).status).toBe(200)
  // Once the service accepts no more connections, the management port still responds, or the process has ended.
  const refused = vi.fn()
  for (;;) {
    const isServed = await requestAt(origin, '/api/tags').then(
      () => true,
      () => false,
    )
    if (!isServed) break
    const ready = await requestAt(management, '/ready')
    refused(ready.status)
    expect(ready.status).toBe(503)
  }
  expect(refused).toHaveBeenCalled()
  expect(await child.ended).toMatchObject({ code: 0 })
})

rule('operations.3', 'while the database is prepared, the port responds: live, and not ready', async () => {
  // A database server that does not respond yet.
  const { port, server } = await takenPort()
  folder = project({ ...notes, 'octavo.config.json': { management: { port: 0 } } })
  child = start(folder, {
    ...{ DATABASE_CLIENT: 'postgres', DATABASE_URL: `postgres://octavo@127.0.0.1:${port}/octavo` },
    ...{ API_TOKEN_SALT: 'a salt of API tokens', JWT_SECRET: 'a secret of users', ADMIN_JWT_SECRET: 'a secret of administrators' },
  })
  // It does not listen, and is ended by the test.
  child.origin.catch(() => {})
  const management = await vi.waitFor(() => {
    const origin = managementOrigin(child!.output().split('\n'))
    expect(origin).not.toBeNull()
    return origin!
  }, patience)
  expect((await requestAt(management, '/live')).status).toBe(200)
  const { status, body } = await requestAt(management, '/ready')
  expect([status, body]).toEqual([503, { status: 'not ready', failing: [{ part: 'service', problem: 'The service does not listen yet' }] }])
  const { text } = await requestAt(management, '/metrics')
  expect(text).toContain('octavo_ready 0')
  // A metric without requests has no value yet.
  expect(text).not.toMatch(/^octavo_schema_version/m)
  server.close()
})

rule('operations.6', 'a management port in use, or that of the service, ends the start with a sentence; octavo dev goes on', async () => {
  const { port, server } = await takenPort()
  const inUse = project(notes)
  const { status, err } = await octavo(['start', inUse], { OCTAVO_MANAGEMENT_PORT: String(port) })
  expect(err).toBe(`octavo: Port ${port} is in use by another process. Stop that process, or set OCTAVO_MANAGEMENT_PORT to another port.\n`)
  expect(status).toBe(1)
  expect(readdirSync(inUse)).toEqual(['src'])
  const same = await octavo(['start', project(notes)], { PORT: '5000', OCTAVO_MANAGEMENT_PORT: '5000' })
  expect(same.err).toMatch(/^octavo: OCTAVO_MANAGEMENT_PORT is 5000, which is the port of the service itself/)
  const nowhere = await octavo(['start', project(notes)], { OCTAVO_MANAGEMENT_PORT: '0', OCTAVO_MANAGEMENT_HOST: 'nobody.invalid' })
  expect(nowhere.err).toBe('octavo: OCTAVO_MANAGEMENT_HOST is "nobody.invalid", which is not an address of this machine.\n')
  const developed = await octavo(['dev', project(notes)], { OCTAVO_MANAGEMENT_PORT: String(port) })
  expect(developed.out).toMatch(/there is no management port: Port \d+ is in use/)
  expect(developed.out).toContain('Octavo serves')
  server.close()
})
