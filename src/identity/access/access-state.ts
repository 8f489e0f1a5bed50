// Roles, permissions, tokens and locales of the installation, cached in memory. Reloaded when a commit has changed them; a cheap check
// per request detects whether there was a commit at all.
import { createHash } from 'node:crypto'
import { sql } from 'kysely'
import type { MainConnection } from '../../database/database.js'
import { contentOf, separated } from '../../database/portable-sql.js'
import { fullAccess, type Grants, grantsOf } from '../../foundation/grants.js'
import { type AccountSettings, accountSettings } from './account-settings.js'
import { ofContentApi, type TokenColumns } from './token-columns.js'

/** An API token with its grants. */
export interface ApiToken {
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
    const row = separated(
      ' ',
      columns.map((column) => sql`coalesce(cast(${sql.ref(column)} as text), '')`),
    )
    return sql`(select coalesce(${contentOf(row)}, '') from ${sql.table(table)})`
  }
  const settings = sql`(select coalesce(${contentOf(sql`value`)}, '') from strapi_core_store_settings
    where ${sql.ref('key')} in ('plugin_i18n_default_locale', 'plugin_users-permissions_advanced'))`
  const [row] = await database.rows<{ state: string }>(
    sql`select ${separated(';', [
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
