// Attributes that are not localized are equal in all locales of a document, within one publication state. Relations are
// each locale's own.
import type { Transaction } from '../database/database.js'
import type { Attribute, ContentType } from '../model/types.js'
import { copyBelow, removeBelow } from './components.js'
import { noteDrift } from './drift.js'
import type { WriteContext } from './operation.js'
import { readWhole } from './publishable.js'
import { overwriteRow, type Version, valueColumns } from './rows.js'
import type { Writing } from './writing.js'

const isShared = (attribute: Attribute): boolean =>
  !attribute.localized &&
  (attribute.kind === 'scalar'
    ? !attribute.system
    : attribute.kind === 'media' || attribute.kind === 'component' || attribute.kind === 'dynamiczone')

/** The names of what a new locale of a document takes from its others: what locales share and the body does not give, or gives as null. */
export function inheritedBy(type: ContentType, data: unknown): ReadonlySet<string> {
  const given = typeof data === 'object' && data !== null ? (data as Readonly<Record<string, unknown>>) : {}
  const names = [...type.attributes.values()].filter((attribute) => isShared(attribute) && (given[attribute.name] ?? null) === null)
  return new Set(type.localized ? names.map(({ name }) => name) : [])
}

/** A new locale of a document gets what it inherits from a published version, from the first draft where there is none. */
export async function newLocale(
  writing: Writing,
  type: ContentType,
  versions: readonly Version[],
  id: number,
  inherited: ReadonlySet<string>,
): Promise<void> {
  const source = versions.find((version) => version.published_at !== null) ?? versions[0]
  if (inherited.size === 0 || source === undefined) return
  await share(writing, type, source.id, id, ({ name }) => inherited.has(name), false, writing.resolving.locale)
}

/**
 * Whether the drafts of a document differ in what its locales share. As in Strapi, a publication reaches the other locales
 * only then; the rows of components do not count, their values do.
 */
export async function draftsDiffer(
  { read, plans }: WriteContext,
  transaction: Transaction,
  type: ContentType,
  versions: readonly Version[],
  draft: number,
): Promise<boolean> {
  const others = versions.filter(({ id, published_at }) => published_at === null && id !== draft)
  const shared = [...type.attributes.values()].filter(isShared)
  if (!type.localized || others.length === 0 || shared.length === 0) return false
  const texts = new Set<string>()
  for (const id of [draft, ...others.map((version) => version.id)]) {
    const row = await readWhole({ model: read.model, contract: read.contract }, plans, transaction, type, id, false)
    texts.add(
      JSON.stringify(
        shared.map(({ name }) => row?.[name] ?? null),
        (key, value: unknown) => (key === 'id' ? undefined : value),
      ),
    )
    if (texts.size > 1) return true
  }
  return false
}

/**
 * Whether what locales share may be unequal among them: where a write gives such attributes, and where one did before. Whoever
 * makes it unequal notes that in the drafts of the other locales.
 */
export const mayDiffer = (type: ContentType, versions: readonly Version[], touched: ReadonlySet<Attribute>): boolean =>
  type.localized && (versions.some(({ drifted }) => drifted === 1) || [...touched].some(isShared))

/** Gives the other locales' rows of the same publication state all that is shared, as the row `id` has it. */
export async function shareWithLocales(
  writing: Writing,
  type: ContentType,
  versions: readonly Version[],
  id: number,
  state: 'draft' | 'published' | 'any',
): Promise<void> {
  if (!type.localized || ![...type.attributes.values()].some(isShared)) return
  const locale = versions.find((version) => version.id === id)?.locale ?? writing.resolving.locale
  const siblings = versions.filter(
    (version) => version.locale !== locale && (state === 'any' || (version.published_at !== null) === (state === 'published')),
  )
  for (const sibling of siblings) await share(writing, type, id, sibling.id, isShared, true, sibling.locale)
  if (type.draftAndPublish) noteOtherLocales(writing, type, versions, locale)
}

/** The drafts of other locales may differ from this one, and from their published versions. */
export function noteOtherLocales({ transaction }: Writing, type: ContentType, versions: readonly Version[], locale: string | null): void {
  const others = versions.filter((version) => version.locale !== locale && version.published_at === null)
  if (type.localized)
    noteDrift(
      transaction,
      type,
      others.map(({ id }) => id),
    )
}

async function share(
  writing: Writing,
  type: ContentType,
  from: number,
  to: number,
  which: (attribute: Attribute) => boolean,
  replaces: boolean,
  into: string | null,
): Promise<void> {
  const attributes = [...type.attributes.values()].filter((attribute) => attribute.kind !== 'scalar' && which(attribute))
  overwriteRow(writing.transaction, type.table, valueColumns(type, which), from, to)
  if (replaces) await removeBelow(writing, type, [to], attributes)
  // As in Strapi, relations in shared components lead to the locale that they are copied to, where their targets have it.
  await copyBelow({ ...writing, copies: 'same', into }, { shape: type, id: from }, { shape: type, id: to }, attributes)
}
