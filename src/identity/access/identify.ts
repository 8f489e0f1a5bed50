// Turns the Authorization header into a caller with grants, from roles, permissions, tokens and locales that are cached in memory. Runs no statement if nothing was committed since the last check.

import { createHash, createHmac } from 'node:crypto'
import { sql } from 'kysely'
import { LRUCache } from 'lru-cache'
import type { MainConnection, RowReader, Transaction } from '../../database/database.js'
import { cast, contentDigest, joinWith, upsert } from '../../database/portable-sql.js'
import type { Secrets } from '../../foundation/config/secrets.js'
import { unauthorized } from '../../foundation/errors/errors.js'
import { fullAccess, type Grants, grantsOf } from '../../foundation/grants.js'
import { type AccountSettings, accountSettings } from './account-settings.js'
import type { Claims, Jwts } from './jwt.js'
import { ownerOfSession } from './sessions.js'
import { ofContentApi, type TokenColumns, tokenColumns } from './tokens.js'

/** The caller of a request. Every caller has grants; a request without credentials is `public`. */
export type Caller =
  | { readonly kind: 'public'; readonly grants: Grants }
  | { readonly kind: 'token'; readonly id: number; readonly grants: Grants }
  | { readonly kind: 'user'; readonly id: number; readonly grants: Grants; readonly sessionId: string | null }

/** A caller, and the rules that were in force when it was identified. */
interface Identified {
  readonly caller: Caller
  readonly access: AccessState
}

/** Identifies the callers of requests. */
export interface Identification {
  /**
   * Identifies the caller of a request by the current access rules.
   * @throws ApiError 401 for wrong or expired credentials, and for a blocked user; never falls back to the public role.
   */
  identify(authorization: string | undefined): Promise<Identified>
  /** Returns the current access rules. */
  access(): Promise<AccessState>
  /** Opens a cache of rows that is cleared after every commit that `access` sees. */
  cacheRows<Key extends string | number, Row>(read: (key: Key) => Promise<Row>): RowCache<Key, Row>
}

interface UserRow {
  readonly blocked: number | null
  readonly confirmed: number | null
  readonly role: number | null
}

/** A user with the columns that credentials are checked against. */
interface CachedUser extends UserRow, Pick<CredentialRow, 'created_at' | 'changed_at'> {
  /** The mark that our tokens must contain. */
  readonly mark: string
}

const maxCachedCallers = 5_000

/** Dependencies other than the database. */
interface IdentificationOptions {
  readonly secrets: Pick<Secrets, 'apiTokenSalt' | 'jwtSecret'>
  readonly jwts: Jwts
  readonly jwtManagement: 'legacy-support' | 'refresh'
  /** Tokens and users that are cached. */
  readonly cachedCallers?: number
  /** State that is reread along with the access rules. */
  readonly watched: Watched
  /** Called when a token is used and its `last_used_at` is more than an hour old. */
  tokenUsed(id: number, now: number): void
}

/** The grants of users without a role. */
const noGrants = grantsOf('nobody', new Set())

/** The minimum interval between updates of a token's `last_used_at`, in milliseconds. */
const lastUseInterval = 3_600_000

