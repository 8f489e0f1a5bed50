// Publishing: the published row gets the content of the draft. It is updated in place and keeps its id; only possible differences are
// written.
import { sql } from 'kysely'
import type { Transaction } from '../../../database/database.js'
import { insertMissing, updateFrom } from '../../../database/portable-sql.js'
import { type OwnedLink, ownedLinks } from '../../../model/schema/graph.js'
import type { Attribute, ContentType, Model } from '../../../model/schema/types.js'
import { copyBelow, isMedia, removeBelow } from '../store/components.js'
import { clearModified } from '../store/modified-drafts.js'
import { findOwningDocument } from '../store/owning-document.js'
import { dropPendingLinks, restorePendingLinks } from '../store/pending-links.js'
import { dropPendingTargets } from '../store/polymorphic.js'
import type { Owner } from '../store/relations.js'
import type { RowContext } from '../store/row-context.js'
import { copyRow, overwriteRow, type StoredVersion, valueColumns } from '../store/rows.js'

const shared = ['document_id', 'locale', 'created_at', 'updated_at', 'created_by_id', 'updated_by_id']

/** The published version of a document in a locale; null when it has none. */
export const findPublished = (versions: readonly StoredVersion[], locale: string | null): StoredVersion | null =>
  versions.find((version) => version.published_at !== null && version.locale === locale) ?? null

/** A draft row that is published. */
export interface PublishedDraft {
  readonly type: ContentType
  readonly draft: number
  /** The published row, which is overwritten; null: there is none yet. */
  readonly published: StoredVersion | null
  /** The attributes that this write has given. */
  readonly touched: ReadonlySet<Attribute>
  /** Other attributes may differ from the published row too. */
  readonly isWhole: boolean
  readonly now: number
  /** The document was created by this write, so there are no pending links to it. */
  readonly isNew?: boolean
}

/** Gives the published row what the draft has. Returns its id. */
export async function publishRow(writing: RowContext, publication: PublishedDraft): Promise<number> {
  const { type, draft, published, touched, isWhole, now, isNew = false } = publication
  const { transaction, model } = writing
  const from = { shape: type, id: draft }
  const attributes = [...type.attributes.values()].filter((attribute) => isWhole || touched.has(attribute))
  if (published === null) {
    const id = await copyRow(transaction, type.table, [...valueColumns(type), ...shared], draft, { published_at: now })
    await copyBelow(writing, from, { shape: type, id }, attributes)
    if (isNew) return id
    await showInTypesWithoutDrafts(transaction, model, type, draft, id)
    await restorePendingLinks(transaction, model, type, id, touched)
    return id
  }
  const to = { shape: type, id: published.id }
  const columns = valueColumns(type, (scalar) => isWhole || touched.has(scalar))
  overwriteRow(transaction, type.table, [...columns, 'updated_at', 'updated_by_id'], draft, published.id, { published_at: now })
  await replaceBelow(writing, from, to, attributes)
  return published.id
}

/** Replaces the components, files and links of `to` by copies of those of `from`, for these attributes. */
export async function replaceBelow(writing: RowContext, from: Owner, to: Owner, attributes: readonly Attribute[]): Promise<void> {
  await removeBelow(
    writing,
    to.shape,
    [to.id],
    attributes.filter((attribute) => !isMedia(attribute)),
  )
  await copyBelow(writing, from, to, attributes, true)
}

/** A draft and its published version that are equal were changed at the same moment, the later of theirs: no moment goes back. */
export function equalizeUpdateTimes(transaction: Transaction, type: ContentType, draft: number, published: number): void {
  const ids = sql`(${draft}, ${published})`
  const both = sql`(select max(updated_at) as latest from ${sql.table(type.table)} where id in ${ids}) as both_versions`
  transaction.follow(updateFrom(type.table, 'version', sql`updated_at = both_versions.latest`, both, sql`version.id in ${ids}`))
}

/** Gives the draft row all that the published row has. `writing` copies to drafts. */
export async function restoreDraft(writing: RowContext, type: ContentType, draft: number, published: number): Promise<void> {
  overwriteRow(writing.transaction, type.table, [...valueColumns(type), 'updated_by_id'], published, draft)
  equalizeUpdateTimes(writing.transaction, type, draft, published)
  await replaceBelow(writing, { shape: type, id: published }, { shape: type, id: draft }, [...type.attributes.values()])
}

/**
 * Removes rows of a document with everything below them; links of others to them go with them. `forgotten`: versions whose document
 * is deleted in their locale, so that pending links to it are dropped.
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

/** Links rows of types without drafts, and of their components, to the row `published` where they link to the row `draft`. */
export async function showInTypesWithoutDrafts(
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
