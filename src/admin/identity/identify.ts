// Identifies the administrator of an Authorization header by account, password and session. Reads the database only after a commit.

import { createHmac, hkdfSync } from 'node:crypto'
import { sql } from 'kysely'
import type { RowReader } from '../../database/database.js'
import type { Secrets } from '../../foundation/config/secrets.js'
import { unauthorized } from '../../foundation/errors/errors.js'
import { bearer, type Identification } from '../../identity/access/identify.js'
import type { Jwts } from '../../identity/access/jwt.js'
import { type PermissionRow, readPermissions } from '../permissions/permissions.js'
import {
  type AdministratorRole,
  type AdministratorRow,
  administratorColumns,
  isActive,
  readRoles,
  superAdminCode,
  toPerson,
} from './administrators.js'

/** A content-type whose documents a resource reads or writes with these fields. */
export interface WholeType {
  readonly uid: string
  readonly fields: readonly string[]
}

/** A signed-in administrator. */
export interface Administrator {
  /** The row id in admin_users. */
  readonly id: number
  readonly documentId: string | null
  readonly email: string
  readonly firstname: string | null
  readonly lastname: string | null
  readonly language: string | null
  readonly roles: readonly AdministratorRole[]
  /** Has the role `strapi-super-admin`, which may do everything. */
  readonly isSuperAdmin: boolean
  /** The permissions of all roles. They do not apply to super administrators. */
  readonly permissions: readonly PermissionRow[]
  /**
   * True if a role allows an action without content-type, such as `admin::users.read`; or, with `on`, an action on a content-type for
   * these fields and without conditions.
   */
  may(action: string, on?: WholeType): boolean
  readonly sessionId: string
  /** Time of the last password confirmation in this session; milliseconds since 1970. */
  readonly passwordAt: number
}

/** Returns the administrator of an Authorization header. @throws ApiError 401 for anything but a valid access token of an administrator */
export type IdentifyAdministrator = (authorization: string | undefined) => Promise<Administrator>

interface IdentificationParts {
  readonly database: RowReader
  readonly identification: Pick<Identification, 'access' | 'cacheRows'>
  readonly jwts: Jwts
  readonly keys: AdministrationKeys
  now(): number
}

/** An administrator, and the expected mark of its tokens. */
interface IdentifiedSession {
  readonly administrator: Administrator
  readonly mark: string
}

export function createIdentifyAdministrator({ database, identification, jwts, keys, now }: IdentificationParts): IdentifyAdministrator {
  const known = identification.cacheRows((session: string) => readAdministrator(database, session, keys))
  return async (authorization) => {
    // Clears the cache after a commit.
    await identification.access()
    const token = bearer(authorization)
    if (token === null) throw unauthorized('Missing or invalid credentials')
    const claims = await jwts.verify(token)
    if (claims === null || claims.kind !== 'access' || claims.expiresAt * 1000 < now()) throw unauthorized('Missing or invalid credentials')
    const found = await known.get(`${claims.userId} ${claims.sessionId}`)
    if (found === null || found.mark !== claims.mark) throw unauthorized('Invalid credentials')
    return found.administrator
  }
}

/** Returns the administrator of a session; null if it has ended, or if the administrator may not sign in. */
async function readAdministrator(database: RowReader, session: string, keys: AdministrationKeys): Promise<IdentifiedSession | null> {
  const [id = '', sessionId = ''] = session.split(' ')
  const [row] = await database.rows<AdministratorRow & { readonly metadata: string | null }>(
    sql`select ${administratorColumns}, s.metadata from admin_users u, strapi_sessions s
      where u.id = ${Number(id)} and s.session_id = ${sessionId} and s.origin = 'admin' and s.user_id = ${id}`,
  )
  if (row === undefined || !isActive(row)) return null
  const roles = await readRoles(database, row.id)
  const permissions = await readPermissions(
    database,
    roles.map((role) => role.id),
  )
  const isSuperAdmin = roles.some(({ code }) => code === superAdminCode)
  return {
    administrator: {
      ...toPerson(row),
      roles,
      isSuperAdmin,
      permissions,
      may: (action, on) => isSuperAdmin || permissionsAllow(permissions, action, on),
      sessionId,
      passwordAt: parsePasswordAt(row.metadata),
    },
    mark: passwordMark(keys.marks, row.document_id, row.password),
  }
}

/** True if unconditional rights allow an action. Conditions are about documents, so conditional rights never allow an action without one. */
function permissionsAllow(permissions: readonly PermissionRow[], action: string, on: WholeType | undefined): boolean {
  const granted = permissions.filter((row) => row.action === action && (row.subject || null) === (on?.uid ?? null) && isUnconditional(row))
  if (on === undefined) return granted.length > 0
  // Without a list, all fields are included.
  const lists = granted.map(({ properties }) => (properties as { readonly fields?: unknown } | null)?.fields ?? null)
  if (lists.includes(null)) return true
  const named = new Set(lists.flat())
  return granted.length > 0 && on.fields.every((field) => named.has(field))
}

/** True if a right has no conditions. */
export const isUnconditional = ({ conditions }: PermissionRow): boolean =>
  conditions === null || conditions === undefined || (Array.isArray(conditions) && conditions.length === 0)

function parsePasswordAt(metadata: string | null): number {
  const { passwordAt, loginAt } = JSON.parse(metadata ?? '{}') as { readonly passwordAt?: unknown; readonly loginAt?: unknown }
  return Date.parse(String(passwordAt ?? loginAt)) || 0
}

/**
 * Keys of the administration, each for one purpose. Tokens of Strapi's panel and of users are not valid here, because both secrets are
 * inputs.
 */
export interface AdministrationKeys {
  /** Signs the tokens of sessions. */
  readonly tokens: string
  /** Keys the marks in these tokens. */
  readonly marks: string
  /** Keys the code of the first administrator. */
  readonly first: string
  /** Keys the fingerprints of requests with an `Idempotency-Key`, whose bodies may contain a password. */
  readonly fingerprints: string
  /** Encrypts the results of these requests, which may contain a secret. */
  readonly responses: string
  /** Encrypts the ids of events. */
  readonly events: string
}

/**
 * Derives the keys (HKDF, RFC 5869). JWT_SECRET is the key material and always set; ADMIN_JWT_SECRET is the salt. A change of either ends
 * all sessions, and without a strong ADMIN_JWT_SECRET the keys are as strong as JWT_SECRET.
 */
export function deriveAdministrationKeys({ jwtSecret, adminJwtSecret }: Secrets): AdministrationKeys {
  const derive = (purpose: string) =>
    Buffer.from(hkdfSync('sha256', jwtSecret, adminJwtSecret ?? '', `octavo administration ${purpose}`, 32)).toString('base64url')
  return {
    tokens: derive('tokens'),
    marks: derive('marks'),
    first: derive('first administrator'),
    fingerprints: derive('fingerprints'),
    responses: derive('responses'),
    events: derive('events'),
  }
}

/** A keyed fingerprint of the stored password, which also changes when Strapi sets a new password. */
export const passwordMark = (key: string, documentId: string | null, password: string | null): string =>
  createHmac('sha256', key)
    .update(JSON.stringify([documentId, password]))
    .digest('base64url')
    .slice(0, 20)
