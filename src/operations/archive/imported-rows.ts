// Lines of `entities/` as rows: one of a content-type, and those of the components in it. What the project has no place for is noted.
import type { Fitted, RowReplacement, RowTable, RowValue } from '../../database/transfer/rows.js'
import { ConfigError } from '../../foundation/errors/errors.js'
import type { Component, ContentType, Model, Scalar, Schema } from '../../model/schema/types.js'
import { type HoldingAttribute, withColumns } from './exported-rows.js'
import { importedValue } from './imported-values.js'
import { elementsOf, membersOf } from './json-parts.js'
import type { ArchiveLine } from './lines.js'

/** A row of an archive, with its id there. */
export interface ImportedRow {
  readonly shape: Schema
  readonly id: number
  /** In the order of the shape's columns, without the id. */
  readonly values: readonly RowValue[]
  readonly entries: readonly ImportedEntry[]
}

/** A component of a row. `order`: null for a single one. */
export interface ImportedEntry {
  readonly field: string
  readonly order: number | null
  readonly row: ImportedRow
}

/** Is told of what is lost, where. */
export type NoteLoss = (what: string, example?: string) => void

/** Which component a single or repeatable attribute had where the archive was made; undefined: that is not known. */
export type ArchivedComponents = (uid: string, attribute: string) => string | undefined

/** Reads rows for the tables of a database. */
export interface ArchivedRowReader {
  /** The columns of a shape's rows, the id first; null: the database has no such table. */
  tableOf(shape: Schema): RowTable | null
  /** A row of a content-type. @throws ConfigError for what is no entity at all */
  read(type: ContentType, id: number, data: string, line: ArchiveLine, note: NoteLoss): ImportedRow
}

interface ScalarPlace {
  readonly attribute: Scalar
  readonly index: number
  fit(value: RowValue): Fitted
}

/** What of a shape is read. */
interface ShapePlan {
  readonly table: RowTable
  readonly scalars: ReadonlyMap<string, ScalarPlace>
  readonly holding: ReadonlyMap<string, HoldingAttribute>
}

/** The largest row id of every database. */
export const largestId = 2_147_483_647

/** Components inside of components, at most. */
const deepest = 50

/** Opens a reader for the tables of a database. */
export function openRowReader(
  model: Model,
  tables: ReadonlyMap<string, RowTable>,
  fitter: RowReplacement['fitter'],
  archived: ArchivedComponents,
): ArchivedRowReader {
  const plans = new Map<Schema, ShapePlan | null>()
  const planOf = (shape: Schema): ShapePlan | null => {
    const known = plans.get(shape)
    if (known !== undefined) return known
    const table = tables.get(shape.table)
    const plan = table === undefined ? null : planFor(shape, table, fitter)
    plans.set(shape, plan)
    return plan
  }
  return {
    tableOf: (shape) => planOf(shape)?.table ?? null,
    read: (type, id, data, line, note) => {
      const members = membersOf(data)
      const documentId = members?.get('documentId')
      if (members === null || documentId === undefined || !/^"[^"\\]{1,255}"$/.test(documentId))
        throw new ConfigError(`${line.where}: the entity has no documentId. Nothing was changed`)
      return readRow(type, id, members, { model, planOf, archived, line, note, depth: 0 })
    },
  }
}

/** What a row is read in. */
interface RowImport {
  readonly model: Model
  planOf(shape: Schema): ShapePlan | null
  readonly archived: ArchivedComponents
  readonly line: ArchiveLine
  readonly note: NoteLoss
  readonly depth: number
}

function readRow(shape: Schema, id: number, members: ReadonlyMap<string, string>, context: RowImport): ImportedRow {
  const { table, scalars, holding } = context.planOf(shape)!
  const values: RowValue[] = table.columns.slice(1).map(() => null)
  const entries: ImportedEntry[] = []
  for (const [name, json] of members) {
    const scalar = scalars.get(name)
    const held = holding.get(name)
    if (scalar !== undefined) values[scalar.index] = fitted(shape, id, scalar, json, context)
    else if (held !== undefined) entries.push(...entriesOf(shape, held, json, context))
    else if (json !== 'null' && json !== '[]' && name !== 'id' && name !== '__component')
      context.note(`${shape.uid}.${name}: the project has no such attribute`, `row ${id}`)
  }
  return { shape, id, values, entries }
}

