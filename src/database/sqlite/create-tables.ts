// SQLite's table definitions, and their creation.
import type { Database } from 'better-sqlite3'
import {
  hasFormerTables,
  type OctavoColumnType,
  type OctavoTable,
  octavoNames,
  octavoTables,
  replaceFormerTables,
} from '../../model/tables/octavo-tables.js'
import { type ColumnType, type Index, quoted, type Table } from '../../model/tables/table.js'

/** A column's type as Strapi declares it on SQLite. */
export function declaredType(type: ColumnType): string {
  if (type === 'reference') return 'integer'
  if (type === 'real' || type === 'place' || type.startsWith('decimal')) return 'float'
  if (type === 'timestamp' || type === 'moment') return 'datetime'
  return type === 'jsonText' ? 'json' : type
}

const list = (columns: readonly string[]): string => columns.map(quoted).join(', ')

export const createIndex = (table: string, { name, columns, unique }: Index): string =>
  `CREATE ${unique ? 'UNIQUE ' : ''}INDEX ${quoted(name)} ON ${quoted(table)} (${list(columns)})`

export function createStatements(table: Table): readonly string[] {
  const columns = table.columns.map((column) => {
    const name = `${quoted(column.name)} ${declaredType(column.type)}`
    if (column.increments) return `${name} NOT NULL PRIMARY KEY AUTOINCREMENT`
    return `${name} ${column.notNull ? 'NOT NULL' : 'NULL'}${column.default === null ? '' : ` DEFAULT ${column.default}`}`
  })
  const constraints = table.foreignKeys.map(
    ({ name, columns, references, onDelete }) =>
      `CONSTRAINT ${quoted(name)} FOREIGN KEY (${list(columns)}) REFERENCES ${quoted(references.table)} (${list(references.columns)}) ON DELETE ${onDelete}`,
  )
  return [
    `CREATE TABLE ${quoted(table.name)} (${[...columns, ...constraints].join(', ')})`,
    ...table.indexes.map((index) => createIndex(table.name, index)),
  ]
}

export function createTables(database: Database, tables: readonly Table[]): void {
  database.transaction(() => {
    for (const table of tables) for (const statement of createStatements(table)) database.exec(statement)
  })()
}

const definitions: Readonly<Record<OctavoColumnType, string>> = {
  text: 'text not null',
  'text?': 'text',
  integer: 'integer not null',
  'real?': 'real',
  'bytes?': 'blob',
}

function statementsOf({ name, columns, key, numbered = false, unique, indexes = {} }: OctavoTable): readonly string[] {
  const [first] = key
  // A single integer key becomes the rowid.
  const rowNumber = key.length === 1 && columns[first!] === 'integer' ? first : undefined
  const defined = Object.entries(columns).map(([column, type]) =>
    column === rowNumber
      ? `${quoted(column)} integer primary key${numbered ? ' autoincrement' : ''}`
      : `${quoted(column)} ${definitions[type]}`,
  )
  const constraints = [
    ...(rowNumber === undefined ? [`primary key (${list(key)})`] : []),
    ...(unique === undefined ? [] : [`unique (${list(unique)})`]),
  ]
  return [
    `create table if not exists ${name} (${[...defined, ...constraints].join(', ')})${rowNumber === undefined ? ' without rowid' : ''}`,
    ...Object.entries(indexes).map(([suffix, indexed]) => `create index if not exists ${name}_${suffix} on ${name} (${list(indexed)})`),
  ]
}

/** Tables renamed since earlier versions, and their old index names. */
const renamed: readonly { readonly from: string; readonly to: string; readonly indexes: readonly string[] }[] = [
  { from: 'octavo_hidden_links', to: 'octavo_pending_links', indexes: ['octavo_hidden_links_target', 'octavo_hidden_links_owner'] },
  { from: 'octavo_drifted_drafts', to: 'octavo_modified_drafts', indexes: [] },
  { from: 'octavo_unequal_locales', to: 'octavo_out_of_sync_locales', indexes: [] },
  { from: 'octavo_user_epochs', to: 'octavo_credential_versions', indexes: [] },
  { from: 'octavo_codes', to: 'octavo_one_time_tokens', indexes: ['octavo_codes_user', 'octavo_codes_end'] },
  { from: 'octavo_counters', to: 'octavo_rate_limits', indexes: ['octavo_counters_end'] },
]

/** Whether one of Octavo's tables is missing or has an earlier name. */
export const lacksOctavoTables = (present: ReadonlySet<string>): boolean =>
  octavoNames.some((name) => !present.has(name)) ||
  renamed.some(({ from }) => present.has(from)) ||
  hasFormerTables((name) => present.has(name))

/** Renames tables of earlier versions and creates missing ones. */
export function createOctavoTables(database: Database): void {
  const isThere = (name: string): boolean =>
    database.prepare("select 1 from sqlite_schema where type = 'table' and name = ?").get(name) !== undefined
  const earlier = renamed.filter(({ from }) => isThere(from))
  // Without this, a rename fails if any view references a missing table.
  if (earlier.length > 0) database.pragma('legacy_alter_table = on')
  try {
    for (const { from, to, indexes } of earlier) {
      if (isThere(to)) mergeTable(database, from, to)
      else database.exec(`alter table ${from} rename to ${to}`)
      for (const index of indexes) database.exec(`drop index if exists ${index}`)
    }
  } finally {
    if (earlier.length > 0) database.pragma('legacy_alter_table = off')
  }
  for (const statement of [...octavoTables.flatMap(statementsOf), ...replaceFormerTables(isThere)]) database.exec(statement)
}

/** Merges the rows of an old table, written by an earlier version that ran after a later one. The higher credential version wins. */
function mergeTable(database: Database, from: string, to: string): void {
  const columns = database.prepare("select name from pragma_table_info(?) where name <> 'id'").pluck().all(from).join(', ')
  database.exec(`insert or ignore into ${to} (${columns}) select ${columns} from ${from}`)
  if (to === 'octavo_credential_versions')
    database.exec(`update ${to} as t set epoch = max(epoch, (select epoch from ${from} f where f.user_id = t.user_id))
      where user_id in (select user_id from ${from})`)
  database.exec(`drop table ${from}`)
}
