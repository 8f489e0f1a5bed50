// Handles a request to the administration API: finds its resource, checks caller and input, and sends the response.

import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Administration } from '../../admin/context.js'
import { inAdministration } from '../../admin/error-paths.js'
import { doIdempotently } from '../../admin/idempotency.js'
import type { Administrator } from '../../admin/identity/identify.js'
import { checkPasswordAge } from '../../admin/identity/sign-in.js'
import { hasMediaRight } from '../../admin/media/media-access.js'
import { digestOf } from '../../content/media/receive.js'
import { forbidden, notFound } from '../../foundation/errors/errors.js'
import { holding } from '../../project/installation.js'
import type { MountContext } from '../backend.js'
import { type AdmitModel, retryOnModelChange, send } from '../handle-request.js'
import type { MultipartBody } from '../multipart.js'

import type { LoggedRequest } from '../request-context.js'
import { allowedMethods, methodNotAllowed } from '../respond.js'
import { type CheckedInput, readInput } from './input.js'
import { withForm } from './media.js'
import type { AdmittedRequest, Resource, ResourceRequest, ResourceResponse } from './resource.js'
import { resources } from './resources.js'
import { withTag } from './revisions.js'
import { checkOwnPage } from './session-cookie.js'

/** Handles a request to a path below the prefix. */
export type HandleAdministration = (request: FastifyRequest, reply: FastifyReply, path: string) => Promise<FastifyReply>

/** Opens the administration API. */
export function createHandler(parts: MountContext, prefix: string): HandleAdministration {
  const find = createRouting(resources)
  const { administration: late, identification, installations } = parts.backend

  return async (request, reply, path) => {
    // Pages of other origins must not read responses, regardless of `cors`.
    reply.removeHeader('access-control-allow-origin').removeHeader('access-control-allow-credentials')
    const place = find(path)
    if (place === null) throw notFound()
    if (request.method === 'OPTIONS') return allowedMethods(reply, allowedOn(place))
    const resource = place.resources.get(request.method === 'HEAD' ? 'GET' : request.method)
    if (resource === undefined) return methodNotAllowed(reply, allowedOn(place))
    ;(request as LoggedRequest).routeName = prefix + resource.path
    reply.header('cache-control', resource.isSecret === true ? 'no-store, no-transform' : 'no-store')
    if (resource.who === 'page') checkOwnPage(request.raw, parts.config)
    const administration = await late.open()
    const administrator = await identifyCaller(administration, resource, request)
    const handle = async (admit: AdmitModel | null): Promise<FastifyReply> => {
      const { defaultLocale } = await identification.access()
      return holding(installations.enter(defaultLocale), async (installation, leaveInstallation) => {
        admit?.(installation.model)
        ;(request as LoggedRequest).model = installation.model
        const actor = { administrator, address: request.ip }
        const service = { administration, installation, leaveInstallation, parts }
        const asking = { ...service, request, reply, actor, ...(administrator === null ? {} : { administrator }) }
        const answered = withTag(resource, request.headers, await handleLimited(resource, asking, place))
        // An event stream, which goes on.
        if (reply.sent) return reply
        return send(parts, request, reply, { ...answered, status: answered.status ?? resource.status })
      })
    }
    return handle(null)
      .catch((error: unknown) => retryOnModelChange(request, reply, error, handle))
      .catch((error: unknown) => {
        throw inAdministration(error)
      })
  }
}

/** Identifies the administrator; null for a public resource. @throws ApiError 401, 403 */
async function identifyCaller(administration: Administration, resource: Resource, request: FastifyRequest): Promise<Administrator | null> {
  const { who, isStrong } = resource
  if (who === 'anybody' || who === 'page') return null
  const administrator = await administration.identify(request.headers.authorization)
  ;(request as LoggedRequest).callerName = `administrator ${administrator.id}`
  if (typeof who === 'object') {
    const { action, on, onFiles } = who
    if (!(onFiles ? hasMediaRight(administrator, action) : administrator.may(action, on))) throw forbidden(action)
  }
  if (who === 'superAdministrator' && !administrator.isSuperAdmin) throw forbidden()
  if (isStrong === true) checkPasswordAge(administration, administrator)
  return administrator
}

