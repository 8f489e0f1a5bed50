// A PostgreSQL server of the run's own, with the golden content: every measured server gets a database that is a copy of it. Commits are
// on disk before they are answered, as on any server that nobody tuned.

import { execFileSync, spawnSync } from 'node:child_process'
import { chownSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir, userInfo } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gunzipSync } from 'node:zlib'
import pg from 'pg'

const content = join(dirname(fileURLToPath(import.meta.url)), '..', 'test', 'golden', 'postgres', 'content.sql.gz')

/** @type {Promise<{ host: string, port: number }> | null} */
let server = null
let databases = 0

/** The environment of a service on a fresh copy of the golden content. */
export async function freshDatabase() {
  server ??= startServer()
  const { host, port } = await server
  const name = `bench_${++databases}`
  await run(port, 'postgres', `create database ${name} template golden`)
  return {
    DATABASE_CLIENT: 'postgres',
    DATABASE_HOST: host,
    DATABASE_PORT: String(port),
    DATABASE_NAME: name,
    DATABASE_USERNAME: 'octavo',
    DATABASE_PASSWORD: 'octavo',
    TZ: 'UTC',
  }
}

async function startServer() {
  const debian = '/usr/lib/postgresql'
  const versions = existsSync(debian) ? readdirSync(debian).sort((one, other) => Number(other) - Number(one)) : []
  const folders = [...(process.env.PATH ?? '').split(':'), ...versions.map((version) => join(debian, version, 'bin'))]
  const programs = folders.find((folder) => existsSync(join(folder, 'initdb')))
  if (programs === undefined) throw new Error('initdb was not found: install PostgreSQL')
  const folder = mkdtempSync(join(tmpdir(), 'octavo-bench-postgres-'))
  const isRoot = userInfo().uid === 0
  // Root may not run a server.
  if (isRoot) chownSync(folder, idOf('-u'), idOf('-g'))
  const as = isRoot ? ['runuser', '-u', 'postgres', '--'] : []
  const command = (/** @type {string} */ program, /** @type {string[]} */ ...options) => {
    const [first, ...rest] = [...as, join(programs, program), ...options]
    execFileSync(/** @type {string} */ (first), rest, { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] })
  }
  const data = join(folder, 'data')
  command('initdb', '-D', data, '-U', 'octavo', '--auth=trust', '--locale=C.UTF-8', '-E', 'UTF8')
  const port = await freePort()
  const settings = `-p ${port} -k ${folder} -c listen_addresses=127.0.0.1 -c max_connections=200`
  command('pg_ctl', '-D', data, '-l', join(folder, 'log'), '-o', settings, '-w', 'start')
  process.on('exit', () => {
    command('pg_ctl', '-D', data, '-m', 'immediate', '-w', 'stop')
    rmSync(folder, { recursive: true, force: true })
  })
  await run(port, 'postgres', 'create database golden')
  await run(port, 'golden', gunzipSync(readFileSync(content)).toString('utf8'))
  await run(port, 'golden', 'analyze')
  return { host: '127.0.0.1', port }
}

/** @param {string} option */
const idOf = (option) => Number(spawnSync('id', [option, 'postgres'], { encoding: 'utf8' }).stdout)

/**
 * @param {number} port
 * @param {string} database
 * @param {string} text
 */
async function run(port, database, text) {
  const client = new pg.Client({ host: '127.0.0.1', port, user: 'octavo', database })
  await client.connect()
  try {
    return (await client.query(text)).rows
  } finally {
    await client.end()
  }
}

/** @returns {Promise<number>} */
const freePort = () =>
  new Promise((resolve, reject) => {
    const probe = createServer().once('error', reject)
    probe.listen(0, '127.0.0.1', () => {
      const { port } = /** @type {import('node:net').AddressInfo} */ (probe.address())
      probe.close(() => resolve(port))
    })
  })
