// Turns the Authorization header into a caller with grants. Runs no statement if nothing was committed since the last check.
import { createHmac } from 'node:crypto'
import { sql } from 'kysely'
import { LRUCache } from 'lru-cache'
import type { Secrets } from '../config/config.js'
import type { MainConnection } from '../database/database.js'
import { unauthorized } from '../errors/errors.js'
import { type Grants, grantsOf } from '../grants.js'
import type { AccessState } from './access-state.js'
import { readAccessState, stateText } from './access-state.js'
import { type CredentialRow, credentialMark, isValidUnmarked } from './credential-versions.js'
import type { Claims, Jwts } from './jwt.js'
import { ownerOfSession } from './sessions.js'

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

/** Dependencies other than the database. */
export interface IdentificationOptions {
  readonly secrets: Secrets
  readonly jwts: Jwts
  /** Which kind of JWT is accepted. */
  readonly jwtManagement: 'legacy-support' | 'refresh'
  readonly cachedCallers: number
  /** Called when a token is used and its `last_used_at` is more than an hour old. */
  tokenUsed(id: number, now: number): void
}

/** The grants of users without a role. */
const noGrants = grantsOf('nobody', new Set())

/** The minimum interval between updates of a token's `last_used_at`, in milliseconds. */
const lastUseInterval = 3_600_000

/** Opens the identification of callers, with caches of access rules, tokens, users and sessions. */
export async function openIdentification(database: MainConnection, options: IdentificationOptions): Promise<Identification> {
  const { secrets, jwts, jwtManagement, cachedCallers, tokenUsed } = options
  let state = await stateText(database)
  let current = await readAccessState(database)
  /** True if something was committed since the last check. */
  let stale = false
  let refreshing: Promise<void> | null = null
  /** Number of commits seen; a row that was read before the last commit is not cached. */
  let commits = 0
  // `max` would allocate all memory at the start; `maxSize` grows with the entries.
  const cacheOptions = { maxSize: cachedCallers, sizeCalculation: () => 1 }
  /** Verified JWTs and hashes of tokens, which commits do not change. */
  const verified = new LRUCache<string, Claims | { kind: 'hash'; hash: string }>(cacheOptions)
  const users = new LRUCache<number, { user: CachedUser | null }>(cacheOptions)
  const sessions = new LRUCache<string, { owner: number | null }>(cacheOptions)
  const lastUses = new Map<number, number>()

  async function access(): Promise<AccessState> {
    const changed = database.changed()
    if (typeof changed === 'boolean' ? changed : await changed) {
      users.clear()
      sessions.clear()
      commits++
      stale = true
      refreshing = null
    }
    if (stale) {
      refreshing ??= refresh(commits)
      await refreshing
    }
    return current
  }

  /** Reloads changed access rules. A failure rejects the requests that wait for it; the next request tries again. */
  async function refresh(seen: number): Promise<void> {
    try {
      const now = await stateText(database)
      if (now !== state) {
        current = await readAccessState(database)
        state = now
      }
      if (seen === commits) stale = false
    } finally {
      if (seen === commits) refreshing = null
    }
  }

  async function verify(token: string): Promise<Claims | { kind: 'hash'; hash: string }> {
    const cached = verified.get(token)
    if (cached !== undefined) return cached
    const hash = () => createHmac('sha512', secrets.apiTokenSalt).update(token).digest('hex')
    const claims = await jwts.verify(token)
    const found = claims ?? { kind: 'hash' as const, hash: hash() }
    // A refused JWT is not cached: it may become valid when clocks agree again.
    if (claims !== null || !token.includes('.')) verified.set(token, found)
    return found
  }

  function cachedUser({ blocked, confirmed, role, created_at, changed_at, ...row }: UserRow & CredentialRow): CachedUser {
    return { blocked, confirmed, role, created_at, changed_at, mark: credentialMark(secrets.jwtSecret, row) }
  }

  async function userOf(id: number): Promise<CachedUser | null> {
    const cached = users.get(id)
    if (cached !== undefined) return cached.user
    const seen = commits
    const [row] = await database.rows<UserRow & CredentialRow>(
      sql`select u.blocked, u.confirmed, u.document_id, u.password, u.created_at, l.role_id as role, e.epoch, e.changed_at from up_users u
        left join up_users_role_lnk l on l.user_id = u.id left join octavo_credential_versions e on e.user_id = u.id where u.id = ${id}`,
    )
    const user = row === undefined ? null : cachedUser(row)
    if (seen === commits) users.set(id, { user })
    return user
  }

  async function sessionOwner(sessionId: string): Promise<number | null> {
    const cached = sessions.get(sessionId)
    if (cached !== undefined) return cached.owner
    const seen = commits
    const owner = await ownerOfSession(database, sessionId)
    if (seen === commits) sessions.set(sessionId, { owner })
    return owner
  }

  /** True if a JWT was issued for this user and the current credential version. */
  async function isCurrent(claims: Claims, user: CachedUser): Promise<boolean> {
    if (claims.kind === 'single') return claims.mark === null ? isValidUnmarked(user, claims.issuedAt) : claims.mark === user.mark
    return (await sessionOwner(claims.sessionId)) === claims.userId
  }

  function tokenCaller(hash: string, rules: AccessState): Caller {
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

  async function callerOf(token: string, rules: AccessState): Promise<Caller> {
    const claims = await verify(token)
    if (claims.kind === 'hash') return tokenCaller(claims.hash, rules)
    const accepted = jwtManagement === 'refresh' ? 'access' : 'single'
    if (claims.kind !== accepted || claims.expiresAt * 1000 < Date.now()) throw unauthorized('Missing or invalid credentials')
    const user = await userOf(claims.userId)
    if (user === null || user.blocked === 1 || (rules.accounts.emailConfirmation && user.confirmed !== 1)) {
      throw unauthorized('Invalid credentials')
    }
    const grants = user.role === null ? undefined : rules.roles.get(user.role)
    if (!(await isCurrent(claims, user))) throw unauthorized('Invalid credentials')
    return { kind: 'user', id: claims.userId, grants: grants ?? noGrants, sessionId: claims.kind === 'single' ? null : claims.sessionId }
  }

  return {
    access,
    async identify(authorization) {
      const rules = await access()
      const token = bearer(authorization)
      return { caller: token === null ? { kind: 'public', grants: rules.public } : await callerOf(token, rules), access: rules }
    },
  }
}

/** Returns the token of `Bearer <token>`; null for other schemes, no token, or several. */
function bearer(authorization: string | undefined): string | null {
  if (authorization === undefined) return null
  const parts = authorization.trim().split(/\s+/)
  return parts.length === 2 && parts[0]!.toLowerCase() === 'bearer' ? parts[1]! : null
}
