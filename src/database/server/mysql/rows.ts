// MySQL or MariaDB as the source or target of copied rows, on a single connection.
import { quoted } from '../../../model/tables/table.js'
import {
  type CopiedRow,
  type CopyProgress,
  type CopyTransactions,
  exactNumber,
  fullTime,
  type RowColumn,
  type RowCondition,
  type RowSource,
  type RowTable,
  type RowTarget,
  type RowValue,
  type ValueKind,
} from '../../transfer/rows.js'
import { fromWallClock, zoneTable } from '../time-zone.js'
import { beginSnapshot, readCatalog, readForeignKeys } from './catalog.js'
import type { MysqlQueryable } from './client.js'
import { coercionTo } from './coerce-values.js'
import { driverTables, octavoTable } from './create-tables.js'
import { literal } from './translate-sql.js'

const progressTable = 'octavo_copy_progress'

const kinds: readonly (readonly [RegExp, ValueKind])[] = [
  [/^tinyint\(1\)/, 'boolean'],
  [/char|text|^enum/, 'text'],
  [/int/, 'integer'],
  [/^(?:decimal|double|float)/, 'number'],
  [/^date$/, 'date'],
  [/^time(?:\(|$)/, 'time'],
  [/^(?:datetime|timestamp)/, 'datetime'],
  [/^json$/, 'json'],
  [/blob|binary/, 'bytes'],
]

const kindOf = (type: string): ValueKind => kinds.find(([form]) => form.test(type))?.[1] ?? 'other'

const list = (columns: readonly string[]): string => columns.map(quoted).join(', ')

/** Tables with content; tables specific to this server are excluded. */
async function tablesOf(client: MysqlQueryable): Promise<readonly RowTable[]> {
  const { tables, ownTables } = await readCatalog(client)
  const keys = await keysOf(client)
  const structures = await jsonColumnsOf(client)
  const left = new Set([progressTable, zoneTable, ...driverTables])
  const names = ownTables.filter((name) => !left.has(name)).sort()
  return names.map((name) => ({
    name,
    columns: tables.get(name)!.map((column) => {
      const type = structures.has(`${name}.${column.name}`) ? 'json' : column.type
      return { name: column.name, type, kind: kindOf(type) }
    }),
    key: keys.get(name) ?? [],
  }))
}

async function keysOf(client: MysqlQueryable): Promise<ReadonlyMap<string, readonly string[]>> {
  const { rows } = await client.query(
    `select table_name, column_name from information_schema.statistics
     where table_schema = database() and index_name = 'PRIMARY' order by table_name, seq_in_index`,
  )
  const keys = new Map<string, string[]>()
  for (const [table, column] of rows as readonly [string, string][]) keys.set(table, [...(keys.get(table) ?? []), column])
  return keys
}

/** MariaDB's JSON columns, as `table.column`: texts with a check constraint. MySQL has a type for them. */
async function jsonColumnsOf(client: MysqlQueryable): Promise<ReadonlySet<string>> {
  const { rows } = await client.query('select version()')
  if (!/mariadb/i.test(String(rows[0]![0]))) return new Set()
  const { rows: found } = await client.query(
    `select table_name, check_clause from information_schema.check_constraints
     where constraint_schema = database() and check_clause like 'json_valid(%'`,
  )
  return new Set((found as readonly [string, string][]).map(([table, clause]) => `${table}.${clause.slice('json_valid(`'.length, -2)}`))
}

/** Selects a column with all its digits. */
const selected = ({ name, kind, type }: RowColumn): string =>
  kind === 'datetime' || type.startsWith('decimal') ? `cast(${quoted(name)} as char)` : quoted(name)

/** Converts a value for another database. */
function received({ kind, type }: RowColumn, value: RowValue): RowValue {
  if (value === null) return null
  switch (kind) {
    case 'integer':
      return typeof value === 'string' ? BigInt(value) : value
    case 'number':
      return type.startsWith('decimal') ? (exactNumber(String(value)) ?? value) : value
    case 'time':
      return fullTime(String(value))
    case 'datetime':
      return moment(String(value))
    default:
      return value
  }
}

/** Fractions below milliseconds are preserved as text. */
function moment(text: string): RowValue {
  const [, finer = ''] = /\.\d{3}(\d+)$/.exec(text) ?? []
  return /[1-9]/.test(finer) ? text : (fromWallClock(text) ?? text)
}

const sent = ({ kind }: RowColumn, value: RowValue): string => literal(value, kind === 'datetime')

async function read(
  client: MysqlQueryable,
  { name, columns, key }: RowTable,
  after: CopiedRow | null,
  limit: number,
): Promise<readonly CopiedRow[]> {
  const keyColumns = columnsOfKey({ columns, key })
  const last = keyColumns.map((column, index) => sent(column, after?.[index] ?? null))
  const behind = after !== null && key.length > 0 ? ` where (${list(key)}) > (${last.join(', ')})` : ''
  const order = key.length === 0 ? '' : ` order by ${list(key)} limit ${limit}`
  const text = `select ${columns.map(selected).join(', ')} from ${quoted(name)}${behind}${order}`
  const { rows } = await client.query(text, `select … from ${quoted(name)}`)
  return rows.map((row) => row.map((value, index) => received(columns[index]!, value)))
}

async function readWhere(
  client: MysqlQueryable,
  table: RowTable,
  column: string,
  values: readonly RowValue[],
): Promise<readonly CopiedRow[]> {
  const { name, columns, key } = table
  if (values.length === 0) return []
  const order = key.length === 0 ? '' : ` order by ${list(key)}`
  const where = selectedBy(table, { [column]: values })
  const text = `select ${columns.map(selected).join(', ')} from ${quoted(name)} where ${where}${order}`
  const { rows } = await client.query(text, `select … from ${quoted(name)}`)
  return rows.map((row) => row.map((value, index) => received(columns[index]!, value)))
}

/** A condition with literal values; at least one per column. */
export const selectedBy = ({ columns }: RowTable, where: RowCondition): string =>
  Object.entries(where)
    .map(([name, values]) => {
      const column = columns.find((each) => each.name === name)!
      return `${quoted(name)} in (${values.map((value) => sent(column, value)).join(', ')})`
    })
    .join(' and ')

const columnsOfKey = ({ columns, key }: Pick<RowTable, 'columns' | 'key'>): readonly RowColumn[] =>
  key.map((each) => columns.find((column) => column.name === each)!)

export const reading = (
  client: MysqlQueryable,
  name: string,
): Pick<RowSource, 'name' | 'tables' | 'count' | 'read' | 'readWhere' | 'lastNumbers'> => ({
  name,
  tables: () => tablesOf(client),
  count: async (table) => (await client.query(`select count(*) from ${quoted(table.name)}`)).rows[0]![0] as number,
  read: (table, after, limit) => read(client, table, after, limit),
  readWhere: (table, column, values) => readWhere(client, table, column, values),
  lastNumbers: () => numbersOf(client),
})

/** The last id assigned in each table. */
async function numbersOf(client: MysqlQueryable): Promise<ReadonlyMap<string, number>> {
  const { rows } = await client.query(
    'select table_name, auto_increment - 1 from information_schema.tables where table_schema = database() and auto_increment is not null',
  )
  return new Map((rows as readonly [string, number][]).map(([table, last]) => [table, Number(last)]))
}

/** The source of a copy: a snapshot on one connection. */
export async function mysqlSource(client: MysqlQueryable, name: string, close: () => Promise<void>): Promise<RowSource> {
  await beginSnapshot(client)
  return {
    ...reading(client, name),
    missingTargets: async (table, { column, to }) => {
      if (table.key.length === 0) return []
      const own = quoted(column)
      const other = quoted(to.column)
      const { rows } = await client.query(
        `select ${table.key.map((each) => `o.${quoted(each)}`).join(', ')} from ${quoted(table.name)} o
         where o.${own} is not null and not exists (select 1 from ${quoted(to.table)} t where t.${other} = o.${own})`,
      )
      const keyColumns = columnsOfKey(table)
      return rows.map((row) => row.map((value, index) => received(keyColumns[index]!, value)))
    },
    close: async () => {
      await client.query('rollback').catch(() => {})
      await close()
    },
  }
}

/** Maximum rows per update: the server scans all cases for each row. */
const assignedTogether = 200

/** Target length of a statement, unless a single row exceeds it: servers reject packets of 16 MB or less. */
const statementLength = 1_000_000

export async function insertRows(client: MysqlQueryable, { name, columns }: RowTable, rows: readonly CopiedRow[]): Promise<void> {
  const into = `insert into ${quoted(name)} (${list(columns.map((column) => column.name))}) values`
  let values: string[] = []
  let length = 0
  const send = async () => {
    if (values.length > 0) await client.query(`${into} ${values.join(', ')}`, into)
    values = []
    length = 0
  }
  for (const row of rows) {
    const value = `(${columns.map((column, index) => sent(column, row[index]!)).join(', ')})`
    if (length + value.length > statementLength) await send()
    values.push(value)
    length += value.length
  }
  await send()
}

export async function updateRows(client: MysqlQueryable, { name, columns, key }: RowTable, rows: readonly CopiedRow[]): Promise<void> {
  for (const row of rows) {
    const assigned = columns.map((column, index) => ({ column, text: `${quoted(column.name)} = ${sent(column, row[index]!)}` }))
    const changes = assigned.filter(({ column }) => !key.includes(column.name)).map(({ text }) => text)
    const found = assigned.filter(({ column }) => key.includes(column.name)).map(({ text }) => text)
    await client.query(`update ${quoted(name)} set ${changes.join(', ')} where ${found.join(' and ')}`, `update ${quoted(name)}`)
  }
}

/** Sets one column of many rows, found by id, in one statement. */
export async function assignRows(client: MysqlQueryable, { name, columns }: RowTable, rows: readonly CopiedRow[]): Promise<void> {
  const [key, column] = columns as readonly [RowColumn, RowColumn]
  const id = quoted(key.name)
  const target = quoted(column.name)
  let cases: string[] = []
  let ids: string[] = []
  let length = 0
  const send = async () => {
    const text = `update ${quoted(name)} set ${target} = case ${id} ${cases.join(' ')} end where ${id} in (${ids.join(', ')})`
    if (ids.length > 0) await client.query(text, `update ${quoted(name)} set ${target}`)
    cases = []
    ids = []
    length = 0
  }
  for (const [own, value] of rows) {
    const text = `when ${sent(key, own!)} then ${sent(column, value!)}`
    if (length + text.length > statementLength || ids.length === assignedTogether) await send()
    cases.push(text)
    ids.push(sent(key, own!))
    length += text.length
  }
  await send()
}

async function noteProgress(client: MysqlQueryable, { part, source, last }: CopyProgress): Promise<void> {
  const [what, from, key] = [part, source, JSON.stringify(last)].map((value) => literal(value))
  await client.query(
    `insert into ${progressTable} (part, source, last) values (${what}, ${from}, ${key}) on duplicate key update last = ${key}`,
    `insert into ${progressTable}`,
  )
}

/** Advances ids beyond those used in the source; inserted rows have already advanced them. */
async function setNumbers(client: MysqlQueryable, last: ReadonlyMap<string, number>): Promise<void> {
  for (const [table, given] of await numbersOf(client)) {
    const wanted = last.get(table) ?? 0
    if (wanted > given) await client.query(`alter table ${quoted(table)} auto_increment = ${wanted + 1}`)
  }
}

/** The target of a copy, on one connection. */
export function mysqlTarget(client: MysqlQueryable, name: string, transactions: CopyTransactions, close: () => Promise<void>): RowTarget {
  const resumable = transactions === 'batches'
  const write = async (work: () => Promise<void>, progress: CopyProgress): Promise<void> => {
    if (!resumable) return work()
    await client.query('start transaction')
    try {
      await work()
      await noteProgress(client, progress)
      await client.query('commit')
    } catch (error) {
      await client.query('rollback').catch(() => {})
      throw error
    }
  }
  return {
    ...reading(client, name),
    references: async () =>
      (await readForeignKeys(client)).map(({ table, column, parent, key, rule }) => ({
        table,
        column,
        to: { table: parent, column: key },
        cascades: rule === 'CASCADE',
      })),
    coercion: coercionTo,
    progress: async () => {
      const { ownTables } = await readCatalog(client)
      if (!ownTables.includes(progressTable)) return null
      const { rows } = await client.query(`select part, source, last from ${progressTable}`)
      return (rows as readonly [string, string, string][]).map(([part, source, last]) => ({
        part,
        source,
        last: JSON.parse(last) as CopiedRow,
      }))
    },
    clear: async (tables) => {
      await client.query('set session foreign_key_checks = 0')
      try {
        for (const table of tables) await client.query(`truncate table ${quoted(table.name)}`)
      } finally {
        await client.query('set session foreign_key_checks = 1')
      }
      await client.query(`drop table if exists ${progressTable}`)
      await client.query(
        octavoTable(progressTable, ['part varchar(255) primary key', 'source longtext not null', 'last longtext not null']),
      )
    },
    insert: (table, rows, progress) => write(() => insertRows(client, table, rows), progress),
    update: (table, rows, progress) => write(() => updateRows(client, table, rows), progress),
    finish: async (last) => {
      if (!resumable) return
      await setNumbers(client, last)
      await client.query(`drop table if exists ${progressTable}`)
    },
    close,
  }
}
