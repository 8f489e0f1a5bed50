// Changes of columns in the tables of types and components: scalars, relations without a table, polymorphic columns.
import type { Attribute } from '../schema/types.js'
import type { AttributePair, ModelPairs, SchemaPair } from './comparison.js'
import { archivedWithin, attributePath, type ModelComparison, mergeFindings, nothing, type PlanFindings, planned } from './comparison.js'
import { type Conversion, getConversion, isLossless, isShortening, unconvertibleValues } from './conversions.js'
import { countText, id, joinedText, sqlText } from './sql-text.js'
import type { MovedColumn } from './steps.js'
import { changeTable } from './table-changes.js'

/** The columns of the table that an attribute has. */
export function attributeColumns(attribute: Attribute): readonly string[] {
  if (attribute.kind === 'scalar') return [attribute.column]
  if (attribute.kind === 'relation') return attribute.storage.kind === 'column' ? [attribute.storage.column] : []
  if (attribute.kind === 'morphTo') return attribute.storage.kind === 'columns' ? [attribute.storage.id, attribute.storage.type] : []
  return []
}

/** True if both attributes share columns. */
function sharesColumns({ from, to }: AttributePair, uidIn: (uid: string) => string | undefined): boolean {
  if (from.kind !== to.kind || attributeColumns(from).length === 0 || attributeColumns(from).length !== attributeColumns(to).length)
    return false
  return from.kind !== 'relation' || to.kind !== 'relation' || uidIn(from.target) === to.target
}

/** The columns of attributes that both have, in both tables. */
export const movedColumns = (pairs: ModelPairs, pair: SchemaPair): readonly MovedColumn[] =>
  pairs
    .attributes(pair)
    .filter((each) => sharesColumns(each, pairs.uidIn))
    .flatMap(({ from, to }) => attributeColumns(from).map((column, index) => ({ from: column, to: attributeColumns(to)[index]! })))

/** Compares the tables of a type or component that both models have. */
export function compareColumns(comparison: ModelComparison, pair: SchemaPair): PlanFindings {
  const { pairs, kept, tableBefore, tableAfter } = comparison
  const going = pairs.attributes(pair).filter((each) => sharesColumns(each, pairs.uidIn))
  const own = movedColumns(pairs, pair)
  const [from, to] = [tableBefore(pair.from.table), tableAfter(pair.to.table)]
  const named = new Set(from.columns.map(({ name }) => name))
  const system = systemColumns(pair).filter((column) => named.has(column))
  const columns: readonly MovedColumn[] = [...system.map((column) => ({ from: column, to: column })), ...own]
  const conversions = going.map((each) => convert(comparison, pair, each))
  const converted = new Set(conversions.flatMap(({ column }) => (column === null ? [] : [column])))
  const survivors = new Set(going.map((each) => each.from))
  const lost = [...pairs.removedAttributes(pair), ...pairs.attributes(pair).map((each) => each.from)]
    .filter((attribute) => attributeColumns(attribute).length > 0 && !survivors.has(attribute))
    .map((attribute) => loseColumns(comparison, pair, attribute))
  return mergeFindings([
    { ...nothing, steps: changeTable({ from, to, columns, converted }, kept) },
    ...conversions.map(({ findings }) => findings),
    ...lost,
  ])
}

/** The columns that both tables have without an attribute of the file. */
function systemColumns({ from, to }: SchemaPair): readonly string[] {
  const of = (schema: typeof from) => {
    const own = new Set(Object.keys(schema.source.attributes))
    return [...schema.attributes.values()]
      .filter(({ name, kind, ...rest }) => (kind === 'scalar' && (rest as { system?: boolean }).system === true) || !own.has(name))
      .flatMap(attributeColumns)
  }
  const there = new Set(of(to))
  return of(from).filter((column) => there.has(column))
}

function loseColumns({ kept }: ModelComparison, { from, to }: SchemaPair, attribute: Attribute): PlanFindings {
  const columns = attributeColumns(attribute)
  const present = columns.map((column) => sqlText`${id(column)} is not null`)
  return {
    ...nothing,
    losses: [
      {
        name: attributePath(from, attribute.name),
        about: `The values of ${attribute.name} of ${from.uid} are archived; the API no longer returns them.`,
        count: countText(from.table, joinedText(present, ' or ')),
        kept: columns.map((column) => ({
          ...archivedWithin(kept, 'column', to.table, column),
          ...(attribute.kind === 'scalar' ? { type: attribute.type } : {}),
        })),
      },
    ],
  }
}

/** The step, losses and conditions of a changed scalar type. */
function convert(comparison: ModelComparison, pair: SchemaPair, { from, to }: AttributePair) {
  if (from.kind !== 'scalar' || to.kind !== 'scalar' || from.type === to.type) return { column: null, findings: nothing }
  const conversion = getConversion(from.type, to.type, comparison.spans)
  const same = conversion.rule === 'same' && isLossless(conversion)
  if (same) return { column: null, findings: nothing }
  const as = comparison.kept.of(from.column)
  const column = comparison.tableAfter(pair.to.table).columns.find(({ name }) => name === to.column)!
  const step = planned('create', isLossless(conversion) ? 'slow' : 'losesData', {
    kind: 'convertColumn',
    table: pair.to.table,
    column,
    former: comparison.tableBefore(pair.from.table).columns.find(({ name }) => name === from.column)!,
    as,
    conversion,
  })
  return { column: to.column, findings: { ...nothing, steps: [step], ...notConverted(comparison, pair, { from, to }, conversion) } }
}

const shownLimit = (limit: number | string): string => (typeof limit === 'number' ? new Date(limit).toISOString() : limit)

function notConverted({ kept }: ModelComparison, pair: SchemaPair, { from, to }: AttributePair, conversion: Conversion) {
  const found = from.kind === 'scalar' && to.kind === 'scalar' ? unconvertibleValues(conversion, from.column) : null
  if (found === null || from.kind !== 'scalar' || to.kind !== 'scalar') return { losses: [], conditions: [] }
  const name = attributePath(pair.from, from.name)
  const count = countText(pair.from.table, found.where)
  const values = `Values of ${from.name} of ${pair.from.uid}`
  const [first, last] = conversion.within ?? []
  const limits = first === undefined ? '' : `, or not between ${shownLimit(first)} and ${shownLimit(last!)} as its column in this database,`
  const about = isShortening(conversion)
    ? `${values} lose data that the type ${to.type} cannot store; the originals are archived.`
    : `${values} that are not of the type ${to.type}${limits} become null and are archived.`
  return {
    losses: [
      {
        name,
        about,
        count,
        converted: { table: pair.from.table, column: from.column, conversion, isCounted: found.exact },
        kept: [{ ...archivedWithin(kept, 'column', pair.to.table, from.column), name: to.column, type: from.type }],
      },
    ],
    conditions: [{ name: `${name}:type`, kind: 'type' as const, about, count, exact: found.exact }],
  }
}
