// SQLite as the source or target of copied rows.
import type { Database } from 'better-sqlite3'
import { quoted } from '../../model/tables/table.js'
import type {
  CoercedValue,
  CopiedRow,
  CopyProgress,
  RowColumn,
  RowReference,
  RowSource,
  RowTable,
  RowTarget,
  RowValue,
  ValueKind,
} from '../transfer/rows.js'
import { exactNumber, fullTime, isDecimal } from '../transfer/rows.js'

const progressTable = 'octavo_copy_progress'

/** Value kinds by declared type; the first match wins. */
const kinds: readonly (readonly [RegExp, ValueKind])[] = [
  [/bool/, 'boolean'],
  [/datetime|timestamp/, 'datetime'],
  [/date/, 'date'],
  [/time/, 'time'],
  [/json/, 'json'],
  [/int/, 'integer'],
  [/char|text|clob/, 'text'],
  [/float|real|double|decimal|numeric/, 'number'],
  [/blob/, 'bytes'],
]

const kindOf = (type: string): ValueKind => kinds.find(([form]) => form.test(type.toLowerCase()))?.[1] ?? 'other'

const list = (columns: readonly string[]): string => columns.map(quoted).join(', ')

interface ColumnRow {
  readonly name: string
  readonly type: string
  readonly pk: number
}

function tablesOf(database: Database): readonly RowTable[] {
  const names = database
    .prepare(
      `select name from pragma_table_list where schema = 'main' and type = 'table' and name not like 'sqlite\\_%' escape '\\'
       and name <> '${progressTable}' order by name`,
    )
    .pluck()
    .all() as string[]
  const columns = database.prepare('select name, type, pk from pragma_table_info(?)')
  return names.map((name) => {
    const rows = columns.all(name) as ColumnRow[]
    const key = rows.filter(({ pk }) => pk > 0).sort((one, other) => one.pk - other.pk)
    return {
      name,
      columns: rows.map((row) => ({ name: row.name, kind: kindOf(row.type), type: row.type })),
      key: key.map((row) => row.name),
    }
  })
}

/** Integers are read as bigints to preserve all digits. */
const received = (value: unknown): RowValue =>
  typeof value === 'bigint' && Number.isSafeInteger(Number(value)) ? Number(value) : (value as RowValue)

/** Integers are bound as bigints, or they would be stored as floats. */
const sent = (value: RowValue): RowValue =>
  typeof value === 'number' && Number.isSafeInteger(value) && !Object.is(value, -0) ? BigInt(value) : value

function read(database: Database, { name, columns, key }: RowTable, after: CopiedRow | null, limit: number): readonly CopiedRow[] {
  const afterKey = after === null || key.length === 0 ? '' : ` where (${list(key)}) > (${key.map(() => '?').join(', ')})`
  const order = key.length === 0 ? '' : ` order by ${list(key)} limit ${limit}`
  const names = list(columns.map((column) => column.name))
  const statement = database
    .prepare(`select ${names} from ${quoted(name)}${afterKey}${order}`)
    .raw()
    .safeIntegers()
  const rows = statement.all(...(afterKey === '' ? [] : after!.map(sent))) as unknown[][]
  return rows.map((row) => row.map(received))
}

function readWhere(
  database: Database,
  { name, columns, key }: RowTable,
  column: string,
  values: readonly RowValue[],
): readonly CopiedRow[] {
  const order = key.length === 0 ? '' : ` order by ${list(key)}`
  const statement = database
    .prepare(`select ${list(columns.map((each) => each.name))} from ${quoted(name)} where ${selectedBy([column])}${order}`)
    .raw()
    .safeIntegers()
  return (statement.all(jsonList(values)) as unknown[][]).map((row) => row.map(received))
}

/** A condition with one JSON list of allowed values per column. */
export const selectedBy = (columns: readonly string[]): string =>
  columns.map((column) => `${quoted(column)} in (select value from json_each(?))`).join(' and ')

export const jsonList = (values: readonly RowValue[]): string => JSON.stringify(values)

export const reading = (
  database: Database,
  name: string,
): Pick<RowSource, 'name' | 'tables' | 'count' | 'read' | 'readWhere' | 'lastNumbers'> => ({
  name,
  tables: async () => tablesOf(database),
  count: async (table) =>
    database
      .prepare(`select count(*) from ${quoted(table.name)}`)
      .pluck()
      .get() as number,
  read: async (table, after, limit) => read(database, table, after, limit),
  readWhere: async (table, column, values) => readWhere(database, table, column, values),
  lastNumbers: async () => {
    if (!hasTable(database, 'sqlite_sequence')) return new Map()
    const rows = database.prepare('select name, seq from sqlite_sequence').raw().all() as [string, number][]
    return new Map(rows)
  },
})

const hasTable = (database: Database, name: string): boolean =>
  database.prepare("select 1 from sqlite_schema where type = 'table' and name = ?").get(name) !== undefined

/** The source of a copy. The open transaction, if any, is the snapshot. */
export function sqliteSource(database: Database, name: string, close: () => void): RowSource {
  return {
    ...reading(database, name),
    missingTargets: async ({ name: table, key }, { column, to }) => {
      if (key.length === 0) return []
      const own = quoted(column)
      const other = quoted(to.column)
      const text = `select ${key.map((each) => `o.${quoted(each)}`).join(', ')} from ${quoted(table)} o
        where o.${own} is not null and not exists (select 1 from ${quoted(to.table)} t where t.${other} = o.${own})`
      const rows = database.prepare(text).raw().safeIntegers().all() as unknown[][]
      return rows.map((row) => row.map(received))
    },
    close: async () => close(),
  }
}

