// A table of the database as plain data. Each database has its own text for it.
import { createHash } from 'node:crypto'

/**
 * Column types that each database translates: `reference` is a row id, `place` a sort position; `float` has 64 bits, `real` may have fewer;
 * `datetime` is exact to milliseconds or better, `moment` is the attribute type timestamp, `timestamp` is for Strapi's internal tables;
 * `json` may be stored parsed, `jsonText` is stored as written.
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

export function foreignKey(name: string, from: string, table: string, onDelete: ForeignKey['onDelete'], to = 'id'): ForeignKey {
  return { name, columns: [from], references: { table, columns: [to] }, onDelete }
}

/** Bytes of an identifier that PostgreSQL keeps, and characters of the hash that ends a long name. */
const identifierBytes = 63
const hashLength = 8

/** PostgreSQL truncates names to 63 bytes; a long name ends in a hash. */
export function fullName(name: string): string {
  if (Buffer.byteLength(name) <= identifierBytes) return name
  const hash = createHash('sha256').update(name).digest('hex').slice(0, hashLength)
  let kept = name
  while (Buffer.byteLength(kept) > identifierBytes - hashLength - 1) kept = [...kept].slice(0, -1).join('')
  return `${kept}_${hash}`
}

/** An identifier as the catalog of PostgreSQL has it: long ones are cut off, at a whole character. */
export function storedName(identifier: string): string {
  if (Buffer.byteLength(identifier) <= identifierBytes) return identifier
  let name = ''
  for (const character of identifier) {
    if (Buffer.byteLength(name + character) > identifierBytes) return name
    name += character
  }
  return name
}
