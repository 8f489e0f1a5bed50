// The route of the event stream: `GET /api/events`, where the project has it.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type EventReader, mayFollow, visibleEvent } from '../../content/documents/guard/visible-events.js'
import type { EntryEventSummary, EventBatch } from '../../content/events/event-log.js'
import type { StreamedEvents } from '../../content/events/open.js'
import type { Config } from '../../foundation/config/config.js'
import { didYouMean } from '../../foundation/errors/did-you-mean.js'
import { boundedText, ConfigError, forbidden, validationError } from '../../foundation/errors/errors.js'
import { entryEvents } from '../../foundation/public/events.js'
import type { Model } from '../../model/schema/types.js'
import { holding } from '../../project/installation.js'
import type { Backend } from '../backend.js'
import {
  createEventIds,
  createSharedResults,
  type EventIds,
  followUp,
  heartbeatMs,
  lastEventIdOf,
  type OpenStreams,
  type StreamConnection,
  type StreamSource,
  startStream,
  streamHeaders,
} from '../open-streams.js'
import type { LoggedRequest } from '../request-context.js'
import { getCallerName, toAsker } from '../request-context.js'
import { allowedMethods, methodNotAllowed } from '../respond.js'
import { everyMethod } from './mount.js'

const methods = ['HEAD', 'GET']

/** Checks the path of the stream, if the project has one. @throws ConfigError if something else has the path */
export function checkStreamPath({ events, rest }: Config, { installations }: Backend, taken: readonly string[]): void {
  if (events.stream === null) return
  const { path } = events.stream
  const name = path.slice(1)
  const owner = typeAt(installations.model(), name)
  if (owner !== null || taken.includes(path))
    throw new ConfigError(
      `events.stream: ${rest.prefix}${path} is ${owner === null ? 'a path of the service' : `the path of ${owner}`}. Choose another one: events: { stream: { path: '/event-stream' } }.`,
    )
}

const typeAt = (model: Model, name: string): string | null => model.paths.get(name.toLowerCase())?.uid ?? null

/** Streams of one IP address by default: one for this many of `limits.connections`, and at least this many. */
const [connectionsPerStream, minStreams] = [500, 20]

/** Registers the route. */
export function addEventStream(app: FastifyInstance, config: Config, backend: Backend, streams: OpenStreams): void {
  const { connections, eventStreamsPerAddress } = config.limits
  const perAddress = eventStreamsPerAddress ?? Math.max(minStreams, Math.ceil(connections / connectionsPerStream))
  const ids = createEventIds(`event stream ${config.secrets.jwtSecret}`)
  const parts: StreamParts = { backend, streams, ids, events: shareReads(backend.streamed), perAddress }
  app.route({
    method: everyMethod,
    url: `${config.rest.prefix}${config.events.stream!.path}`,
    handler: async (request, reply) => {
      if (request.method === 'OPTIONS') return allowedMethods(reply, methods)
      if (!methods.includes(request.method)) return methodNotAllowed(reply, methods)
      return stream(parts, request, reply)
    },
  })
}

async function stream(parts: StreamParts, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const { backend, streams, perAddress: most } = parts
  const { authorization } = request.headers
  const { url = '' } = request.raw
  const query = url.includes('?') ? url.slice(url.indexOf('?') + 1) : ''
  const parameters = readStreamParameters(backend.installations.model(), query, lastEventIdOf(request))
  const asking = { parameters, authorization, requestId: request.id }
  const reader = await identifyReader(backend, asking)
  ;(request as LoggedRequest).callerName = getCallerName(reader.asker)
  await holding(backend.installations.enter(reader.defaultLocale), async ({ documents, model }) => {
    const types = parameters.types === null ? [...model.types.values()] : [...parameters.types].map((uid) => model.types.get(uid)!)
    const allowed = types.filter((type) => mayFollow(documents, reader, type))
    if (allowed.length === 0 || (parameters.types !== null && allowed.length < types.length)) throw forbidden()
  })
  const owner = { key: `address ${request.ip}`, subject: 'Your address has', most }
  streams.check(owner)
  if (request.method === 'HEAD') return reply.headers(streamHeaders).send()
  const connection = startStream(streams, owner, reply)
  followUp(connection, sourceOf(parts, { connection, ...asking }), request)
  return reply
}

interface StreamClient {
  readonly connection: StreamConnection
  readonly parameters: StreamParameters
  readonly authorization: string | undefined
  readonly requestId: string
}

interface StreamParts {
  readonly backend: Pick<Backend, 'identification' | 'installations' | 'scopes'>
  readonly streams: OpenStreams
  readonly ids: EventIds
  readonly events: SharedEvents
  readonly perAddress: number
}

/** Events whose reads are shared by streams. */
interface SharedEvents extends StreamedEvents {
  /** Renders an event once for all streams that need the same text at the same time. */
  shared(key: string, summary: EntryEventSummary, render: () => Promise<string | null>): Promise<string | null>
}

