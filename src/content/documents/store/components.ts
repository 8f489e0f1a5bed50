// Writes component and zone entries of a row: updates them by id, creates, reorders, and removes them with everything nested in them.
import { sql } from 'kysely'
import type { Transaction } from '../../../database/database.js'
import type { Dialect } from '../../../database/dialect.js'
import { ApiError } from '../../../foundation/errors/errors.js'
import { mapYielding, yieldIfBusy } from '../../../foundation/runtime/event-loop.js'
import { getComponents } from '../../../model/schema/graph.js'
import type {
  Attribute,
  Component,
  ComponentAttribute,
  DynamicZone,
  Media,
  MorphFrom,
  MorphTo,
  Relation,
} from '../../../model/schema/types.js'
import { scalarColumns } from '../input/attributes.js'
import type { ComponentInput, Input } from '../input/types.js'
import { copyInverses, writeInverse } from './inverse-polymorphic.js'
import { copyLinks, dropPendingLinks } from './pending-links.js'
import { copyPointers, writeColumn } from './pointers.js'
import { copyPolymorphic, writePolymorphic } from './polymorphic.js'
import { copyMedia, fileLinks, type Owner, removeMedia, writeMedia, writeRelation } from './relations.js'
import type { ComponentEntry, RowContext } from './row-context.js'
import { copyRow, insertRow, insertRows, updateRow, valueColumns } from './rows.js'

/** Writes everything in `input` except the row's own columns. */
export async function writeBelow(writing: RowContext, owner: Owner, input: Input, isNew: boolean): Promise<void> {
  const made = writing.createdRows
  if (isNew) made.set(toRowKey(owner), { entries: [], given: new Set<Attribute>([...input.relations.keys(), ...input.media.keys()]) })
  else made.delete(toRowKey(owner))
  for (const [attribute, entries] of [...input.components, ...input.zones]) await writeEntries(writing, owner, attribute, entries, isNew)
  for (const [relation, change] of input.relations) {
    if (relation.kind === 'relation' && relation.storage.kind === 'link') await writeRelation(writing, owner, relation, change, isNew)
    else if (relation.kind === 'relation') await writeColumn(writing, owner, relation, change)
    else if (relation.kind === 'morphTo') await writePolymorphic(writing, owner, relation, change)
    else await writeInverse(writing, owner, relation, change)
  }
  for (const [media, change] of input.media) await writeMedia(writing, owner, media, change, isNew)
}

async function writeEntries(
  writing: RowContext,
  owner: Owner,
  attribute: ComponentAttribute | DynamicZone,
  entries: readonly ComponentInput[],
  isNew: boolean,
): Promise<void> {
  const { transaction } = writing
  const table = owner.shape.componentTable!
  const present = isNew ? [] : await findEntries(transaction, owner.shape, [owner.id], [attribute.name])
  const isKnown = ({ id, component }: ComponentInput): boolean =>
    id !== null && present.some((one) => one.cmp_id === id && one.component_type === component.uid)
  const foreign = isNew ? [] : entries.flatMap((entry) => (entry.id === null || isKnown(entry) ? [] : [entry.id]))
  if (foreign.length > 0) throw foreignEntries(attribute, foreign)
  const written = await writeEach(entries, async (entry) => ({
    component: entry.component,
    id: await writeEntry(writing, entry, isKnown(entry)),
  }))
  await yieldIfBusy()
  // An entry given twice keeps its first position.
  const kept = [...new Map(written.toReversed().map((entry) => [`${entry.component.uid} ${entry.id}`, entry])).values()].reverse()
  const keys = new Set(kept.map(({ component, id }) => `${component.uid} ${id}`))
  const gone = present.filter((one) => !keys.has(`${one.component_type} ${one.cmp_id}`))
  await removeEntries(writing, gone)
  if (present.length > 0) {
    transaction.follow(sql`delete from ${sql.table(table)} where entity_id = ${owner.id} and field = ${attribute.name}`)
  }
  const isList = attribute.kind === 'dynamiczone' || attribute.repeatable
  const rows = kept.map(({ component, id }, index) => ({
    entity_id: owner.id,
    cmp_id: id,
    component_type: component.uid,
    field: attribute.name,
    order: isList ? index + 1 : null,
  }))
  insertRows(transaction, table, rows)
  writing.createdRows.get(toRowKey(owner))?.entries.push(...rows)
}

