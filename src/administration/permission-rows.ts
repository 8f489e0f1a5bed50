// The rows of Strapi's admin_permissions by role, read again after every commit, but only when an administrator asks.
import { sql } from 'kysely'
import type { RowReader } from '../database/database.js'

/** A right of a role, as Strapi stores it. */
export interface PermissionRow {
  readonly action: string
  /** The uid of a type; null for actions that are about none. */
  readonly subject: string | null
  /** `fields` and `locales`, if it is what Strapi writes. */
  readonly properties: unknown
  /** The names of conditions, of which one must hold, if it is what Strapi writes. */
  readonly conditions: unknown
}

/** The rows of every role, by the role's row id. */
export type RolePermissions = ReadonlyMap<number, readonly PermissionRow[]>

interface StoredRow extends PermissionRow {
  readonly role: number
}

/** Reads the rows of all roles. */
export async function readPermissions(database: RowReader): Promise<RolePermissions> {
  const rows = await database.rows<StoredRow>(sql`select l.role_id as role, p.action, p.subject, p.properties, p.conditions
    from admin_permissions p join admin_permissions_role_lnk l on l.permission_id = p.id order by p.id`)
  const roles = new Map<number, PermissionRow[]>()
  for (const { role, action, subject, properties, conditions } of rows) {
    const row = { action, subject, properties: parsed(properties), conditions: parsed(conditions) }
    const known = roles.get(role)
    if (known === undefined) roles.set(role, [row])
    else known.push(row)
  }
  return roles
}

/** JSON as the databases give it, as text or parsed; a text that is none stays what it is, and grants nothing. */
function parsed(value: unknown): unknown {
  if (typeof value !== 'string') return value
  try {
    return JSON.parse(value) as unknown
  } catch {
    return value
  }
}
