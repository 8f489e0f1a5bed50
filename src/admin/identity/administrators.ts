// Rows of administrators (admin_users) and of their roles (admin_roles), which Strapi's panel shares. No rule about who may do what.
import { sql } from 'kysely'
import { hasColumns, type RowReader } from '../../database/database.js'

/** The role that may do everything, whatever its rows say. */
export const superAdminCode = 'strapi-super-admin'

/** A row of admin_users, as far as the administration uses it. */
export interface AdministratorRow {
  readonly id: number
  readonly document_id: string | null
  readonly firstname: string | null
  readonly lastname: string | null
  readonly username: string | null
  readonly email: string | null
  readonly password: string | null
  readonly registration_token: string | null
  readonly is_active: number | null
  readonly blocked: number | null
  readonly prefered_language: string | null
}

/** A role of administrators. */
export interface AdministratorRole {
  readonly id: number
  readonly code: string
  readonly name: string
}

const columns = ['id', 'document_id', 'firstname', 'lastname', 'username', 'email', 'password', 'registration_token'] as const
const states = ['is_active', 'blocked', 'prefered_language'] as const

/** The columns of a row, of the table that is called `u` in the statement. */
export const administratorColumns = sql.join([...columns, ...states].map((name) => sql.ref(`u.${name}`)))

/** True if an administrator may sign in. */
export const isActive = ({ is_active, blocked }: Pick<AdministratorRow, 'is_active' | 'blocked'>): boolean =>
  is_active === 1 && blocked !== 1

/** Returns the administrator with this id, or null. */
export async function administratorById(database: RowReader, id: number): Promise<AdministratorRow | null> {
  const [row = null] = await database.rows<AdministratorRow>(sql`select ${administratorColumns} from admin_users u where u.id = ${id}`)
  return row
}

/** Returns the administrator with this address, in any case, or null. The result is compared again, because collations may ignore accents. */
export async function administratorByEmail(database: RowReader, email: string): Promise<AdministratorRow | null> {
  const address = email.toLowerCase()
  const rows = await database.rows<AdministratorRow>(
    sql`select ${administratorColumns} from admin_users u where lower(u.email) = ${address} order by u.id`,
  )
  return rows.find((row) => row.email?.toLowerCase() === address) ?? null
}

/** True if there is any administrator, whether or not it may sign in. */
export const anyAdministrator = async (database: RowReader): Promise<boolean> =>
  (await database.rows(sql`select id from admin_users limit 1`)).length > 0

/** Returns the roles of an administrator in their order. */
export function rolesOf(database: RowReader, id: number): Promise<readonly AdministratorRole[]> {
  return database.rows<AdministratorRole>(sql`select r.id, r.code, r.name from admin_users_roles_lnk l
    join admin_roles r on r.id = l.role_id where l.user_id = ${id} order by l.role_ord, r.id`)
}

/** The tables without which nobody can sign in. */
const needed = ['admin_users', 'admin_roles', 'admin_users_roles_lnk', 'admin_permissions', 'admin_permissions_role_lnk', 'strapi_sessions']

/** Returns the tables of administrators that a database lacks. A new database has all; one that an old Strapi made may lack some. */
export async function missingTables(database: RowReader): Promise<readonly string[]> {
  const missing: string[] = []
  for (const table of needed) {
    // A database that cannot be reached fails here, and not as one without tables.
    await database.rows(sql`select 1 as one`)
    if (!(await hasColumns(database, table))) missing.push(table)
  }
  return missing
}
