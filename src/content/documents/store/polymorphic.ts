// Polymorphic relations, with the target type in each row: in a link table, or in two columns.
import { type RawBuilder, sql } from 'kysely'
import type { Transaction } from '../../../database/database.js'
import { andSameLocale, localeOf } from '../../../database/portable-sql.js'
import { forbidden, inputError, printed } from '../../../foundation/errors/errors.js'
import { ownedMorphs } from '../../../model/schema/graph.js'
import { isPolymorphicTarget } from '../../../model/schema/link.js'
import type { ContentType, Model, MorphTo } from '../../../model/schema/types.js'
import type { Reference, RelationInput } from '../input/types.js'
import { type PlacedEntry, placeEntries } from './positions.js'
import type { Owner } from './relations.js'
import type { RowContext } from './row-context.js'
import { insertRows, isOnSide, type StoredVersion, updateRow } from './rows.js'
import { resolveReferences } from './targets.js'

interface Pointer {
  readonly id: number
  readonly type: string
  /** The stored position, which also orders the other side; absent for new pointers. */
  readonly place?: number | null
}

/**
 * Applies `input` to `morph` of `owner`.
 * @throws ApiError 400 for a missing or unknown `__type`, and for missing targets
 */
export async function writePolymorphic(writing: RowContext, owner: Owner, morph: MorphTo, input: RelationInput): Promise<void> {
  // As in Strapi, an empty list does not change such a relation.
  if (!input.set?.length && input.connect.length === 0 && input.disconnect.length === 0) return
  const { transaction } = writing
  const resolve = (references: readonly Reference[]) => pointers(writing, morph, references)
  if (input.set !== null) {
    const keys = (await resolve(input.set)).flatMap(({ rows }) => rows)
    const there = await findPointers(transaction, owner, morph)
    const kept = await withHiddenPointers(writing, morph, there, [...new Set(keys)])
    setPointers(writing, owner, morph, withPlaces(kept, there))
    return
  }
  const connected = await resolve(input.connect)
  const gone = new Set((await resolve(input.disconnect)).flatMap(({ rows }) => rows))
  const neighbours = await neighbourKeys(connected, resolve)
  const present = await findPointers(transaction, owner, morph)
  const wanted = await placeEntries(
    present.map(toPointerKey),
    connected,
    gone,
    (name, entry) => neighbours.get(neighbourKey(name, entry)) ?? [],
  )
  setPointers(writing, owner, morph, withPlaces(wanted, present))
}

/** Retains pointers to rows hidden from the caller. @throws ApiError 403 if only one pointer is possible */
async function withHiddenPointers(
  { model, resolving: { hidden } }: RowContext,
  { many }: MorphTo,
  present: readonly Pointer[],
  wanted: readonly string[],
): Promise<readonly string[]> {
  if (hidden === null) return wanted
  const lost: string[] = []
  for (const uid of new Set(present.map(({ type }) => type))) {
    const type = model.types.get(uid)
    const gone = present.filter((pointer) => pointer.type === uid && !wanted.includes(toPointerKey(pointer))).map(({ id }) => id)
    if (type === undefined || gone.length === 0) continue
    for (const id of await hidden(type, gone)) lost.push(toPointerKey({ id, type: uid }))
  }
  if (lost.length > 0 && !many) throw forbidden()
  return [...wanted, ...lost]
}

/** Assigns stored positions, which also order the other side; new ones if these are not ascending. */
function withPlaces(wanted: readonly string[], present: readonly Pointer[]): readonly Pointer[] {
  const known = new Map(present.map((pointer) => [toPointerKey(pointer), pointer.place ?? null]))
  const placed: Pointer[] = []
  let last = 0
  for (const key of wanted) {
    const place = known.has(key) ? known.get(key)! : Math.floor(last) + 1
    if (place === null || place <= last) return wanted.map(parsePointer)
    placed.push({ ...parsePointer(key), place })
    last = place
  }
  return placed
}

/** Rows in positions. A row id always means its row, even if that does not exist. */
async function neighbourKeys(
  connected: readonly PlacedEntry<string>[],
  resolve: (references: readonly Reference[]) => Promise<readonly PlacedEntry<string>[]>,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const found = new Map<string, readonly string[]>()
  for (const entry of connected) {
    for (const reference of getNeighbours(entry)) {
      const { id, documentId, type } = reference
      const rows = id === undefined ? (await resolve([reference])).flatMap((one) => one.rows) : [toPointerKey({ id, type: type! })]
      found.set(neighbourKey((id ?? documentId)!, entry), rows)
    }
  }
  return found
}

const neighbourKey = (name: string | number, { reference: { position, type } }: PlacedEntry<string>): string =>
  `${name} ${position?.type ?? type}`

/** Identifies a row of one of several types in errors about positions. */
const toPointerKey = ({ id, type }: Pointer): string => `${id}:::${type}`
const parsePointer = (key: string): Pointer => ({ id: Number.parseInt(key, 10), type: key.slice(key.indexOf(':::') + 3) })

