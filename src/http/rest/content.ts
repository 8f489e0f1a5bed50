// The endpoints of content-types: /api/:name and /api/:name/:documentId. The name is looked up in the model for each request, so a new
// content-type needs no route.
import type { Find, ReadBytes } from '../../content/documents/read/find.js'
import { typesReadBy } from '../../content/documents/read/types-read.js'
import { notFound } from '../../foundation/errors/errors.js'
import type { HookAction } from '../../foundation/public/documents.js'
import { actionsAt, type LeftOutRoutes, publicationActions } from '../../model/schema/type-routes.js'
import type { ContentType, Model } from '../../model/schema/types.js'
import { cachingOf, okRead, surrogateKeysOf } from '../caching.js'
import { idempotencyKeyOf } from '../idempotency-key.js'
import { created, noContent, okBytes, type Reply, type RequestContext } from '../request-context.js'

/** Returns the content-type at /api/:name, or at /api/:name/:documentId; null if there is none. */
export function typeAt(model: Model, name: string, withDocument: boolean): ContentType | null {
  const type = model.paths.get(name.toLowerCase())
  return type === undefined || (type.singleType && withDocument) ? null : type
}

/** Returns the methods of a content path, for the `Allow` header. */
export type ContentMethods = (type: ContentType | null, withDocument: boolean) => readonly string[]

const allMethods: ContentMethods = (type, withDocument) => {
  if (type === null) return ['HEAD', 'GET']
  return withDocument || type.singleType ? ['HEAD', 'GET', 'PUT', 'DELETE'] : ['HEAD', 'GET', 'POST']
}

/** Opens the methods of content paths. Reads are always among them: where their route is left out, they return 404. */
export function openContentMethods(leftOut: LeftOutRoutes | null): ContentMethods {
  if (leftOut === null) return allMethods
  return (type, withDocument) => {
    const methods = allMethods(type, withDocument)
    if (type === null) return methods
    const actions = actionsAt(type, withDocument)
    return methods.filter((method) => method === 'HEAD' || method === 'GET' || !leftOut(type.uid, actions[method]!))
  }
}

/** Handles a request to a content-type's endpoint. */
export async function handleContent(type: ContentType, method: string, context: RequestContext): Promise<Reply> {
  if (method !== 'GET' && method !== 'HEAD') return write(type, method, context)
  const { caller, documents, params, query, format, isGone, since, config, request } = context
  const { documentId } = params
  const one = type.singleType || documentId !== undefined
  // Shared caches store public responses.
  const isKeyed = config.surrogateKeys !== null && request.headers.authorization === undefined
  let keys: Readonly<Record<string, string>> = {}
  const planned: NonNullable<Find['planned']> = (plan) => {
    keys = surrogateKeysOf(config, typesReadBy(plan, documents.context.model), documentId)
  }
  // Every property by name: a spread here costs each request microseconds.
  const response = await documents.find(caller.grants, {
    type,
    query,
    format,
    envelope: 'data',
    isGone,
    since,
    asker: context.asker,
    planned: isKeyed ? planned : undefined,
    action: `${type.uid}.${documentId === undefined ? 'find' : 'findOne'}`,
    mode: one ? 'first' : 'many',
    identity: documentId === undefined ? undefined : { attribute: 'documentId', value: documentId, wins: true },
  })
  if (response === null) {
    // Caches purge this too when the document appears.
    context.addHeaders({ 'cache-control': cachingOf(request), ...(isKeyed ? keys : {}) })
    throw notFound()
  }
  const reply = okRead(context, context.markSources === null ? response : await withSourceMaps(type, response, context))
  return isKeyed ? { ...reply, headers: { ...reply.headers, ...keys } } : reply
}

/** Adds source maps to a response if the client asked for them. */
const withSourceMaps = async (type: ContentType, response: ReadBytes, { markSources, documents }: RequestContext): Promise<ReadBytes> =>
  markSources === null ? response : markSources(documents.context.model, type, response)

const methods: Readonly<Record<string, HookAction>> = { POST: 'create', PUT: 'update', DELETE: 'delete' }

async function write(type: ContentType, method: string, context: RequestContext): Promise<Reply> {
  const { caller, writes, params, query, format, body } = context
  const action = methods[method]!
  const answers = action === 'delete' ? 'nothing' : 'document'
  const outcome = await writes({
    action,
    grants: caller.grants,
    documentId: params.documentId ?? null,
    body: action === 'delete' ? null : body,
    ...(action === 'create' ? { once: () => idempotencyKeyOf(context.request, format) } : {}),
    write: { type, query, format, answers, ...context.asker, depth: 0 },
  })
  if (action === 'delete') return noContent
  if (outcome === null) throw notFound()
  const response = context.markSources === null ? outcome.answer! : await withSourceMaps(type, outcome.answer!, context)
  return action === 'create' ? created(response) : okBytes(response)
}

/** True for the name of a publication action, the last part of the path /api/:name/:documentId/actions/:action. */
export const isAction = (name: string): boolean => Object.hasOwn(publicationActions, name)

/** Publishes, unpublishes or discards a draft; an extension of Strapi's Content API. */
export async function handleAction(type: ContentType, action: string, context: RequestContext): Promise<Reply> {
  const { caller, writes, params, query, format } = context
  const outcome = await writes({
    action: publicationActions[action]!,
    grants: caller.grants,
    documentId: params.documentId ?? null,
    body: null,
    write: { type, query, format, answers: 'document', ...context.asker, depth: 0 },
    once: () => idempotencyKeyOf(context.request, format),
  })
  if (outcome === null) throw notFound()
  return okBytes(await withSourceMaps(type, outcome.answer!, context))
}
