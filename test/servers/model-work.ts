// Recorded changes of a content model on database servers: copies of the recorded project's database, and their content afterwards.
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { sql } from 'kysely'
import type { ModelWork } from '../../src/database/database.js'
import { runModelSteps } from '../../src/database/sqlite/apply-change-thread.js'
import { createOctavoTables } from '../../src/database/sqlite/create-tables.js'
import { copyDatabase } from '../../src/database/transfer/copy.js'
import { openRowSource, openRowTarget } from '../../src/database/transfer/open-rows.js'
import type { RowColumn, RowSource, RowValue } from '../../src/database/transfer/rows.js'
import type { PlanStep } from '../../src/model/diff/steps.js'
import type { Model } from '../../src/model/schema/types.js'
import { insertChange, isFollowed } from '../../src/project/model-changes/change-log.js'
import type { TestServer } from './server.js'

/** Options of the connection for rows. */
export const rowsOptions = {
  sqlite: { filename: '', busyTimeout: 5_000, mmapBytes: 0, cacheKibibytes: 2_048 },
  server: { schema: 'public', ssl: false as const },
  wait: 20_000,
}

/** The settings of a server at a URL. */
export const settingsOf = (url: string) => ({
  ...{ url, host: '', port: 0, name: '', user: '', password: '', schema: 'public', ssl: false as const },
  ...{ pool: { min: 0, max: 4 }, connectionTimeout: 20_000 },
})

const folder = mkdtempSync(join(tmpdir(), 'octavo-model-work-'))
let files = 0

/** A new file below a temporary folder. */
const newFile = (): string => join(folder, `${files++}.db`)

/** Copies all rows; values that the target cannot represent become the closest value. */
export async function copyRows(from: string, to: string, model: Model): Promise<void> {
  const source = await openRowSource(from, rowsOptions)
  const target = await openRowTarget(to, model, rowsOptions)
  try {
    await copyDatabase(source, target, { onAdapted: () => {}, overwrite: true, report: () => {} })
  } finally {
    await source.close()
    await target.close()
  }
}

const nextChange = {
  version: 'next',
  summary: 'test',
  files: new Map(),
  former: new Map(),
  renames: [],
  kept: [],
  narrowed: [],
  undoes: 0,
  moves: true,
}

/** A change as it is applied: a row of the log completes it. */
export const workOf = (steps: readonly PlanStep[], model: Model, more: Partial<ModelWork> = {}): ModelWork => ({
  steps,
  model,
  isOutdated: isFollowed(0),
  complete: [insertChange(0, nextChange, 0)],
  progress: { done: sql`select 0 as done`, note: () => sql`select 1` },
  ...more,
})

/** The bytes of a database that is copied to a file, as they can be opened in memory. */
export async function copiedToSqlite(url: string, model: Model): Promise<Buffer> {
  const file = newFile()
  await copyRows(url, file, model)
  const database = new Database(file)
  database.pragma('journal_mode = delete')
  database.close()
  return readFileSync(file)
}

/** Applies the steps with the SQLite executor; returns the path of the resulting file. */
export function resultOnSqlite(bytes: Buffer, steps: readonly PlanStep[], model: Model): string {
  const database = new Database(bytes)
  database.pragma('foreign_keys = off')
  createOctavoTables(database)
  database.transaction(() => runModelSteps(database, steps, model))()
  const file = newFile()
  writeFileSync(file, database.serialize())
  database.close()
  return file
}

/** Tables whose rows depend on the order of statements, or that only one kind of database has. */
const isLeftOut = (name: string): boolean => /^(?:octavo_(?!kept_|pending|modified|out_of)|strapi_migrations)/.test(name)

/** Link rows: their ids have no references, and servers assign them with gaps. */
const isBetween = (name: string): boolean => /_(?:lnk|cmps|mph)$/.test(name)

const sortedJson = (_: string, value: unknown): unknown =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)))
    : value

/** A value in the form that all databases have in common, by what the server's column holds. */
function normal({ kind }: RowColumn, value: RowValue): unknown {
  if (value === null) return null
  if (kind === 'json' || (typeof value === 'string' && value.startsWith('{'))) {
    try {
      return JSON.stringify(JSON.parse(String(value)), sortedJson)
    } catch {
      return String(value)
    }
  }
  return kind === 'number' || kind === 'integer' || kind === 'boolean' || kind === 'datetime' ? Number(value) : String(value)
}

/** Rows as texts, by table. */
type Contents = Readonly<Record<string, readonly string[]>>

/** Formats a value for comparison. */
export type ShowValue = (table: string, column: string, value: RowValue) => RowValue

