// Copies links from a draft to its published row, which links to published versions of targets. A link to an unpublished target is stored
// in `octavo_pending_links` until it is published: publishing never loses a relation.
import { type RawBuilder, sql } from 'kysely'
import type { Transaction } from '../../../database/database.js'
import type { Dialect } from '../../../database/dialect.js'
import { andSameLocale, insertMissing, localeOf } from '../../../database/portable-sql.js'
import { ownedLinks } from '../../../model/schema/graph.js'
import type { Attribute, ContentType, LinkStorage, Model, Relation, Schema } from '../../../model/schema/types.js'
import { keepPointers } from './pointers.js'
import { keepPendingTargets, restorePendingTarget } from './polymorphic.js'
import { detachOtherOwners, hasOneOwner, type Owner, selectLocales } from './relations.js'
import type { RowContext } from './row-context.js'
import { insertRows, isOnSide, markModifiedWhere, type StoredVersion, updateRow } from './rows.js'

const hidden = sql.table('octavo_pending_links')

interface NewCopies {
  /** The target row has no links yet. */
  readonly isNew: boolean
  /** The source row was created by this write: its links are the last in the lists of their targets. */
  readonly isFromNew: boolean
}

/** Copies the links of `from` to `to`, in order. Links that both have keep their row, and with it their position on the other side. */
export function copyLinks(
  writing: RowContext,
  from: Owner,
  to: Owner,
  relations: readonly Relation[],
  { isNew, isFromNew }: NewCopies,
): void {
  const { transaction, model, targetSide: copies, targetLocale: into } = writing
  for (const relation of relations) {
    const { storage } = relation
    if (storage.kind !== 'link') continue
    const { table, here, there, order, inverseOrder } = storage
    const target = model.types.get(relation.target)!
    const links = copiedLinks(storage, target, from, copies, into)
    const shown = sql`select shown from (${links}) as s where shown is not null`
    if (!isNew) removeOthers(transaction, storage, target, to, shown, copies)
    detachOtherOwners(transaction, relation, storage, to, shown, copies === 'published' ? 'published' : 'draft')
    // A document related to itself has the same link on both sides.
    if (order !== null && (!isNew || target === to.shape)) {
      transaction.follow(
        sql`update ${sql.table(table)} as y set ${sql.id(order)} = (select place from (${links}) as s where shown = ${sql.id('y', there)} order by id limit 1)
          where ${sql.id(here)} = ${to.id} and ${sql.id(there)} in (${shown})`,
      )
    }
    const columns = [here, there, order, inverseOrder].filter((column) => column !== null)
    const link = { id: sql`s.id`, source: sql`s.source`, shown: sql`s.shown`, place: sql`s.inverse_place` }
    // Lists of documents without drafts show both versions: a copy has the same position.
    const isElsewhere = target.draftAndPublish && copies !== 'same'
    const place = () =>
      isFromNew && storage.owner
        ? lastPositionInOther(storage, link.shown)
        : positionInOther(transaction.dialect, storage, to.shape, to.id, link)
    const inverse = inverseOrder !== null && isElsewhere ? place() : link.place
    const values = [sql`${to.id}`, link.shown, ...(order === null ? [] : [sql`s.place`]), ...(inverseOrder === null ? [] : [inverse])]
    transaction.follow(
      insertMissing(
        table,
        columns,
        sql`select ${sql.join(values)} from (${links}) s where s.shown is not null
        ${isNew && target !== to.shape ? sql`` : sql`and not exists (select 1 from ${sql.table(table)} y where ${sql.id('y', here)} = ${to.id} and ${sql.id('y', there)} = s.shown)`}
        order by ${order === null ? sql`s.id` : sql`s.place, s.id`}`,
      ),
    )
    // Targets without drafts always exist: no link to them is pending.
    if (storage.owner && target.draftAndPublish && copies === 'published') hideUnshown(writing, relation, storage, target, links, to)
  }
}

