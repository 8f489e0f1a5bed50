// What the catalog of a PostgreSQL database says of the current schema: its tables, their columns, and the indexes.
import type pg from 'pg'
import { ConfigError } from '../../../foundation/errors/errors.js'

/** What executes statements: a pool, or one of its connections. */
export type Queryable = Pick<pg.ClientBase, 'query'>

/** A column as it is declared: `character varying(255)`. */
export interface CatalogColumn {
  readonly name: string
  readonly type: string
}

/** The relations of the current schema. */
export interface Catalog {
  /** Columns by table, views included. */
  readonly tables: ReadonlyMap<string, readonly CatalogColumn[]>
  /** Tables that belong to the content, not to an extension, and no views. */
  readonly ownTables: readonly string[]
  /** Whether each index can be used; one whose creation was interrupted cannot. */
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

/** The names of the server's own catalog, which come before those of any schema. */
export async function catalogNames(database: Queryable): Promise<ReadonlySet<string>> {
  const { rows } = await database.query<{ readonly name: string }>(
    `select relname as name from pg_class where relnamespace = 'pg_catalog'::regnamespace`,
  )
  return new Set(rows.map(({ name }) => name))
}

/** A sentence for a schema in which tables cannot be found or made; null: it is the current one. */
function schemaProblem(wanted: string, current: string | null, exists: boolean, database: string): string | null {
  if (current === wanted) return null
  if (!exists)
    return `The database ${database} has no schema "${wanted}". Create it with CREATE SCHEMA "${wanted}", or change DATABASE_SCHEMA`
  if (current === null)
    return `The user of the database ${database} may not use its schema "${wanted}". Grant it: GRANT USAGE ON SCHEMA "${wanted}" TO …`
  return `The schema of the connection is "${current}", not "${wanted}". Set DATABASE_SCHEMA to "${current}", or change the search_path of the user`
}

/**
 * Checks that connections use the configured schema.
 * @throws ConfigError with a sentence if it does not exist or another one comes first
 */
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
