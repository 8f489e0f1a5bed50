// A PostgreSQL server of the run, with the golden content: every measured server gets a database that is a copy of it. Commits are
// on disk before they are answered, as on any server with default settings.

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
 * @param {number} [times] number of copies of each article of the file
 */
export async function freshDatabase(source, times = 1) {
  server ??= startServer()
  const { port } = await server
  const template = source === undefined ? 'golden' : await copied(port, source)
  const name = `bench_${++databases}`
  await run(port, 'postgres', `create database ${name} template ${template}`)
  if (times > 1) await multiplyArticles(port, name, times)
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

/** The port with which the measured servers reach the database: through the simulated network, if requested. */
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

/** Distance between the ids of an article's copies, and of rows that belong to them. */
const idDistance = 10_000_000

/** For each table with rows of an article: what its columns are in copy number k, and which rows are copied. */
const copiedTables = [
  {
    table: 'articles',
    columns: {
      document_id: 'left(document_id, 22) || lpad(k::text, 2, chr(48))',
      slug: `slug || '-' || k`,
      contact: `k || '.' || contact`,
      code: `code || '-' || k`,
    },
  },
  { table: 'components_shared_seos', columns: {} },
  {
    table: 'articles_cmps',
    columns: { entity_id: shifted('entity_id'), cmp_id: shifted('cmp_id') },
    where: `component_type = 'shared.seo'`,
  },
  { table: 'articles_author_lnk', columns: { article_id: shifted('article_id'), article_ord: shifted('article_ord') } },
  { table: 'articles_category_lnk', columns: { article_id: shifted('article_id'), article_ord: shifted('article_ord') } },
  { table: 'articles_tags_lnk', columns: { article_id: shifted('article_id'), article_ord: shifted('article_ord') } },
  { table: 'files_related_mph', columns: { related_id: shifted('related_id') }, where: `related_type = 'api::article.article'` },
]

function shifted(/** @type {string} */ column) {
  return `${column} + k * ${idDistance}`
}

/**
 * Adds copies of all articles with their components and links in the database itself, which takes minutes for a million of them, where
 * `octavo copy` of a file takes half an hour. Every index is built again at the end.
 * @param {number} port
 * @param {string} database
 * @param {number} times
 */
async function multiplyArticles(port, database, times) {
  const begun = performance.now()
  const tables = copiedTables.map(({ table }) => `'${table}'`).join(', ')
  const indexes = await run(
    port,
    database,
    `select indexname as name, indexdef as text from pg_indexes i where schemaname = 'public' and tablename in (${tables})
     and not exists (select from pg_constraint where conname = i.indexname)`,
  )
  const steps = [
    ...indexes.map(({ name }) => `drop index "${name}"`),
    ...copiedTables.map(({ table, columns, where = 'true' }) => ({ table, columns, where })),
    ...indexes.map(({ text }) => text),
    'vacuum analyze',
  ]
  for (const [index, step] of steps.entries()) {
    const text = typeof step === 'string' ? step : await copyOf(step)
    await run(port, database, text)
    process.stderr.write(`  multiplying articles: ${index + 1} of ${steps.length}, ${((performance.now() - begun) / 1_000).toFixed(0)} s\r`)
  }
  process.stderr.write('\n')

  /** @param {{ table: string, columns: Record<string, string>, where: string }} step */
  async function copyOf({ table, columns, where }) {
    const names = await run(
      port,
      database,
      `select column_name as name from information_schema.columns where table_schema = 'public' and table_name = '${table}'`,
    )
    const values = names.map(({ name }) => (name === 'id' ? shifted('id') : (columns[name] ?? `"${name}"`)))
    const list = names.map(({ name }) => `"${name}"`).join(', ')
    // References hold in the copies as in the rows that they are copies of.
    return `set session_replication_role = replica; set work_mem = '256MB';
      insert into "${table}" (${list}) select ${values.join(', ')} from "${table}", generate_series(1, ${times - 1}) as k where ${where}`
  }
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
