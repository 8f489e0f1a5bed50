// A project served by separate processes, and their number, ids and load.
import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { Agent, get, type IncomingMessage } from 'node:http'
import { expect, vi } from 'vitest'
import { type Child, start } from '../faults/child.js'
import { access, contentType, plain, reading, seeded } from '../spec/library.js'
import { managementOrigin } from '../support/management.js'
import { requestAt, type TestResponse } from '../support/serve.js'
import { patience } from '../support/until.js'

/** Notes that everybody may read, and a route that returns the id of the process. `more`: of the configuration, as code. */
export const notes = (more = ''): Readonly<Record<string, unknown>> => ({
  ...contentType('note', { name: { type: 'string' } }),
  ...seeded('note', plain({ first: {}, second: {} })),
  ...access([...reading('note'), 'api::note.note.create', 'api::note.note.update']),
  'octavo.config.mjs': `export default {
    routes: [
      { method: 'GET', path: '/pid', auth: false, handle: () => ({ pid: process.pid, word: process.env.WORD ?? null }) },
      { method: 'GET', path: '/busy', auth: false, handle: () => { for (const end = Date.now() + 900; Date.now() < end; ); return {} } },
      { method: 'POST', path: '/crash', auth: false, handle: ({ query }) => { if (Number(query.pid) === process.pid) setTimeout(() => { throw new Error('a crash') }, 10); return {} } },
    ],
    ${more}
  }`,
})

const children: Child[] = []

/** Starts `octavo start` on a project; `endAll` ends it at the latest. */
export function run(folder: string, environment: Readonly<Record<string, string>> = {}): Child {
  const child = start(folder, {
    ...{ DATABASE_CLIENT: 'sqlite', OCTAVO_DATABASE_READER_THREADS: '1', OCTAVO_MANAGEMENT_PORT: '0' },
    ...environment,
  })
  children.push(child)
  return child
}

/** For `afterEach`. */
export async function endAll(): Promise<void> {
  for (const child of children) {
    child.process.kill('SIGCONT')
    child.process.kill('SIGKILL')
  }
  await Promise.all(children.splice(0).map(({ ended }) => ended))
}

/** Origin of a process's management port. */
export const managementOf = (child: Child): string => managementOrigin(child.output().split('\n'))!

/** Asks the management port. */
export const requestManagementOf = (child: Child, path: string): Promise<TestResponse> => requestAt(managementOf(child), path)

/** Only where the system lists processes. */
export const canListProcesses = existsSync(`/proc/self/task/${process.pid}/children`)

/** The ids of the processes that one has started. */
export const childrenOf = (child: Child): readonly number[] => {
  const pid = child.process.pid!
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean).map(Number)
}

/** Number of TCP connections at a port that a process has open; several processes may have the same one. */
export function connectionsOf(pid: number, port: number): number {
  const sockets = new Set(
    readdirSync(`/proc/${pid}/fd`).map((descriptor) => {
      try {
        return readlinkSync(`/proc/${pid}/fd/${descriptor}`)
      } catch {
        return null
      }
    }),
  )
  const local = `:${port.toString(16).toUpperCase().padStart(4, '0')}`
  const rows = ['tcp', 'tcp6'].flatMap((file) => readFileSync(`/proc/net/${file}`, 'utf8').trim().split('\n').slice(1))
  return rows
    .map((row) => row.trim().split(/\s+/))
    .filter(([, address, , state, , , , , , inode]) => address!.endsWith(local) && state !== listens && sockets.has(`socket:[${inode}]`))
    .length
}

/** The state of a port in the list of the system. */
const listens = '0A'

/** True while a process is there. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

/** Requests on connections that stay open, one after the other on each. */
export interface Load {
  /** Number of responses so far. */
  done(): number
  /** Ends it; resolves to the responses other than 200, as sentences. */
  stop(): Promise<readonly string[]>
}

/** Sends requests for `path` on `connections` connections until it is stopped. */
export function openLoad(origin: string, path: string, connections = 8): Load {
  const agent = new Agent({ keepAlive: true, maxSockets: connections })
  const failures: string[] = []
  let [done, isOver] = [0, false]
  const request = (): Promise<void> =>
    new Promise((resolve) => {
      const failed = (error: NodeJS.ErrnoException): void => {
        failures.push(`${error.code} ${error.message} after ${done}`)
        resolve()
      }
      get(origin + path, { agent }, (response: IncomingMessage) => {
        response.resume().on('error', failed)
        response.on('end', () => {
          done++
          if (response.statusCode !== 200) failures.push(`${response.statusCode} after ${done}`)
          resolve()
        })
      }).on('error', failed)
    })
  const asking = Array.from({ length: connections }, async () => {
    while (!isOver) await request()
  })
  return {
    done: () => done,
    stop: async () => {
      isOver = true
      await Promise.all(asking)
      agent.destroy()
      return failures
    },
  }
}

/** Asks by a new connection each time. */
export const requestOnce = (origin: string, path: string): Promise<TestResponse> =>
  requestAt(origin, path, { headers: { connection: 'close' } })

/** Waits until `count` processes serve. */
export async function allServe(child: Child, count: number): Promise<string> {
  const origin = await child.origin
  await vi.waitFor(
    async () => expect((await requestManagementOf(child, '/ready')).body).toEqual({ status: 'ready', processes: count }),
    patience,
  )
  return origin
}

/** The lines of the log that fit. */
export const lines = (child: Child, msg: RegExp): readonly string[] =>
  child
    .output()
    .split('\n')
    .filter((line) => msg.test(line))

/** The project, with processes that wait while reading the configuration as long as a file `gate` is there; they note their id in `held`. */
export const withGate = (files: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> => ({
  ...files,
  'octavo.config.mjs': `import { existsSync, writeFileSync } from 'node:fs'
    const gate = new URL('gate', import.meta.url)
    if (existsSync(gate)) writeFileSync(new URL('held', import.meta.url), String(process.pid))
    while (existsSync(gate)) await new Promise((resolve) => setTimeout(resolve, 20))
    ${files['octavo.config.mjs']}`,
})
