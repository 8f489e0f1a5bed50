// Copies links from a draft row to its published row, which links to the published sides of its targets. A link to a target
// without one is kept in `octavo_hidden_links` and made when the target is published: publishing never loses a relation.
import { sql } from 'kysely'
import type { Transaction } from '../database/database.js'
import type { Component, ContentType, Model, Relation } from '../model/types.js'
import type { Link, Owner } from './relations.js'
import { takeAway } from './relations.js'
import { insertRows, type Stored, type Version } from './rows.js'
import type { Writing } from './writing.js'

const hidden = sql.table('octavo_hidden_links')

interface LinkRow {
  readonly target: number
  readonly place: number | null
  readonly inversePlace: number | null
  /** The row to link to: the target itself, or its published version; null when it has none. */
  readonly shown: number | null
  readonly document: string | null
  readonly locale: string | null
}

/** Gives `to` the links of `from`, in their order. */
export async function copyLinks(
  { transaction, model, copies }: Writing,
  from: Owner,
  to: Owner,
  relations: readonly Relation[],
): Promise<void> {
  for (const relation of relations) {
    const { storage } = relation
    if (storage.kind !== 'link') continue
    const target = model.types.get(relation.target)!
    const rows = await linkRows(transaction, storage, target, from.id, copies)
    const shown = [...new Map(rows.filter((row) => row.shown !== null).map((row) => [row.shown, row])).values()]
    await takeAway(
      transaction,
      relation,
      storage,
      to,
      shown.map((row) => row.shown!),
      copies,
    )
    await insertRows(
      transaction,
      storage.table,
      shown.map((row) => linkOf(storage, to.id, row.shown!, row.place, row.inversePlace)),
      // A document that is related to itself says the same link from both sides.
      'keep',
    )
    if (!storage.owner) continue
    if (copies === 'draft') {
      await linkHidden(transaction, storage, target, from.id, to.id)
      continue
    }
    await insertRows(
      transaction,
      'octavo_hidden_links',
      rows
        .filter((row) => row.shown === null)
        .map((row) => ({
          link_table: storage.table,
          owner_id: to.id,
          target_type: target.uid,
          target_document: row.document!,
          target_locale: row.locale,
          place: row.place,
        })),
    )
  }
}

const linkOf = (
  storage: Link,
  owner: number,
  target: number,
  place: number | null,
  inversePlace: number | null,
): Record<string, Stored> => ({
  [storage.here]: owner,
  [storage.there]: target,
  ...(storage.order === null ? {} : { [storage.order]: place }),
  ...(storage.inverseOrder === null ? {} : { [storage.inverseOrder]: inversePlace }),
})

/** Gives a draft the links that its published version only waits for. */
function linkHidden(transaction: Transaction, storage: Link, target: ContentType, published: number, draft: number): Promise<unknown> {
  const row = [sql`${draft}`, sql`t.id`, ...(storage.order === null ? [] : [sql`h.place`])]
  const columns = [storage.here, storage.there, ...(storage.order === null ? [] : [storage.order])].map((column) => sql.id(column))
  return transaction.run(
    sql`insert into ${sql.table(storage.table)} (${sql.join(columns)}) select ${sql.join(row)} from ${hidden} h
      join ${sql.table(target.table)} t on t.document_id = h.target_document and t.locale is h.target_locale and t.published_at is null
      where h.link_table = ${storage.table} and h.owner_id = ${published} on conflict do nothing`,
  )
}

function linkRows(
  transaction: Transaction,
  storage: Link,
  target: ContentType,
  owner: number,
  copies: Writing['copies'],
): Promise<readonly LinkRow[]> {
  const place = (name: string | null) => (name === null ? sql`null` : sql`l.${sql.id(name)}`)
  const there = sql`l.${sql.id(storage.there)}`
  const side = copies === 'draft' ? sql`null` : sql`not null`
  const shown = target.draftAndPublish
    ? sql`case when t.published_at is ${side} then t.id else (select p.id from ${sql.table(target.table)} p
        where p.document_id = t.document_id and p.locale is t.locale and p.published_at is ${side}) end`
    : sql`t.id`
  return transaction.rows<LinkRow>(
    sql`select ${there} as target, ${place(storage.order)} as place, ${place(storage.inverseOrder)} as ${sql.id('inversePlace')},
      ${shown} as shown, t.document_id as document, t.locale as locale
      from ${sql.table(storage.table)} l join ${sql.table(target.table)} t on t.id = ${there}
      where l.${sql.id(storage.here)} = ${owner} order by place, l.id`,
  )
}

