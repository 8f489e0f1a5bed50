// The text of tables in the words of MySQL and MariaDB: Strapi's layout and Octavo's own tables.
import { type OctavoColumnType, type OctavoTable, octavoTables } from '../../../model/tables/octavo-tables.js'
import { type ColumnType, type ForeignKey, type Index, quoted, type Table } from '../../../model/tables/table.js'
import type { MysqlQueryable } from './client.js'

/** Types that have another name here, as Strapi declares them. */
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

/** A column as a table declares it. Without `null`, older servers give a timestamp a default. */
export const columnText = ({ name, type, notNull, increments, default: standard }: Table['columns'][number]): string => {
  if (increments) return `${quoted(name)} int unsigned not null auto_increment primary key`
  return `${quoted(name)} ${declaredType(type)} ${notNull ? 'not null' : 'null'}${standard === null ? '' : ` default ${standard}`}`
}

export const indexText = ({ name, columns, unique }: Index): string => `${unique ? 'unique ' : ''}key ${quoted(name)} (${list(columns)})`

export const foreignKeyText = ({ name, columns, references, onDelete }: ForeignKey): string =>
  `constraint ${quoted(name)} foreign key (${list(columns)}) references ${quoted(references.table)} (${list(references.columns)}) on delete ${onDelete}`

/**
 * The statement that creates a table, with all that belongs to it; the tables that it references may come later. `characters`: as
 * `charactersOf` says.
 */
export const createStatement = ({ name, columns, indexes, foreignKeys }: Table, characters: string): string =>
  `create table if not exists ${quoted(name)} (${[...columns.map(columnText), ...indexes.map(indexText), ...foreignKeys.map(foreignKeyText)].join(', ')}) engine = InnoDB${characters}`

/**
 * The character set of new tables, as the end of their statement: empty where the database gives them one that has every text. Otherwise it
 * is utf8mb4, with the collation that connections have there, so that texts of all tables can be compared.
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

/** A secondary index of one of Octavo's tables. */
export interface OctavoIndex {
  readonly table: string
  readonly name: string
  readonly unique: boolean
  /** Its definition in a statement. */
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
 * Octavo's tables compare texts by character, including trailing spaces, regardless of the database's collation. MariaDB and MySQL have
 * different names for that; each ignores the comment of the other.
 */
const byCharacter = 'engine = InnoDB default character set utf8mb4 /*M! collate utf8mb4_nopad_bin */ /*!80017 collate utf8mb4_0900_bin */'

/** The statement that creates a table of Octavo's own. */
export const octavoTable = (name: string, parts: readonly string[]): string =>
  `create table if not exists ${name} (${parts.join(', ')}) ${byCharacter}`

/** Has one row, which transactions that conflict lock one after the other (writes.ts). */
export const groupTable = 'octavo_write_turns'

/** Its rows: the one that transactions lock which take turns, and the one that those lock which number something in the order of commits. */
export const [groupRow, commitOrderRow] = [1, 2]

/** Has a row for each transaction that was committed lately (transaction.ts). */
export const outcomeTable = 'octavo_write_outcomes'

/** Has a row from before the first table of a new database is made until its first rows are committed. */
export const unpreparedTable = 'octavo_preparation'

/** The tables that only this driver has. */
export const driverTables: readonly string[] = [groupTable, outcomeTable, unpreparedTable]

const outcomeIndex: OctavoIndex = { table: outcomeTable, name: 'written_at', unique: false, text: 'key written_at (written_at)' }

/** All secondary indexes of Octavo's tables. */
export const octavoIndexes: readonly OctavoIndex[] = [...octavoTables.flatMap(octavoIndexesOf), outcomeIndex]

/** The statements that create those of Octavo's own tables that are missing. */
export const createOctavoStatements = (): readonly string[] => [
  ...octavoTables.map(createOctavoTable),
  octavoTable(groupTable, ['id integer primary key']),
  `insert ignore into ${groupTable} (id) values (${groupRow}), (${commitOrderRow})`,
  octavoTable(outcomeTable, ['id varchar(36) primary key', 'written_at timestamp not null default current_timestamp', outcomeIndex.text]),
]

/** The statement that creates the mark of a database that is being prepared. */
export const createMark = octavoTable(unpreparedTable, ['id integer primary key'])
