// A MariaDB server for tests. A MySQL server can be named.
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process'
import { chownSync, existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir, userInfo } from 'node:os'
import { delimiter, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createConnection, type RowDataPacket } from 'mysql2'
import { createConnection as createPromised } from 'mysql2/promise'
import { freePort } from '../../bench/free-port.mjs'
import type { ServerKind, TestServer } from './server.js'

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

function missing(): string | null {
  if (program('mariadbd') === null || program('mariadb-install-db') === null) return 'mariadbd was not found'
  return isRoot && serverUser() === null ? 'root cannot run a server, and there is no user named mysql' : null
}

export const mariadb: ServerKind = {
  name: 'MariaDB',
  client: 'mysql',
  variable: 'OCTAVO_TEST_MYSQL_URL',
  golden: 'mariadb',
  missing,
  start: (named) => (named === undefined ? startOwn() : serverAt(named, null, async () => {})),
}

/** Milliseconds for a server to start. */
const startTime = 60_000

async function startOwn(): Promise<TestServer> {
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

/** Who the services are: unlike root, they cannot write while the server is read-only. */
const user = 'octavo'

async function serverAt(root: string, crash: TestServer['crash'], stop: () => Promise<void>): Promise<TestServer> {
  const created = new Set<string>()
  await execute(root, `create user if not exists ${user}@'%'; grant process on *.* to ${user}@'%'`)

  async function removeDatabase(url: string): Promise<void> {
    created.delete(url)
    await execute(root, `drop database if exists ${new URL(url).pathname.slice(1)}`)
  }

  return {
    client: 'mysql',
    root,
    createDatabase: async (content) => {
      const url = new URL(root)
      ;[url.username, url.password] = [user, '']
      url.pathname = `octavo_test_${process.pid}_${Math.random().toString(36).slice(2, 10)}`
      const name = url.pathname.slice(1)
      created.add(url.href)
      await execute(root, `create database ${name}; grant all on ${name}.* to ${user}@'%'`)
      if (content !== undefined) await execute(url.href, content)
      return url.href
    },
    removeDatabase,
    run: execute,
    withoutForeignKeys: "set foreign_key_checks = 0; set sql_mode = 'ANSI_QUOTES';",
    lockTable: async (url, table) => {
      const locker = await createPromised(url)
      await locker.query(`lock tables ${table} write`)
      return async () => {
        await locker.query('unlock tables')
        await locker.end()
      }
    },
    waiting: async (url) => {
      const waits = "select id from information_schema.processlist where db = database() and state like 'Waiting for%'"
      return (await execute(url, waits)).length
    },
    setReadOnly: async (isReadOnly) => void (await execute(root, `set global read_only = ${isReadOnly ? 1 : 0}`)),
    crash,
    close: async () => {
      if (crash === null) for (const url of created) await removeDatabase(url)
      await stop()
    },
  }
}
