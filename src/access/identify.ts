// The Authorization header becomes a caller with grants. No statement when nothing has been committed since the last look.
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

/** Who asks. There is no caller without grants; nobody in particular is `public`. */
export type Caller =
  | { readonly kind: 'public'; readonly grants: Grants }
  | { readonly kind: 'token'; readonly id: number; readonly grants: Grants }
  | { readonly kind: 'user'; readonly id: number; readonly grants: Grants; readonly sessionId: string | null }

/** A caller, and the rules that were in force when it was identified. */
export interface Identified {
  readonly caller: Caller
  readonly access: AccessState
}

export interface Identification {
  /**
   * Identifies the caller of a request, under the rules that are in force at that moment.
   * @throws ApiError 401 for credentials that are wrong, expired or of a blocked user: never the public role instead.
   */
  identify(authorization: string | undefined): Promise<Identified>
  /** The installation's current access rules. */
  access(): Promise<AccessState>
}

interface UserRow {
  readonly blocked: number | null
  readonly confirmed: number | null
  readonly role: number | null
}

/** A user as credentials are checked against it. */
interface KnownUser extends UserRow, Pick<CredentialRow, 'created_at' | 'changed_at'> {
  /** What credentials of ours must carry. */
  readonly mark: string
}

/** What identifying needs beside the database. */
export interface IdentificationOptions {
  readonly secrets: Secrets
  readonly jwts: Jwts
  /** Which of a user's JWTs let in. */
  readonly jwtManagement: 'legacy-support' | 'refresh'
  readonly cachedCallers: number
  /** Called when a token is used whose last use was noted too long ago. */
  tokenUsed(id: number, now: number): void
}

/** Users without a role. */
const nobody = grantsOf('nobody', new Set())

/** The last use of a token is noted this often at most; milliseconds. */
const noteEvery = 3_600_000

export async function openIdentification(database: MainConnection, options: IdentificationOptions): Promise<Identification> {
  const { secrets, jwts, jwtManagement, cachedCallers, tokenUsed } = options
  let mark = await stateText(database)
  let current = await readAccessState(database)
  /** Something was committed that has not been looked at yet. */
  let stale = false
  let refreshing: Promise<void> | null = null
  /** How often something was committed: what was read before the last commit is not kept. */
  let commits = 0
  // Grows with the callers; `max` would take all its memory at the start.
  const bound = { maxSize: cachedCallers, sizeCalculation: () => 1 }
  /** Verified JWTs and hashes of tokens. Signatures do not change, rows do. */
  const verified = new LRUCache<string, Claims | { kind: 'hash'; hash: string }>(bound)
  const users = new LRUCache<number, { user: KnownUser | null }>(bound)
  const sessions = new LRUCache<string, { owner: number | null }>(bound)
  const noted = new Map<number, number>()

  async function access(): Promise<AccessState> {
    if (database.changed()) {
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

  /** Reads what has changed. A failure is told to those who wait for it; the next request tries again. */
  async function refresh(seen: number): Promise<void> {
    try {
      const now = await stateText(database)
      if (now !== mark) {
        current = await readAccessState(database)
        mark = now
      }
      if (seen === commits) stale = false
    } finally {
      if (seen === commits) refreshing = null
    }
  }

  async function verify(token: string): Promise<Claims | { kind: 'hash'; hash: string }> {
    const known = verified.get(token)
    if (known !== undefined) return known
    const hash = () => createHmac('sha512', secrets.apiTokenSalt).update(token).digest('hex')
    const claims = await jwts.verify(token)
    const found = claims ?? { kind: 'hash' as const, hash: hash() }
    // A JWT that is refused may be good when clocks agree again.
    if (claims !== null || !token.includes('.')) verified.set(token, found)
    return found
  }

  function known({ blocked, confirmed, role, created_at, changed_at, ...row }: UserRow & CredentialRow): KnownUser {
    return { blocked, confirmed, role, created_at, changed_at, mark: credentialMark(secrets.jwtSecret, row) }
  }

  async function userOf(id: number): Promise<KnownUser | null> {
    const kept = users.get(id)
    if (kept !== undefined) return kept.user
    const seen = commits
    const [row] = await database.rows<UserRow & CredentialRow>(
      sql`select u.blocked, u.confirmed, u.document_id, u.password, u.created_at, l.role_id as role, e.epoch, e.changed_at from up_users u
        left join up_users_role_lnk l on l.user_id = u.id left join octavo_credential_versions e on e.user_id = u.id where u.id = ${id}`,
    )
    const user = row === undefined ? null : known(row)
    if (seen === commits) users.set(id, { user })
    return user
  }

  async function sessionOwner(sessionId: string): Promise<number | null> {
    const known = sessions.get(sessionId)
    if (known !== undefined) return known.owner
    const seen = commits
    const owner = await ownerOfSession(database, sessionId)
    if (seen === commits) sessions.set(sessionId, { owner })
    return owner
  }

  /** True if a JWT was issued for this user as the user is now. */
  async function holds(claims: Claims, user: KnownUser): Promise<boolean> {
    if (claims.kind === 'single') return claims.mark === null ? isValidUnmarked(user, claims.issuedAt) : claims.mark === user.mark
    return (await sessionOwner(claims.sessionId)) === claims.userId
  }

  function tokenCaller(hash: string, rules: AccessState): Caller {
    const token = rules.tokens.get(hash)
    if (token === undefined) throw unauthorized('Missing or invalid credentials')
    const now = Date.now()
    if (token.expiresAt !== null && token.expiresAt < now) throw unauthorized('Token expired')
    if (now - Math.max(token.lastUsedAt ?? 0, noted.get(token.id) ?? 0) > noteEvery) {
      noted.set(token.id, now)
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
    if (!(await holds(claims, user))) throw unauthorized('Invalid credentials')
    return { kind: 'user', id: claims.userId, grants: grants ?? nobody, sessionId: claims.kind === 'single' ? null : claims.sessionId }
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

/** The token of `Bearer <token>`; null for other schemes, no token, or more than one. */
function bearer(authorization: string | undefined): string | null {
  if (authorization === undefined) return null
  const parts = authorization.trim().split(/\s+/)
  return parts.length === 2 && parts[0]!.toLowerCase() === 'bearer' ? parts[1]! : null
}
