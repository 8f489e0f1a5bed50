// The columns of API tokens that databases of older Strapi versions lack. The table belongs to Strapi's admin panel, so they are not added.
import { sql } from 'kysely'
import { hasColumns, type RowReader } from '../../database/database.js'

/** The optional columns that a database has. */
export type TokenColumns = ReadonlySet<'kind' | 'encrypted_key'>

/** Asks the database which columns it has: one statement for a database of a current version. */
export async function tokenColumns(database: RowReader): Promise<TokenColumns> {
  if (await has(database, 'kind', 'encrypted_key')) return new Set(['kind', 'encrypted_key'])
  const [kind, key] = [await has(database, 'kind'), await has(database, 'encrypted_key')]
  return new Set([...(kind ? ['kind' as const] : []), ...(key ? ['encrypted_key' as const] : [])])
}

const has = (database: RowReader, ...columns: readonly string[]): Promise<boolean> => hasColumns(database, 'strapi_api_tokens', columns)

/** The condition for tokens of the content API; the others are for the admin panel. */
export const ofContentApi = (columns: TokenColumns) => (columns.has('kind') ? sql`(kind is null or kind = 'content-api')` : sql`1 = 1`)
