// The Authorization header becomes a caller with grants. No statement when nothing has been committed since the last look.
import { createHmac } from 'node:crypto'
import { errors, jwtVerify } from 'jose'
import { sql } from 'kysely'
import { LRUCache } from 'lru-cache'
import type { Secrets } from '../config.js'
import type { DirectDatabase } from '../database/database.js'
import { unauthorized } from '../errors.js'
import type { Grants } from '../grants.js'
import { grantsOf } from '../grants.js'
import type { Access } from './access.js'
import { fingerprint, readAccess } from './access.js'

/** Who asks. There is no caller without grants; nobody in particular is `public`. */
export type Caller =
  | { readonly kind: 'public'; readonly grants: Grants }
  | { readonly kind: 'token'; readonly id: number; readonly grants: Grants }
  | { readonly kind: 'user'; readonly id: number; readonly grants: Grants }

export interface Identification {
  /**
   * Identifies the caller of a request, under the rules that are in force at that moment.
   * @throws ApiError 401 for credentials that are wrong, expired or of a blocked user: never the public role instead.
   */
  identify(authorization: string | undefined): Promise<{ readonly caller: Caller; readonly access: Access }>
  /** The installation's current access rules. */
  access(): Promise<Access>
}

const nobody = grantsOf('nobody', new Set())

interface UserRow {
  readonly blocked: number | null
  readonly confirmed: number | null
  readonly role: number | null
}

export async function openIdentification(database: DirectDatabase, secrets: Secrets, cachedCallers: number): Promise<Identification> {
  let mark = await fingerprint(database)
  let current = await readAccess(database)
  let refreshing: Promise<void> | null = null
  /** Verified JWTs: user id and end of validity in seconds. Signatures do not change, rows do. */
  const jwts = new LRUCache<string, { id: number; exp: number } | { hash: string }>({ max: cachedCallers })
  const users = new LRUCache<number, { row: UserRow | null }>({ max: cachedCallers })
  const jwtKey = new TextEncoder().encode(secrets.jwtSecret)

  async function access(): Promise<Access> {
    if (database.changed()) {
      users.clear()
      refreshing = refresh()
    }
    if (refreshing !== null) await refreshing
    return current
  }

  async function refresh(): Promise<void> {
    const now = await fingerprint(database)
    if (now !== mark) {
      current = await readAccess(database)
      mark = now
    }
    refreshing = null
  }

  async function verify(token: string): Promise<{ id: number; exp: number } | { hash: string }> {
    const known = jwts.get(token)
    if (known !== undefined) return known
    const verified = (await verifyJwt(token)) ?? { hash: createHmac('sha512', secrets.apiTokenSalt).update(token).digest('hex') }
    jwts.set(token, verified)
    return verified
  }

  async function verifyJwt(token: string): Promise<{ id: number; exp: number } | null> {
    if (token.split('.').length !== 3) return null
    try {
      const { payload } = await jwtVerify(token, jwtKey, { algorithms: ['HS256'] })
      if (typeof payload.id !== 'number') return null
      return { id: payload.id, exp: payload.exp ?? Number.POSITIVE_INFINITY }
    } catch (error) {
      if (error instanceof errors.JOSEError) return null
      throw error
    }
  }

  async function userOf(id: number): Promise<UserRow | null> {
    const known = users.get(id)
    if (known !== undefined) return known.row
    const [row = null] = await database.rows<UserRow>(
      sql`select u.blocked, u.confirmed, l.role_id as role from up_users u left join up_users_role_lnk l on l.user_id = u.id where u.id = ${id}`,
    )
    users.set(id, { row })
    return row
  }

  async function callerOf(token: string, rules: Access): Promise<Caller> {
    const verified = await verify(token)
    if ('hash' in verified) {
      const apiToken = rules.tokens.get(verified.hash)
      if (apiToken === undefined) throw unauthorized('Missing or invalid credentials')
      if (apiToken.expiresAt !== null && apiToken.expiresAt < Date.now()) throw unauthorized('Token expired')
      return { kind: 'token', id: apiToken.id, grants: apiToken.grants }
    }
    if (verified.exp * 1000 < Date.now()) throw unauthorized('Missing or invalid credentials')
    const user = await userOf(verified.id)
    if (user === null || user.blocked === 1 || (rules.emailConfirmation && user.confirmed !== 1)) throw unauthorized('Invalid credentials')
    const grants = user.role === null ? undefined : rules.roles.get(user.role)
    return { kind: 'user', id: verified.id, grants: grants ?? nobody }
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
