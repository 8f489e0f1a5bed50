// Writes the links of a row to other rows and to files (`files_related_mph`), only where they differ.

import { type RawBuilder, sql } from 'kysely'
import type { Transaction } from '../../../database/database.js'
import type { Dialect } from '../../../database/dialect.js'
import { isSame, updateFrom } from '../../../database/portable-sql.js'
import { forbidden } from '../../../foundation/errors/errors.js'
import { yieldIfBusy } from '../../../foundation/runtime/event-loop.js'
import { fileType } from '../../../model/schema/link.js'
import type { ContentType, LinkStorage, Media, Relation, Schema } from '../../../model/schema/types.js'
import { type FindHidden, keepHidden } from '../guard/hidden-rows.js'
import { toSibling } from '../input/relations.js'
import type { RelationInput } from '../input/types.js'
import { placeEntries } from './positions.js'
import type { RowContext, TargetResolution } from './row-context.js'
import { insertRows, isOnSide, markModified, markModifiedWhere, type Side } from './rows.js'
import { type ResolvedReference, resolveChange, resolveReferences, resolveSet } from './targets.js'

export interface Owner {
  readonly shape: Schema
  readonly id: number
}

/** A stored link: the row of the link table, and its position if the relation has an order. */
interface StoredLink {
  readonly id: number
  readonly place: number | null
}

/** The links of an owner by their targets: those that it has, and those that it gets. */
interface LinkChange {
  readonly owner: Owner
  readonly relation: Relation
  readonly storage: LinkStorage
  readonly present: ReadonlyMap<number, StoredLink>
  readonly wanted: readonly number[]
}

/** Applies `input` to `relation` of `owner`. */
export async function writeRelation(
  writing: RowContext,
  owner: Owner,
  relation: Relation,
  input: RelationInput,
  isNew: boolean,
): Promise<void> {
  const { transaction, model, resolving } = writing
  const { storage } = relation
  if (input.set === null && input.connect.length === 0 && input.disconnect.length === 0) return
  const target = model.types.get(relation.target)!
  if (storage.kind !== 'link') return
  const present = isNew ? new Map<number, StoredLink>() : await linkedRows(transaction, storage, owner.id)
  const asked = await wantedRows(writing, target, relation, isNew ? null : [...present.keys()], input)
  const { hidden } = resolving
  const wanted = hidden === null ? asked : await keepHidden(hidden, target, [...present.keys()], asked, relation.many)
  const change = { owner, relation, storage, present, wanted }
  if (hidden !== null) await refuseHiddenOwners(writing, hidden, change)
  await yieldIfBusy()
  writeLinks(writing, change)
}

/** Links of an owner by their targets, in order. */
async function linkedRows(transaction: Transaction, storage: LinkStorage, owner: number): Promise<ReadonlyMap<number, StoredLink>> {
  const order = storage.order === null ? sql`id` : sql`${sql.id(storage.order)}, id`
  const place = storage.order === null ? sql`null` : sql.id(storage.order)
  const rows = await transaction.rows<StoredLink & { readonly target: number }>(
    sql`select id, ${sql.id(storage.there)} as target, ${place} as place from ${sql.table(storage.table)} where ${sql.id(storage.here)} = ${owner} order by ${order}`,
  )
  return new Map(rows.map(({ target, id, place }) => [target, { id, place }]))
}

async function wantedRows(
  writing: RowContext,
  target: ContentType,
  relation: Relation,
  /** Null for a new owner. */
  present: readonly number[] | null,
  input: RelationInput,
): Promise<readonly number[]> {
  if (input.set !== null) {
    const entries = await resolveSet(writing, target, input.set, input.besideSet)
    return relation.many ? [...new Set(entries.flatMap(({ rows }) => rows))] : (entries.at(-1)?.rows ?? [])
  }
  const { connected, disconnected } = await resolveChange(writing, target, input)
  const neighbours = await neighbourRows(writing, target, connected)
  await yieldIfBusy()
  if (!relation.many) return chooseTarget(present, connected, disconnected, relation)
  return placeEntries(present ?? [], connected, disconnected, neighbours, localeForErrors(writing.resolving))
}

/** Errors about positions include the default locale if the owner has no locale. */
const localeForErrors = ({ locale, defaultLocale }: TargetResolution): object => (locale === null ? { locale: defaultLocale } : {})

