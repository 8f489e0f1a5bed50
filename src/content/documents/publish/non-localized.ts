// Non-localized attributes are equal in all locales of a document, for drafts and published versions separately. Relations belong to each
// locale; components with relations have their own rules (non-localized-components.ts).
import { sql } from 'kysely'
import { bindTimestamp } from '../../../database/portable-sql.js'
import { getComponents } from '../../../model/schema/graph.js'
import { type Attribute, assertNever, type ContentType, type Model } from '../../../model/schema/types.js'
import type { DocumentVersion } from '../../../query/rest/versions.js'
import type { Body } from '../input/types.js'
import { readWhole } from '../read/find.js'
import type { TransactionReads } from '../read/plans.js'
import { copyBelow, removeBelow } from '../store/components.js'
import type { RowContext } from '../store/row-context.js'
import {
  clearOutOfSync,
  markModified,
  markOutOfSync,
  outOfSyncCondition,
  overwriteRow,
  type StoredVersion,
  updateRow,
  valueColumns,
} from '../store/rows.js'
import { type DocumentVersions, getSharedHolders, publishShared, type SharedSource, shareComponents } from './non-localized-components.js'
import { findPublished } from './publish.js'

const isShared = (attribute: Attribute): boolean =>
  !attribute.localized &&
  (attribute.kind === 'scalar'
    ? !attribute.system
    : attribute.kind === 'media' || attribute.kind === 'component' || attribute.kind === 'dynamiczone')

/** Non-localized, except components with relations. */
const isPlain = (model: Model, type: ContentType) => {
  const holders = new Set(getSharedHolders(model, type))
  return (attribute: Attribute): boolean => isShared(attribute) && !holders.has(attribute)
}

/** Attributes that a new locale inherits: non-localized ones that the body omits or sets to null. */
export function getInherited(type: ContentType, data: unknown): ReadonlySet<string> {
  const given = typeof data === 'object' && data !== null ? (data as Readonly<Record<string, unknown>>) : {}
  const names = [...type.attributes.values()].filter((attribute) => isShared(attribute) && (given[attribute.name] ?? null) === null)
  return new Set(type.localized ? names.map(({ name }) => name) : [])
}

/**
 * The source of a new locale's values: the draft of another locale or, with row 14 as in Strapi, a published version if there is one. The
 * default locale takes precedence, else the first by code.
 */
export function findInheritance({ read }: TransactionReads, versions: readonly StoredVersion[]): StoredVersion | undefined {
  const rank = ({ locale }: StoredVersion) => (locale === read.defaultLocale ? '' : (locale ?? ''))
  const sorted = versions.toSorted((one, other) => (rank(one) < rank(other) ? -1 : 1))
  const isFirst = ({ published_at }: StoredVersion) => (published_at === null) === read.contract.localesShareAlways
  return sorted.find(isFirst) ?? sorted[0]
}

/** Copies inherited values to a new locale. */
export async function fillNewLocale(
  reading: TransactionReads,
  { writing, type, versions }: DocumentVersions,
  id: number,
  inherited: ReadonlySet<string>,
): Promise<void> {
  if (inherited.size === 0) return
  const source = findInheritance(reading, versions)
  if (source !== undefined)
    await share({ ...writing, targetSide: type.draftAndPublish ? 'draft' : 'same' }, type, source.id, id, {
      which: ({ name }) => inherited.has(name),
      into: writing.resolving.locale,
      replacedAt: null,
    })
}

/** The basis for deciding whether a write reaches other locales: fixed, an unchanged row, or the former text of a row. */
export type SharedBefore =
  | { readonly kind: 'never' | 'always' }
  | { readonly kind: 'row'; readonly id: number }
  | { readonly kind: 'text'; readonly text: string }

/**
 * Reads that basis before a write. As in Strapi, it is the former content of the first locale by code, ignoring row ids of components.
 * `current`: the row to write; null: a new one.
 */
export async function readSharedBefore(
  reading: TransactionReads,
  type: ContentType,
  versions: readonly StoredVersion[],
  current: StoredVersion | null,
  touched: ReadonlySet<Attribute>,
): Promise<SharedBefore> {
  const { contract, model } = reading.read
  const compared = versions.filter(({ published_at }) => !type.draftAndPublish || published_at === null)
  const [reference] = compared.toSorted((one, other) => (one.locale! < other.locale! ? -1 : 1))
  if (contract.localesShareAlways || !type.localized || reference === undefined) return { kind: 'never' }
  const given = [...touched].filter(isShared)
  if (given.some((attribute) => attribute.kind === 'media' || holdsPolymorphic(model, attribute))) return { kind: 'always' }
  if (reference.id !== current?.id) return { kind: 'row', id: reference.id }
  if (compared.length === 1 || given.length === 0) return { kind: 'never' }
  return { kind: 'text', text: await readSharedText(reading, type, reference.id) }
}

