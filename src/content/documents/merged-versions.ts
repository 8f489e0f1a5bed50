// Merges duplicate rows of a version. Strapi and earlier releases of Octavo create them when several processes publish a document
// concurrently, or when rows of a type without locales have one in their column. Rows left from a type's former locales or drafts are not
// duplicates.
import { type RawBuilder, sql } from 'kysely'
import type { Transaction } from '../../database/database.js'
import { updateFrom } from '../../database/portable-sql.js'
import { allSchemas, ownedLinks, ownedMorphs } from '../../model/schema/graph.js'
import type { ContentType, Model } from '../../model/schema/types.js'
import { createRowContext, type WriteOperation, type WriteScope } from './operation.js'
import { removeRows } from './publish/publish.js'
import { isHolder, isMedia, removeBelow } from './store/components.js'
import { hasOneOwner } from './store/relations.js'
import type { RowContext } from './store/row-context.js'
import { clearModified, markModified, type StoredVersion, valueColumns } from './store/rows.js'

/** The rows of one version: the one that remains, which reads use, and all of them, newest first. */
interface Copies {
  readonly kept: StoredVersion
  readonly newestFirst: readonly StoredVersion[]
}

/** Finds the versions of a write with duplicate rows. */
function findCopies({ everywhere, locale, write: { type } }: WriteOperation, versions: readonly StoredVersion[]): readonly Copies[] {
  if (versions.length < 2) return []
  const groups = new Map<string, StoredVersion[]>()
  for (const version of versions.filter((one) => everywhere || one.locale === locale)) {
    const name = `${type.draftAndPublish && version.published_at !== null} ${version.locale ?? ''}`
    groups.set(name, [...(groups.get(name) ?? []), version])
  }
  const isSeveral = (rows: readonly StoredVersion[]) => rows.length > 1
  const several = [...groups.values()].filter(isSeveral).map(toCopies).filter(isSeveral)
  const byAge = (one: StoredVersion, other: StoredVersion) => (other.updated_at ?? 0) - (one.updated_at ?? 0) || other.id - one.id
  return several.map((rows) => ({ kept: rows[0]!, newestFirst: rows.toSorted(byAge) }))
}

/**
 * Duplicates of the first row. Types that formerly had drafts or locales may have drafts and published rows, or rows of two locales, which
 * are not duplicates. A row without a locale belongs to the others if these share one.
 */
function toCopies(rows: readonly StoredVersion[]): readonly StoredVersion[] {
  const [first] = rows
  const alike = rows.filter(({ published_at }) => (published_at === null) === (first!.published_at === null))
  const locales = new Set(alike.flatMap(({ stored_locale }) => stored_locale ?? []))
  return locales.size < 2 ? alike : alike.filter(({ stored_locale }) => stored_locale === first!.stored_locale)
}

/** Merges duplicates into the first row: the newest values that are not null, and the links of all. Resolves to true if there were any. */
export async function mergeVersions(scope: WriteScope, versions: readonly StoredVersion[]): Promise<boolean> {
  const several = findCopies(scope.operation, versions)
  if (several.length === 0) return false
  const writing = createRowContext(scope, null)
  for (const copies of several) await mergeRows(writing, scope.type, copies)
  return true
}

async function mergeRows(writing: RowContext, type: ContentType, copies: Copies): Promise<void> {
  const { transaction, model } = writing
  const { kept, newestFirst } = copies
  const gone = newestFirst.filter((version) => version !== kept)
  mergeValues(transaction, type, copies)
  await mergeEntries(writing, type, copies)
  for (const links of getMergedLinks(model, type)) await mergeLinks(transaction, links, copies)
  for (const { table, column, where } of getPointers(model, type)) {
    const isGone = sql`${sql.id(column)} in (${transaction.dialect.list(gone.map(({ id }) => id))})`
    transaction.follow(sql`update ${sql.table(table)} set ${sql.id(column)} = ${kept.id} where ${isGone} and ${where}`)
  }
  await removeRows(
    writing,
    type,
    gone.map(({ id }) => id),
  )
  clearModified(transaction, type, gone)
  if (type.draftAndPublish && kept.published_at === null) markModified(transaction, type, [kept.id])
}

