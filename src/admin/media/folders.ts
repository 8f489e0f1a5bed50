// Folders of the media library: created, renamed, moved and deleted, also many files and folders together.

import type { FolderRow } from '../../content/media/folders.js'
import {
  deleteFolders,
  fileIdsBelow,
  folderIdsBelow,
  foldersWithIds,
  hasFolderNamed,
  insertFolder,
  isWithin,
  markFiles,
  markFolder,
  moveFiles,
  moveFolder,
  readFolder,
  renameFolder,
} from '../../content/media/folders.js'
import { readFiles } from '../../content/media/rows.js'
import type { Transaction } from '../../database/database.js'
import { ApiError, invalidAt, notFound } from '../../foundation/errors/errors.js'
import { newDocumentId } from '../../model/schema/names.js'
import { type AdministratorAction, doAction } from '../activity.js'
import { fileActions, folderOrRoot, logAll, toScope } from './files.js'
import { checkChangeable, checkContent, checkMediaRight, checkSeesFolders, type MediaAccess, watchedWriter } from './media-access.js'

const tooDeep = (field: string): ApiError => invalidAt([field], 'The folder would be nested too deeply', 'tooMany')

/** Creates a folder and returns its id; `parent` null: in the root. @throws ApiError 403, 400 */
export function createFolder(
  access: MediaAccess,
  { name, parent }: { readonly name: string; readonly parent: number | null },
): Promise<number> {
  const { administration, administrator, actor } = access
  checkMediaRight(administrator, 'create')
  checkSeesFolders(administrator)
  return doAction(administration, actor, async (transaction, now) => {
    const place = await folderOrRoot(transaction, parent, 'parent')
    await checkFolderName(transaction, parent, name, null)
    const made = await insertFolder(
      transaction,
      access.model,
      { documentId: newDocumentId(), name, parent: place, createdBy: administrator.id },
      now,
    )
    if (made === null) throw tooDeep('parent')
    return [{ action: 'create', subject: 'folder', id: String(made.id), name }, made.id]
  })
}

async function checkFolderName(transaction: Transaction, parent: number | null, name: string, except: number | null): Promise<void> {
  if (await hasFolderNamed(transaction, parent, name, except)) throw invalidAt(['name'], 'A folder with this name already exists', 'unique')
}

async function readExisting(transaction: Transaction, id: number): Promise<FolderRow> {
  const folder = await readFolder(transaction, id)
  if (folder === null) throw notFound('Folder not found')
  return folder
}

/** New values of a folder; `parent` null: the root. */
interface FolderChanges {
  readonly name?: string | undefined
  readonly parent?: number | null | undefined
}

/** Renames or moves a folder with its content. @throws ApiError 404, 403, 400 */
export function changeFolder(access: MediaAccess, id: number, { name, parent }: FolderChanges): Promise<void> {
  const { administration, administrator, actor } = access
  checkSeesFolders(administrator)
  return doAction(administration, actor, async (transaction, now) => {
    const folder = await readExisting(transaction, id)
    await checkChangeable(transaction, administrator, 'upload_folders', [id])
    const fields = [...(name === undefined ? [] : ['name']), ...(parent === undefined ? [] : ['parent'])]
    if (fields.length === 0) return [null, undefined]
    const to = parent === undefined ? folder.parent : parent
    await checkFolderName(transaction, to, name ?? folder.name, id)
    if (name !== undefined) await renameFolder(transaction, id, name)
    if (to !== folder.parent) await moveInto(access, transaction, folder, to, 'parent')
    await markFolder(transaction, id, administrator.id, now)
    return [{ action: 'update', subject: 'folder', id: String(id), name: folder.name, fields }, undefined]
  })
}

/** `field`: the path of errors. @throws ApiError 400 for a folder inside of itself, or too deep */
async function moveInto(
  { model }: MediaAccess,
  transaction: Transaction,
  folder: FolderRow,
  to: number | null,
  field: string,
): Promise<void> {
  const place = await folderOrRoot(transaction, to, field)
  if (place !== null && isWithin(place, folder)) throw invalidAt([field], 'A folder cannot be moved into itself', 'conflict')
  if (!(await moveFolder(transaction, model, folder, place))) throw tooDeep(field)
}

interface MediaSelection {
  readonly files: readonly number[]
  readonly folders: readonly number[]
}

/** Moves files and folders to a folder (null: the root), all or none. @throws ApiError 404, 403, 400 */
export function moveMany(access: MediaAccess, { files, folders }: MediaSelection, to: number | null): Promise<void> {
  const { administration, administrator, watch } = access
  return watchedWriter(access).transaction(async (transaction) => {
    const now = administration.now()
    const named = await readFiles(transaction, files)
    if (named.length < files.length) throw notFound('File not found')
    await checkChangeable(transaction, administrator, 'files', files)
    checkSeesFolders(administrator)
    const moved: AdministratorAction[] = []
    for (const id of folders) moved.push(...(await moveFolderTo(access, transaction, id, to)))
    await moveFiles(transaction, access.model, files, await folderOrRoot(transaction, to, 'folder'))
    await markFiles(transaction, files, administrator.id, now)
    for (const id of files) await watch?.happened(transaction, 'media.update', id)
    await logAll(access, transaction, [...moved, ...fileActions('update', named, ['folder'])])
  })
}

