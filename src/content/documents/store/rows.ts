// Rows of documents, one per locale and publication state: inserts, updates and look-ups, without validation; and the drafts known to
// differ from their published version (decision 017).

import { type RawBuilder, sql } from 'kysely'
import type { DocumentState, Transaction } from '../../../database/database.js'
import type { Dialect } from '../../../database/dialect.js'
import {
  andSameLocale,
  type BoundRow,
  bindTimestamp,
  columnList,
  insertDefaults,
  insertMissing,
  insertRowSql,
  localeOf,
  notBefore,
  updateFrom,
} from '../../../database/portable-sql.js'
import { newDocumentId } from '../../../model/schema/names.js'
import type { Attribute, ContentType, Model, Scalar, Schema } from '../../../model/schema/types.js'
import { areOutOfSync, isModified, type VersionComparison } from '../../../query/compile/modified.js'

/** A version of a document. */
export interface StoredVersion {
  readonly id: number
  readonly document_id: string
  /** Null for types without locales, whatever their column contains. */
  readonly locale: string | null
  /** Value of the column, for every type. */
  readonly stored_locale: string | null
  readonly published_at: number | null
  readonly created_at: number | null
  readonly updated_at: number | null
  /** 1: a draft marked as changed since its publication (`octavo_modified_drafts`). */
  readonly drifted: 0 | 1
  /** 1: a draft that differs from its published row; null: not published, or not requested. */
  readonly modified: 0 | 1 | null
  /** The state of the database (`Dialect.stateSeen`); null: not requested, or unknown. */
  readonly seen: string | number | null
  /** 1: non-localized attributes may differ between the document's drafts. */
  readonly unequal: 0 | 1
  /** 1: administrators have scheduled actions on the document. */
  readonly scheduled: 0 | 1
}

export type Side = 'draft' | 'published'

/** Tests the column `published_at` for a side. */
export const isOnSide = (publishedAt: RawBuilder<unknown>, side: Side): RawBuilder<boolean> =>
  side === 'draft' ? sql`${publishedAt} is null` : sql`${publishedAt} is not null`

/** The document of a single type; null if it does not exist yet, and for collection types. */
export async function onlyDocument(transaction: Transaction, type: ContentType): Promise<string | null> {
  if (!type.singleType) return null
  const [row] = await transaction.rows<StoredVersion>(sql`select document_id from ${sql.table(type.table)} order by id limit 1`)
  return row?.document_id ?? null
}

/** True for a locale of the installation, in the same spelling. */
export async function isKnownLocale(transaction: Transaction, code: string): Promise<boolean> {
  const rows = await transaction.rows<{ readonly code: string }>(sql`select code from i18n_locale where code = ${code}`)
  return rows.some((row) => row.code === code)
}

/** The locale in the spelling of the document's versions: with a collation that matches several, a write updates that version. */
export async function resolveSpelling(transaction: Transaction, type: ContentType, documentId: string, locale: string): Promise<string> {
  const rows = await transaction.rows<Pick<StoredVersion, 'locale'>>(
    sql`select distinct locale from ${sql.table(type.table)} where document_id = ${documentId} and locale = ${locale}`,
  )
  const spellings = rows.map((row) => row.locale)
  return spellings.includes(locale) ? locale : (spellings[0] ?? locale)
}

/** The draft to compare with its published row, in `locale`, by the condition `differs`. */
export interface Compared {
  readonly locale: string | null
  readonly differs: RawBuilder<unknown>
  /** When it was last known to be in sync; null: never. */
  readonly synced: DocumentState | null
}

/** All versions of a document, drafts first. */
export async function findVersions(
  transaction: Transaction,
  type: ContentType,
  documentId: string,
  compared: Compared | null = null,
): Promise<readonly StoredVersion[]> {
  if (compared === null || !type.draftAndPublish)
    return transaction.rows<StoredVersion>(selectVersions(type, documentId, sql`null`, sql`null`))
  const { locale, differs, synced } = compared
  const select = (condition: RawBuilder<unknown>) => {
    const modified = sql`case when v.published_at is null${andSameLocale(type, sql`v.locale`, locale)} then (select ${condition} from ${sql.table(type.table)} q
      where q.document_id = v.document_id${andSameLocale(type, sql`q.locale`, sql`v.locale`)} and q.published_at is not null order by q.id limit 1) end`
    return transaction.rows<StoredVersion>(selectVersions(type, documentId, modified, transaction.dialect.stateSeen))
  }
  const { history } = transaction
  if (synced !== null && history.mayBeUnchanged(synced)) {
    const versions = await select(sql`0`)
    const draft = versions.find((version) => version.published_at === null && version.locale === locale)
    if (draft?.drifted === 0 && draft.seen !== null && history.isUnchanged(synced, draft.seen)) return versions
  }
  return select(differs)
}