/** All rows. `kindOf`: what a column holds; null: it is left out. */
async function contentsOf(
  source: RowSource,
  kindOf: (table: string, column: RowColumn) => RowColumn | null,
  show: ShowValue = (_table, _column, value) => value,
): Promise<Contents> {
  const found: Record<string, readonly string[]> = {}
  for (const table of await source.tables()) {
    if (isLeftOut(table.name)) continue
    const rows = await source.read({ ...table, key: [] }, null, 0)
    const columns = table.columns.map((column) => kindOf(table.name, column))
    found[table.name] = rows
      .map((row) =>
        JSON.stringify(
          columns
            .flatMap((column, index) => {
              if (column === null) return []
              const shown = show(table.name, column.name, row[index]!)
              return [[column.name, shown === row[index] ? normal(column, shown) : shown] as const]
            })
            .filter(([name]) => !isBetween(table.name) || name !== 'id')
            .sort(([one], [other]) => (one < other ? -1 : 1)),
        ),
      )
      .sort()
  }
  return found
}

/** All rows that a server has, as one text. */
export async function allRows(url: string, show?: ShowValue): Promise<string> {
  const source = await openRowSource(url, rowsOptions)
  try {
    return JSON.stringify(
      Object.entries(await contentsOf(source, (_, column) => column, show)).sort(([one], [other]) => (one < other ? -1 : 1)),
    )
  } finally {
    await source.close()
  }
}

/** Tables in which a server's rows differ from those of a SQLite file, with the rows that only one of them has. */
export async function rowDifferences(file: string, url: string): Promise<Readonly<Record<string, unknown>>> {
  const server = await openRowSource(url, rowsOptions)
  const sqlite = await openRowSource(file, rowsOptions)
  try {
    const kinds = new Map((await server.tables()).flatMap(({ name, columns }) => columns.map((each) => [`${name}.${each.name}`, each])))
    const present = new Set((await sqlite.tables()).flatMap(({ name, columns }) => columns.map((each) => `${name}.${each.name}`)))
    // Servers archive more: values that fit a SQLite column only.
    const theirs = await contentsOf(server, (table, column) =>
      column.name.startsWith('octavo_kept_') && !present.has(`${table}.${column.name}`) ? null : column,
    )
    const ours = await contentsOf(sqlite, (table, column) => kinds.get(`${table}.${column.name}`) ?? column)
    const differing = [...new Set([...Object.keys(theirs), ...Object.keys(ours)])].filter(
      (name) => JSON.stringify(theirs[name]) !== JSON.stringify(ours[name]),
    )
    const only = (rows: readonly string[] = ['no table'], others: readonly string[] = []) =>
      rows.filter((row) => !others.includes(row)).slice(0, 3)
    return Object.fromEntries(
      differing.map((name) => [name, { sqlite: only(ours[name], theirs[name]), server: only(theirs[name], ours[name]) }]),
    )
  } finally {
    await server.close()
    await sqlite.close()
  }
}

/** Copies a database of a server as quickly as it can be: PostgreSQL has templates, elsewhere tables are created and filled. */
export async function cloneOf(server: TestServer, url: string): Promise<string> {
  const name = new URL(url).pathname.slice(1)
  if (server.client === 'postgres') {
    const clone = new URL(server.root)
    clone.pathname = `octavo_test_${process.pid}_${Math.random().toString(36).slice(2, 10)}`
    await server.run(server.root, `create database ${clone.pathname.slice(1)} template ${name}`)
    return clone.href
  }
  const statements = await tablesOf(server, url)
  const clone = await server.createDatabase()
  await server.run(clone, `set foreign_key_checks = 0; ${statements.map(({ create, fill }) => `${create}; ${fill}`).join('; ')}`)
  return clone
}

const known = new Map<string, Promise<readonly { readonly name: string; readonly create: string; readonly fill: string }[]>>()

/** Statements that recreate each table and fill it from the original. */
export function tablesOf(server: TestServer, url: string) {
  const found = known.get(url) ?? readTables(server, url)
  known.set(url, found)
  return found
}

async function readTables(server: TestServer, url: string) {
  const rows = await server.run(
    url,
    "select table_name as name from information_schema.tables where table_schema = database() and table_type = 'BASE TABLE'",
  )
  const from = new URL(url).pathname.slice(1)
  return Promise.all(
    rows.map(async ({ name }) => {
      const [row] = await server.run(url, `show create table \`${name}\``)
      return {
        name: String(name),
        create: String(row!['Create Table']),
        fill: `insert into \`${name}\` select * from \`${from}\`.\`${name}\``,
      }
    }),
  )
}
