// The media library: /api/upload and /api/upload/files. Bare bodies, numeric ids.
import type { Find } from '../../documents/read/find.js'
import { forbidden, notFound, validationError } from '../../errors/errors.js'
import { fileType } from '../../model/link.js'
import { readFileInfos } from '../../uploads/file-info.js'
import type { Link } from '../../uploads/rows.js'
import { type Form, isForm, readForm } from '../multipart.js'
import type { Exchange, Reply, Route } from '../request-context.js'
import { ok, okBytes } from '../request-context.js'

/** Files are shown with whether their address is signed. Where some are, whoever writes the answer says so of each. */
const constantsOf = ({ signsAddresses }: Exchange) => (signsAddresses ? [] : [{ name: 'isUrlSigned', json: 'false' }])

function findFiles(exchange: Exchange, action: string, wanted: Pick<Find, 'mode' | 'envelope' | 'paged' | 'identity' | 'narrowed'>) {
  const { documents, caller, query, isGone } = exchange
  const type = documents.context.model.types.get(fileType)!
  const constants = constantsOf(exchange)
  return documents.find(caller.grants, { type, action: `plugin::upload.content-api.${action}`, query, constants, isGone, ...wanted })
}

/** A file as its write answers it: whole, whatever else its writer may read. */
function fileOf(exchange: Exchange, id: number): Promise<unknown> {
  const { documents } = exchange
  const constants = constantsOf(exchange)
  const type = documents.context.model.types.get(fileType)!
  const identity = { attribute: 'id' as const, value: id }
  return documents.findAsService({ type, mode: 'first', identity, narrowed: false, query: '', envelope: 'bare', constants })
}

export const fileRoutes: readonly Route[] = [
  {
    method: 'GET',
    path: '/upload/files',
    action: 'plugin::upload.content-api.find',
    handle: async (exchange) => okBytes((await findFiles(exchange, 'find', { mode: 'many', paged: false, envelope: 'bare' }))!),
  },
  {
    method: 'GET',
    path: '/upload/files/page',
    action: 'plugin::upload.content-api.findPage',
    handle: async (exchange) => okBytes((await findFiles(exchange, 'findPage', { mode: 'many', envelope: 'data' }))!),
  },
  {
    method: 'GET',
    path: '/upload/files/:id',
    action: 'plugin::upload.content-api.findOne',
    handle: async (exchange) => {
      const identity = { attribute: 'id' as const, value: rowId(exchange.params.id!) }
      const file = await findFiles(exchange, 'findOne', { mode: 'first', identity, narrowed: false, envelope: 'bare' })
      if (file === null) throw notFound('file.notFound')
      return okBytes(file)
    },
  },
  {
    method: 'DELETE',
    path: '/upload/files/:id',
    action: 'plugin::upload.content-api.destroy',
    handle: async (exchange) => {
      const id = rowId(exchange.params.id!)
      const file = await fileOf(exchange, id)
      if (file === null) throw notFound('file.notFound')
      await exchange.library.remove(id)
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
async function upload(exchange: Exchange): Promise<Reply> {
  const { library, request } = exchange
  const id = new URLSearchParams(exchange.query).get('id') || null
  const form = isForm(request) ? await readForm(request, library, exchange.coming) : await withoutFiles(exchange)
  try {
    const { files, fields } = form
    const none = files.length === 0 || (files.length === 1 && files[0]!.bytes === 0)
    if (id !== null) return await change(exchange, rowId(id), none ? { fields, files: [] } : form)
    if (none) throw validationError('Files are empty')
    const infos = readFileInfos(fields.get('fileInfo'), files.length)
    const ids = await library.add(files, infos, linkOf(exchange, fields))
    return { status: 201, value: await Promise.all(ids.map((one) => fileOf(exchange, one))) }
  } finally {
    await library.discard(form.files)
  }
}

async function change(exchange: Exchange, id: number, { files, fields }: Form): Promise<Reply> {
  if (files.length > 1) throw validationError('Cannot replace a file with multiple ones')
  const [file] = files
  const [info] = readFileInfos(fields.get('fileInfo'), 1)
  if (file === undefined) await exchange.library.change(id, info!)
  else await exchange.library.replace(id, file, info!)
  return ok(await fileOf(exchange, id))
}

/** A body that is no form brings no files; it may still say something about one. */
async function withoutFiles(exchange: Exchange): Promise<Form> {
  const body = (await exchange.body()) as { readonly fileInfo?: unknown } | undefined
  const info = body?.fileInfo
  return { fields: new Map(info === undefined ? [] : [['fileInfo', typeof info === 'string' ? info : JSON.stringify(info)]]), files: [] }
}

/**
 * What the files shall be linked to: a media attribute of a row, which the caller may write.
 * @throws ApiError 403, or 400 for what has no such attribute.
 */
function linkOf({ documents, caller }: Exchange, fields: Form['fields']): Link | null {
  const [ref, refId, field] = ['ref', 'refId', 'field'].map((name) => fields.get(name))
  if (typeof ref !== 'string' || typeof refId !== 'string' || typeof field !== 'string') return null
  if (!caller.grants.may(`${ref}.update`)) throw forbidden()
  const { types, components } = documents.context.model
  const shape = types.get(ref) ?? components.get(ref)
  const attribute = shape?.attributes.get(field)
  if (shape === undefined || attribute?.kind !== 'media') throw validationError(`${ref} has no media attribute ${field}`)
  return { shape, id: rowId(refId), attribute }
}
