// Polymorphic relations written from their inverse side (morphOne, morphMany). The rows that point at an owner are rows of the attribute's
// target type; they store the pointer in columns or in that type's link table.
import { sql } from 'kysely'
import type { Transaction } from '../../../database/database.js'
import { andSameLocale, idsFound, updateFrom } from '../../../database/portable-sql.js'
import { forbidden } from '../../../foundation/errors/errors.js'
import type { ContentType, MorphFrom } from '../../../model/schema/types.js'
import { type FindHidden, keepHidden } from '../guard/hidden-rows.js'
import type { RelationInput } from '../input/types.js'
import { placeEntries } from './positions.js'
import { moveLinks, type Owner } from './relations.js'
import type { RowContext } from './row-context.js'
import { isOnSide, markModified, type Side } from './rows.js'
import { resolveChange, resolveReferences, resolveSet } from './targets.js'

/** A row that points at the owner, the row of the link table if there is one, and its position in the owner's list. */
interface Pointing {
  readonly id: number
  readonly link: number | null
  readonly place: number | null
}

/**
 * Applies `input` to `attribute` of `owner`.
 * @throws ApiError 400 for missing targets and neighbours
 */
export async function writeInverse(writing: RowContext, owner: Owner, attribute: MorphFrom, input: RelationInput): Promise<void> {
  if (input.set === null && input.connect.length === 0 && input.disconnect.length === 0) return
  const { transaction, model, isDraftWrite: drafts } = writing
  const target = model.types.get(attribute.target)!
  const present = await pointingRows(transaction, target, owner, attribute)
  const ids = present.map(({ id }) => id)
  const asked = await wantedRows(writing, target, attribute, present, input)
  const { hidden } = writing.resolving
  const wanted = hidden === null ? asked : await keepHidden(hidden, target, ids, asked, attribute.many)
  if (hidden !== null) await refuseHiddenTargets(writing, hidden, target, attribute, present, wanted)
  const { gone, added } = setPointing(transaction, target, owner, attribute, present, wanted)
  if (drafts && target.draftAndPublish) markModified(transaction, target, [...gone, ...added])
  writing.inverses.set(toInverseKey(owner, attribute), gone)
}

/** @throws ApiError 403 if a row that can point at one owner would be taken from one that the caller cannot see */
async function refuseHiddenTargets(
  { transaction, model }: RowContext,
  hidden: FindHidden,
  target: ContentType,
  { storage }: MorphFrom,
  present: readonly Pointing[],
  wanted: readonly number[],
): Promise<void> {
  const before = new Set(present.map(({ id }) => id))
  const added = wanted.filter((id) => !before.has(id))
  if (storage.kind !== 'columns' || added.length === 0) return
  // In all versions: the published ones follow on publication.
  const table = sql.table(target.table)
  const pointers = await transaction.rows<{ id: number; type: string }>(
    sql`select v.${sql.id(storage.id)} as id, v.${sql.id(storage.type)} as type from ${table} v join ${table} t on t.document_id = v.document_id
      where t.id in (${transaction.dialect.list(added)}) and v.${sql.id(storage.id)} is not null`,
  )
  for (const uid of new Set(pointers.map(({ type }) => type))) {
    const type = model.types.get(uid)
    const pointed = pointers.filter((pointer) => pointer.type === uid).map(({ id }) => id)
    if (type !== undefined && (await hidden(type, pointed)).size > 0) throw forbidden()
  }
}

const toInverseKey = ({ shape, id }: Owner, { name }: MorphFrom): string => `${shape.uid} ${id} ${name}`

async function wantedRows(
  writing: RowContext,
  target: ContentType,
  { many }: MorphFrom,
  present: readonly Pointing[],
  input: RelationInput,
): Promise<readonly number[]> {
  if (input.set !== null) {
    const entries = await resolveSet(writing, target, input.set, input.besideSet)
    return many ? [...new Set(entries.flatMap(({ rows }) => rows))] : (entries[0]?.rows ?? [])
  }
  const { connected, disconnected } = await resolveChange(writing, target, input)
  if (!many && connected.length > 0) return connected[0]!.rows
  const names = connected.flatMap(({ reference: { position } }) => [position?.before, position?.after].filter((name) => name !== undefined))
  const neighbours = new Map<string | number, readonly number[]>()
  for (const name of names) {
    if (typeof name === 'number') {
      const isUnseen = (await writing.resolving.hidden?.(target, [name]))?.has(name) === true
      neighbours.set(name, isUnseen ? [] : [name])
      continue
    }
    const [found] = await resolveReferences(writing, target, [{ documentId: name }])
    neighbours.set(name, found!.rows)
  }
  const ids = present.map(({ id }) => id)
  return placeEntries(ids, connected, disconnected, (name) => neighbours.get(name) ?? [])
}

