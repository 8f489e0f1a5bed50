// A document has been published for the first time: what has no drafts of its own and links to the draft shows both sides, to
// those who ask for drafts and to those who do not. Components belong to the document that holds them.
import { sql } from 'kysely'
import type { Transaction } from '../../../database/database.js'
import { insertMissing } from '../../../database/portable-sql.js'
import { type OwnedLink, ownedLinks } from '../../../model/schema/owners.js'
import type { ContentType, Model } from '../../../model/schema/types.js'
import { owningDocumentOf } from '../store/owning-document.js'

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
    const holder = await owningDocumentOf(transaction, model, { shape, id })
    if (holder?.type.draftAndPublish === false) owners.push(id)
  }
  return owners
}