/** Moves a folder. Resolves to the actions; none if it is there already. */
async function moveFolderTo(
  access: MediaAccess,
  transaction: Transaction,
  id: number,
  to: number | null,
): Promise<readonly AdministratorAction[]> {
  const { administration, administrator } = access
  const folder = await readExisting(transaction, id)
  await checkChangeable(transaction, administrator, 'upload_folders', [id])
  if (folder.parent === to) return []
  await checkFolderName(transaction, to, folder.name, id)
  await moveInto(access, transaction, folder, to, 'folder')
  await markFolder(transaction, id, administrator.id, administration.now())
  return [{ action: 'update', subject: 'folder', id: String(id), name: folder.name, fields: ['parent'] }]
}

/** A deletion starts again if files are added to its folders. */
const maxAttempts = 5
/** Files that are deleted in one request, the content of folders included. */
const maxDeletedFiles = 2_000

/**
 * Deletes files, and folders with their content, all or none. `withContent`: folders need not be empty.
 * @throws ApiError 404, 403; 400 for a folder that is not empty, and for too many files
 */
export async function deleteMany(access: MediaAccess, { files, folders }: MediaSelection, withContent: boolean): Promise<void> {
  for (let tries = 0; tries < maxAttempts; tries++) if (await tryToDelete(access, { files, folders }, withContent)) return
  throw new ApiError('ConflictError', 'Files were added to the folder during its deletion. Try again')
}

async function tryToDelete(access: MediaAccess, { files, folders }: MediaSelection, withContent: boolean): Promise<boolean> {
  const { administration, administrator, library } = access
  const { database } = administration
  // Checked first: the library would reveal whether an invisible file exists.
  await checkChangeable(database, administrator, 'files', files)
  checkSeesFolders(administrator)
  const contained = await fileIdsBelow(database, await foldersWithIds(database, folders), maxDeletedFiles + 1)
  const ids = [...new Set([...files, ...contained])]
  if (ids.length > maxDeletedFiles) {
    await checkContent(database, administrator, contained)
    throw new ApiError('ValidationError', `More than ${maxDeletedFiles} files would be deleted at once. Delete the folders in it first`)
  }
  let isOutdated = false
  const scope = toScope(access, {
    before: async (transaction) => {
      await checkChangeable(transaction, administrator, 'files', files)
      const all = await foldersToDelete(access, transaction, folders, withContent)
      const now = await fileIdsBelow(transaction, all, maxDeletedFiles + 1)
      const known = new Set(ids)
      isOutdated = now.some((id) => !known.has(id)) || now.length < contained.length
      if (isOutdated) throw new ApiError('ConflictError', 'Files have come or gone')
      await checkContent(transaction, administrator, contained)
      return null
    },
    after: async (transaction, deleted) => {
      const rows = await foldersWithIds(transaction, await folderIdsBelow(transaction, await foldersWithIds(transaction, folders)))
      await deleteFolders(
        transaction,
        rows.map(({ id }) => id),
      )
      const gone = rows.map(({ id, name }) => ({ action: 'delete', subject: 'folder', id: String(id), name }))
      await logAll(access, transaction, [...fileActions('delete', deleted), ...gone])
    },
  })
  try {
    await library.removeAll(ids, scope)
    return true
  } catch (error) {
    // A file of a folder was deleted or moved concurrently.
    if (isOutdated || (error instanceof ApiError && error.status === 404 && (await hasVanished(access, files, contained)))) return false
    throw error
  }
}

/** True if a file of a folder has disappeared, while all named files exist. */
async function hasVanished({ administration }: MediaAccess, files: readonly number[], contained: readonly number[]): Promise<boolean> {
  const there = new Set((await readFiles(administration.database, [...files, ...contained])).map(({ id }) => id))
  return files.every((id) => there.has(id)) && contained.some((id) => !there.has(id))
}

/** Reads the named folders and checks that they may be deleted with their content. @throws ApiError 404, 403, 400 */
async function foldersToDelete(
  { administrator }: MediaAccess,
  transaction: Transaction,
  ids: readonly number[],
  withContent: boolean,
): Promise<readonly FolderRow[]> {
  const folders = await foldersWithIds(transaction, ids)
  if (folders.length < new Set(ids).size) throw notFound('Folder not found')
  const below = await folderIdsBelow(transaction, folders)
  await checkChangeable(transaction, administrator, 'upload_folders', below)
  const isEmpty = below.length === folders.length && (await fileIdsBelow(transaction, folders, 1)).length === 0
  if (!isEmpty && !withContent) throw new ApiError('ApplicationError', 'The folder is not empty: set withContent to delete its content')
  return folders
}
