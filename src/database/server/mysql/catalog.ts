// The catalog of a MySQL or MariaDB database: tables, columns, indexes, schema drift, dangling rows; and named locks.

import type { Model } from '../../../model/schema/types.js'
import { compareWithModel, type SchemaMismatches } from '../../../model/tables/compare-database.js'
import { quoted } from '../../../model/tables/table.js'
import type { DeclaredColumn, Inspection } from '../../database.js'
import type { MysqlQueryable } from './client.js'
import { declaredType } from './create-tables.js'

/** A column and its declared type, such as `varchar(255)` or `int(10) unsigned`. */
interface MysqlCatalogColumn {
  readonly name: string
  readonly type: string
}

export interface MysqlCatalog {
  /** Columns by table or view. */
  readonly tables: ReadonlyMap<string, readonly MysqlCatalogColumn[]>
  /** Tables without views. */
  readonly ownTables: readonly string[]
  /** Index names by table. */
  readonly indexes: ReadonlyMap<string, ReadonlySet<string>>
}

/** Reads the catalog without joins, for which the servers would open every table for each row. */
export async function readCatalog(database: MysqlQueryable): Promise<MysqlCatalog> {
  const textsOf = async (text: string) => (await database.query(text)).rows as readonly (readonly string[])[]
  const own = await textsOf(
    "select table_name from information_schema.tables where table_schema = database() and table_type = 'BASE TABLE' order by table_name",
  )
  const columns = await textsOf(
    `select table_name, column_name, column_type from information_schema.columns
     where table_schema = database() order by table_name, ordinal_position`,
  )
  const indexes = await textsOf('select distinct table_name, index_name from information_schema.statistics where table_schema = database()')
  const tables = new Map<string, MysqlCatalogColumn[]>()
  for (const [table, name, type] of columns) tables.set(table!, [...(tables.get(table!) ?? []), { name: name!, type: type! }])
  const named = new Map<string, Set<string>>()
  for (const [table, name] of indexes) named.set(table!, (named.get(table!) ?? new Set()).add(name!))
  return { tables, ownTables: own.flat(), indexes: named }
}

export const beginSnapshot = async (client: MysqlQueryable): Promise<void> => {
  await client.query('start transaction with consistent snapshot, read only')
}

interface ColumnKey {
  readonly table: string
  readonly column: string
  readonly parent: string
  readonly key: string
  /** Action on deletion of the target: `CASCADE`, `SET NULL`, … */
  readonly rule: string
}

export async function readForeignKeys(connection: MysqlQueryable): Promise<readonly ColumnKey[]> {
  const textsOf = async (text: string) => (await connection.query(text)).rows as readonly (readonly string[])[]
  const keys = await textsOf(
    `select table_name, constraint_name, min(column_name), min(referenced_table_name), min(referenced_column_name)
     from information_schema.key_column_usage where constraint_schema = database() and referenced_table_name is not null
     group by table_name, constraint_name having count(*) = 1 order by table_name, constraint_name`,
  )
  const rules = await textsOf(
    'select table_name, constraint_name, delete_rule from information_schema.referential_constraints where constraint_schema = database()',
  )
  const ruleOf = new Map(rules.map(([table, name, rule]) => [`${table}.${name}`, rule!]))
  return keys.map(([table, name, column, parent, key]) => ({
    table: table!,
    column: column!,
    parent: parent!,
    key: key!,
    rule: ruleOf.get(`${table}.${name}`)!,
  }))
}

/** Rows with dangling references, left by imports with foreign keys disabled. */
async function danglingRows(connection: MysqlQueryable): Promise<readonly string[]> {
  const { tables } = await readCatalog(connection)
  const found: string[] = []
  for (const { table, column, parent, key } of await readForeignKeys(connection)) {
    const id = tables.get(table)?.some(({ name }) => name === 'id') === true ? 'c.id' : "'?'"
    const { rows } = await connection.query(
      `select ${id} from ${quoted(table)} c
       where c.${quoted(column)} is not null and not exists (select 1 from ${quoted(parent)} p where p.${quoted(key)} = c.${quoted(column)})`,
    )
    for (const [row] of rows) found.push(`${table} row ${row} references a missing row of ${parent}`)
  }
  return found
}

export const inspectMysql = (connection: MysqlQueryable): Inspection => ({
  tables: async () => {
    const { tables } = await readCatalog(connection)
    return { has: (table) => tables.has(table), names: [...tables.keys()] }
  },
  findDamage: null,
  danglingRows: () => danglingRows(connection),
})

/** Groups of types that are read alike. MariaDB's JSON is a longtext. */
const families: readonly (readonly string[])[] = [
  ['varchar', 'char', 'text', 'longtext', 'mediumtext', 'tinytext', 'json'],
  ['int', 'int unsigned', 'bigint', 'bigint unsigned', 'smallint', 'mediumint', 'double', 'double unsigned', 'float', 'decimal'],
]

/** Compares the schema with the model, without reading rows. */
export async function findSchemaMismatches(database: MysqlQueryable, model: Model): Promise<SchemaMismatches> {
  const { tables, ownTables } = await readCatalog(database)
  return compareWithModel(model, {
    tables: ownTables,
    columnsOf: (table) => tables.get(table) ?? [],
    storedName: (name) => name,
    declaredType,
    families,
  })
}

/** Reads declared types. MariaDB declares JSON as text with a validity check. */
export async function readDeclaredColumns(database: MysqlQueryable): Promise<DeclaredColumn> {
  const { tables } = await readCatalog(database)
  const checked = await database
    .query(
      "select table_name, constraint_name from information_schema.check_constraints where constraint_schema = database() and check_clause like 'json_valid(%'",
    )
    .then(
      ({ rows }) => new Set(rows.map(([table, column]) => `${table}.${column}`)),
      // MySQL has a JSON type, and this view has other columns.
      () => new Set<string>(),
    )
  return (table, column) =>
    checked.has(`${table}.${column}`) ? 'json' : (tables.get(table)?.find(({ name }) => name === column)?.type ?? null)
}

/** Work for one process at a time. */
type LockName = 'prepare' | 'start' | 'index'

/** The lock's name; the same in every version. */
const nameOf = (name: LockName): string => `concat('octavo_${name}_', md5(database()))`

/** Acquires a lock within `wait` milliseconds. Resolves to whether it succeeded. */
export async function takeLock(client: MysqlQueryable, name: LockName, wait: number): Promise<boolean> {
  const { rows } = await client.query(`select get_lock(${nameOf(name)}, ${Math.ceil(wait / 1000)})`)
  return rows[0]![0] === 1
}

export async function releaseLock(client: MysqlQueryable, name: LockName): Promise<void> {
  await client.query(`do release_lock(${nameOf(name)})`)
}
