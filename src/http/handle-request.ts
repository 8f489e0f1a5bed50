// Handles a request of a route: identifies its caller, checks the permission, applies scopes, and sends the reply.
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ProjectScopes } from '../content/documents/guard/scopes.js'
import type { ReadCaller } from '../content/documents/read/plans.js'
import { ApiError, forbidden } from '../foundation/errors/errors.js'
import { elapsed } from '../foundation/runtime/clock.js'
import type { Caller } from '../identity/access/identify.js'
import type { Model } from '../model/schema/types.js'
import type { Installation } from '../project/installation.js'
import type { MountContext } from './backend.js'
import { readBody, readForm } from './body.js'
import { addConnectionClose } from './connections.js'
import { getCallerName, type LoggedRequest, noteCaller, type Reply, type RequestContext, toAsker } from './request-context.js'
import { respond, respondWithSource, smallResponse } from './respond.js'

/** Conditions under which a request is handled. */
export interface Admission {
  /** The action that the caller must be granted; null: the route is open, or checks permissions itself. */
  readonly action: string | null
  /** False: credentials are not looked at, and the caller is the public. */
  readonly identifies: boolean
  /**
   * `applied`: scopes are applied before the request is handled. `hidden`: documents of types with a scope do not exist for it. `later`: its
   * reads and writes apply them.
   */
  readonly scopes: 'applied' | 'hidden' | 'later'
}

/** Requests to content: permissions are checked where documents are read and written. */
export const contentAdmission: Admission = { action: null, identifies: true, scopes: 'applied' }

/**
 * Handles a request with its caller and with one installation, which it holds until it has been handled. `admit`: the request is handled a
 * second time, and this refuses the model of the first.
 * @throws ApiError 401, 403
 */
export async function handleRequest(
  parts: MountContext,
  request: FastifyRequest,
  reply: FastifyReply,
  admission: Admission,
  work: (context: RequestContext) => Promise<Reply>,
  admit: AdmitModel | null = null,
): Promise<FastifyReply> {
  const { config, backend, hints } = parts
  const started = performance.now()
  const since = elapsed()
  const { caller, access } = await backend.identification.identify(admission.identifies ? request.headers.authorization : undefined)
  const entered = backend.installations.enter(access.defaultLocale)
  const { installation, end: leaveInstallation } = entered instanceof Promise ? await entered : entered
  try {
    admit?.(installation.model)
    const asker = toAsker(caller, request.id)
    noteCaller(request, getCallerName(asker), installation.model)
    if (admission.action !== null && !caller.grants.may(admission.action)) {
      hints?.watch(request, createContext(parts, [request, reply], { caller, access, asker, leaveInstallation, since }, installation))
      throw forbidden(admission.action)
    }
    const scoped = backend.scopes === null ? caller : await applyScopes(backend.scopes, caller, admission, asker)
    const ready = performance.now()
    // Responses contain what scopes wrote or saw.
    const validSince = scoped === caller || admission.scopes === 'hidden' ? since : elapsed()
    const asking = { caller: scoped, access, asker, leaveInstallation, since: validSince }
    const context = createContext(parts, [request, reply], asking, installation)
    const result = await work(hints === null ? context : hints.watch(request, context))
    if (!config.production) addTiming(reply, started, ready)
    return await send(parts, request, reply, result)
  } catch (error) {
    // The second time holds the installation that is current then.
    leaveInstallation()
    if (admit !== null) throw error
    return retryOnModelChange(request, reply, error, (again) => handleRequest(parts, request, reply, admission, work, again))
  } finally {
    leaveInstallation()
  }
}

/** Limits what a caller may do to the scopes of the project. */
async function applyScopes(scopes: ProjectScopes, caller: Caller, admission: Admission, asker: ReadCaller): Promise<Caller> {
  if (admission.scopes === 'later') return caller
  return { ...caller, grants: admission.scopes === 'hidden' ? scopes.hideAll(caller.grants) : await scopes.apply(asker, caller.grants) }
}

