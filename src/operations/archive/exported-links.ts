// Rows of relations as the lines of `links/`. A relation is written from the side that stores it; its ends are row ids.
import { batchesOf } from '../../database/transfer/row-batches.js'
import type { RowTable, RowValue } from '../../database/transfer/rows.js'
import { assertNever, type MorphTo, type Relation, type Schema } from '../../model/schema/types.js'
import { type ExportedTables, withColumns } from './exported-rows.js'
import type { LinkLine } from './format.js'
import { isExportable } from './scope.js'

/** A relation that is written from this side. */
type LinkAttribute = Relation | MorphTo

/** A link, or null for one that leads from or to a row that the archive does not have. */
export type ExportedLink = LinkLine | null

/** The relations that a shape stores and an archive has. */
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

/** The rows of a table, as lists of some columns; none if the database lacks one of these. */
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
  for await (const batch of batchesOf(source, read))
    for (const [, ...values] of batch) {
      let at = 0
      yield columns.map((column) => (column === null ? null : values[at++]!))
    }
}

const isExported = ({ exported }: ExportedTables, uid: unknown, id: RowValue): boolean =>
  id !== null && exported.get(String(uid))?.has(Number(id)) === true

/** Values of order columns; a missing one is left out. */
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

/** Every row and its document id: no information, but Strapi writes them. */
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