/**
 * The new target of a to-one relation: the first connected one, but the oldest on the owning side of a new row, as shown by Strapi. The
 * current target changes nothing, because it may be linked in other locales too.
 */
function chooseTarget(
  present: readonly number[] | null,
  connected: readonly ResolvedReference[],
  disconnected: ReadonlySet<number>,
  { storage }: Relation,
): readonly number[] {
  const isOfOldRow = present !== null || (storage.kind === 'link' && !storage.owner)
  const [first] = isOfOldRow ? connected : connected.toSorted((one, other) => one.rows[0]! - other.rows[0]!)
  const kept = (present ?? []).filter((id) => !disconnected.has(id))
  return first === undefined || first.rows.every((id) => kept.includes(id)) ? kept : first.rows
}

/** Row ids in positions. */
const namedRows = (connected: readonly ResolvedReference[]): readonly number[] =>
  connected
    .flatMap(({ reference: { position } }) => [position?.before, position?.after])
    .map(Number)
    .filter(Number.isSafeInteger)

/** Looks up rows in positions, by documentId or row id. */
async function neighbourRows(writing: RowContext, target: ContentType, connected: readonly ResolvedReference[]) {
  const isRow = (name: string | number): boolean => typeof name === 'number' || /^\d+$/.test(name)
  const siblings = connected.flatMap(({ reference }) => {
    const names = [reference.position?.before, reference.position?.after].filter((name) => name !== undefined)
    return names.filter((name) => !isRow(name)).map((name) => toSibling(reference, String(name)))
  })
  const distinct = [...new Map(siblings.map((sibling) => [JSON.stringify(sibling), sibling])).values()]
  const resolved = await resolveReferences(writing, target, distinct)
  const found = new Map(resolved.map(({ reference, rows }) => [JSON.stringify(reference), rows]))
  const { hidden } = writing.resolving
  const unseen = hidden === null ? null : await hidden(target, namedRows(connected))
  return (name: string | number, { reference }: ResolvedReference): readonly number[] =>
    isRow(name) ? (unseen?.has(Number(name)) ? [] : [Number(name)]) : (found.get(JSON.stringify(toSibling(reference, String(name)))) ?? [])
}

/** @throws ApiError 403 if a target with a single owner would be taken from a document hidden from the caller */
async function refuseHiddenOwners(
  { transaction, model }: RowContext,
  hidden: FindHidden,
  { owner, relation, storage, present, wanted }: LinkChange,
): Promise<void> {
  const { table, here, there } = storage
  const { shape } = owner
  const added = wanted.filter((id) => !present.has(id))
  if (added.length === 0 || shape.kind !== 'contentType' || !hasOneOwner(relation)) return
  const target = sql.table(model.types.get(relation.target)!.table)
  // In all versions: published links are removed on publication.
  const versions = sql`select v.id from ${target} v join ${target} t on t.document_id = v.document_id where t.id in (${transaction.dialect.list(added)})`
  const owners = await transaction.rows<{ id: number }>(
    sql`select ${sql.id(here)} as id from ${sql.table(table)} where ${sql.id(there)} in (${versions}) and ${sql.id(here)} not in (${selectLocales(owner)})`,
  )
  const ids = owners.map(({ id }) => id)
  if ((await hidden(shape, ids)).size > 0) throw forbidden()
}

/** Sets an owner's links: removes links, detaches targets from previous owners, adds links, and renumbers moved ones. */
function writeLinks(writing: RowContext, change: LinkChange): void {
  const { transaction } = writing
  const { relation, storage, present, wanted } = change
  const owner = change.owner.id
  const places = new Map(wanted.map((id, index) => [id, index + 1]))
  const gone = [...present.keys()].filter((id) => !places.has(id))
  const added = wanted.filter((id) => !present.has(id))
  if (gone.length > 0) {
    transaction.follow(
      sql`delete from ${sql.table(storage.table)} where ${sql.id(storage.here)} = ${owner} and ${sql.id(storage.there)} in (${transaction.dialect.list(gone)})`,
    )
  }
  noteOthers(writing, change, gone, added)
  if (added.length > 0) {
    detachOtherOwners(transaction, relation, storage, change.owner, transaction.dialect.list(added), 'draft')
    insertLinks(transaction, storage, owner, added, places)
  }
  if (storage.order === null) return
  // Positions have gaps left by removed targets.
  const moved = wanted.flatMap((target) => {
    const link = present.get(target)
    const place = places.get(target)!
    return link === undefined || link.place === place ? [] : [[link.id, place] as const]
  })
  moveLinks(transaction, storage.table, storage.order, new Map(moved))
}

