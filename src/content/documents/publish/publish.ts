// Publishing: validates the whole draft, then copies its content to the published row, which is updated in place and keeps its id. Only
// possible differences are written.

import { sql } from 'kysely'
import type { Transaction } from '../../../database/database.js'
import { andSameLocale, bindTimestamp, insertMissing, updateFrom } from '../../../database/portable-sql.js'
import { hasConditions } from '../../../model/schema/conditions.js'
import { type OwnedLink, ownedLinks } from '../../../model/schema/graph.js'
import type { Attribute, ContentType, Model, Schema } from '../../../model/schema/types.js'
import { type ErrorReader, redactErrors } from '../input/errors.js'
import { attributeErrors, documentErrors, mayBePublished } from '../input/input.js'
import { hasRequiredLinks, isRequiredLink, leadsToDrafts, missingLinks } from '../input/relations.js'
import type { Body, FindTaken, InputContext } from '../input/types.js'
import { type Extent, getLinkedType, readWhole } from '../read/find.js'
import type { TransactionReads } from '../read/plans.js'
import { copyBelow, isMedia, removeBelow } from '../store/components.js'
import { findOwningDocument } from '../store/owning-document.js'
import { dropPendingLinks, restorePendingLinks } from '../store/pending-links.js'
import { dropPendingTargets } from '../store/polymorphic.js'
import type { Owner } from '../store/relations.js'
import type { RowContext } from '../store/row-context.js'
import { clearModified, copyRow, overwriteRow, type StoredVersion, valueColumns } from '../store/rows.js'

const shared = ['document_id', 'locale', 'created_at', 'updated_at', 'created_by_id', 'updated_by_id']

export const findPublished = (versions: readonly StoredVersion[], locale: string | null): StoredVersion | null =>
  versions.find((version) => version.published_at !== null && version.locale === locale) ?? null

/** A draft to publish. */
interface PublishedDraft {
  readonly type: ContentType
  readonly draft: number
  /** The published row to overwrite; null: there is none yet. */
  readonly published: StoredVersion | null
  /** Attributes given by this write. */
  readonly touched: ReadonlySet<Attribute>
  /** Other attributes may differ from the published row too. */
  readonly isWhole: boolean
  readonly now: number
  /** The document was created by this write, so there are no pending links to it. */
  readonly isNew?: boolean
}

/** Copies a draft to its published row. Returns the id of the latter. */
export async function publishRow(writing: RowContext, publication: PublishedDraft): Promise<number> {
  const { type, draft, published, touched, isWhole, now, isNew = false } = publication
  const { transaction, model } = writing
  const publishedAt = { published_at: bindTimestamp(now) }
  const from = { shape: type, id: draft }
  const attributes = [...type.attributes.values()].filter((attribute) => isWhole || touched.has(attribute))
  if (published === null) {
    const id = await copyRow(transaction, type.table, [...valueColumns(type), ...shared], draft, publishedAt)
    await copyBelow(writing, from, { shape: type, id }, attributes)
    if (isNew) return id
    await showInTypesWithoutDrafts(transaction, model, type, draft, id)
    await restorePendingLinks(transaction, model, type, id, touched)
    return id
  }
  const to = { shape: type, id: published.id }
  const columns = valueColumns(type, (scalar) => isWhole || touched.has(scalar))
  overwriteRow(transaction, type.table, [...columns, 'updated_at', 'updated_by_id'], draft, published.id, publishedAt)
  await replaceBelow(writing, from, to, attributes)
  return published.id
}

/** Replaces components, files and links of `to` by copies of those of `from`, for these attributes. */
export async function replaceBelow(writing: RowContext, from: Owner, to: Owner, attributes: readonly Attribute[]): Promise<void> {
  await removeBelow(
    writing,
    to.shape,
    [to.id],
    attributes.filter((attribute) => !isMedia(attribute)),
  )
  await copyBelow(writing, from, to, attributes, true)
}

/** Sets the update time of a draft and an equal published version to the later one, so that none decreases. */
export function equalizeUpdateTimes(transaction: Transaction, type: ContentType, draft: number, published: number): void {
  const ids = sql`(${draft}, ${published})`
  const both = sql`(select max(updated_at) as latest from ${sql.table(type.table)} where id in ${ids}) as both_versions`
  transaction.follow(updateFrom(type.table, 'version', sql`updated_at = both_versions.latest`, both, sql`version.id in ${ids}`))
}

