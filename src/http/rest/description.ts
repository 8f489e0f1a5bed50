// GET /api/openapi.json: the operations of the caller as OpenAPI. It needs no permission, because callers see only what they may do.
import type { FastifyReply, FastifyRequest } from 'fastify'
import { holding } from '../../project/installation.js'
import type { Backend } from '../backend.js'
import { getUnchangedTag, hasVersion } from '../respond.js'

/** The path below the prefix of the API. */
export const descriptionPath = '/openapi.json'

/** Sends the description for the caller of a request, or 304 if the client has it. @throws ApiError 401 */
export async function sendDescription(
  { identification, installations }: Backend,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { caller, access } = await identification.identify(request.headers.authorization)
  return holding(installations.enter(access.defaultLocale), async ({ descriptions }) => {
    // Scopes restrict documents, not operations.
    const { bytes, tag } = descriptions.of(caller.grants, access.public)
    reply.header('etag', tag).header('cache-control', 'private, no-cache')
    if (hasVersion(request.headers, tag) === true) return reply.header('etag', getUnchangedTag(request.headers, tag)).status(304).send()
    return reply.header('content-type', 'application/json; charset=utf-8').send(request.method === 'HEAD' ? null : bytes)
  })
}
