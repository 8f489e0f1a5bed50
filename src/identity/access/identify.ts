// Turns the Authorization header into a caller with grants. Runs no statement if nothing was committed since the last check.
import { createHmac } from 'node:crypto'
import { sql } from 'kysely'
import { LRUCache } from 'lru-cache'
import type { MainConnection } from '../../database/database.js'
import type { Secrets } from '../../foundation/config/secrets.js'
import { unauthorized } from '../../foundation/errors/errors.js'
import { type Grants, grantsOf } from '../../foundation/grants.js'
import type { AccessState } from './access-state.js'
import { type CredentialRow, credentialMark, isValidUnmarked, readAccessState, stateText, type Watched } from './access-state.js'
import type { Claims, Jwts } from './jwt.js'
import { ownerOfSession } from './sessions.js'
import { tokenColumns } from './tokens.js'

/** The caller of a request. Every caller has grants; a request without credentials is `public`. */
export type Caller =
  | { readonly kind: 'public'; readonly grants: Grants }
  | { readonly kind: 'token'; readonly id: number; readonly grants: Grants }
  | { readonly kind: 'user'; readonly id: number; readonly grants: Grants; readonly sessionId: string | null }

/** A caller, and the rules that were in force when it was identified. */
export interface Identified {
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
export interface IdentificationOptions {
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
export interface RowCache<Key, Row> {
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
