// Reads recorded events: whole, as heads (the fields that decide about consumers and ordering), or as summaries.
import { type RawBuilder, sql } from 'kysely'
import type { MainConnection } from '../../database/database.js'
import type { ContentEvent, EntryEventName } from '../../foundation/public/events.js'

/** An event without its content. */
export interface EventHead {
  readonly sequence: number
  readonly event: string
  /** `api::article.article <documentId>`, or `file <id>`. */
  readonly subject: string
  /** Milliseconds since 1970. */
  readonly createdAt: number
}

/** An event with its payload, a JSON object. */
export interface RecordedEvent extends EventHead {
  readonly payload: string
}

export interface EventLog {
  /** Returns the events after `sequence`, oldest first. Older ones may have been deleted. */
  after(sequence: number, limit?: number): Promise<readonly ContentEvent[]>
  /**
   * Returns the events after `sequence`, oldest first: at most `limit`, and at most `bytes` bytes unless the first is larger. Events
   * deleted concurrently are missing at the beginning.
   */
  batch(sequence: number, limit: number, bytes: number): Promise<readonly ContentEvent[]>
  /** Like `after`, without payloads. */
  heads(after: number, limit: number): Promise<readonly EventHead[]>
  /** Returns null if the event was deleted. */
  read(sequence: number): Promise<RecordedEvent | null>
  /** Sequence of the last recorded event; 0 if there is none. */
  last(): Promise<number>
  /** Sequence of the oldest stored event; 0 if there is none. */
  first(): Promise<number>
}

interface HeadRow {
  readonly sequence: number
  readonly event: string
  readonly created_at: number
  /** The payload, or its beginning. */
  readonly payload: string
}

const table = sql.table('octavo_outbox')

// The beginning contains the uid and the documentId (outbox.ts), each at most 255 characters.
const beginning = sql`substr(payload, 1, 1000) as payload`

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

/** The last row within `bytes` in total, at least the first; null if there are no rows. */
function lastWithin(rows: readonly { readonly sequence: number; readonly bytes: number }[], bytes: number): number | null {
  let last = null as number | null
  let left = bytes
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

/** Extracts the subject of an event from the beginning of its payload. */
function subjectOf(payload: string): string {
  const [, uid, id, documentId] = ofEntry.exec(payload) ?? []
  if (uid !== undefined) return `${uid} ${documentId ?? `row ${id}`}`
  const [, file] = ofFile.exec(payload) ?? []
  return file === undefined ? '' : `file ${file}`
}

/** An event about a version of a document, without content. */
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
  /** True if the version has a publication time; rows of types without drafts have one too. */
  readonly isPublished: boolean
}

export interface EventBatch {
  readonly summaries: readonly EntryEventSummary[]
  /** Sequence of the first event read; null if there was none. */
  readonly first: number | null
  /** Sequence of the last event read, including events about files. */
  readonly readTo: number
}

const batchEvents = 100

/** Reads a batch of events of at most `bytes` bytes, or one event that is larger. */
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
      sequence,
      createdAt,
      model,
      uid,
      id,
      documentId,
      event: event.event,
      locale: typeof locale === 'string' ? locale : null,
      isPublished: publishedAt !== null && publishedAt !== undefined,
    },
  ]
}
