// PostgreSQL's table definitions: Strapi's layout and Octavo's own tables.
import { type OctavoColumnType, type OctavoTable, octavoTables } from '../../../model/tables/octavo-tables.js'
import { type ColumnType, type ForeignKey, type Index, quoted, type Table } from '../../../model/tables/table.js'

/** Strapi's type names on PostgreSQL, where they differ. */
const declared: Partial<Record<ColumnType, string>> = {
  reference: 'integer',
  float: 'double precision',
  place: 'double precision',
  time: 'time without time zone',
  datetime: 'timestamp(6) without time zone',
  moment: 'timestamp(6) without time zone',
  timestamp: 'timestamp without time zone',
  json: 'jsonb',
  jsonText: 'json',
}

/** A column's type as Strapi declares it on PostgreSQL. */
export const declaredType = (type: ColumnType): string => declared[type] ?? type.replace('decimal', 'numeric')

const list = (columns: readonly string[]): string => columns.map(quoted).join(', ')

/** Creates a table without foreign keys. Unique indexes are constraints, as in Strapi. */
export function createTable({ name, columns, indexes }: Table): readonly string[] {
  const defined = columns.map((column) => {
    if (column.increments) return `${quoted(column.name)} serial primary key`
    const rest = `${column.notNull ? ' not null' : ''}${column.default === null ? '' : ` default ${column.default}`}`
    return `${quoted(column.name)} ${declaredType(column.type)}${rest}`
  })
  return [`create table ${quoted(name)} (${defined.join(', ')})`, ...indexes.map((index) => createIndex(name, index))]
}

export const createIndex = (table: string, { name, columns, unique }: Index): string =>
  unique
    ? `alter table ${quoted(table)} add constraint ${quoted(name)} unique (${list(columns)})`
    : `create index ${quoted(name)} on ${quoted(table)} (${list(columns)})`

export const addForeignKey = (table: string, { name, columns, references, onDelete }: ForeignKey): string =>
  `alter table ${quoted(table)} add constraint ${quoted(name)} foreign key (${list(columns)}) references ${quoted(references.table)} (${list(references.columns)}) on delete ${onDelete}`

/** Creates tables with their indexes, then their foreign keys. */
export const createStatements = (tables: readonly Table[]): readonly string[] => [
  ...tables.flatMap(createTable),
  ...tables.flatMap(({ name, foreignKeys }) => foreignKeys.map((key) => addForeignKey(name, key))),
]

const octavoTypes: Readonly<Record<OctavoColumnType, string>> = {
  text: 'text not null',
  'text?': 'text',
  integer: 'bigint not null',
  'real?': 'double precision',
  'bytes?': 'bytea',
}

function createOctavoTable({ name, columns, key, numbered = false, unique, indexes = {} }: OctavoTable): readonly string[] {
  const defined = Object.entries(columns).map(
    ([column, type]) => `${quoted(column)} ${numbered && key.includes(column) ? 'bigserial' : octavoTypes[type]}`,
  )
  const constraints = [`primary key (${list(key)})`, ...(unique === undefined ? [] : [`unique (${list(unique)})`])]
  return [
    `create table if not exists ${name} (${[...defined, ...constraints].join(', ')})`,
    ...Object.entries(indexes).map(([suffix, indexed]) => `create index if not exists ${name}_${suffix} on ${name} (${list(indexed)})`),
  ]
}

/** Empty; queued writes lock it to exclude each other (writes.ts). */
export const turnTable = 'octavo_write_turns'

/** Has one row; unlogged, so a server crash empties it (transaction.ts). */
export const epochTable = 'octavo_server_epoch'

/** One row per recent writing transaction (commit-log.ts); unlogged, so a server crash empties it. */
export const commitTable = 'octavo_commits'

/** Creates the commit log and its epoch table. */
export const createCommitTables: readonly string[] = [
  `create unlogged table if not exists ${epochTable} (id integer primary key, epoch text not null)`,
  `create unlogged table if not exists ${commitTable} (id bigint primary key, tables text)`,
]

/** Creates Octavo's missing tables and indexes. */
export const createOctavoStatements = (): readonly string[] => [
  ...octavoTables.flatMap(createOctavoTable),
  `create table if not exists ${turnTable} (id integer primary key)`,
  ...createCommitTables,
]
