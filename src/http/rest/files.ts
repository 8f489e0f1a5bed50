// The routes of the media library: /api/upload and /api/upload/files. Bodies have no envelope; ids are numeric.
import type { Find } from '../../content/documents/read/find.js'
import { fileConstants, readStoredFile } from '../../content/documents/read/service-reads.js'
import { readFileInfos } from '../../content/media/file-info.js'
import type { LibraryScope } from '../../content/media/library.js'
import type { MediaLink } from '../../content/media/rows.js'
import { forbidden, notFound, validationError } from '../../foundation/errors/errors.js'
import { fullAccess } from '../../foundation/grants.js'
import { fileType } from '../../model/schema/link.js'
import type { Schema } from '../../model/schema/types.js'
import { nestedFields } from '../body.js'
import { isMultipart, type MultipartBody, readMultipart } from '../multipart.js'
import { getTurnName, ok, type Reply, type RequestContext, type Route } from '../request-context.js'
import { okRead } from '../respond.js'

function findFiles(
  context: RequestContext,
  action: string,
  wanted: Pick<Find, 'mode' | 'envelope' | 'paged' | 'identity' | 'appliesFilters'>,
) {
  const { documents, caller, query, isGone, since } = context
  const type = documents.context.model.types.get(fileType)!
  const constants = fileConstants(context.signsAddresses)
  return documents.find(caller.grants, { type, action: `plugin::upload.content-api.${action}`, query, constants, isGone, since, ...wanted })
}

/** Reads a file for the response to a write, independent of the caller's read permissions. */
const readFile = ({ documents, signsAddresses }: RequestContext, id: number): Promise<unknown> =>
  readStoredFile(documents, id, signsAddresses)

/** The routes of the media library. */
export const fileRoutes: readonly Route[] = [
  {
    method: 'GET',
    path: '/upload/files',
    action: 'plugin::upload.content-api.find',
    handle: async (context) => okRead(context, (await findFiles(context, 'find', { mode: 'many', paged: false, envelope: 'bare' }))!),
  },
  {
    method: 'GET',
    path: '/upload/files/page',
    action: 'plugin::upload.content-api.findPage',
    handle: async (context) => okRead(context, (await findFiles(context, 'findPage', { mode: 'many', envelope: 'data' }))!),
  },
  {
    method: 'GET',
    path: '/upload/files/:id',
    action: 'plugin::upload.content-api.findOne',
    handle: async (context) => {
      const identity = { attribute: 'id' as const, value: rowId(context.params.id!) }
      const file = await findFiles(context, 'findOne', { mode: 'first', identity, appliesFilters: false, envelope: 'bare' })
      if (file === null) throw notFound('file.notFound')
      return okRead(context, file)
    },
  },
  {
    method: 'DELETE',
    path: '/upload/files/:id',
    action: 'plugin::upload.content-api.destroy',
    handle: async (context) => {
      const id = rowId(context.params.id!)
      const file = await readFile(context, id)
      if (file === null) throw notFound('file.notFound')
      await context.library.remove(id, context.installation)
      return ok(file)
    },
  },
  { method: 'POST', path: '/upload', action: 'plugin::upload.content-api.upload', handle: upload },
]

/** Parses a row id in a path; -1 for anything but a number, which matches no row. */
export function rowId(text: string): number {
  return /^\d{1,15}$/.test(text) ? Number(text) : -1
}

const toLibraryScope = (context: RequestContext): LibraryScope => {
  const { model, watch } = context.installation
  return { model, watch, caller: getTurnName(context) }
}

/** Stores new files, or with `?id=` changes the information or content of one. */
async function upload(context: RequestContext): Promise<Reply> {
  const { library, request } = context
  const id = new URLSearchParams(context.query).get('id') || null
  const form = isMultipart(request) ? await readMultipart(request, library, context.beginBody) : await readBodyWithoutFiles(context)
  try {
    const { files, fields } = form
    const isEmpty = files.length === 0 || (files.length === 1 && files[0]!.bytes === 0)
    if (id !== null) return await change(context, rowId(id), isEmpty ? { fields, files: [] } : form)
    if (isEmpty) throw validationError('Files are empty').about({ kind: 'files', fields: form.otherFiles })
    const infos = readFileInfos(parseFileInfo(fields), files.length)
    const ids = await library.add(files, infos, await parseLink(context, fields), toLibraryScope(context))
    return { status: 201, value: await Promise.all(ids.map((one) => readFile(context, one))), changed: ids }
  } finally {
    await library.discard(form.files)
  }
}

