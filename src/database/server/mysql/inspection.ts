// What a MySQL or MariaDB database says of itself.

import { quoted } from '../../../model/tables/table.js'
import type { Inspection } from '../../database.js'
import { type MysqlQueryable, readCatalog } from './catalog.js'

/** Begins a transaction in which all reads see the same rows. */
export const beginSnapshot = async (client: MysqlQueryable): Promise<void> => {
  await client.query('start transaction with consistent snapshot, read only')
}

/** A foreign key that has one column, and what it references. */
export interface ColumnKey {
  readonly table: string
  readonly column: string
  readonly parent: string
  readonly key: string
  /** What becomes of a row whose target is removed: `CASCADE`, `SET NULL`, … */
  readonly rule: string
}

/** The foreign keys of the current database that have one column. */
export async function columnKeysOf(connection: MysqlQueryable): Promise<readonly ColumnKey[]> {
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
    ...{ table: table!, column: column!, parent: parent!, key: key!, rule: ruleOf.get(`${table}.${name}`)! },
  }))
}

/** Rows that reference missing ones: imports may leave them, since they can switch foreign keys off. */
async function danglingRows(connection: MysqlQueryable): Promise<readonly string[]> {
  const { tables } = await readCatalog(connection)
  const found: string[] = []
  for (const { table, column, parent, key } of await columnKeysOf(connection)) {
    const id = tables.get(table)?.some(({ name }) => name === 'id') === true ? 'c.id' : "'?'"
    const { rows } = await connection.query(
      `select ${id} from ${quoted(table)} c
       where c.${quoted(column)} is not null and not exists (select 1 from ${quoted(parent)} p where p.${quoted(key)} = c.${quoted(column)})`,
    )
    for (const [row] of rows) found.push(`${table} row ${row} references a missing row of ${parent}`)
  }
  return found
}

/** Looks at the tables of a database and its foreign keys. */
export const inspectMysql = (connection: MysqlQueryable): Inspection => ({
  tables: async () => {
    const { tables } = await readCatalog(connection)
    return { has: (table) => tables.has(table), names: [...tables.keys()] }
  },
  damage: null,
  danglingRows: () => danglingRows(connection),
})
