// Converts lines of `entities/` to rows of a content-type and of its components. Notes what the project cannot store.
import {
  type CoercedValue,
  type CopiedRow,
  exactNumber,
  isDecimal,
  type RowReplacement,
  type RowTable,
  type RowValue,
} from '../../database/transfer/rows.js'
import { ConfigError } from '../../foundation/errors/errors.js'
import { fileType } from '../../model/schema/link.js'
import {
  type Attribute,
  assertNever,
  type Component,
  type ContentType,
  type Model,
  type Scalar,
  type Schema,
} from '../../model/schema/types.js'
import { attributeTypes } from '../../model/types/attribute-types.js'
import { type HoldingAttribute, type IdSet, openIdSet, withColumns } from './exported-rows.js'
import { type ArchiveLine, elementsOf, type LinkLine, membersOf } from './format.js'

/** A row of an archive, with its archived id. */
export interface ImportedRow {
  readonly shape: Schema
  readonly id: number
  /** In column order, without the id. */
  readonly values: readonly RowValue[]
  readonly entries: readonly ImportedEntry[]
}

/** A component of a row. `order`: null for a single one. */
interface ImportedEntry {
  readonly field: string
  readonly order: number | null
  readonly row: ImportedRow
}

type NoteLoss = (what: string, example?: string) => void

/** The component of an attribute in the exported project; undefined if unknown. */
type ArchivedComponents = (uid: string, attribute: string) => string | undefined

export interface ArchivedRowReader {
  /** Columns of a shape's rows, id first; null if the database lacks the table. */
  tableOf(shape: Schema): RowTable | null
  /** @throws ConfigError for a line that is not an entity */
  read(type: ContentType, id: number, data: string, line: ArchiveLine, note: NoteLoss): ImportedRow
}

interface ScalarPlace {
  readonly attribute: Scalar
  readonly index: number
  fit(value: RowValue): CoercedValue
}

/** The imported parts of a shape. */
interface ShapePlan {
  readonly table: RowTable
  readonly scalars: ReadonlyMap<string, ScalarPlace>
  readonly holding: ReadonlyMap<string, HoldingAttribute>
}

/** The largest row id that all databases support. */
const largestId = 2_147_483_647

/** Maximum nesting of components. */
const deepest = 50

export function openRowReader(
  model: Model,
  tables: ReadonlyMap<string, RowTable>,
  fitter: RowReplacement['coercion'],
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
    if (members === null) throw new ConfigError(`${line.where}: ${where} has a value that is not a component. Nothing was changed`)
    const component = componentOf(shape, attribute, members, context)
    if (component === null) return []
    const id = idOf(members.get('id'), `${line.where}: a component of ${where}`)
    const row = readRow(component, id, members, { ...context, depth: depth + 1 })
    return [{ field: attribute.name, order: isList ? index + 1 : null, row }]
  })
}

/** The component of an entry; null if the project does not have it there. */
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

