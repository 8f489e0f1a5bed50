// Table definitions of MySQL and MariaDB: Strapi's layout and Octavo's own tables.
import { type OctavoColumnType, type OctavoTable, octavoTables } from '../../../model/tables/octavo-tables.js'
import { type ColumnType, type ForeignKey, type Index, quoted, type Table } from '../../../model/tables/table.js'
import type { MysqlQueryable } from './client.js'

/** Strapi's type names on MySQL, where they differ. */
const declared: Partial<Record<ColumnType, string>> = {
  text: 'longtext',
  integer: 'int',
  reference: 'int unsigned',
  float: 'double',
  place: 'double unsigned',
  real: 'float(8, 2)',
  boolean: 'tinyint(1)',
  time: 'time(3)',
  datetime: 'datetime(6)',
  moment: 'timestamp(6)',
  timestamp: 'datetime',
  jsonText: 'json',
}

/** A column's type as Strapi declares it on MySQL. */
export const declaredType = (type: ColumnType): string => declared[type] ?? type

const list = (columns: readonly string[]): string => columns.map(quoted).join(', ')

/** A column definition. Without `null`, older servers give a timestamp a default. */
export const columnText = ({ name, type, notNull, increments, default: standard }: Table['columns'][number]): string => {
  if (increments) return `${quoted(name)} int unsigned not null auto_increment primary key`
  return `${quoted(name)} ${declaredType(type)} ${notNull ? 'not null' : 'null'}${standard === null ? '' : ` default ${standard}`}`
}

export const indexText = ({ name, columns, unique }: Index): string => `${unique ? 'unique ' : ''}key ${quoted(name)} (${list(columns)})`

export const foreignKeyText = ({ name, columns, references, onDelete }: ForeignKey): string =>
  `constraint ${quoted(name)} foreign key (${list(columns)}) references ${quoted(references.table)} (${list(references.columns)}) on delete ${onDelete}`

/** Creates a table with its indexes and foreign keys; referenced tables may be created later. `characters`: from `getCharacterSet`. */
export const createStatement = ({ name, columns, indexes, foreignKeys }: Table, characters: string): string =>
  `create table if not exists ${quoted(name)} (${[...columns.map(columnText), ...indexes.map(indexText), ...foreignKeys.map(foreignKeyText)].join(', ')}) engine = InnoDB${characters}`

/**
 * Character set clause for new tables: empty if the database's default can store every text; otherwise utf8mb4, with the collation of
 * connections, so that texts of all tables can be compared.
 */
export async function getCharacterSet(database: MysqlQueryable): Promise<string> {
  const { rows } = await database.query("select @@character_set_database = 'utf8mb4'")
  return Number(rows[0]?.[0]) === 1 ? '' : ' default character set utf8mb4 collate utf8mb4_general_ci'
}

const octavoTypes: Readonly<Record<OctavoColumnType, string>> = {
  text: 'longtext not null',
  'text?': 'longtext',
  integer: 'bigint not null',
  'real?': 'double',
  'bytes?': 'longblob',
}

/** Indexed texts have a maximum length, so that the index contains all of it. */
const boundedText = 'varchar(255) not null'

export interface OctavoIndex {
  readonly table: string
  readonly name: string
  readonly unique: boolean
  /** Its definition within a statement. */
  readonly text: string
}

const octavoIndexesOf = ({ name: table, unique = [], indexes = {} }: OctavoTable): readonly OctavoIndex[] => [
  ...(unique.length === 0 ? [] : [{ table, name: `${table}_unique`, unique: true, text: `unique key ${table}_unique (${list(unique)})` }]),
  ...Object.entries(indexes).map(([suffix, columns]) => {
    const name = `${table}_${suffix}`
    return { table, name, unique: false, text: `key ${name} (${list(columns)})` }
  }),
]

function createOctavoTable(table: OctavoTable): string {
  const { name, columns, key, numbered = false, unique = [], indexes = {} } = table
  const indexed = new Set([...key, ...unique, ...Object.values(indexes).flat()])
  const defined = Object.entries(columns).map(([column, type]) => {
    if (numbered && key.includes(column)) return `${quoted(column)} bigint not null auto_increment`
    return `${quoted(column)} ${type === 'text' && indexed.has(column) ? boundedText : octavoTypes[type]}`
  })
  return octavoTable(name, [...defined, `primary key (${list(key)})`, ...octavoIndexesOf(table).map(({ text }) => text)])
}

/**
 * Octavo's tables compare texts by character, including trailing spaces, regardless of the database's collation. MariaDB and MySQL use
 * different names for this; each ignores the other's comment.
 */
const byCharacter = 'engine = InnoDB default character set utf8mb4 /*M! collate utf8mb4_nopad_bin */ /*!80017 collate utf8mb4_0900_bin */'

export const octavoTable = (name: string, parts: readonly string[]): string =>
  `create table if not exists ${name} (${parts.join(', ')}) ${byCharacter}`

/** Its rows serve as locks of conflicting transactions (writes.ts). */
export const groupTable = 'octavo_write_turns'

/** The rows that lock grouped writes and, for numbers in commit order, commits. */
export const [groupRow, commitOrderRow] = [1, 2]

/** One row per recently committed transaction (transaction.ts). */
export const outcomeTable = 'octavo_write_outcomes'

/** Has a row while a new database is being prepared: from before its first table until its first rows are committed. */
export const unpreparedTable = 'octavo_preparation'

/** Tables unique to this driver. */
export const driverTables: readonly string[] = [groupTable, outcomeTable, unpreparedTable]

const outcomeIndex: OctavoIndex = { table: outcomeTable, name: 'written_at', unique: false, text: 'key written_at (written_at)' }

export const octavoIndexes: readonly OctavoIndex[] = [...octavoTables.flatMap(octavoIndexesOf), outcomeIndex]

export const createOctavoStatements = (): readonly string[] => [
  ...octavoTables.map(createOctavoTable),
  octavoTable(groupTable, ['id integer primary key']),
  `insert ignore into ${groupTable} (id) values (${groupRow}), (${commitOrderRow})`,
  octavoTable(outcomeTable, ['id varchar(36) primary key', 'written_at timestamp not null default current_timestamp', outcomeIndex.text]),
]

/** Creates the mark of a database being prepared. */
export const createMark = octavoTable(unpreparedTable, ['id integer primary key'])