/** Removes links of `to` that its copy will lack, including pending ones. */
function removeOthers(
  transaction: Transaction,
  { table, here, there, owner }: LinkStorage,
  target: ContentType,
  to: Owner,
  shown: RawBuilder<unknown>,
  copies: RowContext['targetSide'],
): void {
  // Links from the other side to a draft that cannot be published yet remain: discarding does not affect them.
  const isLasting = sql`exists (select 1 from ${sql.table(target.table)} d where d.id = ${sql.id(there)} and d.published_at is null and not exists
    (select 1 from ${sql.table(target.table)} p where p.document_id = d.document_id${andSameLocale(target, sql`p.locale`, sql`d.locale`)} and p.published_at is not null))`
  const keeps = !owner && copies === 'draft' && target.draftAndPublish ? sql` and not ${isLasting}` : sql``
  transaction.follow(sql`delete from ${sql.table(table)} where ${sql.id(here)} = ${to.id} and ${sql.id(there)} not in (${shown})${keeps}`)
  if (owner) transaction.follow(sql`delete from ${hidden} where link_table = ${table} and owner_id = ${to.id}`)
}

const getOrderColumns = ({ order, inverseOrder }: LinkStorage): readonly { readonly column: string | null; readonly as: string }[] => [
  { column: order, as: 'place' },
  { column: inverseOrder, as: 'inverse_place' },
]

/** The links to copy: those of the row and, for a draft, the pending ones of its published version. */
function copiedLinks(
  storage: LinkStorage,
  target: ContentType,
  from: Owner,
  copies: RowContext['targetSide'],
  into: RowContext['targetLocale'],
): RawBuilder<unknown> {
  const links = shownLinks(storage, target, from.id, copies, into)
  if (copies !== 'draft' || !storage.owner || !target.draftAndPublish) return links
  const locale = target.localized && into !== undefined ? sql`${into}` : sql`h.target_locale`
  return sql`${links} union all select null, t.id, null, t.document_id, ${localeOf(target, 't')}, h.place, null from ${hidden} h
    join ${sql.table(target.table)} t on t.document_id = h.target_document${andSameLocale(target, sql`t.locale`, locale)} and t.published_at is null
    where h.link_table = ${storage.table} and h.owner_id = ${from.id}`
}

/** The links of a row with the row that a copy links to: the target, or its version on the other side or in the other locale, or null. */
function shownLinks(
  storage: LinkStorage,
  target: ContentType,
  owner: number,
  copies: RowContext['targetSide'],
  into: RowContext['targetLocale'],
): RawBuilder<unknown> {
  const there = sql.id('l', storage.there)
  const places = getOrderColumns(storage).map(
    ({ column, as }) => sql`${column === null ? sql`null` : sql.id('l', column)} as ${sql.id(as)}`,
  )
  return sql`select l.id as id, ${copiedTarget(target, copies, into)} as shown, t.id as source, t.document_id as document, ${localeOf(target, 't')} as locale, ${sql.join(places)}
    from ${sql.table(storage.table)} l join ${sql.table(target.table)} t on t.id = ${there} where l.${sql.id(storage.here)} = ${owner}`
}

/** Selects the counterpart of the target row `t`. */
function copiedTarget(target: ContentType, copies: RowContext['targetSide'], into: RowContext['targetLocale']): RawBuilder<unknown> {
  const side = target.draftAndPublish && copies !== 'same' ? copies : null
  const changesLocale = target.localized && into !== undefined
  if (side === null && !changesLocale) return sql`t.id`
  const isSide = side === null ? sql`(p.published_at is null) = (t.published_at is null)` : isOnSide(sql`p.published_at`, side)
  const other = sql`(select p.id from ${sql.table(target.table)} p where p.document_id = t.document_id
    ${andSameLocale(target, sql`p.locale`, changesLocale ? into : sql`t.locale`)} and ${isSide} order by p.id limit 1)`
  return side === null || changesLocale ? other : sql`case when ${isOnSide(sql`t.published_at`, side)} then t.id else ${other} end`
}

