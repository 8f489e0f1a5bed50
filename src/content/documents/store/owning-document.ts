// The document that a row belongs to: its own, or the one that holds the component.
import { sql } from 'kysely'
import type { Transaction } from '../../../database/database.js'
import { componentHolders } from '../../../model/schema/graph.js'
import type { ContentType, Model } from '../../../model/schema/types.js'
import type { Owner } from './relations.js'
import { markModifiedWhere } from './rows.js'

/** A row of a content-type. */
interface Holder {
  readonly type: ContentType
  readonly id: number
}

/** The row of the document that `owner` belongs to; null for a component that nothing holds. */
export async function findOwningDocument(transaction: Transaction, model: Model, { shape, id }: Owner): Promise<Holder | null> {
  if (shape.kind === 'contentType') return { type: shape, id }
  for (const holder of componentHolders(model)) {
    const [entry] = await transaction.rows<{ entity_id: number }>(
      sql`select entity_id from ${sql.table(holder.componentTable)} where cmp_id = ${id} and component_type = ${shape.uid} limit 1`,
    )
    if (entry !== undefined) return findOwningDocument(transaction, model, { shape: holder.shape, id: entry.entity_id })
  }
  return null
}

/** Something below a row was written for itself: a draft may have what its publication lacks. */
export async function markOwnerModified(transaction: Transaction, model: Model, owner: Owner): Promise<void> {
  const holder = await findOwningDocument(transaction, model, owner)
  if (holder?.type.draftAndPublish) markModifiedWhere(transaction, holder.type, sql`${holder.id}`)
}
