// API tokens managed by administrators, with entries in the log of activity.
import { sql } from 'kysely'
import { updateRow } from '../../content/documents/store/rows.js'
import type { RowReader } from '../../database/database.js'
import type { Config } from '../../foundation/config/config.js'
import { ApiError, notFound, validationError } from '../../foundation/errors/errors.js'
import { actionsOf, isUseless } from '../../identity/access/actions.js'
import {
  createToken,
  listTokens,
  newKey,
  regenerateToken,
  revokeToken,
  setTokenActions,
  type TokenColumns,
  type TokenType,
  tokenColumns,
} from '../../identity/access/tokens.js'
import type { Model } from '../../model/schema/types.js'
import { type ActingAdministrator, doAction } from '../activity.js'
import type { Administration } from '../context.js'
import { nameTaken, withFieldPaths } from '../error-paths.js'

/** An API token. Times are milliseconds since 1970. */
export interface ManagedToken {
  readonly id: number
  readonly name: string
  readonly description: string
  readonly type: TokenType
  readonly lifespan: number | null
  readonly expiresAt: number | null
  readonly lastUsedAt: number | null
  readonly createdAt: number | null
  /** Only of custom tokens. */
  readonly actions: readonly string[]
}

/** The values of a token to write. */
interface TokenValues {
  readonly name?: string | undefined
  readonly description?: string | undefined
  readonly type?: TokenType | undefined
  readonly actions?: readonly string[] | undefined
}

export interface KnownActions {
  readonly model: Model
  readonly config: Pick<Config, 'routes' | 'types'>
}

export interface TokenManager extends ActingAdministrator {
  readonly isSuperAdmin: boolean
}

/** Full access includes changes of the model, which no right of a role covers. @throws ApiError 403 */
function checkMayGive({ isSuperAdmin }: TokenManager, type: TokenType): void {
  if (type === 'full-access' && !isSuperAdmin) throw new ApiError('ForbiddenError', 'Only super administrators give full access')
}

/** Returns all API tokens in the order of their ids, without their keys. */
export async function managedTokens(database: RowReader): Promise<readonly ManagedToken[]> {
  const tokens = new Map((await listTokens(database)).map((token) => [token.id, token]))
  const rows = await database.rows<{ id: number; description: string | null; lifespan: number | null; created_at: number | null }>(
    sql`select id, description, lifespan, created_at from strapi_api_tokens order by id`,
  )
  const actions = await database.rows<{ token: number; action: string }>(sql`
    select l.api_token_id as token, p.action from strapi_api_token_permissions_token_lnk l
    join strapi_api_token_permissions p on p.id = l.api_token_permission_id order by p.action`)
  return rows.flatMap(({ id, description, lifespan, created_at }) => {
    const token = tokens.get(id)
    if (token === undefined) return []
    const { name, type, expires_at, last_used_at } = token
    return [
      {
        id,
        name,
        type,
        description: description ?? '',
        lifespan: toNumber(lifespan),
        expiresAt: toNumber(expires_at),
        lastUsedAt: toNumber(last_used_at),
        createdAt: toNumber(created_at),
        actions: actions.flatMap((one) => (one.token === id ? [one.action] : [])),
      },
    ]
  })
}

const toNumber = (stored: number | string | null): number | null => (stored === null ? null : Number(stored))

/** Returns one of them. @throws ApiError 404 */
export async function managedToken(database: RowReader, id: number): Promise<ManagedToken> {
  const found = (await managedTokens(database)).find((token) => token.id === id)
  if (found === undefined) throw notFound('Token not found')
  return found
}

/** The row id of a token and its new key, which is shown once. */
export interface NewTokenKey {
  readonly id: number
  readonly key: string
}