/** Stores pending links to targets without a published version. */
function hideUnshown(
  { transaction, targetLocale: into }: RowContext,
  relation: Relation,
  storage: LinkStorage,
  target: ContentType,
  links: RawBuilder<unknown>,
  owner: Owner,
): void {
  const place = storage.order === null ? sql`null` : sql`place`
  if (hasOneOwner(relation)) {
    const isSameVersion = target.localized
      ? sql` and (target_document, coalesce(target_locale, '')) in (select document, coalesce(locale, '') from (${links}) as s)`
      : sql``
    transaction.follow(
      sql`delete from ${hidden} where link_table = ${storage.table} and owner_id not in (${selectLocales(owner)}) and target_type = ${target.uid}
        and target_document in (select document from (${links}) as s)${isSameVersion}`,
    )
  }
  const isThere = sql` and exists (select 1 from ${sql.table(target.table)} d where d.document_id = s.document${andSameLocale(target, sql`d.locale`, sql`${into}`)})`
  // Targets without a version in the locale are omitted.
  const [locale, which] = target.localized && into !== undefined ? [sql`${into}`, isThere] : [sql`locale`, sql``]
  transaction.follow(
    sql`insert into ${hidden} (link_table, owner_id, target_type, target_document, target_locale, place)
      select ${storage.table}, ${owner.id}, ${target.uid}, document, ${locale}, ${place} from (${links}) as s where shown is null${which}
      order by ${storage.order === null ? sql`id` : sql`place, id`}`,
  )
}

/** Sets the links of a component, in this order; those without a row become pending. */
export function setLinks(
  transaction: Transaction,
  { shape, id }: Owner,
  { storage, target: uid }: Relation,
  links: readonly { readonly document: string; readonly locale: string | null; readonly target: number | null }[],
): void {
  if (storage.kind === 'column') updateRow(transaction, shape.table, id, { [storage.column]: links[0]?.target ?? null })
  if (storage.kind !== 'link') return
  const { table, here, there, order } = storage
  transaction.follow(sql`delete from ${sql.table(table)} where ${sql.id(here)} = ${id}`)
  transaction.follow(sql`delete from ${hidden} where link_table = ${table} and owner_id = ${id}`)
  const placed = links.map((link, index) => ({ ...link, place: index + 1 }))
  const shown = placed.filter(({ target }) => target !== null)
  insertRows(
    transaction,
    table,
    shown.map(({ target, place }) => ({ [here]: id, [there]: target, ...(order === null ? {} : { [order]: place }) })),
  )
  const waits = placed.filter(({ target }) => target === null)
  insertRows(
    transaction,
    'octavo_pending_links',
    waits.map(({ document, locale, place }) => {
      const waiting = { target_type: uid, target_document: document, target_locale: locale, place: order === null ? null : place }
      return { link_table: table, owner_id: id, ...waiting }
    }),
  )
}

/** Drops pending links of removed rows of `shape`, and those to the documents of `targets` in their locales. */
export function dropPendingLinks(
  transaction: Transaction,
  shape: Schema,
  ids: readonly number[],
  targets: readonly StoredVersion[] = [],
): void {
  const isIn = (locale: string | null) => (shape.kind === 'contentType' ? andSameLocale(shape, sql`target_locale`, locale) : sql``)
  const tables = [...shape.attributes.values()].flatMap((attribute) => {
    if (attribute.kind === 'morphTo') return attribute.storage.kind === 'table' ? [attribute.storage.table] : []
    return attribute.kind === 'relation' && attribute.storage.kind === 'link' && attribute.storage.owner ? [attribute.storage.table] : []
  })
  const locales = [...new Map(targets.map((target) => [target.locale, target])).values()]
  const gone = [
    ...(tables.length === 0 ? [] : [sql`(owner_id in (${transaction.dialect.list(ids)}) and link_table in (${sql.join(tables)}))`]),
    ...locales.map(({ document_id, locale }) => sql`(target_type = ${shape.uid} and target_document = ${document_id}${isIn(locale)})`),
  ]
  if (gone.length > 0) transaction.follow(sql`delete from ${hidden} where ${sql.join(gone, sql` or `)}`)
}

/** The position after all links of a row. */
const lastPlace = (table: string, by: string, row: number, order: string): RawBuilder<unknown> =>
  sql`(select coalesce(max(${sql.id('x', order)}), 0) + 1 from ${sql.table(table)} x where ${sql.id('x', by)} = ${row})`

interface HiddenRow {
  readonly id: number
  readonly link_table: string
  readonly owner_id: number
  readonly place: number | null
}

/** The draft of the document whose published row is `published`. */
const selectDraft = (type: ContentType, published: number): RawBuilder<unknown> =>
  sql`select d.id from ${sql.table(type.table)} p join ${sql.table(type.table)} d on d.document_id = p.document_id${andSameLocale(type, sql`d.locale`, sql`p.locale`)}
    where p.id = ${published} and d.published_at is null`

