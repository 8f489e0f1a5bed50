// The endpoints of content-types: /api/:name and /api/:name/:documentId. A name is looked up in the model at each
// request, so a new content-type needs no route.

import type { Action } from '../documents/actions.js'
import { notFound } from '../errors.js'
import type { ContentType, Model } from '../model/types.js'
import type { Exchange, Reply } from './exchange.js'
import { created, noContent, okBytes } from './exchange.js'

/** The type that answers at /api/:name, with one more part in the path or without. */
export function typeAt(model: Model, name: string, withDocument: boolean): ContentType | null {
  const type = model.paths.get(name.toLowerCase())
  return type === undefined || (type.singleType && withDocument) ? null : type
}

/** The methods of a content path, as the `Allow` header lists them. */
export function contentMethods(type: ContentType | null, withDocument: boolean): readonly string[] {
  if (type === null) return ['HEAD', 'GET']
  return withDocument || type.singleType ? ['HEAD', 'GET', 'PUT', 'DELETE'] : ['HEAD', 'GET', 'POST']
}

/** Answers a request of a content-type's endpoint. */
export async function handleContent(type: ContentType, method: string, exchange: Exchange): Promise<Reply> {
  if (method !== 'GET' && method !== 'HEAD') return write(type, method, exchange)
  const { caller, documents, params, query, format } = exchange
  const { documentId } = params
  const one = type.singleType || documentId !== undefined
  const answer = await documents.find(caller.grants, {
    type,
    action: `${type.uid}.${documentId === undefined ? 'find' : 'findOne'}`,
    mode: one ? 'first' : 'many',
    ...(documentId === undefined ? {} : { identity: { attribute: 'documentId' as const, value: documentId } }),
    query,
    format,
    envelope: 'data',
  })
  if (answer === null) throw notFound()
  return okBytes(answer)
}

async function write(type: ContentType, method: string, { caller, writes, params, query, format, body }: Exchange): Promise<Reply> {
  const what = { type, query, format }
  const documentId = params.documentId ?? null
  if (method === 'DELETE') {
    await writes.remove(caller.grants, what, documentId)
    return noContent
  }
  if (method === 'POST') return created(await writes.create(caller.grants, what, body))
  return okBytes(await writes.update(caller.grants, what, documentId, body))
}

const actions: ReadonlySet<string> = new Set<Action>(['publish', 'unpublish', 'discard'])

/** True for what may stand in a path below a document, after `actions/`. */
export const isAction = (name: string): name is Action => actions.has(name)

/** Publishes, unpublishes or discards; an addition to what Strapi's Content API has. */
export async function handleAction(type: ContentType, action: Action, { caller, writes, params, query, format }: Exchange): Promise<Reply> {
  return okBytes(await writes.act(caller.grants, { type, query, format }, params.documentId ?? null, action))
}
