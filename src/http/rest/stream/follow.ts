// Sends the events that a caller may see to one client, from its last position: in batches, for each of which the caller is identified
// again, so that a revoked token ends the stream, and changed permissions apply.
import { type EventReader, mayFollow, visibleEvent } from '../../../content/documents/visible-events.js'
import type { EventBatch } from '../../../content/events/event-summaries.js'
import { openWakeUp } from '../../../foundation/runtime/wake-up.js'
import { holding } from '../../../project/installations.js'
import type { Backend } from '../../backend.js'
import { askerOf, nameOf } from '../../request-context.js'
import type { StreamConnection } from './connection.js'
import type { EventIds } from './event-id.js'
import type { StreamParameters } from './parameters.js'
import type { Streams } from './streams.js'

/** A client and what it follows. */
export interface Follower {
  readonly connection: StreamConnection
  readonly parameters: StreamParameters
  readonly authorization: string | undefined
  readonly requestId: string
}

/** What streams use. */
export interface StreamParts {
  readonly backend: Pick<Backend, 'identification' | 'installations' | 'scopes'>
  readonly streams: Streams
  readonly ids: EventIds
}

/** Milliseconds after which something is sent although there are no events. */
const heartbeat = 15_000
/** Milliseconds until a browser connects again. */
const reconnectAfter = 3_000

/** Identifies the caller of a stream. @throws ApiError 401 */
export async function readerOf(
  { identification, scopes }: StreamParts['backend'],
  { authorization, requestId, parameters: { status } }: Omit<Follower, 'connection'>,
): Promise<EventReader & { readonly defaultLocale: string }> {
  const { caller, access } = await identification.identify(authorization)
  const asker = askerOf(caller, requestId)
  const grants = scopes === null ? caller.grants : await scopes.apply(asker, caller.grants)
  return { asker, grants, status, defaultLocale: access.defaultLocale }
}

/** Follows until the client leaves. @throws ApiError 401 once the caller is no longer known, and other errors that end the stream */
export async function follow(parts: StreamParts, follower: Follower): Promise<void> {
  const { streams, ids } = parts
  const { connection, parameters } = follower
  const wakeUp = openWakeUp()
  const unsubscribe = streams.onEvents(wakeUp.now)
  connection.onEnd(wakeUp.now)
  try {
    let { position, isReset } = await begin(parts, parameters.lastEventId)
    await connection.write(`retry: ${reconnectAfter}\n${isReset ? resetBlock(ids.of(position)) : `id: ${ids.of(position)}\n\n`}`)
    while (connection.isOpen()) {
      const reader = await readerOf(parts.backend, follower)
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
      if (hasRead || (await wakeUp.wait(heartbeat))) continue
      // Without data, it is no event: browsers only remember the id.
      await connection.write(`id: ${ids.of(position)}\n\n`)
    }
  } finally {
    unsubscribe()
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

/**
 * Sends the events of a batch that the caller may see, or those that a slow client takes before the caller has to be identified again.
 * @returns the sequence up to which events were sent; null if the caller may not follow any type now
 */
async function sendBatch(
  { backend, streams, ids }: StreamParts,
  { connection, parameters }: Follower,
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
  const caller = nameOf(reader.asker)
  const key = `${caller} ${reader.status} ${reader.grants.key}`
  for (const summary of summaries) {
    if (!connection.isOpen() || performance.now() - identifiedAt > heartbeat) return summary.sequence - 1
    if (!wanted.has(summary.uid) || parameters.events?.has(summary.event) === false) continue
    const data = await holding(enter(), ({ documents }) => streams.shared(key, summary, () => visibleEvent(documents, reader, summary)))
    if (data !== null) await connection.write(`id: ${ids.of(summary.sequence)}\nevent: ${summary.event}\ndata: ${data}\n\n`)
  }
  return readTo
}