/** Rows that point at the owner through this attribute, in order. */
function pointingRows(transaction: Transaction, target: ContentType, owner: Owner, attribute: MorphFrom): Promise<readonly Pointing[]> {
  const { storage } = attribute
  const isOurs = pointsAt(attribute, owner)
  if (storage.kind === 'columns')
    return transaction.rows(sql`select id, null as link, null as place from ${sql.table(target.table)} where ${isOurs} order by id`)
  const here = sql.id(storage.here)
  const order = sql.id(storage.order)
  return transaction.rows(
    sql`select ${here} as id, id as link, ${order} as place from ${sql.table(storage.table)} where ${isOurs} order by ${order}, id`,
  )
}

/** Matches rows (of the link table or of the target) that point at the owner through this attribute. */
const pointsAt = ({ name, storage }: MorphFrom, owner: Owner, alias?: string) => {
  const column = (column: string) => (alias === undefined ? sql.id(column) : sql.id(alias, column))
  const isField = storage.kind === 'table' ? sql` and ${column('field')} = ${name}` : sql``
  return sql`${column(storage.id)} = ${owner.id} and ${column(storage.type)} = ${owner.shape.uid}${isField}`
}

/** Sets the rows that point at the owner, in this order. Returns the removed and the added ones. */
function setPointing(
  transaction: Transaction,
  target: ContentType,
  owner: Owner,
  attribute: MorphFrom,
  present: readonly Pointing[],
  wanted: readonly number[],
): { readonly gone: readonly number[]; readonly added: readonly number[] } {
  const { storage } = attribute
  const before = new Set(present.map(({ id }) => id))
  const after = new Set(wanted)
  const gone = [...before].filter((id) => !after.has(id))
  const added = wanted.filter((id) => !before.has(id))
  if (storage.kind === 'columns') {
    const point = (id: number | null, type: string | null, rows: readonly number[]) =>
      transaction.follow(
        sql`update ${sql.table(target.table)} set ${sql.id(storage.id)} = ${id}, ${sql.id(storage.type)} = ${type} where id in (${transaction.dialect.list(rows)})`,
      )
    if (gone.length > 0) point(null, null, gone)
    if (added.length > 0) point(owner.id, owner.shape.uid, added)
    return { gone, added }
  }
  const here = sql.id(storage.here)
  const order = sql.id(storage.order)
  const isOurs = pointsAt(attribute, owner)
  if (gone.length > 0)
    transaction.follow(sql`delete from ${sql.table(storage.table)} where ${isOurs} and ${here} in (${transaction.dialect.list(gone)})`)
  const kept = present.filter(({ id }) => after.has(id))
  const isInOrder = [...kept.map(({ id }) => id), ...added].every((id, index) => id === wanted[index])
  const last = present.reduce((most, { place }) => Math.max(most, place ?? 0), 0)
  const places = new Map(isInOrder ? added.map((id, index) => [id, last + index + 1]) : wanted.map((id, index) => [id, index + 1]))
  if (added.length > 0) {
    const rows = added.map((id) => [id, places.get(id)!])
    transaction.follow(
      sql`insert into ${sql.table(storage.table)} (${here}, ${sql.id(storage.id)}, ${sql.id(storage.type)}, field, ${order})
        select e.id, ${owner.id}, ${owner.shape.uid}, ${attribute.name}, e.place from ${transaction.dialect.rows(rows, { id: 'integer', place: 'real' }, 'e')}
        order by e.ordinal`,
    )
  }
  const moved = kept.filter(({ id, place }) => places.has(id) && places.get(id) !== place)
  moveLinks(transaction, storage.table, storage.order, new Map(moved.map(({ link, id }) => [link!, places.get(id)!])))
  return { gone, added }
}

/**
 * Lets versions of other documents on the target side point at `to` as those on the other side point at `from`. Rows of types without
 * drafts have one version: they point at the published row too, if this write has referenced them.
 */
