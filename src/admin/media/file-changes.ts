// Changes of files by administrators: each is one transaction with its rights, its events and its entry in the log.

import type { FileInfo } from '../../content/media/file-info.js'
import { type FolderPlace, folderOfFile, markFiles, moveFiles, readFolder } from '../../content/media/folders.js'
import type { CropBox } from '../../content/media/images/protocol.js'
import type { FileAuthor, LibraryScope, NamedRow } from '../../content/media/library.js'
import type { Received } from '../../content/media/receive.js'
import { readFile, updateInfo } from '../../content/media/rows.js'
import type { Transaction } from '../../database/database.js'
import { mistakenInput, notFound } from '../../foundation/errors/errors.js'
import { type AdministratorAct, doAct, noteActivities } from '../activity.js'
import { type MediaAccess, watchedWriter } from './media-access.js'
import { checkChangeable, checkMediaRight } from './media-rights.js'

/** The folder with this id, which `field` names; null: the root. @throws ApiError 400 where there is none */
export async function folderOrRoot(transaction: Transaction, id: number | null, field: string): Promise<FolderPlace | null> {
  const folder = id === null ? null : await readFolder(transaction, id)
  if (id !== null && folder === null) throw mistakenInput([{ path: [field], message: 'There is no such folder' }])
  return folder
}

/** Notes all acts of a change in its transaction. */
export const noteAll = (
  { administration, actor }: MediaAccess,
  transaction: Transaction,
  acts: readonly AdministratorAct[],
): Promise<void> =>
  noteActivities(transaction, actor, acts, { now: administration.now(), most: administration.config.limits.activityEntries })

/** The library, changed by the administrator. */
export const scopeOf = ({ model, watch, administrator }: MediaAccess, author: Omit<FileAuthor, 'id'>): LibraryScope => ({
  model,
  watch,
  author: { id: administrator.id, ...author },
})

/** Stores files in a folder, null: the root, and returns their ids in the same order. @throws ApiError 403, 400 */
export function addFiles(
  access: MediaAccess,
  files: readonly Received[],
  infos: readonly FileInfo[],
  folder: number | null,
): Promise<readonly number[]> {
  checkMediaRight(access.administrator, 'create')
  const scope = scopeOf(access, {
    before: (transaction) => folderOrRoot(transaction, folder, 'folder'),
    after: (transaction, stored) => noteAll(access, transaction, actsOn('create', stored)),
  })
  return access.library.add(files, infos, null, scope)
}

/** An act on each of some files. */
export const actsOn = (action: string, files: readonly NamedRow[], fields?: readonly string[]): readonly AdministratorAct[] =>
  files.map(({ id, name }) => ({ action, subject: 'file', id: String(id), name, ...(fields === undefined ? {} : { fields }) }))

/** What is to be said about a file; null clears it. */
export interface ChangedFile {
  readonly name?: string | undefined
  readonly alternativeText?: string | null | undefined
  readonly caption?: string | null | undefined
  readonly focalPoint?: { readonly x: number; readonly y: number } | null | undefined
  /** Null: the root. */
  readonly folder?: number | null | undefined
}

/** Changes what is said about a file, and its folder; where nothing is said, nothing. @throws ApiError 404, 403, 400 */
export function changeFile(access: MediaAccess, id: number, { folder, ...info }: ChangedFile): Promise<void> {
  const { administration, administrator, actor, watch } = access
  return doAct({ ...administration, writer: watchedWriter(access) }, actor, async (transaction, now) => {
    await checkChangeable(transaction, administrator, 'files', [id])
    const former = await readFile(transaction, id)
    if (former === null) throw notFound('File not found')
    const given = Object.fromEntries(Object.entries(info).filter(([, value]) => value !== undefined))
    const fields = [...Object.keys(given), ...(folder === undefined ? [] : ['folder'])]
    if (fields.length === 0) return [null, undefined]
    await updateInfo(transaction, id, { ...former, ...given }, now)
    if (folder !== undefined) await moveFiles(transaction, access.model, [id], await folderOrRoot(transaction, folder, 'folder'))
    await markFiles(transaction, [id], administrator.id, now)
    await watch?.happened(transaction, 'media.update', id)
    return [{ action: 'update', subject: 'file', id: String(id), name: former.name, fields }, undefined]
  })
}

/** Gives a file other content. @throws ApiError 404, 403, 400 */
export async function replaceFile(access: MediaAccess, id: number, file: Received, info: FileInfo): Promise<void> {
  const { administration, administrator, library } = access
  const scope = scopeOf(access, {
    before: async (transaction) => {
      await checkChangeable(transaction, administrator, 'files', [id])
      return null
    },
    after: async (transaction, files) => {
      await markFiles(transaction, [id], administrator.id, administration.now())
      await noteAll(access, transaction, actsOn('replace', files))
    },
  })
  await library.replace(id, file, info, scope)
}

/** Deletes files, all or none. @throws ApiError 404, 403 */
export async function deleteFiles(access: MediaAccess, ids: readonly number[]): Promise<void> {
  const { administration, administrator, library } = access
  // The library tells files that are not there from others, so those that may not be seen are refused before it is asked.
  await checkChangeable(administration.database, administrator, 'files', ids)
  const scope = scopeOf(access, {
    before: async (transaction) => {
      await checkChangeable(transaction, administrator, 'files', ids)
      return null
    },
    after: (transaction, files) => noteAll(access, transaction, actsOn('delete', files)),
  })
  await library.removeAll(ids, scope)
}

/** Cuts a part out of a picture: as a file beside it in its folder, or in its place; returns the id of the file with the part. @throws ApiError 404, 403, 400 */
export async function cropFile(access: MediaAccess, id: number, part: CropBox, place: 'beside' | 'instead'): Promise<number> {
  const { administration, administrator, library } = access
  const isNew = place === 'beside'
  if (isNew) checkMediaRight(administrator, 'create')
  const scope = scopeOf(access, {
    before: async (transaction) => {
      if (isNew) return folderOfFile(transaction, id)
      await checkChangeable(transaction, administrator, 'files', [id])
      return null
    },
    after: async (transaction, files) => {
      if (!isNew) await markFiles(transaction, [id], administrator.id, administration.now())
      await noteAll(access, transaction, actsOn(isNew ? 'create' : 'replace', files))
    },
  })
  return library.crop(id, part, place, scope)
}
