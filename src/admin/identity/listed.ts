// Lists administrators with their roles.
import { sql } from 'kysely'
import type { RowReader } from '../../database/database.js'
import { type AdministratorRole, type AdministratorRow, administratorColumns } from './administrators.js'
import type { TeamMember } from './team.js'

/** Which administrators: those with a higher id than `after`, at most `limit`. */
export interface AdministratorPage {
  readonly after: number
  readonly limit: number
}

/** Returns administrators in the order of their ids: all, or one page. */
export async function listAdministrators(database: RowReader, page: AdministratorPage | null = null): Promise<readonly TeamMember[]> {
  const within = page === null ? sql`order by u.id` : sql`where u.id > ${page.after} order by u.id limit ${page.limit}`
  const rows = await database.rows<AdministratorRow>(sql`select ${administratorColumns} from admin_users u ${within}`)
  if (rows.length === 0) return []
  const links = await database.rows<
    AdministratorRole & { readonly user: number }
  >(sql`select l.user_id as ${sql.ref('user')}, r.id, r.code, r.name
    from admin_users_roles_lnk l join admin_roles r on r.id = l.role_id where l.user_id >= ${rows[0]!.id} and l.user_id <= ${rows.at(-1)!.id} order by l.role_ord, r.id`)
  const byUser = new Map<number, AdministratorRole[]>()
  for (const { user, ...role } of links) byUser.set(user, [...(byUser.get(user) ?? []), role])
  return rows.map((row) => ({ row, roles: byUser.get(row.id) ?? [] }))
}