/** Writes new entries concurrently, without waiting for ids; otherwise one at a time. */
async function writeEach<Written>(
  entries: readonly ComponentInput[],
  write: (entry: ComponentInput) => Promise<Written>,
): Promise<Written[]> {
  if (entries.every(({ id }) => id === null)) return mapYielding(entries, write)
  const written: Written[] = []
  for (const entry of entries) written.push(await write(entry))
  return written
}

/** The entries belong to another document or to none. The error names are recorded. */
function foreignEntries({ kind, name }: ComponentAttribute | DynamicZone, ids: readonly number[]): ApiError {
  const message = `Some of the provided components in ${name} are not related to the entity`
  const error = kind === 'dynamiczone' ? new ApiError('Error', message, null) : new ApiError('ApplicationError', message)
  return error.about({ kind: 'entries', attribute: name, ids })
}

async function writeEntry(writing: RowContext, { component, id, input }: ComponentInput, isKnown: boolean): Promise<number> {
  const columns = await scalarColumns(input, writing.hashPassword)
  await yieldIfBusy()
  if (isKnown) {
    updateRow(writing.transaction, component.table, id!, columns)
    await writeBelow(writing, { shape: component, id: id! }, input, false)
    return id!
  }
  const made = await insertRow(writing.transaction, component.table, columns)
  await writeBelow(writing, { shape: component, id: made }, input, true)
  return made
}

async function findEntries(
  transaction: Transaction,
  { componentTable }: Owner['shape'],
  owners: readonly number[],
  fields: readonly string[],
  whole: readonly Component[] | null = null,
): Promise<readonly ComponentEntry[]> {
  if (componentTable === null || fields.length === 0) return []
  const isWhole = whole === null ? sql`` : sql` and ${hasRow(whole)}`
  return transaction.rows<ComponentEntry>(
    sql`${entryRows(transaction.dialect, componentTable, owners, fields)}${isWhole} order by ${sql.id('order')}, id`,
  )
}

/** True for entries with a row, if they are of these components: Strapi leaves some without one. */
const hasRow = (components: readonly Component[]) => {
  const isThere = components.map(
    ({ uid, table }) => sql` when ${uid} then exists (select 1 from ${sql.table(table)} as c where c.id = cmp_id)`,
  )
  return sql`case component_type${sql.join(isThere, sql``)} else 1 = 1 end`
}

const entryRows = (dialect: Dialect, table: string, owners: readonly number[], fields: readonly string[] | null) =>
  sql`select id, cmp_id, component_type, field, ${sql.id('order')} from ${sql.table(table)} where ${isEntryOf(dialect, owners, fields)}`

/** True for entries of rows in these fields; null: in all, including those archived by a model change. */
const isEntryOf = ({ list, unindexed }: Dialect, owners: readonly number[], fields: readonly string[] | null) =>
  sql`entity_id in (${list(owners)})${fields === null ? sql`` : sql` and ${unindexed(sql`field`)} in (${sql.join(fields)})`}`

/** Deletes component rows with everything nested in them, and their links. */
async function removeEntries(writing: RowContext, entries: readonly ComponentEntry[]): Promise<void> {
  for (const [uid, component] of writing.model.components) {
    const ids = entries.filter(({ component_type }) => component_type === uid).map(({ cmp_id }) => cmp_id)
    if (ids.length === 0) continue
    await removeBelow(writing, component, ids, null)
    dropPendingLinks(writing.transaction, component, ids)
    const { transaction } = writing
    transaction.follow(sql`delete from ${sql.table(component.table)} where id in (${transaction.dialect.list(ids)})`)
  }
}