/** Rows of `shape` are removed: nothing waits for them any more. */
export async function forgetHiddenLinks(transaction: Transaction, shape: ContentType | Component, ids: readonly number[]): Promise<void> {
  const tables = [...shape.attributes.values()].flatMap((attribute) =>
    attribute.kind === 'relation' && attribute.storage.kind === 'link' && attribute.storage.owner ? [attribute.storage.table] : [],
  )
  if (tables.length === 0) return
  await transaction.run(sql`delete from ${hidden} where owner_id in (${sql.join(ids)}) and link_table in (${sql.join(tables)})`)
}

/** A document is gone in a locale: nothing waits for it any more. */
export async function forgetTarget(transaction: Transaction, type: ContentType, documentId: string, locale: string | null): Promise<void> {
  await transaction.run(
    sql`delete from ${hidden} where target_type = ${type.uid} and target_document = ${documentId} and target_locale is ${locale}`,
  )
}

/** Removes the links of a row, the hidden ones too. */
export async function removeLinks(transaction: Transaction, owner: Owner, relations: readonly Relation[]): Promise<void> {
  for (const { storage } of relations) {
    if (storage.kind !== 'link') continue
    await transaction.run(sql`delete from ${sql.table(storage.table)} where ${sql.id(storage.here)} = ${owner.id}`)
    if (storage.owner) await transaction.run(sql`delete from ${hidden} where link_table = ${storage.table} and owner_id = ${owner.id}`)
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
    if (known === undefined) continue
    const { storage, shape } = known
    const row = linkOf(storage, owner_id, published, place, null)
    const names = sql.join(Object.keys(row).map((name) => sql.id(name)))
    // The owner may be gone, and somebody may have made the link meanwhile.
    await transaction.run(
      sql`insert into ${sql.table(storage.table)} (${names}) select ${sql.join(Object.values(row))}
        where exists (select 1 from ${sql.table(shape.table)} where id = ${owner_id}) on conflict do nothing`,
    )
  }
  await transaction.run(sql`delete from ${hidden} where id in (${sql.join(waiting.map(({ id }) => id))})`)
}

/** The version is about to be unpublished: what is published and links to it will link to it again when it is published again. */
export async function hideLinks(
  transaction: Transaction,
  model: Model,
  type: ContentType,
  { id, document_id, locale }: Version,
): Promise<void> {
  for (const { shape, relation, storage } of ownedLinks(model)) {
    if (relation.target !== type.uid || (shape.kind === 'contentType' && !shape.draftAndPublish)) continue
    const { table, here, there, order } = storage
    await transaction.run(
      sql`insert into ${hidden} (link_table, owner_id, target_type, target_document, target_locale, place)
        select ${table}, ${sql.id(here)}, ${type.uid}, ${document_id}, ${locale}, ${order === null ? sql`null` : sql.id(order)}
        from ${sql.table(table)} where ${sql.id(there)} = ${id}`,
    )
  }
}

/**
 * A document has been published for the first time: what has no drafts of its own and links to the draft shows both sides,
 * to those who ask for drafts and to those who do not.
 */
export async function showInTypesWithoutDrafts(
  transaction: Transaction,
  model: Model,
  type: ContentType,
  draft: number,
  published: number,
): Promise<void> {
  for (const { shape, relation, storage } of ownedLinks(model)) {
    if (relation.target !== type.uid || shape.kind !== 'contentType' || shape.draftAndPublish) continue
    const { table, here, there, order, inverseOrder } = storage
    const kept = sql.join([here, order, inverseOrder].filter((column) => column !== null).map((column) => sql.id(column)))
    await transaction.run(
      sql`insert into ${sql.table(table)} (${sql.id(there)}, ${kept}) select ${published}, ${kept} from ${sql.table(table)}
        where ${sql.id(there)} = ${draft} on conflict do nothing`,
    )
  }
}

interface OwnedLink {
  readonly shape: ContentType | Component
  readonly relation: Relation
  readonly storage: Link
}

/** Every relation that names a link table, with the shape whose rows own the links. */
function ownedLinks(model: Model): readonly OwnedLink[] {
  return [...model.types.values(), ...model.components.values()].flatMap((shape) =>
    [...shape.attributes.values()].flatMap((relation): OwnedLink[] => {
      if (relation.kind !== 'relation' || relation.storage.kind !== 'link' || !relation.storage.owner) return []
      return [{ shape, relation, storage: relation.storage }]
    }),
  )
}