/** Opens the identification of callers, with caches of access rules, tokens, users and sessions. */
export async function openIdentification(database: MainConnection, options: IdentificationOptions): Promise<Identification> {
  const { jwtManagement, watched } = options
  const caches: { clear(): void }[] = []
  const access = await openRules(database, watched, () => {
    for (const cache of caches) cache.clear()
  })
  function cacheRows<Key extends string | number, Row>(read: (key: Key) => Promise<Row>): RowCache<Key, Row> {
    const cache = openRowCache(options.cachedCallers ?? maxCachedCallers, read)
    caches.push(cache)
    return cache
  }
  const verify = openVerifier(options)
  const tokenCaller = openTokenCallers(options.tokenUsed)
  const users = cacheRows((id: number) => readUser(database, id, options.secrets))
  const sessions = cacheRows((sessionId: string) => ownerOfSession(database, 'users-permissions', sessionId))

  /** True if a JWT was issued for this user and the current credential version. */
  async function isCurrent(claims: Claims, user: CachedUser): Promise<boolean> {
    if (claims.kind === 'single') return claims.mark === null ? isValidUnmarked(user, claims.issuedAt) : claims.mark === user.mark
    return (await sessions.get(claims.sessionId)) === claims.userId
  }

  async function userCaller(claims: Claims, rules: AccessState): Promise<Caller> {
    const accepted = jwtManagement === 'refresh' ? 'access' : 'single'
    if (claims.kind !== accepted || claims.expiresAt * 1000 < Date.now()) throw unauthorized('Missing or invalid credentials')
    const user = await users.get(claims.userId)
    if (user === null || user.blocked === 1 || (rules.accounts.emailConfirmation && user.confirmed !== 1)) {
      throw unauthorized('Invalid credentials')
    }
    const grants = user.role === null ? undefined : rules.roles.get(user.role)
    if (!(await isCurrent(claims, user))) throw unauthorized('Invalid credentials')
    return { kind: 'user', id: claims.userId, grants: grants ?? noGrants, sessionId: claims.kind === 'single' ? null : claims.sessionId }
  }

  return {
    access,
    cacheRows,
    async identify(authorization) {
      const rules = await access()
      const token = bearer(authorization)
      if (token === null) return { caller: { kind: 'public', grants: rules.public }, access: rules }
      const verified = await verify(token)
      const caller = verified.kind === 'hash' ? tokenCaller(verified.hash, rules) : await userCaller(verified, rules)
      return { caller, access: rules }
    },
  }
}

/**
 * Caches the access rules, which are reread after a commit that changed them or their watched tables. `committed` is called after
 * every commit.
 */
async function openRules(database: MainConnection, watched: Watched, committed: () => void): Promise<() => Promise<AccessState>> {
  let columns = await tokenColumns(database)
  let text = await stateText(database, columns, watched)
  await watched.reload()
  let rules = await readAccessState(database, columns)
  /** True if something was committed since the last check. */
  let isStale = false
  let refreshing: Promise<void> | null = null
  let commits = 0

  /** The commit at the last check of the rules. */
  let applied = 0

  /** Reads the rules until they are those of the text before and after: a commit may come in between. */
  async function readRules(before: string): Promise<{ readonly rules: AccessState; readonly text: string }> {
    await watched.reload()
    const read = await readAccessState(database, columns)
    const after = await stateText(database, columns, watched)
    return after === before ? { rules: read, text: after } : readRules(after)
  }

  /** Reloads changed access rules. A failure rejects the requests that wait for it; the next request tries again. */
  async function refresh(seen: number): Promise<void> {
    try {
      // A newer Strapi adds the column that distinguishes its tokens from those of the panel.
      if (!columns.has('kind')) columns = await tokenColumns(database)
      const now = await stateText(database, columns, watched)
      const read = now === text ? null : await readRules(now)
      // Another one that began later may have ended before.
      if (seen >= applied) {
        applied = seen
        if (read !== null) ({ rules, text } = read)
      }
      if (seen === commits) isStale = false
    } finally {
      if (seen === commits) refreshing = null
    }
  }

  return async () => {
    if (await database.changed()) {
      committed()
      commits++
      isStale = true
      refreshing = null
    }
    if (isStale) {
      refreshing ??= refresh(commits)
      await refreshing
    }
    return rules
  }
}

// `max` would allocate all memory at the start; `maxSize` grows with the entries.
const cacheOptions = (maxSize: number) => ({ maxSize, sizeCalculation: () => 1 })

/** Caches rows until a commit clears them. */
interface RowCache<Key, Row> {
  get(key: Key): Promise<Row>
  clear(): void
}

function openRowCache<Key extends string | number, Row>(maxSize: number, read: (key: Key) => Promise<Row>): RowCache<Key, Row> {
  const rows = new LRUCache<Key, { readonly row: Row }>(cacheOptions(maxSize))
  let commits = 0
  return {
    get: async (key) => {
      const cached = rows.get(key)
      if (cached !== undefined) return cached.row
      const seen = commits
      const row = await read(key)
      // A row that was read before the last commit may be outdated.
      if (seen === commits) rows.set(key, { row })
      return row
    },
    clear: () => {
      commits++
      rows.clear()
    },
  }
}

