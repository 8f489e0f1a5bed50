// What a role allows, as one value: read from Strapi's admin_permissions, and written so that Strapi keeps it as it is.
import { createHash } from 'node:crypto'
import { sql } from 'kysely'
import { insertRow } from '../../content/documents/store/rows.js'
import type { RowReader, Transaction } from '../../database/database.js'
import { ApiError } from '../../foundation/errors/errors.js'
import { newDocumentId } from '../../model/schema/document-id.js'
import type { Model } from '../../model/schema/types.js'
import { type ActingAdministrator, doAct } from '../activity.js'
import type { Administration } from '../context.js'
import { superAdminCode } from '../identity/administrators.js'
import { checkForm, checkGiver, type GivingAdministrator, type RoleRight, rightOf, rowOf, textOf } from './delegation.js'
import { administratorRole } from './roles.js'
import { type PermissionRow, parsedJson } from './rows.js'

/** All that a role allows. */
export interface RoleRights {
  /** Changes with the rights. */
  readonly revision: string
  /** True for the role of super administrators, which may do everything, whatever it lists. */
  readonly everything: boolean
  readonly rights: readonly RoleRight[]
}

/** A row of admin_permissions. */
interface PermissionOfRole extends PermissionRow {
  readonly id: number
}

async function rowsOfRole(database: RowReader, role: number): Promise<readonly PermissionOfRole[]> {
  const rows =
    await database.rows<PermissionOfRole>(sql`select p.id, p.action, p.subject, p.properties, p.conditions from admin_permissions p
    where p.id in (select permission_id from admin_permissions_role_lnk where role_id = ${role}) order by p.action, p.subject, p.id`)
  return rows.map((row) => ({ ...row, properties: parsedJson(row.properties), conditions: parsedJson(row.conditions) }))
}

/** Reads what a role allows. @throws ApiError 404 */
export async function rightsOfRole(database: RowReader, model: Model, id: number): Promise<RoleRights> {
  const { code } = await administratorRole(database, id)
  const rows = await rowsOfRole(database, id)
  return { revision: revisionOf(rows), everything: code === superAdminCode, rights: rows.map((row) => rightOf(model, row)) }
}

const revisionOf = (rows: readonly PermissionOfRole[]): string =>
  createHash('sha256')
    .update(JSON.stringify(rows.map(({ id, ...row }) => [id, row.action, row.subject, row.properties, row.conditions])))
    .digest('base64url')
    .slice(0, 27)

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
    const { leaving, given } = compared(model, present, rights)
    checkGiver(model, giver, present, given)
    await removeRows(transaction, leaving)
    for (const right of given) await addRow(transaction, role, rowOf(model, right), now)
    const changed = leaving.length > 0 || given.length > 0
    return [changed ? { action: 'rights', subject: 'role', id: String(role), name } : null, undefined]
  })
}

/**
 * What becomes of a role's rows. Those that say a wanted right stay as they are, also where a new one would be refused or written otherwise.
 * @throws ApiError 400
 */
function compared(
  model: Model,
  present: readonly PermissionOfRole[],
  rights: readonly RoleRight[],
): { readonly leaving: readonly PermissionOfRole[]; readonly given: readonly RoleRight[] } {
  const rest = new Map<string, PermissionOfRole[]>()
  for (const row of present) {
    const text = textOf(rightOf(model, row))
    rest.set(text, [...(rest.get(text) ?? []), row])
  }
  const others = rights.map((right, index) => ({ right, index })).filter(({ right }) => !rest.has(textOf(right)))
  checkForm(model, present, others)
  const written = others.map(({ right }) => ({ right, text: textOf(rightOf(model, rowOf(model, right))) }))
  const given = new Map(written.filter(({ text }) => !rest.has(text)).map(({ right, text }) => [text, right]))
  for (const text of [...rights.map(textOf), ...written.map((one) => one.text)]) rest.get(text)?.shift()
  return { leaving: [...rest.values()].flat(), given: [...given.values()] }
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