/** JSON without whitespace; numbers are left as written. */
const compact = (json: string): string => json.replace(/("(?:[^"\\]|\\[\s\S])*"?)|\s+/g, (_, text: string | undefined) => text ?? '')

/** Coerces a value to a column kind. */
function fitted(kind: ValueKind, value: RowValue): CoercedValue {
  if (typeof value !== 'string') return { value }
  if (kind === 'json') return fittedJson(value)
  if (kind === 'time') return { value: fullTime(value) }
  // Numbers arrive as text only if a double cannot hold them.
  const number = Number(value)
  if (kind === 'number' || kind === 'integer') {
    if (value === 'NaN') return { value: null, problem: 'is not a number' }
    return value.trim() === '' || Number.isNaN(number) ? { value } : { value: number, problem: 'has more digits than can be stored' }
  }
  if (kind !== 'datetime') return { value }
  if (/^-?infinity$/.test(value)) return { value: null, problem: 'is not a timestamp' }
  const finer = /^(.*\.\d{3})\d+( BC)?$/.exec(value)
  if (finer === null) return { value }
  const timestamp = Date.parse(`${finer[1]}`)
  return { value: Number.isNaN(timestamp) ? null : timestamp, problem: 'is finer than milliseconds' }
}

/** A bare number loses digits: the column has numeric affinity. */
function fittedJson(value: string): CoercedValue {
  if (isDecimal(value) && exactNumber(value) === null) return { value: Number(value), problem: 'has more digits than can be stored' }
  return { value: isJson(value) ? compact(value) : value }
}

const isJson = (text: string): boolean => {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

function referencesOf(database: Database): readonly RowReference[] {
  const keys = database.prepare(
    'select "from" as own, "table" as target, "to" as other, on_delete as action from pragma_foreign_key_list(?)',
  )
  return tablesOf(database).flatMap(({ name }) =>
    (keys.all(name) as { own: string; target: string; other: string | null; action: string }[]).map(({ own, target, other, action }) => ({
      table: name,
      column: own,
      to: { table: target, column: other ?? 'id' },
      cascades: action === 'CASCADE',
    })),
  )
}

export function insertRows(database: Database, { name, columns }: RowTable, rows: readonly CopiedRow[]): void {
  const names = list(columns.map((column) => column.name))
  const statement = database.prepare(`insert into ${quoted(name)} (${names}) values (${columns.map(() => '?').join(', ')})`)
  for (const row of rows) statement.run(...row.map(sent))
}

export function updateRows(database: Database, { name, columns, key }: RowTable, rows: readonly CopiedRow[]): void {
  const assigned = columns.map((column) => `${quoted(column.name)} = ?`).join(', ')
  const statement = database.prepare(
    `update ${quoted(name)} set ${assigned} where ${key.map((each) => `${quoted(each)} = ?`).join(' and ')}`,
  )
  const positions = key.map((each) => columns.findIndex((column) => column.name === each))
  for (const row of rows) statement.run(...row.map(sent), ...positions.map((position) => sent(row[position]!)))
}

/** Returns a function that coerces values to the column. */
export const coercionTo =
  ({ kind }: RowColumn) =>
  (value: RowValue): CoercedValue =>
    fitted(kind, value)

const noteProgress = (database: Database, { part, source, last }: CopyProgress): void =>
  void database
    .prepare(`insert into ${progressTable} (part, source, last) values (?, ?, ?) on conflict (part) do update set last = excluded.last`)
    .run(part, source, JSON.stringify(last))

export function sqliteTarget(database: Database, name: string, close: () => void): RowTarget {
  const inTransaction = async (work: () => void): Promise<void> => database.transaction(work).immediate()
  return {
    ...reading(database, name),
    references: async () => referencesOf(database),
    coercion: coercionTo,
    progress: async () => {
      if (!hasTable(database, progressTable)) return null
      const rows = database.prepare(`select part, source, last from ${progressTable}`).all() as {
        part: string
        source: string
        last: string
      }[]
      return rows.map((row) => ({ ...row, last: JSON.parse(row.last) as CopiedRow }))
    },
    clear: (tables) =>
      inTransaction(() => {
        // Defers foreign key checks to the end of the transaction.
        database.pragma('defer_foreign_keys = on')
        for (const table of tables) database.exec(`delete from ${quoted(table.name)}`)
        database.exec(`drop table if exists ${progressTable}`)
        database.exec(`create table ${progressTable} (part text primary key, source text not null, last text not null)`)
      }),
    insert: (table, rows, progress) =>
      inTransaction(() => {
        insertRows(database, table, rows)
        noteProgress(database, progress)
      }),
    update: (table, rows, progress) =>
      inTransaction(() => {
        updateRows(database, table, rows)
        noteProgress(database, progress)
      }),
    finish: (last) =>
      inTransaction(() => {
        const present = database.prepare('update sqlite_sequence set seq = max(seq, ?) where name = ?')
        const added = database.prepare('insert into sqlite_sequence (name, seq) values (?, ?)')
        for (const [table, number] of last)
          if (hasTable(database, table) && present.run(number, table).changes === 0) added.run(table, number)
        database.exec(`drop table if exists ${progressTable}`)
      }),
    close: async () => close(),
  }
}
