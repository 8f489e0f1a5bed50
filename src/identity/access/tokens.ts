// API tokens in Strapi's format: the key is shown once, and only its keyed hash is stored.

import { createHmac, randomBytes } from 'node:crypto'
import { sql } from 'kysely'
import { insertRow, newEntry } from '../../content/documents/store/rows.js'
import { hasColumns, type RowReader, type Transaction, type WriteDatabase } from '../../database/database.js'
import { bindTimestamp } from '../../database/portable-sql.js'
import { ApiError } from '../../foundation/errors/errors.js'

/** The types of API tokens in Strapi. */
export type TokenType = 'read-only' | 'full-access' | 'custom'

/** The values of a token to create. */
interface NewToken {
  readonly name: string
  readonly description: string
  readonly type: TokenType
  /** Milliseconds from now; null if it never expires. */
  readonly lifespan: number | null
  /** The actions of a custom token. */
  readonly actions: readonly string[]
}

interface TokenStore {
  readonly salt: string
  readonly columns: TokenColumns
}

/** Generates a key in Strapi's format. */
export const newKey = (): string => randomBytes(128).toString('hex')

/** Hashes a key with the salt. */
const hashKey = (salt: string, key: string): string => createHmac('sha512', salt).update(key).digest('hex')

/** Updates `last_used_at` of a token. */
export function updateLastUse(writer: WriteDatabase, id: number, now: number): Promise<void> {
  return writer.run(sql`update strapi_api_tokens set last_used_at = ${bindTimestamp(now)} where id = ${id}`)
}

/** Creates a token with this key. @throws ApiError 400 for a name or key that is taken. */
export async function createToken(
  transaction: Transaction,
  { salt, columns }: TokenStore,
  key: string,
  token: NewToken,
  now: number,
): Promise<number> {
  const access_key = hashKey(salt, key)
  const [same] = await transaction.rows(sql`select id from strapi_api_tokens where name = ${token.name} or access_key = ${access_key}`)
  if (same !== undefined) {
    const message = 'A token with this name or key already exists'
    throw new ApiError('ApplicationError', message).because([{ path: ['name'], message, code: 'unique' }])
  }
  const id = await insertRow(transaction, 'strapi_api_tokens', {
    ...newEntry(now),
    name: token.name,
    description: token.description,
    ...(columns.has('kind') ? { kind: 'content-api' } : {}),
    type: token.type,
    access_key,
    expires_at: bindTimestamp(token.lifespan === null ? null : now + token.lifespan),
    lifespan: token.lifespan,
  })
  await addTokenActions(transaction, id, token.actions, now)
  return id
}

async function addTokenActions(transaction: Transaction, id: number, actions: readonly string[], now: number): Promise<void> {
  for (const [index, action] of actions.entries()) {
    const permission = await insertRow(transaction, 'strapi_api_token_permissions', { ...newEntry(now), action })
    await insertRow(transaction, 'strapi_api_token_permissions_token_lnk', {
      api_token_permission_id: permission,
      api_token_id: id,
      api_token_permission_ord: index + 1,
    })
  }
}

/** Replaces the actions of a token. */
export async function setTokenActions(transaction: Transaction, id: number, actions: readonly string[], now: number): Promise<void> {
  await removeTokenActions(transaction, id)
  await addTokenActions(transaction, id, actions, now)
}

/** A token without its key. */
interface ListedToken {
  readonly id: number
  readonly name: string
  readonly description: string | null
  readonly type: TokenType
  readonly lifespan: number | null
  readonly created_at: number | null
  readonly expires_at: number | null
  readonly last_used_at: number | null
}

/** Returns all API tokens in the order of their ids. */
export async function listTokens(database: RowReader, columns?: TokenColumns): Promise<readonly ListedToken[]> {
  const known = columns ?? (await tokenColumns(database))
  return database.rows<ListedToken>(
    sql`select id, name, description, type, lifespan, created_at, expires_at, last_used_at from strapi_api_tokens where ${ofContentApi(known)} order by id`,
  )
}

/** Returns a token by its name or id. @throws ApiError 404 */
export async function findToken(database: RowReader, nameOrId: string): Promise<ListedToken> {
  const tokens = await listTokens(database)
  const found = tokens.find(({ name }) => name === nameOrId) ?? tokens.find(({ id }) => String(id) === nameOrId)
  if (found === undefined) throw new ApiError('NotFoundError', `There is no token "${nameOrId}"`)
  return found
}

/** Deletes a token with its permissions. */
export async function revokeToken(transaction: Transaction, id: number): Promise<void> {
  await removeTokenActions(transaction, id)
  await transaction.run(sql`delete from strapi_api_tokens where id = ${id}`)
}

async function removeTokenActions(transaction: Transaction, id: number): Promise<void> {
  await transaction.run(sql`delete from strapi_api_token_permissions where id in
    (select api_token_permission_id from strapi_api_token_permissions_token_lnk where api_token_id = ${id})`)
}

/** Replaces the key of a token; its lifespan starts again. */
export async function regenerateToken(
  transaction: Transaction,
  { salt, columns }: TokenStore,
  id: number,
  key: string,
  now: number,
): Promise<void> {
  const [token] = await transaction.rows<{ readonly lifespan: number | null }>(sql`select lifespan from strapi_api_tokens where id = ${id}`)
  const expires = typeof token?.lifespan === 'number' ? now + token.lifespan : null
  // Strapi keeps the key itself in this column, to show it again.
  const shown = columns.has('encrypted_key') ? sql`encrypted_key = null,` : sql``
  await transaction.run(
    sql`update strapi_api_tokens set access_key = ${hashKey(salt, key)}, ${shown} expires_at = ${bindTimestamp(expires)}, updated_at = ${bindTimestamp(now)} where id = ${id}`,
  )
}

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
