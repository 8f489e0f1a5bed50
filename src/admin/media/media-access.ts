// The media library for one administrator, and the rights by Strapi's actions on files.

import { sql } from 'kysely'
import type { DocumentReads } from '../../content/documents/read/find.js'
import type { FileWatch, Library } from '../../content/media/library.js'
import type { RowReader, Transaction, WriteDatabase } from '../../database/database.js'
import { forbidden, notFound } from '../../foundation/errors/errors.js'
import { type AttributeGrants, noScopes } from '../../foundation/grants.js'
import { fileType } from '../../model/schema/link.js'
import type { Model } from '../../model/schema/types.js'
import type { ActingAdministrator } from '../activity.js'
import type { Administration } from '../context.js'
import type { Administrator } from '../identity/identify.js'
import { type AdministratorGrants, fileConditions, readsFiles, visibleAdministratorFields } from '../permissions/grants.js'
import { conditionFilters, creatorCondition, type RightsHolder, unionOfConditions } from '../permissions/permissions.js'

export interface MediaAccess {
  readonly administration: Administration
  readonly administrator: Administrator
  readonly actor: ActingAdministrator
  readonly documents: DocumentReads
  readonly library: Library
  readonly model: Model
  /** Null: there are no consumers of events about files. */
  readonly watch: FileWatch | null
  /** True if responses state for each file if its URL is signed. */
  readonly signsAddresses: boolean
}

/** The writer of the administration, which notifies consumers of events about files after a commit. */
export function watchedWriter({ administration, watch }: MediaAccess): WriteDatabase {
  const { writer } = administration
  return {
    ...writer,
    transaction: async <Result>(work: (transaction: Transaction) => Promise<Result>) => {
      const result = await writer.transaction(work)
      watch?.committed()
      return result
    },
  }
}

const folderType = 'plugin::upload.folder'

/** Strapi's actions on files, which also apply to folders. */
export const mediaActions = {
  read: readsFiles,
  create: 'plugin::upload.assets.create',
  update: 'plugin::upload.assets.update',
  download: 'plugin::upload.assets.download',
  copyLink: 'plugin::upload.assets.copy-link',
} as const

/** The name of an action on files. */
export type MediaAction = keyof typeof mediaActions

/** Conditions, one of which must be met; null: none. */
type RequiredConditions = readonly string[] | null

const toHolder = ({ id, roles, isSuperAdmin }: Administrator): RightsHolder => ({ id, roles: roles.map((role) => role.id), isSuperAdmin })

/** The conditions of an action; `nothing`: no role allows it. */
function actionConditions({ isSuperAdmin, permissions }: Administrator, action: MediaAction): RequiredConditions | 'nothing' {
  if (isSuperAdmin) return null
  return unionOfConditions(fileConditions(permissions, mediaActions[action]))
}

/** True if a role allows an action of Strapi, by its full name, on some files. */
export function hasMediaRight(administrator: Administrator, name: string): boolean {
  const action = (Object.keys(mediaActions) as MediaAction[]).find((one) => mediaActions[one] === name)
  return action !== undefined && actionConditions(administrator, action) !== 'nothing'
}

/** @throws ApiError 403 if no role allows the action on any file */
export function checkMediaRight(administrator: Administrator, action: MediaAction): void {
  if (actionConditions(administrator, action) === 'nothing') throw forbidden(mediaActions[action])
}

/** All folders are visible to administrators who may read files, and only they may change folders. @throws ApiError 403 */
export const checkSeesFolders = (administrator: Administrator): void => checkMediaRight(administrator, 'read')

/** Readable attributes of files; documents that use a file have a resource. */
const fileFields: AttributeGrants = new Map(
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
const folderFields: AttributeGrants = new Map(['id', 'documentId', 'name', 'path'].map((name) => [name, 'all' as const]))

/** The grants of an administrator for files. @throws ApiError 403 without any right */
export function mediaGrants(administrator: Administrator, action: MediaAction = 'read'): AdministratorGrants {
  const conditions = actionConditions(administrator, action)
  if (conditions === 'nothing') throw forbidden(mediaActions[action])
  const scope = conditionFilters(conditions, toHolder(administrator)) as Exclude<ReturnType<typeof conditionFilters>, 'nothing'>
  const actions = new Set([`${fileType}.find`, `${folderType}.find`])
  return {
    key: `files of an administrator ${JSON.stringify(scope)}`,
    may: (name) => actions.has(name),
    scopes: scope === null ? noScopes : new Map([[fileType, scope]]),
    content: {
      readable: new Map([
        [fileType, fileFields],
        [folderType, folderFields],
        ['admin::user', visibleAdministratorFields],
      ]),
      toWrite: () => [],
      linkableFiles: noScopes,
    },
  }
}

type MediaTable = 'files' | 'upload_folders'

const idsPerStatement = 500

/** The ids of existing files or folders that the administrator has the right to. */
export async function allowedIds(
  database: RowReader,
  administrator: Administrator,
  action: MediaAction,
  table: MediaTable,
  ids: readonly number[],
): Promise<ReadonlySet<number>> {
  const conditions = actionConditions(administrator, action)
  const found = new Set<number>()
  if (conditions === 'nothing') return found
  const held = conditions === null ? sql`1 = 1` : creatorCondition(conditions, toHolder(administrator), sql`created_by_id`)
  for (let from = 0; from < ids.length; from += idsPerStatement) {
    const some = sql.join(ids.slice(from, from + idsPerStatement))
    const rows = await database.rows<{ id: number }>(sql`select id from ${sql.table(table)} where id in (${some}) and ${held}`)
    for (const { id } of rows) found.add(id)
  }
  return found
}

/**
 * Checks that an administrator may see and change files, or change folders.
 * @throws ApiError 404 for a missing or invisible file, 403 for a read-only one
 */
export async function checkChangeable(
  database: RowReader,
  administrator: Administrator,
  table: MediaTable,
  ids: readonly number[],
): Promise<void> {
  if (table === 'files' && !(await mayActOnAll(database, administrator, 'read', table, ids))) throw notFound('File not found')
  if (!(await mayActOnAll(database, administrator, 'update', table, ids))) throw forbidden(mediaActions.update)
}

/** Checks that an administrator may see and change the content of folders. The error does not name a file. @throws ApiError 403 */
export async function checkContent(database: RowReader, administrator: Administrator, files: readonly number[]): Promise<void> {
  for (const action of ['read', 'update'] as const)
    if (!(await mayActOnAll(database, administrator, action, 'files', files))) throw forbidden(mediaActions.update)
}

async function mayActOnAll(
  database: RowReader,
  administrator: Administrator,
  action: MediaAction,
  table: MediaTable,
  ids: readonly number[],
): Promise<boolean> {
  const allowed = await allowedIds(database, administrator, action, table, ids)
  return ids.every((id) => allowed.has(id))
}
