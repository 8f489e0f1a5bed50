// PostgreSQL as the source or target of copied rows, on a single connection. All settings are local to a transaction.
import type pg from 'pg'
import type { Model } from '../../../model/schema/types.js'
import { quoted, storedName } from '../../../model/tables/table.js'
import { describeTables } from '../../../model/tables/tables.js'
import {
  type CopiedRow,
  type CopyProgress,
  type CopyTransactions,
  exactNumber,
  fullTime,
  type RowColumn,
  type RowReference,
  type RowSource,
  type RowTable,
  type RowTarget,
  type RowValue,
  type ValueKind,
} from '../../transfer/rows.js'
import { zoneTable } from '../time-zone.js'
import type { Queryable } from './catalog.js'
import { encodeParameter, getParser } from './codec.js'
import { coercionTo } from './coerce-values.js'
import { commitTable, epochTable } from './create-tables.js'

const progressTable = 'octavo_copy_progress'

const kinds: readonly (readonly [RegExp, ValueKind])[] = [
  [/^(?:character|text)/, 'text'],
  [/^(?:integer|bigint|smallint)$/, 'integer'],
  [/^(?:numeric|real|double precision)/, 'number'],
  [/^boolean$/, 'boolean'],
  [/^date$/, 'date'],
  [/^time(?:\(\d\))? without/, 'time'],
  [/^timestamp/, 'datetime'],
  [/^jsonb?$/, 'json'],
  [/^bytea$/, 'bytes'],
]

const kindOf = (type: string): ValueKind => kinds.find(([form]) => form.test(type))?.[1] ?? 'other'

const list = (columns: readonly string[]): string => columns.map(quoted).join(', ')

async function textsOf(client: Queryable, text: string, values: readonly unknown[] = []): Promise<readonly (readonly (string | null)[])[]> {
  const types = { getTypeParser: () => (value: string) => value }
  const { rows } = await client.query<(string | null)[]>({ text, values: [...values], rowMode: 'array', types } as never)
  return rows
}

const inSchema = "n.nspname = current_schema() and c.relkind in ('r', 'p') and not c.relispartition"

/** Tables with content; tables specific to this server are excluded. */
async function tablesOf(client: Queryable): Promise<readonly RowTable[]> {
  const rows = await textsOf(
    client,
    `select c.relname, a.attname, format_type(a.atttypid, a.atttypmod), array_position(i.indkey::int2[], a.attnum)
     from pg_class c join pg_namespace n on n.oid = c.relnamespace
     join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
     left join pg_index i on i.indrelid = c.oid and i.indisprimary
     where ${inSchema} and c.relname not in ('${progressTable}', '${epochTable}', '${commitTable}', '${zoneTable}') order by c.relname collate "C", a.attnum`,
  )
  const tables = new Map<string, { columns: RowColumn[]; key: [string, number][] }>()
  for (const [table, name, type, position] of rows as [string, string, string, string | null][]) {
    const entry = tables.get(table) ?? { columns: [], key: [] }
    tables.set(table, entry)
    entry.columns.push({ name, kind: kindOf(type), type })
    if (position !== null) entry.key.push([name, Number(position)])
  }
  return [...tables].map(([name, { columns, key }]) => ({
    name,
    columns,
    key: key.sort(([, one], [, other]) => one - other).map(([column]) => column),
  }))
}

const parseMoment = getParser(1114)

/** Converts a value for another database. */
function received({ kind, type }: RowColumn, text: string | null): RowValue {
  if (text === null) return null
  switch (kind) {
    case 'integer':
      return Number.isSafeInteger(Number(text)) ? Number(text) : BigInt(text)
    case 'number':
      // Floats are printed in their shortest form; a numeric may have more digits than a double.
      return type.startsWith('numeric') || !Number.isFinite(Number(text)) ? (exactNumber(text) ?? infinite(text) ?? text) : Number(text)
    case 'boolean':
      return text === 't' ? 1 : 0
    case 'time':
      return fullTime(text)
    case 'datetime':
      return timestamp(text, type.endsWith('with time zone'))
    case 'bytes':
      return Buffer.from(text.slice(2), 'hex')
    default:
      return text
  }
}

const infinite = (text: string): number | null => (/^-?Infinity$/.test(text) ? Number(text) : null)