/** Marks drafts on the other side of changed links, and drafts that lost a target. */
function noteOthers(
  { transaction, model, isDraftWrite: drafts }: RowContext,
  { owner, relation, storage }: LinkChange,
  gone: readonly number[],
  added: readonly number[],
): void {
  const { table, here, there } = storage
  const { shape } = owner
  const target = model.types.get(relation.target)!
  const changed = [...gone, ...added]
  if (changed.length === 0 || relation.inverse === null || shape.kind !== 'contentType') return
  // Rows without drafts may be linked to a single version.
  if (!shape.draftAndPublish && target.draftAndPublish) markModifiedWhere(transaction, target, transaction.dialect.list(changed))
  if (!drafts) return
  if (target.draftAndPublish) markModified(transaction, target, changed)
  if (added.length > 0 && (relation.relation === 'oneToOne' || relation.relation === 'oneToMany')) {
    const owners = sql`select ${sql.id(here)} from ${sql.table(table)} where ${sql.id(there)} in (${transaction.dialect.list(added)})
      and ${sql.id(here)} not in (${selectLocales(owner)})`
    markModifiedWhere(transaction, shape, owners)
  }
}

/** Links an owner to more targets, in the last position of each target's list. */
function insertLinks(
  transaction: Transaction,
  storage: LinkStorage,
  owner: number,
  added: readonly number[],
  places: ReadonlyMap<number, number>,
): void {
  const { table, here, there, order, inverseOrder } = storage
  const columns = [here, there, order, inverseOrder].filter((column) => column !== null)
  const values = [
    sql`${owner}`,
    sql`e.target`,
    ...(order === null ? [] : [sql`e.place`]),
    ...(inverseOrder === null
      ? []
      : [sql`(select coalesce(max(${sql.id(inverseOrder)}), 0) + 1 from ${sql.table(table)} where ${sql.id(there)} = e.target)`]),
  ]
  const targets = transaction.dialect.rows(
    added.map((id) => [id, places.get(id)!]),
    { target: 'integer', place: 'real' },
    'e',
  )
  transaction.follow(
    sql`insert into ${sql.table(table)} (${sql.join(columns.map((column) => sql.id(column)))})
      select ${sql.join(values)} from ${targets} order by e.ordinal`,
  )
}

/** Targets of bidirectional one-to-one and one-to-many relations have a single owner. */
export const hasOneOwner = ({ relation, inverse }: Pick<Relation, 'relation' | 'inverse'>): boolean =>
  inverse !== null && (relation === 'oneToOne' || relation === 'oneToMany')

/** Rows that may share a single-owner target: all locales of the owner's document. */
export const selectLocales = ({ shape, id }: Owner): RawBuilder<unknown> =>
  shape.kind === 'contentType' && shape.localized
    ? sql`select v.id from ${sql.table(shape.table)} v join ${sql.table(shape.table)} o on o.document_id = v.document_id where o.id = ${id}`
    : sql`${id}`

/** Detaches targets with a single owner from other documents. Drafts affect drafts, published rows affect published ones. */
export function detachOtherOwners(
  transaction: Transaction,
  { relation, inverse }: Relation,
  storage: LinkStorage,
  owner: Owner,
  targets: RawBuilder<unknown>,
  side: Side,
): void {
  if (!hasOneOwner({ relation, inverse })) return
  const { shape } = owner
  const hasSides = shape.kind === 'contentType' && shape.draftAndPublish
  const among = hasSides
    ? sql` and ${sql.id(storage.here)} in (select id from ${sql.table(shape.table)} where ${isOnSide(sql`published_at`, side)})`
    : sql``
  transaction.follow(
    sql`delete from ${sql.table(storage.table)} where ${sql.id(storage.there)} in (${targets})
      and ${sql.id(storage.here)} not in (${selectLocales(owner)})${among}`,
  )
}

/**
 * Gives links, by their own ids, new positions in a link table. By owner and target, SQLite would compare each link of the owner with each
 * position.
 */