/** Content columns of a row, without identity, creator and creation time. */
function contentColumns(type: ContentType): readonly string[] {
  const pointers = [...type.attributes.values()].flatMap((attribute) => {
    if (attribute.kind === 'relation') return attribute.storage.kind === 'column' ? [attribute.storage.column] : []
    return attribute.kind === 'morphTo' && attribute.storage.kind === 'columns' ? [attribute.storage.id, attribute.storage.type] : []
  })
  const columns = new Set([...valueColumns(type), ...pointers, 'published_at', 'updated_at', 'updated_by_id'])
  columns.delete('created_by_id')
  return [...columns]
}

/** Sets each column of the remaining row to the newest value that is not null. */
function mergeValues(transaction: Transaction, type: ContentType, { kept, newestFirst }: Copies): void {
  const at = newestFirst.indexOf(kept)
  const take = (from: StoredVersion, isNewer: boolean) => {
    const columns = contentColumns(type)
    const read = columns.map((column, index) => sql`${sql.id(column)} as ${sql.id(`c${index}`)}`)
    const set = columns.map((column, index) => {
      const ours = sql.id('target', column)
      const theirs = sql.id('source', `c${index}`)
      return sql`${sql.id(column)} = ${isNewer ? sql`coalesce(${theirs}, ${ours})` : sql`coalesce(${ours}, ${theirs})`}`
    })
    const source = sql`(select ${sql.join(read)} from ${sql.table(type.table)} where id = ${from.id}) as source`
    transaction.follow(updateFrom(type.table, 'target', sql.join(set), source, sql`target.id = ${kept.id}`))
  }
  for (const older of newestFirst.slice(at + 1)) take(older, false)
  for (const newer of newestFirst.slice(0, at).toReversed()) take(newer, true)
}

/** Keeps the newest list of components for each attribute: the lists of duplicates are copies of each other. */
async function mergeEntries(writing: RowContext, type: ContentType, { kept, newestFirst }: Copies): Promise<void> {
  const { transaction } = writing
  if (type.componentTable === null) return
  const table = sql.table(type.componentTable)
  const ids = newestFirst.map(({ id }) => id)
  const found = await transaction.rows<{ owner: number; field: string }>(
    sql`select distinct entity_id as owner, field from ${table} where entity_id in (${transaction.dialect.list(ids)})`,
  )
  for (const attribute of [...type.attributes.values()].filter(isHolder)) {
    const owners = new Set(found.filter(({ field }) => field === attribute.name).map(({ owner }) => owner))
    const newest = ids.find((id) => owners.has(id))
    if (newest === undefined || newest === kept.id) continue
    await removeBelow(writing, type, [kept.id], [attribute])
    transaction.follow(sql`update ${table} set entity_id = ${kept.id} where entity_id = ${newest} and field = ${attribute.name}`)
  }
}

/** A table of links, as seen from the merged rows. */
interface MergedLinks {
  readonly table: string
  /** The column that references the merged rows, and those that identify a link. */
  readonly by: string
  readonly key: readonly string[]
  readonly order: string | null
  /** True if a row has at most one link. */
  readonly isSingle: boolean
  readonly where: RawBuilder<unknown>
}

const always = sql`1 = 1`

/** Links of rows of a type, and of other rows to them. */
function getMergedLinks(model: Model, type: ContentType): readonly MergedLinks[] {
  const relations = ownedLinks(model).flatMap(({ shape, target, relation, storage }): readonly MergedLinks[] => {
    const { table, here, there, order, inverseOrder } = storage
    const own = { table, by: here, key: [there], order, isSingle: !relation.many, where: always }
    const others = { table, by: there, key: [here], order: inverseOrder, isSingle: hasOneOwner(relation), where: always }
    return [...(shape === type ? [own] : []), ...(target === type ? [others] : [])]
  })
  const morphs = ownedMorphs(model).flatMap(({ shape, storage }): readonly MergedLinks[] => {
    if (storage.kind === 'columns') return []
    const { table, here, id, type: uid, order } = storage
    const own = { table, by: here, key: [id, uid, 'field'], order, isSingle: false, where: always }
    const others = { table, by: id, key: [here, 'field'], order: null, isSingle: false, where: sql`${sql.id(uid)} = ${type.uid}` }
    return [...(shape === type ? [own] : []), others]
  })
  const files = [...type.attributes.values()].filter(isMedia).map(
    ({ name, many }): MergedLinks => ({
      table: 'files_related_mph',
      by: 'related_id',
      key: ['file_id'],
      order: 'order',
      isSingle: !many,
      where: sql`related_type = ${type.uid} and field = ${name}`,
    }),
  )
  return [...relations, ...morphs, ...files]
}

