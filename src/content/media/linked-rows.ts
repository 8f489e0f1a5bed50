// The rows that a file is linked to with the one that a form names: those of the document's other versions, so that no write to one of them
// takes the file away.
import { sql } from 'kysely'
import type { Transaction } from '../../database/database.js'
import { andSameLocale, isSame } from '../../database/portable-sql.js'
import { componentHolders } from '../../model/schema/owners.js'
import type { Component, ContentType, Model } from '../../model/schema/types.js'
import type { MediaLink } from './rows.js'

/** The row of the link and, where it is to every version, their rows: in all locales, if these share the attribute. */
export async function linkedRows(
  tx: Transaction,
  model: Model,
  { shape, id, attribute, everyVersion }: MediaLink,
): Promise<readonly number[]> {
  if (!everyVersion) return [id]
  return shape.kind === 'contentType' ? versionsOfRow(tx, shape, id, attribute.localized) : entriesLike(tx, model, shape, id)
}

async function versionsOfRow(tx: Transaction, type: ContentType, id: number, isLocalized: boolean): Promise<readonly number[]> {
  const inLocale = isLocalized ? andSameLocale(type, sql`v.locale`, sql`o.locale`) : sql``
  const rows = await tx.rows<{ readonly id: number }>(
    sql`select v.id from ${sql.table(type.table)} v join ${sql.table(type.table)} o on o.document_id = v.document_id${inLocale}
      where o.id = ${id} order by v.id`,
  )
  return [...new Set([id, ...rows.map((row) => row.id)])]
}

/** The entry of a component, and those at its place in the other versions that have the same values. */
async function entriesLike(tx: Transaction, model: Model, component: Component, id: number): Promise<readonly number[]> {
  const order = sql.id('order')
  for (const { shape, componentTable } of componentHolders(model)) {
    const entries = sql.table(componentTable)
    const [place] = await tx.rows<{ readonly owner: number; readonly field: string; readonly place: number | null }>(
      sql`select entity_id as owner, field, ${order} as place from ${entries} where cmp_id = ${id} and component_type = ${component.uid} limit 1`,
    )
    if (place === undefined) continue
    const { owner, field, place: at } = place
    const isLocalized = shape.attributes.get(field)?.localized ?? true
    const owners =
      shape.kind === 'contentType' ? await versionsOfRow(tx, shape, owner, isLocalized) : await entriesLike(tx, model, shape, owner)
    const alike = comparedColumns(component).map((column) => sql` and ${isSame(sql.id('c', column), sql.id('o', column))}`)
    const found = await tx.rows<{ readonly id: number }>(
      sql`select c.id from ${entries} e join ${sql.table(component.table)} c on c.id = e.cmp_id join ${sql.table(component.table)} o on o.id = ${id}
        where e.entity_id in (${tx.dialect.list(owners)}) and e.component_type = ${component.uid} and e.field = ${field}
        and ${isSame(sql.id('e', 'order'), at)}${sql.join(alike, sql``)} order by c.id`,
    )
    return [...new Set([id, ...found.map((row) => row.id)])]
  }
  return [id]
}

/** The columns of a component's values that every database can compare. */
const comparedColumns = ({ attributes }: Component): readonly string[] =>
  [...attributes.values()].flatMap((attribute) =>
    attribute.kind !== 'scalar' || attribute.system || attribute.type === 'json' || attribute.type === 'blocks' ? [] : [attribute.column],
  )