/** True if the row `written` differs from `before`, so that it reaches other locales. */
export async function reachesOthers(reading: TransactionReads, type: ContentType, before: SharedBefore, written: number): Promise<boolean> {
  const textOf = (id: number) => readSharedText(reading, type, id)
  switch (before.kind) {
    case 'never':
    case 'always':
      return before.kind === 'always'
    case 'row':
      return (await textOf(before.id)) !== (await textOf(written))
    case 'text':
      return before.text !== (await textOf(written))
    default:
      return assertNever(before)
  }
}

async function readSharedText(reading: TransactionReads, type: ContentType, id: number): Promise<string> {
  return sharedText(reading.read.model, type, (await readWhole(reading, type, id, 'files')) ?? {})
}

/** The non-localized part of a row as text, equal for equal values, files and relation targets. */
function sharedText(model: Model, type: ContentType, row: Body): string {
  const shared = [...type.attributes.values()].filter(isShared)
  return JSON.stringify(shared.map((attribute) => toComparable(model, attribute, row[attribute.name] ?? null)))
}

/** Removes the ids of component rows, but not those in JSON values. */
function toComparable(model: Model, attribute: Attribute, value: unknown): unknown {
  if (value === null || (attribute.kind !== 'component' && attribute.kind !== 'dynamiczone')) return value
  if (Array.isArray(value)) return value.map((entry) => toComparable(model, attribute, entry))
  const entry = value as Body
  const uid = attribute.kind === 'component' ? attribute.component : String(entry.__component)
  const attributes = [...(model.components.get(uid)?.attributes.values() ?? [])].filter(({ name }) => name !== 'id')
  return [uid, ...attributes.map((inner) => toComparable(model, inner, entry[inner.name] ?? null))]
}

/** True if an attribute has components with polymorphic relations, which reads of whole rows omit. */
function holdsPolymorphic(model: Model, attribute: Attribute, above: readonly string[] = []): boolean {
  if (attribute.kind === 'morphTo' || attribute.kind === 'morphFrom') return above.length > 0
  return getComponents(model, attribute)
    .filter(({ uid }) => !above.includes(uid))
    .some(({ uid, attributes }) => [...attributes.values()].some((inner) => holdsPolymorphic(model, inner, [...above, uid])))
}

/** True if non-localized attributes may differ between locales: after this write, or an earlier one. */
export const mayDiffer = (type: ContentType, versions: readonly StoredVersion[], touched: ReadonlySet<Attribute>): boolean =>
  type.localized && (versions.some((version) => version.unequal === 1) || [...touched].some(isShared))

/** A row whose non-localized attributes are copied to other locales. */
interface SharingRow {
  readonly id: number
  /** The publication state of the rows to change. */
  readonly state: 'draft' | 'published' | 'any'
  /** The drafts of all locales will be equal. */
  readonly isWhole: boolean
}

/** Copies non-localized attributes to the rows of other locales with the same publication state. */
export async function shareWithLocales(document: DocumentVersions, { id, state, isWhole }: SharingRow): Promise<void> {
  const { writing, type, versions, now } = document
  if (!type.localized || ![...type.attributes.values()].some(isShared)) return
  const which = isPlain(writing.model, type)
  const locale = versions.find((version) => version.id === id)?.locale ?? writing.resolving.locale
  const others = versions.filter((version) => version.locale !== locale)
  const siblings = others.filter((version) => state === 'any' || (version.published_at !== null) === (state === 'published'))
  for (const { id: sibling, locale: into } of siblings) {
    // A modified draft is later than its published version.
    const published = state === 'draft' ? findPublished(versions, into) : null
    const replacedAt = published === null ? now : Math.max(now, (published.updated_at ?? 0) + 1)
    await share({ ...writing, targetSide: 'same' }, type, id, sibling, { which, into, replacedAt })
    if (state === 'published') keepDraftLater(document, into)
  }
  if (state === 'any' || others.length === 0) return
  const drafts = others.filter(({ published_at }) => published_at === null)
  markModified(
    writing.transaction,
    type,
    drafts.map((draft) => draft.id),
  )
  if (state === 'draft' && isWhole) clearOutOfSync(writing.transaction, type, versions)
  if (state === 'published') markOutOfSync(writing.transaction, type, versions[0]!.document_id)
}

