// A MariaDB or MySQL server for a test file: the one that OCTAVO_TEST_MYSQL_URL names, or a MariaDB of its own in a temporary folder.
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process'
import { chownSync, existsSync, mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir, userInfo } from 'node:os'
import { delimiter, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createConnection, type RowDataPacket } from 'mysql2'
import { afterAll, beforeAll, describe } from 'vitest'

/** The variable that names a running server: `mysql://user@host:port/database`. */
const variable = 'OCTAVO_TEST_MYSQL_URL'

/** A server on which every test may have databases of its own. */
export interface TestServer {
  /** Creates a database with what the statements `content` make, and resolves to its URL. */
  createDatabase(content?: string): Promise<string>
  /** Runs statements in a database, without values; resolves to the rows of the last one. */
  run(url: string, text: string): Promise<readonly Readonly<Record<string, unknown>>[]>
  /** Ends the server as a crash does, and starts it; null: the server is not one of the test's own. */
  readonly crash: (() => Promise<void>) | null
  close(): Promise<void>
}

/** The path of a program of MariaDB's; null: not installed. */
function program(name: string): string | null {
  const folders = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin', '/usr/local/sbin']
  return folders.map((folder) => join(folder, name)).find((path) => existsSync(path)) ?? null
}

const isRoot = userInfo().uid === 0

/** The user that runs the server, which refuses to be run by root. */
function serverUser(): { readonly uid: number; readonly gid: number } | null {
  const idOf = (option: string) => Number(spawnSync('id', [option, 'mysql'], { encoding: 'utf8' }).stdout || Number.NaN)
  const [uid, gid] = [idOf('-u'), idOf('-g')]
  return Number.isInteger(uid) && Number.isInteger(gid) ? { uid, gid } : null
}

/** Why there is no server to test with; null if there is one. */
const missing: string | null =
  process.env[variable] !== undefined
    ? null
    : program('mariadbd') === null || program('mariadb-install-db') === null
      ? `mariadbd was not found and ${variable} is not set`
      : isRoot && serverUser() === null
        ? 'root cannot run a server, and there is no user named mysql'
        : null

/** A `describe` with a server; without one its tests are skipped, and its name says why. */
export function describeMysql(name: string, tests: (server: () => TestServer) => void): void {
  if (missing !== null) {
    describe.skip(`${name} (skipped: ${missing})`, () => tests(() => undefined as never))
    return
  }
  describe(name, () => {
    let server: TestServer
    beforeAll(async () => {
      server = await startServer()
    }, 120_000)
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

/** Milliseconds for a server to start. */
const startTime = 60_000

/** Starts a server, or takes the one that is named. */
export async function startServer(): Promise<TestServer> {
  const named = process.env[variable]
  if (named !== undefined) return serverAt(named, null, async () => {})
  // Many small files are written: in memory, where there is a file system in it.
  const folder = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'octavo-mariadb-'))
  const user = isRoot ? ['--user=mysql'] : []
  if (isRoot) {
    const { uid, gid } = serverUser()!
    chownSync(folder, uid, gid)
  }
  const data = join(folder, 'data')
  const made = ['--no-defaults', `--datadir=${data}`, '--auth-root-authentication-method=normal', '--skip-test-db', ...user]
  execFileSync(program('mariadb-install-db')!, made, { cwd: folder, stdio: 'ignore' })
  const port = await freePort()
  const url = `mysql://root@127.0.0.1:${port}/mysql`
  const options = [
    ...['--no-defaults', `--datadir=${data}`, `--socket=${join(folder, 's')}`, `--port=${port}`, '--bind-address=127.0.0.1'],
    ...['--character-set-server=utf8mb4', '--collation-server=utf8mb4_general_ci', '--default-time-zone=+00:00'],
    ...['--max-connections=300', '--innodb-flush-log-at-trx-commit=2', '--innodb-buffer-pool-size=64M', ...user],
  ]
  let server: ChildProcess
  const start = async () => {
    server = spawn(program('mariadbd')!, options, { cwd: folder, stdio: 'ignore' })
    const end = performance.now() + startTime
    for (;;) {
      try {
        await execute(url, 'select 1')
        return
      } catch (error) {
        if (performance.now() > end) throw error
        await sleep(50)
      }
    }
  }
  const kill = async () => {
    const ended = new Promise((resolve) => server.once('exit', resolve))
    server.kill('SIGKILL')
    await ended
  }
  const stop = () => {
    server.kill('SIGKILL')
    rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 })
  }
  process.on('exit', stop)
  await start()
  const crash = async () => {
    await kill()
    await start()
  }
  return serverAt(url, crash, async () => {
    process.off('exit', stop)
    await kill()
    stop()
  })
}

async function execute(url: string, text: string): Promise<readonly Readonly<Record<string, unknown>>[]> {
  const connection = createConnection({ uri: url, multipleStatements: true, supportBigNumbers: true })
  connection.on('error', () => {})
  try {
    return await new Promise((resolve, reject) =>
      connection.query<RowDataPacket[]>(text, (error, rows) => {
        if (error !== null) return reject(error)
        const last = Array.isArray(rows.at?.(-1)) ? (rows.at(-1) as unknown as RowDataPacket[]) : rows
        resolve(Array.isArray(last) ? last : [])
      }),
    )
  } finally {
    connection.destroy()
  }
}

function serverAt(root: string, crash: TestServer['crash'], stop: () => Promise<void>): TestServer {
  const created: string[] = []
  return {
    createDatabase: async (content) => {
      const name = `octavo_test_${process.pid}_${created.length}_${Math.random().toString(36).slice(2, 8)}`
      created.push(name)
      await execute(root, `create database ${name}`)
      const url = new URL(root)
      url.pathname = name
      if (content !== undefined) await execute(url.href, content)
      return url.href
    },
    run: execute,
    crash,
    close: async () => {
      if (crash === null) for (const name of created) await execute(root, `drop database if exists ${name}`)
      await stop()
    },
  }
}
