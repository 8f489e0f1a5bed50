// Rows of a content-type or component as the JSON objects of `entities/`: columns, then components, which are read in batches.
import { readBatches } from '../../database/transfer/row-batches.js'
import type { CopiedRow, RowSource, RowTable, RowValue } from '../../database/transfer/rows.js'
import {
  type Attribute,
  assertNever,
  type ComponentAttribute,
  type ContentType,
  type DynamicZone,
  type Model,
  type MorphTo,
  type Relation,
  type Scalar,
  type Schema,
} from '../../model/schema/types.js'
import { attributeTypes } from '../../model/types/attribute-types.js'
import { isExportable, type LinkLine } from './format.js'

/** An attribute that contains components. */
export type HoldingAttribute = ComponentAttribute | DynamicZone

/** The tables of a database, and the exported rows. */
export interface ExportedTables {
  readonly source: RowSource
  readonly model: Model
  /** By name, without those that the database lacks. */
  readonly tables: ReadonlyMap<string, RowTable>
  /** Ids of exported rows by uid of their type or component. */
  readonly exported: ReadonlyMap<string, IdSet>
}

export async function openExportedTables(source: RowSource, model: Model): Promise<ExportedTables> {
  const tables = new Map((await source.tables()).map((table) => [table.name, table]))
  const exported = new Map([...model.types.keys(), ...model.components.keys()].map((uid) => [uid, openIdSet()]))
  return { source, model, tables, exported }
}

/** Selects columns of a table. */
export const withColumns = (table: RowTable, names: readonly string[]): RowTable => ({
  ...table,
  columns: names.map((name) => table.columns.find((column) => column.name === name)!),
})

interface RowWriter {
  readonly table: RowTable
  readonly holding: readonly HoldingAttribute[]
  /** Members of the object for columns: `"title":"Hello"`. */
  members(row: CopiedRow): readonly string[]
}

const isHolding = (attribute: Attribute): attribute is HoldingAttribute =>
  attribute.kind === 'component' || attribute.kind === 'dynamiczone'

/** Dynamic zones last. */
const inStrapisOrder = (holding: readonly HoldingAttribute[]): readonly HoldingAttribute[] => [
  ...holding.filter(({ kind }) => kind === 'component'),
  ...holding.filter(({ kind }) => kind === 'dynamiczone'),
]

/** The columns of a shape in attribute order, without those that the database lacks. */
function rowWriter({ attributes }: Schema, table: RowTable): RowWriter {
  const there = new Set(table.columns.map(({ name }) => name))
  const scalars = [...attributes.values()].filter(
    (attribute): attribute is Scalar => attribute.kind === 'scalar' && attribute.name !== 'id',
  )
  const columns = ['id', ...scalars.map(({ column }) => column)].filter((column) => there.has(column))
  const places = scalars.map(({ column }) => columns.indexOf(column))
  const names = scalars.map(({ name }) => JSON.stringify(name))
  return {
    table: withColumns(table, columns),
    holding: inStrapisOrder([...attributes.values()].filter(isHolding)),
    members: (row) => scalars.map((scalar, index) => `${names[index]}:${exportedValue(scalar, row[places[index]!] ?? null)}`),
  }
}

/** Maximum number of rows whose components are read together. */
const together = 500

/** An exported row, as JSON without its id. */
interface ExportedRow {
  readonly id: number
  readonly text: string
}

/** Rows of a content-type, by id. */
export async function* exportedRows(tables: ExportedTables, type: ContentType): AsyncGenerator<ExportedRow> {
  const table = tables.tables.get(type.table)
  if (table === undefined) return
  const writer = rowWriter(type, table)
  const ids = tables.exported.get(type.uid)!
  for await (const batch of readBatches(tables.source, writer.table)) {
    for (let start = 0; start < batch.length; start += together) {
      const rows = batch.slice(start, start + together)
      const held = await heldBy(tables, type, writer.holding, rows)
      for (const row of rows) {
        const id = Number(row[0])
        ids.add(id)
        yield { id, text: `{${[...writer.members(row), ...held(id)].join(',')}}` }
      }
    }
  }
}

/** An entry of a component attribute or dynamic zone. */
interface ExportedEntry {
  readonly component: string
  readonly row: number
}

