// The endpoints of content-types: /api/:name and /api/:name/:documentId. The name is looked up in the model for each request, so a new
// content-type needs no route.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Find, ReadBytes } from '../../content/documents/read/find.js'
import { getReadTypes } from '../../content/documents/read/plans.js'
import { notFound } from '../../foundation/errors/errors.js'
import type { HookAction } from '../../foundation/public/documents.js'
import { actionsAt, type ExcludedRoutes, publicationActions } from '../../model/schema/type-routes.js'
import type { ContentType, Model } from '../../model/schema/types.js'
import type { Backend, MountContext } from '../backend.js'
import { contentAdmission, handleRequest } from '../handle-request.js'
import { readIdempotencyKey } from '../headers-and-cors.js'
import type { LoggedRequest } from '../request-context.js'
import { created, noContent, okBytes, type Reply, type RequestContext } from '../request-context.js'
import { allowedMethods, createSurrogateKeys, getCacheControl, methodNotAllowed, okRead } from '../respond.js'
import { type CustomMethods, joinMethods } from './custom-paths.js'
import { everyMethod } from './mount.js'

/** Changes of the configuration to the paths of content-types. */
export interface ContentPaths {
  readonly custom: CustomMethods
  readonly leftOut: ExcludedRoutes | null
  readonly methodsOf: ContentMethods
}

/** The paths of content-types, with the custom methods of each and without the routes that the configuration leaves out. */
export const createContentPaths = (custom: CustomMethods, leftOut: ExcludedRoutes | null): ContentPaths => ({
  custom,
  leftOut,
  methodsOf: createContentMethods(leftOut),
})

async function serveContent(
  parts: MountContext,
  { custom, leftOut, methodsOf }: ContentPaths,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { name, documentId } = request.params as { name: string; documentId?: string }
  const type = await findType(parts.backend, name, documentId !== undefined)
  const methods = methodsOf(type, documentId !== undefined)
  if (!methods.includes(request.method)) {
    const allowed = allowedAt(type, methods, custom((request.raw.url ?? '').split('?', 1)[0]!.slice(parts.config.rest.prefix.length)))
    return request.method === 'OPTIONS' ? allowedMethods(reply, allowed) : methodNotAllowed(reply, allowed)
  }
  // Routes that are left out reach this only as reads.
  if (type === null || leftOut?.(type.uid, actionsAt(type, documentId !== undefined)[request.method]!) === true) throw notFound()
  ;(request as LoggedRequest).uid = type.uid
  return handleRequest(parts, request, reply, contentAdmission, (context) =>
    handleContent(getType(context, name, documentId), request.method, context),
  )
}

/** Responds to a request to a content-type whose path the service has as well: `/users/:id`, `/users/me`. */
export function serveInPlace(parts: MountContext, paths: ContentPaths, path: string, request: FastifyRequest, reply: FastifyReply) {
  const [name = '', part] = path.slice(1).split('/')
  const given = request.params as Readonly<Record<string, string>>
  const documentId = part?.startsWith(':') ? given[part.slice(1)] : part
  ;(request as { params: unknown }).params = documentId === undefined ? { name } : { name, documentId }
  ;(request as LoggedRequest).routeName = `${parts.config.rest.prefix}/:name${documentId === undefined ? '' : '/:documentId'}`
  return serveContent(parts, paths, request, reply)
}

/** The methods of the content-type at a path that the service has as well. */
export function typeMethodsAt({ installations }: Backend, path: string, { methodsOf }: ContentPaths): readonly string[] {
  const [name = '', id, ...others] = path.slice(1).split('/')
  const type = others.length > 0 ? null : typeAt(installations.model(), name, id !== undefined)
  return type === null ? [] : methodsOf(type, id !== undefined)
}

/** Registers the routes of content-types. */
export function addContent(app: FastifyInstance, parts: MountContext, paths: ContentPaths): void {
  const { config } = parts
  const { leftOut } = paths
  const handler = (request: FastifyRequest, reply: FastifyReply) => serveContent(parts, paths, request, reply)
  app.route({ method: everyMethod, url: `${config.rest.prefix}/:name`, handler })
  app.route({ method: everyMethod, url: `${config.rest.prefix}/:name/:documentId`, handler })
  for (const path of ['/:name/actions/:action', '/:name/:documentId/actions/:action']) {
    app.route({
      method: ['POST', 'OPTIONS'],
      url: config.rest.prefix + path,
      handler: (request, reply) => handlePublicationAction(parts, leftOut, request, reply),
    })
  }
}

/** The methods of a content path, with those of custom routes at the same path. */
const allowedAt = (type: ContentType | null, methods: readonly string[], custom: readonly string[]): readonly string[] =>
  type === null && custom.length > 0 ? custom : joinMethods(methods, custom)

/** The type at a path; one that is not known yet after loading changes of the model by other processes. */
async function findType({ installations, identification }: Backend, name: string, hasId: boolean): Promise<ContentType | null> {
  const known = typeAt(installations.model(), name, hasId)
  if (known !== null) return known
  await identification.access()
  return typeAt(installations.model(), name, hasId)
}