function rawQuery(request: FastifyRequest): string {
  const [, query = ''] = /\?(.*)$/s.exec(request.raw.url ?? '') ?? []
  return query
}

type CallerContext = Pick<RequestContext, 'caller' | 'access' | 'asker' | 'leaveInstallation' | 'since'>

function createContext(
  { config, backend, bodies }: MountContext,
  [request, reply]: readonly [FastifyRequest, FastifyReply],
  asking: CallerContext,
  installation: Installation,
) {
  const { caller, access, asker, leaveInstallation, since } = asking
  const format = request.headers['strapi-response-format'] === 'v4' ? ('nested' as const) : ('flat' as const)
  // Every property by name: a spread here costs each request tens of microseconds.
  return {
    caller,
    access,
    asker,
    installation,
    leaveInstallation,
    documents: installation.documents,
    writes: installation.writes,
    accounts: caller.grants.scopes.size === 0 ? installation.accounts : { ...installation.accounts, scopes: caller.grants.scopes },
    config,
    modelChanges: backend.modelChanges,
    address: request.ip,
    library: backend.library,
    signsAddresses: backend.signsAddresses,
    params: request.params as Record<string, string>,
    query: rawQuery(request),
    format,
    // Responses in the nested format have no source maps, as in Strapi.
    markSources: request.headers['strapi-encode-source-maps'] === 'true' && format === 'flat' ? backend.markSources : null,
    request: request.raw,
    metrics: backend.metrics,
    since,
    isGone: () => request.raw.socket.destroyed,
    addHeaders: (headers) => void reply.headers(headers),
    beginBody: () => bodies.begin(request.ip),
    body: () => readBody(request.raw, request.ip, bodies, config.limits, readForm),
  } satisfies RequestContext
}

function addTiming(reply: FastifyReply, started: number, identified: number): void {
  const ended = performance.now()
  reply.header('server-timing', `auth;dur=${(identified - started).toFixed(2)}, read;dur=${(ended - identified).toFixed(2)}`)
}

/** Sends a reply, compressed for clients that accept it. */
export async function send(parts: MountContext, request: FastifyRequest, reply: FastifyReply, result: Reply): Promise<FastifyReply> {
  const { connections, unsent, compression, hints, backend } = parts
  // Responses as bytes bypass the hooks of the HTTP library.
  if (connections.isEnding()) await addConnectionClose(connections, request, reply)
  if (result.source !== undefined) return respondWithSource(reply, result.source, result)
  if (hints !== null && result.bytes !== undefined) await hints.beforeBytes(request, reply, result)
  const isPlain = compression === null || request.headers['accept-encoding'] === undefined || result.headers?.['content-type'] !== undefined
  const compressed = () => compression!.result(reply, result)
  const ready = isPlain ? result : await (backend.tracing?.part('serialize', () => ({}), compressed) ?? compressed())
  if (ready.bytes !== undefined && ready.bytes.bytes.length > smallResponse) unsent.watch(reply.raw, request.ip, ready.bytes.bytes.length)
  return respond(reply, ready)
}

/** Called with the model that a request is handled with. */
export type AdmitModel = (model: Model) => void

/**
 * Runs a request a second time that has failed with `error`, if it is a read and another model is in force by then (live-model.17). `run` calls
 * `admit` with the model before it does anything with it.
 * @throws `error` otherwise
 */
export function retryOnModelChange<Result>(
  { method, model: used }: LoggedRequest,
  reply: FastifyReply,
  error: unknown,
  run: (admit: AdmitModel) => Promise<Result>,
): Promise<Result> {
  const isRead = method === 'GET' || method === 'HEAD'
  const isFailure = !(error instanceof ApiError) || error.status >= 500
  if (used === undefined || !isRead || reply.sent || !isFailure) throw error
  return run((model) => {
    if (model === used) throw error
  })
}
