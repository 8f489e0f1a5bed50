// The route of the event stream: `GET /api/events`, where the project has it.
import type { OutgoingHttpHeaders } from 'node:http'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { mayFollow } from '../../../content/documents/visible-events.js'
import type { Config } from '../../../foundation/config/config.js'
import { ApiError, ConfigError, forbidden } from '../../../foundation/errors/errors.js'
import type { Model } from '../../../model/schema/types.js'
import { holding } from '../../../project/installations.js'
import type { Backend } from '../../backend.js'
import { nameOf } from '../../request-context.js'
import type { LoggedRequest } from '../../request-log.js'
import { allowedMethods, methodNotAllowed } from '../../respond.js'
import { everyMethod } from '../mounts/mount.js'
import { openStreamConnection } from './connection.js'
import { openEventIds } from './event-id.js'
import { follow, readerOf, type StreamParts } from './follow.js'
import { readStreamParameters } from './parameters.js'
import { openStreams, type Streams } from './streams.js'

const methods = ['HEAD', 'GET']

/** No proxy keeps the stream, changes it, or holds it back. */
const headers = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store, no-transform',
  'x-accel-buffering': 'no',
}

/** Opens the streams of a project; null if it has none. @throws ConfigError if something else has the path */
export function openEventStreams(
  { events, limits, rest }: Config,
  { installations, streamed }: Backend,
  taken: readonly string[],
): Streams | null {
  if (events.stream === null) return null
  const { path } = events.stream
  const name = path.slice(1)
  const owner = typeAt(installations.model(), name)
  if (owner !== null || taken.includes(path))
    throw new ConfigError(
      `events.stream: ${rest.prefix}${path} is ${owner === null ? 'a path of the service' : `the path of ${owner}`}. Choose another one: events: { stream: { path: '/event-stream' } }.`,
    )
  return openStreams(streamed, limits)
}

const typeAt = (model: Model, name: string): string | null => model.paths.get(name.toLowerCase())?.uid ?? null

/** Registers the route. */
export function addEventStream(app: FastifyInstance, config: Config, backend: Backend, streams: Streams): void {
  const parts: StreamParts = { backend, streams, ids: openEventIds(config.secrets.jwtSecret) }
  app.route({
    method: everyMethod,
    url: `${config.rest.prefix}${config.events.stream!.path}`,
    handler: async (request, reply) => {
      if (request.method === 'OPTIONS') return allowedMethods(reply, methods)
      if (!methods.includes(request.method)) return methodNotAllowed(reply, methods)
      return stream(parts, config.limits.eventStreamBytes, request, reply)
    },
  })
}

async function stream(parts: StreamParts, mostBytes: number, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const { backend, streams } = parts
  const { authorization, 'last-event-id': lastEventId } = request.headers
  const { url = '' } = request.raw
  const query = url.includes('?') ? url.slice(url.indexOf('?') + 1) : ''
  const header = Array.isArray(lastEventId) ? lastEventId.at(-1) : lastEventId
  const parameters = readStreamParameters(backend.installations.model(), query, header)
  const asking = { parameters, authorization, requestId: request.id }
  const reader = await readerOf(backend, asking)
  ;(request as LoggedRequest).callerName = nameOf(reader.asker)
  await holding(backend.installations.enter(reader.defaultLocale), async ({ documents, model }) => {
    const types = parameters.types === null ? [...model.types.values()] : [...parameters.types].map((uid) => model.types.get(uid)!)
    const allowed = types.filter((type) => mayFollow(documents, reader, type))
    if (allowed.length === 0 || (parameters.types !== null && allowed.length < types.length)) throw forbidden()
  })
  streams.check(request.ip)
  reply.headers(headers)
  if (request.method === 'HEAD') return reply.send()
  const { raw } = reply
  reply.hijack()
  raw.writeHead(200, reply.getHeaders() as OutgoingHttpHeaders)
  const connection = openStreamConnection(raw, mostBytes)
  streams.enter(request.ip, connection)
  // The status was sent: an error can only end the stream. The client connects again, and gets the error then.
  follow(parts, { connection, ...asking })
    .catch((error) => {
      if (!(error instanceof ApiError) || error.status >= 500) reply.server.causes.report(error, 'an event stream ended', request.id)
    })
    .finally(connection.end)
  return reply
}