/**
 * Creates the pending links to a document that was published for the first time. If this write gave the relation from its side (`touched`),
 * its own list, which is already copied, takes precedence.
 */
export async function restorePendingLinks(
  transaction: Transaction,
  model: Model,
  type: ContentType,
  published: number,
  touched: ReadonlySet<Attribute>,
): Promise<void> {
  const waiting = await transaction.rows<HiddenRow>(
    sql`select h.id, h.link_table, h.owner_id, h.place from ${hidden} h join ${sql.table(type.table)} t
      on t.document_id = h.target_document${andSameLocale(type, sql`t.locale`, sql`h.target_locale`)}
      where t.id = ${published} and h.target_type = ${type.uid} order by h.id`,
  )
  if (waiting.length === 0) return
  const links = new Map(ownedLinks(model).map((link) => [link.storage.table, link]))
  const given = (table: string) => touched.has(type.attributes.get(links.get(table)?.relation.inverse ?? '')!)
  const shown = waiting.filter(({ link_table }) => !given(link_table))
  // Its draft may have lost such a link since: marks it for comparison.
  if (shown.some(({ link_table }) => links.get(link_table)?.relation.inverse !== null))
    markModifiedWhere(transaction, type, selectDraft(type, published))
  for (const { link_table, owner_id, place } of shown) {
    const known = links.get(link_table)
    if (known === undefined) {
      restorePendingTarget(transaction, model, { table: link_table, owner: owner_id, target: type, published, place })
      continue
    }
    const { relation, storage, shape } = known
    const { table, here, there, order, inverseOrder } = storage
    const names = [here, there, order, inverseOrder].filter((name) => name !== null)
    const values = [
      sql`${owner_id}`,
      sql`${published}`,
      // The stored position.
      ...(order === null ? [] : [sql`${place}`]),
      ...(inverseOrder === null ? [] : [lastPlace(table, there, published, inverseOrder)]),
    ]
    // The owner may have been deleted since, the link created, or the single owner replaced.
    const isTaken = sql`exists (select 1 from ${sql.table(table)} where ${sql.id(there)} = ${published}
      and ${sql.id(here)} not in (${selectLocales({ shape, id: owner_id })}))`
    transaction.follow(
      insertMissing(
        table,
        names,
        sql`select ${sql.join(values)}
        where exists (select 1 from ${sql.table(shape.table)} where id = ${owner_id})
          and not exists (select 1 from ${sql.table(table)} where ${sql.id(here)} = ${owner_id} and ${sql.id(there)} = ${published})
          ${hasOneOwner(relation) ? sql`and not ${isTaken}` : sql``}`,
      ),
    )
  }
  transaction.follow(sql`delete from ${hidden} where id in (${transaction.dialect.list(waiting.map(({ id }) => id))})`)
}

/** Call before a version is unpublished: links of published rows to it become pending. */
export function keepPendingLinks(transaction: Transaction, model: Model, type: ContentType, version: StoredVersion): void {
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
  keepPendingTargets(transaction, model, type, version)
  keepPointers(transaction, model, type, version)
}

/** Columns of a select of copied links (`shownLinks`). */
interface CopiedLink {
  /** The copied link. */
  readonly id: RawBuilder<unknown>
  /** The row that it leads to, and the one that its copy leads to. */
  readonly source: RawBuilder<unknown>
  readonly shown: RawBuilder<unknown>
  readonly place: RawBuilder<unknown>
}

/** The last position in the list of the row `shown`, for links from the owning side. */
const lastPositionInOther = ({ table, there, inverseOrder }: LinkStorage, shown: RawBuilder<unknown>): RawBuilder<unknown> =>
  sql`(select coalesce(max(${sql.id('y', inverseOrder!)}), 0) + 1 from ${sql.table(table)} y where ${sql.id('y', there)} = ${shown})`

const isSameLocale = (shape: Schema) => (one: RawBuilder<unknown>, other: RawBuilder<unknown>) =>
  andSameLocale({ localized: shape.kind === 'contentType' && shape.localized }, one, other)

/**
 * The position of a new link among those of `shown`: its pending position; else the last, if the link is the last of its own list; else
 * directly after the nearest predecessor in both lists, or before all others. Pending links count in both lists.
 */
