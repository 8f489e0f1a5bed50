// Rows of presence: the documents that tabs of administrators have open. A tab repeats its report, or its row expires. All processes share
// the rows; nothing is written while no tab reports.
import { type RawBuilder, sql } from 'kysely'
import { type RowReader, serviceTransaction, type Transaction, type WriteDatabase } from '../database/database.js'
import { upsert } from '../database/portable-sql.js'

/** Milliseconds after which a tab that reports nothing is gone. */
const presenceTime = 45_000
/** Tabs of an administrator; others replace the oldest. */
const maxTabs = 20
/** Tabs that a response or an event takes into account, the latest first. */
const maxPresent = 1_000
/** Expired rows that a report deletes. */
const maxDeleted = 100

/** A tab as stored. */
export interface PresentTab {
  /** The uid of a type. */
  readonly uid: string
  readonly documentId: string
  /** Null on types without locales. */
  readonly locale: string | null
  readonly administratorId: number
  readonly tab: string
  readonly field: string | null
  /** Milliseconds since 1970. */
  readonly since: number
}

const tableName = 'octavo_presence'
const table = sql.table(tableName)

/** The database of presence. */
export interface PresenceDatabase {
  readonly database: RowReader
  readonly writer: WriteDatabase
  /** The clock of the database, which all processes share, in milliseconds since 1970. */
  readonly timeOfDay: RawBuilder<unknown>
}

/** Stores where a tab of an administrator is. */
export async function storePresence({ writer, timeOfDay }: PresenceDatabase, present: Omit<PresentTab, 'since'>): Promise<void> {
  const { administratorId, tab, uid, documentId: document, locale, field } = present
  await serviceTransaction(writer, async (transaction) => {
    const place = { type: uid, document_id: document, locale, field }
    const key = { administrator_id: administratorId, tab }
    const [formerType, formerDocument, former] = ['type', 'document_id', 'since'].map((name) => sql.ref(`${tableName}.${name}`))
    const isSame = sql`${formerType} = ${uid} and ${formerDocument} = ${document}`
    // First, because MySQL applies the changes one after the other.
    const since = sql`since = case when ${isSame} then ${former} else ${timeOfDay} end`
    const changes = sql`${since}, type = ${uid}, document_id = ${document}, locale = ${locale}, field = ${field}, seen_at = ${timeOfDay}`
    transaction.follow(
      upsert(tableName, { ...key, ...place, since: timeOfDay, seen_at: timeOfDay } as never, ['administrator_id', 'tab'], changes),
    )
    await removeSuperfluous(transaction, timeOfDay, administratorId)
  })
}

/** Deletes expired tabs, and the oldest of an administrator with too many. */
async function removeSuperfluous(transaction: Transaction, timeOfDay: RawBuilder<unknown>, administratorId: number): Promise<void> {
  const rows = await transaction.rows<{ readonly administrator_id: number; readonly tab: string }>(
    sql`select administrator_id, tab from ${table} where seen_at < ${timeOfDay} - ${presenceTime} limit ${maxDeleted}`,
  )
  const own = await transaction.rows<{ readonly tab: string }>(
    sql`select tab from ${table} where administrator_id = ${administratorId} order by seen_at desc, tab limit ${maxDeleted} offset ${maxTabs}`,
  )
  for (const row of [...rows, ...own.map(({ tab }) => ({ administrator_id: administratorId, tab }))])
    transaction.follow(sql`delete from ${table} where administrator_id = ${row.administrator_id} and tab = ${row.tab}`)
}

/** Removes a tab of an administrator. */
export const endPresence = ({ writer }: Pick<PresenceDatabase, 'writer'>, administratorId: number, tab: string): Promise<void> =>
  writer.run(sql`delete from ${table} where administrator_id = ${administratorId} and tab = ${tab}`)

interface Row {
  readonly administrator_id: number
  readonly tab: string
  readonly type: string
  readonly document_id: string
  readonly locale: string | null
  readonly field: string | null
  readonly since: number
}

/** Reads the tabs that have not expired: all, or those of a type or a document. */
export async function readPresence(
  { database, timeOfDay }: Omit<PresenceDatabase, 'writer'>,
  { type, document }: { readonly type?: string; readonly document?: string | undefined } = {},
): Promise<readonly PresentTab[]> {
  const conditions = [
    sql`seen_at > ${timeOfDay} - ${presenceTime}`,
    ...(type === undefined ? [] : [sql`type = ${type}`]),
    ...(document === undefined ? [] : [sql`document_id = ${document}`]),
  ]
  const rows = await database.rows<Row>(sql`select administrator_id, tab, type, document_id, locale, field, since from ${table}
    where ${sql.join(conditions, sql` and `)} order by since desc, administrator_id, tab limit ${maxPresent}`)
  return rows.map((row) => ({
    administratorId: Number(row.administrator_id),
    tab: row.tab,
    uid: row.type,
    documentId: row.document_id,
    locale: row.locale,
    field: row.field,
    since: Number(row.since),
  }))
}