/** Deletes components and file links of rows of one shape, for these attributes. Null: the rows are deleted as a whole. */
export async function removeBelow(
  writing: RowContext,
  shape: Owner['shape'],
  ids: readonly number[],
  attributes: readonly Attribute[] | null,
): Promise<void> {
  const { transaction } = writing
  const fields = attributes?.filter(isHolder).map(({ name }) => name) ?? null
  const media = (attributes ?? [...shape.attributes.values()]).filter(isMedia)
  if (shape.componentTable === null || fields?.length === 0) return removeMedia(transaction, shape, ids, media)
  const files =
    media.length === 0
      ? sql``
      : sql` union all select null, null, null, field, null from (${fileLinks(transaction.dialect, shape, ids, media)}) as files`
  const found = await transaction.rows<ComponentEntry>(sql`${entryRows(transaction.dialect, shape.componentTable, ids, fields)}${files}`)
  const entries = found.filter(({ cmp_id }) => cmp_id !== null)
  await removeEntries(writing, entries)
  if (entries.length > 0) {
    transaction.follow(sql`delete from ${sql.table(shape.componentTable)} where ${isEntryOf(transaction.dialect, ids, fields)}`)
  }
  if (found.length > entries.length) removeMedia(transaction, shape, ids, media)
}

/** Entries of a row with an existing component row. Those of a row created by this write are already known. */
async function entriesBelow(
  { transaction, model, createdRows: made }: RowContext,
  owner: Owner,
  attributes: readonly (ComponentAttribute | DynamicZone)[],
): Promise<readonly ComponentEntry[]> {
  const fields = attributes.map(({ name }) => name)
  const known = made.get(toRowKey(owner))
  if (known === undefined) {
    const components = new Set(attributes.flatMap((attribute) => getComponents(model, attribute)))
    return findEntries(transaction, owner.shape, [owner.id], fields, [...components])
  }
  const entries = known.entries.filter(({ field }) => fields.includes(field))
  return entries.toSorted((one, other) => (one.order ?? 0) - (other.order ?? 0))
}

const toRowKey = ({ shape, id }: Owner): string => `${shape.uid} ${id}`

/** Copies components, files and links of these attributes. `replaces`: `to` already has files and links, but no components. */
export async function copyBelow(
  writing: RowContext,
  from: Owner,
  to: Owner,
  attributes: readonly Attribute[],
  replaces = false,
): Promise<void> {
  const { transaction, model, createdRows: made } = writing
  const entries = await entriesBelow(writing, from, attributes.filter(isHolder))
  await yieldIfBusy()
  const given = made.get(toRowKey(from))?.given
  const linked = attributes.filter((attribute) => replaces || (given?.has(attribute) ?? true))
  made.delete(toRowKey(to))
  const known = entries.filter(({ component_type }) => model.components.has(component_type))
  const copies = await mapYielding(known, async ({ cmp_id, component_type, field, order }) => {
    const component = model.components.get(component_type)!
    await yieldIfBusy()
    const id = await copyRow(transaction, component.table, valueColumns(component), cmp_id)
    await copyBelow(writing, { shape: component, id: cmp_id }, { shape: component, id }, [...component.attributes.values()])
    return { entity_id: to.id, cmp_id: id, component_type, field, order }
  })
  if (copies.length > 0) {
    await yieldIfBusy()
    insertRows(transaction, to.shape.componentTable!, copies)
  }
  copyMedia(transaction, from, to, linked.filter(isMedia), replaces)
  if (attributes.some(isColumn)) copyPointers(writing, from, to, attributes)
  copyLinks(writing, from, to, linked.filter(isRelation), { isNew: !replaces, isFromNew: given !== undefined })
  // These replace what `to` has, so they are copied even if there is nothing to copy.
  await copyPolymorphic(writing, from, to, attributes.filter(isMorph))
  copyInverses(writing, from, to, attributes.filter(isInverse))
}

const isColumn = (attribute: Attribute) => attribute.kind === 'relation' && attribute.storage.kind === 'column'
export const isHolder = (attribute: Attribute): attribute is ComponentAttribute | DynamicZone =>
  attribute.kind === 'component' || attribute.kind === 'dynamiczone'
const isMorph = (attribute: Attribute): attribute is MorphTo => attribute.kind === 'morphTo'
const isInverse = (attribute: Attribute): attribute is MorphFrom => attribute.kind === 'morphFrom'
export const isMedia = (attribute: Attribute): attribute is Media => attribute.kind === 'media'
const isRelation = (attribute: Attribute): attribute is Relation => attribute.kind === 'relation' && attribute.storage.kind === 'link'
