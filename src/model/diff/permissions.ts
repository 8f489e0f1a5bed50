// Permissions for a type, which go with it and come back with it.

import { type PlanFindings, planned } from './findings.js'
import { type KeptNames, keptRows } from './kept.js'
import { id, joinedText, type SqlText, sqlText } from './sql-text.js'
import type { PlanStep } from './steps.js'
import type { KeptPlace } from './types.js'

/** A table of permissions, the table that links them to whom they are given, and what says that two permissions are the same. */
interface PermissionTable {
  readonly table: string
  readonly links: string
  readonly permission: string
  readonly holder: string
  readonly holders: string
  readonly same: readonly string[]
}

/** Tables in which an action names its type. */
export const actionTables: readonly PermissionTable[] = [
  {
    ...{ table: 'up_permissions', links: 'up_permissions_role_lnk', permission: 'permission_id' },
    ...{ holder: 'role_id', holders: 'up_roles', same: ['action'] },
  },
  {
    ...{ table: 'strapi_api_token_permissions', links: 'strapi_api_token_permissions_token_lnk' },
    ...{ permission: 'api_token_permission_id', holder: 'api_token_id', holders: 'strapi_api_tokens', same: ['action'] },
  },
]
const administrators: PermissionTable = {
  ...{ table: 'admin_permissions', links: 'admin_permissions_role_lnk', permission: 'permission_id' },
  ...{ holder: 'role_id', holders: 'admin_roles', same: ['action', 'subject'] },
}
const permissionTables = [...actionTables, administrators]

/** Actions of a type. */
export const isActionOf = (uid: string): SqlText => sqlText`substr(action, 1, ${uid.length + 1}) = ${`${uid}.`}`

/** Permissions for a type that is gone go as in Strapi, which deletes them at a start; the rows are kept aside. */
export function permissionsOf(uid: string, { rowsOf }: KeptNames): PlanFindings['steps'] {
  const rows = permissionTables.flatMap(({ table, links, permission }) => {
    const where = table === administrators.table ? sqlText`subject = ${uid}` : isActionOf(uid)
    return [
      { table: links, where: sqlText`${id(permission)} in (select id from ${id(table)} where ${where})` },
      { table, where },
    ]
  })
  return [
    ...rows.map(({ table, where }) => planned('keepRows', 'safe', { kind: 'keepRows', table, as: rowsOf(table), where })),
    ...rows.map(({ table, where }) => planned('deleteRows', 'safe', { kind: 'deleteRows', table, where })),
  ]
}

/** Where permissions for types that are gone are kept. */
export const keptPermissions = (kept: KeptNames): readonly KeptPlace[] =>
  permissionTables.flatMap(({ table, links }) => [keptRows(kept, table), keptRows(kept, links)])

/** Takes out of the kept permissions those whose holders have gone or have got them meanwhile; `all`: whatever comes back. */
export function withoutGiven({ table: name, as }: KeptPlace, all: readonly KeptPlace[]): readonly PlanStep[] {
  const own = permissionTables.find(({ table }) => table === name)
  const links = all.find(({ kind, table }) => kind === 'rows' && table === own?.links)?.as
  if (own === undefined || links === undefined) return []
  const [permission, holder] = [id(own.permission), id(own.holder)]
  const isSame = joinedText(
    own.same.map((column) => sqlText`present.${id(column)} = kept.${id(column)}`),
    ' and ',
  )
  const given = sqlText`select link.id as id from ${id(links)} as link join ${id(as)} as kept on kept.id = link.${permission}
    join ${id(own.table)} as present on ${isSame} join ${id(own.links)} as other on other.${permission} = present.id and other.${holder} = link.${holder}`
  return [
    { kind: 'deleteRows', table: links, where: sqlText`${holder} not in (select id from ${id(own.holders)})`, risk: 'safe' },
    { kind: 'deleteRows', table: links, where: sqlText`id in (select id from (${given}) as given)`, risk: 'safe' },
    {
      kind: 'deleteRows',
      table: as,
      where: sqlText`id not in (select ${permission} from ${id(links)} where ${permission} is not null)`,
      risk: 'safe',
    },
  ]
}
