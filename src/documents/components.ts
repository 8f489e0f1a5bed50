// Writes component and zone entries of a row: updated in place by id, created, reordered, removed with all below them.
import { sql } from 'kysely'
import type { Transaction } from '../database/database.js'
import { ApiError, validationError } from '../errors.js'
import type { Attribute, Component, ComponentAttribute, ContentType, DynamicZone, Media, Model, MorphTo, Relation } from '../model/types.js'
import type { ComponentInput, Input } from './input.js'
import { copyLinks, forgetHiddenLinks } from './links.js'
import { copyMedia, removeMedia, writeMedia } from './media.js'
import { copyMorphs, writeMorph } from './morphs.js'
import type { Owner } from './relations.js'
import { writeRelation } from './relations.js'
import { copyRow, insertRow, insertRows, updateRow, valueColumns } from './rows.js'
import { scalarColumns } from './scalars.js'
import type { Writing } from './writing.js'

interface Entry {
  readonly cmp_id: number
  readonly component_type: string
  readonly field: string
  readonly order: number | null
}

const files = (model: Model): ContentType => model.types.get('plugin::upload.file')!

/** Writes everything of `input` but the row's own columns. */
export async function writeBelow(writing: Writing, owner: Owner, input: Input, isNew: boolean): Promise<void> {
  const { transaction, model, resolving } = writing
  for (const [attribute, entries] of [...input.components, ...input.zones]) await writeEntries(writing, owner, attribute, entries, isNew)
  for (const [relation, change] of input.relations) {
    if (relation.kind === 'relation') await writeRelation(transaction, model, owner, relation, change, resolving)
    else if (relation.kind === 'morphTo') await writeMorph(transaction, model, owner, relation, change, resolving)
    else throw validationError(`${relation.name} is written from its other side, ${relation.target}`)
  }
  for (const [media, change] of input.media) await writeMedia(transaction, files(model), owner, media, change, resolving, isNew)
}

async function writeEntries(
  writing: Writing,
  owner: Owner,
  attribute: ComponentAttribute | DynamicZone,
  entries: readonly ComponentInput[],
  isNew: boolean,
): Promise<void> {
  const { transaction } = writing
  const table = owner.shape.componentTable!
  const present = isNew ? [] : await entriesOf(transaction, owner, [attribute.name])
  const kept: { component: Component; id: number }[] = []
  for (const entry of entries) {
    const known = entry.id !== null && present.some((one) => one.cmp_id === entry.id && one.component_type === entry.component.uid)
    if (entry.id !== null && !known && !isNew) {
      throw foreignEntry(attribute)
    }
    const id = await writeEntry(writing, entry, known)
    // An entry that is named twice stands at its first place.
    if (!kept.some((one) => one.id === id && one.component === entry.component)) kept.push({ component: entry.component, id })
  }
  const gone = present.filter((one) => !kept.some((entry) => entry.id === one.cmp_id && entry.component.uid === one.component_type))
  await removeEntries(writing, gone)
  if (present.length > 0) {
    await transaction.run(sql`delete from ${sql.table(table)} where entity_id = ${owner.id} and field = ${attribute.name}`)
  }
  const isList = attribute.kind === 'dynamiczone' || attribute.repeatable
  await insertRows(
    transaction,
    table,
    kept.map(({ component, id }, index) => ({
      entity_id: owner.id,
      cmp_id: id,
      component_type: component.uid,
      field: attribute.name,
      order: isList ? index + 1 : null,
    })),
  )
}

/** An entry of another document, or of none; the names are the recorded ones. */
function foreignEntry({ kind, name }: ComponentAttribute | DynamicZone): ApiError {
  const message = `Some of the provided components in ${name} are not related to the entity`
  return kind === 'dynamiczone' ? new ApiError('Error', message, null) : new ApiError('ApplicationError', message)
}

