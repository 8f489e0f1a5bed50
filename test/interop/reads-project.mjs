// The second project on disk: schemas, settings and code for Strapi, settings for Octavo; and its database, filled by Strapi.

import { spawn } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { schemaFiles, types } from './reads-model.mjs'

const here = dirname(fileURLToPath(import.meta.url))

const rest = { defaultLimit: 10, maxLimit: 40, withCount: true }

const settings = {
  admin: `({ env }) => ({ auth: { secret: env('ADMIN_JWT_SECRET') }, apiToken: { salt: env('API_TOKEN_SALT') }, transfer: { token: { salt: env('TRANSFER_TOKEN_SALT') } }, secrets: { encryptionKey: env('ENCRYPTION_KEY') }, serveAdminPanel: false, autoOpen: false })`,
  api: JSON.stringify({ rest }),
  database: `({ env }) => ({ connection: { client: 'sqlite', connection: { filename: env('DATABASE_FILENAME') }, useNullAsDefault: true } })`,
  middlewares: `['strapi::errors', 'strapi::security', 'strapi::cors', 'strapi::query', 'strapi::body', 'strapi::session', 'strapi::favicon', 'strapi::public']`,
  plugins: `{ 'users-permissions': { config: { ratelimit: { enabled: false }, jwt: { expiresIn: '3650d' } } } }`,
  server: `({ env }) => ({ host: '127.0.0.1', port: env.int('PORT'), app: { keys: env.array('APP_KEYS') }, logger: { updates: { enabled: false }, startup: { enabled: false } } })`,
}

const start = `const { existsSync } = require('node:fs')
module.exports = {
  register({ strapi }) { strapi.customFields.register({ name: 'tone', type: 'string' }) },
  async bootstrap({ strapi }) {
    if (!process.env.READS_FILL) return
    try { await require('../reads-content.cjs')(strapi, process.cwd()); process.exit(0) } catch (error) { console.error(error, JSON.stringify(error.details)); process.exit(1) }
  },
}`

/**
 * Writes the project into `folder`, whose node_modules is Strapi's.
 * @param {string} folder
 * @param {string} modules
 */
export function writeProject(folder, modules) {
  rmSync(folder, { recursive: true, force: true })
  const write = (/** @type {string} */ path, /** @type {string} */ text) => {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
  write(
    'package.json',
    JSON.stringify({
      name: 'reads',
      private: true,
      version: '0.0.0',
      dependencies: { '@strapi/strapi': '5.54.0', '@strapi/plugin-users-permissions': '5.54.0' },
      strapi: { uuid: false },
    }),
  )
  for (const [name, value] of Object.entries(settings)) write(`config/${name}.js`, `module.exports = ${value}\n`)
  for (const [path, schema] of Object.entries(schemaFiles())) write(path, JSON.stringify(schema, null, 2))
  for (const uid of Object.keys(types)) {
    const [api, name] = uid.slice('api::'.length).split('.')
    for (const [part, factory] of [
      ['controllers', 'Controller'],
      ['services', 'Service'],
      ['routes', 'Router'],
    ]) {
      write(`src/api/${api}/${part}/${name}.js`, `module.exports = require('@strapi/strapi').factories.createCore${factory}('${uid}')\n`)
    }
  }
  write('src/index.js', start)
  write(
    '.env',
    'APP_KEYS=one,two\nAPI_TOKEN_SALT=salt\nADMIN_JWT_SECRET=admin\nTRANSFER_TOKEN_SALT=transfer\nJWT_SECRET=jwt\nENCRYPTION_KEY=encryption\nSTRAPI_TELEMETRY_DISABLED=true\n',
  )
  write('octavo.config.json', JSON.stringify({ api: { rest: { ...rest, contract: 'strapi' } } }))
  for (const path of ['public/uploads', 'database/migrations']) mkdirSync(join(folder, path), { recursive: true })
  cpSync(join(here, 'reads-content.cjs'), join(folder, 'reads-content.cjs'))
  symlinkSync(modules, join(folder, 'node_modules'))
}

/**
 * Lets Strapi create and fill `database`; the keys of the callers are then in tokens.json of the project.
 * @param {string} folder
 * @param {string} database
 */
export async function fillDatabase(folder, database) {
  for (const end of ['', '-wal', '-shm']) rmSync(database + end, { force: true })
  const { PATH = '', HOME = '' } = process.env
  const child = spawn(process.execPath, [join(folder, 'node_modules/.bin/strapi'), 'start'], {
    cwd: folder,
    env: { PATH, HOME, PORT: '0', NODE_ENV: 'production', DATABASE_FILENAME: database, READS_FILL: 'true' },
    stdio: 'inherit',
  })
  const code = await new Promise((resolve) => child.once('close', resolve))
  if (code !== 0 || !existsSync(database)) throw new Error('Strapi could not fill the database')
}
