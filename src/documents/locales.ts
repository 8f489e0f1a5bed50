// Attributes that are not localized are equal in all locales of a document, within one publication state. Relations are
// each locale's own.
import type { Attribute, ContentType } from '../model/types.js'
import { copyBelow, removeBelow } from './components.js'
import { overwriteRow, type Version, valueColumns } from './rows.js'
import type { Writing } from './writing.js'

const isShared = (attribute: Attribute): boolean =>
  !attribute.localized &&
  (attribute.kind === 'scalar'
    ? !attribute.system
    : attribute.kind === 'media' || attribute.kind === 'component' || attribute.kind === 'dynamiczone')

/** A new locale of a document gets what its locales share, but for what the write itself has set. */
export async function newLocale(
  writing: Writing,
  type: ContentType,
  versions: readonly Version[],
  id: number,
  set: ReadonlySet<Attribute>,
): Promise<void> {
  const source = versions.find((version) => version.published_at === null) ?? versions[0]
  if (!type.localized || source === undefined) return
  await share(writing, type, source.id, id, (attribute) => isShared(attribute) && !set.has(attribute), false)
}

/** Gives the other locales' rows of the same publication state what was written to the row `id`. */
export async function shareWithLocales(
  writing: Writing,
  type: ContentType,
  versions: readonly Version[],
  id: number,
  touched: ReadonlySet<Attribute>,
  state: 'draft' | 'published' | 'any',
): Promise<void> {
  if (!type.localized || ![...touched].some(isShared)) return
  const locale = versions.find((version) => version.id === id)?.locale ?? writing.resolving.locale
  const siblings = versions.filter(
    (version) => version.locale !== locale && (state === 'any' || (version.published_at !== null) === (state === 'published')),
  )
  for (const sibling of siblings)
    await share(writing, type, id, sibling.id, (attribute) => isShared(attribute) && touched.has(attribute), true)
}

async function share(
  writing: Writing,
  type: ContentType,
  from: number,
  to: number,
  which: (attribute: Attribute) => boolean,
  replaces: boolean,
): Promise<void> {
  const attributes = [...type.attributes.values()].filter((attribute) => attribute.kind !== 'scalar' && which(attribute))
  overwriteRow(writing.transaction, type.table, valueColumns(type, which), from, to)
  if (replaces) await removeBelow(writing, type, [to], attributes)
  await copyBelow(writing, { shape: type, id: from }, { shape: type, id: to }, attributes)
}
