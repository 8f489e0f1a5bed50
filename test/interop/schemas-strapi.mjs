// Real Strapi on a project of schemas: one process that starts it, sends requests, and reports the resulting database.

import { execFile } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

const settings = {
  admin: `{ auth: { secret: 'admin' }, apiToken: { salt: 'salt' }, transfer: { token: { salt: 'transfer' } }, secrets: { encryptionKey: 'encryption' }, serveAdminPanel: false, autoOpen: false }`,
  api: `{ rest: { defaultLimit: 25, maxLimit: 100, withCount: true } }`,
  database: `{ connection: { client: 'sqlite', connection: { filename: __dirname + '/../data.db' }, useNullAsDefault: true } }`,
  middlewares: `['strapi::errors', 'strapi::security', 'strapi::cors', 'strapi::query', 'strapi::body', 'strapi::session', 'strapi::favicon', 'strapi::public']`,
  plugins: `{ 'users-permissions': { config: { jwtSecret: 'jwt' } } }`,
  server: `{ host: '127.0.0.1', port: 0, app: { keys: ['one', 'two'] }, logger: { updates: { enabled: false }, startup: { enabled: false } } }`,
}

const manifest = {
  name: 'schemas',
  private: true,
  version: '0.0.0',
  dependencies: { '@strapi/strapi': '5.54.0', '@strapi/plugin-users-permissions': '5.54.0' },
  strapi: { uuid: false },
}

/** Starts Strapi, sends the conversation of each schema, and writes tables and responses to a file. */
const asking = `
const { createStrapi } = require('@strapi/strapi')
const { readFileSync, writeFileSync } = require('node:fs')
// Requests that end a real process: noted here, so that the conversations go on.
let ends = 0
process.on('unhandledRejection', () => (ends += 1))
process.on('uncaughtException', () => (ends += 1))
const run = async () => {
  const { locales, conversations } = JSON.parse(readFileSync('conversations.json', 'utf8'))
  const app = await createStrapi({ appDir: process.cwd(), distDir: process.cwd() }).start()
  app.log.level = 'silent'
  const connection = app.db.connection
  const tables = await connection.raw('select name, sql from sqlite_master where sql is not null order by name')
  for (const code of locales) await app.plugin('i18n').service('locales').create({ code, name: code })
  const { accessKey } = await app.service('admin::api-token').create({ name: 'all', description: '', type: 'full-access', lifespan: null })
  const origin = 'http://127.0.0.1:' + app.server.httpServer.address().port
  const answers = []
  for (const requests of conversations) {
    const known = {}
    const responses = []
    for (const { method, path, body, as } of requests) {
      const fill = (text) => text.replace(/\\$\\{(\\w+)\\}/g, (all, name) => known[name] ?? 'absent')
      const before = ends
      const response = await fetch(origin + fill(path), {
        method,
        headers: { authorization: 'Bearer ' + accessKey, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
        body: body === undefined ? undefined : fill(JSON.stringify(body)),
      })
      const text = await response.text()
      await new Promise((resolve) => setImmediate(resolve))
      const json = text === '' ? null : JSON.parse(text)
      if (as !== undefined) known[as] = (json && json.data && json.data.documentId) || 'absent'
      responses.push({ status: response.status, body: json, ...(ends > before && { ends: true }) })
    }
    answers.push(responses)
  }
  writeFileSync('answers.json', JSON.stringify({ tables, answers }))
  process.exit(0)
}
run().catch((error) => { console.error(error); process.exit(1) })
`

/**
 * @typedef {{ method: string, path: string, body?: unknown, as?: string }} Request
 * @typedef {{ status: number, body: any }} Response
 */

/** The files that only Strapi needs: its settings, and routes for the types.
 * @param {readonly { api: string, name: string, uid: string }[]} types */
export function strapiFiles(types) {
  const files = /** @type {Record<string, string>} */ ({ 'package.json': JSON.stringify(manifest) })
  for (const [name, value] of Object.entries(settings)) files[`config/${name}.js`] = `module.exports = ${value}\n`
  for (const { api, name, uid } of types)
    for (const [part, factory] of [
      ['controllers', 'Controller'],
      ['services', 'Service'],
      ['routes', 'Router'],
    ])
      files[`src/api/${api}/${part}/${name}.js`] = `module.exports = require('@strapi/strapi').factories.createCore${factory}('${uid}')\n`
  return files
}

/**
 * Resolves to what Strapi made and answered, or to why it did not start.
 * @param {string} folder
 * @param {string} modules
 * @param {Readonly<Record<string, unknown>>} schemas files by path
 * @param {readonly { api: string, name: string, uid: string }[]} types
 * @param {readonly (readonly Request[])[]} conversations
 * @param {readonly string[]} locales
 * @returns {Promise<{ tables: readonly { name: string, sql: string }[], answers: readonly (readonly Response[])[] } | { refusal: string }>}
 */
export async function askStrapi(folder, modules, schemas, types, conversations, locales) {
  rmSync(folder, { recursive: true, force: true })
  const all = { ...strapiFiles(types), ...schemas, 'asking.cjs': asking, 'conversations.json': { locales, conversations } }
  for (const [path, content] of Object.entries(all)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), typeof content === 'string' ? content : JSON.stringify(content))
  }
  for (const path of ['public/uploads', 'database/migrations']) mkdirSync(join(folder, path), { recursive: true })
  symlinkSync(modules, join(folder, 'node_modules'))
  const env = { PATH: process.env.PATH, HOME: process.env.HOME, NODE_ENV: 'production', STRAPI_TELEMETRY_DISABLED: 'true' }
  const output = await new Promise((resolve) => {
    execFile(process.execPath, ['asking.cjs'], { cwd: folder, env, timeout: 600_000, maxBuffer: 1 << 28 }, (error, out, err) =>
      resolve(error === null ? null : `${err}\n${out}`),
    )
  })
  if (output !== null) return { refusal: output }
  return JSON.parse(readFileSync(join(folder, 'answers.json'), 'utf8'))
}
