// /events: what open pages follow, as server-sent events: changes of documents, presence, and changes of the model.
import type { FastifyReply } from 'fastify'
import * as z from 'zod'
import { visiblePresence } from '../../../admin/content/document-presence.js'
import { decideVersions, type VersionReader } from '../../../admin/content/visible-versions.js'
import { administratorName, readNames } from '../../../admin/names.js'
import type { PresentTab } from '../../../admin/presence.js'
import { timestamp, toTimestamp } from '../../../admin/values.js'
import type { DocumentChange } from '../../../content/events/changes.js'
import type { Model } from '../../../model/schema/types.js'
import { holding } from '../../../project/installation.js'
import {
  createEventIds,
  followUp,
  lastEventIdOf,
  type OpenStreams,
  type StreamConnection,
  type StreamOwner,
  type StreamSource,
  startStream,
  streamHeaders,
} from '../../open-streams.js'
import { type Resource, type ResourceRequest, resource, respondNothing } from '../resource.js'
import { documentPresence, showPresence } from './presence.js'

/** Open streams of an administrator. */
const maxStreams = 20

const actions = {
  'entry.create': 'create',
  'entry.update': 'update',
  'entry.delete': 'delete',
  'entry.publish': 'publish',
  'entry.unpublish': 'unpublish',
  'entry.draft-discard': 'discardDraft',
  schedule: 'schedule',
} as const

const contentEvent = z.strictObject({
  event: z.literal('content'),
  type: z.string(),
  documentId: z.string(),
  /** Null on types without locales. */
  locales: z.array(z.string()).nullable(),
  action: z.enum(Object.values(actions)),
  /** Null: a program, a visitor, or code of the project. */
  administrator: administratorName.nullable(),
  at: timestamp,
})

const pageEvent = z.discriminatedUnion('event', [
  contentEvent,
  documentPresence.extend({ event: z.literal('presence') }),
  /** Another model is in force. */
  z.strictObject({ event: z.literal('model') }),
  /** Events were missed: nothing that the page has read may be current. */
  z.strictObject({ event: z.literal('reset') }),
])

type PageEvent = z.output<typeof pageEvent>

const toBlock = (event: PageEvent, id = ''): string => `${id}event: ${event.event}\ndata: ${JSON.stringify(event)}\n\n`

/** The resource of events. */
export const eventResources: readonly Resource[] = [
  resource({
    method: 'GET',
    path: '/events',
    summary: 'Follow changes of documents, presence, and changes of the model',
    who: 'administrator',
    status: 200,
    refusals: [429, 503],
    response: null,
    events: pageEvent,
    handle: async (context) => {
      const { administration, administrator, leaveInstallation, parts, request, reply } = context
      const owner = { key: `administrator ${administrator.id}`, subject: 'You have', most: maxStreams }
      parts.streams.check(owner)
      if (request.method === 'HEAD') return respondNothing(streamHeaders)
      const model = context.installation.model
      const stream: PageStream = { context, wake: () => {}, position: 0, model, presence: [], shown: new Map() }
      leaveInstallation()
      const unfollow = await administration.feed.follow(() => {
        if (hasNews(stream)) stream.wake()
      })
      const connection = begin(parts.streams, owner, reply, unfollow)
      followUp(connection, sourceOf(stream, connection, unfollow), request)
      return respondNothing()
    },
  }),
]

/** Starts a stream within the limits, which other requests may have reached in the meantime. @throws ApiError 429, 503 */
function begin(streams: OpenStreams, owner: StreamOwner, reply: FastifyReply, unfollow: () => void): StreamConnection {
  try {
    streams.check(owner)
  } catch (error) {
    unfollow()
    throw error
  }
  return startStream(streams, owner, reply)
}

/** A stream, and what its client knows. */
interface PageStream {
  readonly context: Pick<ResourceRequest, 'administration' | 'parts' | 'request'>
  wake(): void
  position: number
  model: Model
  presence: readonly PresentTab[]
  /** The data of presence by document. */
  shown: ReadonlyMap<string, PageEvent>
}

