// Components of rows as plain values, with the documents that their relations lead to, for comparing versions of a document.
import { type RawBuilder, sql } from 'kysely'
import type { Transaction } from '../../../database/database.js'
import type { Stored } from '../../../database/portable-sql.js'
import { yieldIfBusy } from '../../../foundation/runtime/event-loop.js'
import { getComponents } from '../../../model/schema/graph.js'
import type { Attribute, Component, Model, Relation } from '../../../model/schema/types.js'
import { isMedia } from './components.js'
import type { Owner } from './relations.js'
import { fileLinks } from './relations.js'
import type { ComponentEntry } from './row-context.js'
import { valueColumns } from './rows.js'

export interface ComponentLink {
  readonly document: string
  readonly locale: string | null
  /** The target row; null: the link is pending until that version is published. */
  readonly target: number | null
  readonly place: number | null
}

export interface ComponentTree {
  readonly component: Component
  readonly id: number
  /** Values and files as a text, equal for equal content. */
  readonly content: string
  readonly links: ReadonlyMap<Relation, readonly ComponentLink[]>
  readonly below: ComponentTrees
}

/** Components of a row by attribute. */
export type ComponentTrees = ReadonlyMap<string, readonly ComponentTree[]>

/** True if an attribute has components with relations, at any depth. */
export function holdsRelations(model: Model, attribute: Attribute, above: readonly string[] = []): boolean {
  if (attribute.kind === 'relation' || attribute.kind === 'morphTo') return above.length > 0
  return getComponents(model, attribute)
    .filter(({ uid }) => !above.includes(uid))
    .some(({ uid, attributes }) => [...attributes.values()].some((inner) => holdsRelations(model, inner, [...above, uid])))
}

/** The relations that a component stores itself. */
export const getStoredRelations = ({ attributes }: Component): readonly Relation[] =>
  [...attributes.values()].filter(
    (attribute): attribute is Relation =>
      attribute.kind === 'relation' &&
      (attribute.storage.kind === 'link' || (attribute.storage.kind === 'column' && attribute.storage.references === 'id')),
  )

export async function readComponents(
  transaction: Transaction,
  model: Model,
  owner: Owner,
  attributes: readonly Attribute[],
): Promise<ComponentTrees> {
  const found = await componentsBelow(transaction, model, owner.shape, [owner.id], attributes)
  return found.get(owner.id) ?? new Map()
}

async function componentsBelow(
  transaction: Transaction,
  model: Model,
  shape: Owner['shape'],
  owners: readonly number[],
  attributes: readonly Attribute[],
): Promise<ReadonlyMap<number, ComponentTrees>> {
  const holders = attributes.filter((attribute) => getComponents(model, attribute).length > 0)
  const components = [...new Set(holders.flatMap((attribute) => getComponents(model, attribute)))]
  if (owners.length === 0 || components.length === 0) return new Map()
  const fields = sql.join(holders.map(({ name }) => name))
  const entries = await transaction.rows<OwnedEntry>(
    sql`select entity_id, cmp_id, component_type, field, ${sql.id('order')} from ${sql.table(shape.componentTable!)}
      where entity_id in (${transaction.dialect.list(owners)}) and ${transaction.dialect.unindexed(sql`field`)} in (${fields}) order by ${sql.id('order')}, id`,
  )
  const trees = new Map<string, ComponentTree>()
  for (const component of components) {
    const ids = entries.filter(({ component_type }) => component_type === component.uid).map(({ cmp_id }) => cmp_id)
    if (ids.length === 0) continue
    await yieldIfBusy()
    for (const tree of await readTrees(transaction, model, component, ids)) trees.set(`${component.uid} ${tree.id}`, tree)
  }
  return groupedByOwner(entries, trees)
}

type OwnedEntry = ComponentEntry & { readonly entity_id: number }

function groupedByOwner(entries: readonly OwnedEntry[], trees: ReadonlyMap<string, ComponentTree>): ReadonlyMap<number, ComponentTrees> {
  const owners = new Map<number, Map<string, ComponentTree[]>>()
  for (const { entity_id, field, component_type, cmp_id } of entries) {
    const tree = trees.get(`${component_type} ${cmp_id}`)
    if (tree === undefined) continue
    const fields = owners.get(entity_id) ?? new Map<string, ComponentTree[]>()
    owners.set(entity_id, fields.set(field, [...(fields.get(field) ?? []), tree]))
  }
  return owners
}

