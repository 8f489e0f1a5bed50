// Detects changes in a project's database.
import { createHash } from 'node:crypto'
import Database from 'better-sqlite3'
import { isOnMysql, isOnPostgres } from '../support/databases.js'
import type { Served } from '../support/serve.js'

/** Hashed content of every table, without the last use of tokens, which changes by itself. */
export async function contents(served: Served): Promise<Readonly<Record<string, string>>> {
  if (isOnPostgres) return onPostgres(served)
  return isOnMysql ? onMysql(served) : onSqlite(served.database)
}

function onSqlite(file: string): Readonly<Record<string, string>> {
  const database = new Database(file, { readonly: true })
  const names = database
    .prepare(`select name from sqlite_master where type = 'table' and name not in ('sqlite_sequence', 'strapi_api_tokens')`)
    .pluck()
    .all() as string[]
  const hashed = (name: string): string => {
    const hash = createHash('sha256')
    for (const row of database.prepare(`select * from "${name}" order by 1`).raw().iterate()) hash.update(JSON.stringify(row))
    return hash.digest('hex')
  }
  const found = Object.fromEntries(names.map((name) => [name, hashed(name)]))
  database.close()
  return found
}

async function onPostgres({ sql }: Served): Promise<Readonly<Record<string, string>>> {
  const tables = await sql("select tablename from pg_tables where schemaname = 'public' and tablename <> 'strapi_api_tokens'")
  const hashes = tables.map(
    ({ tablename }) =>
      `select '${tablename}' as name, (select md5(string_agg(t::text, ',' order by t::text)) from "${tablename}" t) as hash`,
  )
  return Object.fromEntries((await sql(hashes.join(' union all '))).map(({ name, hash }) => [name, hash]))
}

async function onMysql({ sql }: Served): Promise<Readonly<Record<string, string>>> {
  const tables = await sql(
    "select table_name as name from information_schema.tables where table_schema = database() and table_name <> 'strapi_api_tokens'",
  )
  const sums = await sql(`checksum table ${tables.map(({ name }) => `"${name}"`).join(', ')}`)
  return Object.fromEntries(sums.map(({ Table: name, Checksum: sum }) => [name, String(sum)]))
}