/** Reads the components of rows. Returns the members of a row's object. */
async function heldBy(
  tables: ExportedTables,
  shape: Schema,
  holding: readonly HoldingAttribute[],
  rows: readonly CopiedRow[],
): Promise<(owner: number) => readonly string[]> {
  if (holding.length === 0) return () => []
  const ids = rows.map((row) => row[0]!)
  const entries = await entriesOf(tables, shape, holding, ids)
  const wanted = new Map<string, number[]>()
  for (const { component, row } of [...entries.values()].flat()) {
    const list = wanted.get(component) ?? []
    wanted.set(component, list)
    list.push(row)
  }
  const objects = new Map<string, ReadonlyMap<number, string>>()
  for (const [uid, list] of wanted) objects.set(uid, await componentsOf(tables, uid, list))
  return (owner) =>
    holding.map((attribute) => {
      const found = (entries.get(keyOfEntries(owner, attribute.name)) ?? []).flatMap(({ component, row }) => {
        const members = objects.get(component)?.get(row)
        const mark = attribute.kind === 'dynamiczone' ? `,"__component":${JSON.stringify(component)}` : ''
        return members === undefined ? [] : [`{${members}${mark}}`]
      })
      return `${JSON.stringify(attribute.name)}:${isList(attribute) ? `[${found.join(',')}]` : (found[0] ?? 'null')}`
    })
}

const keyOfEntries = (owner: unknown, field: unknown): string => `${owner} ${field}`

const isList = (attribute: HoldingAttribute): boolean => attribute.kind === 'dynamiczone' || attribute.repeatable

const mayHold = (attribute: HoldingAttribute, component: string): boolean =>
  attribute.kind === 'dynamiczone' ? attribute.components.includes(component) : attribute.component === component

/** Entries of rows in order, by owner and attribute, without those unknown to the model. */
async function entriesOf(
  { source, tables }: ExportedTables,
  { componentTable }: Schema,
  holding: readonly HoldingAttribute[],
  owners: readonly RowValue[],
): Promise<ReadonlyMap<string, readonly ExportedEntry[]>> {
  const found = new Map<string, ExportedEntry[]>()
  const table = componentTable === null ? undefined : tables.get(componentTable)
  if (table === undefined) return found
  const attributes = new Map(holding.map((attribute) => [attribute.name, attribute]))
  const columns = ['id', 'entity_id', 'field', 'component_type', 'cmp_id', 'order']
  const rows = await source.readWhere(withColumns(table, columns), 'entity_id', owners)
  const inOrder = [...rows].sort((one, other) => Number(one[5]) - Number(other[5]))
  for (const [, owner, field, component, row] of inOrder) {
    const attribute = attributes.get(String(field))
    if (attribute === undefined || !mayHold(attribute, String(component)) || row === null) continue
    const list = found.get(keyOfEntries(owner, field)) ?? []
    found.set(keyOfEntries(owner, field), list)
    if (list.length === 0 || isList(attribute)) list.push({ component: String(component), row: Number(row) })
  }
  return found
}

/** Members of component rows by id, including the id. */
async function componentsOf(tables: ExportedTables, uid: string, ids: readonly number[]): Promise<ReadonlyMap<number, string>> {
  const found = new Map<number, string>()
  const component = tables.model.components.get(uid)
  const table = component === undefined ? undefined : tables.tables.get(component.table)
  if (component === undefined || table === undefined) return found
  const writer = rowWriter(component, table)
  const exported = tables.exported.get(uid)!
  for (let start = 0; start < ids.length; start += together) {
    const rows = await tables.source.readWhere(writer.table, 'id', ids.slice(start, start + together))
    const held = await heldBy(tables, component, writer.holding, rows)
    for (const row of rows) {
      const id = Number(row[0])
      exported.add(id)
      found.set(id, [`"id":${id}`, ...writer.members(row), ...held(id)].join(','))
    }
  }
  return found
}

/** Writes a stored value as JSON. */
function exportedValue({ type }: Scalar, value: RowValue): string {
  if (value === null) return 'null'
  if (value instanceof Uint8Array) return JSON.stringify(Buffer.from(value).toString('utf8'))
  const { family } = attributeTypes[type]
  switch (family) {
    case 'number':
      return numberText(value)
    case 'biginteger':
      return JSON.stringify(wholeText(value))
    case 'boolean':
      return String(!falses.includes(value))
    case 'datetime':
      return type === 'timestamp' ? timestampText(value) : momentText(value)
    case 'json':
      return jsonText(value)
    case 'text':
    case 'date':
    case 'time':
      return JSON.stringify(String(value))
    default:
      return assertNever(family)
  }
}

/** Values that responses show as false. */
const falses: readonly RowValue[] = [0, '0', 'false']

