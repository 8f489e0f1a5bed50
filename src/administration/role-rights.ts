// What a role allows, as one value: read from Strapi's admin_permissions, and written so that Strapi keeps it as it is.
import { createHash } from 'node:crypto'
import { sql } from 'kysely'
import type { RowReader, Transaction } from '../database/database.js'
import { insertRow } from '../documents/store/rows.js'
import { ApiError } from '../errors/errors.js'
import { newDocumentId } from '../model/document-id.js'
import type { Model } from '../model/types.js'
import { type ActingAdministrator, doAct } from './activity.js'
import { superAdminCode } from './administrators.js'
import type { Administration } from './context.js'
import { checkRights, type GivingAdministrator, type RoleRight, rowOf } from './given-rights.js'
import { parsedJson } from './permission-rows.js'
import { administratorRole } from './roles.js'

/** All that a role allows. */
export interface RoleRights {
  /** Changes with the rights. */
  readonly revision: string
  /** True for the role of super administrators, which may do everything, whatever it lists. */
  readonly everything: boolean
  readonly rights: readonly RoleRight[]
}

/** A row of admin_permissions. */
interface PermissionOfRole {
  readonly id: number
  readonly action: string
  readonly subject: string | null
  readonly properties: unknown
  readonly conditions: unknown
}

async function rowsOfRole(database: RowReader, role: number): Promise<readonly PermissionOfRole[]> {
  const rows =
    await database.rows<PermissionOfRole>(sql`select p.id, p.action, p.subject, p.properties, p.conditions from admin_permissions p
    where p.id in (select permission_id from admin_permissions_role_lnk where role_id = ${role}) order by p.action, p.subject, p.id`)
  return rows.map((row) => ({ ...row, properties: parsedJson(row.properties), conditions: parsedJson(row.conditions) }))
}

/** Reads what a role allows. @throws ApiError 404 */
export async function rightsOfRole(database: RowReader, id: number): Promise<RoleRights> {
  const { code } = await administratorRole(database, id)
  const rows = await rowsOfRole(database, id)
  return { revision: revisionOf(rows), everything: code === superAdminCode, rights: rows.map(rightOf) }
}

const revisionOf = (rows: readonly PermissionOfRole[]): string =>
  createHash('sha256')
    .update(JSON.stringify(rows.map(({ id, ...row }) => [id, row.action, row.subject, row.properties, row.conditions])))
    .digest('base64url')
    .slice(0, 27)

function rightOf({ action, subject, properties, conditions }: PermissionOfRole): RoleRight {
  const { fields, locales } = (typeof properties === 'object' && properties !== null ? properties : {}) as Record<string, unknown>
  const texts = (value: unknown): readonly string[] => (Array.isArray(value) ? value.map(String) : [])
  return {
    action,
    subject: subject === '' ? null : subject,
    fields: fields === undefined || fields === null ? null : texts(fields),
    locales: locales === null ? null : texts(locales),
    conditions: texts(conditions),
  }
}

/**
 * Replaces what a role allows. Rows that say the same stay.
 * @throws ApiError 404; 400 for the role of super administrators, and for rights that Strapi would not keep; 403 for rights that the
 * administrator lacks; 412 with another revision
 */
export function replaceRights(
  administration: Administration,
  actor: ActingAdministrator,
  giver: GivingAdministrator,
  model: Model,
  { role, revisions, rights }: { readonly role: number; readonly revisions: readonly string[]; readonly rights: readonly RoleRight[] },
): Promise<void> {
  return doAct(administration, actor, async (transaction, now) => {
    const { code, name } = await administratorRole(transaction, role)
    if (code === superAdminCode) throw new ApiError('ApplicationError', 'The role of super administrators stays as it is')
    const present = await rowsOfRole(transaction, role)
    if (!revisions.includes(revisionOf(present)))
      throw new ApiError('PreconditionFailedError', 'The rights have changed since they were read')
    checkRights(model, giver, present, rights)
    const wanted = new Map(rights.map((right) => rowOf(model, right)).map((row) => [textOf(row), row]))
    const leaving = present.filter((row) => !wanted.delete(textOf(row)))
    await removeRows(transaction, leaving)
    for (const row of wanted.values()) await addRow(transaction, role, row, now)
    const changed = leaving.length > 0 || wanted.size > 0
    return [changed ? { action: 'rights', subject: 'role', id: String(role), name } : null, undefined]
  })
}

/** A text that is the same for rows that say the same, whatever the order of their members. */
function textOf({ action, subject, properties, conditions }: Omit<PermissionOfRole, 'id'>): string {
  const members = Object.entries(properties ?? {}).sort(([one], [other]) => (one < other ? -1 : 1))
  return JSON.stringify([action, subject, members, conditions])
}

async function removeRows(transaction: Transaction, rows: readonly PermissionOfRole[]): Promise<void> {
  for (const { id } of rows) {
    await transaction.run(sql`delete from admin_permissions_role_lnk where permission_id = ${id}`)
    await transaction.run(sql`delete from admin_permissions where id = ${id}`)
  }
}

async function addRow(transaction: Transaction, role: number, row: ReturnType<typeof rowOf>, now: number): Promise<void> {
  const { action, subject, properties, conditions } = row
  const permission = await insertRow(transaction, 'admin_permissions', {
    ...{ document_id: newDocumentId(), action, subject, action_parameters: '{}' },
    ...{ properties: JSON.stringify(properties), conditions: JSON.stringify(conditions) },
    ...{ created_at: now, updated_at: now, published_at: now },
  })
  await transaction.run(sql`insert into admin_permissions_role_lnk (permission_id, role_id, permission_ord) values
    (${permission}, ${role}, ${permission})`)
}
