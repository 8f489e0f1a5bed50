// Sends the events that a caller may know of to one client, from the place where it was: in batches, for each of which the caller is
// identified again, so that a token that was revoked ends the stream and permissions that were taken away hold.
import { type EventReader, mayFollow, visibleEvent } from '../../documents/visible-events.js'
import type { EntryFacts } from '../../events/event-facts.js'
import { holding } from '../../installation.js'
import { openWakeUp } from '../../runtime/wake-up.js'
import type { Backend } from '../backend.js'
import { operationCaller } from '../request-context.js'
import type { StreamConnection } from './connection.js'
import type { EventIds } from './event-id.js'
import type { StreamParameters } from './parameters.js'
import type { Streams } from './streams.js'

/** A client and what it follows. */
export interface Follower {
  readonly connection: StreamConnection
  readonly parameters: StreamParameters
  readonly authorization: string | undefined
}

/** What streams use. */
export interface StreamParts {
  readonly backend: Pick<Backend, 'identification' | 'installations' | 'applyScopes'>
  readonly streams: Streams
  readonly ids: EventIds
}

/** Milliseconds after which the client hears something although nothing has happened. */
const heartbeat = 15_000
/** Milliseconds until a browser connects again. */
const reconnectAfter = 3_000

/** Identifies the caller of a stream. @throws ApiError 401 */
export async function readerOf(
  { identification, applyScopes }: StreamParts['backend'],
  authorization: string | undefined,
  { status }: Pick<StreamParameters, 'status'>,
): Promise<EventReader & { readonly defaultLocale: string }> {
  const { caller, access } = await identification.identify(authorization)
  const asker = operationCaller(caller)
  const grants = applyScopes === null ? caller.grants : await applyScopes(asker, caller.grants)
  return { caller: asker, grants, status, defaultLocale: access.defaultLocale }
}

/** Follows until the client leaves. @throws ApiError 401 once the caller is no longer known, and other errors that end the stream */
export async function follow(parts: StreamParts, follower: Follower): Promise<void> {
  const { streams, ids } = parts
  const { connection, parameters } = follower
  const wakeUp = openWakeUp()
  const endNews = streams.onNews(wakeUp.now)
  connection.onEnd(wakeUp.now)
  try {
    let { position, isReset } = await begin(parts, parameters.lastEventId)
    await connection.write(`retry: ${reconnectAfter}\n${isReset ? resetBlock(ids.of(position)) : `id: ${ids.of(position)}\n\n`}`)
    while (connection.isOpen()) {
      const reader = await readerOf(parts.backend, follower.authorization, parameters)
      const { facts, first, readTo } = await streams.read(position)
      isReset = first !== null && first > position + 1 && (await streams.events.first()) > position + 1
      if (isReset) {
        position = await streams.events.last()
        await connection.write(resetBlock(ids.of(position)))
        continue
      }
      if (!(await sendBatch(parts, follower, reader, facts))) return
      const hasRead = readTo > position
      position = readTo
      if (hasRead || (await wakeUp.wait(heartbeat))) continue
      // Without data, it is no event: browsers only remember the id.
      await connection.write(`id: ${ids.of(position)}\n\n`)
    }
  } finally {
    endNews()
  }
}

/** Where a client begins. `isReset`: it has missed events that are no longer there. */
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

/** Sends what the caller may know of a batch; false if it may not follow any type now. */
async function sendBatch(
  { backend, streams, ids }: StreamParts,
  { connection, parameters }: Follower,
  reader: EventReader & { readonly defaultLocale: string },
  facts: readonly EntryFacts[],
): Promise<boolean> {
  return holding(backend.installations.enter(reader.defaultLocale), async ({ documents, model }) => {
    const followed = [...model.types.values()].filter((type) => mayFollow(documents, reader, type)).map(({ uid }) => uid)
    const wanted = new Set(followed.filter((uid) => parameters.types?.has(uid) ?? true))
    if (wanted.size === 0) return false
    const caller = reader.caller.kind === 'public' ? 'public' : `${reader.caller.kind} ${reader.caller.id}`
    for (const fact of facts) {
      if (!connection.isOpen()) return false
      if (!wanted.has(fact.uid) || parameters.events?.has(fact.event) === false) continue
      const key = `${caller} ${reader.status} ${reader.grants.key}`
      const data = await streams.shared(key, fact, () => visibleEvent(documents, reader, fact))
      if (data !== null) await connection.write(`id: ${ids.of(fact.sequence)}\nevent: ${fact.event}\ndata: ${data}\n\n`)
    }
    return true
  })
}
