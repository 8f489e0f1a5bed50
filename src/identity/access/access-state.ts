// Roles, permissions, tokens and locales of the installation, cached in memory. Reloaded when a commit has changed them; a cheap check
// per request detects whether there was a commit at all.

import { createHash, createHmac } from 'node:crypto'
import { sql } from 'kysely'
import type { MainConnection, RowReader, Transaction } from '../../database/database.js'
import { contentDigest, joinWith, upsert } from '../../database/portable-sql.js'
import { fullAccess, type Grants, grantsOf } from '../../foundation/grants.js'
import { type AccountSettings, accountSettings } from './account-settings.js'
import { ofContentApi, type TokenColumns } from './tokens.js'

/** An API token with its grants. */
interface ApiToken {
  readonly id: number
  readonly name: string
  readonly grants: Grants
  /** Milliseconds since 1970; null if it never expires. */
  readonly expiresAt: number | null
  readonly lastUsedAt: number | null
}

/** All access rules of the installation as one immutable value. */
export interface AccessState {
  /** The grants of callers without credentials. */
  readonly public: Grants
  readonly roles: ReadonlyMap<number, Grants>
  /** API tokens by the hash of their key. */
  readonly tokens: ReadonlyMap<string, ApiToken>
  readonly defaultLocale: string
  /** Settings for users. */
  readonly accounts: AccountSettings
}

const hash = (actions: readonly string[]): string => createHash('sha256').update(actions.join('\n')).digest('base64url').slice(0, 16)

/** Read-only tokens allow `find` and `findOne` of all types and plugins, and nothing else (authentication.7). */
const readOnly: Grants = { ...fullAccess, key: 'read-only', may: (action) => action.endsWith('.find') || action.endsWith('.findOne') }

function grants(actions: readonly string[]): Grants {
  const sorted = [...new Set(actions)].sort()
  return grantsOf(hash(sorted), new Set(sorted))
}

/** Other data of the installation that is read again after a commit that changed it. */
export interface Watched {
  /** The columns that it is read from, by table. */
  readonly tables: Readonly<Record<string, readonly string[]>>
  reload(): Promise<void>
}

/** Returns a text that changes whenever data read by `readAccessState` or watched with it changes, including rows updated in place. */
export async function stateText(database: MainConnection, tokens: TokenColumns, watched: Watched): Promise<string> {
  const all = (table: string, ...columns: readonly string[]) => {
    const row = joinWith(
      ' ',
      columns.map((column) => sql`coalesce(cast(${sql.ref(column)} as text), '')`),
    )
    return sql`(select coalesce(${contentDigest(row)}, '') from ${sql.table(table)})`
  }
  const settings = sql`(select coalesce(${contentDigest(sql`value`)}, '') from strapi_core_store_settings
    where ${sql.ref('key')} in ('plugin_i18n_default_locale', 'plugin_users-permissions_advanced'))`
  const [row] = await database.rows<{ state: string }>(
    sql`select ${joinWith(';', [
      all('up_roles', 'id', 'type'),
      all('up_permissions', 'id', 'action'),
      all('up_permissions_role_lnk', 'permission_id', 'role_id'),
      all('strapi_api_tokens', 'id', 'name', ...(tokens.has('kind') ? ['kind'] : []), 'type', 'access_key', 'expires_at'),
      all('strapi_api_token_permissions', 'id', 'action'),
      all('strapi_api_token_permissions_token_lnk', 'api_token_permission_id', 'api_token_id'),
      settings,
      ...Object.entries(watched.tables).map(([table, columns]) => all(table, ...columns)),
    ])} as state`,
  )
  return row!.state
}

/** Reads all access rules. */
export async function readAccessState(database: MainConnection, tokens: TokenColumns): Promise<AccessState> {
  const roles = await database.rows<{ id: number; type: string; action: string | null }>(sql`
    select r.id, r.type, p.action from up_roles r
    left join up_permissions_role_lnk l on l.role_id = r.id
    left join up_permissions p on p.id = l.permission_id`)
  const byRole = new Map<number, string[]>()
  let publicRole: number | null = null
  for (const { id, type, action } of roles) {
    if (type === 'public') publicRole = id
    const actions = byRole.get(id) ?? []
    if (action !== null) actions.push(action)
    byRole.set(id, actions)
  }
  const grantsByRole = new Map([...byRole].map(([id, actions]) => [id, grants(actions)]))
  const settings = await readSettings(database)
  return {
    public: (publicRole === null ? undefined : grantsByRole.get(publicRole)) ?? grants([]),
    roles: grantsByRole,
    tokens: await readTokens(database, tokens),
    ...settings,
  }
}