export function moveLinks(transaction: Transaction, table: string, order: string, places: ReadonlyMap<number, number>): void {
  if (places.size === 0) return
  const positions = transaction.dialect.rows([...places], { id: 'integer', place: 'real' }, 'e')
  transaction.follow(updateFrom(table, 'l', sql`${sql.id(order)} = e.place`, positions, sql`l.id = e.id`))
}

const table = sql.table('files_related_mph')
const isOf = (owner: Owner, media: Media) => sql`related_id = ${owner.id} and related_type = ${owner.shape.uid} and field = ${media.name}`

/**
 * Applies `input` to a media attribute of `owner`: its rows are replaced, numbered from 1. As in Strapi, an attribute for a single file
 * stores several and shows the first.
 */
export async function writeMedia(writing: RowContext, owner: Owner, media: Media, input: RelationInput, isNew: boolean): Promise<void> {
  if (input.set === null && input.connect.length === 0 && input.disconnect.length === 0) return
  const { transaction } = writing
  if (input.set === null && isNew) {
    // As in Strapi, a new row accepts files that are set, but ignores connected ones; these must exist nevertheless.
    await resolveChange(writing, getFiles(writing), input)
    return
  }
  const wanted = await wantedFiles(writing, owner, media, input)
  if (!isNew) transaction.follow(sql`delete from ${table} where ${isOf(owner, media)}`)
  insertRows(
    transaction,
    'files_related_mph',
    wanted.map((file, index) => ({
      file_id: file,
      related_id: owner.id,
      related_type: owner.shape.uid,
      field: media.name,
      order: index + 1,
    })),
  )
}

const getFiles = ({ model }: RowContext): ContentType => model.types.get(fileType)!

async function wantedFiles(writing: RowContext, owner: Owner, media: Media, input: RelationInput) {
  if (input.set !== null) {
    const entries = await resolveSet(writing, getFiles(writing), input.set, input.besideSet)
    return [...new Set(entries.flatMap(({ rows }) => rows))]
  }
  const present = await writing.transaction.rows<{ file_id: number }>(
    sql`select file_id from ${table} where ${isOf(owner, media)} order by ${sql.id('order')}, id`,
  )
  const { connected, disconnected } = await resolveChange(writing, getFiles(writing), input)
  return placeEntries(
    present.map(({ file_id }) => file_id),
    connected.map(({ rows }) => ({ reference: {}, rows })),
    disconnected,
    () => [],
  )
}

/** Copies the files of `from` to `to`, for these attributes. `replaces`: files that both have keep their rows. */
export function copyMedia(transaction: Transaction, from: Owner, to: Owner, attributes: readonly Media[], replaces: boolean): void {
  if (attributes.length === 0) return
  const { dialect } = transaction
  const links = fileLinks(dialect, from.shape, [from.id], attributes)
  const isSameAs = (row: string) =>
    sql.join(
      ['file_id', 'field', 'order'].map((name) => isSame(sql.id('f', name), sql.id(row, name))),
      sql` and `,
    )
  const own = isOfAny(dialect, to.shape, [to.id], attributes)
  if (replaces)
    transaction.follow(
      sql`delete from ${table} where ${own} and not exists (select 1 from (${links}) f where ${isSameAs('files_related_mph')})`,
    )
  const isMissing = replaces ? sql`where not exists (select 1 from ${table} o where ${own} and ${isSameAs('o')})` : sql``
  transaction.follow(
    sql`insert into ${table} (file_id, related_id, related_type, field, ${sql.id('order')})
      select file_id, ${to.id}, related_type, field, ${sql.id('order')} from (${links}) f ${isMissing} order by id`,
  )
}

/** File links of rows of one shape, for these attributes. */
export const fileLinks = (dialect: Dialect, shape: Owner['shape'], ids: readonly number[], attributes: readonly Media[]) =>
  sql`select * from ${table} where ${isOfAny(dialect, shape, ids, attributes)}`

const isOfAny = (dialect: Dialect, shape: Owner['shape'], ids: readonly number[], attributes: readonly Media[]) =>
  sql`related_id in (${dialect.list(ids)}) and related_type = ${shape.uid} and field in (${sql.join(attributes.map(({ name }) => name))})`

/** Removes file links of rows of one shape, for these attributes. */
export function removeMedia(transaction: Transaction, shape: Owner['shape'], ids: readonly number[], attributes: readonly Media[]): void {
  if (attributes.length === 0) return
  transaction.follow(sql`delete from ${table} where ${isOfAny(transaction.dialect, shape, ids, attributes)}`)
}
