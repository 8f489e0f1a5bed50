// A table of the database as plain data. Each database has its own text for it.

/**
 * What a column holds, in words that each database translates: `reference` is the id of a row, `place` what rows are sorted by; `float`
 * has 64 bits, `real` may have fewer; `datetime` is exact to milliseconds or better, `moment` is what an attribute of the type timestamp
 * has, `timestamp` what Strapi's bookkeeping has; `json` may be stored parsed, `jsonText` is kept as written.
 */
export type ColumnType =
  | `varchar(${number})`
  | 'text'
  | 'integer'
  | 'reference'
  | 'bigint'
  | 'float'
  | 'place'
  | 'real'
  | `decimal(${number},${number})`
  | 'boolean'
  | 'date'
  | 'time'
  | 'datetime'
  | 'moment'
  | 'timestamp'
  | 'json'
  | 'jsonText'

export interface Column {
  readonly name: string
  readonly type: ColumnType
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

/** An identifier for a statement. */
export function quoted(identifier: string): string {
  return `"${identifier.replaceAll('"', '""')}"`
}

/** A column that may be empty and has no default. */
export function column(name: string, type: ColumnType): Column {
  return { name, type, notNull: false, increments: false, default: null }
}

/** The autoincremented primary key that every table has. */
export const idColumn: Column = { name: 'id', type: 'reference', notNull: true, increments: true, default: null }

/** A foreign key on the other table's id. */
export function foreignKey(name: string, from: string, table: string, onDelete: ForeignKey['onDelete'], to = 'id'): ForeignKey {
  return { name, columns: [from], references: { table, columns: [to] }, onDelete }
}
