// The media library: /api/upload and /api/upload/files. Bare bodies, numeric ids.
import type { Find } from '../../documents/read/find.js'
import { forbidden, notFound, validationError } from '../../errors/errors.js'
import { fileType } from '../../model/link.js'
import { readFileInfos } from '../../uploads/file-info.js'
import type { Link } from '../../uploads/rows.js'
import { isMultipart, type MultipartBody, readMultipart } from '../multipart.js'
import type { Reply, RequestContext, Route } from '../request-context.js'
import { ok, okBytes } from '../request-context.js'

/** Files are shown with whether their address is signed. Where some are, whoever writes the answer says so of each. */
const constantsOf = ({ signsAddresses }: RequestContext) => (signsAddresses ? [] : [{ name: 'isUrlSigned', json: 'false' }])

function findFiles(context: RequestContext, action: string, wanted: Pick<Find, 'mode' | 'envelope' | 'paged' | 'identity' | 'narrowed'>) {
  const { documents, caller, query, isGone } = context
  const type = documents.context.model.types.get(fileType)!
  const constants = constantsOf(context)
  return documents.find(caller.grants, { type, action: `plugin::upload.content-api.${action}`, query, constants, isGone, ...wanted })
}

/** A file as its write answers it: whole, whatever else its writer may read. */
function fileOf(context: RequestContext, id: number): Promise<unknown> {
  const { documents } = context
  const constants = constantsOf(context)
  const type = documents.context.model.types.get(fileType)!
  const identity = { attribute: 'id' as const, value: id }
  return documents.findAsService({ type, mode: 'first', identity, narrowed: false, query: '', envelope: 'bare', constants })
}

export const fileRoutes: readonly Route[] = [
  {
    method: 'GET',
    path: '/upload/files',
    action: 'plugin::upload.content-api.find',
    handle: async (context) => okBytes((await findFiles(context, 'find', { mode: 'many', paged: false, envelope: 'bare' }))!),
  },
  {
    method: 'GET',
    path: '/upload/files/page',
    action: 'plugin::upload.content-api.findPage',
    handle: async (context) => okBytes((await findFiles(context, 'findPage', { mode: 'many', envelope: 'data' }))!),
  },
  {
    method: 'GET',
    path: '/upload/files/:id',
    action: 'plugin::upload.content-api.findOne',
    handle: async (context) => {
      const identity = { attribute: 'id' as const, value: rowId(context.params.id!) }
      const file = await findFiles(context, 'findOne', { mode: 'first', identity, narrowed: false, envelope: 'bare' })
      if (file === null) throw notFound('file.notFound')
      return okBytes(file)
    },
  },
  {
    method: 'DELETE',
    path: '/upload/files/:id',
    action: 'plugin::upload.content-api.destroy',
    handle: async (context) => {
      const id = rowId(context.params.id!)
      const file = await fileOf(context, id)
      if (file === null) throw notFound('file.notFound')
      await context.library.remove(id, context.installation)
      return ok(file)
    },
  },
  { method: 'POST', path: '/upload', action: 'plugin::upload.content-api.upload', handle: upload },
]

/** A row id of the path; what is no number names no row. */
export function rowId(text: string): number {
  return /^\d{1,15}$/.test(text) ? Number(text) : -1
}

/** New files, or with `?id=` a change of one: of what is said about it, or of its content too. */
async function upload(context: RequestContext): Promise<Reply> {
  const { library, request } = context
  const id = new URLSearchParams(context.query).get('id') || null
  const form = isMultipart(request) ? await readMultipart(request, library, context.coming) : await withoutFiles(context)
  try {
    const { files, fields } = form
    const none = files.length === 0 || (files.length === 1 && files[0]!.bytes === 0)
    if (id !== null) return await change(context, rowId(id), none ? { fields, files: [] } : form)
    if (none) throw validationError('Files are empty')
    const infos = readFileInfos(fields.get('fileInfo'), files.length)
    const ids = await library.add(files, infos, linkOf(context, fields), context.installation)
    return { status: 201, value: await Promise.all(ids.map((one) => fileOf(context, one))) }
  } finally {
    await library.discard(form.files)
  }
}

async function change(context: RequestContext, id: number, { files, fields }: MultipartBody): Promise<Reply> {
  if (files.length > 1) throw validationError('Cannot replace a file with multiple ones')
  const [file] = files
  const [info] = readFileInfos(fields.get('fileInfo'), 1)
  if (file === undefined) await context.library.change(id, info!, context.installation)
  else await context.library.replace(id, file, info!, context.installation)
  return ok(await fileOf(context, id))
}

/** A body that is no form brings no files; it may still say something about one. */
async function withoutFiles(context: RequestContext): Promise<MultipartBody> {
  const body = (await context.body()) as { readonly fileInfo?: unknown } | undefined
  const info = body?.fileInfo
  return { fields: new Map(info === undefined ? [] : [['fileInfo', typeof info === 'string' ? info : JSON.stringify(info)]]), files: [] }
}

/**
 * What the files shall be linked to: a media attribute of a row, which the caller may write.
 * @throws ApiError 403, or 400 for what has no such attribute.
 */
function linkOf({ documents, caller }: RequestContext, fields: MultipartBody['fields']): Link | null {
  const [ref, refId, field] = ['ref', 'refId', 'field'].map((name) => fields.get(name))
  if (typeof ref !== 'string' || typeof refId !== 'string' || typeof field !== 'string') return null
  if (!caller.grants.may(`${ref}.update`)) throw forbidden()
  const { types, components } = documents.context.model
  const shape = types.get(ref) ?? components.get(ref)
  const attribute = shape?.attributes.get(field)
  if (shape === undefined || attribute?.kind !== 'media') throw validationError(`${ref} has no media attribute ${field}`)
  return { shape, id: rowId(refId), attribute }
}
