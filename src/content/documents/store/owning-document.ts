// Finds the document that a row belongs to: its own, or the one that contains the component.
import { sql } from 'kysely'
import type { Transaction } from '../../../database/database.js'
import { componentHolders } from '../../../model/schema/graph.js'
import type { ContentType, Model } from '../../../model/schema/types.js'
import type { Owner } from './relations.js'
import { markModifiedWhere } from './rows.js'

interface Holder {
  readonly type: ContentType
  readonly id: number
}

/** Returns the document's row; null for a component without an owner. */
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

/** Marks the draft that contains a row as modified, after a part of it was written separately. */
export async function markOwnerModified(transaction: Transaction, model: Model, owner: Owner): Promise<void> {
  const holder = await findOwningDocument(transaction, model, owner)
  if (holder?.type.draftAndPublish) markModifiedWhere(transaction, holder.type, sql`${holder.id}`)
}
