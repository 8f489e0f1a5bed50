// Files as administrators find them: lists by folder, kind and text, one file, and totals.
import type { Find } from '../../content/documents/read/find.js'
import { fileConstants } from '../../content/documents/read/service-reads.js'
import { notFound } from '../../foundation/errors/errors.js'
import { fileType } from '../../model/schema/link.js'
import type { Parameters } from '../../query/rest/parameters.js'
import { type BoundedTotal, countRows, type DocumentPage, pageOfRows } from '../content/document-list.js'
import type { VersionData } from '../content/document-view.js'
import type { MediaAccess } from './media-access.js'
import { allowedIds, type MediaAction, mediaGrants } from './media-rights.js'

/** Kinds of files. */
export const fileKinds = ['image', 'video', 'audio', 'file'] as const

/** By what a list of files may be sorted, and in which direction. */
export const fileSorts = ['name', 'createdAt', 'updatedAt', 'size'].flatMap((name) => [`${name}:asc`, `${name}:desc`] as const)

/** Which files. */
export interface FileQuery {
  /** `root`, or a row id: only those that lie directly in it. */
  readonly folder?: string | undefined
  /** A part of the name, the alternative text or the caption. */
  readonly q?: string | undefined
  readonly kind?: (typeof fileKinds)[number] | undefined
  /** Such as `image/png`. */
  readonly mime?: string | undefined
  /** Pictures without an alternative text. */
  readonly lacksText?: true | undefined
}

/** A page of a list. */
export interface FilePage {
  readonly sort: string
  readonly limit: number
  readonly after?: string | undefined
  readonly before?: string | undefined
}

const media = ['image/', 'video/', 'audio/']

function filtersOf({ folder, q, kind, mime, lacksText }: FileQuery): Parameters {
  const texts = ['name', 'alternativeText', 'caption']
  const conditions = [
    ...(folder === undefined ? [] : [{ folder: { id: folder === 'root' ? { $null: true } : { $eq: Number(folder) } } }]),
    ...(q === undefined || q === '' ? [] : [{ $or: texts.map((name) => ({ [name]: { $containsi: q } })) }]),
    ...(kind === undefined
      ? []
      : kind === 'file'
        ? media.map((start) => ({ mime: { $not: { $startsWith: start } } }))
        : [{ mime: { $startsWith: `${kind}/` } }]),
    ...(mime === undefined ? [] : [{ mime: { $eq: mime } }]),
    ...(lacksText
      ? [{ mime: { $startsWith: 'image/' } }, { $or: [{ alternativeText: { $null: true } }, { alternativeText: { $eq: '' } }] }]
      : []),
  ]
  return conditions.length === 0 ? {} : { $and: conditions }
}

const shown = {
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

const typeOf = ({ model }: MediaAccess) => model.types.get(fileType)!
const readsFor = (access: MediaAccess) => ({ documents: access.documents, grants: mediaGrants(access.administrator) })

/** Reads a page of the files that the administrator may see. @throws ApiError 403, 400 */
export function listFiles(access: MediaAccess, query: FileQuery, { sort, limit, after, before }: FilePage): Promise<DocumentPage> {
  const constants = fileConstants(access.signsAddresses)
  const page = { limit, after, before }
  return pageOfRows(readsFor(access), typeOf(access), { rows: { filters: filtersOf(query) }, sort, ...shown, constants }, page)
}

/** Counts the files of a list, up to 10,000. @throws ApiError 403, 400 */
export const countFiles = (access: MediaAccess, query: FileQuery): Promise<BoundedTotal> =>
  countRows(readsFor(access), typeOf(access), { filters: filtersOf(query) })

/** A file, and what the administrator may do with it. */
export interface ShownFile extends VersionData {
  readonly may: readonly MediaAction[]
}

/** Reads files by their row ids, those that the administrator may see. @throws ApiError 403 */
export async function filesWithIds(access: MediaAccess, ids: readonly number[]): Promise<readonly VersionData[]> {
  const grants = mediaGrants(access.administrator)
  const constants: Find['constants'] = fileConstants(access.signsAddresses)
  const parameters = { filters: { id: { $in: ids } }, sort: 'id', ...shown, limit: ids.length }
  const wanted = { type: typeOf(access), mode: 'many', action: `${fileType}.find`, envelope: 'bare', paged: false } as const
  return (await access.documents.findData(grants, { ...wanted, parameters, constants: constants! })) as readonly VersionData[]
}

/** Reads a file. @throws ApiError 403; 404 where it does not exist for the administrator */
export async function fileWithId(access: MediaAccess, id: number): Promise<ShownFile> {
  const [file] = await filesWithIds(access, [id])
  if (file === undefined) throw notFound('File not found')
  const may: MediaAction[] = []
  for (const action of ['update', 'download', 'copyLink'] as const) {
    const { administration, administrator } = access
    if ((await allowedIds(administration.database, administrator, action, 'files', [id])).has(id)) may.push(action)
  }
  return { ...file, may }
}
