// Reads recorded events: whole, only the fields that decide about consumers and ordering, or only their subject, to read the current
// document.
import { type RawBuilder, sql } from 'kysely'
import type { MainConnection } from '../../database/database.js'
import type { ContentEvent, EntryEventName } from '../../foundation/public/events.js'

/** An event without its content. */
export interface EventHead {
  readonly sequence: number
  readonly event: string
  /** Its subject: `api::article.article <documentId>`, or `file <id>`. */
  readonly subject: string
  /** Milliseconds since 1970. */
  readonly createdAt: number
}

/** An event as it is sent: the payload is a JSON object. */
export interface RecordedEvent extends EventHead {
  readonly payload: string
}

/** Reads recorded events. */
export interface EventLog {
  /** Returns events with a higher sequence than `sequence`, oldest first. Older events may already be deleted. */
  after(sequence: number, limit?: number): Promise<readonly ContentEvent[]>
  /**
   * Returns the events after `sequence` up to `limit` events and `bytes` bytes, oldest first, and at least one. Events that are deleted
   * concurrently are left out at the beginning.
   */
  batch(sequence: number, limit: number, bytes: number): Promise<readonly ContentEvent[]>
  /** The same without their content. */
  heads(after: number, limit: number): Promise<readonly EventHead[]>
  /** Returns an event as it is sent; null if it was deleted. */
  read(sequence: number): Promise<RecordedEvent | null>
  /** Returns the sequence of the last recorded event; 0 if there is none. */
  last(): Promise<number>
  /** Returns the sequence of the oldest event that is kept; 0 if there is none. */
  first(): Promise<number>
}

interface HeadRow {
  readonly sequence: number
  readonly event: string
  readonly created_at: number
  /** The payload, or how it begins. */
  readonly payload: string
}

const table = sql.table('octavo_outbox')

// The beginning of a payload has the uid and the documentId (outbox.ts), which are at most 255 characters each.
const beginning = sql`substr(payload, 1, 1000) as payload`

/** Opens the recorded events for reading. */
export function openEventLog(database: Pick<MainConnection, 'rows'>): EventLog {
  const edge = async (which: 'min' | 'max'): Promise<number> => {
    const [row] = await database.rows<{ readonly edge: number }>(sql`select coalesce(${sql.raw(which)}(sequence), 0) as edge from ${table}`)
    return row!.edge
  }
  const read = async (condition: RawBuilder<unknown>): Promise<readonly ContentEvent[]> => {
    const rows = await database.rows<Pick<HeadRow, 'sequence' | 'payload'>>(sql`select sequence, payload from ${table} where ${condition}`)
    return rows.map((row) => ({ sequence: row.sequence, ...(JSON.parse(row.payload) as object) }) as ContentEvent)
  }
  return {
    after: (sequence, limit = 100) => read(sql`sequence > ${sequence} order by sequence limit ${limit}`),
    batch: async (sequence, limit, bytes) => {
      const sizes = await database.rows<{ readonly sequence: number; readonly bytes: number }>(
        sql`select sequence, octet_length(payload) as bytes from ${table} where sequence > ${sequence} order by sequence limit ${limit}`,
      )
      const last = lastWithin(sizes, bytes)
      return last === null ? [] : read(sql`sequence > ${sequence} and sequence <= ${last} order by sequence`)
    },
    heads: async (after, limit) => {
      const rows = await database.rows<HeadRow>(
        sql`select sequence, event, created_at, ${beginning} from ${table} where sequence > ${after} order by sequence limit ${limit}`,
      )
      return rows.map(headOf)
    },
    read: async (sequence) => {
      const [row] = await database.rows<HeadRow>(
        sql`select sequence, event, created_at, payload from ${table} where sequence = ${sequence}`,
      )
      return row === undefined ? null : { ...headOf(row), payload: row.payload }
    },
    last: () => edge('max'),
    first: () => edge('min'),
  }
}

/** The last of the first rows that have at most `bytes` together, but the first one in any case; null if there is none. */
function lastWithin(rows: readonly { readonly sequence: number; readonly bytes: number }[], bytes: number): number | null {
  let [last, left] = [null as number | null, bytes]
  for (const row of rows) {
    left -= Number(row.bytes)
    if (last !== null && left < 0) break
    last = row.sequence
  }
  return last
}

const headOf = ({ sequence, event, created_at, payload }: HeadRow): EventHead => ({
  sequence,
  event,
  createdAt: created_at,
  subject: subjectOf(payload),
})

const ofEntry =
  /^\{"event":"[^"]*","createdAt":"[^"]*","model":"[^"]*","uid":"([^"]*)","entry":\{"id":(\d+),"documentId":(?:"([^"]*)"|null)/
const ofFile = /^\{"event":"[^"]*","createdAt":"[^"]*","media":\{"id":(\d+)/

/** The subject of an event, from the beginning of its payload. */
function subjectOf(payload: string): string {
  const [, uid, id, documentId] = ofEntry.exec(payload) ?? []
  if (uid !== undefined) return `${uid} ${documentId ?? `row ${id}`}`
  const [, file] = ofFile.exec(payload) ?? []
  return file === undefined ? '' : `file ${file}`
}

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
