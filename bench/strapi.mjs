// Strapi as the opponent: a project in bench/strapi/ around the golden schemas, installed from the registry when it is
// missing. Nothing of Strapi is kept in this repository; it is only run.

import { spawn } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const here = dirname(fileURLToPath(import.meta.url))
const goldenProject = join(here, '..', 'test', 'golden', 'project')

export const strapiFolder = join(here, 'strapi')

const manifest = {
  name: 'octavo-bench-strapi',
  private: true,
  version: '0.0.0',
  dependencies: {
    '@strapi/strapi': '5.54.0',
    '@strapi/plugin-users-permissions': '5.54.0',
    'better-sqlite3': '12',
    mysql2: '3',
    pg: '8',
    react: '18',
    'react-dom': '18',
    'react-router-dom': '6',
    'styled-components': '6',
  },
  strapi: { uuid: false },
}

/** Production settings, without the admin panel (unless SERVE_ADMIN_PANEL is true), the logger and the rate limit, so that only the content API is measured. */
const configuration = {
  admin: `({ env }) => ({
  auth: { secret: env('ADMIN_JWT_SECRET'), cookie: { secure: false } },
  apiToken: { salt: env('API_TOKEN_SALT') },
  transfer: { token: { salt: env('TRANSFER_TOKEN_SALT') } },
  secrets: { encryptionKey: env('ENCRYPTION_KEY') },
  serveAdminPanel: env.bool('SERVE_ADMIN_PANEL', false),
  autoOpen: false,
})`,
  api: `{ rest: { defaultLimit: 25, maxLimit: 100, withCount: true } }`,
  database: `({ env }) => {
  const client = env('DATABASE_CLIENT', 'sqlite')
  if (client === 'sqlite')
    return { connection: { client, connection: { filename: env('DATABASE_FILENAME') }, useNullAsDefault: true } }
  const connection = {
    host: env('DATABASE_HOST'),
    port: env.int('DATABASE_PORT'),
    database: env('DATABASE_NAME'),
    user: env('DATABASE_USERNAME'),
    password: env('DATABASE_PASSWORD'),
    ...(client === 'postgres' && { schema: 'public' }),
  }
  return { connection: { client, connection, pool: { min: 2, max: 10 } } }
}`,
  middlewares: `[
  'strapi::errors',
  'strapi::security',
  'strapi::cors',
  'strapi::poweredBy',
  'strapi::query',
  'strapi::body',
  'strapi::session',
  'strapi::favicon',
  'strapi::public',
]`,
  plugins: `{ 'users-permissions': { config: { ratelimit: { enabled: false }, jwt: { expiresIn: '3650d' } } } }`,
  server: `({ env }) => ({
  host: '127.0.0.1',
  port: env.int('PORT'),
  app: { keys: env.array('APP_KEYS') },
  logger: { updates: { enabled: false }, startup: { enabled: false } },
})`,
}

/** Writes the project, as the golden schemas are now, and installs Strapi if it is not there. */
export async function prepareStrapi() {
  mkdirSync(strapiFolder, { recursive: true })
  write('package.json', `${JSON.stringify(manifest, null, 2)}\n`)
  for (const [name, value] of Object.entries(configuration)) write(join('config', `${name}.js`), `module.exports = ${value}\n`)
  write('.env', readFileSync(join(goldenProject, '.env'), 'utf8'))
  for (const folder of ['public/uploads', 'database/migrations']) mkdirSync(join(strapiFolder, folder), { recursive: true })

  rmSync(join(strapiFolder, 'src'), { recursive: true, force: true })
  cpSync(join(goldenProject, 'src'), join(strapiFolder, 'src'), { recursive: true })
  for (const api of readdirSync(join(strapiFolder, 'src', 'api'))) writeCore(api)

  const needed = [join('.bin', 'strapi'), 'pg', 'mysql2']
  if (needed.some((name) => !existsSync(join(strapiFolder, 'node_modules', name)))) await install()
}

/** @param {string} api */
function writeCore(api) {
  for (const [folder, factory] of [
    ['controllers', 'createCoreController'],
    ['services', 'createCoreService'],
    ['routes', 'createCoreRouter'],
  ]) {
    write(
      join('src', 'api', api, folder, `${api}.js`),
      `module.exports = require('@strapi/strapi').factories.${factory}('api::${api}.${api}')\n`,
    )
  }
}

/**
 * @param {string} path
 * @param {string} text
 */
function write(path, text) {
  const file = join(strapiFolder, path)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
}

/** @returns {Promise<void>} */
function install() {
  console.log(`Installing Strapi ${manifest.dependencies['@strapi/strapi']} into bench/strapi, which takes some minutes …`)
  return new Promise((resolve, reject) => {
    const options = ['install', '--no-audit', '--no-fund', '--no-package-lock', '--loglevel=error']
    const child = spawn('npm', options, { cwd: strapiFolder, stdio: ['ignore', 'inherit', 'inherit'], timeout: 900_000 })
    child.once('error', reject)
    child.once('close', (code) => {
      if (code === 0) resolve()
      else reject(new Error(`npm could not install Strapi (exit code ${code}); --without-strapi measures without it`))
    })
  })
}
