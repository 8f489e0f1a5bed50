// A table of the database as plain data, and the statements that make it.

export interface Column {
  readonly name: string
  /** As declared: `varchar(255)`, `datetime`, `float`, … */
  readonly type: string
  readonly notNull: boolean
  /** The autoincremented primary key. */
  readonly increments: boolean
  /** An SQL literal, or null for no default. */
  readonly default: string | null
}

export interface Index {
  readonly name: string
  readonly columns: readonly string[]
  readonly unique: boolean
}

export interface ForeignKey {
  readonly name: string
  readonly columns: readonly string[]
  readonly references: { readonly table: string; readonly columns: readonly string[] }
  readonly onDelete: 'CASCADE' | 'SET NULL'
}

export interface Table {
  readonly name: string
  readonly columns: readonly Column[]
  readonly indexes: readonly Index[]
  readonly foreignKeys: readonly ForeignKey[]
}

/** The statements that create one table and its indexes. */
export function createStatements(table: Table): readonly string[] {
  const list = (columns: readonly string[]) => columns.map(quoted).join(', ')
  const columns = table.columns.map((column) => {
    const name = `${quoted(column.name)} ${column.type}`
    if (column.increments) return `${name} NOT NULL PRIMARY KEY AUTOINCREMENT`
    return `${name} ${column.notNull ? 'NOT NULL' : 'NULL'}${column.default === null ? '' : ` DEFAULT ${column.default}`}`
  })
  const constraints = table.foreignKeys.map(
    ({ name, columns, references, onDelete }) =>
      `CONSTRAINT ${quoted(name)} FOREIGN KEY (${list(columns)}) REFERENCES ${quoted(references.table)} (${list(references.columns)}) ON DELETE ${onDelete}`,
  )
  return [
    `CREATE TABLE ${quoted(table.name)} (${[...columns, ...constraints].join(', ')})`,
    ...table.indexes.map(
      ({ name, columns, unique }) => `CREATE ${unique ? 'UNIQUE ' : ''}INDEX ${quoted(name)} ON ${quoted(table.name)} (${list(columns)})`,
    ),
  ]
}

/** An identifier for a statement. */
export function quoted(identifier: string): string {
  return `"${identifier.replaceAll('"', '""')}"`
}

/** A column that may be empty and has no default. */
export function column(name: string, type: string): Column {
  return { name, type, notNull: false, increments: false, default: null }
}

/** The autoincremented primary key that every table has. */
export const idColumn: Column = { name: 'id', type: 'integer', notNull: true, increments: true, default: null }

/** A foreign key on the other table's id. */
export function foreignKey(name: string, from: string, table: string, onDelete: ForeignKey['onDelete'], to = 'id'): ForeignKey {
  return { name, columns: [from], references: { table, columns: [to] }, onDelete }
}
