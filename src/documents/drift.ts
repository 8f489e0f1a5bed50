// Drafts that were changed from outside, by the other side of a relation or by another locale: their times do not tell it, so it
// is noted until they are published as a whole. So is it when drafts differ in what locales share, until they are made equal.
import type { RawBuilder } from 'kysely'
import { sql } from 'kysely'
import type { Transaction } from '../database/database.js'
import type { ContentType } from '../model/types.js'
import type { Version } from './rows.js'

const drifted = sql.table('octavo_drifted_drafts')

/** Notes that these drafts may have something that their published versions lack. */
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

const unequal = sql.table('octavo_unequal_locales')

/** Notes that the drafts of a document may differ in what its locales share. */
export function noteUnequal(transaction: Transaction, type: ContentType, documentId: string): void {
  transaction.follow(sql`insert into ${unequal} (type, document_id) values (${type.uid}, ${documentId}) on conflict do nothing`)
}

/** The drafts of a document are equal in what its locales share, or go. */
export function forgetUnequal(transaction: Transaction, type: ContentType, [version]: readonly Version[]): void {
  if (version?.unequal === 1)
    transaction.follow(sql`delete from ${unequal} where type = ${type.uid} and document_id = ${version.document_id}`)
}
