// Changes of documents, without content, for the pages of administrators: recorded in the transaction of the write, and only while a page
// follows in any process.
import { sql } from 'kysely'
import { type MainConnection, serviceTransaction, type Transaction, type WriteDatabase } from '../../database/database.js'
import { insertMissing } from '../../database/portable-sql.js'
import type { EntryEventName } from '../../foundation/public/events.js'
import { elapsed } from '../../foundation/runtime/clock.js'
import type { ContentType } from '../../model/schema/types.js'
import type { DocumentVersion } from '../../query/rest/versions.js'

/** A change of a document or of its scheduled actions. */
type ChangeName = EntryEventName | 'schedule'

/** A change of a version of a document. */
export interface DocumentChange {
  readonly sequence: number
  readonly event: ChangeName
  /** Milliseconds since 1970. */
  readonly madeAt: number
  /** Null: the writer was no administrator. */
  readonly administratorId: number | null
  readonly uid: string
  readonly documentId: string
  /** Null on types without locales. */
  readonly locale: string | null
}

/** The time of a change, and its administrator. */
export interface ChangeCause {
  readonly now: number
  readonly policy: { readonly writerId: number } | null
}

/** Changes after a sequence. */
interface ChangeBatch {
  readonly changes: readonly DocumentChange[]
  /** Sequence of the last change read. */
  readonly readTo: number
  /** True if earlier ones may be missing: the recording was interrupted, or they were deleted. */
  readonly isIncomplete: boolean
}

export interface Changes {
  isFollowed(): boolean
  /** Reads the followers of other processes. */
  reload(): Promise<void>
  /**
   * Follows until the returned function is called: all processes record changes from their next request on. `changed` is called after
   * commits of this process.
   */
  follow(changed: () => void): Promise<() => void>
  /** Records a change of the scheduled actions on a document, in its transaction. */
  recordSchedule(transaction: Transaction, change: Omit<DocumentChange, 'sequence' | 'event'>): void
  /** Call after commits that may have recorded changes. */
  committed(): void
  read(after: number): Promise<ChangeBatch>
  /** Sequences of the oldest and the last stored change; 0 if there are none. */
  first(): Promise<number>
  last(): Promise<number>
  close(): void
}

interface ChangesOptions {
  readonly database: Pick<MainConnection, 'rows'>
  readonly writer: WriteDatabase
  now(): number
  /** Called when `isFollowed` may have changed. */
  changed(): void
  failed(error: unknown): void
}

export const followerTable = 'octavo_followers'
const followers = sql.table(followerTable)
const changes = sql.table('octavo_document_changes')

/** The follower on behalf of all pages. */
const follower = 'administration'
/** The event of the first row of a recording. */
const begin = 'begin'

/** Milliseconds between signs of life of followers. */
const beatInterval = 20_000
/** Milliseconds for which changes are recorded after the last page has left: it may continue after a break. */
const longestBreak = 300_000
/** Stored changes, apart from those since the last sign of life. */
const maxChanges = 10_000
const batchChanges = 200

/** Statement that records a change. Execute it before a row is deleted, and after any other change. */
export const recordChange = (event: EntryEventName, type: ContentType, row: DocumentVersion, { now, policy }: ChangeCause) =>
  sql`insert into ${changes} (event, made_at, administrator_id, type, document_id, locale)
    select ${event}, ${now}, ${policy?.writerId ?? 0}, ${type.uid}, document_id, ${type.localized ? row.locale : null}
    from ${sql.table(type.table)} where id = ${row.id} and document_id is not null`

/** Inserts a change in the order of commits. */
function insertChange(
  transaction: Transaction,
  event: string,
  { madeAt, administratorId, uid, documentId, locale }: Omit<DocumentChange, 'sequence' | 'event'>,
): void {
  const { commitOrder } = transaction.dialect
  if (commitOrder !== null) transaction.follow(commitOrder)
  transaction.follow(sql`insert into ${changes} (event, made_at, administrator_id, type, document_id, locale)
    values (${event}, ${madeAt}, ${administratorId ?? 0}, ${uid}, ${documentId}, ${locale})`)
}

