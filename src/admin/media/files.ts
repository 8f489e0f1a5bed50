// Files for administrators: lists, totals, and changes. Each change is one transaction with its rights, events and log entries.

import { fileConstants } from '../../content/documents/read/service-reads.js'
import type { FileInfo } from '../../content/media/file-info.js'
import { type FolderPlace, folderOfFile, markFiles, moveFiles, readFolder } from '../../content/media/folders.js'
import type { CropBox } from '../../content/media/images/protocol.js'
import type { FileAuthor, LibraryScope, NamedRow } from '../../content/media/library.js'
import type { Received } from '../../content/media/receive.js'
import { readFile, updateInfo } from '../../content/media/rows.js'
import type { Transaction } from '../../database/database.js'
import { invalidAt, notFound } from '../../foundation/errors/errors.js'
import { fileType } from '../../model/schema/link.js'
import type { Parameters } from '../../query/request.js'
import { type AdministratorAction, doAction, logActivities } from '../activity.js'
import { findRows, type VersionData } from '../content/content-access.js'
import { type BoundedTotal, countRows, type DocumentPage, readPage } from '../content/document-list.js'
import {
  allowedIds,
  checkChangeable,
  checkMediaRight,
  type MediaAccess,
  type MediaAction,
  mediaGrants,
  watchedWriter,
} from './media-access.js'

export const fileKinds = ['image', 'video', 'audio', 'file'] as const

/** Sort keys of a list of files. */
export const fileSorts = ['name', 'createdAt', 'updatedAt', 'size'].flatMap((name) => [`${name}:asc`, `${name}:desc`] as const)

/** A filter on files. */
interface FileQuery {
  /** `root` or a row id: only files directly in this folder. */
  readonly folder?: string | undefined
  /** A part of the name, the alternative text or the caption. */
  readonly q?: string | undefined
  readonly kind?: (typeof fileKinds)[number] | undefined
  /** Such as `image/png`. */
  readonly mime?: string | undefined
  /** Only images without alternative text. */
  readonly lacksText?: true | undefined
}

/** A page of a list. */
interface FilePage {
  readonly sort: string
  readonly limit: number
  readonly after?: string | undefined
  readonly before?: string | undefined
}

const mediaPrefixes = ['image/', 'video/', 'audio/']

function toFilters({ folder, q, kind, mime, lacksText }: FileQuery): Parameters {
  const texts = ['name', 'alternativeText', 'caption']
  const conditions = [
    ...(folder === undefined ? [] : [{ folder: { id: folder === 'root' ? { $null: true } : { $eq: Number(folder) } } }]),
    ...(q === undefined || q === '' ? [] : [{ $or: texts.map((name) => ({ [name]: { $containsi: q } })) }]),
    ...(kind === undefined
      ? []
      : kind === 'file'
        ? mediaPrefixes.map((start) => ({ mime: { $not: { $startsWith: start } } }))
        : [{ mime: { $startsWith: `${kind}/` } }]),
    ...(mime === undefined ? [] : [{ mime: { $eq: mime } }]),
    ...(lacksText
      ? [{ mime: { $startsWith: 'image/' } }, { $or: [{ alternativeText: { $null: true } }, { alternativeText: { $eq: '' } }] }]
      : []),
  ]
  return conditions.length === 0 ? {} : { $and: conditions }
}

const selection = {
  fields: [
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
  ].concat(...['previewUrl', 'provider', 'createdAt', 'updatedAt']),
  populate: {
    folder: { fields: ['name', 'path'] },
    createdBy: { fields: ['firstname', 'lastname', 'username'] },
    updatedBy: { fields: ['firstname', 'lastname', 'username'] },
  },
}

const toFileType = ({ model }: MediaAccess) => model.types.get(fileType)!
const toReads = (access: MediaAccess) => ({ documents: access.documents, grants: mediaGrants(access.administrator) })

/** Reads a page of the files that the administrator may see. @throws ApiError 403, 400 */
export function listFiles(access: MediaAccess, query: FileQuery, { sort, limit, after, before }: FilePage): Promise<DocumentPage> {
  const constants = fileConstants(access.signsAddresses)
  const page = { limit, after, before }
  return readPage(toReads(access), toFileType(access), { rows: { filters: toFilters(query) }, sort, ...selection, constants }, page)
}

/** Counts the files of a list, up to 10,000. @throws ApiError 403, 400 */
export const countFiles = (access: MediaAccess, query: FileQuery): Promise<BoundedTotal> =>
  countRows(toReads(access), toFileType(access), { filters: toFilters(query) })

/** A file with permitted actions. */
interface FileView extends VersionData {
  readonly may: readonly MediaAction[]
}

/** Reads visible files by their row ids. @throws ApiError 403 */
export function readFileViews(access: MediaAccess, ids: readonly number[]): Promise<readonly VersionData[]> {
  const parameters = { filters: { id: { $in: ids } }, sort: 'id', ...selection, limit: ids.length }
  return findRows(toReads(access), toFileType(access), parameters, { constants: fileConstants(access.signsAddresses) })
}