/** Fractions below milliseconds are preserved as text, as is `infinity`. */
function timestamp(text: string, zoned: boolean): RowValue {
  const [, fraction = ''] = /\.(\d+)/.exec(text) ?? []
  if (fraction.length > 3) return text
  if (!zoned) return parseMoment(text) ?? text
  // Timestamps with time zone are selected in UTC.
  const milliseconds = Date.parse(text.replace(' ', 'T').replace(/\+00$/, 'Z'))
  return Number.isNaN(milliseconds) ? text : milliseconds
}

const timestampTypes = [1114, 1184] as const

/** Encodes a value as a text parameter. */
function sent({ kind, type }: RowColumn, value: RowValue): string | null {
  if (value === null) return null
  if (value instanceof Uint8Array) return `\\x${Buffer.from(value).toString('hex')}`
  if (kind === 'boolean') return value === 0 ? 'f' : 't'
  if (kind === 'datetime') return encodeParameter(timestampTypes[type.endsWith('with time zone') ? 1 : 0], value)
  return String(value)
}

async function read(
  client: Queryable,
  { name, columns, key }: RowTable,
  after: CopiedRow | null,
  limit: number,
): Promise<readonly CopiedRow[]> {
  const continues = after !== null && key.length > 0
  const afterKey = continues ? ` where (${list(key)}) > (${key.map((_, index) => `$${index + 1}`).join(', ')})` : ''
  const order = key.length === 0 ? '' : ` order by ${list(key)} limit ${limit}`
  const text = `select ${list(columns.map((column) => column.name))} from ${quoted(name)}${afterKey}${order}`
  const keyColumns = key.map((each) => columns.find((column) => column.name === each)!)
  const rows = await textsOf(client, text, continues ? after.map((value, index) => sent(keyColumns[index]!, value)) : [])
  return rows.map((row) => row.map((value, index) => received(columns[index]!, value)))
}

async function readWhere(client: Queryable, table: RowTable, column: string, values: readonly RowValue[]): Promise<readonly CopiedRow[]> {
  const { name, columns, key } = table
  const order = key.length === 0 ? '' : ` order by ${list(key)}`
  const text = `select ${list(columns.map((each) => each.name))} from ${quoted(name)} where ${selectedBy(table, [column])}${order}`
  const rows = await textsOf(client, text, [valuesOf(table, column, values)])
  return rows.map((row) => row.map((value, index) => received(columns[index]!, value)))
}

const columnOf = ({ columns }: RowTable, name: string): RowColumn => columns.find((column) => column.name === name)!

/** A condition with one text array parameter per column. */
export const selectedBy = (table: RowTable, columns: readonly string[]): string =>
  columns.map((name, index) => `${quoted(name)} = any($${index + 1}::text[]::${bareType(columnOf(table, name))}[])`).join(' and ')

export const valuesOf = (table: RowTable, column: string, values: readonly RowValue[]): unknown[] =>
  values.map((value) => sent(columnOf(table, column), value))

export const reading = (
  client: Queryable,
  name: string,
): Pick<RowSource, 'name' | 'tables' | 'count' | 'read' | 'readWhere' | 'lastNumbers'> => ({
  name,
  tables: () => tablesOf(client),
  count: async (table) => Number((await textsOf(client, `select count(*) from ${quoted(table.name)}`))[0]![0]),
  read: (table, after, limit) => read(client, table, after, limit),
  readWhere: (table, column, values) => readWhere(client, table, column, values),
  lastNumbers: async () => {
    const found = new Map<string, number>()
    for (const [table, sequence] of await sequencesOf(client)) {
      const [row] = await textsOf(client, `select case when is_called then last_value else 0 end from ${sequence}`)
      found.set(table, Number(row![0]))
    }
    return found
  },
})

/** Settings for uniform value formats on every server, local to the transaction. */
export const valueFormats =
  "set local datestyle = 'ISO, YMD'; set local timezone = 'UTC'; set local extra_float_digits = 1; set local bytea_output = 'hex'; set local statement_timeout = 0; set local idle_in_transaction_session_timeout = 0"

/** The first read takes the snapshot of a transaction. */
const beginSnapshot = async (client: Queryable): Promise<void> => {
  await client.query(`begin isolation level repeatable read read only; ${valueFormats}; select 1`)
}