function shareReads(events: StreamedEvents): SharedEvents {
  const batches = createSharedResults<EventBatch>()
  const rendered = createSharedResults<string | null>()
  return {
    ...events,
    read: (after) => batches.get(String(after), () => events.read(after)),
    shared: (key, { sequence }, render) => rendered.get(`${sequence} ${key}`, render),
  }
}

/** Identifies the caller of a stream. @throws ApiError 401 */
async function identifyReader(
  { identification, scopes }: StreamParts['backend'],
  { authorization, requestId, parameters: { status } }: Omit<StreamClient, 'connection'>,
): Promise<EventReader & { readonly defaultLocale: string }> {
  const { caller, access } = await identification.identify(authorization)
  const asker = toAsker(caller, requestId)
  const grants = scopes === null ? caller.grants : await scopes.apply(asker, caller.grants)
  return { asker, grants, status, defaultLocale: access.defaultLocale }
}

function sourceOf(parts: StreamParts, follower: StreamClient): StreamSource {
  const { events, ids } = parts
  return {
    ids,
    lastEventId: follower.parameters.lastEventId,
    first: events.first,
    last: events.last,
    subscribe: events.onEvents,
    send: async (position) => {
      const reader = await identifyReader(parts.backend, follower)
      const { summaries, first, readTo } = await events.read(position)
      if (first !== null && first > position + 1 && (await events.first()) > position + 1) return 'reset'
      return sendBatch(parts, follower, reader, { summaries, readTo })
    },
  }
}

/**
 * Sends the events of a batch that the caller may see, or those that a slow client takes before the caller has to be identified again.
 * @returns the last sequence that was sent; null if the caller may not follow any type
 */
async function sendBatch(
  { backend, events, ids }: StreamParts,
  { connection, parameters }: StreamClient,
  reader: EventReader & { readonly defaultLocale: string },
  { summaries, readTo }: Pick<EventBatch, 'summaries' | 'readTo'>,
): Promise<number | null> {
  const identifiedAt = performance.now()
  // Held for each event only: a slow client must not keep an installation that was replaced.
  const enter = () => backend.installations.enter(reader.defaultLocale)
  const wanted = await holding(enter(), async ({ documents, model }) => {
    const followed = [...model.types.values()].filter((type) => mayFollow(documents, reader, type)).map(({ uid }) => uid)
    return new Set(followed.filter((uid) => parameters.types?.has(uid) ?? true))
  })
  if (wanted.size === 0) return null
  const caller = getCallerName(reader.asker)
  const key = `${caller} ${reader.status} ${reader.grants.key}`
  for (const summary of summaries) {
    if (!connection.isOpen() || performance.now() - identifiedAt > heartbeatMs) return summary.sequence - 1
    if (!wanted.has(summary.uid) || parameters.events?.has(summary.event) === false) continue
    const data = await holding(enter(), ({ documents }) => events.shared(key, summary, () => visibleEvent(documents, reader, summary)))
    if (data !== null) await connection.write(`id: ${ids.of(summary.sequence)}\nevent: ${summary.event}\ndata: ${data}\n\n`)
  }
  return readTo
}

interface StreamParameters {
  /** Uids; null: every type that the caller may follow. */
  readonly types: ReadonlySet<string> | null
  /** Null: all. */
  readonly events: ReadonlySet<string> | null
  readonly status: 'published' | 'draft'
  /** The id of the last event that the client has; null: it starts with new events. */
  readonly lastEventId: string | null
}

const names = ['types', 'events', 'status', 'lastEventId']

const shortenInput = (text: string): string => boundedText(text, 100)

/** Reads the parameters. `header`: `Last-Event-ID`, which wins. @throws ApiError 400 */
function readStreamParameters(model: Model, query: string, header: string | undefined): StreamParameters {
  const given = new Map<string, string[]>()
  for (const [key, value] of new URLSearchParams(query)) {
    const name = key.replace(/\[\d*\]$/, '')
    if (!names.includes(name))
      throw validationError(`Invalid parameter ${shortenInput(name)}${didYouMean(name, names)}`, {
        source: 'query',
        param: shortenInput(name),
      })
    const values = given.get(name)
    if (values === undefined) given.set(name, [value])
    else values.push(value)
  }
  const list = (name: string): readonly string[] | null => given.get(name)?.flatMap((value) => value.split(',')) ?? null
  const types = list('types')
  for (const uid of types ?? []) {
    if (model.types.get(uid)?.exposed !== true)
      throw validationError(`There is no content-type ${shortenInput(uid)}${didYouMean(uid, model.types.keys())}`, {
        source: 'query',
        param: 'types',
      })
  }
  const events = list('events')
  for (const event of events ?? []) {
    if (!entryEvents.some((known) => known === event))
      throw validationError(`There is no event ${shortenInput(event)}. The events are ${entryEvents.join(', ')}`, {
        source: 'query',
        param: 'events',
      })
  }
  const status = given.get('status')?.at(-1) ?? 'published'
  if (status !== 'published' && status !== 'draft') throw validationError('Invalid status. Expected "published" or "draft"')
  return {
    types: types === null ? null : new Set(types),
    events: events === null ? null : new Set(events),
    status,
    lastEventId: header ?? given.get('lastEventId')?.at(-1) ?? null,
  }
}
