// The media library's reads: /api/upload/files. Bare bodies, numeric ids.
import { notFound } from '../errors.js'
import { fileType } from '../model/link.js'
import type { Exchange, Route } from './exchange.js'
import { ok } from './exchange.js'

const type = ({ documents }: Exchange) => documents.context.model.types.get(fileType)!

export const fileRoutes: readonly Route[] = [
  {
    method: 'GET',
    path: '/upload/files',
    action: 'plugin::upload.content-api.find',
    handle: async (exchange) => {
      const { documents, caller, query } = exchange
      return ok((await documents.find(caller.grants, { type: type(exchange), action: 'plugin::upload.content-api.find', mode: 'many', paged: false, query, envelope: 'bare' }))!)
    },
  },
  {
    method: 'GET',
    path: '/upload/files/page',
    action: 'plugin::upload.content-api.findPage',
    handle: async (exchange) => {
      const { documents, caller, query } = exchange
      return ok((await documents.find(caller.grants, { type: type(exchange), action: 'plugin::upload.content-api.findPage', mode: 'many', query, envelope: 'data' }))!)
    },
  },
  {
    method: 'GET',
    path: '/upload/files/:id',
    action: 'plugin::upload.content-api.findOne',
    handle: async (exchange) => {
      const { documents, caller, query, params } = exchange
      const identity = { attribute: 'id' as const, value: rowId(params.id!) }
      const file = await documents.find(caller.grants, { type: type(exchange), action: 'plugin::upload.content-api.findOne', mode: 'first', identity, query, envelope: 'bare' })
      if (file === null) throw notFound('file.notFound')
      return ok(file)
    },
  },
]

/** A row id of the path; what is no number names no row. */
export function rowId(text: string): number {
  return /^\d{1,15}$/.test(text) ? Number(text) : -1
}