/** Overwrites a draft with the published row. `writing` must copy to drafts. */
export async function restoreDraft(writing: RowContext, type: ContentType, draft: number, published: number): Promise<void> {
  overwriteRow(writing.transaction, type.table, [...valueColumns(type), 'updated_by_id'], published, draft)
  equalizeUpdateTimes(writing.transaction, type, draft, published)
  await replaceBelow(writing, { shape: type, id: published }, { shape: type, id: draft }, [...type.attributes.values()])
}

/**
 * Removes rows of a document with their components and links, including links of other rows to them. `forgotten`: versions deleted with
 * their document's locale, whose pending links are dropped.
 */
export async function removeRows(
  writing: RowContext,
  type: ContentType,
  ids: readonly number[],
  forgotten: readonly StoredVersion[] = [],
): Promise<void> {
  if (ids.length === 0) return
  const { transaction, model } = writing
  await removeBelow(writing, type, ids, null)
  dropPendingTargets(transaction, model, type, ids)
  dropPendingLinks(transaction, type, ids, forgotten)
  clearModified(transaction, type, forgotten)
  transaction.follow(sql`delete from ${sql.table(type.table)} where id in (${sql.join(ids)})`)
}

/** Replaces links to the row `draft` by links to the row `published`, in types without drafts and their components. */
async function showInTypesWithoutDrafts(
  transaction: Transaction,
  model: Model,
  type: ContentType,
  draft: number,
  published: number,
): Promise<void> {
  for (const link of ownedLinks(model)) {
    if (link.relation.target !== type.uid || (link.shape.kind === 'contentType' && link.shape.draftAndPublish)) continue
    const { table, here, there, order, inverseOrder } = link.storage
    const owners = await draftlessOwners(transaction, model, link, draft)
    if (owners.length === 0) continue
    const kept = [here, order, inverseOrder].filter((column) => column !== null)
    const links = sql`select ${published}, ${sql.join(kept.map((column) => sql.id('l', column)))} from ${sql.table(table)} as l
      where ${sql.id('l', there)} = ${draft} and ${sql.id('l', here)} in (${transaction.dialect.list(owners)})
      and not exists (select 1 from ${sql.table(table)} as y where ${sql.id('y', there)} = ${published} and ${sql.id('y', here)} = ${sql.id('l', here)})`
    transaction.follow(insertMissing(table, [there, ...kept], links))
  }
}

async function draftlessOwners(transaction: Transaction, model: Model, { shape, storage }: OwnedLink, draft: number): Promise<number[]> {
  const { table, here, there } = storage
  const rows = await transaction.rows<{ id: number }>(
    sql`select ${sql.id(here)} as id from ${sql.table(table)} where ${sql.id(there)} = ${draft}`,
  )
  const owners: number[] = []
  for (const { id } of rows) {
    const holder = await findOwningDocument(transaction, model, { shape, id })
    if (holder?.type.draftAndPublish === false) owners.push(id)
  }
  return owners
}

/** Extent of the given data: all of a new document, every difference between draft and published row, or only some. */
export type ValidatedPart = 'new' | 'part' | 'whole'

interface ValidatedDraft {
  readonly type: ContentType
  readonly id: number
  readonly data: unknown
  readonly given: ValidatedPart
  readonly findTaken: FindTaken
  /** Recipient of errors. */
  readonly reader: ErrorReader
}

/**
 * Validates a draft before it is published. The given data is validated first; only if that fails or does not suffice, the whole stored
 * document is read and validated.
 * @throws ApiError 400
 */
export async function validateDraft(
  context: InputContext,
  reading: TransactionReads,
  { type, id, data, given, findTaken, reader }: ValidatedDraft,
): Promise<void> {
  const { model } = context
  const { transaction } = reading
  // Given values may reveal other attributes.
  const holdsLinks = context.strictRelations === true && hasRequiredLinks(model, type)
  const isDecided = !hasConditions(model, type) && !holdsLinks && !keepsUniqueEntries(model, type, data)
  const publishesLinks = holdsLinks && type.draftAndPublish && leadsToDrafts(model, type)
  const saysAll = (given === 'new' && !publishesLinks) || (given === 'part' && isDecided)
  if (saysAll && (await mayBePublished(context, type, data, given === 'new', findTaken))) return
  const read = (extent: Extent) => readWhole(reading, type, id, extent)
  const errorsOf = (document: Body) => documentErrors(context, type, document, reader, findTaken)
  const document = await read(holdsLinks ? 'required' : 'values')
  if (document === null) return
  const linked = publishesLinks ? await publishedLinks(model, transaction, type, document) : document
  const links = redactErrors(model, type, missingLinks(context, type, linked), reader)
  const errors = await errorsOf(document)
  if (errors.length + links.length === 0) return
  // Errors show components with the relations that would be published.
  const shown = await errorsOf(await shownRelations(model, transaction, type, (await read('components'))!))
  throw attributeErrors([...(shown.length > 0 ? shown : errors), ...links])
}

