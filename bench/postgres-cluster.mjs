// A private PostgreSQL cluster in a temporary folder, for a run of the bench or a file of tests. It ends with the process.
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir, userInfo } from 'node:os'
import { delimiter, join } from 'node:path'
import { freePort } from './free-port.mjs'
import { volatileFolder } from './volatile-folder.mjs'

const isRoot = userInfo().uid === 0

/** The folder of PostgreSQL's programs; null: not installed. */
function programs() {
  const debian = '/usr/lib/postgresql'
  const versions = existsSync(debian) ? readdirSync(debian).sort((one, other) => Number(other) - Number(one)) : []
  const folders = [...(process.env.PATH ?? '').split(delimiter), ...versions.map((version) => join(debian, version, 'bin'))]
  return folders.find((folder) => existsSync(join(folder, 'initdb'))) ?? null
}

/** The user that runs the server where root does not: a server refuses to be run by root. */
function serverUser() {
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
 * Starts a cluster, whose superuser `octavo` needs no password.
 * @param {{ isDurable: boolean, below?: string | null }} options whether commits are on disk before they are answered, and the folder for its files
 */
export async function startCluster({ isDurable, below = null }) {
  const missing = missingForCluster()
  if (missing !== null) throw new Error(missing)
  const folder = mkdtempSync(join(below ?? (isDurable ? tmpdir() : volatileFolder()), 'octavo-postgres-'))
  if (isRoot) {
    const { uid, gid } = /** @type {{ uid: number, gid: number }} */ (serverUser())
    chownSync(folder, uid, gid)
  }
  const data = join(folder, 'data')
  const command = (/** @type {string} */ program, /** @type {string[]} */ ...options) => [
    ...(isRoot ? ['runuser', '-u', 'postgres', '--'] : []),
    join(/** @type {string} */ (programs()), program),
    ...options,
  ]
  const run = (/** @type {string} */ program, /** @type {string[]} */ ...options) => {
    const [first, ...others] = command(program, ...options)
    execFileSync(/** @type {string} */ (first), others, { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] })
  }
  run('initdb', '-D', data, '-U', 'octavo', '--auth=trust', '--locale=C.UTF-8', '-E', 'UTF8', ...(isDurable ? [] : ['--no-sync']))
  const port = await freePort()
  const settings = `-p ${port} -k ${folder} -c listen_addresses=127.0.0.1 -c max_connections=400${isDurable ? '' : ' -c fsync=off'}`
  const control = ['-D', data, '-l', join(folder, 'log'), '-w']
  run('pg_ctl', ...control, '-o', settings, 'start')
  const stop = () => {
    process.off('exit', stop)
    run('pg_ctl', '-D', data, '-m', 'immediate', '-w', 'stop')
    rmSync(folder, { recursive: true, force: true })
  }
  process.on('exit', stop)
  return {
    port,
    url: `postgres://octavo@127.0.0.1:${port}/postgres`,
    /** Ends the server as a crash does, and starts it again. */
    crash: () =>
      new Promise((/** @type {(value: void) => void} */ resolve, reject) => {
        const [program, ...options] = command('pg_ctl', ...control, '-m', 'immediate', 'restart')
        // Its output would stay open with the server.
        const child = spawn(/** @type {string} */ (program), options, { cwd: folder, stdio: 'ignore' })
        child.on('error', reject)
        child.on('exit', (code) => (code === 0 ? resolve() : reject(new Error(`pg_ctl ended with status ${code}`))))
      }),
    stop,
  }
}
