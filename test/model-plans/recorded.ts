// Recorded changes of a content model (test/golden/model): what Strapi's database had before and after, and running our plan on it.
import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import Database from 'better-sqlite3'
import { runModelSteps } from '../../src/database/sqlite/apply-change-thread.js'
import { createOctavoTables } from '../../src/database/sqlite/create-tables.js'
import { planModelChange } from '../../src/model/diff/plan.js'
import type { ModelPlan, PlanChoices, Rename } from '../../src/model/diff/types.js'
import { loadModel } from '../../src/model/schema/load.js'
import type { Model } from '../../src/model/schema/types.js'

const golden = join(import.meta.dirname, '..', 'golden', 'model')

export type Row = Readonly<Record<string, unknown>>

interface ChangedRow {
  readonly id: number
  readonly columns: readonly { readonly column: string; readonly after: unknown }[]
}

interface RowChanges {
  readonly added?: readonly Row[]
  readonly removed?: readonly Row[]
  readonly changed?: readonly ChangedRow[]
  readonly newTable?: boolean
  readonly tableGone?: boolean
  readonly rows?: readonly Row[]
}

/** One recorded change. */
export interface RecordedChange {
  readonly name: string
  readonly group: string
  readonly prepare?: unknown
  readonly steps: readonly { readonly restart?: string; readonly outcome?: string; readonly environment?: unknown }[]
  readonly filesAfter: Readonly<Record<string, string>>
  readonly filesDeleted: readonly string[]
  readonly database: {
    readonly sqlite?: Readonly<
      Record<'added' | 'removed' | 'changed', readonly { what: string; sql?: string; after?: string }[] | undefined>
    >
    readonly rows?: Readonly<Record<string, RowChanges>>
  }
}

/** All recorded changes. */
export const recordedChanges: readonly RecordedChange[] = gunzipSync(readFileSync(join(golden, 'changes.jsonl.gz')))
  .toString()
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line))

/** Models that Octavo does not load: Strapi starts with them, and responds with 500 or not at all. */
export const refused = new Set([
  'add-relation-one-to-many-self-both-ways',
  'add-relation-inverse-name-is-a-relation',
  'add-relation-morph-many-inverse',
  'remove-relation-self',
  'zone-with-unknown-component',
  'start-reserved-attribute-created-at',
  'start-relation-mapped-by-missing',
  'start-bad-default',
  'start-bad-regex',
])

/** Changes that involve more than the model: types of extensions, a migration file, an option that Octavo does not read. */
export const others = new Set(['create-in-plugin-extension', 'migration-file-renames-column', 'disk-column-name-option'])

/** Those that one start took over, from the project as it is. */
export const isPlain = ({ prepare, steps }: RecordedChange): boolean => {
  const starts = steps.filter(({ restart }) => restart !== undefined)
  return prepare === undefined && starts.length === 1 && starts[0]!.outcome === 'started' && starts[0]!.environment === undefined
}

/** Unpacks the project of all recordings. */
export function unpackProject(folder: string): string {
  execFileSync('tar', ['xzf', join(golden, 'project.tar.gz'), '-C', folder])
  return join(folder, 'project')
}

/** The model after the change: the project's files with those of the recording. */
export async function modelAfter(
  change: Pick<RecordedChange, 'name' | 'filesAfter' | 'filesDeleted'>,
  project: string,
  folder: string,
): Promise<Model> {
  const copy = join(folder, change.name)
  mkdirSync(copy)
  cpSync(join(project, 'src'), join(copy, 'src'), { recursive: true })
  for (const path of change.filesDeleted) rmSync(join(copy, path), { recursive: true, force: true })
  for (const [path, text] of Object.entries(change.filesAfter)) {
    mkdirSync(dirname(join(copy, path)), { recursive: true })
    writeFileSync(join(copy, path), text)
  }
  return loadModel({ folder: copy })
}

/** Runs the plan of a change on a copy of the project's database. */
export function runPlan(project: string, from: Model, to: Model, renames: readonly Rename[], choices: PlanChoices = {}) {
  const plan: ModelPlan = planModelChange(from, to, renames, choices)
  const database = new Database(readFileSync(join(project, 'content.db')))
  database.pragma('foreign_keys = off')
  createOctavoTables(database)
  const counts = plan.losses.map(({ name, count: { text, values } }) => {
    const { count } = database.prepare(text.join('?')).get(...values) as { count: number }
    return [name, count] as const
  })
  const unmet = plan.conditions.map(({ name, count: { text, values } }) => {
    const { count } = database.prepare(text.join('?')).get(...values) as { count: number }
    return [name, count] as const
  })
  database.transaction(() => runModelSteps(database, plan.steps, to))()
  return { plan, database, counts: Object.fromEntries(counts), unmet: Object.fromEntries(unmet) }
}

const tablesIn = (database: Database.Database): readonly string[] =>
  database
    .prepare("select name from sqlite_schema where type = 'table' and name not like 'sqlite_%' order by name")
    .pluck()
    .all() as string[]

/** Tables that hold no content, but what Strapi's panel and its starts keep. */
const isBookkeeping = (name: string): boolean => /^(admin_|strapi_|octavo_|up_)/.test(name)

/** All rows of content, without archived columns, and without order of columns. */
export const contentOf = (database: Database.Database): Readonly<Record<string, readonly Row[]>> =>
  Object.fromEntries(
    tablesIn(database)
      .filter((name) => !isBookkeeping(name))
      .map((name) => [name, database.prepare(`select * from "${name}" order by id`).all() as Row[]]),
  )