async function change(context: RequestContext, id: number, { files, fields }: Omit<MultipartBody, 'otherFiles'>): Promise<Reply> {
  if (files.length > 1) throw validationError('Cannot replace a file with multiple ones')
  const [file] = files
  const [info] = readFileInfos(parseFileInfo(fields), 1)
  if (file === undefined) await context.library.change(id, info!, toLibraryScope(context))
  else await context.library.replace(id, file, info!, toLibraryScope(context))
  return { ...ok(await readFile(context, id)), changed: [id] }
}

/** The information about files: the field `fileInfo`, or fields such as `fileInfo[name]` and `fileInfo[0][name]`. */
function parseFileInfo(fields: MultipartBody['fields']): unknown {
  const named = [...fields].filter(([name]) => name === 'fileInfo' || name.startsWith('fileInfo['))
  if (named.every(([name]) => name === 'fileInfo')) return fields.get('fileInfo')
  return nestedFields(named.flatMap(([name, sent]) => [sent].flat().map((text) => [name, text] as const))).fileInfo
}

/** Reads a body that is not a form: it has no files, but may have `fileInfo`. */
async function readBodyWithoutFiles(context: RequestContext): Promise<MultipartBody> {
  const body = (await context.body()) as { readonly fileInfo?: unknown } | undefined
  const info = body?.fileInfo
  return {
    fields: new Map(info === undefined ? [] : [['fileInfo', typeof info === 'string' ? info : JSON.stringify(info)]]),
    files: [],
    otherFiles: [],
  }
}

/**
 * Returns the media attribute that the files are linked to, or null.
 * @throws ApiError 403 if the caller may not write it; 400 if there is no such attribute.
 */
async function parseLink(context: RequestContext, fields: MultipartBody['fields']): Promise<MediaLink | null> {
  const { documents, caller } = context
  const ref = fields.get('ref')
  const refId = fields.get('refId')
  const field = fields.get('field')
  if (typeof ref !== 'string' || typeof refId !== 'string' || typeof field !== 'string') return null
  // A form without a link sends empty inputs.
  if (ref === '' || refId === '' || field === '') return null
  if (!caller.grants.may(`${ref}.update`)) throw forbidden(`${ref}.update`)
  const { types, components } = documents.context.model
  const shape = types.get(ref) ?? components.get(ref)
  const attribute = shape?.attributes.get(field)
  if (shape === undefined || attribute?.kind !== 'media') throw validationError(`${ref} has no media attribute ${field}`)
  const id = /^\d+$/.test(refId) ? rowId(refId) : await rowOfDocument(context, shape, refId)
  await documents.checkUpload(caller.grants, context.asker, { shape, id, attribute: field })
  return { shape, id, attribute, everyVersion: true }
}

/** The row of a document in the locale of the query or the default one; -1, which matches no row, if the caller sees none. */
async function rowOfDocument({ documents, caller, query }: RequestContext, shape: Schema, documentId: string): Promise<number> {
  if (shape.kind === 'component') return -1
  const { key, scopes } = caller.grants
  const locale = new URLSearchParams(query).get('locale')
  const found = (await documents.findData(
    { ...fullAccess, key, scopes },
    {
      type: shape,
      action: `${shape.uid}.find`,
      mode: 'first',
      envelope: 'bare',
      paged: false,
      identity: { attribute: 'documentId', value: documentId },
      parameters: { status: 'draft', fields: ['id'], ...(locale === null ? {} : { locale }) },
    },
  )) as { readonly id: number } | null
  return found?.id ?? -1
}
