// Rows of a content-type or component as the JSON objects of `entities/`: columns first, then the components, whose rows are read with them.
import { batchesOf } from '../../database/transfer/row-batches.js'
import type { CopiedRow, RowSource, RowTable, RowValue } from '../../database/transfer/rows.js'
import type { Attribute, ComponentAttribute, ContentType, DynamicZone, Model, Scalar, Schema } from '../../model/schema/types.js'
import { exportedValue } from './exported-values.js'
import { type IdSet, openIdSet } from './id-set.js'

/** An attribute that holds entries of components. */
export type HoldingAttribute = ComponentAttribute | DynamicZone

/** The tables of a database, and which rows of them have been exported. */
export interface ExportedTables {
  readonly source: RowSource
  readonly model: Model
  /** Tables by name; those that the database lacks are missing. */
  readonly tables: ReadonlyMap<string, RowTable>
  /** The ids of exported rows by the uid of their type or component. */
  readonly exported: ReadonlyMap<string, IdSet>
}

/** Reads the tables of a database. */
export async function openExportedTables(source: RowSource, model: Model): Promise<ExportedTables> {
  const tables = new Map((await source.tables()).map((table) => [table.name, table]))
  const exported = new Map([...model.types.keys(), ...model.components.keys()].map((uid) => [uid, openIdSet()]))
  return { source, model, tables, exported }
}

/** A table with some of its columns. */
export const withColumns = (table: RowTable, names: readonly string[]): RowTable => ({
  ...table,
  columns: names.map((name) => table.columns.find((column) => column.name === name)!),
})

/** How the rows of a shape become JSON. */
interface RowWriter {
  readonly table: RowTable
  readonly holding: readonly HoldingAttribute[]
  /** The members of the object that come from columns: `"title":"Hello"`. */
  members(row: CopiedRow): readonly string[]
}

const isHolding = (attribute: Attribute): attribute is HoldingAttribute =>
  attribute.kind === 'component' || attribute.kind === 'dynamiczone'

/** Zones come last. */
const inStrapisOrder = (holding: readonly HoldingAttribute[]): readonly HoldingAttribute[] => [
  ...holding.filter(({ kind }) => kind === 'component'),
  ...holding.filter(({ kind }) => kind === 'dynamiczone'),
]

/** The columns of a shape in the order of its attributes; the database may lack some of them. */
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

/** Rows whose components are read together. */
const together = 500

/** An exported row: its id, and its object without the id. */
export interface ExportedRow {
  readonly id: number
  readonly text: string
}

/** The rows of a content-type, in the order of their ids. */
export async function* exportedRows(tables: ExportedTables, type: ContentType): AsyncGenerator<ExportedRow> {
  const table = tables.tables.get(type.table)
  if (table === undefined) return
  const writer = rowWriter(type, table)
  const ids = tables.exported.get(type.uid)!
  for await (const batch of batchesOf(tables.source, writer.table)) {
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

/** An entry of a component attribute or zone. */
interface ExportedEntry {
  readonly component: string
  readonly row: number
}

/** Reads the components of rows. Returns the members of an object for each of them. */
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

/** The entries of rows in their order, by owner and attribute: those that the model knows. */
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

/** The members of component rows, their ids first, by these. */
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