/** An API token, by its hash. */
interface TokenHash {
  readonly kind: 'hash'
  readonly hash: string
}

/** Verifies JWTs and hashes API tokens. The results are cached, because commits do not change them. */
function openVerifier({
  secrets,
  jwts,
  cachedCallers = maxCachedCallers,
}: IdentificationOptions): (token: string) => Promise<Claims | TokenHash> {
  const verified = new LRUCache<string, Claims | TokenHash>(cacheOptions(cachedCallers))
  const hashOf = (token: string) => createHmac('sha512', secrets.apiTokenSalt).update(token).digest('hex')
  return async (token) => {
    const cached = verified.get(token)
    if (cached !== undefined) return cached
    const claims = await jwts.verify(token)
    const found = claims ?? { kind: 'hash' as const, hash: hashOf(token) }
    // A refused JWT is not cached: it may become valid when clocks agree again.
    if (claims !== null || !token.includes('.')) verified.set(token, found)
    return found
  }
}

/** Finds the callers of API tokens, and reports the use of a token at most once an hour. */
function openTokenCallers(tokenUsed: IdentificationOptions['tokenUsed']): (hash: string, rules: AccessState) => Caller {
  const lastUses = new Map<number, number>()
  return (hash, rules) => {
    const token = rules.tokens.get(hash)
    if (token === undefined) throw unauthorized('Missing or invalid credentials')
    const now = Date.now()
    if (token.expiresAt !== null && token.expiresAt < now) throw unauthorized('Token expired')
    if (now - Math.max(token.lastUsedAt ?? 0, lastUses.get(token.id) ?? 0) > lastUseInterval) {
      lastUses.set(token.id, now)
      tokenUsed(token.id, now)
    }
    return { kind: 'token', id: token.id, grants: token.grants }
  }
}

async function readUser(database: MainConnection, id: number, { jwtSecret }: Pick<Secrets, 'jwtSecret'>): Promise<CachedUser | null> {
  const [user] = await database.rows<UserRow & CredentialRow>(
    sql`select u.blocked, u.confirmed, u.document_id, u.password, u.created_at, l.role_id as role, e.epoch, e.changed_at from up_users u
      left join up_users_role_lnk l on l.user_id = u.id left join octavo_credential_versions e on e.user_id = u.id where u.id = ${id}`,
  )
  if (user === undefined) return null
  const { blocked, confirmed, role, created_at, changed_at, ...row } = user
  return { blocked, confirmed, role, created_at, changed_at, mark: credentialMark(jwtSecret, row) }
}

/** Returns the token of `Bearer <token>`; null for other schemes, no token, or several. */
export function bearer(authorization: string | undefined): string | null {
  if (authorization === undefined) return null
  const parts = authorization.trim().split(/\s+/)
  return parts.length === 2 && parts[0]!.toLowerCase() === 'bearer' ? parts[1]! : null
}

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
async function stateText(database: MainConnection, tokens: TokenColumns, watched: Watched): Promise<string> {
  const all = (table: string, ...columns: readonly string[]) => {
    const row = joinWith(
      ' ',
      columns.map((column) => sql`coalesce(${cast(sql.ref(column), 'text')}, '')`),
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
async function readAccessState(database: MainConnection, tokens: TokenColumns): Promise<AccessState> {
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
interface CredentialRow {
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
function isValidUnmarked({ created_at, changed_at }: Pick<CredentialRow, 'created_at' | 'changed_at'>, issuedAt: number | null): boolean {
  if (issuedAt === null) return changed_at === null
  const created = created_at === null ? 0 : Math.floor(new Date(created_at).getTime() / 1000) || 0
  const changed = changed_at === null ? 0 : Math.floor(changed_at / 1000) + 1
  return issuedAt >= created && issuedAt >= changed
}
