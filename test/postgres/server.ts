// A PostgreSQL server for a test file: the one that OCTAVO_TEST_POSTGRES_URL names, or one of its own in a temporary folder.
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir, userInfo } from 'node:os'
import { delimiter, join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, describe } from 'vitest'

/** The variable that names a running server: `postgres://user@host:port/database`. */
const variable = 'OCTAVO_TEST_POSTGRES_URL'

/** A server on which every test may have databases of its own. */
export interface TestServer {
  /** Creates a database, empty or as the one at the URL `template` is, and resolves to its URL. */
  createDatabase(template?: string): Promise<string>
  /** Runs statements in a database, without values. */
  run(url: string, text: string): Promise<readonly Readonly<Record<string, unknown>>[]>
  /** Ends the server as a crash does, and starts it; null: the server is not one of the test's own. */
  readonly crash: (() => Promise<void>) | null
  close(): Promise<void>
}

/** The folder of PostgreSQL's programs; null: not installed. */
function programs(): string | null {
  const debian = '/usr/lib/postgresql'
  const versions = existsSync(debian) ? readdirSync(debian).sort((one, other) => Number(other) - Number(one)) : []
  const folders = [...(process.env.PATH ?? '').split(delimiter), ...versions.map((version) => join(debian, version, 'bin'))]
  return folders.find((folder) => existsSync(join(folder, 'initdb'))) ?? null
}

const isRoot = userInfo().uid === 0

/** The user that runs the server, which refuses to be run by root. */
function serverUser(): { readonly uid: number; readonly gid: number } | null {
  const idOf = (option: string) => Number(spawnSync('id', [option, 'postgres'], { encoding: 'utf8' }).stdout || Number.NaN)
  const [uid, gid] = [idOf('-u'), idOf('-g')]
  return Number.isInteger(uid) && Number.isInteger(gid) ? { uid, gid } : null
}

/** Why there is no server to test with; null if there is one. */
const missing: string | null =
  process.env[variable] !== undefined
    ? null
    : programs() === null
      ? `initdb was not found and ${variable} is not set`
      : isRoot && serverUser() === null
        ? 'root cannot run a server, and there is no user named postgres'
        : null

/** A `describe` with a server; without one its tests are skipped, and its name says why. */
export function describePostgres(name: string, tests: (server: () => TestServer) => void): void {
  if (missing !== null) {
    describe.skip(`${name} (skipped: ${missing})`, () => tests(() => undefined as never))
    return
  }
  describe(name, () => {
    let server: TestServer
    beforeAll(async () => {
      server = await startServer()
    })
    afterAll(() => server.close())
    tests(() => server)
  })
}

const freePort = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { readonly port: number }
      server.close(() => resolve(port))
    })
  })

/** Starts a server, or takes the one that is named. */
export async function startServer(): Promise<TestServer> {
  const named = process.env[variable]
  if (named !== undefined) return serverAt(named, null, () => {})
  const folder = mkdtempSync(join(tmpdir(), 'octavo-postgres-'))
  if (isRoot) {
    const { uid, gid } = serverUser()!
    chownSync(folder, uid, gid)
  }
  const bin = programs()!
  const data = join(folder, 'data')
  const command = (program: string, ...options: string[]): readonly string[] => [
    ...(isRoot ? ['runuser', '-u', 'postgres', '--'] : []),
    join(bin, program),
    ...options,
  ]
  const run = (program: string, ...options: string[]) => {
    const [first, ...others] = command(program, ...options)
    execFileSync(first!, others, { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] })
  }
  run('initdb', '-D', data, '-U', 'octavo', '--auth=trust', '--locale=C.UTF-8', '-E', 'UTF8', '--no-sync')
  const port = await freePort()
  const settings = `-p ${port} -k ${folder} -c listen_addresses=127.0.0.1 -c fsync=off -c max_connections=200`
  run('pg_ctl', '-D', data, '-l', join(folder, 'log'), '-o', settings, '-w', 'start')
  const stop = () => {
    process.off('exit', stop)
    run('pg_ctl', '-D', data, '-m', 'immediate', '-w', 'stop')
    rmSync(folder, { recursive: true, force: true })
  }
  process.on('exit', stop)
  const crash = () =>
    new Promise<void>((resolve, reject) => {
      const [program, ...options] = command('pg_ctl', '-D', data, '-l', join(folder, 'log'), '-m', 'immediate', '-w', 'restart')
      // Its output would stay open with the server.
      const child = spawn(program!, options, { cwd: folder, stdio: 'ignore' })
      child.on('error', reject)
      child.on('exit', (code) => (code === 0 ? resolve() : reject(new Error(`pg_ctl ended with status ${code}`))))
    })
  return serverAt(`postgres://octavo@127.0.0.1:${port}/postgres`, crash, stop)
}

function serverAt(root: string, crash: TestServer['crash'], stop: () => void): TestServer {
  const created: string[] = []
  const run = async (url: string, text: string) => {
    const client = new pg.Client(url)
    await client.connect()
    try {
      const { rows } = await client.query<Readonly<Record<string, unknown>>>(text)
      return rows
    } finally {
      await client.end()
    }
  }
  return {
    createDatabase: async (template) => {
      const name = `octavo_test_${process.pid}_${created.length}_${Math.random().toString(36).slice(2, 8)}`
      created.push(name)
      await run(root, `create database ${name} template ${template === undefined ? 'template0' : new URL(template).pathname.slice(1)}`)
      const url = new URL(root)
      url.pathname = name
      return url.href
    },
    run,
    crash,
    close: async () => {
      for (const name of created) await run(root, `drop database if exists ${name} with (force)`)
      stop()
    },
  }
}