/** Reads a file. @throws ApiError 403; 404 where it does not exist for the administrator */
export async function readFileView(access: MediaAccess, id: number): Promise<FileView> {
  const [file] = await readFileViews(access, [id])
  if (file === undefined) throw notFound('File not found')
  const may: MediaAction[] = []
  for (const action of ['update', 'download', 'copyLink'] as const) {
    const { administration, administrator } = access
    if ((await allowedIds(administration.database, administrator, action, 'files', [id])).has(id)) may.push(action)
  }
  return { ...file, may }
}

/** The folder with this id; null: the root. `field` is the path of errors. @throws ApiError 400 where there is none */
export async function folderOrRoot(transaction: Transaction, id: number | null, field: string): Promise<FolderPlace | null> {
  const folder = id === null ? null : await readFolder(transaction, id)
  if (id !== null && folder === null) throw invalidAt([field], 'There is no such folder', 'notFound')
  return folder
}

/** Logs all actions of a change in its transaction. */
export const logAll = (
  { administration, actor }: MediaAccess,
  transaction: Transaction,
  acts: readonly AdministratorAction[],
): Promise<void> => logActivities(administration, transaction, actor, acts)

/** The scope of a change of the library by the administrator. */
export const toScope = ({ model, watch, administrator }: MediaAccess, author: Omit<FileAuthor, 'id'>): LibraryScope => ({
  model,
  watch,
  author: { id: administrator.id, ...author },
})

/** Stores files in a folder (null: the root), and returns their ids in the same order. @throws ApiError 403, 400 */
export function addFiles(
  access: MediaAccess,
  files: readonly Received[],
  infos: readonly FileInfo[],
  folder: number | null,
): Promise<readonly number[]> {
  checkMediaRight(access.administrator, 'create')
  const scope = toScope(access, {
    before: (transaction) => folderOrRoot(transaction, folder, 'folder'),
    after: (transaction, stored) => logAll(access, transaction, fileActions('create', stored)),
  })
  return access.library.add(files, infos, null, scope)
}

export const fileActions = (action: string, files: readonly NamedRow[], fields?: readonly string[]): readonly AdministratorAction[] =>
  files.map(({ id, name }) => ({ action, subject: 'file', id: String(id), name, ...(fields === undefined ? {} : { fields }) }))

/** New values of a file; null clears a value. */
interface FileChanges {
  readonly name?: string | undefined
  readonly alternativeText?: string | null | undefined
  readonly caption?: string | null | undefined
  readonly focalPoint?: { readonly x: number; readonly y: number } | null | undefined
  /** Null: the root. */
  readonly folder?: number | null | undefined
}

/** Changes the details of a file and its folder. @throws ApiError 404, 403, 400 */
export function changeFile(access: MediaAccess, id: number, { folder, ...info }: FileChanges): Promise<void> {
  const { administration, administrator, actor, watch } = access
  return doAction({ ...administration, writer: watchedWriter(access) }, actor, async (transaction, now) => {
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

/** Replaces the content of a file. @throws ApiError 404, 403, 400 */
export async function replaceFile(access: MediaAccess, id: number, file: Received, info: FileInfo): Promise<void> {
  const { administration, administrator, library } = access
  const scope = toScope(access, {
    before: async (transaction) => {
      await checkChangeable(transaction, administrator, 'files', [id])
      return null
    },
    after: async (transaction, files) => {
      await markFiles(transaction, [id], administrator.id, administration.now())
      await logAll(access, transaction, fileActions('replace', files))
    },
  })
  await library.replace(id, file, info, scope)
}

/** Deletes files, all or none. @throws ApiError 404, 403 */
export async function deleteFiles(access: MediaAccess, ids: readonly number[]): Promise<void> {
  const { administration, administrator, library } = access
  // Checked first: the library would reveal whether an invisible file exists.
  await checkChangeable(administration.database, administrator, 'files', ids)
  const scope = toScope(access, {
    before: async (transaction) => {
      await checkChangeable(transaction, administrator, 'files', ids)
      return null
    },
    after: (transaction, files) => logAll(access, transaction, fileActions('delete', files)),
  })
  await library.removeAll(ids, scope)
}

/** Crops an image to a new file in the same folder, or in place. Returns the id of the cropped file. @throws ApiError 404, 403, 400 */
export async function cropFile(access: MediaAccess, id: number, part: CropBox, place: 'beside' | 'instead'): Promise<number> {
  const { administration, administrator, library } = access
  const isNew = place === 'beside'
  if (isNew) checkMediaRight(administrator, 'create')
  const scope = toScope(access, {
    before: async (transaction) => {
      if (isNew) return folderOfFile(transaction, id)
      await checkChangeable(transaction, administrator, 'files', [id])
      return null
    },
    after: async (transaction, files) => {
      if (!isNew) await markFiles(transaction, [id], administrator.id, administration.now())
      await logAll(access, transaction, fileActions(isNew ? 'create' : 'replace', files))
    },
  })
  return library.crop(id, part, place, scope)
}