async function readTokens(database: MainConnection, columns: TokenColumns): Promise<ReadonlyMap<string, ApiToken>> {
  const rows = await database.rows<{
    id: number
    name: string
    type: string
    access_key: string
    expires_at: number | null
    last_used_at: number | null
  }>(sql`select id, name, type, access_key, expires_at, last_used_at from strapi_api_tokens where ${ofContentApi(columns)}`)
  const permissions = await database.rows<{ token: number; action: string }>(sql`
    select l.api_token_id as token, p.action from strapi_api_token_permissions_token_lnk l
    join strapi_api_token_permissions p on p.id = l.api_token_permission_id`)
  return new Map(
    rows.map(({ id, name, type, access_key, expires_at, last_used_at }) => {
      const actions = permissions.filter(({ token }) => token === id).map(({ action }) => action)
      const allowed = type === 'full-access' ? fullAccess : type === 'read-only' ? readOnly : grants(actions)
      return [access_key, { id, name, grants: allowed, expiresAt: moment(expires_at), lastUsedAt: moment(last_used_at) }]
    }),
  )
}

const moment = (stored: number | string | null): number | null => (stored === null ? null : Number(stored))

async function readSettings(database: MainConnection): Promise<Pick<AccessState, 'defaultLocale' | 'accounts'>> {
  const rows = await database.rows<{ key: string; value: string }>(
    sql`select ${sql.ref('key')}, value from strapi_core_store_settings where ${sql.ref('key')} in ('plugin_i18n_default_locale', 'plugin_users-permissions_advanced')`,
  )
  const stored = (key: string): unknown => {
    const row = rows.find((one) => one.key === key)
    return row === undefined ? undefined : JSON.parse(row.value)
  }
  const locale = stored('plugin_i18n_default_locale')
  return {
    defaultLocale: typeof locale === 'string' ? locale : 'en',
    accounts: accountSettings(stored('plugin_users-permissions_advanced')),
  }
}

/** The columns that determine whether a token was issued for this user and credential version. */
export interface CredentialRow {
  readonly document_id: string | null
  readonly password: string | null
  readonly created_at: number | string | null
  readonly epoch: number | null
  readonly changed_at: number | null
}

/** Reads a user's credential columns; null if there is no such user. */
export async function credentialsOf(database: RowReader, userId: number): Promise<CredentialRow | null> {
  const [row = null] = await database.rows<CredentialRow>(
    sql`select u.document_id, u.password, u.created_at, e.epoch, e.changed_at
      from up_users u left join octavo_credential_versions e on e.user_id = u.id where u.id = ${userId}`,
  )
  return row
}

/** Invalidates all tokens and sessions of a user. */
export async function revokeCredentials(transaction: Transaction, userId: number, now: number): Promise<void> {
  const row = { user_id: userId, epoch: 1, changed_at: now }
  const next = sql`epoch = octavo_credential_versions.epoch + 1, changed_at = ${now}`
  await transaction.run(upsert('octavo_credential_versions', row, ['user_id'], next))
  await transaction.run(sql`delete from strapi_sessions where user_id = ${String(userId)} and origin = 'users-permissions'`)
}

/**
 * Returns the value that our tokens contain for one user, password and credential version. A password change by Strapi on the same
 * database therefore invalidates them too. The value reveals nothing without the key.
 */
export function credentialMark(key: string, { document_id, password, epoch }: Omit<CredentialRow, 'created_at' | 'changed_at'>): string {
  return createHmac('sha256', key)
    .update(`epoch ${document_id} ${epoch ?? 0} ${password ?? ''}`)
    .digest('base64url')
    .slice(0, 20)
}

/** True if a token without a mark, issued by Strapi, is valid. Without a time of issue, it is valid until the version first changes. */
export function isValidUnmarked(
  { created_at, changed_at }: Pick<CredentialRow, 'created_at' | 'changed_at'>,
  issuedAt: number | null,
): boolean {
  if (issuedAt === null) return changed_at === null
  const created = created_at === null ? 0 : Math.floor(new Date(created_at).getTime() / 1000) || 0
  const changed = changed_at === null ? 0 : Math.floor(changed_at / 1000) + 1
  return issuedAt >= created && issuedAt >= changed
}