/** The source of a copy: a snapshot on one connection. */
export async function postgresSource(client: pg.ClientBase, name: string, close: () => Promise<void>): Promise<RowSource> {
  await beginSnapshot(client)
  return {
    ...reading(client, name),
    missingTargets: async ({ name: table, columns, key }, { column, to }) => {
      if (key.length === 0) return []
      const own = quoted(column)
      const other = quoted(to.column)
      const rows = await textsOf(
        client,
        `select ${key.map((each) => `o.${quoted(each)}`).join(', ')} from ${quoted(table)} o
         where o.${own} is not null and not exists (select from ${quoted(to.table)} t where t.${other} = o.${own})`,
      )
      const keyColumns = key.map((each) => columns.find((every) => every.name === each)!)
      return rows.map((row) => row.map((value, index) => received(keyColumns[index]!, value)))
    },
    close: async () => {
      await client.query('rollback').catch(() => {})
      await close()
    },
  }
}

/** Sequences of id columns, as (table, quoted sequence, column). */
async function sequencesOf(client: Queryable): Promise<readonly (readonly [table: string, sequence: string, column: string])[]> {
  const rows = await textsOf(
    client,
    `select c.relname, format('%I.%I', n.nspname, s.relname), a.attname
     from pg_class s join pg_depend d on d.objid = s.oid and d.deptype in ('a', 'i') and d.classid = 'pg_class'::regclass and d.refclassid = 'pg_class'::regclass
     join pg_class c on c.oid = d.refobjid join pg_attribute a on a.attrelid = c.oid and a.attnum = d.refobjsubid
     join pg_namespace n on n.oid = s.relnamespace
     where s.relkind = 'S' and n.nspname = current_schema()`,
  )
  return rows as [string, string, string][]
}

async function referencesOf(client: Queryable): Promise<readonly RowReference[]> {
  const rows = await textsOf(
    client,
    `select c.relname, a.attname, t.relname, b.attname, k.confdeltype
     from pg_constraint k join pg_class c on c.oid = k.conrelid join pg_namespace n on n.oid = c.relnamespace join pg_class t on t.oid = k.confrelid
     join pg_attribute a on a.attrelid = c.oid and a.attnum = k.conkey[1] join pg_attribute b on b.attrelid = t.oid and b.attnum = k.confkey[1]
     where k.contype = 'f' and ${inSchema} order by k.conname`,
  )
  return rows.map(([table, column, target, other, action]) => ({
    table: table!,
    column: column!,
    to: { table: target!, column: other! },
    cascades: action === 'c',
  }))
}

/** One text array per column: the statement does not depend on the number of rows. */
const unnested = ({ columns }: RowTable): string =>
  `unnest(${columns.map((_, index) => `$${index + 1}::text[]`).join(', ')}) as v (${list(columns.map(({ name }) => name))})`

/** Casts a text to a column's type without its length, which would truncate the text. */
const cast = (column: RowColumn): string => `v.${quoted(column.name)}${column.kind === 'text' ? '' : `::${bareType(column)}`}`

const bareType = ({ type }: RowColumn): string => type.replace(/\([^()]*\)/, '')

const listsOf = ({ columns }: RowTable, rows: readonly CopiedRow[]): unknown[] =>
  columns.map((column, index) => rows.map((row) => sent(column, row[index]!)))

export async function insertRows(client: Queryable, table: RowTable, rows: readonly CopiedRow[]): Promise<void> {
  if (rows.length === 0) return
  const { name, columns } = table
  const text = `insert into ${quoted(name)} (${list(columns.map((column) => column.name))}) select ${columns.map(cast).join(', ')} from ${unnested(table)}`
  await client.query(text, listsOf(table, rows))
}

export async function updateRows(client: Queryable, table: RowTable, rows: readonly CopiedRow[]): Promise<void> {
  if (rows.length === 0) return
  const { name, columns, key } = table
  const changed = columns.filter((column) => !key.includes(column.name))
  const keys = columns.filter((column) => key.includes(column.name))
  const text = `update ${quoted(name)} as o set ${changed.map((column) => `${quoted(column.name)} = ${cast(column)}`).join(', ')}
    from ${unnested(table)} where ${keys.map((column) => `o.${quoted(column.name)} = ${cast(column)}`).join(' and ')}`
  await client.query(text, listsOf(table, rows))
}

async function noteProgress(client: Queryable, { part, source, last }: CopyProgress): Promise<void> {
  await client.query(
    `insert into ${progressTable} (part, source, last) values ($1, $2, $3) on conflict (part) do update set last = excluded.last`,
    [part, source, JSON.stringify(last)],
  )
}

