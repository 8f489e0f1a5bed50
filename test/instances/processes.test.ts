// `octavo start --processes`: several processes on one port, which are replaced, restarted, drained and measured as one service.
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, describe, expect, test, vi } from 'vitest'
import { octavo, project, removeProjects } from '../start/command.js'
import { type Sample, samplesOf, sumOf } from '../support/management.js'
import { rule } from '../support/rule.js'
import { requestAt } from '../support/serve.js'
import { patience } from '../support/until.js'
import {
  allServe,
  canListProcesses,
  childrenOf,
  endAll,
  isRunning,
  lines,
  managementOf,
  notes,
  openLoad,
  requestManagementOf,
  requestOnce,
  run,
  withGate,
} from './started.js'

afterEach(endAll)
afterAll(removeProjects)

/** True if the limits of a running process can be changed. */
const canLimit = spawnSync('prlimit', ['--version']).status === 0
const drain = 'limits: { drainDelay: 500 }'

/** The processes that respond to new connections. */
async function respondents(origin: string): Promise<ReadonlySet<number>> {
  const answers = await Promise.all(Array.from({ length: 12 }, () => requestOnce(origin, '/api/pid')))
  return new Set(answers.map(({ body }) => body.pid as number))
}

describe.skipIf(!canListProcesses)('processes', () => {
  rule('instances.1', 'several processes serve on one port; the project is prepared and announced once', async () => {
    const folder = project(notes())
    const child = run(folder, { OCTAVO_PROCESSES: '3' })
    const origin = await allServe(child, 3)
    expect(await respondents(origin)).toEqual(new Set(childrenOf(child)))
    expect(childrenOf(child)).toHaveLength(3)
    expect((await requestAt(origin, '/api/notes')).body.data).toHaveLength(2)
    for (const once of [/Generated API_TOKEN_SALT and JWT_SECRET/, /created the database and loaded seed/, /Octavo serves/])
      expect(lines(child, once)).toHaveLength(1)
    // All processes read each other's writes.
    for (let index = 0; index < 6; index++) {
      const body = JSON.stringify({ data: { name: `number ${index}` } })
      const headers = { 'content-type': 'application/json', connection: 'close' }
      expect((await requestAt(origin, '/api/notes', { method: 'POST', headers, body })).status).toBe(201)
      const counts = await Promise.all(Array.from({ length: 3 }, () => requestOnce(origin, '/api/notes')))
      expect(counts.map(({ body: { meta } }) => meta.pagination.total)).toEqual(Array(3).fill(3 + index))
    }
  })

  rule('instances.2', 'a process that ends by a kill or by an error in project code is replaced while others serve', async () => {
    const child = run(project(notes(drain)), { OCTAVO_PROCESSES: '2' })
    const origin = await allServe(child, 2)
    const [killed, other] = childrenOf(child)
    process.kill(killed!, 'SIGKILL')
    await vi.waitFor(() => expect(childrenOf(child)).not.toContain(killed), patience)
    expect((await requestOnce(origin, '/api/pid')).status).toBe(200)
    await allServe(child, 2)
    expect(childrenOf(child)).toContain(other)
    expect(lines(child, /a service process ended/)).toHaveLength(1)
    const crashed = (await requestOnce(origin, '/api/pid')).body.pid
    await vi.waitFor(async () => {
      await requestAt(origin, `/api/crash?pid=${crashed}`, { method: 'POST', headers: { connection: 'close' } }).catch(() => null)
      expect(childrenOf(child)).not.toContain(crashed)
    }, patience)
    await allServe(child, 2)
  })

  test.skipIf(!canLimit)('instances.2: where the system starts no other process, those that there are serve on until it does', async () => {
    const child = run(project(notes('limits: { drainDelay: 500 }')), { OCTAVO_PROCESSES: '2' })
    const origin = await allServe(child, 2)
    const limit = (files: number) => spawnSync('prlimit', ['--pid', String(child.process.pid), `--nofile=${files}:4096`])
    const open = readdirSync(`/proc/${child.process.pid}/fd`).length
    const [killed] = childrenOf(child)
    limit(open - 3)
    process.kill(killed!, 'SIGKILL')
    await vi.waitFor(() => expect(lines(child, /"error":"spawn [^"]* EMFILE"/)).not.toEqual([]), patience)
    limit(4_096)
    await allServe(child, 2)
    expect((await requestOnce(origin, '/api/notes')).status).toBe(200)
    child.signal('SIGTERM')
    expect(await child.ended).toMatchObject({ code: 0 })
  })

  rule('instances.3', 'SIGTERM drains all, also where every process gets it; no request fails that was sent before', async () => {
    const child = run(project(notes('limits: { drainDelay: 6_000 }')), { OCTAVO_PROCESSES: '2' })
    const origin = await allServe(child, 2)
    const load = openLoad(origin, '/api/notes')
    await vi.waitFor(() => expect(load.done()).toBeGreaterThan(50), patience)
    const pids = childrenOf(child)
    // As a service manager does.
    for (const pid of pids) process.kill(pid, 'SIGTERM')
    child.signal('SIGTERM')
    await vi.waitFor(async () => expect((await requestManagementOf(child, '/ready')).status).toBe(503), patience)
    const before = load.done()
    await vi.waitFor(() => expect(load.done()).toBeGreaterThan(before + 20), patience)
    expect(await load.stop()).toEqual([])
    const { code } = await child.ended
    expect(code, child.output()).toBe(0)
    expect(pids.filter(isRunning)).toEqual([])
    expect(lines(child, /"level":[56]0/)).toEqual([])
  })

  rule('instances.3', 'a second signal ends all at once, and so does the end of the main process', async () => {
    const child = run(project(notes('limits: { drainDelay: 600_000 }')), { OCTAVO_PROCESSES: '2' })
    await allServe(child, 2)
    const pids = childrenOf(child)
    child.signal('SIGTERM')
    await vi.waitFor(() => expect(lines(child, /"msg":"stopping"/)).toHaveLength(3), patience)
    child.signal('SIGTERM')
    expect(await child.ended).toMatchObject({ code: 1 })
    await vi.waitFor(() => expect(pids.filter(isRunning)).toEqual([]), patience)
    const other = run(project(notes()), { OCTAVO_PROCESSES: '2' })
    await allServe(other, 2)
    const orphans = childrenOf(other)
    other.process.kill('SIGKILL')
    await vi.waitFor(() => expect(orphans.filter(isRunning)).toEqual([]), patience)
  })

  rule('instances.4', 'SIGHUP replaces one after the other under load, with the new configuration; no request fails', async () => {
    const folder = project(notes(drain))
    writeFileSync(join(folder, '.env'), 'WORD=before\n')
    const child = run(folder, { OCTAVO_PROCESSES: '2' })
    const origin = await allServe(child, 2)
    expect((await requestOnce(origin, '/api/pid')).body.word).toBe('before')
    const before = childrenOf(child)
    const load = openLoad(origin, '/api/notes')
    const health = openLoad(origin, '/_health', 1)
    await vi.waitFor(() => expect(load.done()).toBeGreaterThan(50), patience)
    writeFileSync(join(folder, '.env'), readFileSync(join(folder, '.env'), 'utf8').replace('before', 'after'))
    child.signal('SIGHUP')
    await vi.waitFor(() => expect(lines(child, /all service processes are replaced/)).toHaveLength(1), patience)
    expect(await load.stop()).toEqual([])
    expect((await health.stop()).filter((failure) => !failure.startsWith('204'))).toEqual([])
    const after = childrenOf(child)
    expect([after.length, after.filter((pid) => before.includes(pid))]).toEqual([2, []])
    for (const answer of await Promise.all([1, 2, 3, 4].map(() => requestOnce(origin, '/api/pid')))) expect(answer.body.word).toBe('after')
    // A project that can no longer start.
    rmSync(join(folder, 'src'), { recursive: true })
    writeFileSync(join(folder, 'octavo.config.mjs'), 'export default { nothing: true }')
    child.signal('SIGHUP')
    await vi.waitFor(() => expect(lines(child, /those before it serve on/)).toHaveLength(1), patience)
    expect(child.errors()).toContain('nothing')
    expect(childrenOf(child)).toEqual(after)
    expect((await requestOnce(origin, '/api/notes')).status).toBe(200)
  })

  rule('instances.4', 'SIGHUP also replaces starting processes, which may have read the old configuration', async () => {
    const folder = project(withGate(notes(drain)))
    const child = run(folder, { OCTAVO_PROCESSES: '2' })
    const origin = await allServe(child, 2)
    const before = childrenOf(child)
    writeFileSync(join(folder, 'gate'), '')
    process.kill(before[0]!, 'SIGKILL')
    await vi.waitFor(() => expect(existsSync(join(folder, 'held'))).toBe(true), patience)
    const held = Number(readFileSync(join(folder, 'held'), 'utf8'))
    child.signal('SIGHUP')
    await vi.waitFor(() => expect(lines(child, /are replaced, one after the other/)).toHaveLength(1), patience)
    rmSync(join(folder, 'gate'))
    await vi.waitFor(() => expect(lines(child, /all service processes are replaced/)).toHaveLength(1), patience)
    await allServe(child, 2)
    const after = childrenOf(child)
    expect([after.length, after.filter((pid) => [...before, held].includes(pid))]).toEqual([2, []])
    expect(await respondents(origin)).toEqual(new Set(after))
  })

  rule('instances.13', 'one that never serves is ended after its time, and those before it serve until a start succeeds', async () => {
    const folder = project(withGate(notes('limits: { drainDelay: 100, processStartTimeout: 30_000 }')))
    const child = run(folder, { OCTAVO_PROCESSES: '2' })
    const origin = await allServe(child, 2)
    const before = childrenOf(child)
    writeFileSync(join(folder, 'gate'), '')
    child.signal('SIGHUP')
    await vi.waitFor(() => expect(lines(child, /those before it serve on/)).toHaveLength(1), patience)
    const pid = Number(readFileSync(join(folder, 'held'), 'utf8'))
    expect(JSON.parse(lines(child, /does not serve in time/)[0]!)).toMatchObject({ level: 50, pid, milliseconds: 30_000 })
    expect([childrenOf(child), isRunning(pid)]).toEqual([before, false])
    expect((await requestOnce(origin, '/api/notes')).status).toBe(200)
    rmSync(join(folder, 'gate'))
    child.signal('SIGHUP')
    await vi.waitFor(() => expect(lines(child, /all service processes are replaced/)).toHaveLength(1), patience)
    const after = childrenOf(child)
    expect([after.length, after.filter((one) => before.includes(one))]).toEqual([2, []])
  })

  rule('instances.5', 'the management port is one: ready while one serves; each series of the metrics names its process', async () => {
    const child = run(project(notes(drain)), { OCTAVO_PROCESSES: '2' })
    const origin = await allServe(child, 2)
    for (let index = 0; index < 10; index++) await requestOnce(origin, '/api/notes')
    const main = child.process.pid!
    const scrape = async () => samplesOf((await requestManagementOf(child, '/metrics')).text)
    const processesOf = (samples: readonly Sample[], metric: string): ReadonlySet<number> =>
      new Set(samples.filter(({ name }) => name === metric).map(({ labels }) => Number(labels.process)))
    const requests = async (): Promise<number | null> =>
      sumOf(await scrape(), 'http_server_request_duration_seconds_count', { http_route: '/api/notes' })
    await vi.waitFor(async () => expect(await requests()).toBe(10), patience)
    const { text } = await requestManagementOf(child, '/metrics')
    const described = [...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name)
    expect(described).toEqual([...new Set(described)])
    expect(processesOf(samplesOf(text), 'octavo_build_info')).toEqual(new Set(childrenOf(child)))
    expect(processesOf(samplesOf(text), 'process_resident_memory_bytes')).toEqual(new Set([main, ...childrenOf(child)]))
    child.signal('SIGHUP')
    await vi.waitFor(() => expect(lines(child, /all service processes are replaced/)).toHaveLength(1), patience)
    expect(processesOf(await scrape(), 'octavo_build_info')).toEqual(new Set(childrenOf(child)))
    await requestOnce(origin, '/api/notes')
    await vi.waitFor(async () => expect(await requests()).toBe(1), patience)
    // A hanging process does not affect the pages of the other one.
    const [hanging, other] = childrenOf(child)
    process.kill(hanging!, 'SIGSTOP')
    try {
      expect((await requestManagementOf(child, '/ready')).status).toBe(200)
      expect((await requestManagementOf(child, '/live')).status).toBe(200)
      expect(processesOf(await scrape(), 'octavo_build_info')).toEqual(new Set([other]))
    } finally {
      process.kill(hanging!, 'SIGCONT')
    }
    await vi.waitFor(async () => expect(processesOf(await scrape(), 'octavo_ready')).toEqual(new Set([hanging, other])), patience)
    const { origin: management } = new URL(managementOf(child))
    child.signal('SIGTERM')
    await vi.waitFor(async () => expect((await requestAt(management, '/ready')).status).toBe(503), patience)
    expect(await child.ended).toMatchObject({ code: 0 })
  })

  rule('instances.5', 'a scrape has the delay of each event loop, and the last change of the model in each process', async () => {
    const folder = project(notes(drain))
    const child = run(folder, { OCTAVO_PROCESSES: '2' })
    const origin = await allServe(child, 2)
    const values = async (metric: string) =>
      samplesOf((await requestManagementOf(child, '/metrics')).text)
        .filter(({ name }) => name === metric)
        .map(({ value }) => value)
    await vi.waitFor(async () => {
      // Each scrape begins a new period.
      await values('nodejs_eventloop_lag_p99_seconds')
      await requestOnce(origin, '/api/busy')
      expect(Math.max(...(await values('nodejs_eventloop_lag_p99_seconds')))).toBeGreaterThan(0.5)
    }, patience)
    expect(await values('octavo_schema_version')).toEqual([0, 0])
    const file = join(folder, 'src/api/note/content-types/note/schema.json')
    const schema = JSON.parse(readFileSync(file, 'utf8'))
    writeFileSync(file, JSON.stringify({ ...schema, attributes: { ...schema.attributes, more: { type: 'text' } } }))
    const applied = await octavo(['model', 'apply', folder])
    expect(applied.status, applied.err).toBe(0)
    // No request lets them follow, but for the scrape itself.
    expect(await values('octavo_schema_version')).toEqual([1, 1])
  })

  rule('instances.6', 'attempts to sign in count together', async () => {
    const child = run(project(notes('limits: { authAddressRateLimit: 10 },')), { OCTAVO_PROCESSES: '2' })
    const origin = await allServe(child, 2)
    const statuses: number[] = []
    for (let index = 0; index < 12; index++) {
      const body = JSON.stringify({ identifier: `nobody ${index}`, password: 'wrong' })
      const headers = { 'content-type': 'application/json', connection: 'close' }
      statuses.push((await requestAt(origin, '/api/auth/local', { method: 'POST', headers, body })).status)
    }
    expect(statuses).toEqual([...Array(10).fill(400), 429, 429])
  })

  rule('instances.7', 'lines of the log are whole, however long they are', async () => {
    const long =
      'routes: [{ method: "GET", path: "/long", auth: false, handle: ({ log }) => { log.info("long", { text: "x".repeat(9_000) }); return {} } }],'
    const child = run(project(notes(long)), { OCTAVO_PROCESSES: '2' })
    const origin = await allServe(child, 2)
    for (let round = 0; round < 10; round++) await Promise.all(Array.from({ length: 20 }, () => requestOnce(origin, '/api/long')))
    child.signal('SIGTERM')
    await child.ended
    const written = child.output().trim().split('\n')
    expect(written.filter((line) => !line.startsWith('{"level":') || !line.endsWith('}'))).toEqual([])
    expect(written.filter((line) => line.includes('"msg":"long"'))).toHaveLength(200)
  })
})

rule('instances.1', 'numbers that cannot be used, and starts that fail, end with a sentence', async () => {
  const folder = project(notes())
  const words = (count: string) => octavo(['start', folder, '--processes', count])
  expect(await words('0')).toEqual({
    status: 1,
    out: '',
    err: 'octavo: --processes is "0"; it must be auto or a whole number from 1 to 128.\n',
  })
  const variable = await octavo(['start', folder], { OCTAVO_PROCESSES: 'many' })
  expect(variable.err).toBe('octavo: OCTAVO_PROCESSES is "many"; it must be auto or a whole number from 1 to 128.\n')
  const empty = await octavo(['start', project({}), '--processes', '2'])
  expect([empty.status, empty.out]).toEqual([1, ''])
  expect(empty.err).toMatch(/^octavo: .* is not a content project[^\n]*\n$/)
})

rule('instances.2', 'processes that end again and again end the command', async () => {
  const schedule = "{ name: 'crash', cron: '* * * * * *', run: () => process.exit(7) }"
  const child = run(project(notes(`schedules: [${schedule}],`)), {
    OCTAVO_PROCESSES: '2',
  })
  expect(await child.ended).toMatchObject({ code: 1 })
  expect(lines(child, /a service process ended/)).toHaveLength(5)
  expect(lines(child, /service processes end again and again, and none serves/)).toHaveLength(1)
})
