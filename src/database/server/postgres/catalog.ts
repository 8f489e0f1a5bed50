// The catalog of a PostgreSQL database: tables, columns, indexes, schema drift, dangling rows.
import type pg from 'pg'
import { ConfigError } from '../../../foundation/errors/errors.js'
import type { Model } from '../../../model/schema/types.js'
import { compareWithModel, type SchemaMismatches } from '../../../model/tables/compare-database.js'
import { quoted, storedName } from '../../../model/tables/table.js'
import type { DeclaredColumn, Inspection } from '../../database.js'
import { declaredType } from './create-tables.js'

/** A pool or a connection. */
export type Queryable = Pick<pg.ClientBase, 'query'>

/** A column and its declared type, such as `character varying(255)`. */
interface CatalogColumn {
  readonly name: string
  readonly type: string
}

/** The relations of the current schema. */
export interface Catalog {
  /** Columns by table or view. */
  readonly tables: ReadonlyMap<string, readonly CatalogColumn[]>
  /** Tables that do not belong to an extension; no views. */
  readonly ownTables: readonly string[]
  /** Whether each index is valid; an interrupted creation leaves an invalid one. */
  readonly indexes: ReadonlyMap<string, boolean>
}

/** Reads the catalog in one statement. */
export async function readCatalog(database: Queryable): Promise<Catalog> {
  const { rows } = await database.query<{
    readonly name: string
    readonly kind: string
    readonly own: number
    readonly valid: number | null
    readonly columns: string | null
  }>(
    `select c.relname as name, c.relkind as kind, i.indisvalid as valid,
       not exists (select from pg_depend d where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype = 'e') as own,
       (select json_agg(json_build_object('name', a.attname, 'type', format_type(a.atttypid, a.atttypmod)) order by a.attnum)
          from pg_attribute a where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and i.indexrelid is null)::text as columns
     from pg_class c left join pg_index i on i.indexrelid = c.oid
     where c.relnamespace = (select oid from pg_namespace where nspname = current_schema()) and c.relkind in ('r', 'p', 'f', 'v', 'm', 'i', 'I')`,
  )
  const tables = rows.filter(({ valid }) => valid === null)
  return {
    tables: new Map(tables.map(({ name, columns }) => [name, JSON.parse(columns ?? '[]') as readonly CatalogColumn[]])),
    ownTables: tables.filter(({ kind, own }) => own === 1 && (kind === 'r' || kind === 'p')).map(({ name }) => name),
    indexes: new Map(rows.flatMap(({ name, valid }) => (valid === null ? [] : [[name, valid === 1] as const]))),
  }
}

/** Names in pg_catalog, which take precedence over those of any schema. */
export async function catalogNames(database: Queryable): Promise<ReadonlySet<string>> {
  const { rows } = await database.query<{ readonly name: string }>(
    `select relname as name from pg_class where relnamespace = 'pg_catalog'::regnamespace`,
  )
  return new Set(rows.map(({ name }) => name))
}

/** Explains why the schema cannot be used; null: it is the current one. */
function schemaProblem(wanted: string, current: string | null, exists: boolean, database: string): string | null {
  if (current === wanted) return null
  if (!exists)
    return `The database ${database} has no schema "${wanted}". Create it with CREATE SCHEMA "${wanted}", or change DATABASE_SCHEMA`
  if (current === null)
    return `The user of the database ${database} may not use its schema "${wanted}". Grant it: GRANT USAGE ON SCHEMA "${wanted}" TO …`
  return `The schema of the connection is "${current}", not "${wanted}". Set DATABASE_SCHEMA to "${current}", or change the search_path of the user`
}

/** Checks that connections use the configured schema. @throws ConfigError if it does not exist or is not the current one */
export async function checkSchema(database: Queryable, schema: string): Promise<void> {
  const { rows } = await database.query<{ readonly current: string | null; readonly exists: number; readonly database: string }>(
    `select current_schema() as current, current_database() as database,
       exists (select from pg_namespace where nspname = $1) as exists`,
    [schema],
  )
  const { current, exists, database: name } = rows[0]!
  const problem = schemaProblem(schema, current, exists === 1, name)
  if (problem !== null) throw new ConfigError(problem)
}

/** Begins a snapshot that survives failed statements. */
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

async function readForeignKeys(connection: Queryable): Promise<readonly InspectedKey[]> {
  const { rows } = await connection.query<InspectedKey>(
    `select c.relname as table, a.attname as column, t.relname as parent, b.attname as key
     from pg_constraint k join pg_class c on c.oid = k.conrelid join pg_class t on t.oid = k.confrelid
     join pg_attribute a on a.attrelid = c.oid and a.attnum = k.conkey[1] join pg_attribute b on b.attrelid = t.oid and b.attnum = k.confkey[1]
     where k.contype = 'f' and cardinality(k.conkey) = 1 and k.connamespace = (select oid from pg_namespace where nspname = current_schema())
     order by c.relname, k.conname`,
  )
  return rows
}

/** Rows with dangling references, left by imports or replication with foreign keys disabled. */
async function danglingRows(connection: Queryable): Promise<readonly string[]> {
  const found: string[] = []
  for (const { table, column, parent, key } of await readForeignKeys(connection)) {
    const { rows } = await connection.query<{ readonly id: string }>(
      `select coalesce(to_jsonb(c) ->> 'id', cast(c.ctid as text)) as id from ${quoted(table)} c
       where c.${quoted(column)} is not null and not exists (select from ${quoted(parent)} p where p.${quoted(key)} = c.${quoted(column)})`,
    )
    for (const { id } of rows) found.push(`${table} row ${id} references a missing row of ${parent}`)
  }
  return found
}

export const inspectPostgres = (connection: Queryable): Inspection => ({
  tables: async () => {
    const { tables } = await readCatalog(connection)
    return { has: (table) => tables.has(storedName(table)), names: [...tables.keys()] }
  },
  findDamage: null,
  danglingRows: () => danglingRows(connection),
})

/** Groups of types that are read alike. */
const families: readonly (readonly string[])[] = [
  ['varchar', 'character varying', 'text', 'character'],
  ['integer', 'smallint', 'bigint', 'real', 'double precision', 'numeric'],
  ['json', 'jsonb'],
]

/** Compares the schema with the model, without reading rows. */
export async function findSchemaMismatches(database: Queryable, model: Model): Promise<SchemaMismatches> {
  const { tables, ownTables } = await readCatalog(database)
  return compareWithModel(model, {
    tables: ownTables,
    columnsOf: (table) => tables.get(storedName(table)) ?? [],
    storedName,
    declaredType,
    families,
  })
}

export async function readDeclaredColumns(database: Queryable): Promise<DeclaredColumn> {
  const { tables } = await readCatalog(database)
  return (table, column) => tables.get(storedName(table))?.find(({ name }) => name === storedName(column))?.type ?? null
}
