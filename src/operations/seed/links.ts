// Inserts the components, files and relations of a seeded row.
import type { Database } from 'better-sqlite3'
import { fileType } from '../../model/schema/link.js'
import { type Attribute, assertNever, type ContentType, type MorphTo, type Relation, type Schema } from '../../model/schema/types.js'
import { quoted } from '../../model/tables/table.js'
import type { SeedContext } from './access.js'
import { scalars } from './values.js'

/** The values of a document or component. */
export type SeedValues = Readonly<Record<string, unknown>>

/** The state of a row: types with Draft & Publish have a draft and a published row, others only one. */
export type State = 'draft' | 'published' | 'only'

/** A row of a document. */
export interface SeedRow {
  readonly id: number
  readonly state: State
  readonly locale: string | null
}

/** The dependencies for inserting relations. */
export interface Linking extends SeedContext {
  readonly database: Database
  readonly defaultLocale: string
  readonly files: ReadonlyMap<string, number>
  readonly users: ReadonlyMap<string, number>
  /** Rows of documents by `<uid>:<key>`. */
  readonly rows: ReadonlyMap<string, readonly SeedRow[]>
  /** The last order number of the owners of a target, by `<table> <target row> <state>`. */
  readonly orders: Map<string, number>
}

/** The row of a type or component whose attributes are being written. */
interface Holder {
  readonly shape: Schema
  readonly id: number
  /** The version of the document, which determines the linked rows. */
  readonly row: SeedRow
  /** For errors. */
  readonly where: string
}

/**
 * Writes all values that are not columns of the row itself.
 * @throws Error with a sentence if a referenced document, file or component does not exist.
 */
export function writeBelow(holder: Holder, values: SeedValues, linking: Linking): void {
  for (const attribute of holder.shape.attributes.values()) {
    const value = values[attribute.name]
    if (value === undefined || value === null || attribute.kind === 'scalar') continue
    const list: readonly unknown[] = Array.isArray(value) ? value : [value]
    writeAttribute({ ...holder, where: `${holder.where}, ${attribute.name}` }, attribute, list, linking)
  }
}

function writeAttribute(
  holder: Holder,
  attribute: Exclude<Attribute, { kind: 'scalar' }>,
  list: readonly unknown[],
  linking: Linking,
): void {
  switch (attribute.kind) {
    case 'relation':
      writeRelation(holder, attribute, list, linking)
      break
    case 'morphTo':
      writeMorph(holder, attribute, list, linking)
      break
    case 'morphFrom':
      throw new Error(`${holder.where} is the inverse side of ${attribute.target}.${attribute.by}; set it there`)
    case 'media':
      writeFiles(holder, attribute.name, list, linking)
      break
    case 'component':
      writeEntries(holder, attribute.name, list, () => attribute.component, attribute.repeatable, linking)
      break
    case 'dynamiczone':
      writeEntries(holder, attribute.name, list, (entry) => String(entry.__component), true, linking)
      break
    default:
      assertNever(attribute)
  }
}

function writeEntries(
  { shape, id, row, where }: Holder,
  field: string,
  list: readonly unknown[],
  componentOf: (entry: SeedValues) => string,
  ordered: boolean,
  linking: Linking,
): void {
  for (const [index, each] of (list as readonly SeedValues[]).entries()) {
    const { __component, ...entry } = each
    const uid = componentOf(each)
    const component = linking.model.components.get(uid)
    if (component === undefined) throw new Error(`${where}: there is no component ${uid}`)
    const here = `${where}[${index}]`
    const entryId = linking.insert(component.table, scalars(component, entry, here))
    const place = { component_type: uid, field, order: ordered ? index + 1 : null }
    linking.insert(shape.componentTable!, { entity_id: id, cmp_id: entryId, ...place })
    writeBelow({ shape: component, id: entryId, row, where: here }, entry, linking)
  }
}

function writeFiles({ shape, id, where }: Holder, field: string, list: readonly unknown[], linking: Linking): void {
  const { storage } = linking.model.types.get(fileType)!.attributes.get('related') as MorphTo
  if (storage.kind !== 'table') throw new Error('files are linked through a table')
  for (const [index, each] of list.entries()) {
    const { singularName, key } = reference(each, where)
    const file = singularName === 'file' ? linking.files.get(key) : undefined
    if (file === undefined) throw new Error(`${where}: there is no file @${singularName}:${key}`)
    const place = { field, [storage.order]: index + 1 }
    linking.insert(storage.table, { [storage.here]: file, [storage.id]: id, [storage.type]: shape.uid, ...place })
  }
}

