// Drafts that were changed from outside, by the other side of a relation or by another locale: their times do not tell it, so it
// is noted until they are published as a whole.
import type { RawBuilder } from 'kysely'
import { sql } from 'kysely'
import type { Transaction } from '../database/database.js'
import type { ContentType } from '../model/types.js'
import type { Version } from './rows.js'

const drifted = sql.table('octavo_drifted_drafts')

/** Notes that these drafts may have something that their published versions, or the drafts of other locales, lack. */
export function noteDrift(transaction: Transaction, type: ContentType, drafts: readonly number[]): void {
  if (drafts.length === 0) return
  const rows = drafts.map((id) => sql`(${type.uid}, ${id})`)
  transaction.follow(sql`insert into ${drifted} (type, row_id) values ${sql.join(rows)} on conflict do nothing`)
}

/** The same for the drafts whose ids `rows` selects. */
export function noteDriftOf(transaction: Transaction, type: ContentType, rows: RawBuilder<unknown>): void {
  transaction.follow(
    sql`insert into ${drifted} (type, row_id) select ${type.uid}, id from ${sql.table(type.table)}
      where id in (${rows}) and published_at is null on conflict do nothing`,
  )
}

/** These versions are as their times say, or go. */
export function forgetDrift(transaction: Transaction, type: ContentType, versions: readonly Version[]): void {
  const ids = versions.filter((version) => version.drifted === 1).map(({ id }) => id)
  if (ids.length > 0) transaction.follow(sql`delete from ${drifted} where type = ${type.uid} and row_id in (${sql.join(ids)})`)
}