async function writeEntry(writing: Writing, { component, id, input }: ComponentInput, isKnown: boolean): Promise<number> {
  const columns = await scalarColumns(input, writing.hashPassword)
  if (isKnown) {
    await updateRow(writing.transaction, component.table, id!, columns)
    await writeBelow(writing, { shape: component, id: id! }, input, false)
    return id!
  }
  const made = await insertRow(writing.transaction, component.table, columns)
  await writeBelow(writing, { shape: component, id: made }, input, true)
  return made
}

function entriesOf(transaction: Transaction, owner: Owner, fields: readonly string[]): Promise<readonly Entry[]> {
  if (owner.shape.componentTable === null || fields.length === 0) return Promise.resolve([])
  return transaction.rows<Entry>(
    sql`select cmp_id, component_type, field, ${sql.id('order')} from ${sql.table(owner.shape.componentTable)}
      where entity_id = ${owner.id} and +field in (${sql.join(fields)}) order by ${sql.id('order')}, id`,
  )
}

/** Deletes component rows with everything below them. Their links go with them. */
async function removeEntries(writing: Writing, entries: readonly Entry[]): Promise<void> {
  for (const { cmp_id, component_type } of entries) {
    const component = writing.model.components.get(component_type)
    if (component === undefined) continue
    const owner = { shape: component, id: cmp_id }
    await removeBelow(writing, owner, [...component.attributes.values()])
    await forgetHiddenLinks(writing.transaction, component, [cmp_id])
    await writing.transaction.run(sql`delete from ${sql.table(component.table)} where id = ${cmp_id}`)
  }
}

/** Deletes what stands below a row for these attributes: component trees and links to files. */
export async function removeBelow(writing: Writing, owner: Owner, attributes: readonly Attribute[]): Promise<void> {
  const { transaction } = writing
  const fields = attributes.filter(isHolder).map(({ name }) => name)
  const entries = await entriesOf(transaction, owner, fields)
  await removeEntries(writing, entries)
  if (entries.length > 0) {
    await transaction.run(
      sql`delete from ${sql.table(owner.shape.componentTable!)} where entity_id = ${owner.id} and field in (${sql.join(fields)})`,
    )
  }
  await removeMedia(transaction, owner, attributes.filter(isMedia))
}

/** Gives `to` a copy of what stands below `from` for these attributes: component trees, files, links. */
export async function copyBelow(writing: Writing, from: Owner, to: Owner, attributes: readonly Attribute[]): Promise<void> {
  const { transaction, model } = writing
  const entries = await entriesOf(
    transaction,
    from,
    attributes.filter(isHolder).map(({ name }) => name),
  )
  const copies: { entity_id: number; cmp_id: number; component_type: string; field: string; order: number | null }[] = []
  for (const entry of entries) {
    const component = model.components.get(entry.component_type)
    if (component === undefined) continue
    const id = await copyRow(transaction, component.table, valueColumns(component), entry.cmp_id)
    await copyBelow(writing, { shape: component, id: entry.cmp_id }, { shape: component, id }, [...component.attributes.values()])
    copies.push({ entity_id: to.id, cmp_id: id, component_type: entry.component_type, field: entry.field, order: entry.order })
  }
  if (copies.length > 0) await insertRows(transaction, to.shape.componentTable!, copies)
  await copyMedia(transaction, from, to, attributes.filter(isMedia))
  await copyLinks(writing, from, to, attributes.filter(isRelation))
  await copyMorphs(transaction, model, from, to, attributes.filter(isMorph))
}

const isHolder = (attribute: Attribute): attribute is ComponentAttribute | DynamicZone =>
  attribute.kind === 'component' || attribute.kind === 'dynamiczone'
const isMorph = (attribute: Attribute): attribute is MorphTo => attribute.kind === 'morphTo'
const isMedia = (attribute: Attribute): attribute is Media => attribute.kind === 'media'
export const isRelation = (attribute: Attribute): attribute is Relation =>
  attribute.kind === 'relation' && attribute.storage.kind === 'link'