/** Advances sequences beyond the largest id and those used in the source. */
export async function setNumbers(client: Queryable, last: ReadonlyMap<string, number>): Promise<void> {
  const numbers = new Map([...last].map(([table, number]) => [storedName(table), number]))
  for (const [table, sequence, column] of await sequencesOf(client)) {
    const [row] = await textsOf(client, `select max(${quoted(column)}) from ${quoted(table)}`)
    const number = Math.max(Number(row![0] ?? 0), numbers.get(table) ?? 0)
    if (number > 0) await client.query(`select setval($1::regclass, $2)`, [sequence, number])
  }
}

/** The target of a copy, on one connection. */
export function postgresTarget(client: pg.ClientBase, name: string, transactions: CopyTransactions, close: () => Promise<void>): RowTarget {
  const resumable = transactions === 'batches'
  const inTransaction = async <Result>(work: () => Promise<Result>): Promise<Result> => {
    if (!resumable) return work()
    await client.query(`begin isolation level read committed read write; ${valueFormats}`)
    try {
      const result = await work()
      await client.query('commit')
      return result
    } catch (error) {
      await client.query('rollback').catch(() => {})
      throw error
    }
  }
  const { read: readRows, ...others } = reading(client, name)
  return {
    ...others,
    read: (table, after, limit) => inTransaction(() => readRows(table, after, limit)),
    references: () => referencesOf(client),
    coercion: coercionTo,
    progress: async () => {
      const there = await textsOf(client, `select to_regclass('${progressTable}')`)
      if (there[0]![0] === null) return null
      const rows = (await textsOf(client, `select part, source, last from ${progressTable}`)) as [string, string, string][]
      return rows.map(([part, source, last]) => ({ part, source, last: JSON.parse(last) as CopiedRow }))
    },
    clear: (tables) =>
      inTransaction(async () => {
        await client.query(`truncate ${tables.map((table) => quoted(table.name)).join(', ')} restart identity cascade`)
        await client.query(`drop table if exists ${progressTable}`)
        await client.query(`create table ${progressTable} (part text primary key, source text not null, last text not null)`)
      }),
    insert: (table, rows, progress) =>
      inTransaction(async () => {
        await insertRows(client, table, rows)
        if (resumable) await noteProgress(client, progress)
      }),
    update: (table, rows, progress) =>
      inTransaction(async () => {
        await updateRows(client, table, rows)
        if (resumable) await noteProgress(client, progress)
      }),
    finish: (last) =>
      inTransaction(async () => {
        await setNumbers(client, last)
        if (!resumable) return
        await client.query(`drop table if exists ${progressTable}`)
        await client.query('analyze')
      }),
    close,
  }
}

/** Rows with the table names of the catalog. */
type StoredRows = Pick<RowSource, 'tables'> & Partial<Pick<RowSource, 'lastNumbers'> & Pick<RowTarget, 'references'>>

/** A table's name in the model, and its columns by their names in the catalog. */
interface NamedTable {
  readonly name: string
  readonly columns: ReadonlyMap<string, string>
}

/** The same rows with the model's names of tables and columns, which PostgreSQL may have truncated. */
export function withModelNames<Rows extends StoredRows>(rows: Rows, model: Model): Rows {
  const byStoredName = new Map(
    describeTables(model).map(({ name, columns }): [string, NamedTable] => [
      storedName(name),
      { name, columns: new Map(columns.map((column) => [storedName(column.name), column.name])) },
    ]),
  )
  const tableOf = (stored: string): string => byStoredName.get(stored)?.name ?? stored
  const columnOf = (table: string, stored: string): string => byStoredName.get(table)?.columns.get(stored) ?? stored
  const { lastNumbers, references } = rows
  return {
    ...rows,
    tables: async () =>
      (await rows.tables()).map(({ name, columns, key }) => ({
        name: tableOf(name),
        columns: columns.map((column) => ({ ...column, name: columnOf(name, column.name) })),
        key: key.map((column) => columnOf(name, column)),
      })),
    ...(lastNumbers !== undefined && {
      lastNumbers: async () => new Map([...(await lastNumbers())].map(([table, number]) => [tableOf(table), number])),
    }),
    ...(references !== undefined && {
      references: async () =>
        (await references()).map(({ table, column, to, ...reference }) => ({
          ...reference,
          table: tableOf(table),
          column: columnOf(table, column),
          to: { table: tableOf(to.table), column: columnOf(to.table, to.column) },
        })),
    }),
  }
}