function selectVersions(
  type: ContentType,
  documentId: string,
  modified: RawBuilder<unknown>,
  seen: RawBuilder<unknown>,
): RawBuilder<unknown> {
  const drifted = type.draftAndPublish
    ? sql`exists (select 1 from octavo_modified_drafts d where d.type = ${type.uid} and d.row_id = v.id)`
    : sql`0`
  const unequal =
    type.draftAndPublish && type.localized
      ? sql`exists (select 1 from octavo_out_of_sync_locales u where u.type = ${type.uid} and u.document_id = v.document_id)`
      : sql`0`
  const scheduled = type.draftAndPublish
    ? sql`exists (select 1 from ${sql.table(scheduledTable)} a where a.document_id = v.document_id and a.type = ${type.uid})`
    : sql`0`
  return sql`select id, document_id, ${localeOf(type, 'v')} as locale, v.locale as stored_locale, published_at, created_at, updated_at, ${drifted} as drifted,
    ${modified} as modified, ${unequal} as unequal, ${scheduled} as scheduled, ${seen} as seen from ${sql.table(type.table)} v
    where document_id = ${documentId} order by ${type.draftAndPublish ? sql`published_at is not null, id` : sql`id`}`
}

/** Ids reserved in a transaction for new rows of a table, so that inserts need no round trip. */
const reserved = new WeakMap<Transaction, Map<string, () => number | null>>()

/** Assigns these ids to the next new rows of `table` (`Dialect.newIds`). */
export function reserveIds(transaction: Transaction, table: string, found: readonly number[]): void {
  const ids = reserved.get(transaction) ?? new Map<string, () => number | null>()
  reserved.set(transaction, ids.set(table, transaction.dialect.idsFrom(found)))
}

/** Discards unused ids: the next write in the transaction reserves its own. */
export const releaseIds = (transaction: Transaction): void => void reserved.delete(transaction)

const nextId = (transaction: Transaction, table: string): number | null => reserved.get(transaction)?.get(table)?.() ?? null

/** The columns that Strapi gives a new row of any type. */
export function newEntry(now: number) {
  const time = bindTimestamp(now)
  return { document_id: newDocumentId(), created_at: time, updated_at: time, published_at: time }
}

export async function insertRow(transaction: Transaction, table: string, row: BoundRow): Promise<number> {
  const given = nextId(transaction, table)
  if (given !== null) {
    insertRows(transaction, table, [{ id: given, ...row }])
    return given
  }
  return transaction.insert(Object.keys(row).length === 0 ? insertDefaults(table) : insertRowSql(table, row))
}

/** Maximum number of rows per statement, which limits its number of values. */
const maxRowsPerInsert = 500

/** The time of a write: never earlier than the times of the document's versions, even if the clock was set back. */
export const writeTime = (now: number, versions: readonly StoredVersion[]): number =>
  versions.reduce((latest, { created_at, updated_at }) => Math.max(latest, created_at ?? 0, updated_at ?? 0), now)

/** Inserts rows with the same columns. */
export function insertRows(transaction: Transaction, table: string, rows: readonly BoundRow[]): void {
  if (rows.length === 0) return
  const columns = Object.keys(rows[0]!)
  const into = sql`insert into ${sql.table(table)} (${columnList(columns)}) values`
  for (let from = 0; from < rows.length; from += maxRowsPerInsert) {
    const values = rows.slice(from, from + maxRowsPerInsert).map((row) => sql`(${sql.join(columns.map((column) => row[column]!))})`)
    transaction.follow(sql`${into} ${sql.join(values)}`)
  }
}

/** Updates columns of a row. Its update time never decreases, even if the clock was set back. */
export function updateRow(transaction: Transaction, table: string, id: number, row: BoundRow): void {
  const columns = Object.entries(row)
  if (columns.length === 0) return
  const changes = columns.map(([column, value]) => {
    const later = column === 'updated_at' ? notBefore(sql`updated_at`, value) : sql`${value}`
    return sql`${sql.id(column)} = ${later}`
  })
  transaction.follow(sql`update ${sql.table(table)} set ${sql.join(changes)} where id = ${id}`)
}

/** Columns of a shape's own values, without those that identify versions. */
export function valueColumns(shape: Schema, only: (scalar: Scalar) => boolean = () => true): readonly string[] {
  const scalars = [...shape.attributes.values()].filter((attribute): attribute is Scalar => attribute.kind === 'scalar')
  return scalars.filter((scalar) => !scalar.system && only(scalar)).map(({ column }) => column)
}

/** Copies a row, with other values for some columns; returns the new id. */
export async function copyRow(
  transaction: Transaction,
  table: string,
  columns: readonly string[],
  from: number,
  anew: BoundRow = {},
): Promise<number> {
  if (columns.length === 0 && Object.keys(anew).length === 0) return insertRow(transaction, table, {})
  const given = nextId(transaction, table)
  const set = given === null ? anew : { id: given, ...anew }
  const names = [...columns, ...Object.keys(set)]
  const values = [...columns.map((column) => sql`${sql.id(column)}`), ...Object.values(set).map((value) => sql`${value}`)]
  const copy = sql`insert into ${sql.table(table)} (${columnList(names)}) select ${sql.join(values)} from ${sql.table(table)} where id = ${from}`
  if (given === null) return transaction.insert(copy)
  transaction.follow(copy)
  return given
}