/** Handles a request within the limit of attempts of its address. @throws ApiError 429 */
function handleLimited(
  resource: Resource,
  asking: Omit<ResourceRequest, keyof CheckedInput | 'form' | 'administrator'>,
  place: MatchedRoute,
) {
  const { attempts } = resource
  const work = async (): Promise<ResourceResponse<unknown>> => {
    const input = await readInput(resource, asking, place.params)
    const context = { ...asking, ...input } as AdmittedRequest
    await resource.admit?.(context)
    const { form } = resource
    if (form === undefined) return handleIdempotently(resource, context as ResourceRequest)
    return withForm(context, form, (read) => handleIdempotently(resource, { ...context, form: read }))
  }
  if (attempts === undefined) return work()
  return asking.administration.limiter.perAddress(`admin-${attempts.name}`, asking.request.ip, attempts.counted, work)
}

interface RoutePath {
  readonly parts: readonly string[]
  readonly resources: Map<string, Resource>
}

/** The resources at a path, and the parameters of the path as they were sent. */
interface MatchedRoute {
  readonly resources: ReadonlyMap<string, Resource>
  readonly params: Readonly<Record<string, string>>
}

/** Finds the resources at a path below the prefix, or null. */
type FindRoute = (path: string) => MatchedRoute | null

const splitPath = (path: string): readonly string[] => path.replace(/^\//, '').replace(/\/$/, '').split('/')
const isParameter = (part: string): boolean => part.startsWith(':')

/** Opens the routing of a table of resources. */
function createRouting(resources: readonly Resource[]): FindRoute {
  const byPath = new Map<string, RoutePath>()
  for (const resource of resources) {
    const place = byPath.get(resource.path) ?? { parts: splitPath(resource.path), resources: new Map<string, Resource>() }
    place.resources.set(resource.method, resource)
    byPath.set(resource.path, place)
  }
  // If two paths match, the first different segment decides.
  const rank = ({ parts }: RoutePath) => parts.map((part) => (isParameter(part) ? '1' : '0')).join('')
  const places = [...byPath.values()].sort((one, other) => (rank(one) < rank(other) ? -1 : 1))
  return (path) => {
    const context = splitPath(path)
    const found = places.find(
      ({ parts }) =>
        parts.length === context.length &&
        parts.every((part, index) => (isParameter(part) ? context[index] !== '' : part === context[index])),
    )
    if (found === undefined) return null
    const named = found.parts.flatMap((part, index) =>
      isParameter(part) ? [[part.slice(1), decodeSegment(context[index]!)] as const] : [],
    )
    return { resources: found.resources, params: Object.fromEntries(named) }
  }
}

/** Decodes a segment. The HTTP library has refused invalid URLs. */
function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}

/** The methods for the `Allow` header. */
const allowedOn = ({ resources }: MatchedRoute): readonly string[] => [...(resources.has('GET') ? ['HEAD'] : []), ...resources.keys()]

/** Handles a request, only once per `Idempotency-Key` if its resource takes one. @throws ApiError 409, 422 */
async function handleIdempotently({ handle, respondAgain: again }: Resource, context: ResourceRequest): Promise<ResourceResponse<unknown>> {
  const { once } = context
  if (again === undefined || once === null) return handle(context)
  const request = JSON.stringify([once.request, context.body ?? null, context.form === undefined ? null : await digestForm(context.form)])
  return doIdempotently<ResourceResponse<unknown>>(
    context.administration,
    context.administrator,
    { ...once, request },
    {
      act: (keep) => handle({ ...context, actor: { ...context.actor, store: keep } }),
      isDone: ({ status = 200 }) => status < 400,
      respondAgain: (done) => again(context, done),
    },
  )
}

/** The content of a form, independent of its boundary. */
async function digestForm({ fields, files }: MultipartBody): Promise<unknown> {
  const sent: unknown[] = []
  for (const file of files) sent.push([file.name, file.declared, await digestOf(file)])
  return [[...fields], sent]
}
