// Drafts changed by Octavo since their publication, drafts known to be in sync, and conditions that compare the content of two versions
// (decision 017).
import { type RawBuilder, sql } from 'kysely'
import type { DocumentState, Transaction } from '../../../database/database.js'
import type { Dialect } from '../../../database/dialect.js'
import { insertMissing } from '../../../database/portable-sql.js'
import type { Attribute, ContentType, Model } from '../../../model/schema/types.js'
import { areOutOfSync, isModified, type VersionComparison } from '../../../query/compile/modified.js'
import type { StoredVersion } from './rows.js'

const modifiedTable = 'octavo_modified_drafts'

/** Notes that these drafts may have something that their published versions lack. */
export function markModified(transaction: Transaction, type: ContentType, drafts: readonly number[]): void {
  if (drafts.length === 0) return
  transaction.follow(
    insertMissing(
      modifiedTable,
      ['type', 'row_id'],
      sql`select ${type.uid}, id from ${sql.table(type.table)} where id in (${transaction.dialect.list(drafts)})`,
    ),
  )
}

/** The same for the drafts whose ids `rows` selects. */
export function markModifiedWhere(transaction: Transaction, type: ContentType, rows: RawBuilder<unknown>): void {
  transaction.follow(
    insertMissing(
      modifiedTable,
      ['type', 'row_id'],
      sql`select ${type.uid}, id from ${sql.table(type.table)} where id in (${rows}) and published_at is null`,
    ),
  )
}

/** These versions are equal again, or go. */
export function clearModified(transaction: Transaction, type: ContentType, versions: readonly StoredVersion[]): void {
  const ids = versions.filter((version) => version.drifted === 1).map(({ id }) => id)
  if (ids.length > 0)
    transaction.follow(
      sql`delete from ${sql.table(modifiedTable)} where type = ${type.uid} and row_id in (${transaction.dialect.list(ids)})`,
    )
}

const outOfSyncTable = 'octavo_out_of_sync_locales'

/** Notes that the drafts of a document may differ in what its locales share. */
export function markOutOfSync(transaction: Transaction, type: ContentType, documentId: string): void {
  transaction.follow(insertMissing(outOfSyncTable, ['type', 'document_id'], sql`values (${type.uid}, ${documentId})`))
}

/** The drafts of a document are equal in what its locales share, or go. */
export function clearOutOfSync(transaction: Transaction, type: ContentType, [version]: readonly StoredVersion[]): void {
  if (version?.unequal === 1)
    transaction.follow(sql`delete from ${sql.table(outOfSyncTable)} where type = ${type.uid} and document_id = ${version.document_id}`)
}

/** Conditions are long and depend on the model alone: they are written once for each type. */
const modified = new WeakMap<ContentType, string>()
const unequalShared = new WeakMap<ContentType, string>()

function compileCondition(dialect: Dialect, model: Model, write: (comparing: VersionComparison) => RawBuilder<unknown>): string {
  let aliases = 0
  const nextAlias = () => `c${++aliases}`
  return dialect.compile(write({ dialect, model, text: (value) => sql.lit(value), nextAlias, purpose: 'publication' })).sql
}

/** True where publishing the draft `v` would change the published row `q`. */
export function modifiedCondition(dialect: Dialect, model: Model, type: ContentType): RawBuilder<unknown> {
  const text = modified.get(type) ?? compileCondition(dialect, model, (comparing) => isModified(comparing, type, 'v', 'q'))
  modified.set(type, text)
  return sql.raw(text)
}

/** True where the versions `v` and `q` of one state differ in what `isShared` names. */
export function outOfSyncCondition(
  dialect: Dialect,
  model: Model,
  type: ContentType,
  isShared: (attribute: Attribute) => boolean,
): RawBuilder<unknown> {
  const text = unequalShared.get(type) ?? compileCondition(dialect, model, (comparing) => areOutOfSync(comparing, type, 'v', 'q', isShared))
  unequalShared.set(type, text)
  return sql.raw(text)
}

/** A draft that is in sync. */
export interface Synced {
  readonly draft: string
  readonly moment: DocumentState
}

export interface InSync {
  /** When a draft was last known to be in sync; undefined: never. */
  momentOf(draft: string): DocumentState | undefined
  /** The transaction that left the draft in sync is committed. */
  note(synced: Synced): void
}

/** Drafts that are remembered, some hundred bytes each; the oldest are forgotten first. */
const maxRemembered = 5_000

export const toDraftKey = (type: string, documentId: string, locale: string | null): string => `${type} ${documentId} ${locale ?? ''}`

export function createInSync(): InSync {
  const moments = new Map<string, DocumentState>()
  return {
    momentOf: (draft) => moments.get(draft),
    note: ({ draft, moment }) => {
      moments.delete(draft)
      moments.set(draft, moment)
      if (moments.size > maxRemembered) moments.delete(moments.keys().next().value!)
    },
  }
}
