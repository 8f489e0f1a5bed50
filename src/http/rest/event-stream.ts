// The route of the event stream: `GET /api/events`, where the project has it.
import { createHash } from 'node:crypto'
import type { OutgoingHttpHeaders } from 'node:http'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type EventReader, mayFollow, visibleEvent } from '../../content/documents/guard/visible-events.js'
import type { EventBatch } from '../../content/events/event-log.js'
import type { Config } from '../../foundation/config/config.js'
import { didYouMean } from '../../foundation/errors/did-you-mean.js'
import { ApiError, boundedText, ConfigError, forbidden, validationError } from '../../foundation/errors/errors.js'
import { entryEvents } from '../../foundation/public/events.js'
import { openSealing, sealBytes } from '../../foundation/runtime/encryption.js'
import { openWakeUp } from '../../foundation/runtime/notifier.js'
import type { Model } from '../../model/schema/types.js'
import { holding } from '../../project/installation.js'
import type { Backend } from '../backend.js'
import type { LoggedRequest } from '../request-context.js'
import { getCallerName, toAsker } from '../request-context.js'
import { allowedMethods, methodNotAllowed } from '../respond.js'
import { everyMethod } from './mount.js'
import { createStreams, type OpenStreams, type StreamConnection, startStream } from './open-streams.js'

const methods = ['HEAD', 'GET']

/** Proxies must not cache, change or buffer the stream. */
const headers = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store, no-transform',
  'x-accel-buffering': 'no',
}

/** Opens the streams of a project; null if it has none. @throws ConfigError if something else has the path */
export function createEventStreams(
  { events, limits, rest }: Config,
  { installations, streamed }: Backend,
  taken: readonly string[],
): OpenStreams | null {
  if (events.stream === null) return null
  const { path } = events.stream
  const name = path.slice(1)
  const owner = typeAt(installations.model(), name)
  if (owner !== null || taken.includes(path))
    throw new ConfigError(
      `events.stream: ${rest.prefix}${path} is ${owner === null ? 'a path of the service' : `the path of ${owner}`}. Choose another one: events: { stream: { path: '/event-stream' } }.`,
    )
  return createStreams(streamed, limits)
}

const typeAt = (model: Model, name: string): string | null => model.paths.get(name.toLowerCase())?.uid ?? null

/** A stream with more unsent bytes is closed. */
const maxUnsentBytes = 1_048_576

/** Registers the route. */
export function addEventStream(app: FastifyInstance, config: Config, backend: Backend, streams: OpenStreams): void {
  const parts: StreamParts = { backend, streams, ids: createEventIds(config.secrets.jwtSecret) }
  app.route({
    method: everyMethod,
    url: `${config.rest.prefix}${config.events.stream!.path}`,
    handler: async (request, reply) => {
      if (request.method === 'OPTIONS') return allowedMethods(reply, methods)
      if (!methods.includes(request.method)) return methodNotAllowed(reply, methods)
      return stream(parts, maxUnsentBytes, request, reply)
    },
  })
}

async function stream(parts: StreamParts, maxUnsentBytes: number, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const { backend, streams } = parts
  const { authorization, 'last-event-id': lastEventId } = request.headers
  const { url = '' } = request.raw
  const query = url.includes('?') ? url.slice(url.indexOf('?') + 1) : ''
  const header = Array.isArray(lastEventId) ? lastEventId.at(-1) : lastEventId
  const parameters = readStreamParameters(backend.installations.model(), query, header)
  const asking = { parameters, authorization, requestId: request.id }
  const reader = await identifyReader(backend, asking)
  ;(request as LoggedRequest).callerName = getCallerName(reader.asker)
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
  const connection = startStream(raw, maxUnsentBytes)
  streams.enter(request.ip, connection)
  // The status was sent: an error can only end the stream. The client connects again, and gets the error then.
  sendEvents(parts, { connection, ...asking })
    .catch((error) => {
      if (!(error instanceof ApiError) || error.status >= 500) reply.server.causes.report(error, 'an event stream ended', request.id)
    })
    .finally(connection.end)
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
}

/** Interval of messages without events. */
const heartbeatMs = 15_000
const reconnectAfterMs = 3_000

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

/** Follows until the client leaves. @throws ApiError 401 once the caller is no longer known, and other errors that end the stream */
async function sendEvents(parts: StreamParts, follower: StreamClient): Promise<void> {
  const { streams, ids } = parts
  const { connection, parameters } = follower
  const wakeUp = openWakeUp()
  const unsubscribe = streams.onEvents(wakeUp.now)
  connection.onEnd(wakeUp.now)
  try {
    let { position, isReset } = await begin(parts, parameters.lastEventId)
    await connection.write(`retry: ${reconnectAfterMs}\n${isReset ? resetBlock(ids.of(position)) : `id: ${ids.of(position)}\n\n`}`)
    while (connection.isOpen()) {
      const reader = await identifyReader(parts.backend, follower)
      const { summaries, first, readTo } = await streams.read(position)
      isReset = first !== null && first > position + 1 && (await streams.events.first()) > position + 1
      if (isReset) {
        position = await streams.events.last()
        await connection.write(resetBlock(ids.of(position)))
        continue
      }
      const sentTo = await sendBatch(parts, follower, reader, { summaries, readTo })
      if (sentTo === null) return
      const hasRead = sentTo > position
      position = sentTo
      if (hasRead || (await wakeUp.wait(heartbeatMs))) continue
      // Without data, it is not an event: browsers only store the id.
      await connection.write(`id: ${ids.of(position)}\n\n`)
    }
  } finally {
    unsubscribe()
  }
}

/** The first position of a client. `isReset`: it has missed events that were deleted. */
async function begin(
  { streams: { events }, ids }: StreamParts,
  lastEventId: string | null,
): Promise<{ position: number; isReset: boolean }> {
  const last = await events.last()
  if (lastEventId === null || lastEventId === '') return { position: last, isReset: false }
  const sequence = ids.read(lastEventId)
  const isKnown = sequence !== null && sequence <= last && (sequence === last || (await events.first()) <= sequence + 1)
  return isKnown ? { position: sequence, isReset: false } : { position: last, isReset: true }
}

const resetBlock = (id: string): string => `id: ${id}\nevent: reset\ndata: {"event":"reset"}\n\n`

/**
 * Sends the events of a batch that the caller may see, or those that a slow client takes before the caller has to be identified again.
 * @returns the last sequence that was sent; null if the caller may not follow any type
 */
async function sendBatch(
  { backend, streams, ids }: StreamParts,
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
    const data = await holding(enter(), ({ documents }) => streams.shared(key, summary, () => visibleEvent(documents, reader, summary)))
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

interface EventIds {
  of(sequence: number): string
  /** The sequence of an id; null if this installation has not issued it. */
  read(id: string): number | null
}

const sequenceBytes = 8

/** Opens the ids. Processes with the same secret understand each other's. */
function createEventIds(secret: string): EventIds {
  const { seal, open } = openSealing(createHash('sha256').update(`event stream ${secret}`).digest())
  return {
    of: (sequence) => {
      const plain = Buffer.alloc(sequenceBytes)
      plain.writeBigUInt64BE(BigInt(sequence))
      return seal(plain).toString('base64url')
    },
    read: (id) => {
      const bytes = Buffer.from(id, 'base64url')
      const plain = bytes.length === sequenceBytes + sealBytes ? open(bytes) : null
      return plain === null ? null : Number(plain.readBigUInt64BE())
    },
  }
}
