// The subject of a recorded event, without the content at that time: enough to read the current document.
import type { MainConnection } from '../../database/database.js'
import type { ContentEvent, EntryEventName } from '../../foundation/public/events.js'
import { openEventLog } from './event-log.js'

/** An event about a version of a document. */
export interface EntryEventSummary {
  readonly sequence: number
  readonly event: EntryEventName
  /** ISO 8601. */
  readonly createdAt: string
  readonly model: string
  readonly uid: string
  readonly id: number
  readonly documentId: string
  /** Null for types that are not localized. */
  readonly locale: string | null
  /** True if the version has a publication time, which also rows of types without drafts have. */
  readonly isPublished: boolean
}

/** Events that were read, and the last sequence among them, of files too. */
export interface EventBatch {
  readonly summaries: readonly EntryEventSummary[]
  /** The sequence of the first event that was read; null if there was none. */
  readonly first: number | null
  /** The sequence of the last event read. */
  readonly readTo: number
}

/** Events of one batch, at most. */
const batchEvents = 100

/** Reads some events after a sequence, of `bytes` bytes together at most, or one that is larger. */
export async function readEventBatch(database: Pick<MainConnection, 'rows'>, after: number, bytes: number): Promise<EventBatch> {
  const events = await openEventLog(database).batch(after, batchEvents, bytes)
  return {
    summaries: events.flatMap(summariesOf),
    first: events[0]?.sequence ?? null,
    readTo: events.at(-1)?.sequence ?? after,
  }
}

function summariesOf(event: ContentEvent): readonly EntryEventSummary[] {
  if (!('entry' in event)) return []
  const { sequence, createdAt, model, uid, entry } = event
  const { id, documentId, locale = null, publishedAt } = entry
  if (typeof id !== 'number' || typeof documentId !== 'string') return []
  return [
    {
      ...{ sequence, createdAt, model, uid, id, documentId },
      event: event.event,
      locale: typeof locale === 'string' ? locale : null,
      isPublished: publishedAt !== null && publishedAt !== undefined,
    },
  ]
}
