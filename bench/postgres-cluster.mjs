// A private PostgreSQL cluster in a temporary folder, for a run of the bench or a file of tests. It ends with the process.
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { chownSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir, userInfo } from 'node:os'
import { delimiter, join } from 'node:path'
import { freePort } from './free-port.mjs'
import { volatileFolder } from './volatile-folder.mjs'

const isRoot = userInfo().uid === 0

/** The folder of PostgreSQL's programs; null: not installed. */
export function programs() {
  const debian = '/usr/lib/postgresql'
  const versions = existsSync(debian) ? readdirSync(debian).sort((one, other) => Number(other) - Number(one)) : []
  const folders = [...(process.env.PATH ?? '').split(delimiter), ...versions.map((version) => join(debian, version, 'bin'))]
  return folders.find((folder) => ['initdb', 'pg_ctl', 'pg_basebackup'].every((name) => existsSync(join(folder, name)))) ?? null
}

/** The user that runs the server where root does not: a server refuses to be run by root. */
export function serverUser() {
  const idOf = (/** @type {string} */ option) => Number(spawnSync('id', [option, 'postgres'], { encoding: 'utf8' }).stdout || Number.NaN)
  const [uid, gid] = [idOf('-u'), idOf('-g')]
  return Number.isInteger(uid) && Number.isInteger(gid) ? { uid, gid } : null
}

/** Why no cluster can be started here; null: one can. */
export function missingForCluster() {
  if (programs() === null) return 'initdb was not found'
  return isRoot && serverUser() === null ? 'root cannot run a server, and there is no user named postgres' : null
}

/**
 * A program of PostgreSQL with its options, as the user that runs the server.
 * @param {string} program
 * @param {readonly string[]} options
 * @returns {string[]}
 */
const command = (program, ...options) => [
  ...(isRoot ? ['runuser', '-u', 'postgres', '--'] : []),
  join(/** @type {string} */ (programs()), program),
  ...options,
]

/**
 * A new folder that belongs to that user.
 * @param {string} below
 */
function newFolder(below) {
  const folder = mkdtempSync(join(below, 'octavo-postgres-'))
  if (isRoot) {
    const { uid, gid } = /** @type {{ uid: number, gid: number }} */ (serverUser())
    chownSync(folder, uid, gid)
  }
  return folder
}

/**
 * @param {string} folder
 * @param {string} program
 * @param {readonly string[]} options
 */
function run(folder, program, ...options) {
  const [first, ...others] = command(program, ...options)
  execFileSync(/** @type {string} */ (first), others, { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] })
}

/**
 * Runs a program without waiting for it in this thread. Its output would stay open with the server.
 * @param {string} folder
 * @param {string} program
 * @param {readonly string[]} options
 */
const runAside = (folder, program, ...options) =>
  new Promise((/** @type {(value: void) => void} */ resolve, reject) => {
    const [first, ...others] = command(program, ...options)
    const child = spawn(/** @type {string} */ (first), others, { cwd: folder, stdio: 'ignore' })
    child.on('error', reject)
    child.on('exit', (code) => (code === 0 ? resolve() : reject(new Error(`${program} ended with status ${code}`))))
  })

/**
 * Starts a server on the data in `folder`.
 * @param {string} folder
 * @param {boolean} isDurable
 * @param {number} port
 */
function startOn(folder, isDurable, port) {
  const data = join(folder, 'data')
  const settingsAt = (/** @type {number} */ port) =>
    `-p ${port} -k ${folder} -c listen_addresses=127.0.0.1 -c max_connections=400${isDurable ? '' : ' -c fsync=off'}`
  const control = ['-D', data, '-l', join(folder, 'log'), '-w']
  run(folder, 'pg_ctl', ...control, '-o', settingsAt(port), 'start')
  const stop = () => {
    process.off('exit', stop)
    if (existsSync(join(data, 'postmaster.pid'))) run(folder, 'pg_ctl', '-D', data, '-m', 'immediate', '-w', 'stop')
    rmSync(folder, { recursive: true, force: true })
  }
  process.on('exit', stop)
  return {
    port,
    url: `postgres://octavo@127.0.0.1:${port}/postgres`,
    /** Ends the server as a crash does, and starts it again. */
    crash: () => runAside(folder, 'pg_ctl', ...control, '-m', 'immediate', 'restart'),
    /** Ends the server as a crash does. */
    kill: () => runAside(folder, 'pg_ctl', '-D', data, '-m', 'immediate', '-w', 'stop'),
    /** Starts it again. */
    start: () => runAside(folder, 'pg_ctl', ...control, '-o', settingsAt(port), 'start'),
    /** Ends it as a crash does, and starts it on another port. */
    restartAt: (/** @type {number} */ other) =>
      runAside(folder, 'pg_ctl', ...control, '-m', 'immediate', '-o', settingsAt(other), 'restart'),
    /** Makes a standby a primary. */
    promote: () => runAside(folder, 'pg_ctl', '-D', data, '-w', 'promote'),
    /** The id of the server's first process. */
    pid: () => Number(readFileSync(join(data, 'postmaster.pid'), 'utf8').split('\n', 1)[0]),
    stop,
  }
}

/**
 * Starts a cluster, whose superuser `octavo` needs no password.
 * @param {{ isDurable: boolean, below?: string | null }} options whether commits are on disk before they are answered, and the folder for its files
 */
export async function startCluster({ isDurable, below = null }) {
  const missing = missingForCluster()
  if (missing !== null) throw new Error(missing)
  const folder = newFolder(below ?? (isDurable ? tmpdir() : volatileFolder()))
  const data = join(folder, 'data')
  run(folder, 'initdb', '-D', data, '-U', 'octavo', '--auth=trust', '--locale=C.UTF-8', '-E', 'UTF8', ...(isDurable ? [] : ['--no-sync']))
  return startOn(folder, isDurable, await freePort())
}

/**
 * Starts a streaming replica of a cluster.
 * @param {{ port: number }} primary
 * @param {number | null} at its port; null: a free one
 */
export async function startReplica({ port }, at = null) {
  const folder = newFolder(volatileFolder())
  const from = ['-h', '127.0.0.1', '-p', String(port), '-U', 'octavo']
  await runAside(folder, 'pg_basebackup', ...from, '-D', join(folder, 'data'), '-R', '-X', 'stream', '-c', 'fast', '--no-sync')
  return startOn(folder, false, at ?? (await freePort()))
}
