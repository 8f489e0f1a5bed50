// Lines of `links/` as rows of the tables in which a project stores its relations.
import type { CopiedRow, RowTable, RowValue } from '../../database/transfer/rows.js'
import { fileType } from '../../model/schema/link.js'
import { type Attribute, assertNever, type Model, type Schema } from '../../model/schema/types.js'
import { withColumns } from './exported-rows.js'
import type { LinkLine } from './format.js'

/** How the lines of one relation are stored. */
export interface StoredRelation {
  /** Rows that are inserted, or columns of rows that are there. */
  readonly kind: 'insert' | 'update'
  readonly table: RowTable
  /** The type that the relation leads to; null: each line says which. */
  readonly target: string | null
  /** Whether the target is a row id. */
  readonly isById: boolean
  /** The row for a line whose ends have these ids. */
  row(link: LinkLine, left: number, right: RowValue): CopiedRow
}

/** What is to be done with lines of a relation: nothing, or not what they say, with the reason. */
export type ResolvedRelation = StoredRelation | { readonly kind: 'ignore' } | { readonly kind: 'loss'; readonly what: string }

/** Finds where the lines of a relation are stored. */
export type ResolveRelation = (link: LinkLine) => ResolvedRelation

/** Opens the relations of a model, whose tables a database has. */
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

/** Null: it is no relation, or the other side stores it. */
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

/** Whether a relation is shown by its right end: that of a file is part of whatever shows the file. */
export const isHeldByRight = ({ left: { type, field } }: LinkLine): boolean => type === fileType && field === 'related'