function planFor({ attributes }: Schema, table: RowTable, fitter: RowReplacement['coercion']): ShapePlan {
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

/** Maximum length of a value in messages. */
const shownText = 60

function fitted({ uid }: Schema, id: number, { attribute, fit }: ScalarPlace, json: string, { note }: RowImport): RowValue {
  const { value, problem } = importedValue(attribute, json)
  const result = problem === undefined ? fit(value) : { value, problem }
  const shown = attribute.private || attribute.type === 'password' ? '' : `: ${json.slice(0, shownText)}`
  if (result.problem !== undefined) note(`${uid}.${attribute.name}: a value ${result.problem}`, `row ${id}${shown}`)
  return result.value
}

/** Parses a row id. @throws ConfigError if it is invalid */
export function idOf(json: string | undefined, where: string): number {
  const id = json !== undefined && /^\d{1,10}$/.test(json) ? Number(json) : 0
  if (id < 1 || id > largestId) throw new ConfigError(`${where} has no row id, or one that no database has. Nothing was changed`)
  return id
}

/** One kind of loss. */
export interface Loss {
  /** `api::article.article.headline: the project has no such attribute`. */
  readonly what: string
  readonly count: number
  readonly examples: readonly string[]
}

export interface Losses {
  note(what: string, example?: string): void
  readonly list: readonly Loss[]
}

/** Maximum number of examples per kind. */
const shown = 3

/** Maximum number of kinds counted separately. */
const kinds = 1_000

export function openLosses(): Losses {
  const found = new Map<string, { count: number; readonly examples: string[] }>()
  return {
    note: (what, example) => {
      const key = found.has(what) || found.size < kinds ? what : 'others'
      const entry = found.get(key) ?? { count: 0, examples: [] }
      found.set(key, entry)
      entry.count++
      if (example !== undefined && entry.examples.length < shown) entry.examples.push(example)
    },
    get list() {
      return [...found].map(([what, { count, examples }]) => ({ what, count, examples }))
    },
  }
}

const isString = (json: string): boolean => json.startsWith('"')
const isNumber = (json: string): boolean => /^[-\d]/.test(json)

/** The value of a string, or the text of another scalar; null for an object or array. */
function textOf(json: string): string | null {
  if (isString(json)) return JSON.parse(json) as string
  return json.startsWith('{') || json.startsWith('[') ? null : json
}

function importedValue({ type }: Scalar, json: string): CoercedValue {
  if (json === 'null') return { value: null }
  const { family } = attributeTypes[type]
  if (family === 'json') return { value: importedJson(json) }
  const text = textOf(json)
  if (text === null) return { value: null, problem: `is an object or a list, not a value of the type ${type}` }
  switch (family) {
    case 'text':
    case 'date':
    case 'time':
      return { value: text }
    case 'number':
      return isDecimal(text) ? { value: exactNumber(text) ?? text } : { value: null, problem: 'is not a number' }
    case 'biginteger':
      return importedInteger(text)
    case 'boolean':
      return importedBoolean(text)
    case 'datetime':
      return importedMoment(text, type === 'timestamp')
    default:
      return assertNever(family)
  }
}

/** Exact within 64 bits; beyond that the nearest double, as in SQLite. */
function importedInteger(text: string): CoercedValue {
  if (!/^-?\d{1,400}$/.test(text)) return { value: null, problem: 'is not an integer' }
  const integer = BigInt(text)
  if (BigInt.asIntN(64, integer) !== integer) return { value: Number(integer) }
  return { value: Number.isSafeInteger(Number(integer)) ? Number(integer) : integer }
}

function importedBoolean(text: string): CoercedValue {
  if (/^(?:true|1)$/.test(text)) return { value: 1 }
  return /^(?:false|0)$/.test(text) ? { value: 0 } : { value: null, problem: 'is neither true nor false' }
}

/** `isTimestamp`: digits are milliseconds. */
function importedMoment(text: string, isTimestamp: boolean): CoercedValue {
  const isCount = /^-?\d{1,16}$/.test(text)
  const milliseconds = isCount && (isTimestamp || text.length > 8) ? Number(text) : Date.parse(text)
  return Number.isNaN(milliseconds) ? { value: null, problem: 'is not a timestamp' } : { value: milliseconds }
}

/** JSON verbatim; a string is unquoted, unless it is valid JSON itself. */
export function importedJson(json: string): RowValue {
  if (isNumber(json)) return exactNumber(json) ?? json
  if (!isString(json)) return json
  const text = JSON.parse(json) as string
  return isJson(text) ? json : text
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

interface StoredRelation {
  /** Inserts rows, or updates columns of existing rows. */
  readonly kind: 'insert' | 'update'
  readonly table: RowTable
  /** Target type; null: stated by each line. */
  readonly target: string | null
  readonly isById: boolean
  /** The row for a line whose ends have these ids. */
  row(link: LinkLine, left: number, right: RowValue): CopiedRow
}

/** How lines of a relation are imported: stored, ignored, or lost, with the reason. */
type ResolvedRelation = StoredRelation | { readonly kind: 'ignore' } | { readonly kind: 'loss'; readonly what: string }

export type ResolveRelation = (link: LinkLine) => ResolvedRelation

/** Relations of a model whose tables exist. */
export function openRelations(model: Model, tables: ReadonlyMap<string, RowTable>): ResolveRelation {
  const known = new Map<string, ResolvedRelation>()
  return ({ left: { type, field } }) => {
    const key = `${type} ${field}`
    const resolved = known.get(key) ?? resolve(model, tables, type, field)
    known.set(key, resolved)
    return resolved
  }
}

function resolve(model: Model, tables: ReadonlyMap<string, RowTable>, type: string, field: string): ResolvedRelation {
  const shape = model.types.get(type) ?? model.components.get(type)
  const attribute = shape?.attributes.get(field)
  if (shape === undefined || attribute === undefined) return loss(`${type}.${field}: the project has no such relation`)
  if (attribute.kind === 'relation' && attribute.storage.kind === 'localizations') return { kind: 'ignore' }
  const stored = storedIn(shape, attribute, tables)
  return stored ?? loss(`${type}.${field}: the project stores no relation there`)
}

const loss = (what: string): ResolvedRelation => ({ kind: 'loss', what: what.slice(0, 300) })

/** Null if the attribute is not a relation, or stored on the other side. */
function storedIn(shape: Schema, attribute: Attribute, tables: ReadonlyMap<string, RowTable>): StoredRelation | null {
  const columnsOf = (name: string, columns: readonly string[]): RowTable | null => {
    const table = tables.get(name)
    return table !== undefined && columns.every((column) => table.columns.some((each) => each.name === column))
      ? withColumns(table, columns)
      : null
  }
  if (attribute.kind === 'morphTo') return storedMorph(shape, attribute.storage, columnsOf)
  if (attribute.kind !== 'relation') return null
  const { storage, target } = attribute
  switch (storage.kind) {
    case 'link': {
      const { here, there, order, inverseOrder } = storage
      const table = columnsOf(
        storage.table,
        [here, there, order, inverseOrder].filter((column) => column !== null),
      )
      if (!storage.owner || table === null) return null
      const places = ({ left, right }: LinkLine) => [
        ...(order === null ? [] : [left.pos ?? null]),
        ...(inverseOrder === null ? [] : [right.pos ?? null]),
      ]
      return { kind: 'insert', table, target, isById: true, row: (link, left, right) => [left, right, ...places(link)] }
    }
    case 'column': {
      const table = columnsOf(shape.table, ['id', storage.column])
      return table === null
        ? null
        : { kind: 'update', table, target, isById: storage.references === 'id', row: (_, left, right) => [left, right] }
    }
    case 'inverseColumn':
    case 'localizations':
      return null
    default:
      return assertNever(storage)
  }
}

function storedMorph(
  shape: Schema,
  storage: Extract<Attribute, { readonly kind: 'morphTo' }>['storage'],
  columnsOf: (name: string, columns: readonly string[]) => RowTable | null,
): StoredRelation | null {
  if (storage.kind === 'columns') {
    const table = columnsOf(shape.table, ['id', storage.id, storage.type])
    return table === null
      ? null
      : { kind: 'update', table, target: null, isById: true, row: ({ right }, left, id) => [left, id, right.type] }
  }
  const { here, id, type, order } = storage
  const table = columnsOf(storage.table, [here, id, type, 'field', order])
  const row: StoredRelation['row'] = ({ right }, left, target) => [left, target, right.type, right.field ?? null, right.pos ?? null]
  return table === null ? null : { kind: 'insert', table, target: null, isById: true, row }
}

/** True if the right end owns the relation: that of a file belongs to the row that shows it. */
export const isHeldByRight = ({ left: { type, field } }: LinkLine): boolean => type === fileType && field === 'related'

export interface RowIds {
  /** Assigns an id to the next row with the id `archived`. */
  assign(uid: string, archived: number): number
  /** The id assigned to a row; the first one if several rows share the archived id. */
  of(uid: string, archived: number): number
}

/** Known ids of a type or component. */
interface KnownIds {
  /** Largest id in the archive. */
  largest(uid: string): number
  /** Last id that the database assigned. */
  last(uid: string): number
  /** True if an existing row has this id, or a former row that must not be confused with a new one. */
  isTaken(uid: string, id: number): boolean
}

export function openRowIds({ largest, last, isTaken }: KnownIds): RowIds {
  const assigned = new Map<string, IdSet>()
  const others = new Map<string, Map<number, number>>()
  const next = new Map<string, number>()

  function another(uid: string): number {
    const id = next.get(uid) ?? Math.max(largest(uid), last(uid)) + 1
    next.set(uid, id + 1)
    return id
  }

  return {
    assign: (uid, archived) => {
      const known = assigned.get(uid) ?? openIdSet()
      assigned.set(uid, known)
      const isFirst = known.add(archived)
      if (isFirst && !isTaken(uid, archived)) return archived
      const id = another(uid)
      if (isFirst) {
        const map = others.get(uid) ?? new Map<number, number>()
        others.set(uid, map)
        map.set(archived, id)
      }
      return id
    },
    of: (uid, archived) => others.get(uid)?.get(archived) ?? archived,
  }
}
