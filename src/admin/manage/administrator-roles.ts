// Roles of administrators and their rights: operations of the administration.

import { createHash } from 'node:crypto'
import { sql } from 'kysely'
import * as z from 'zod'
import { insertRow, newEntry, updateRow } from '../../content/documents/store/rows.js'
import { storedSetting } from '../../content/documents/store/settings.js'
import type { RowReader, Transaction } from '../../database/database.js'
import { bindTimestamp } from '../../database/portable-sql.js'
import { ApiError, notFound } from '../../foundation/errors/errors.js'
import { newDocumentId } from '../../model/schema/names.js'
import type { Model } from '../../model/schema/types.js'
import { nameTaken } from '../error-paths.js'
import { type AdministratorRole, superAdminCode } from '../identity/administrators.js'
import { checkGiver, checkStorable, type RoleRight, rightKey, toRoleRight, toRow } from '../permissions/delegation.js'
import { type PermissionRow, parseStoredJson, readPermissions } from '../permissions/permissions.js'
import { descriptionInput, nameInput } from '../values.js'
import { act, operation, type RequestChangeContext } from './operation.js'

/** The default roles of Strapi's panel, in its order. */
const defaultRoles = [
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

/** Returns the roles with these ids or codes, in this order; null for unknown ones. */
export async function findRoles(database: RowReader, wanted: readonly (number | string)[]): Promise<readonly (AdministratorRole | null)[]> {
  const roles = await database.rows<AdministratorRole>(sql`select id, code, name from admin_roles order by id`)
  return wanted.map((one) => roles.find(({ id, code }) => id === one || code === one) ?? null)
}

/**
 * Creates the default roles in a database without roles, as Strapi does at its start. Those of editors and authors have no rights: these
 * are granted by people.
 */
export async function addDefaultRoles(transaction: Transaction, now: number): Promise<void> {
  const [any] = await transaction.rows(sql`select id from admin_roles limit 1`)
  if (any !== undefined) return
  for (const role of defaultRoles) await insertRow(transaction, 'admin_roles', { ...newEntry(now), ...role })
}

const shownRole = z.strictObject({
  id: z.int(),
  code: z.string(),
  name: z.string(),
  description: z.string().nullable(),
  administrators: z.int(),
})
type ShownRole = z.input<typeof shownRole>

/** Returns all roles in the order of their ids. */
const readRoles = (database: RowReader): Promise<readonly ShownRole[]> =>
  database.rows<ShownRole>(sql`select r.id, r.code, r.name, r.description,
    (select count(*) from admin_users_roles_lnk l where l.role_id = r.id) as administrators from admin_roles r order by r.id`)

/** @throws ApiError 404 */
async function readRole(database: RowReader, id: number): Promise<ShownRole> {
  const found = (await readRoles(database)).find((role) => role.id === id)
  if (found === undefined) throw notFound('Role not found')
  return found
}

/** Reads a role to be changed. @throws ApiError 404; 400 for the role of super administrators */
async function readChangeable(database: RowReader, id: number): Promise<ShownRole> {
  const role = await readRole(database, id)
  if (role.code === superAdminCode) throw new ApiError('ApplicationError', 'The role of super administrators stays as it is')
  return role
}

/** True if new administrators of single sign-on get this role. */
async function isSingleSignOnDefault(database: RowReader, id: number): Promise<boolean> {
  const stored = (await storedSetting(database, 'core_admin_auth')) as { readonly providers?: { readonly defaultRole?: unknown } } | null
  const role = stored?.providers?.defaultRole ?? null
  return role !== null && String(role) === String(id)
}

async function checkRoleName(database: RowReader, name: string, except: number | null): Promise<void> {
  const same = (await readRoles(database)).find((role) => role.name === name && role.id !== except)
  if (same !== undefined) throw nameTaken('role')
}

interface RolePermission extends PermissionRow {
  readonly id: number
}

async function readRoleRows(database: RowReader, role: number): Promise<readonly RolePermission[]> {
  const rows = await database.rows<RolePermission>(sql`select p.id, p.action, p.subject, p.properties, p.conditions from admin_permissions p
    where p.id in (select permission_id from admin_permissions_role_lnk where role_id = ${role}) order by p.action, p.subject, p.id`)
  return rows.map((row) => ({ ...row, properties: parseStoredJson(row.properties), conditions: parseStoredJson(row.conditions) }))
}

/** @throws ApiError 404 */
async function respondRights(database: RowReader, model: Model, id: number) {
  const { code } = await readRole(database, id)
  const rows = await readRoleRows(database, id)
  return {
    data: { revision: rightsRevision(rows), everything: code === superAdminCode, rights: rows.map((row) => toRoleRight(model, row)) },
  }
}

const rightsRevision = (rows: readonly RolePermission[]): string =>
  createHash('sha256')
    .update(JSON.stringify(rows.map(({ id, ...row }) => [id, row.action, row.subject, row.properties, row.conditions])))
    .digest('base64url')
    .slice(0, 27)

/**
 * Compares present rows with the new rights. Rows of unchanged rights stay, even if they would be refused or written differently today.
 * @throws ApiError 400
 */
function compareRights(
  model: Model,
  present: readonly RolePermission[],
  rights: readonly RoleRight[],
): { readonly leaving: readonly RolePermission[]; readonly given: readonly RoleRight[] } {
  const rest = new Map<string, RolePermission[]>()
  for (const row of present) {
    const text = rightKey(toRoleRight(model, row))
    rest.set(text, [...(rest.get(text) ?? []), row])
  }
  const others = rights.map((right, index) => ({ right, index })).filter(({ right }) => !rest.has(rightKey(right)))
  checkStorable(model, present, others)
  const written = others.map(({ right }) => ({ right, text: rightKey(toRoleRight(model, toRow(model, right))) }))
  const given = new Map(written.filter(({ text }) => !rest.has(text)).map(({ right, text }) => [text, right]))
  for (const text of [...rights.map(rightKey), ...written.map((one) => one.text)]) rest.get(text)?.shift()
  return { leaving: [...rest.values()].flat(), given: [...given.values()] }
}

async function removeRows(transaction: Transaction, rows: readonly RolePermission[]): Promise<void> {
  for (const { id } of rows) {
    await transaction.run(sql`delete from admin_permissions_role_lnk where permission_id = ${id}`)
    await transaction.run(sql`delete from admin_permissions where id = ${id}`)
  }
}

async function addRow(transaction: Transaction, role: number, row: ReturnType<typeof toRow>, now: number): Promise<void> {
  const { action, subject, properties, conditions } = row
  const permission = await insertRow(transaction, 'admin_permissions', {
    ...newEntry(now),
    action,
    subject,
    action_parameters: '{}',
    properties: JSON.stringify(properties),
    conditions: JSON.stringify(conditions),
  })
  await transaction.run(sql`insert into admin_permissions_role_lnk (permission_id, role_id, permission_ord) values
    (${permission}, ${role}, ${permission})`)
}

const shownRights = z.strictObject({
  data: z.strictObject({
    revision: z.string(),
    /** True for super administrators. */
    everything: z.boolean(),
    rights: z.array(
      z.strictObject({
        action: z.string(),
        subject: z.string().nullable(),
        fields: z.array(z.string()).nullable(),
        locales: z.array(z.string()).nullable(),
        conditions: z.array(z.string()),
      }),
    ),
  }),
})
const name = z.string().min(1).max(255)
const rightInput = z.strictObject({
  action: name,
  subject: name.nullable().default(null),
  fields: z.array(z.string().min(1).max(500)).max(5_000).nullable().default(null),
  locales: z.array(z.string().min(1).max(100)).max(1_000).nullable().default(null),
  conditions: z.array(name).max(100).default([]),
})
const roleResponse = z.strictObject({ data: shownRole })
const respondRole = async (database: RowReader, id: number) => ({ data: await readRole(database, id) })
const right = (verb: string) => ({ action: `admin::roles.${verb}` })
const audited = (action: string) => ({ action, subject: 'role' })

/** The operations on roles of administrators. */
export const administratorRoles = {
  list: operation({
    route: 'GET /roles',
    summary: 'List the roles of administrators',
    rights: right('read'),
    output: z.strictObject({ data: z.array(shownRole) }),
    respond: async ({ database }) => ({ data: await readRoles(database) }),
  }),
  create: operation({
    route: 'POST /roles',
    summary: 'Create a role, which allows nothing',
    rights: right('create'),
    isStrong: true,
    input: z.strictObject({ name: nameInput, description: descriptionInput.optional() }),
    output: roleResponse,
    audit: audited('create'),
    run: (context, { name, description = '' }) =>
      act(context, async (transaction, now) => {
        await checkRoleName(transaction, name, null)
        const words = name
          .normalize('NFKD')
          .toLowerCase()
          .match(/[a-z\d]+/g) ?? ['role']
        const id = await insertRow(transaction, 'admin_roles', {
          ...newEntry(now),
          name,
          description,
          // Derived from the name, as in Strapi, with a suffix that makes it unique.
          code: `${words.join('-').slice(0, 200)}-${newDocumentId().slice(0, 8)}`,
        })
        return { id: String(id), name }
      }),
    respond: ({ database }, _input, { id }) => respondRole(database, Number(id)),
  }),
  read: operation({
    route: 'GET /roles/:id',
    summary: 'Read a role',
    rights: right('read'),
    output: roleResponse,
    respond: ({ database }, { id }) => respondRole(database, id),
  }),
  update: operation({
    route: 'PATCH /roles/:id',
    summary: 'Change the name or description of a role',
    rights: right('update'),
    isStrong: true,
    input: z.strictObject({ name: nameInput.optional(), description: descriptionInput.optional() }),
    output: roleResponse,
    audit: audited('update'),
    run: (context, { id, ...values }) =>
      act(context, async (transaction, now) => {
        const role = await readChangeable(transaction, id)
        if (values.name !== undefined) await checkRoleName(transaction, values.name, id)
        const fields = Object.keys(values)
        if (fields.length > 0)
          await updateRow(transaction, 'admin_roles', id, { ...(values as Record<string, string>), updated_at: bindTimestamp(now) })
        return { id: String(id), name: role.name, fields }
      }),
    respond: ({ database }, { id }) => respondRole(database, id),
  }),
  delete: operation({
    route: 'DELETE /roles/:id',
    summary: 'Delete an unused role',
    rights: right('delete'),
    isStrong: true,
    output: null,
    audit: audited('delete'),
    run: (context, { id }) =>
      act(context, async (transaction) => {
        const { administrators, name } = await readChangeable(transaction, id)
        if (administrators > 0) throw new ApiError('ApplicationError', 'Some administrators still have this role')
        if (await isSingleSignOnDefault(transaction, id))
          throw new ApiError('ApplicationError', 'New administrators of single sign-on get this role; choose another one first')
        await transaction.run(
          sql`delete from admin_permissions where id in (select permission_id from admin_permissions_role_lnk where role_id = ${id})`,
        )
        await transaction.run(sql`delete from admin_permissions_role_lnk where role_id = ${id}`)
        await transaction.run(sql`delete from admin_roles where id = ${id}`)
        return { id: String(id), name }
      }),
  }),
  readRights: operation({
    route: 'GET /roles/:id/rights',
    summary: 'Read what a role allows',
    rights: right('read'),
    output: shownRights,
    respond: ({ database, model }, { id }) => respondRights(database, model, id),
  }),
  /** Rows of unchanged rights stay. */
  replaceRights: operation({
    route: 'PUT /roles/:id/rights',
    summary: 'Replace what a role allows',
    rights: right('update'),
    isStrong: true,
    state: { of: 'the rights of the role', read: 'admin::roles.read' },
    input: z.strictObject({ rights: z.array(rightInput).max(10_000) }),
    output: shownRights,
    audit: audited('rights'),
    run: async (context: RequestChangeContext, { id, rights }) => {
      const { administrator, model, revisions } = context
      const done = { id: String(id) }
      await act(context, async (transaction, now) => {
        const { name } = await readChangeable(transaction, id)
        const present = await readRoleRows(transaction, id)
        if (!revisions.includes(rightsRevision(present)))
          throw new ApiError('PreconditionFailedError', 'The rights have changed since they were read')
        const { leaving, given } = compareRights(model, present, rights)
        const roles = administrator.roles.map((role) => role.id)
        checkGiver(model, { ...administrator, rows: await readPermissions(transaction, roles) }, present, given)
        await removeRows(transaction, leaving)
        for (const right of given) await addRow(transaction, id, toRow(model, right), now)
        return leaving.length === 0 && given.length === 0 ? null : { ...done, name }
      })
      return done
    },
    respond: ({ database, model }, { id }) => respondRights(database, model, id),
  }),
}