function positionInOther(
  dialect: Dialect,
  { table, here, there, inverseOrder, owner }: LinkStorage,
  shape: Schema,
  to: number,
  { id, source, shown, place }: CopiedLink,
): RawBuilder<unknown> {
  const links = sql.table(table)
  const rows = sql.table(shape.table)
  const hidden = sql.table('octavo_pending_links')
  const inLocale = isSameLocale(shape)
  const order = (alias: string) => sql.id(alias, inverseOrder!)
  const leadsTo = (alias: string, row: RawBuilder<unknown>) => sql`${sql.id(alias, there)} = ${row}`
  const waits = sql`k.link_table = ${table} and k.owner_id = ${shown}`
  const ordered = (which: 'max' | 'min', condition: RawBuilder<unknown>) => {
    const extreme = sql.raw(which)
    const linked = sql`(select ${extreme}(${order('y')}) as at from ${links} y where ${leadsTo('y', shown)} and ${order('y')} ${condition})`
    if (owner) return linked
    const waiting = sql`(select ${extreme}(k.place) as at from ${hidden} k where ${waits} and k.place ${condition})`
    const both = [linked, waiting].map((at) => ({ columns: { at }, from: null }))
    return sql`(select ${extreme}(at) from ${dialect.lateral(both, { at: 'real' }, 'places')})`
  }
  const ownWaits = sql`w.link_table = ${table} and w.owner_id = ${source}`
  const waitingBefore = {
    columns: { document: sql`w.target_document`, locale: sql`w.target_locale`, earlier: sql`w.place`, link: sql`0` },
    from: sql`${hidden} w where ${ownWaits} and w.place < ${place}`,
  }
  const linkedBefore = {
    columns: { document: sql`o.document_id`, locale: sql`o.locale`, earlier: order('x'), link: sql`x.id` },
    from: sql`${links} x join ${rows} o on o.id = ${sql.id('x', here)}
    where ${leadsTo('x', source)} and (${order('x')} < ${place} or (${order('x')} = ${place} and x.id < ${id}))`,
  }
  const documentsBefore = dialect.lateral(
    owner ? [linkedBefore] : [linkedBefore, waitingBefore],
    { document: 'text', locale: 'text', earlier: 'real', link: 'integer' },
    'b',
  )
  // Positions of the link's predecessors in both lists.
  const at = sql`coalesce(
      (select ${order('y')} from ${rows} r join ${links} y on ${sql.id('y', here)} = r.id and ${leadsTo('y', shown)} where r.document_id = b.document${inLocale(sql`r.locale`, sql`b.locale`)} limit 1),
      ${owner ? sql`null` : sql`(select k.place from ${hidden} k where ${waits} and k.target_document = b.document${inLocale(sql`k.target_locale`, sql`b.locale`)} limit 1)`})`
  const inBoth = dialect.lateral(
    [{ columns: { at, earlier: sql`b.earlier`, link: sql`b.link` }, from: documentsBefore }],
    { at: 'real', earlier: 'real', link: 'integer' },
    'found',
  )
  const behind = sql`(select at from ${inBoth} where at is not null order by earlier desc, link desc limit 1)`
  const waitsBehind = owner ? sql`` : sql` and not exists (select 1 from ${hidden} w where ${ownWaits} and w.place > ${place})`
  const isLast = sql`not exists (select 1 from ${links} x where ${leadsTo('x', source)} and ${order('x')} > ${place})${waitsBehind}`
  const nearest = dialect.lateral([{ columns: { prior: behind }, from: null }], { prior: 'real' }, 'b')
  const between = dialect.lateral(
    [{ columns: { prior: sql`b.prior`, at: ordered('min', sql`> b.prior`) }, from: sql`${nearest} where b.prior is not null` }],
    { prior: 'real', at: 'real' },
    'f',
  )
  const next = sql`(select case when f.at is null then f.prior + 1 else (f.prior + f.at) / 2 end from ${between})`
  const kept = owner
    ? sql`null`
    : sql`(select k.place from ${hidden} k join ${rows} r on r.id = ${to} where ${waits} and k.target_document = r.document_id${inLocale(sql`k.target_locale`, sql`r.locale`)} limit 1)`
  return sql`coalesce(${kept}, case when ${isLast} then coalesce(${ordered('max', sql`is not null`)}, 0) + 1 end,
    ${next}, ${dialect.positionBefore(ordered('min', sql`is not null`))}, 1)`
}
