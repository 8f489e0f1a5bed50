// A private MariaDB server in a temporary folder, for a run of the bench or a file of tests. It ends with the process.
import { execFile, spawn, spawnSync } from 'node:child_process'
import { chownSync, existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir, userInfo } from 'node:os'
import { delimiter, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { createConnection } from 'mysql2/promise'
import { freePort } from './free-port.mjs'
import { volatileFolder } from './volatile-folder.mjs'

/**
 * The path of a program of MariaDB's; null: not installed.
 * @param {string} name
 */
function program(name) {
  const folders = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin', '/usr/local/sbin']
  return folders.map((folder) => join(folder, name)).find((path) => existsSync(path)) ?? null
}

const isRoot = userInfo().uid === 0

/** The user that runs the server where root does not: a server refuses to be run by root. */
function serverUser() {
  const idOf = (/** @type {string} */ option) => Number(spawnSync('id', [option, 'mysql'], { encoding: 'utf8' }).stdout || Number.NaN)
  const [uid, gid] = [idOf('-u'), idOf('-g')]
  return Number.isInteger(uid) && Number.isInteger(gid) ? { uid, gid } : null
}

/** Why no server can be started here; null: one can. */
export function missingForMariadb() {
  if (program('mariadbd') === null || program('mariadb-install-db') === null) return 'mariadbd was not found'
  return isRoot && serverUser() === null ? 'root cannot run a server, and there is no user named mysql' : null
}

/** Milliseconds for a server to start. */
const startTime = 60_000

/**
 * Starts a server, whose user `root` needs no password.
 * @param {{ isDurable: boolean, below?: string | null }} options whether commits are on disk before they are answered, and the folder for its files
 */
export async function startMariadb({ isDurable, below = null }) {
  const missing = missingForMariadb()
  if (missing !== null) throw new Error(missing)
  const folder = mkdtempSync(join(below ?? (isDurable ? tmpdir() : volatileFolder()), 'octavo-mariadb-'))
  // A server that starts deletes all temporary tables where it has its own, also those of another server.
  const temporary = mkdtempSync(join(volatileFolder(), 'octavo-mariadb-temporary-'))
  const user = isRoot ? ['--user=mysql'] : []
  if (isRoot) {
    const { uid, gid } = /** @type {{ uid: number, gid: number }} */ (serverUser())
    for (const own of [folder, temporary]) chownSync(own, uid, gid)
  }
  const data = join(folder, 'data')
  const made = [
    '--no-defaults',
    `--datadir=${data}`,
    `--tmpdir=${temporary}`,
    '--auth-root-authentication-method=normal',
    '--skip-test-db',
    ...user,
  ]
  await promisify(execFile)(/** @type {string} */ (program('mariadb-install-db')), made, { cwd: folder })
  const port = await freePort()
  const url = `mysql://root@127.0.0.1:${port}/mysql`
  const options = [
    ...['--no-defaults', `--datadir=${data}`, `--tmpdir=${temporary}`],
    ...[`--socket=${join(folder, 's')}`, `--port=${port}`, '--bind-address=127.0.0.1'],
    ...['--character-set-server=utf8mb4', '--collation-server=utf8mb4_general_ci', '--default-time-zone=+00:00'],
    ...[
      '--max-connections=300',
      `--innodb-flush-log-at-trx-commit=${isDurable ? 1 : 2}`,
      ...(isDurable ? [] : ['--innodb-buffer-pool-size=64M']),
    ],
    ...user,
  ]
  const spawned = () => spawn(/** @type {string} */ (program('mariadbd')), options, { cwd: folder, stdio: 'ignore' })
  let server = spawned()
  const ready = async () => {
    const end = performance.now() + startTime
    for (;;) {
      try {
        await (await createConnection(url)).end()
        return
      } catch (error) {
        if (performance.now() > end) throw error
        await sleep(50)
      }
    }
  }
  const kill = async () => {
    // A server without space on its disk ends itself.
    if (server.exitCode !== null || server.signalCode !== null) return
    const ended = new Promise((resolve) => server.once('exit', resolve))
    server.kill('SIGKILL')
    await ended
  }
  const remove = () => {
    server.kill('SIGKILL')
    for (const own of [folder, temporary]) rmSync(own, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 })
  }
  process.on('exit', remove)
  await ready()
  return {
    url,
    /** Ends the server as a crash does, and starts it again. */
    crash: async () => {
      await kill()
      server = spawned()
      await ready()
    },
    stop: async () => {
      process.off('exit', remove)
      await kill()
      remove()
    },
  }
}