/** A JSON number of any precision; other values remain text. */
function numberText(value: string | number | bigint): string {
  if (typeof value === 'number' && !Number.isFinite(value)) return 'null'
  const text = String(value)
  return typeof value !== 'string' || /^-?(?:0|[1-9]\d*)(?:\.\d+)?$/.test(text) ? text : JSON.stringify(text)
}

/** The digits of an integer. Doubles are written in full, beyond 64 bits, so that they are read as doubles again. */
function wholeText(value: string | number | bigint): string {
  const text = String(value)
  return typeof value === 'number' && Number.isInteger(value) && text.includes('e') ? BigInt(value).toString() : text
}

const lastMoment = 8.64e15

/** A timestamp in ISO format, in milliseconds. A text has a higher precision, or was written by another program. */
function momentText(value: string | number | bigint): string {
  const milliseconds = typeof value === 'string' ? Date.parse(value) : Number(value)
  return JSON.stringify(Math.abs(milliseconds) <= lastMoment ? new Date(milliseconds).toISOString() : String(value))
}

/** Milliseconds as text. Strapi would read those before 1970 as a year, so these become a date. */
function timestampText(value: string | number | bigint): string {
  return typeof value === 'string' || value >= 0 ? JSON.stringify(wholeText(value)) : momentText(value)
}

/** Stored JSON verbatim; a text that is not JSON becomes a string. */
export function jsonText(value: string | number | bigint): string {
  if (typeof value !== 'string') return numberText(value)
  try {
    JSON.parse(value)
  } catch {
    return JSON.stringify(value)
  }
  return compactJson(value)
}

/** JSON without line breaks and spaces; numbers are unchanged. */
const compactJson = (json: string): string =>
  /\s/.test(json) ? json.replace(/("(?:[^"\\]|\\.)*")|\s+/g, (_, text: string | undefined) => text ?? '') : json

/** A relation stored on this side. */
type LinkAttribute = Relation | MorphTo

/** Null: the archive lacks one of the rows. */
type ExportedLink = LinkLine | null

/** Relations that a shape stores and an archive contains. */
export function storedRelations({ attributes }: Schema): readonly LinkAttribute[] {
  return [...attributes.values()].filter((attribute): attribute is LinkAttribute => {
    if (attribute.kind === 'morphTo') return true
    if (attribute.kind !== 'relation' || !isExportable(attribute.target)) return false
    const { storage } = attribute
    return (storage.kind === 'link' && storage.owner) || storage.kind === 'column' || storage.kind === 'localizations'
  })
}

/** The links of one relation of a shape. */
export function exportedLinks(tables: ExportedTables, shape: Schema, relation: LinkAttribute): AsyncGenerator<ExportedLink> {
  if (relation.kind === 'morphTo')
    return relation.storage.kind === 'table'
      ? morphTableLinks(tables, shape, relation, relation.storage)
      : morphColumnLinks(tables, shape, relation, relation.storage)
  const { storage } = relation
  switch (storage.kind) {
    case 'link':
      return linkTableLinks(tables, shape, relation, storage)
    case 'column':
      return columnLinks(tables, shape, relation, storage)
    case 'localizations':
      return localizations(tables, shape, relation)
    case 'inverseColumn':
      throw new Error(`${shape.uid}.${relation.name} is stored on the other side`)
    default:
      return assertNever(storage)
  }
}

/** Selected columns of a table's rows; empty if the database lacks one of them. */
async function* rowsOf(
  { tables, source }: ExportedTables,
  name: string,
  columns: readonly (string | null)[],
): AsyncGenerator<readonly RowValue[]> {
  const table = tables.get(name)
  const wanted = columns.filter((column) => column !== null)
  const there = new Set(table?.columns.map((column) => column.name))
  if (table === undefined || !wanted.every((column) => there.has(column))) return
  const read: RowTable = withColumns(table, ['id', ...wanted])
  for await (const batch of readBatches(source, read))
    for (const [, ...values] of batch) {
      let at = 0
      yield columns.map((column) => (column === null ? null : values[at++]!))
    }
}

const isExported = ({ exported }: ExportedTables, uid: unknown, id: RowValue): boolean =>
  id !== null && exported.get(String(uid))?.has(Number(id)) === true

/** Position from an order column; omitted if null. */
const place = (value: RowValue): { readonly pos?: number } => (value === null ? {} : { pos: Number(value) })

const kindOf = (shape: Schema, { target }: Relation): LinkLine['kind'] => (shape.uid === target ? 'relation.circular' : 'relation.basic')

