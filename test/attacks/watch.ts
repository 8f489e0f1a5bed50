// Whether anything in a project's database has changed.
import { createHash } from 'node:crypto'
import { isOnPostgres } from '../support/databases.js'
import type { Served } from '../support/serve.js'

// The time at which a token was used last is nothing that a request asks for.
const tables = isOnPostgres
  ? "select tablename as name from pg_tables where schemaname = 'public' and tablename <> 'strapi_api_tokens'"
  : "select name from sqlite_master where type = 'table' and name not in ('sqlite_sequence', 'strapi_api_tokens')"

/** What every table holds, hashed. */
export async function contents({ sql }: Served): Promise<Readonly<Record<string, string>>> {
  const names = (await sql(tables)).map(({ name }) => name as string)
  const hashes = names.map(async (name) => {
    const rows = await sql(`select * from "${name}" order by 1`)
    return [name, createHash('sha256').update(JSON.stringify(rows)).digest('hex')] as const
  })
  return Object.fromEntries(await Promise.all(hashes))
}
