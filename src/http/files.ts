// The media library's reads: /api/upload/files. Bare bodies, numeric ids.
import type { Find } from '../documents/find.js'
import { notFound } from '../errors.js'
import { fileType } from '../model/link.js'
import type { Exchange, Route } from './exchange.js'
import { notThereYet, okBytes } from './exchange.js'

/** Files are shown with whether their address is signed: never, on the local disk. */
const constants = [{ name: 'isUrlSigned', json: 'false' }]

function findFiles(
  { documents, caller, query }: Exchange,
  action: string,
  wanted: Pick<Find, 'mode' | 'envelope' | 'paged' | 'identity' | 'narrowed'>,
) {
  const type = documents.context.model.types.get(fileType)!
  return documents.find(caller.grants, { type, action: `plugin::upload.content-api.${action}`, query, constants, ...wanted })
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
  { method: 'DELETE', path: '/upload/files/:id', action: 'plugin::upload.content-api.destroy', handle: notThereYet },
  { method: 'POST', path: '/upload', action: 'plugin::upload.content-api.upload', handle: notThereYet },
]

/** A row id of the path; what is no number names no row. */
export function rowId(text: string): number {
  return /^\d{1,15}$/.test(text) ? Number(text) : -1
}
