// Copies links from a draft row to its published row, which links to the published sides of its targets. A link to a target
// without one is kept in `octavo_hidden_links` and made when the target is published: publishing never loses a relation.
import type { RawBuilder } from 'kysely'
import { sql } from 'kysely'
import type { Transaction } from '../database/database.js'
import type { Component, ContentType, Model, Relation } from '../model/types.js'
import { hidePointers, showPointer } from './morphs.js'
import type { Link, Owner } from './relations.js'
import { takeAway } from './relations.js'
import type { Version } from './rows.js'
import type { Writing } from './writing.js'

const hidden = sql.table('octavo_hidden_links')

/** Gives `to` the links of `from`, in their order. */
export function copyLinks({ transaction, model, copies, into }: Writing, from: Owner, to: Owner, relations: readonly Relation[]): void {
  for (const relation of relations) {
    const { storage } = relation
    if (storage.kind !== 'link') continue
    const target = model.types.get(relation.target)!
    const links = shownLinks(storage, target, from.id, copies, into)
    takeAway(
      transaction,
      relation,
      storage,
      to,
      sql`select shown from (${links}) where shown is not null`,
      copies === 'published' ? 'published' : 'draft',
    )
    const columns = [storage.here, storage.there, storage.order, storage.inverseOrder].filter((column) => column !== null)
    const values = [sql`${to.id}`, sql`shown`, ...copiedPlaces(storage)]
    // A document that is related to itself says the same link from both sides.
    transaction.follow(
      sql`insert into ${sql.table(storage.table)} (${sql.join(columns.map((column) => sql.id(column)))})
        select ${sql.join(values)} from (${links}) where shown is not null order by ${linkOrder(storage)} on conflict do nothing`,
    )
    // Targets without drafts are always there: nothing waits for them.
    if (!storage.owner || !target.draftAndPublish || copies === 'same') continue
    if (copies === 'draft') linkHidden(transaction, storage, target, from.id, to.id)
    else hideUnshown(transaction, storage, target, links, to.id)
  }
}

/** The order columns that a link table has, and what they are called here. */
const placesOf = ({ order, inverseOrder }: Link): readonly { readonly column: string; readonly as: string }[] => [
  ...(order === null ? [] : [{ column: order, as: 'place' }]),
  ...(inverseOrder === null ? [] : [{ column: inverseOrder, as: 'inverse_place' }]),
]

/** The places of a copied link. Written from the other side, it keeps its place among the targets of the row it now leads to, if that is free. */
function copiedPlaces({ table, there, order, inverseOrder, owner }: Link): readonly RawBuilder<unknown>[] {
  const inverse = sql`inverse_place`
  return [
    ...(order === null ? [] : [sql`place`]),
    ...(inverseOrder === null ? [] : [owner ? inverse : freePlace(table, there, sql`shown`, inverseOrder, inverse)]),
  ]
}

/** `place` among the links of a row where nothing stands there, else the one behind them all. */
const freePlace = (table: string, by: string, row: RawBuilder<unknown>, order: string, place: RawBuilder<unknown>) =>
  sql`case when exists (select 1 from ${sql.table(table)} x where ${sql.id('x', by)} = ${row} and ${sql.id('x', order)} = ${place})
    then (select max(${sql.id('x', order)}) + 1 from ${sql.table(table)} x where ${sql.id('x', by)} = ${row}) else ${place} end`

const linkOrder = ({ order }: Link) => (order === null ? sql`id` : sql`place, id`)

/** The links of a row with the row that a copy links to: the target itself, or its version on the other side or in the other locale; null when it has none. */
function shownLinks(
  storage: Link,
  target: ContentType,
  owner: number,
  copies: Writing['copies'],
  into: Writing['into'],
): RawBuilder<unknown> {
  const there = sql.id('l', storage.there)
  const places = placesOf(storage).map(({ column, as }) => sql`, l.${sql.id(column)} as ${sql.id(as)}`)
  return sql`select l.id as id, ${shownOf(target, copies, into)} as shown, t.document_id as document, t.locale as locale${places.length === 0 ? sql`` : sql.join(places, sql``)}
    from ${sql.table(storage.table)} l join ${sql.table(target.table)} t on t.id = ${there} where l.${sql.id(storage.here)} = ${owner}`
}

/** The row that takes the place of the target row `t`. */
function shownOf(target: ContentType, copies: Writing['copies'], into: Writing['into']): RawBuilder<unknown> {
  const changesSide = target.draftAndPublish && copies !== 'same'
  const changesLocale = target.localized && into !== undefined
  if (!changesSide && !changesLocale) return sql`t.id`
  const side = copies === 'draft' ? sql`null` : sql`not null`
  const isSide = changesSide ? sql`p.published_at is ${side}` : sql`(p.published_at is null) = (t.published_at is null)`
  const other = sql`(select p.id from ${sql.table(target.table)} p where p.document_id = t.document_id
    and p.locale is ${changesLocale ? sql`${into}` : sql`t.locale`} and ${isSide})`
  return changesLocale ? other : sql`case when t.published_at is ${side} then t.id else ${other} end`
}

/** What has no published version yet is linked when it gets one. */
function hideUnshown(transaction: Transaction, storage: Link, target: ContentType, links: RawBuilder<unknown>, owner: number): void {
  const place = storage.order === null ? sql`null` : sql`place`
  transaction.follow(
    sql`insert into ${hidden} (link_table, owner_id, target_type, target_document, target_locale, place)
      select ${storage.table}, ${owner}, ${target.uid}, document, locale, ${place} from (${links}) where shown is null order by ${linkOrder(storage)}`,
  )
}

