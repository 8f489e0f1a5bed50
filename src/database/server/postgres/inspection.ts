// What a PostgreSQL database says of itself.

import { storedName } from '../../../model/tables/stored-name.js'
import { quoted } from '../../../model/tables/table.js'
import type { Inspection } from '../../database.js'
import { type Queryable, readCatalog } from './catalog.js'

/** Begins a transaction in which all reads see the same rows, and which a failed statement does not end. */
export async function beginSnapshot(client: Queryable): Promise<Queryable> {
  await client.query('begin isolation level repeatable read, read only; savepoint begun')
  const query = async (...statement: Parameters<Queryable['query']>) => {
    try {
      return await client.query(...statement)
    } catch (error) {
      await client.query('rollback to savepoint begun')
      throw error
    }
  }
  return { query: query as Queryable['query'] }
}

interface InspectedKey {
  readonly table: string
  readonly column: string
  readonly parent: string
  readonly key: string
}

/** The foreign keys of the current schema that have one column. */
async function foreignKeysOf(connection: Queryable): Promise<readonly InspectedKey[]> {
  const { rows } = await connection.query<InspectedKey>(
    `select c.relname as table, a.attname as column, t.relname as parent, b.attname as key
     from pg_constraint k join pg_class c on c.oid = k.conrelid join pg_class t on t.oid = k.confrelid
     join pg_attribute a on a.attrelid = c.oid and a.attnum = k.conkey[1] join pg_attribute b on b.attrelid = t.oid and b.attnum = k.confkey[1]
     where k.contype = 'f' and cardinality(k.conkey) = 1 and k.connamespace = (select oid from pg_namespace where nspname = current_schema())
     order by c.relname, k.conname`,
  )
  return rows
}

/** Rows that reference missing ones: imports and replication may leave them, since they can switch foreign keys off. */
async function danglingRows(connection: Queryable): Promise<readonly string[]> {
  const found: string[] = []
  for (const { table, column, parent, key } of await foreignKeysOf(connection)) {
    const { rows } = await connection.query<{ readonly id: string }>(
      `select coalesce(to_jsonb(c) ->> 'id', cast(c.ctid as text)) as id from ${quoted(table)} c
       where c.${quoted(column)} is not null and not exists (select from ${quoted(parent)} p where p.${quoted(key)} = c.${quoted(column)})`,
    )
    for (const { id } of rows) found.push(`${table} row ${id} references a missing row of ${parent}`)
  }
  return found
}

/** Looks at the tables of a database and its foreign keys. */
export const inspectPostgres = (connection: Queryable): Inspection => ({
  tables: async () => {
    const { tables } = await readCatalog(connection)
    return { has: (table) => tables.has(storedName(table)), names: [...tables.keys()] }
  },
  damage: null,
  danglingRows: () => danglingRows(connection),
})