/** Creates a token. @throws ApiError 400, 403 */
export async function createManagedToken(
  administration: Administration,
  actor: TokenManager,
  known: KnownActions,
  given: Required<TokenValues> & { readonly name: string; readonly type: TokenType; readonly lifespan: number | null },
): Promise<NewTokenKey> {
  const { name, description = '', type, lifespan, actions = [] } = given
  checkActions(known, type, actions)
  checkMayGive(actor, type)
  const store = await createStore(administration)
  const key = newKey()
  const id = await doAction(administration, actor, async (transaction, now) => {
    const values = { name, description, type, lifespan, actions }
    const made = await withFieldPaths(() => createToken(transaction, store, key, values, now))
    return [{ action: 'create', subject: 'token', id: String(made), name, responseData: key }, made]
  })
  return { id, key }
}

/** Changes a token; its key stays. @throws ApiError 400, 403, 404 */
export async function changeManagedToken(
  administration: Administration,
  actor: TokenManager,
  known: KnownActions,
  id: number,
  { name, description, type, actions }: TokenValues,
): Promise<ManagedToken> {
  await doAction(administration, actor, async (transaction, now) => {
    const before = await managedToken(transaction, id)
    const wanted = type ?? before.type
    if (wanted !== before.type) checkMayGive(actor, wanted)
    const allowed = actions ?? (wanted === 'custom' ? before.actions : [])
    if (type !== undefined || actions !== undefined) checkActions(known, wanted, allowed)
    const same = name === undefined ? [] : (await managedTokens(transaction)).filter((token) => token.name === name && token.id !== id)
    if (same.length > 0) throw nameTaken('token')
    const given = { name, description, type }
    const values = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as Record<string, string>
    const fields = [...Object.keys(values), ...(actions === undefined ? [] : ['actions'])]
    if (fields.length === 0) return [null, undefined]
    await updateRow(transaction, 'strapi_api_tokens', id, { ...values, updated_at: now })
    if (type !== undefined || actions !== undefined) await setTokenActions(transaction, id, allowed, now)
    return [{ action: 'update', subject: 'token', id: String(id), name: before.name, fields }, undefined]
  })
  return managedToken(administration.database, id)
}

/** Replaces the key of a token. @throws ApiError 403, 404 */
export async function regenerateManagedToken(administration: Administration, actor: TokenManager, id: number): Promise<NewTokenKey> {
  const store = await createStore(administration)
  const key = newKey()
  await doAction(administration, actor, async (transaction, now) => {
    const { name, type } = await managedToken(transaction, id)
    checkMayGive(actor, type)
    await regenerateToken(transaction, store, id, key, now)
    return [{ action: 'regenerate', subject: 'token', id: String(id), name, responseData: key }, undefined]
  })
  return { id, key }
}

/** Deletes a token. @throws ApiError 404 */
export const deleteManagedToken = (administration: Administration, actor: ActingAdministrator, id: number): Promise<void> =>
  doAction(administration, actor, async (transaction) => {
    const { name } = await managedToken(transaction, id)
    await revokeToken(transaction, id)
    return [{ action: 'delete', subject: 'token', id: String(id), name }, undefined]
  })

const createStore = async ({ config, database }: Administration): Promise<{ readonly salt: string; readonly columns: TokenColumns }> => ({
  salt: config.secrets.apiTokenSalt,
  columns: await tokenColumns(database),
})

/** @throws ApiError 400 for unknown or unused actions, and for actions of a token that is not custom */
function checkActions(known: KnownActions, type: TokenType, actions: readonly string[]): void {
  if (type !== 'custom') {
    if (actions.length > 0) throw validationError('Only a custom token has actions')
    return
  }
  if (actions.length === 0) throw validationError('A custom token needs actions')
  checkGrantable(known, actions)
}

/** @throws ApiError 400 for an unknown action, and for one whose route is disabled */
export function checkGrantable({ model, config }: KnownActions, actions: readonly string[]): void {
  const all = actionsOf(model, config.routes)
  const useless = isUseless(config)
  const unknown = actions.find((action) => !all.has(action) || useless(action))
  if (unknown !== undefined) throw validationError(`There is no action ${unknown} that can be granted`)
}