/** Gives a draft the links that its published version only waits for. */
function linkHidden(transaction: Transaction, storage: Link, target: ContentType, published: number, draft: number): void {
  const row = [sql`${draft}`, sql`t.id`, ...(storage.order === null ? [] : [sql`h.place`])]
  const columns = [storage.here, storage.there, ...(storage.order === null ? [] : [storage.order])].map((column) => sql.id(column))
  transaction.follow(
    sql`insert into ${sql.table(storage.table)} (${sql.join(columns)}) select ${sql.join(row)} from ${hidden} h
      join ${sql.table(target.table)} t on t.document_id = h.target_document and t.locale is h.target_locale and t.published_at is null
      where h.link_table = ${storage.table} and h.owner_id = ${published} on conflict do nothing`,
  )
}

/** Rows of `shape` are removed: nothing waits for them any more, nor for the document of the versions `targets`, in their locales. */
export function forgetHiddenLinks(
  transaction: Transaction,
  shape: ContentType | Component,
  ids: readonly number[],
  targets: readonly Version[] = [],
): void {
  const tables = [...shape.attributes.values()].flatMap((attribute) => {
    if (attribute.kind === 'morphTo') return attribute.storage.kind === 'table' ? [attribute.storage.table] : []
    return attribute.kind === 'relation' && attribute.storage.kind === 'link' && attribute.storage.owner ? [attribute.storage.table] : []
  })
  const locales = [...new Map(targets.map((target) => [target.locale, target])).values()]
  const gone = [
    ...(tables.length === 0 ? [] : [sql`(owner_id in (${sql.join(ids)}) and link_table in (${sql.join(tables)}))`]),
    ...locales.map(
      ({ document_id, locale }) => sql`(target_type = ${shape.uid} and target_document = ${document_id} and target_locale is ${locale})`,
    ),
  ]
  if (gone.length > 0) transaction.follow(sql`delete from ${hidden} where ${sql.join(gone, sql` or `)}`)
}

/** Removes the links of a row, the hidden ones too. */
export function removeLinks(transaction: Transaction, owner: Owner, relations: readonly Relation[]): void {
  for (const { storage } of relations) {
    if (storage.kind !== 'link') continue
    transaction.follow(sql`delete from ${sql.table(storage.table)} where ${sql.id(storage.here)} = ${owner.id}`)
    if (storage.owner) transaction.follow(sql`delete from ${hidden} where link_table = ${storage.table} and owner_id = ${owner.id}`)
  }
}

interface HiddenRow {
  readonly id: number
  readonly link_table: string
  readonly owner_id: number
  readonly place: number | null
}

/** A document has been published for the first time: makes the links that were waiting for it. */
export async function showHiddenLinks(transaction: Transaction, model: Model, type: ContentType, published: number): Promise<void> {
  const waiting = await transaction.rows<HiddenRow>(
    sql`select h.id, h.link_table, h.owner_id, h.place from ${hidden} h join ${sql.table(type.table)} t
      on t.document_id = h.target_document and t.locale is h.target_locale
      where t.id = ${published} and h.target_type = ${type.uid} order by h.id`,
  )
  if (waiting.length === 0) return
  const links = new Map(ownedLinks(model).map((link) => [link.storage.table, link]))
  for (const { link_table, owner_id, place } of waiting) {
    const known = links.get(link_table)
    if (known === undefined) {
      showPointer(transaction, model, { table: link_table, owner: owner_id, target: type, published, place })
      continue
    }
    const { storage, shape } = known
    const { table, here, there, order } = storage
    const names = [here, there, ...(order === null ? [] : [order])].map((name) => sql.id(name))
    const values = [
      sql`${owner_id}`,
      sql`${published}`,
      ...(order === null ? [] : [freePlace(table, here, sql`${owner_id}`, order, sql`${place}`)]),
    ]
    // The owner may be gone, and somebody may have made the link meanwhile.
    transaction.follow(
      sql`insert into ${sql.table(table)} (${sql.join(names)}) select ${sql.join(values)}
        where exists (select 1 from ${sql.table(shape.table)} where id = ${owner_id}) on conflict do nothing`,
    )
  }
  transaction.follow(sql`delete from ${hidden} where id in (${sql.join(waiting.map(({ id }) => id))})`)
}

/** The version is about to be unpublished: what is published and links to it will link to it again when it is published again. */
export function hideLinks(transaction: Transaction, model: Model, type: ContentType, version: Version): void {
  const { id, document_id, locale } = version
  for (const { shape, relation, storage } of ownedLinks(model)) {
    if (relation.target !== type.uid || (shape.kind === 'contentType' && !shape.draftAndPublish)) continue
    const { table, here, there, order } = storage
    transaction.follow(
      sql`insert into ${hidden} (link_table, owner_id, target_type, target_document, target_locale, place)
        select ${table}, ${sql.id(here)}, ${type.uid}, ${document_id}, ${locale}, ${order === null ? sql`null` : sql.id(order)}
        from ${sql.table(table)} where ${sql.id(there)} = ${id}`,
    )
  }
  hidePointers(transaction, model, type, version)
}

export interface OwnedLink {
  readonly shape: ContentType | Component
  readonly relation: Relation
  readonly storage: Link
}

/** Every relation that names a link table, with the shape whose rows own the links. */
export function ownedLinks(model: Model): readonly OwnedLink[] {
  return [...model.types.values(), ...model.components.values()].flatMap((shape) =>
    [...shape.attributes.values()].flatMap((relation): OwnedLink[] => {
      if (relation.kind !== 'relation' || relation.storage.kind !== 'link' || !relation.storage.owner) return []
      return [{ shape, relation, storage: relation.storage }]
    }),
  )
}