async function readTrees(
  transaction: Transaction,
  model: Model,
  component: Component,
  ids: readonly number[],
): Promise<readonly ComponentTree[]> {
  const { dialect } = transaction
  const columns = valueColumns(component)
  const values = await readTexts(
    transaction,
    sql`select id as owner, ${list(columns)} from ${sql.table(component.table)} where id in (${dialect.list(ids)})`,
  )
  const media = [...component.attributes.values()].filter(isMedia)
  const isFile = sql`select related_id as owner, field, file_id from (${fileLinks(dialect, component, ids, media)}) f order by field, ${sql.id('order')}, id`
  const files = media.length === 0 ? new Map<number, string>() : await readTexts(transaction, isFile)
  const pointers = await readPointers(transaction, component, ids)
  const links = new Map<Relation, ReadonlyMap<number, readonly ComponentLink[]>>()
  for (const relation of getStoredRelations(component)) links.set(relation, await readLinks(transaction, model, component, relation, ids))
  const below = await componentsBelow(transaction, model, component, ids, [...component.attributes.values()])
  // Strapi leaves entries without a row.
  return [...values.keys()].map((id) => ({
    component,
    id,
    content: [values, files, ...pointers].map((texts) => texts.get(id) ?? '').join('\n'),
    links: new Map([...links].map(([relation, found]) => [relation, found.get(id) ?? []])),
    below: below.get(id) ?? new Map(),
  }))
}

const list = (columns: readonly string[]): RawBuilder<unknown> =>
  columns.length === 0 ? sql`null as nothing` : sql.join(columns.map((column) => sql.id(column)))

/** The rows of a select as texts, by the column `owner`. */
async function readTexts(transaction: Transaction, select: RawBuilder<unknown>): Promise<ReadonlyMap<number, string>> {
  const texts = new Map<number, string>()
  for (const { owner, ...row } of await transaction.rows<Readonly<Record<string, Stored>> & { readonly owner: number }>(select)) {
    const text = JSON.stringify(row, (_key, value: unknown) => (typeof value === 'bigint' ? String(value) : value))
    texts.set(owner, `${texts.get(owner) ?? ''}${text}`)
  }
  return texts
}

function readPointers(
  transaction: Transaction,
  component: Component,
  ids: readonly number[],
): Promise<readonly ReadonlyMap<number, string>[]> {
  const owners = transaction.dialect.list(ids)
  const selects = [...component.attributes.values()].flatMap((attribute) => {
    if (attribute.kind !== 'morphTo') return []
    const { storage } = attribute
    const target = [storage.id, storage.type].map((column) => sql.id(column))
    return storage.kind === 'columns'
      ? [sql`select id as owner, ${sql.join(target)} from ${sql.table(component.table)} where id in (${owners})`]
      : [
          sql`select ${sql.id(storage.here)} as owner, ${sql.join(target)} from ${sql.table(storage.table)}
            where ${sql.id(storage.here)} in (${owners}) order by ${sql.id(storage.order)}, id`,
        ]
  })
  return Promise.all(selects.map((select) => readTexts(transaction, select)))
}

type LinkRow = ComponentLink & { readonly owner: number }

/** Links of components by one relation, including pending ones. */
async function readLinks(
  transaction: Transaction,
  model: Model,
  component: Component,
  { storage, target: uid }: Relation,
  ids: readonly number[],
): Promise<ReadonlyMap<number, readonly ComponentLink[]>> {
  const target = sql.table(model.types.get(uid)!.table)
  const owners = transaction.dialect.list(ids)
  const found: LinkRow[] = []
  if (storage.kind === 'column') {
    found.push(
      ...(await transaction.rows<LinkRow>(
        sql`select c.id as owner, t.document_id as document, t.locale as locale, t.id as target, null as place from ${sql.table(component.table)} c
          join ${target} t on t.${sql.id(storage.references)} = c.${sql.id(storage.column)} where c.id in (${owners})`,
      )),
    )
  } else if (storage.kind === 'link') {
    const place = storage.order === null ? sql`null` : sql.id('l', storage.order)
    const linked = sql`select ${sql.id('l', storage.here)} as owner, t.document_id as document, t.locale as locale, t.id as target, ${place} as place
      from ${sql.table(storage.table)} l join ${target} t on t.id = ${sql.id('l', storage.there)} where ${sql.id('l', storage.here)} in (${owners}) order by l.id`
    const waiting = sql`select owner_id as owner, target_document as document, target_locale as locale, null as target, place
      from octavo_pending_links where link_table = ${storage.table} and owner_id in (${owners}) order by id`
    found.push(...(await transaction.rows<LinkRow>(linked)), ...(await transaction.rows<LinkRow>(waiting)))
  }
  const links = new Map<number, ComponentLink[]>()
  for (const link of found.toSorted((one, other) => (one.place ?? 0) - (other.place ?? 0))) {
    const { owner, ...rest } = link
    links.set(owner, [...(links.get(owner) ?? []), rest])
  }
  return links
}
