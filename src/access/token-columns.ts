// The columns of API tokens that databases of older Strapi versions lack. The table belongs to Strapi's admin panel, so they are not added.
import { sql } from 'kysely'
import type { MainConnection } from '../database/database.js'

/** The optional columns that a database has. */
export type TokenColumns = ReadonlySet<'kind' | 'encrypted_key'>

/** Asks the database which columns it has: one statement for a database of a current version. */
export async function tokenColumns(database: Pick<MainConnection, 'rows'>): Promise<TokenColumns> {
  if (await has(database, 'kind', 'encrypted_key')) return new Set(['kind', 'encrypted_key'])
  const [kind, key] = [await has(database, 'kind'), await has(database, 'encrypted_key')]
  return new Set([...(kind ? ['kind' as const] : []), ...(key ? ['encrypted_key' as const] : [])])
}

async function has(database: Pick<MainConnection, 'rows'>, ...columns: readonly string[]): Promise<boolean> {
  try {
    await database.rows(sql`select ${sql.join(columns.map((column) => sql.ref(column)))} from strapi_api_tokens where 1 = 0`)
    return true
  } catch {
    return false
  }
}

/** The condition for tokens of the content API; the others are for the admin panel. */
export const ofContentApi = (columns: TokenColumns) => (columns.has('kind') ? sql`(kind is null or kind = 'content-api')` : sql`1 = 1`)
