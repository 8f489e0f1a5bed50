// The servers that are measured, each on a fresh copy of a database: Octavo in its variants, Strapi, and the floors.

import { execFileSync } from 'node:child_process'
import { constants, copyFileSync, cpSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gunzipSync } from 'node:zlib'
import { launch, temporaryFolder } from './launch.mjs'
import { freshDatabase } from './postgres.mjs'
import { prepareStrapi, strapiFolder } from './strapi.mjs'

const here = dirname(fileURLToPath(import.meta.url))
export const octavoFolder = join(here, '..', 'dist')
const octavo = join(octavoFolder, 'main.js')
export const goldenProject = join(here, '..', 'test', 'golden', 'project')

/** True if Octavo has been built; reports it once otherwise. */
export function octavoIsBuilt() {
  if (existsSync(octavo)) return true
  console.log('Octavo is left out: dist/main.js is missing, run `npm run build` first.\n')
  return false
}

/**
 * Copies a database, the golden one if none is given, and returns the path of the copy.
 * @param {string} folder
 * @param {string} [source]
 */
export function copyDatabase(folder, source) {
  const database = join(folder, 'content.db')
  if (source) copyFileSync(source, database, constants.COPYFILE_FICLONE)
  else writeFileSync(database, gunzipSync(readFileSync(join(goldenProject, 'content.db.gz'))))
  return database
}

/**
 * The same with Octavo's own indexes, for a fair comparison with the handwritten queries.
 * @param {string} folder
 * @param {string} [source]
 */
function copyWithIndexes(folder, source) {
  const database = copyDatabase(folder, source)
  if (existsSync(octavo)) createIndexes({ DATABASE_FILENAME: database })
  return database
}

/**
 * Creates Octavo's own indexes, which a service creates while it serves: only the time after that is measured.
 * @param {Record<string, string>} environment
 */
function createIndexes(environment) {
  execFileSync(process.execPath, [octavo, 'indexes', goldenProject], { env: { ...process.env, ...environment }, stdio: 'ignore' })
}

/**
 * @param {string | undefined} source
 * @param {number} times
 * @param {boolean} indexes
 */
async function postgresFor(source, times, indexes) {
  const environment = await freshDatabase(source, times)
  if (indexes) createIndexes(environment)
  return environment
}

/**
 * @typedef {object} Options
 * @property {string} [database] the database to copy; the golden one if missing
 * @property {number} [times] number of copies of each of its articles, on PostgreSQL
 * @property {string} [readyPath]
 * @property {number} [pollEvery]
 */

/** Database of the servers: `sqlite`, or `postgres`. */
let client = 'sqlite'

/** @param {string} chosen */
export function chooseDatabase(chosen) {
  if (chosen !== 'sqlite' && chosen !== 'postgres') throw new Error(`Unknown database ${chosen}: sqlite or postgres`)
  client = chosen
}

export const isOnPostgres = () => client === 'postgres'

/**
 * `cacheBytes`: none unless it says otherwise, so that every read is executed.
 * @param {Options & { readers?: number, indexes?: boolean, cacheBytes?: number, environment?: Record<string, string> }} options
 */
export async function startOctavo({ database, times = 1, readers = 2, indexes = false, cacheBytes = 0, environment = {}, ...rest } = {}) {
  const folder = temporaryFolder()
  const project = join(folder, 'project')
  cpSync(goldenProject, project, { recursive: true })
  const settings = join(project, 'octavo.config.json')
  writeFileSync(settings, JSON.stringify({ ...JSON.parse(readFileSync(settings, 'utf8')), limits: { cacheBytes } }))
  return launch({
    name: isOnPostgres() ? 'Octavo' : `Octavo, ${readers} reader${readers === 1 ? '' : 's'}`,
    command: [octavo, 'start', project],
    folder,
    environment: {
      ...(isOnPostgres()
        ? await postgresFor(database, times, indexes)
        : { DATABASE_FILENAME: indexes ? copyWithIndexes(folder, database) : copyDatabase(folder, database) }),
      UPLOADS_DIR: join(project, 'uploads'),
      OCTAVO_DATABASE_READER_THREADS: String(readers),
      ...(indexes && { OCTAVO_DATABASE_INDEXES: 'true' }),
      ...environment,
    },
    ...rest,
  })
}

/** @param {Options} options */
export async function startStrapi({ database, times = 1, ...rest } = {}) {
  await prepareStrapi()
  const folder = temporaryFolder()
  return launch({
    name: 'Strapi',
    command: [join(strapiFolder, 'node_modules', '.bin', 'strapi'), 'start'],
    folder,
    workingFolder: strapiFolder,
    environment: isOnPostgres() ? await freshDatabase(database, times) : { DATABASE_FILENAME: copyDatabase(folder, database) },
    patience: 120_000,
    ...rest,
  })
}

/** @param {Options} options */
export function startHandWritten({ database, ...rest } = {}) {
  const folder = temporaryFolder()
  return launch({
    name: 'hand-written',
    command: [join(here, 'floors', 'hand-written.mjs')],
    folder,
    environment: { DATABASE_FILENAME: copyWithIndexes(folder, database) },
    ...rest,
  })
}

/** @param {string} source origin of the server whose answers are repeated */
export function startSameBytes(source) {
  const folder = temporaryFolder()
  return launch({ name: 'same bytes', command: [join(here, 'floors', 'same-bytes.mjs')], folder, environment: { SOURCE: source } })
}

/** @param {string} source origin of the server whose answers are repeated */
export function startFastify(source) {
  const folder = temporaryFolder()
  return launch({ name: 'Fastify', command: [join(here, 'floors', 'fastify.mjs')], folder, environment: { SOURCE: source } })
}

/**
 * The server under `name`, as options of the command line call it.
 * @param {string} name
 * @param {Options} options
 */
export function startNamed(name, options) {
  if (name === 'octavo') return startOctavo({ ...options, readers: 2, indexes: true })
  if (name === 'strapi') return startStrapi(options)
  throw new Error(`Unknown server ${name}: octavo or strapi`)
}
