// Turns the Authorization header into an administrator. Every request looks at the account, its password and its session; no statement runs
// if nothing was committed since the last look.
import { sql } from 'kysely'
import type { RowReader } from '../../database/database.js'
import { unauthorized } from '../../foundation/errors/errors.js'
import { bearer, type Identification } from '../../identity/access/identify.js'
import type { Jwts } from '../../identity/access/jwt.js'
import { type PermissionRow, readPermissions } from '../permissions/rows.js'
import { type AdministratorRole, type AdministratorRow, administratorColumns, isActive, rolesOf, superAdminCode } from './administrators.js'
import { type AdministrationKeys, passwordMark } from './keys.js'

/** A content-type whose documents a resource shows or writes with these fields. */
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
  /** The language of the page that the administrator chose. */
  readonly language: string | null
  readonly roles: readonly AdministratorRole[]
  /** Has the role `strapi-super-admin`, which may do everything. */
  readonly isSuperAdmin: boolean
  /** The rights of all roles. They say nothing about a super administrator. */
  readonly permissions: readonly PermissionRow[]
  /**
   * True if a role allows an action that concerns no content-type, such as `admin::users.read`; or one on a content-type, for these fields and
   * without conditions.
   */
  may(action: string, on?: WholeType): boolean
  readonly sessionId: string
  /** When the password was given last in this session; milliseconds since 1970. */
  readonly passwordAt: number
}

/** Returns the administrator of an Authorization header. @throws ApiError 401 for anything but a valid access token of an administrator */
export type IdentifyAdministrator = (authorization: string | undefined) => Promise<Administrator>

/** What administrators are identified by. */
interface IdentifyingParts {
  readonly database: RowReader
  readonly identification: Pick<Identification, 'access' | 'cacheRows'>
  readonly jwts: Jwts
  readonly keys: AdministrationKeys
  now(): number
}

/** An administrator, and the mark that its tokens must contain. */
interface Known {
  readonly administrator: Administrator
  readonly mark: string
}

/** Opens the identification of administrators. */
export function openIdentifyAdministrator({ database, identification, jwts, keys, now }: IdentifyingParts): IdentifyAdministrator {
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
async function readAdministrator(database: RowReader, session: string, keys: AdministrationKeys): Promise<Known | null> {
  const [id = '', sessionId = ''] = session.split(' ')
  const [row] = await database.rows<AdministratorRow & { readonly metadata: string | null }>(
    sql`select ${administratorColumns}, s.metadata from admin_users u, strapi_sessions s
      where u.id = ${Number(id)} and s.session_id = ${sessionId} and s.origin = 'admin' and s.user_id = ${id}`,
  )
  if (row === undefined || !isActive(row)) return null
  const roles = await rolesOf(database, row.id)
  const permissions = await readPermissions(
    database,
    roles.map((role) => role.id),
  )
  const isSuperAdmin = roles.some(({ code }) => code === superAdminCode)
  return {
    administrator: {
      id: row.id,
      documentId: row.document_id,
      email: row.email ?? '',
      firstname: row.firstname,
      lastname: row.lastname,
      language: row.prefered_language,
      roles,
      isSuperAdmin,
      permissions,
      may: (action, on) => isSuperAdmin || allows(permissions, action, on),
      sessionId,
      passwordAt: passwordAtOf(row.metadata),
    },
    mark: passwordMark(keys.marks, row.document_id, row.password),
  }
}

/** True if rights without conditions allow an action. A condition is about documents, so an action on none that has one is refused. */
function allows(permissions: readonly PermissionRow[], action: string, on: WholeType | undefined): boolean {
  const granted = permissions.filter((row) => row.action === action && (row.subject || null) === (on?.uid ?? null) && isUnconditional(row))
  if (on === undefined) return granted.length > 0
  // Without a list of fields a right is for all of them.
  const lists = granted.map(({ properties }) => (properties as { readonly fields?: unknown } | null)?.fields ?? null)
  if (lists.includes(null)) return true
  const named = new Set(lists.flat())
  return granted.length > 0 && on.fields.every((field) => named.has(field))
}

/** True if a right holds whatever document it is about. */
export const isUnconditional = ({ conditions }: PermissionRow): boolean =>
  conditions === null || conditions === undefined || (Array.isArray(conditions) && conditions.length === 0)

function passwordAtOf(metadata: string | null): number {
  const { passwordAt, loginAt } = JSON.parse(metadata ?? '{}') as { readonly passwordAt?: unknown; readonly loginAt?: unknown }
  return Date.parse(String(passwordAt ?? loginAt)) || 0
}
