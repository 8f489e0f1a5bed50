// Strapi itself, started once on a project, and everything that is in a SQLite database before and afterwards. Strapi is installed by
// `node bench/run.mjs`, in bench/strapi; nothing of it is in this repository.
import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import Database from 'better-sqlite3'
import { strapiFolder } from '../../bench/strapi.mjs'

const modules = join(strapiFolder, 'node_modules')

/** Starts Strapi, waits until it serves, and ends it. */
const once = `
  const { createStrapi } = require('@strapi/strapi')
  const run = async () => {
    const app = await createStrapi({ appDir: process.cwd(), distDir: process.cwd() }).start()
    const { status } = await fetch('http://127.0.0.1:' + app.server.httpServer.address().port + '/_health')
    await app.destroy()
    process.exit(status === 204 ? 0 : 1)
  }
  run().catch((error) => { console.error(error); process.exit(1) })`

/** Lets Strapi start on a project and its database, and ends it once it serves. @throws Error with its output where it does not */
export async function startStrapiOnce(project: string, environment: Readonly<Record<string, string>>): Promise<void> {
  mkdirSync(join(project, 'public', 'uploads'), { recursive: true })
  if (!existsSync(join(project, 'node_modules'))) symlinkSync(modules, join(project, 'node_modules'))
  const env = { ...process.env, NODE_ENV: 'production', HOST: '127.0.0.1', PORT: '0', STRAPI_TELEMETRY_DISABLED: 'true', ...environment }
  const running = promisify(execFile)(process.execPath, ['-e', once], { cwd: project, env, timeout: 120_000 })
  await running.catch((error: { readonly stdout: string; readonly stderr: string }) => {
    throw new Error(`Strapi did not start: ${error.stderr}${error.stdout}`)
  })
}

/** Content of a SQLite file: `table notes …`, `index … `, and rows, each as a line. */
export function everythingIn(file: string): readonly string[] {
  const database = new Database(file, { readonly: true })
  try {
    const objects = database.prepare('select type, name, sql from sqlite_master order by name').all() as readonly Record<string, string>[]
    const rows = objects
      .filter(({ type }) => type === 'table')
      .flatMap(({ name }) =>
        (database.prepare(`select * from "${name}"`).safeIntegers().raw().all() as unknown[][]).map((row) => `${name} ${lineOf(row)}`),
      )
    return [...objects.map(({ type, name, sql }) => `${type} ${name} ${sql ?? ''}`), ...rows]
  } finally {
    database.close()
  }
}

const lineOf = (row: readonly unknown[]): string => JSON.stringify(row, (_, value) => (typeof value === 'bigint' ? String(value) : value))

/** Writes of a Strapi start to its own tables, with reasons. */
const written: readonly (readonly [RegExp, string])[] = [
  [/^strapi_database_schema /, 'what tables there are, where that has changed'],
  [/^strapi_core_store_settings .*"plugin_upload_metrics"/, 'the time of a schedule, at every start'],
  [/^strapi_core_store_settings .*"strapi_content_types_schema"/, 'the types as Strapi has loaded them, at every start'],
  [
    /^strapi_core_store_settings .*"plugin_content_manager_configuration_/,
    'how the pages of the admin panel look, where attributes have changed',
  ],
  [/^admin_permissions(?:_role_lnk)? /, 'what administrators may do with types and attributes that have changed'],
  [
    /^sqlite_sequence .*"(?:strapi_database_schema|strapi_core_store_settings|admin_permissions(?:_role_lnk)?)"/,
    'the numbers of these rows',
  ],
]

/** Changes by a start of Strapi, apart from those of each start. */
export function changedByStrapi(before: readonly string[], after: readonly string[]): readonly string[] {
  const [were, are] = [new Set(before), new Set(after)]
  return [
    ...before.filter((line) => !are.has(line)).map((line) => `- ${line}`),
    ...after.filter((line) => !were.has(line)).map((line) => `+ ${line}`),
  ].filter((line) => !written.some(([own]) => own.test(line.slice(2))))
}