function entriesOf(shape: Schema, attribute: HoldingAttribute, json: string, context: RowImport): readonly ImportedEntry[] {
  const { line, depth, note } = context
  if (json === 'null') return []
  if (depth > deepest) throw new ConfigError(`${line.where}: components are nested too deeply. Nothing was changed`)
  const where = `${shape.uid}.${attribute.name}`
  const list = elementsOf(json) ?? [json]
  const isList = attribute.kind === 'dynamiczone' || attribute.repeatable
  if (!isList && list.length > 1) note(`${where}: the project has one component there, not a list`, `${list.length - 1} more`)
  return (isList ? list : list.slice(0, 1)).flatMap((element, index) => {
    const members = membersOf(element)
    if (members === null) throw new ConfigError(`${line.where}: ${where} has something that is no component. Nothing was changed`)
    const component = componentOf(shape, attribute, members, context)
    if (component === null) return []
    const id = idOf(members.get('id'), `${line.where}: a component of ${where}`)
    const row = readRow(component, id, members, { ...context, depth: depth + 1 })
    return [{ field: attribute.name, order: isList ? index + 1 : null, row }]
  })
}

/** The component of an entry; null: the project does not have it there. */
function componentOf(
  shape: Schema,
  attribute: HoldingAttribute,
  members: ReadonlyMap<string, string>,
  { model, planOf, archived, note }: RowImport,
): Component | null {
  const isZone = attribute.kind === 'dynamiczone'
  const said = isZone ? (JSON.parse(members.get('__component') ?? 'null') as unknown) : archived(shape.uid, attribute.name)
  const uid = isZone || said !== undefined ? String(said) : attribute.component
  const component = model.components.get(uid)
  const isAllowed = isZone ? attribute.components.includes(uid) : attribute.component === uid
  if (component !== undefined && isAllowed && planOf(component) !== null) return component
  note(`${shape.uid}.${attribute.name}: the project has no component ${uid.slice(0, 100)} there`)
  return null
}

function planFor({ attributes }: Schema, table: RowTable, fitter: RowReplacement['fitter']): ShapePlan {
  const there = new Set(table.columns.map(({ name }) => name))
  const all = [...attributes.values()]
  const kept = all.filter((one): one is Scalar => one.kind === 'scalar' && one.name !== 'id' && there.has(one.column))
  const read = withColumns(table, ['id', ...new Set(kept.map(({ column }) => column))])
  return {
    table: read,
    scalars: new Map(
      kept.map((attribute) => {
        const place = read.columns.findIndex(({ name }) => name === attribute.column)
        return [attribute.name, { attribute, index: place - 1, fit: fitter(read.columns[place]!) }]
      }),
    ),
    holding: new Map(
      all.filter((one): one is HoldingAttribute => one.kind === 'component' || one.kind === 'dynamiczone').map((one) => [one.name, one]),
    ),
  }
}

/** Characters of a value that are shown. */
const shownText = 60

function fitted({ uid }: Schema, id: number, { attribute, fit }: ScalarPlace, json: string, { note }: RowImport): RowValue {
  const { value, problem } = importedValue(attribute, json)
  const result = problem === undefined ? fit(value) : { value, problem }
  const shown = attribute.private || attribute.type === 'password' ? '' : `: ${json.slice(0, shownText)}`
  if (result.problem !== undefined) note(`${uid}.${attribute.name}: a value ${result.problem}`, `row ${id}${shown}`)
  return result.value
}

/** Reads a row id. @throws ConfigError if the text is none */
export function idOf(json: string | undefined, where: string): number {
  const id = json !== undefined && /^\d{1,10}$/.test(json) ? Number(json) : 0
  if (id < 1 || id > largestId) throw new ConfigError(`${where} has no row id, or one that no database has. Nothing was changed`)
  return id
}