const withoutKept = (row: Row): Row => Object.fromEntries(Object.entries(row).filter(([name]) => !name.startsWith('octavo_kept_')))
const sorted = (row: Row): string =>
  JSON.stringify(Object.fromEntries(Object.entries(row).sort(([one], [other]) => (one < other ? -1 : 1))))

/** Strapi's content after the change. */
function strapisContent(project: string, { database: { rows = {} } }: RecordedChange): Readonly<Record<string, readonly Row[]>> {
  const base = new Database(join(project, 'content.db'), { readonly: true })
  const content = { ...contentOf(base) }
  base.close()
  for (const [table, changes] of Object.entries(rows)) {
    if (isBookkeeping(table)) continue
    if (changes.tableGone) delete content[table]
    else content[table] = changedRows(changes.newTable ? (changes.rows ?? []) : (content[table] ?? []), changes)
  }
  return content
}

function changedRows(rows: readonly Row[], { added = [], removed = [], changed = [] }: RowChanges): readonly Row[] {
  const gone = new Set(removed.map(({ id }) => id))
  const changes = new Map(changed.map((change) => [change.id, change]))
  return [...rows.filter(({ id }) => !gone.has(id)).map((row) => changedRow(row, changes.get(row.id as number))), ...added]
}

function changedRow(row: Row, change: ChangedRow | undefined): Row {
  const next: Record<string, unknown> = { ...row }
  for (const { column, after } of change?.columns ?? []) {
    if (after === '(column gone)') delete next[column]
    else next[column] = after
  }
  return next
}

/** Tables in which Octavo's rows differ from Strapi's, with the rows that only one of both has. */
export function differences(project: string, change: RecordedChange, database: Database.Database) {
  const [theirs, ours] = [strapisContent(project, change), contentOf(database)]
  const found: Record<string, { readonly strapi: readonly string[]; readonly octavo: readonly string[] }> = {}
  for (const table of [...new Set([...Object.keys(theirs), ...Object.keys(ours)])].sort()) {
    const [strapi, octavo] = [(theirs[table] ?? []).map(sorted), (ours[table] ?? []).map(withoutKept).map(sorted)]
    const only = (rows: readonly string[], others: readonly string[]) => rows.filter((row) => !others.includes(row))
    if (theirs[table] === undefined || ours[table] === undefined || only(strapi, octavo).length + only(octavo, strapi).length > 0)
      found[table] = { strapi: only(strapi, octavo), octavo: only(octavo, strapi) }
  }
  return found
}

/** The columns, foreign keys and indexes of all tables except archived ones, as text. */
export function layoutIn(database: Database.Database): Readonly<Record<string, readonly string[]>> {
  return Object.fromEntries(
    tablesIn(database)
      .filter((name) => !name.startsWith('octavo_'))
      .map((name) => {
        const columns = database.prepare('select name, lower(type) as type from pragma_table_info(?)').all(name) as Row[]
        const indexes = database
          .prepare("select name, sql from sqlite_schema where type = 'index' and tbl_name = ? and sql is not null")
          .all(name)
        return [
          name,
          [
            ...columns.filter((column) => !String(column.name).startsWith('octavo_kept_')).map((column) => `${column.name} ${column.type}`),
            ...new Set(
              (database.pragma(`foreign_key_list("${name}")`) as Row[]).map(
                (key) => `${key.from} → ${key.table}.${key.to} ${key.on_delete}`,
              ),
            ),
            ...(indexes as { sql: string }[]).map(({ sql }) => sql.replace(/[`"]/g, '').toLowerCase()),
          ].sort(),
        ]
      }),
  )
}

/** The layout that Strapi has after the change, rebuilt from its statements. */
export function strapisLayout(project: string, { database: { sqlite } }: RecordedChange): ReturnType<typeof layoutIn> {
  const base = new Database(join(project, 'content.db'), { readonly: true })
  const found = base
    .prepare("select type || ' ' || name as what, sql from sqlite_schema where sql is not null and name not like 'sqlite_%'")
    .all()
  base.close()
  const statements = new Map((found as { what: string; sql: string }[]).map(({ what, sql }) => [what, sql]))
  for (const { what } of sqlite?.removed ?? []) statements.delete(what)
  for (const { what, sql, after } of [...(sqlite?.added ?? []), ...(sqlite?.changed ?? [])]) statements.set(what, (sql ?? after)!)
  const made = new Database(':memory:')
  const inOrder = [...statements].sort(([one], [other]) => Number(one.startsWith('index ')) - Number(other.startsWith('index ')))
  for (const [, sql] of inOrder) made.exec(sql)
  return layoutIn(made)
}

/** Tables whose columns or indexes differ from Strapi's. */
export function layoutDifferences(project: string, change: RecordedChange, database: Database.Database) {
  const [theirs, ours] = [strapisLayout(project, change), layoutIn(database)]
  return [...new Set([...Object.keys(theirs), ...Object.keys(ours)])]
    .filter((table) => JSON.stringify(theirs[table]) !== JSON.stringify(ours[table]))
    .map((table) => ({
      table,
      strapi: (theirs[table] ?? ['no table']).filter((line) => !ours[table]?.includes(line)),
      octavo: (ours[table] ?? ['no table']).filter((line) => !theirs[table]?.includes(line)),
    }))
}
