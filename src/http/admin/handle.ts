// Handles a request to the administration API: finds its resource, checks the administrator and the input, and sends the response.
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Administration } from '../../admin/context.js'
import type { Administrator } from '../../admin/identity/identify.js'
import { checkPasswordAge } from '../../admin/identity/password-age.js'
import { hasMediaRight } from '../../admin/media/media-rights.js'
import { ApiError, forbidden, notFound } from '../../foundation/errors/errors.js'
import { holding } from '../../project/installations.js'
import type { MountContext } from '../backend.js'
import { type AdmitModel, retryOnModelChange, send } from '../handle-request.js'
import type { LoggedRequest } from '../request-log.js'
import { allowedMethods, methodNotAllowed } from '../respond.js'
import { type CheckedInput, readInput } from './input.js'
import { withForm } from './media.js'
import { handleOnce } from './once.js'
import { checkOwnPage } from './own-page.js'
import type { AdmittedRequest, Answered, Resource, ResourceRequest } from './resource.js'
import { resources } from './resources.js'
import { tagged } from './revisions.js'
import { type FoundPlace, methodsOf, openRouting } from './routing.js'

/** Handles a request to a path below the prefix. */
export type HandleAdministration = (request: FastifyRequest, reply: FastifyReply, path: string) => Promise<FastifyReply>

/** Opens the administration API. */
export function openHandling(parts: MountContext, prefix: string): HandleAdministration {
  const find = openRouting(resources)
  const { administration: late, identification, installations } = parts.backend

  return async (request, reply, path) => {
    // Pages of other origins may not read this, even if `cors` allows them.
    reply.removeHeader('access-control-allow-origin').removeHeader('access-control-allow-credentials')
    const place = find(path)
    if (place === null) throw notFound()
    if (request.method === 'OPTIONS') return allowedMethods(reply, methodsOf(place))
    const resource = place.resources.get(request.method === 'HEAD' ? 'GET' : request.method)
    if (resource === undefined) return methodNotAllowed(reply, methodsOf(place))
    ;(request as LoggedRequest).routeName = prefix + resource.path
    reply.header('cache-control', resource.isSecret === true ? 'no-store, no-transform' : 'no-store')
    if (resource.who === 'page') checkOwnPage(request.raw, parts.config)
    const administration = await late.open()
    const administrator = await admitted(administration, resource, request)
    const handle = async (admit: AdmitModel | null): Promise<FastifyReply> => {
      const { defaultLocale } = await identification.access()
      return holding(installations.enter(defaultLocale), async (installation, leaveInstallation) => {
        admit?.(installation.model)
        ;(request as LoggedRequest).model = installation.model
        const actor = { administrator, address: request.ip }
        const service = { administration, installation, leaveInstallation, parts }
        const asking = { ...service, request, reply, actor, ...(administrator === null ? {} : { administrator }) }
        const answered = tagged(resource, request.headers, await limited(resource, asking, place))
        return send(parts, request, reply, { ...answered, status: answered.status ?? resource.status })
      })
    }
    return handle(null)
      .catch((error: unknown) => retryOnModelChange(request, reply, error, handle))
      .catch((error: unknown) => {
        throw withDetails(error)
      })
  }
}

/** An error with `details`, which those of the content API may lack, as Strapi's do. */
function withDetails(error: unknown): unknown {
  if (!(error instanceof ApiError) || error.details !== null) return error
  return new ApiError(error.name, error.message, {}, error.retryAfter)
}

/** Returns the administrator who asks; null for a resource that asks for none. @throws ApiError 401, 403 */
async function admitted(administration: Administration, resource: Resource, request: FastifyRequest): Promise<Administrator | null> {
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
function limited(resource: Resource, asking: Omit<ResourceRequest, keyof CheckedInput | 'form' | 'administrator'>, place: FoundPlace) {
  const { attempts } = resource
  const work = async (): Promise<Answered<unknown>> => {
    const input = await readInput(resource, asking, place.params)
    const asked = { ...asking, ...input } as AdmittedRequest
    await resource.admit?.(asked)
    const { form } = resource
    if (form === undefined) return handleOnce(resource, asked as ResourceRequest)
    return withForm(asked, form, (read) => handleOnce(resource, { ...asked, form: read }))
  }
  if (attempts === undefined) return work()
  return asking.administration.limiter.perAddress(`admin-${attempts.name}`, asking.request.ip, attempts.counted, work)
}