function writeRelation(holder: Holder, { storage, target, many }: Relation, list: readonly unknown[], linking: Linking): void {
  const { id, row, where } = holder
  if (storage.kind === 'link' && !storage.owner) throw new Error(`${where} is the inverse side of a relation of ${target}; set it there`)
  if (!many && list.length > 1) throw new Error(`${where} can have only one document`)
  const type = linking.model.types.get(target)!
  const targets = list.flatMap((each) => targetsOf(type, reference(each, where), row, where, linking))
  switch (storage.kind) {
    case 'link':
      for (const [index, there] of targets.entries()) {
        const { table, order, inverseOrder } = storage
        linking.insert(table, {
          [storage.here]: id,
          [storage.there]: there.id,
          ...(order === null ? {} : { [order]: index + 1 }),
          ...(inverseOrder === null ? {} : { [inverseOrder]: nextOrder(`${table} ${there.id} ${row.state}`, linking) }),
        })
      }
      break
    case 'column':
      setColumns(holder, targets[0] === undefined ? {} : { [storage.column]: targets[0].id }, linking)
      break
    case 'inverseColumn':
    case 'localizations':
      throw new Error(`${where} cannot be written from this side`)
    default:
      assertNever(storage)
  }
}

function writeMorph(holder: Holder, { name, storage }: MorphTo, list: readonly unknown[], linking: Linking): void {
  const { shape, id, row, where } = holder
  const targets = list.flatMap((each) => {
    const named = reference(each, where)
    const type = [...linking.model.types.values()].find((type) => type.exposed && type.singularName === named.singularName)
    if (type === undefined) throw new Error(`${where}: there is no type ${named.singularName}`)
    // One row per document: if both versions are possible, Strapi uses the published one.
    return targetsOf(type, named, row, where, linking)
      .slice(-1)
      .map((there) => ({ id: there.id, type }))
  })
  if (storage.kind === 'columns') {
    const [first] = targets
    setColumns(holder, first === undefined ? {} : { [storage.id]: first.id, [storage.type]: first.type.uid }, linking)
    return
  }
  for (const [index, there] of targets.entries()) {
    const back = [...there.type.attributes.values()].find(
      (attribute) => attribute.kind === 'morphFrom' && attribute.target === shape.uid && attribute.by === name,
    )
    const place = { field: back?.name ?? null, [storage.order]: index + 1 }
    linking.insert(storage.table, { [storage.here]: id, [storage.id]: there.id, [storage.type]: there.type.uid, ...place })
  }
}

function setColumns({ shape, id }: Holder, columns: Readonly<Record<string, string | number>>, { database }: Linking): void {
  for (const [column, value] of Object.entries(columns))
    database.prepare(`UPDATE ${quoted(shape.table)} SET ${quoted(column)} = ? WHERE id = ?`).run(value, id)
}

function nextOrder(counter: string, { orders }: Linking): number {
  const order = (orders.get(counter) ?? 0) + 1
  orders.set(counter, order)
  return order
}

/** `@author:maria-holt`. */
interface SeedReference {
  readonly singularName: string
  readonly key: string
}

function reference(value: unknown, where: string): SeedReference {
  const [, singularName, key] = /^@([^:]+):(.+)$/.exec(String(value)) ?? []
  if (singularName === undefined || key === undefined) throw new Error(`${where}: ${JSON.stringify(value)} must have the form @type:key`)
  return { singularName, key }
}

/** Returns the rows of a document that a version links to: same locale and same state, or both states for types without Draft & Publish. */
function targetsOf(
  type: ContentType,
  { singularName, key }: SeedReference,
  row: SeedRow,
  where: string,
  linking: Linking,
): readonly SeedRow[] {
  const rows = singularName === type.singularName ? linking.rows.get(`${type.uid}:${key}`) : undefined
  if (rows === undefined) throw new Error(`${where}: there is no document @${singularName}:${key}`)
  const locale = type.localized ? (row.locale ?? linking.defaultLocale) : null
  const local = rows.filter((each) => each.locale === locale)
  if (local.length === 0) linking.report(`${where}: @${singularName}:${key} has no locale ${locale}, so it is not linked`)
  return local.filter((each) => row.state === 'only' || each.state === 'only' || each.state === row.state)
}