/** The type of a request in its installation. @throws ApiError 404 if it has gone since the path was matched */
function getType({ installation }: RequestContext, name: string, documentId: string | undefined): ContentType {
  const type = typeAt(installation.model, name, documentId !== undefined)
  if (type === null) throw notFound()
  return type
}

async function handlePublicationAction(
  parts: MountContext,
  leftOut: ExcludedRoutes | null,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { name, documentId, action } = request.params as { name: string; documentId?: string; action: string }
  const hasId = documentId !== undefined
  const type = await findType(parts.backend, name, hasId)
  if (type === null || type.singleType !== (documentId === undefined) || !isAction(action)) throw notFound()
  if (leftOut?.(type.uid, publicationActions[action]!) === true) throw notFound()
  if (request.method === 'OPTIONS') return allowedMethods(reply, ['POST'])
  ;(request as LoggedRequest).uid = type.uid
  return handleRequest(parts, request, reply, contentAdmission, (context) =>
    handleAction(getType(context, name, documentId), action, context),
  )
}

/** Returns the methods of a path below the prefix, for requests that no route takes. */
export function methodsAt({ installations }: Backend, path: string, { custom, methodsOf }: ContentPaths): readonly string[] {
  const parts = path.slice(1).split('/')
  const type = parts.length > 2 ? null : typeAt(installations.model(), parts[0]!, parts.length === 2)
  return allowedAt(type, methodsOf(type, parts.length === 2), custom(path))
}

/** Returns the content-type at /api/:name, or at /api/:name/:documentId; null if there is none. */
function typeAt(model: Model, name: string, withDocument: boolean): ContentType | null {
  const type = model.paths.get(name.toLowerCase())
  return type === undefined || (type.singleType && withDocument) ? null : type
}

/** Returns the methods of a content path, for the `Allow` header. */
type ContentMethods = (type: ContentType | null, withDocument: boolean) => readonly string[]

const allMethods: ContentMethods = (type, withDocument) => {
  if (type === null) return ['HEAD', 'GET']
  return withDocument || type.singleType ? ['HEAD', 'GET', 'PUT', 'DELETE'] : ['HEAD', 'GET', 'POST']
}

/** Opens the methods of content paths. Reads are always among them: where their route is left out, they return 404. */
function createContentMethods(leftOut: ExcludedRoutes | null): ContentMethods {
  if (leftOut === null) return allMethods
  return (type, withDocument) => {
    const methods = allMethods(type, withDocument)
    if (type === null) return methods
    const actions = actionsAt(type, withDocument)
    return methods.filter((method) => method === 'HEAD' || method === 'GET' || !leftOut(type.uid, actions[method]!))
  }
}

async function handleContent(type: ContentType, method: string, context: RequestContext): Promise<Reply> {
  if (method !== 'GET' && method !== 'HEAD') return write(type, method, context)
  const { caller, documents, params, query, format, isGone, since, config, request } = context
  const { documentId } = params
  const one = type.singleType || documentId !== undefined
  // Shared caches store public responses.
  const isKeyed = config.surrogateKeys !== null && request.headers.authorization === undefined
  let keys: Readonly<Record<string, string>> = {}
  const planned: NonNullable<Find['planned']> = (plan) => {
    keys = createSurrogateKeys(config, getReadTypes(plan, documents.context.model), documentId)
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
    context.addHeaders({ 'cache-control': getCacheControl(request), ...(isKeyed ? keys : {}) })
    throw notFound()
  }
  const reply = okRead(context, await withSourceMaps(type, response, context))
  return isKeyed ? { ...reply, headers: { ...reply.headers, ...keys } } : reply
}

/** Adds source maps to a response if the client asked for them. */
const withSourceMaps = (type: ContentType, response: ReadBytes, { markSources, documents }: RequestContext) =>
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
    ...(action === 'create' ? { once: () => readIdempotencyKey(context.request, format) } : {}),
    write: { type, query, format, answers, ...context.asker, depth: 0 },
  })
  if (action === 'delete') return noContent
  if (outcome === null) throw notFound()
  const response = await withSourceMaps(type, outcome.answer!, context)
  return action === 'create' ? created(response) : okBytes(response)
}

/** True for the name of a publication action, the last part of the path /api/:name/:documentId/actions/:action. */
const isAction = (name: string): boolean => Object.hasOwn(publicationActions, name)

/** Publishes, unpublishes or discards a draft; an extension of Strapi's Content API. */
async function handleAction(type: ContentType, action: string, context: RequestContext): Promise<Reply> {
  const { caller, writes, params, query, format } = context
  const outcome = await writes({
    action: publicationActions[action]!,
    grants: caller.grants,
    documentId: params.documentId ?? null,
    body: null,
    write: { type, query, format, answers: 'document', ...context.asker, depth: 0 },
    once: () => readIdempotencyKey(context.request, format),
  })
  if (outcome === null) throw notFound()
  return okBytes(await withSourceMaps(type, outcome.answer!, context))
}