export function openChanges(options: ChangesOptions): Changes {
  const { database, writer } = options
  const pages = new Set<{ changed(): void }>()

  async function edge(which: 'min' | 'max'): Promise<number> {
    const [row] = await database.rows<{ readonly edge: number }>(
      sql`select coalesce(${sql.raw(which)}(sequence), 0) as edge from ${changes}`,
    )
    return Number(row!.edge)
  }
  const [first, last] = [() => edge('min'), () => edge('max')]

  async function prune(): Promise<void> {
    const oldest = (await last()) - maxChanges
    if (oldest > (await first())) await writer.run(sql`delete from ${changes} where sequence <= ${oldest}`)
  }

  const recording = openRecording(options, { hasPages: () => pages.size > 0, prune })
  return {
    isFollowed: recording.isOn,
    reload: recording.reload,
    follow: async (changed) => {
      const page = { changed }
      pages.add(page)
      try {
        if (pages.size === 1 || !recording.isOn()) await recording.beat()
      } catch (error) {
        pages.delete(page)
        throw error
      }
      return () => void pages.delete(page)
    },
    recordSchedule: (transaction, change) => {
      if (recording.isOn()) insertChange(transaction, 'schedule', change)
    },
    committed: () => {
      for (const { changed } of pages) changed()
    },
    read: async (after) => {
      const rows = await database.rows<ChangeRow>(sql`select sequence, event, made_at, administrator_id, type, document_id, locale
        from ${changes} where sequence > ${after} order by sequence limit ${batchChanges}`)
      const readTo = Number(rows.at(-1)?.sequence ?? after)
      const isCut = rows.length > 0 && Number(rows[0]!.sequence) > after + 1 && (await first()) > after + 1
      return { changes: rows.map(toChange), readTo, isIncomplete: isCut || rows.some(({ event }) => event === begin) }
    },
    first,
    last,
    close: recording.close,
  }
}

/** The pages of this process. */
interface OwnPages {
  hasPages(): boolean
  /** Deletes the oldest changes. */
  prune(): Promise<void>
}

/** The recording of changes, which all processes begin and end together. */
interface ChangeRecording extends Pick<Changes, 'reload' | 'close'> {
  isOn(): boolean
  /** Shows a sign of life of a page, and begins the recording if it is not on. */
  beat(): Promise<void>
}

function openRecording({ database, writer, now, changed, failed }: ChangesOptions, { hasPages, prune }: OwnPages): ChangeRecording {
  let isOn = false
  let timer: NodeJS.Timeout | null = null
  /** The last sign of life of other processes, and when it was first seen. */
  let lastBeat = { beat: -1, at: 0 }

  function set(value: boolean): void {
    if (value === isOn) return
    isOn = value
    if (timer !== null) clearInterval(timer)
    timer = value ? setInterval(look, beatInterval).unref() : null
    lastBeat = { beat: -1, at: 0 }
    changed()
  }

  async function beat(): Promise<void> {
    await serviceTransaction(writer, async (transaction) => {
      const { rows } = await transaction.run(sql`update ${followers} set beat = beat + 1 where name = ${follower}`)
      if (rows > 0) return
      transaction.follow(insertMissing(followerTable, ['name', 'beat'], sql`values (${follower}, 0)`))
      insertChange(transaction, begin, { madeAt: now(), administratorId: null, uid: '', documentId: '', locale: null })
    })
    set(true)
  }

  async function look(): Promise<void> {
    try {
      if (!hasPages()) return await expire()
      await beat()
      await prune()
    } catch (error) {
      failed(error)
    }
  }

  /** Ends the recording after a break that was too long. */
  async function expire(): Promise<void> {
    const [row] = await database.rows<{ readonly beat: number }>(sql`select beat from ${followers} where name = ${follower}`)
    if (row === undefined) return set(false)
    if (row.beat !== lastBeat.beat) lastBeat = { beat: row.beat, at: elapsed() }
    if (elapsed() - lastBeat.at < longestBreak) return
    await serviceTransaction(writer, async (transaction) => {
      const { rows } = await transaction.run(sql`delete from ${followers} where name = ${follower} and beat = ${row.beat}`)
      if (rows === 1) transaction.follow(sql`delete from ${changes}`)
    })
    await reload()
  }

  async function reload(): Promise<void> {
    const isKnown = (await database.rows(sql`select name from ${followers} where name = ${follower}`)).length > 0
    set(isKnown)
    // Another process took the pages of this one for gone.
    if (!isKnown && hasPages()) beat().catch(failed)
  }

  return {
    isOn: () => isOn,
    beat,
    reload,
    close: () => {
      if (timer !== null) clearInterval(timer)
    },
  }
}

interface ChangeRow {
  readonly sequence: number
  readonly event: string
  readonly made_at: number
  readonly administrator_id: number
  readonly type: string
  readonly document_id: string
  readonly locale: string | null
}

const toChange = (row: ChangeRow): DocumentChange => ({
  sequence: Number(row.sequence),
  event: row.event as ChangeName,
  madeAt: Number(row.made_at),
  administratorId: Number(row.administrator_id) === 0 ? null : Number(row.administrator_id),
  uid: row.type,
  documentId: row.document_id,
  locale: row.locale,
})