/** True if the data retains list entries by id without repeating their unique values, which must then be read to be compared. */
function keepsUniqueEntries(model: Model, type: ContentType, data: unknown): boolean {
  if (typeof data !== 'object' || data === null) return false
  return Object.entries(data).some(([name, value]) => {
    const attribute = type.attributes.get(name)
    if (attribute?.kind !== 'component' || !Array.isArray(value) || value.length < 2) return false
    const attributes = [...model.components.get(attribute.component)!.attributes.values()]
    return attributes.some((inner) => inner.kind === 'scalar' && inner.unique) && value.some((entry) => entry?.id !== undefined)
  })
}

/** Replaces an attribute's links; null retains them. */
type Relink = (shape: Schema, attribute: Attribute) => ((rows: LinkedRows) => Promise<unknown>) | null
type LinkedRows = readonly { readonly id: number }[]

/** Replaces links of a stored document, including those in components. */
async function replaceLinks(model: Model, shape: Schema, body: Body, relink: Relink): Promise<Body> {
  const changed: Record<string, unknown> = { ...body }
  const below = async (one: unknown, uid: string) => {
    const component = model.components.get(uid)
    return component === undefined ? one : replaceLinks(model, component, one as Body, relink)
  }
  for (const attribute of shape.attributes.values()) {
    const value = body[attribute.name]
    const links = relink(shape, attribute)
    if (links !== null) changed[attribute.name] = await links((Array.isArray(value) ? value : value ? [value] : []) as LinkedRows)
    else if (attribute.kind === 'component' && value)
      changed[attribute.name] = Array.isArray(value)
        ? await Promise.all(value.map((one) => below(one, attribute.component)))
        : await below(value, attribute.component)
    else if (attribute.kind === 'dynamiczone' && Array.isArray(value))
      changed[attribute.name] = await Promise.all(value.map((one) => below(one, String((one as Body).__component))))
  }
  return changed
}

const asLinks = (ids: readonly number[]) => ids.map((id) => ({ id }))

/** A stored document with only the required links that can be published: those to documents with a published version. */
const publishedLinks = (model: Model, transaction: Transaction, type: ContentType, body: Body): Promise<Body> =>
  replaceLinks(model, type, body, (_shape, attribute) => {
    const target = attribute.kind === 'relation' && isRequiredLink(attribute) ? model.types.get(attribute.target)! : null
    return target?.draftAndPublish === true ? async (rows) => asLinks(await publishedIds(transaction, target, rows)) : null
  })

/** A stored document with the relations of components in Strapi's form: published rows, in `set`. */
const shownRelations = (model: Model, transaction: Transaction, type: ContentType, body: Body): Promise<Body> =>
  replaceLinks(model, type, body, (shape, attribute) => {
    const target = shape.kind === 'component' ? getLinkedType(model, attribute) : null
    const isMany = 'many' in attribute && attribute.many
    return target === null
      ? null
      : async (rows) => (rows.length === 0 && !isMany ? null : { set: asLinks(await publishedIds(transaction, target, rows)) })
  })

async function publishedIds(transaction: Transaction, target: ContentType, rows: LinkedRows): Promise<number[]> {
  if (!target.draftAndPublish || rows.length === 0) return rows.map(({ id }) => id)
  const found = await transaction.rows<{ draft: number; id: number }>(
    sql`select d.id as draft, p.id as id from ${sql.table(target.table)} d join ${sql.table(target.table)} p
      on p.document_id = d.document_id${andSameLocale(target, sql`p.locale`, sql`d.locale`)} and p.published_at is not null
      where d.id in (${transaction.dialect.list(rows.map(({ id }) => id))})`,
  )
  return rows.flatMap(({ id }) => found.filter(({ draft }) => draft === id).map((row) => row.id))
}
