// A PostgreSQL server of the run's own, with the golden content: every measured server gets a database that is a copy of it. Commits are
// on disk before they are answered, as on any server that nobody tuned.

import { execFileSync, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gunzipSync } from 'node:zlib'
import pg from 'pg'
import { startCluster } from './postgres-cluster.mjs'

const folder = dirname(fileURLToPath(import.meta.url))
const goldenProject = join(folder, '..', 'test', 'golden', 'project')
const content = join(folder, '..', 'test', 'golden', 'postgres', 'content.sql.gz')

/** @type {Promise<{ port: number }> | null} */
let server = null
let databases = 0

/**
 * The environment of a service on a fresh copy of the golden content, or of a SQLite file.
 * @param {string} [source] the file
 */
export async function freshDatabase(source) {
  server ??= startServer()
  const { port } = await server
  const template = source === undefined ? 'golden' : await copied(port, source)
  const name = `bench_${++databases}`
  await run(port, 'postgres', `create database ${name} template ${template}`)
  return environmentOf(await portFor(port), name)
}

/** Milliseconds that the network adds to every answer of the server. */
let delay = 0

/** @param {number} milliseconds */
export function addNetwork(milliseconds) {
  delay = milliseconds
}

/** @type {Promise<number> | null} */
let slowPort = null

/** The port by which the measured servers reach the database: with the network between, where there is to be one. */
function portFor(/** @type {number} */ port) {
  if (delay === 0) return port
  slowPort ??= new Promise((resolve, reject) => {
    const words = [join(folder, 'slow-network.mjs'), String(port), String(delay)]
    const network = spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'inherit'] })
    process.on('exit', () => network.kill('SIGKILL'))
    network.once('error', reject)
    network.stdout.once('data', (text) => {
      resolve(Number(text))
      // Neither keeps the run from ending.
      network.stdout.destroy()
      network.unref()
    })
  })
  return slowPort
}

const environmentOf = (/** @type {number} */ port, /** @type {string} */ name) => ({
  DATABASE_CLIENT: 'postgres',
  DATABASE_HOST: '127.0.0.1',
  DATABASE_PORT: String(port),
  DATABASE_NAME: name,
  DATABASE_USERNAME: 'octavo',
  DATABASE_PASSWORD: 'octavo',
  TZ: 'UTC',
})

/** @type {Map<string, Promise<string>>} */
const templates = new Map()

/**
 * The name of a database with the rows of a SQLite file, with Octavo's own indexes and statistics.
 * @param {number} port
 * @param {string} source
 */
function copied(port, source) {
  const make = async () => {
    const name = `copied_${templates.size}`
    await run(port, 'postgres', `create database ${name}`)
    const environment = { ...process.env, ...environmentOf(port, name) }
    const url = `postgres://octavo@127.0.0.1:${port}/${name}`
    octavo(['copy', goldenProject, '--from', source, '--to', url, '--adapt'], environment)
    octavo(['indexes', goldenProject], environment)
    await run(port, name, 'vacuum analyze')
    return name
  }
  const known = templates.get(source) ?? make()
  templates.set(source, known)
  return known
}

/**
 * @param {readonly string[]} command
 * @param {NodeJS.ProcessEnv} env
 */
function octavo(command, env) {
  execFileSync(process.execPath, [join(folder, '..', 'dist', 'main.js'), ...command], { env, stdio: ['ignore', 'ignore', 'inherit'] })
}

async function startServer() {
  const { port } = await startCluster({ isDurable: true })
  await run(port, 'postgres', 'create database golden')
  await run(port, 'golden', gunzipSync(readFileSync(content)).toString('utf8'))
  await run(port, 'golden', 'analyze')
  return { port }
}

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