const hasNews = ({ context: { administration, parts }, position, model, presence }: PageStream): boolean =>
  administration.feed.lastChange() !== position ||
  administration.feed.presence() !== presence ||
  parts.backend.installations.model() !== model

function sourceOf(stream: PageStream, connection: StreamConnection, unfollow: () => void): StreamSource {
  const { administration, parts, request } = stream.context
  const { changes, feed } = administration
  const ids = createEventIds(administration.keys.events)
  return {
    ids,
    lastEventId: lastEventIdOf(request) ?? null,
    first: changes.first,
    last: changes.last,
    subscribe: (wake) => {
      stream.wake = wake
      return unfollow
    },
    send: async (position) => {
      stream.position = position
      const administrator = await administration.identify(request.headers.authorization)
      const { defaultLocale } = await parts.backend.identification.access()
      const batch = await changes.read(position)
      if (batch.isIncomplete) return 'reset'
      const blocks = await holding(parts.backend.installations.enter(defaultLocale), async ({ documents, model }) => {
        const reader = { documents, administrator, grants: await administration.grantsOf(administrator, model) }
        const isChanged = model !== stream.model
        stream.model = model
        return [
          ...(await contentBlocks(administration, reader, batch.changes, ids.of)),
          ...(isChanged ? [toBlock({ event: 'model' })] : []),
          ...(await presenceBlocks(stream, reader, feed.presence())),
        ]
      })
      for (const block of blocks) await connection.write(block)
      stream.position = batch.readTo
      return batch.readTo
    },
  }
}

/** Events of the changes that the reader may know; consecutive ones of a document in several locales are one event. */
async function contentBlocks(
  { database }: ResourceRequest['administration'],
  reader: VersionReader,
  changes: readonly DocumentChange[],
  idOf: (sequence: number) => string,
): Promise<readonly string[]> {
  const mayKnow = await decideVersions(reader, changes)
  const known = changes.filter((change) => mayKnow(change, change.event === 'entry.delete'))
  const nameOf = await readNames(
    database,
    known.flatMap(({ administratorId }) => administratorId ?? []),
  )
  const groups: DocumentChange[][] = []
  for (const change of known) {
    const group = groups.at(-1)
    if (group !== undefined && isSameAction(group[0]!, change)) group.push(change)
    else groups.push([change])
  }
  return groups.map((group) => {
    const { uid, documentId, event, administratorId, madeAt, sequence } = group.at(-1)!
    const locales = [...new Set(group.flatMap(({ locale }) => locale ?? []))]
    const data: PageEvent = {
      event: 'content',
      type: uid,
      documentId,
      locales: locales.length === 0 ? null : locales,
      action: actions[event],
      administrator: administratorId === null ? null : nameOf(administratorId),
      at: toTimestamp(madeAt),
    }
    return toBlock(data, `id: ${idOf(sequence)}\n`)
  })
}

const isSameAction = (one: DocumentChange, other: DocumentChange): boolean =>
  one.uid === other.uid && one.documentId === other.documentId && one.event === other.event && one.administratorId === other.administratorId

/** The documents whose tabs have changed for the reader. */
async function presenceBlocks(stream: PageStream, reader: VersionReader, presence: readonly PresentTab[]): Promise<readonly string[]> {
  const visible = await visiblePresence(stream.context.administration.database, reader, presence)
  const now = new Map(
    visible.map((document) => [`${document.type} ${document.documentId}`, { event: 'presence' as const, ...showPresence(document) }]),
  )
  const changed = [...now].flatMap(([key, data]) => (JSON.stringify(data) === JSON.stringify(stream.shown.get(key)) ? [] : [data]))
  const gone = [...stream.shown].flatMap(([key, data]) => (now.has(key) ? [] : [{ ...data, people: [] } as PageEvent]))
  Object.assign(stream, { presence, shown: now })
  return [...changed, ...gone].map((data) => toBlock(data))
}
