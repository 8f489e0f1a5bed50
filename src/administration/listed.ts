// Lists administrators with their roles.
import { sql } from 'kysely'
import type { RowReader } from '../database/database.js'
import { type AdministratorRole, type AdministratorRow, administratorColumns } from './administrators.js'

/** An administrator with its roles. */
export interface ListedAdministrator {
  readonly row: AdministratorRow
  readonly roles: readonly AdministratorRole[]
}

/** Returns all administrators in the order of their ids. */
export async function listAdministrators(database: RowReader): Promise<readonly ListedAdministrator[]> {
  const rows = await database.rows<AdministratorRow>(sql`select ${administratorColumns} from admin_users u order by u.id`)
  const links = await database.rows<
    AdministratorRole & { readonly user: number }
  >(sql`select l.user_id as ${sql.ref('user')}, r.id, r.code, r.name
    from admin_users_roles_lnk l join admin_roles r on r.id = l.role_id order by l.role_ord, r.id`)
  const byUser = new Map<number, AdministratorRole[]>()
  for (const { user, ...role } of links) byUser.set(user, [...(byUser.get(user) ?? []), role])
  return rows.map((row) => ({ row, roles: byUser.get(row.id) ?? [] }))
}