/** Overwrites a row with the values of another one in its table. */
export function overwriteRow(
  transaction: Transaction,
  table: string,
  columns: readonly string[],
  from: number,
  to: number,
  anew: BoundRow = {},
): void {
  const changed = Object.entries(anew).map(([column, value]) => sql`${sql.id(column)} = ${value}`)
  if (columns.length === 0) {
    if (changed.length > 0) transaction.follow(sql`update ${sql.table(table)} set ${sql.join(changed)} where id = ${to}`)
    return
  }
  // Aliases, because column names of both tables would be ambiguous.
  const read = columns.map((column, index) => sql`${sql.id(column)} as ${sql.id(`c${index}`)}`)
  const copied = columns.map((column, index) => sql`${sql.id(column)} = source.${sql.id(`c${index}`)}`)
  const source = sql`(select ${sql.join(read)} from ${sql.table(table)} where id = ${from}) as source`
  transaction.follow(updateFrom(table, 'target', sql.join([...copied, ...changed]), source, sql`target.id = ${to}`))
}

const modifiedTable = 'octavo_modified_drafts'

/** Marks drafts that may differ from their published versions. */
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

/** Like `markModified`, for the drafts whose ids `rows` selects. */
export function markModifiedWhere(transaction: Transaction, type: ContentType, rows: RawBuilder<unknown>): void {
  transaction.follow(
    insertMissing(
      modifiedTable,
      ['type', 'row_id'],
      sql`select ${type.uid}, id from ${sql.table(type.table)} where id in (${rows}) and published_at is null`,
    ),
  )
}

/** Removes the marks of versions that are equal again or deleted. */
export function clearModified(transaction: Transaction, type: ContentType, versions: readonly StoredVersion[]): void {
  const ids = versions.filter((version) => version.drifted === 1).map(({ id }) => id)
  if (ids.length > 0)
    transaction.follow(
      sql`delete from ${sql.table(modifiedTable)} where type = ${type.uid} and row_id in (${transaction.dialect.list(ids)})`,
    )
}

const outOfSyncTable = 'octavo_out_of_sync_locales'

/** Records that non-localized attributes may differ between the drafts of a document. */
export function markOutOfSync(transaction: Transaction, type: ContentType, documentId: string): void {
  transaction.follow(insertMissing(outOfSyncTable, ['type', 'document_id'], sql`values (${type.uid}, ${documentId})`))
}

/** Removes that record after the drafts were equalized or deleted. */
export function clearOutOfSync(transaction: Transaction, type: ContentType, [version]: readonly StoredVersion[]): void {
  if (version?.unequal === 1)
    transaction.follow(sql`delete from ${sql.table(outOfSyncTable)} where type = ${type.uid} and document_id = ${version.document_id}`)
}

/** The publications and withdrawals that administrators have scheduled. */
export const scheduledTable = 'octavo_scheduled_actions'

/** The condition that selects scheduled actions on locales of a document. */
export const scheduledIn = ({ uid }: ContentType, documentId: string, locales: readonly (string | null)[]) =>
  sql`document_id = ${documentId} and type = ${uid} and locale in (${sql.join(locales.map((locale) => locale ?? ''))})`

/** Deletes the scheduled actions that a condition selects. */
export const clearScheduled = (transaction: Transaction, condition: RawBuilder<unknown>): void =>
  transaction.follow(sql`delete from ${sql.table(scheduledTable)} where ${condition}`)

/** Conditions are long and depend only on the model, so they are cached per type. */
const modified = new WeakMap<ContentType, string>()
const unequalShared = new WeakMap<ContentType, string>()

function compileCondition(dialect: Dialect, model: Model, write: (comparing: VersionComparison) => RawBuilder<unknown>): string {
  let aliases = 0
  const nextAlias = () => `c${++aliases}`
  return dialect.compile(write({ dialect, model, text: (value) => sql.lit(value), nextAlias, purpose: 'publication' })).sql
}

/** True if publishing the draft `v` would change the published row `q`. */
export function modifiedCondition(dialect: Dialect, model: Model, type: ContentType): RawBuilder<unknown> {
  const text = modified.get(type) ?? compileCondition(dialect, model, (comparing) => isModified(comparing, type, 'v', 'q'))
  modified.set(type, text)
  return sql.raw(text)
}

/** True if the versions `v` and `q` of one state differ in an attribute that `isShared` selects. */
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

export interface Synced {
  readonly draft: string
  readonly moment: DocumentState
}

export interface InSync {
  /** When a draft was last known to be in sync; undefined: never. */
  momentOf(draft: string): DocumentState | undefined
  /** Call after the commit of a transaction that left the draft in sync. */
  note(synced: Synced): void
}

/** Maximum number of drafts in memory (some hundred bytes each); the oldest are evicted first. */
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