/** Copies differing non-localized attributes to the rows of other locales in the state of `row`, regardless of earlier writes. */
export async function equalizeLocales(document: DocumentVersions, row: DocumentVersion): Promise<void> {
  const { writing, type, versions, now } = document
  if (!type.localized || !versions.some(({ locale }) => locale !== row.locale) || ![...type.attributes.values()].some(isShared)) return
  const { transaction, model } = writing
  const which = isPlain(model, type)
  const found = await transaction.rows<StoredVersion>(
    sql`select v.id, v.locale from ${sql.table(type.table)} v join ${sql.table(type.table)} q on q.document_id = v.document_id
      where q.id = ${row.id} and v.id <> q.id and (v.published_at is null) = (q.published_at is null)
      and ${outOfSyncCondition(transaction.dialect, model, type, which)} order by v.id`,
  )
  for (const { id, locale } of found) {
    await share({ ...writing, targetSide: 'same' }, type, row.id, id, { which, into: locale, replacedAt: now })
    if (type.draftAndPublish) keepDraftLater(document, locale)
  }
  markDrafts(document, found)
}

/** Marks drafts that may now differ from their published version. */
function markDrafts({ writing, type, versions }: DocumentVersions, rows: readonly Pick<StoredVersion, 'locale'>[]): void {
  if (!type.draftAndPublish || rows.length === 0) return
  const changed = new Set(rows.map(({ locale }) => locale))
  const drafts = versions.filter(({ locale, published_at }) => published_at === null && changed.has(locale))
  markModified(
    writing.transaction,
    type,
    drafts.map(({ id }) => id),
  )
}

interface SharingComponents {
  /** The versions to change. */
  readonly into: 'drafts' | 'published' | 'all'
  /** The write publishes the whole draft. */
  readonly publishesAll: boolean
  /** Every write shares with the drafts of other locales. */
  readonly areDraftsShared: boolean
}

/**
 * Copies given components with relations to the rows of other locales, and publishes those that their drafts share with the published one.
 */
export async function shareHolders(
  document: DocumentVersions,
  source: SharedSource,
  { into, publishesAll, areDraftsShared }: SharingComponents,
): Promise<void> {
  const { writing, type, versions, now } = document
  const others = versions.filter(({ locale }) => locale !== source.locale)
  if (!type.localized || others.length === 0 || getSharedHolders(writing.model, type).length === 0) return
  const isMeant = ({ published_at }: StoredVersion) => into === 'all' || (published_at === null) === (into === 'drafts')
  const shared = await shareComponents(document, source, others, isMeant)
  const changed = publishesAll ? [...shared, ...(await publishShared(document, source, others, areDraftsShared))] : shared
  for (const { id, locale, published_at } of changed) {
    updateRow(writing.transaction, type.table, id, { updated_at: bindTimestamp(now) })
    if (type.draftAndPublish && published_at !== null) keepDraftLater(document, locale)
  }
  markDrafts(document, changed)
}

/** Keeps a modified draft later than its published version after another locale changed that: Strapi detects modified drafts by time. */
function keepDraftLater({ writing, type, versions, now }: DocumentVersions, locale: string | null): void {
  const draft = versions.find((version) => version.published_at === null && version.locale === locale)
  const published = findPublished(versions, locale)
  if (draft !== undefined && published !== null && (draft.updated_at ?? 0) > (published.updated_at ?? 0))
    updateRow(writing.transaction, type.table, draft.id, { updated_at: bindTimestamp(now + 1) })
}

interface SharedCopy {
  readonly which: (attribute: Attribute) => boolean
  /** Locale of the target row. */
  readonly into: string | null
  /** Time of the change; null: the row is new. */
  readonly replacedAt: number | null
}

async function share(
  writing: RowContext,
  type: ContentType,
  from: number,
  to: number,
  { which, into, replacedAt }: SharedCopy,
): Promise<void> {
  const attributes = [...type.attributes.values()].filter((attribute) => attribute.kind !== 'scalar' && which(attribute))
  const columns = valueColumns(type, which)
  const changed = replacedAt === null ? undefined : { updated_at: bindTimestamp(replacedAt) }
  overwriteRow(writing.transaction, type.table, columns, from, to, changed)
  if (replacedAt !== null) await removeBelow(writing, type, [to], attributes)
  // As in Strapi, relations in shared components lead to the target locale if their targets have it.
  await copyBelow({ ...writing, targetLocale: into }, { shape: type, id: from }, { shape: type, id: to }, attributes)
}
