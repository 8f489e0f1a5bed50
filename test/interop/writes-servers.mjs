// Strapi and Octavo over one project, each on its own copy of one database; the project's folder is made once.
import { createHmac } from 'node:crypto'
import { copyFileSync, cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gunzipSync } from 'node:zlib'
import Database from 'better-sqlite3'
import { launch } from '../../bench/launch.mjs'
import { prepareStrapi, strapiFolder } from '../../bench/strapi.mjs'
import { modelOf } from './writes-model.mjs'

const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..')
const golden = join(root, 'test', 'golden', 'project')
const token = 'octavo-writes-token'

const write = (file, text) => {
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
}

/** The folder of the golden project, or of the one that `seed` creates, with Strapi installed next to it, and its token. */
export async function prepareProject(seed) {
  const folder = join(root, '.tmp', 'writes', seed === 'golden' ? 'golden' : `model-${seed}`)
  const known = existsSync(join(folder, 'start.db'))
  const goldenTokens = JSON.parse(readFileSync(join(golden, 'tokens.json'), 'utf8'))
  if (!known) {
    await prepareStrapi()
    cpSync(join(strapiFolder, 'config'), join(folder, 'config'), { recursive: true })
    for (const path of ['public/uploads', 'database/migrations']) mkdirSync(join(folder, path), { recursive: true })
    for (const name of ['.env', 'package.json']) copyFileSync(join(strapiFolder, name), join(folder, name))
    if (!existsSync(join(folder, 'node_modules'))) symlinkSync(join(strapiFolder, 'node_modules'), join(folder, 'node_modules'))
    write(join(folder, 'octavo.config.json'), '{ "api": { "rest": { "contract": "strapi" } } }')
    if (seed === 'golden') cpSync(join(golden, 'src'), join(folder, 'src'), { recursive: true })
    else for (const [path, schema] of modelOf(seed)) write(join(folder, path), JSON.stringify(schema, null, 2))
    for (const api of readdirSync(join(folder, 'src', 'api'))) writeCore(folder, api)
    if (seed === 'golden') writeFileSync(join(folder, 'start.db'), gunzipSync(readFileSync(join(golden, 'content.db.gz'))))
    else await makeDatabase(folder)
  }
  return { folder, token: seed === 'golden' ? goldenTokens.full : token, schemas: readSchemas(folder) }
}

function writeCore(folder, api) {
  for (const [kind, factory] of Object.entries({ controllers: 'Controller', services: 'Service', routes: 'Router' }))
    write(
      join(folder, 'src', 'api', api, kind, `${api}.js`),
      `module.exports = require('@strapi/strapi').factories.createCore${factory}('${`api::${api}.${api}`}')\n`,
    )
}

/** Strapi makes the tables; a token, locales, files and users are put in by hand. */
async function makeDatabase(folder) {
  const file = join(folder, 'making.db')
  const strapi = await startStrapi(folder, file)
  await strapi.stop()
  const salt = /API_TOKEN_SALT=(.*)/.exec(readFileSync(join(folder, '.env'), 'utf8'))[1]
  const database = new Database(file)
  const now = Date.now()
  const insert = (table, row) => {
    const names = Object.keys(row)
    database.prepare(`insert into ${table} (${names.join(', ')}) values (${names.map(() => '?').join(', ')})`).run(Object.values(row))
  }
  const document = (name) => ({ document_id: name.padEnd(24, 'x'), created_at: now, updated_at: now, published_at: now })
  const access_key = createHmac('sha512', salt).update(token).digest('hex')
  insert('strapi_api_tokens', { ...document('writes'), name: 'writes', type: 'full-access', kind: 'content-api', access_key })
  for (const code of ['fr', 'de']) insert('i18n_locale', { ...document(code), name: code, code })
  for (let index = 1; index <= 6; index += 1) {
    const [hash, ext, mime] = [`file_${index}`, '.txt', 'text/plain']
    insert('files', {
      ...document(`file${index}`),
      name: `${hash}${ext}`,
      hash,
      ext,
      mime,
      size: 1,
      url: `/uploads/${hash}${ext}`,
      provider: 'local',
      folder_path: '/',
    })
    write(join(folder, 'public', 'uploads', `${hash}${ext}`), 'x')
  }
  for (let index = 1; index <= 4; index += 1)
    insert('up_users', {
      ...document(`user${index}`),
      username: `user${index}`,
      email: `user${index}@example.org`,
      provider: 'local',
      confirmed: 1,
      blocked: 0,
    })
  database.pragma('wal_checkpoint(truncate)')
  database.close()
  copyFileSync(file, join(folder, 'start.db'))
}

const startStrapi = (folder, database) =>
  launch({
    name: 'strapi',
    command: [join(folder, 'node_modules', '.bin', 'strapi'), 'start'],
    folder: mkdtempSync(join(tmpdir(), 'octavo-writes-')),
    workingFolder: folder,
    environment: { DATABASE_FILENAME: database },
    patience: 180_000,
  })

const startOctavo = (folder, database) =>
  launch({
    name: 'octavo',
    command: [join(root, 'dist', 'main.js'), 'start', folder],
    folder: mkdtempSync(join(tmpdir(), 'octavo-writes-')),
    environment: { DATABASE_FILENAME: database, UPLOADS_DIR: join(folder, 'public', 'uploads') },
  })

/** Starts both, each on a copy of the project's database. */
export async function startBoth({ folder }) {
  const servers = []
  for (const [name, start] of Object.entries({ strapi: startStrapi, octavo: startOctavo })) {
    const database = join(mkdtempSync(join(tmpdir(), 'octavo-writes-')), 'content.db')
    copyFileSync(join(folder, 'start.db'), database)
    const server = { name, database, ...(await start(folder, database)) }
    /** Some requests end Strapi's process. */
    server.again = async () => Object.assign(server, await start(folder, database))
    servers.push(server)
  }
  return servers
}

/** The project's schemas by uid. */
function readSchemas(folder) {
  const schemas = new Map()
  for (const api of readdirSync(join(folder, 'src', 'api'))) {
    const file = join(folder, 'src', 'api', api, 'content-types', api, 'schema.json')
    schemas.set(`api::${api}.${api}`, { uid: `api::${api}.${api}`, ...JSON.parse(readFileSync(file, 'utf8')) })
  }
  const below = join(folder, 'src', 'components')
  for (const category of readdirSync(below)) {
    for (const name of readdirSync(join(below, category))) {
      const uid = `${category}.${name.replace('.json', '')}`
      schemas.set(uid, { uid, ...JSON.parse(readFileSync(join(below, category, name), 'utf8')) })
    }
  }
  return schemas
}