interface StoredLink {
  readonly id: number
  readonly owner: number
  readonly place: number | null
  readonly [key: `key${number}`]: unknown
}

/** Gives the remaining row the links of all rows, newest first, without duplicates; for single links, the newest. */
async function mergeLinks(transaction: Transaction, links: MergedLinks, { kept, newestFirst }: Copies): Promise<void> {
  const { table, by, key, order, isSingle, where } = links
  const ids = newestFirst.map(({ id }) => id)
  const place = order === null ? sql`null` : sql.id(order)
  const keys = key.map((column, index) => sql`${sql.id(column)} as ${sql.id(`key${index}`)}`)
  const found = await transaction.rows<StoredLink>(
    sql`select id, ${sql.id(by)} as owner, ${place} as place, ${sql.join(keys)} from ${sql.table(table)}
      where ${sql.id(by)} in (${transaction.dialect.list(ids)}) and ${where} order by ${order === null ? sql`id` : sql`place, id`}`,
  )
  const owners = new Set(found.map(({ owner }) => owner))
  if (owners.size === 0 || (owners.size === 1 && owners.has(kept.id))) return
  const ranked = ids.filter((id) => owners.has(id)).flatMap((id) => found.filter(({ owner }) => owner === id))
  const counted = isSingle ? ranked.filter(({ owner }) => owner === ranked[0]!.owner) : ranked
  const nameOf = (link: StoredLink) => JSON.stringify(key.map((_, index) => link[`key${index}`]))
  const byName = new Map<string, StoredLink>()
  for (const link of counted) if (!byName.has(nameOf(link))) byName.set(nameOf(link), link)
  const stay = [...byName.values()]
  const gone = found.filter((link) => !stay.includes(link)).map(({ id }) => id)
  if (gone.length > 0) transaction.follow(sql`delete from ${sql.table(table)} where id in (${transaction.dialect.list(gone)})`)
  const isOneList = new Set(stay.map(({ owner }) => owner)).size === 1
  for (const [index, { id, place: before }] of stay.entries()) {
    const moved = order === null ? sql`` : sql`, ${sql.id(order)} = ${isOneList ? before : index + 1}`
    transaction.follow(sql`update ${sql.table(table)} set ${sql.id(by)} = ${kept.id}${moved} where id = ${id}`)
  }
}

/** A column that references rows of a type. */
interface Pointer {
  readonly table: string
  readonly column: string
  readonly where: RawBuilder<unknown>
}

function getPointers(model: Model, type: ContentType): readonly Pointer[] {
  const columns = allSchemas(model).flatMap(({ table, attributes }) =>
    [...attributes.values()].flatMap((attribute): Pointer[] => {
      if (attribute.kind === 'relation' && attribute.storage.kind === 'column' && attribute.target === type.uid)
        return [{ table, column: attribute.storage.column, where: always }]
      if (attribute.kind !== 'morphTo' || attribute.storage.kind !== 'columns') return []
      return [{ table, column: attribute.storage.id, where: sql`${sql.id(attribute.storage.type)} = ${type.uid}` }]
    }),
  )
  const owned = [
    ...ownedLinks(model).flatMap(({ shape, storage }) => (shape === type ? [storage.table] : [])),
    ...ownedMorphs(model).flatMap(({ shape, storage }) => (shape === type && storage.kind === 'table' ? [storage.table] : [])),
  ]
  const waits = { table: 'octavo_pending_links', column: 'owner_id', where: sql`link_table in (${sql.join(owned)})` }
  return owned.length === 0 ? columns : [...columns, waits]
}
