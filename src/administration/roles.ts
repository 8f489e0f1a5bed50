// Roles of administrators: rows of admin_roles, which Strapi's panel shares. What a role allows is in admin_permissions.
import { sql } from 'kysely'
import type { RowReader, Transaction } from '../database/database.js'
import { insertRow } from '../documents/store/rows.js'
import { newDocumentId } from '../model/document-id.js'
import { type AdministratorRole, superAdminCode } from './administrators.js'

/** The roles that Strapi's panel makes where there are none, in its order. */
const firstRoles = [
  {
    name: 'Super Admin',
    code: superAdminCode,
    description: 'Super Admins can access and manage all features and settings.',
  },
  {
    name: 'Editor',
    code: 'strapi-editor',
    description: 'Editors can manage and publish contents including those of other users.',
  },
  { name: 'Author', code: 'strapi-author', description: 'Authors can manage the content they have created.' },
] as const

/** Returns the roles with these ids or codes, in this order; null where there is none. */
export async function findRoles(database: RowReader, wanted: readonly (number | string)[]): Promise<readonly (AdministratorRole | null)[]> {
  const roles = await database.rows<AdministratorRole>(sql`select id, code, name from admin_roles order by id`)
  return wanted.map((one) => roles.find(({ id, code }) => id === one || code === one) ?? null)
}

/**
 * Makes the three roles of Strapi's panel in a database that has none, as Strapi does at its start. The editor's and the author's allow
 * nothing: which rights they get is decided by people.
 */
export async function addFirstRoles(transaction: Transaction, now: number): Promise<void> {
  const [any] = await transaction.rows(sql`select id from admin_roles limit 1`)
  if (any !== undefined) return
  for (const role of firstRoles)
    await insertRow(transaction, 'admin_roles', {
      document_id: newDocumentId(),
      ...role,
      created_at: now,
      updated_at: now,
      published_at: now,
    })
}
