// The rows of Strapi's admin_permissions.
import { sql } from 'kysely'
import type { RowReader } from '../../database/database.js'

/** A right of a role, as Strapi stores it. */
export interface PermissionRow {
  readonly action: string
  /** The uid of a type; null or empty for actions that are about none. */
  readonly subject: string | null
  /** `fields` and `locales`, if it is what Strapi writes. */
  readonly properties: unknown
  /** The names of conditions, of which one must hold, if it is what Strapi writes. */
  readonly conditions: unknown
}

/** Reads the rows of some roles, in the order of their ids. */
export async function readPermissions(database: RowReader, roles: readonly number[]): Promise<readonly PermissionRow[]> {
  if (roles.length === 0) return []
  const rows = await database.rows<PermissionRow>(sql`select p.action, p.subject, p.properties, p.conditions from admin_permissions p
    where p.id in (select permission_id from admin_permissions_role_lnk where role_id in (${sql.join([...roles])})) order by p.id`)
  return rows.map((row) => ({ ...row, properties: parsedJson(row.properties), conditions: parsedJson(row.conditions) }))
}

/** JSON as the databases give it, as text or parsed; a text that is none stays what it is, and grants nothing. */
export function parsedJson(value: unknown): unknown {
  if (typeof value !== 'string') return value
  try {
    return JSON.parse(value) as unknown
  } catch {
    return value
  }
}