/** Siblings in a position, of the type of the position, else of the entry. */
function getNeighbours({ reference: { position, type: own } }: PlacedEntry<string>): readonly Reference[] {
  const type = position?.type ?? own
  if (type === undefined) return []
  return [position?.before, position?.after].flatMap((name) => (name === undefined ? [] : [siblingNamed(name, type)]))
}

const siblingNamed = (name: string | number, type: string): Reference =>
  typeof name === 'number' ? { id: name, type } : { documentId: name, type }

async function pointers(writing: RowContext, morph: MorphTo, references: readonly Reference[]): Promise<readonly PlacedEntry<string>[]> {
  const found: PlacedEntry<string>[] = []
  for (const reference of references) {
    const target = writing.model.types.get(reference.type ?? '')
    if (target === undefined || !isPolymorphicTarget(target))
      throw inputError(
        `Relations of ${morph.name} need a known content-type in __type, got ${printed(reference.type ?? null)}`,
        [morph.name],
        'notFound',
      )
    const [resolved] = await resolveReferences(writing, target, [reference])
    found.push({ reference, rows: resolved!.rows.map((id) => toPointerKey({ id, type: target.uid })) })
  }
  return found
}

async function findPointers(transaction: Transaction, owner: Owner, { storage }: MorphTo): Promise<readonly Pointer[]> {
  const id = sql.id(storage.id)
  const type = sql.id(storage.type)
  if (storage.kind === 'columns') {
    return transaction.rows<Pointer>(
      sql`select ${id} as id, ${type} as type from ${sql.table(owner.shape.table)} where id = ${owner.id} and ${id} is not null`,
    )
  }
  return transaction.rows<Pointer>(
    sql`select ${id} as id, ${type} as type, ${sql.id(storage.order)} as place from ${sql.table(storage.table)}
      where ${sql.id(storage.here)} = ${owner.id} order by ${sql.id(storage.order)}, id`,
  )
}

function setPointers({ transaction, model }: RowContext, owner: Owner, { name, storage }: MorphTo, wanted: readonly Pointer[]): void {
  if (storage.kind === 'columns') {
    const last = wanted.at(-1)
    updateRow(transaction, owner.shape.table, owner.id, { [storage.id]: last?.id ?? null, [storage.type]: last?.type ?? null })
    return
  }
  transaction.follow(sql`delete from octavo_pending_links where link_table = ${storage.table} and owner_id = ${owner.id}`)
  const columns = sql.join([storage.id, storage.type, 'field', storage.order].map((column) => sql.id(column)))
  const rows = wanted.map(({ id, type, place }, index) => {
    const known = model.types.get(type)
    return [id, type, known === undefined ? null : findInverseField(known, owner, name), place ?? index + 1]
  })
  const given = (field: RawBuilder<unknown>) =>
    sql`select e.id, e.type, ${field}, e.place from ${transaction.dialect.rows(rows, { id: 'integer', type: 'text', field: 'text', place: 'real' }, 'e')}`
  // Unchanged pointers keep their row, which also orders the other side.
  const key = sql`(${sql.id(storage.id)}, ${sql.id(storage.type)}, coalesce(field, ''), ${sql.id(storage.order)})`
  const others = sql`${key} not in (${given(sql`coalesce(e.field, '')`)})`
  transaction.follow(sql`delete from ${sql.table(storage.table)} where ${sql.id(storage.here)} = ${owner.id} and ${others}`)
  if (rows.length === 0) return
  const own = sql`select ${columns} from ${sql.table(storage.table)} where ${sql.id(storage.here)} = ${owner.id}`
  transaction.follow(
    sql`insert into ${sql.table(storage.table)} (${sql.id(storage.here)}, ${columns})
      select ${owner.id}, missing.* from (${given(sql`e.field`)} except ${own}) as missing order by 5`,
  )
}

/** The attribute of the target type that shows the relation from the other side. */
function findInverseField(target: ContentType, owner: Owner, name: string): string | null {
  const back = [...target.attributes.values()].find(
    (attribute) => attribute.kind === 'morphFrom' && attribute.target === owner.shape.uid && attribute.by === name,
  )
  return back?.name ?? null
}

/** Copies the targets of `from` to `to`, on the target side; missing ones become pending links. */
export async function copyPolymorphic(writing: RowContext, from: Owner, to: Owner, morphs: readonly MorphTo[]): Promise<void> {
  const { transaction } = writing
  for (const morph of morphs) {
    const found = await findOtherSides(writing, await findPointers(transaction, from, morph))
    const shown = found.flatMap(({ id, type, place }) => (id === null ? [] : [{ id, type, place }]))
    setPointers(writing, to, morph, shown)
    const { storage } = morph
    if (storage.kind === 'columns' || writing.targetSide !== 'published') continue
    const waits = found.flatMap(({ id, type, document, locale, place }) => {
      const waiting = { target_type: type, target_document: document, target_locale: locale, place: place ?? null }
      return id !== null || document === null ? [] : [{ link_table: storage.table, owner_id: to.id, ...waiting }]
    })
    insertRows(transaction, 'octavo_pending_links', waits)
  }
}

