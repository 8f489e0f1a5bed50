// What an administrator may do in the media library, by the rows of Strapi's actions on files.
import { sql } from 'kysely'
import type { RowReader } from '../../database/database.js'
import { forbidden, notFound } from '../../foundation/errors/errors.js'
import type { AttributeGrants, Grants } from '../../foundation/grants.js'
import { noScopes } from '../../foundation/grants.js'
import { fileType } from '../../model/schema/link.js'
import type { Administrator } from '../identity/identify.js'
import { filtersOf, heldBy, joinedConditions, type RightsHolder } from '../permissions/conditions.js'
import { conditionsOfFiles, readsFiles, shownOfAdministrators } from '../permissions/grants.js'

const folderType = 'plugin::upload.folder'

/** Strapi's actions on files. Folders have those of files. */
export const mediaActions = {
  read: readsFiles,
  create: 'plugin::upload.assets.create',
  update: 'plugin::upload.assets.update',
  download: 'plugin::upload.assets.download',
  copyLink: 'plugin::upload.assets.copy-link',
} as const

/** The name of an action on files. */
export type MediaAction = keyof typeof mediaActions

/** The conditions of which one must hold; null: none. */
type Held = readonly string[] | null

const holderOf = ({ id, roles, isSuperAdmin }: Administrator): RightsHolder => ({ id, roles: roles.map((role) => role.id), isSuperAdmin })

/** The conditions of an action; `nothing`: no role allows it. */
function conditionsOf({ isSuperAdmin, permissions }: Administrator, action: MediaAction): Held | 'nothing' {
  if (isSuperAdmin) return null
  return joinedConditions(conditionsOfFiles(permissions, mediaActions[action]))
}

/** True where a role allows an action of Strapi's, by its whole name, on some files. */
export function hasMediaRight(administrator: Administrator, name: string): boolean {
  const action = (Object.keys(mediaActions) as MediaAction[]).find((one) => mediaActions[one] === name)
  return action !== undefined && conditionsOf(administrator, action) !== 'nothing'
}

/** @throws ApiError 403 where no role allows an action on any file */
export function checkMediaRight(administrator: Administrator, action: MediaAction): void {
  if (conditionsOf(administrator, action) === 'nothing') throw forbidden(mediaActions[action])
}

/** Whoever sees files sees all folders, and nobody else changes them. @throws ApiError 403 */
export const checkSeesFolders = (administrator: Administrator): void => checkMediaRight(administrator, 'read')

/** The attributes of files that are shown; what links to them is asked for by itself. */
const shownOfFiles: AttributeGrants = new Map(
  [
    'id',
    'documentId',
    'name',
    'alternativeText',
    'caption',
    'focalPoint',
    'width',
    'height',
    'formats',
    'hash',
    'ext',
    'mime',
    'size',
    'url',
  ]
    .concat('previewUrl', 'provider', 'folder', 'folderPath', 'createdAt', 'updatedAt', 'createdBy', 'updatedBy')
    .map((name) => [name, 'all' as const]),
)
const shownOfFolders: AttributeGrants = new Map(['id', 'documentId', 'name', 'path'].map((name) => [name, 'all' as const]))

/** The grants by which an administrator sees files. @throws ApiError 403 without the right to any */
export function mediaGrants(administrator: Administrator, action: MediaAction = 'read'): Grants {
  const conditions = conditionsOf(administrator, action)
  if (conditions === 'nothing') throw forbidden(mediaActions[action])
  const scope = filtersOf(conditions, holderOf(administrator)) as Exclude<ReturnType<typeof filtersOf>, 'nothing'>
  const actions = new Set([`${fileType}.find`, `${folderType}.find`])
  return {
    key: `files of an administrator ${JSON.stringify(scope)}`,
    may: (name) => actions.has(name),
    scopes: scope === null ? noScopes : new Map([[fileType, scope]]),
    content: {
      readable: new Map([
        [fileType, shownOfFiles],
        [folderType, shownOfFolders],
        ['admin::user', shownOfAdministrators],
      ]),
      toWrite: () => [],
      linkableFiles: noScopes,
    },
  }
}

/** Rows of the library. */
type MediaTable = 'files' | 'upload_folders'

/** Ids in one statement. */
const idsAtOnce = 500

/** Those of some files or folders that are there and for which the administrator has a right. */
export async function allowedIds(
  database: RowReader,
  administrator: Administrator,
  action: MediaAction,
  table: MediaTable,
  ids: readonly number[],
): Promise<ReadonlySet<number>> {
  const conditions = conditionsOf(administrator, action)
  const found = new Set<number>()
  if (conditions === 'nothing') return found
  const held = conditions === null ? sql`1 = 1` : heldBy(conditions, holderOf(administrator), sql`created_by_id`)
  for (let from = 0; from < ids.length; from += idsAtOnce) {
    const some = sql.join(ids.slice(from, from + idsAtOnce))
    const rows = await database.rows<{ id: number }>(sql`select id from ${sql.table(table)} where id in (${some}) and ${held}`)
    for (const { id } of rows) found.add(id)
  }
  return found
}

/**
 * Checks that an administrator may see and change files, or change folders.
 * @throws ApiError 404 for a file that is not there or not to be seen, 403 for what may not be changed
 */
export async function checkChangeable(
  database: RowReader,
  administrator: Administrator,
  table: MediaTable,
  ids: readonly number[],
): Promise<void> {
  if (table === 'files' && !(await mayAll(database, administrator, 'read', table, ids))) throw notFound('File not found')
  if (!(await mayAll(database, administrator, 'update', table, ids))) throw forbidden(mediaActions.update)
}

/**
 * Checks that an administrator may see and change what lies in folders. The error says only that something may not be changed.
 * @throws ApiError 403
 */
export async function checkContent(database: RowReader, administrator: Administrator, files: readonly number[]): Promise<void> {
  for (const action of ['read', 'update'] as const)
    if (!(await mayAll(database, administrator, action, 'files', files))) throw forbidden(mediaActions.update)
}

async function mayAll(
  database: RowReader,
  administrator: Administrator,
  action: MediaAction,
  table: MediaTable,
  ids: readonly number[],
): Promise<boolean> {
  const allowed = await allowedIds(database, administrator, action, table, ids)
  return ids.every((id) => allowed.has(id))
}