async function* linkTableLinks(
  tables: ExportedTables,
  shape: Schema,
  relation: Relation,
  storage: Extract<Relation['storage'], { readonly kind: 'link' }>,
): AsyncGenerator<ExportedLink> {
  const { name: field, target, inverse } = relation
  const kind = kindOf(shape, relation)
  const { table, here, there, order, inverseOrder } = storage
  for await (const [owner, row, at, inverseAt] of rowsOf(tables, table, [here, there, order, inverseOrder])) {
    if (!isExported(tables, shape.uid, owner!) || !isExported(tables, target, row!)) yield null
    else
      yield {
        kind,
        relation: relation.relation,
        left: { type: shape.uid, field, ref: Number(owner), ...place(at!) },
        right: { type: target, ...(inverse === null ? {} : { field: inverse }), ref: Number(row), ...place(inverseAt!) },
      }
  }
}

async function* columnLinks(
  tables: ExportedTables,
  shape: Schema,
  relation: Relation,
  { column, references }: Extract<Relation['storage'], { readonly kind: 'column' }>,
): AsyncGenerator<ExportedLink> {
  const { name: field, target, inverse } = relation
  for await (const [owner, row] of rowsOf(tables, shape.table, ['id', column])) {
    if (row === null) continue
    const isById = references === 'id'
    if (!isExported(tables, shape.uid, owner!) || (isById && !isExported(tables, target, row!))) yield null
    else
      yield {
        kind: kindOf(shape, relation),
        relation: relation.relation,
        left: { type: shape.uid, ref: Number(owner), field },
        right: { type: target, ref: isById ? Number(row) : String(row), ...(inverse === null ? {} : { field: inverse }) },
      }
  }
}

/** Every row with its document id: redundant, but written by Strapi. */
async function* localizations(tables: ExportedTables, shape: Schema, relation: Relation): AsyncGenerator<ExportedLink> {
  const type = shape.uid
  for await (const [row, documentId] of rowsOf(tables, shape.table, ['id', 'document_id'])) {
    if (documentId === null || !isExported(tables, type, row!)) continue
    yield {
      kind: 'relation.circular',
      relation: relation.relation,
      left: { type, ref: Number(row), field: relation.name },
      right: { type, ref: String(documentId) },
    }
  }
}

async function* morphTableLinks(
  tables: ExportedTables,
  shape: Schema,
  { name: field }: MorphTo,
  storage: Extract<MorphTo['storage'], { readonly kind: 'table' }>,
): AsyncGenerator<ExportedLink> {
  const { table, here, id, type, order } = storage
  for await (const [owner, row, uid, linked, at] of rowsOf(tables, table, [here, id, type, 'field', order])) {
    if (!isExported(tables, shape.uid, owner!) || !isExported(tables, uid, row!)) yield null
    else
      yield {
        kind: 'relation.morph',
        relation: 'morphToMany',
        left: { type: shape.uid, field, ref: Number(owner) },
        right: { ref: Number(row), ...place(at!), type: String(uid), ...(linked === null ? {} : { field: String(linked) }) },
      }
  }
}

async function* morphColumnLinks(
  tables: ExportedTables,
  shape: Schema,
  { name: field }: MorphTo,
  storage: Extract<MorphTo['storage'], { readonly kind: 'columns' }>,
): AsyncGenerator<ExportedLink> {
  for await (const [owner, row, uid] of rowsOf(tables, shape.table, ['id', storage.id, storage.type])) {
    if (row === null || uid === null) continue
    if (!isExported(tables, shape.uid, owner!) || !isExported(tables, uid, row!)) yield null
    else
      yield {
        kind: 'relation.morph',
        relation: 'morphToOne',
        left: { type: shape.uid, ref: Number(owner), field },
        right: { type: String(uid), ref: Number(row) },
      }
  }
}

/** A set of positive integers. */
export interface IdSet {
  readonly size: number
  has(id: number): boolean
  /** True if the id is new. */
  add(id: number): boolean
}

const wordBits = 32

export function openIdSet(): IdSet {
  const words = new Map<number, number>()
  let size = 0
  const has = (id: number): boolean => (((words.get(Math.floor(id / wordBits)) ?? 0) >>> (id % wordBits)) & 1) === 1
  return {
    get size() {
      return size
    },
    has,
    add: (id) => {
      if (has(id)) return false
      const place = Math.floor(id / wordBits)
      words.set(place, (words.get(place) ?? 0) | (1 << (id % wordBits)))
      size++
      return true
    },
  }
}
