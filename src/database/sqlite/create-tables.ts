// The text of tables in SQLite's words, and making them.
import type { Database } from 'better-sqlite3'
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

/** The statements that create one table and its indexes. */
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

/** Creates the tables with their indexes, all or none. */
export function createTables(database: Database, tables: readonly Table[]): void {
  database.transaction(() => {
    for (const table of tables) for (const statement of createStatements(table)) database.exec(statement)
  })()
}
