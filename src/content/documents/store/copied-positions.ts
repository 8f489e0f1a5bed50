// Where a copied link stands in the list of the document that it leads to. That list is another document's: what it has stays in its
// order, and only a link that is new to it needs a place.
import { type RawBuilder, sql } from 'kysely'
import type { Dialect } from '../../../database/dialect.js'
import { andSameLocale } from '../../../database/portable-sql.js'
import type { LinkStorage, Schema } from '../../../model/schema/types.js'

/** Columns of a select over links that are copied (links: `shownLinks`). */
interface CopiedLink {
  /** The link that is copied. */
  readonly id: RawBuilder<unknown>
  /** The row that it leads to, and the one that its copy leads to. */
  readonly source: RawBuilder<unknown>
  readonly shown: RawBuilder<unknown>
  readonly place: RawBuilder<unknown>
}

/** The place behind all others in the list of the row `shown`, of what is linked from the owner's side. */
export const lastPlaceInOther = ({ table, there, inverseOrder }: LinkStorage, shown: RawBuilder<unknown>): RawBuilder<unknown> =>
  sql`(select coalesce(max(${sql.id('y', inverseOrder!)}), 0) + 1 from ${sql.table(table)} y where ${sql.id('y', there)} = ${shown})`

const sameLocaleOf = (shape: Schema) => (one: RawBuilder<unknown>, other: RawBuilder<unknown>) =>
  andSameLocale({ localized: shape.kind === 'contentType' && shape.localized }, one, other)

/**
 * The place of a new link among those of `shown`: the one that is kept for it; else the last, if the link is the last of its own list;
 * else directly behind the nearest before it that both lists have, or before all others. Links that wait count in both lists.
 */
export function placeInOther(
  dialect: Dialect,
  { table, here, there, inverseOrder, owner }: LinkStorage,
  shape: Schema,
  to: number,
  { id, source, shown, place }: CopiedLink,
): RawBuilder<unknown> {
  const [links, rows, hidden] = [sql.table(table), sql.table(shape.table), sql.table('octavo_pending_links')]
  const inLocale = sameLocaleOf(shape)
  const order = (alias: string) => sql.id(alias, inverseOrder!)
  const leadsTo = (alias: string, row: RawBuilder<unknown>) => sql`${sql.id(alias, there)} = ${row}`
  const waits = sql`k.link_table = ${table} and k.owner_id = ${shown}`
  const ordered = (which: 'max' | 'min', condition: RawBuilder<unknown>) => {
    const extreme = sql.raw(which)
    const linked = sql`(select ${extreme}(${order('y')}) as at from ${links} y where ${leadsTo('y', shown)} and ${order('y')} ${condition})`
    if (owner) return linked
    const waiting = sql`(select ${extreme}(k.place) as at from ${hidden} k where ${waits} and k.place ${condition})`
    const both = [linked, waiting].map((at) => ({ columns: { at }, from: null }))
    return sql`(select ${extreme}(at) from ${dialect.around(both, { at: 'real' }, 'places')})`
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
  const documentsBefore = dialect.around(
    owner ? [linkedBefore] : [linkedBefore, waitingBefore],
    { document: 'text', locale: 'text', earlier: 'real', link: 'integer' },
    'b',
  )
  // The places in both lists of what stands before the link in its own.
  const at = sql`coalesce(
      (select ${order('y')} from ${rows} r join ${links} y on ${sql.id('y', here)} = r.id and ${leadsTo('y', shown)} where r.document_id = b.document${inLocale(sql`r.locale`, sql`b.locale`)} limit 1),
      ${owner ? sql`null` : sql`(select k.place from ${hidden} k where ${waits} and k.target_document = b.document${inLocale(sql`k.target_locale`, sql`b.locale`)} limit 1)`})`
  const inBoth = dialect.around(
    [{ columns: { at, earlier: sql`b.earlier`, link: sql`b.link` }, from: documentsBefore }],
    { at: 'real', earlier: 'real', link: 'integer' },
    'found',
  )
  const behind = sql`(select at from ${inBoth} where at is not null order by earlier desc, link desc limit 1)`
  const waitsBehind = owner ? sql`` : sql` and not exists (select 1 from ${hidden} w where ${ownWaits} and w.place > ${place})`
  const isLast = sql`not exists (select 1 from ${links} x where ${leadsTo('x', source)} and ${order('x')} > ${place})${waitsBehind}`
  const nearest = dialect.around([{ columns: { prior: behind }, from: null }], { prior: 'real' }, 'b')
  const between = dialect.around(
    [{ columns: { prior: sql`b.prior`, at: ordered('min', sql`> b.prior`) }, from: sql`${nearest} where b.prior is not null` }],
    { prior: 'real', at: 'real' },
    'f',
  )
  const next = sql`(select case when f.at is null then f.prior + 1 else (f.prior + f.at) / 2 end from ${between})`
  const kept = owner
    ? sql`null`
    : sql`(select k.place from ${hidden} k join ${rows} r on r.id = ${to} where ${waits} and k.target_document = r.document_id${inLocale(sql`k.target_locale`, sql`r.locale`)} limit 1)`
  return sql`coalesce(${kept}, case when ${isLast} then coalesce(${ordered('max', sql`is not null`)}, 0) + 1 end,
    ${next}, ${dialect.placeBefore(ordered('min', sql`is not null`))}, 1)`
}