export function copyInverses(writing: RowContext, from: Owner, to: Owner, attributes: readonly MorphFrom[]): void {
  const { transaction, model, targetSide: copies, inverses } = writing
  if (copies === 'same') return
  for (const attribute of attributes) {
    const target = model.types.get(attribute.target)!
    const gone = inverses.get(toInverseKey(from, attribute))
    if (target.draftAndPublish) copyVersions(transaction, target, from, to, attribute, copies)
    else if (gone !== undefined && copies === 'published') copyRows(transaction, from, to, attribute, gone)
  }
}

/** Lets rows with a single version point at `to` too, except those removed from `from` and those that store the pointer in columns. */
function copyRows(transaction: Transaction, from: Owner, to: Owner, attribute: MorphFrom, gone: readonly number[]): void {
  const { storage } = attribute
  if (storage.kind === 'columns') return
  const columns = [storage.here, storage.id, storage.type, 'field', storage.order].map((column) => sql.id(column))
  const links = sql.table(storage.table)
  const here = sql.id(storage.here)
  if (gone.length > 0)
    transaction.follow(sql`delete from ${links} where ${pointsAt(attribute, to)} and ${here} in (${transaction.dialect.list(gone)})`)
  transaction.follow(
    sql`insert into ${links} (${sql.join(columns)})
      select ${here}, ${to.id}, ${sql.id(storage.type)}, field, ${sql.id(storage.order)} from ${links} where ${pointsAt(attribute, from)}
        and ${here} not in (select ${here} from ${links} where ${pointsAt(attribute, to)})`,
  )
}

function copyVersions(
  transaction: Transaction,
  target: ContentType,
  from: Owner,
  to: Owner,
  { name, storage }: MorphFrom,
  copies: Side,
): void {
  const source = copies === 'published' ? 'draft' : 'published'
  const table = sql.table(target.table)
  const isTable = storage.kind === 'table'
  const links = isTable ? sql.table(storage.table) : table
  const here = isTable ? sql.id(storage.here) : sql.id('id')
  const points = (owners: readonly number[]) =>
    sql`l.${sql.id(storage.id)} in (${sql.join(owners)}) and l.${sql.id(storage.type)} = ${from.shape.uid}${isTable ? sql` and l.field = ${name}` : sql``}`
  /** The versions to show, with the positions of their counterparts. */
  const versions = (owners: readonly number[]) =>
    sql`${links} l join ${table} t on t.id = l.${here} and ${isOnSide(sql`t.published_at`, source)}
      join ${table} v on v.document_id = t.document_id${andSameLocale(target, sql`v.locale`, sql`t.locale`)} and ${isOnSide(sql`v.published_at`, copies)}
      where ${points(owners)}`
  const stale = sql`${points([to.id])} and l.${here} in (select id from ${table} where ${isOnSide(sql`published_at`, copies)})
    and l.${here} not in (select v.id from ${versions([from.id, to.id])})`
  if (isTable) {
    const columns = [here, sql.id(storage.id), sql.id(storage.type), sql.id('field'), sql.id(storage.order)]
    transaction.follow(sql`delete from ${links} where id in ${idsFound(sql`l.id`, sql`${links} l where ${stale}`)}`)
    transaction.follow(
      sql`insert into ${links} (${sql.join(columns)}) select v.id, ${to.id}, ${from.shape.uid}, ${name}, l.${sql.id(storage.order)}
        from ${versions([from.id])} and v.id not in (select l.${here} from ${links} l where ${points([to.id])})`,
    )
    const places = sql`(select distinct v.id as version, l.${sql.id(storage.order)} as place from ${versions([from.id])}) as theirs`
    const isOurs = sql`ours.${sql.id(storage.id)} = ${to.id} and ours.${sql.id(storage.type)} = ${from.shape.uid} and ours.field = ${name}`
    const moved = sql`${isOurs} and ours.${here} = theirs.version and theirs.place is not null`
    transaction.follow(updateFrom(storage.table, 'ours', sql`${sql.id(storage.order)} = theirs.place`, places, moved))
    return
  }
  transaction.follow(
    sql`update ${table} set ${sql.id(storage.id)} = null, ${sql.id(storage.type)} = null where id in ${idsFound(sql`l.id`, sql`${table} l where ${stale}`)}`,
  )
  transaction.follow(
    sql`update ${table} set ${sql.id(storage.id)} = ${to.id}, ${sql.id(storage.type)} = ${from.shape.uid} where id in ${idsFound(sql`v.id`, versions([from.id]))}`,
  )
}