/** A target on the other side: `id` is null if it has no version there, `document` is null if both sides share it. */
interface TargetOnSide extends Pick<Pointer, 'place'> {
  readonly id: number | null
  readonly type: string
  readonly document: string | null
  readonly locale: string | null
}

interface SideRow {
  readonly type: string
  readonly target: number
  readonly shown: number | null
  readonly document: string
  readonly locale: string | null
}

/** The versions of targets on the other side. */
async function findOtherSides(
  { transaction, model, targetSide: copies }: RowContext,
  targets: readonly Pointer[],
): Promise<readonly TargetOnSide[]> {
  if (copies === 'same') return targets.map(({ id, type, place }) => ({ id, type, place, document: null, locale: null }))
  const sided = (type: string): boolean => model.types.get(type)?.draftAndPublish === true
  const uids = [...new Set(targets.map(({ type }) => type))].filter(sided)
  const selects = uids.map((uid) => {
    const target = model.types.get(uid)!
    const table = sql.table(target.table)
    const ids = targets.filter(({ type }) => type === uid).map(({ id }) => id)
    const other = sql`(select p.id from ${table} p where p.document_id = t.document_id${andSameLocale(target, sql`p.locale`, sql`t.locale`)}
      and ${isOnSide(sql`p.published_at`, copies)} order by p.id limit 1)`
    return sql`select ${uid} as type, t.id as target, t.document_id as document, ${localeOf(target, 't')} as locale,
      case when ${isOnSide(sql`t.published_at`, copies)} then t.id else ${other} end as shown
      from ${table} t where t.id in (${transaction.dialect.list(ids)})`
  })
  const rows = selects.length === 0 ? [] : await transaction.rows<SideRow>(sql`${sql.join(selects, sql` union all `)}`)
  const found = new Map(rows.map((row) => [toPointerKey({ id: row.target, type: row.type }), row]))
  return targets.map(({ id, type, place }) => {
    const row = found.get(toPointerKey({ id, type }))
    return { id: sided(type) ? (row?.shown ?? null) : id, type, place, document: row?.document ?? null, locale: row?.locale ?? null }
  })
}

/** A pending pointer to a target that is now published. */
interface PendingTarget {
  readonly table: string
  readonly owner: number
  readonly target: ContentType
  readonly published: number
  readonly place: number | null
}

/** Creates a pending pointer. */
export function restorePendingTarget(
  transaction: Transaction,
  model: Model,
  { table, owner, target, published, place }: PendingTarget,
): void {
  for (const { shape, name, storage } of ownedMorphs(model)) {
    if (storage.kind !== 'table' || storage.table !== table) continue
    const field = findInverseField(target, { shape, id: owner }, name)
    const columns = [storage.here, storage.id, storage.type, 'field', storage.order].map((column) => sql.id(column))
    transaction.follow(
      sql`insert into ${sql.table(table)} (${sql.join(columns)}) select ${owner}, ${published}, ${target.uid}, ${field}, ${place}
        where exists (select 1 from ${sql.table(shape.table)} where id = ${owner})
          and not exists (select 1 from ${sql.table(table)} where ${sql.id(storage.here)} = ${owner}
            and ${sql.id(storage.id)} = ${published} and ${sql.id(storage.type)} = ${target.uid})`,
    )
  }
}

/** Call before a version is unpublished: pointers of published rows to it become pending. */
export function keepPendingTargets(transaction: Transaction, model: Model, type: ContentType, version: StoredVersion): void {
  for (const { shape, storage } of ownedMorphs(model)) {
    if (storage.kind !== 'table' || (shape.kind === 'contentType' && !shape.draftAndPublish)) continue
    transaction.follow(
      sql`insert into octavo_pending_links (link_table, owner_id, target_type, target_document, target_locale, place)
        select ${storage.table}, ${sql.id(storage.here)}, ${type.uid}, ${version.document_id}, ${version.locale}, ${sql.id(storage.order)}
        from ${sql.table(storage.table)} where ${sql.id(storage.id)} = ${version.id} and ${sql.id(storage.type)} = ${type.uid}`,
    )
  }
}

/** Removes pointers to removed rows of `type`. */
export function dropPendingTargets(transaction: Transaction, model: Model, type: ContentType, ids: readonly number[]): void {
  for (const { shape, storage } of ownedMorphs(model)) {
    const isGone = sql`${sql.id(storage.id)} in (${transaction.dialect.list(ids)}) and ${sql.id(storage.type)} = ${type.uid}`
    if (storage.kind === 'table') transaction.follow(sql`delete from ${sql.table(storage.table)} where ${isGone}`)
    else
      transaction.follow(
        sql`update ${sql.table(shape.table)} set ${sql.id(storage.id)} = null, ${sql.id(storage.type)} = null where ${isGone}`,
      )
  }
}
