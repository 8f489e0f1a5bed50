// Restores archived content: of a whole change that is undone, or of one attribute by its name.
import { allSchemas, ownedLinks, ownedMorphs } from '../schema/graph.js'
import type { Attribute, Model, Schema } from '../schema/types.js'
import type { Column, Table } from '../tables/table.js'
import { describeTables } from '../tables/tables.js'
import { attributeTypes } from '../types/attribute-types.js'
import { movedColumns } from './columns.js'
import { archiveNames, type ModelPairs } from './comparison.js'
import { type ColumnSpans, getConversion } from './conversions.js'
import { componentUids, entryColumns } from './entries.js'
import { filesTable } from './polymorphic.js'
import { id, joinedText, listText, type SqlText, sqlText } from './sql-text.js'
import type { PlanStep } from './steps.js'
import type { ArchivedContent } from './types.js'

/** Archived content of the last change, with its names in the model before that change; `pairs` lead back to that model. */
export function formerPlace(place: ArchivedContent, pairs: ModelPairs): ArchivedContent {
  // Tables and rows are named by the older model already.
  const pair = pairs.schemas.find(({ from }) => from.table === place.table || from.componentTable === place.table)
  if ((place.kind !== 'column' && place.kind !== 'field') || pair === undefined) return place
  const table = pair.from.table === place.table ? pair.to.table : pair.to.componentTable!
  const column = place.conversion === undefined ? undefined : movedColumns(pairs, pair).find(({ from }) => from === place.name)
  return { ...place, table, name: column?.to ?? place.name }
}

/**
 * Adds the restoration of archived content to the steps of a plan, for a model with tables and columns of the same names and types.
 * `before`: see `ModelPlan.restoreBefore`. Rows keep their ids, so that links, components and files match. Newer values are not replaced.
 * @throws Error if the model lacks its table or column
 */
export function withRestoration(
  steps: readonly PlanStep[],
  before: PlanStep | null,
  model: Model,
  kept: readonly ArchivedContent[],
): readonly PlanStep[] {
  const tables = new Map(describeTables(model).map((table) => [table.name, table]))
  const own = new Set(allSchemas(model).map(({ table }) => table))
  // Referenced rows first.
  const inOrder = [...kept.filter(({ table }) => own.has(table)), ...kept.filter(({ table }) => !own.has(table))]
  const back = inOrder.flatMap((place) => restore(place, tables.get(place.table), model))
  const restoring = steps.map((step) => restoringValues(step, kept))
  const at = before === null ? steps.length : steps.indexOf(before)
  const all = [...restoring.slice(0, at), ...back, ...restoring.slice(at)]
  // Drops cannot be undone.
  return [...all.filter(({ kind }) => kind !== 'dropTable'), ...all.filter(({ kind }) => kind === 'dropTable')]
}

/** A conversion back gives the values that an earlier one led from. */
function restoringValues(step: PlanStep, kept: readonly ArchivedContent[]): PlanStep {
  if (step.kind !== 'convertColumn') return step
  const place = kept.find(({ kind, table, name }) => kind === 'column' && table === step.table && name === step.column.name)
  return place?.conversion === undefined ? step : { ...step, restores: { from: place.as, conversion: place.conversion } }
}

function restore({ kind, table: name, name: what, as }: ArchivedContent, table: Table | undefined, model: Model): readonly PlanStep[] {
  const isRows = kind === 'table' || kind === 'rows'
  const column = kind === 'field' ? 'field' : what
  if (table === undefined || !(isRows || table.columns.some((each) => each.name === column)))
    throw new Error(`The model cannot restore ${as}: ${name}${kind === 'column' ? `.${what}` : ''} is missing`)
  switch (kind) {
    case 'table':
    case 'rows':
      return restoreRows(kind, as, table, model)
    case 'field':
      return [
        ...(name === filesTable.name ? ownerless(what, as, model) : []),
        ...positionsIn(model, name).map((positions) => fieldBehind(name, positions, as, what)),
        setValues(name, column, sqlText`${what}`, sqlText`${id('field')} = ${as}`),
      ]
    case 'column':
      return [fillColumn(name, what, as)]
    case 'values': {
      const former = sqlText`(select former.${id(what)} from ${id(as)} as former where former.id = ${id(name)}.id)`
      return [setValues(name, column, former, sqlText`${id(what)} is null`)]
    }
  }
}

const setValues = (table: string, column: string, value: SqlText, where: SqlText): PlanStep => ({
  kind: 'setValues',
  table,
  column,
  value,
  where,
  risk: 'slow',
})

const fillColumn = (table: string, column: string, from: string): PlanStep =>
  setValues(table, column, sqlText`${id(from)}`, sqlText`${id(column)} is null and ${id(from)} is not null`)

function restoreRows(kind: 'table' | 'rows', as: string, table: Table, model: Model): readonly PlanStep[] {
  const { name } = table
  const columns = table.columns.map((column) => ({ from: column.name, to: column.name }))
  // Redirected links point to the restored rows again.
  const passedOn: PlanStep = { kind: 'deleteRows', table: name, where: sqlText`id in (select id from ${id(as)})`, risk: 'safe' }
  return [
    ...dangling(table, as),
    ...(kind === 'rows' ? [passedOn] : []),
    ...positionsIn(model, name).map((each) => appendMoved(as, name, each)),
    { kind: 'moveRows', from: as, to: name, columns, withKept: true, risk: 'slow' },
    { kind: 'dropTable', table: as, risk: 'safe' },
  ]
}

/** Skips rows whose target was deleted since; rows of other kinds have no targets then. */
const dangling = ({ foreignKeys }: Table, as: string): readonly PlanStep[] =>
  foreignKeys.map(({ columns, references, onDelete }) => {
    const column = columns[0]!
    const target = references.columns[0]!
    const where = sqlText`${id(column)} is not null and ${id(column)} not in (select ${id(target)} from ${id(references.table)})`
    if (onDelete === 'CASCADE') return { kind: 'deleteRows', table: as, where, risk: 'safe' }
    return { kind: 'setValues', table: as, column, value: null, where, risk: 'safe' }
  })

/** Skips links of files whose row was deleted since. */
const ownerless = (attribute: string, as: string, model: Model): readonly PlanStep[] =>
  allSchemas(model)
    .filter((schema) => schema.attributes.get(attribute)?.kind === 'media')
    .map(({ uid, table }) => ({
      kind: 'deleteRows',
      table: filesTable.name,
      risk: 'safe',
      where: sqlText`field = ${as} and ${id(filesTable.type)} = ${uid} and related_id not in (select id from ${id(table)})`,
    }))

/** A position column, numbered among rows with equal values in other columns. */
interface Positions {
  readonly order: string
  readonly among: readonly string[]
}

/** The positions in a table. */
function positionsIn(model: Model, table: string): readonly Positions[] {
  if (table === filesTable.name) return [{ order: 'order', among: ['related_id', filesTable.type, filesTable.field] }]
  if (allSchemas(model).some(({ componentTable }) => componentTable === table)) return [{ order: 'order', among: ['entity_id', 'field'] }]
  const link = ownedLinks(model).find(({ storage }) => storage.table === table)?.storage
  if (link !== undefined) return link.order === null ? [] : [{ order: link.order, among: [link.here] }]
  return ownedMorphs(model).flatMap(({ storage }) =>
    storage.kind === 'table' && storage.table === table ? [{ order: storage.order, among: [storage.here, 'field'] }] : [],
  )
}

const sameIn = (columns: readonly string[], one: SqlText, other: SqlText): SqlText =>
  joinedText(
    columns.map((column) => sqlText`${one}.${id(column)} = ${other}.${id(column)}`),
    ' and ',
  )

/** Numbers rows that come back from another table after present ones, where both have the same position. */
function appendMoved(from: string, to: string, { order, among }: Positions): PlanStep {
  const place = id(order)
  const last = sqlText`(select max(present.${place}) from ${id(to)} as present where ${sameIn(among, sqlText`present`, sqlText`${id(from)}`)})`
  const meets = sqlText`exists (select 1 from ${id(from)} as other join ${id(to)} as present on ${sameIn(among, sqlText`present`, sqlText`other`)}
    and present.${place} = other.${place} where ${sameIn(among, sqlText`other`, sqlText`coming`)})`
  const where = sqlText`id in (select id from (select coming.id as id from ${id(from)} as coming where ${meets}) as coming)`
  return setValues(from, order, sqlText`${place} + ${last}`, where)
}

/** The same for rows that come back within their table, as `field` gets another value. */
function fieldBehind(table: string, { order, among }: Positions, from: string, to: string): PlanStep {
  const place = id(order)
  const others = among.filter((column) => column !== 'field')
  const columns = joinedText(
    others.map((column) => sqlText`${id(column)}`),
    ', ',
  )
  const meets = sqlText`exists (select 1 from ${id(table)} as other join ${id(table)} as present on ${sameIn(others, sqlText`present`, sqlText`other`)}
    and present.field = ${to} and present.${place} = other.${place} where other.field = ${from} and ${sameIn(others, sqlText`other`, sqlText`coming`)})`
  const ends = sqlText`(select ${columns}, max(${place}) as last from ${id(table)} where field = ${to} group by ${columns})`
  return setValues(
    table,
    order,
    sqlText`${place} + (select ends.last from ${ends} as ends where ${sameIn(others, sqlText`ends`, sqlText`${id(table)}`)})`,
    sqlText`id in (select id from (select coming.id as id from ${id(table)} as coming where coming.field = ${from} and ${meets}) as coming)`,
  )
}

/** The attribute of a model whose archived values are restored, and the number of the change that restores them. */
interface AttributeToRestore {
  readonly model: Model
  readonly schema: Schema
  readonly attribute: Attribute
  readonly number: number
  readonly spans: ColumnSpans
}

/** The table and the name under which values of an attribute are archived; null: its values are rows of tables between others. */
export function archiveLocation(schema: Schema, attribute: Attribute): Pick<ArchivedContent, 'kind' | 'table' | 'name'> | null {
  switch (attribute.kind) {
    case 'scalar':
      return { kind: 'column', table: schema.table, name: attribute.column }
    case 'media':
      return { kind: 'field', table: filesTable.name, name: attribute.name }
    case 'component':
    case 'dynamiczone':
      return { kind: 'field', table: schema.componentTable!, name: attribute.name }
    default:
      return null
  }
}

/**
 * The steps that give an attribute its archived values where it has none, the latest archive first.
 * @throws Error if the values of an archive do not convert
 */
export function restoreAttribute(restoring: AttributeToRestore, archives: readonly ArchivedContent[]): readonly PlanStep[] {
  const { schema, attribute } = restoring
  const { table, name } = archiveLocation(schema, attribute)!
  if (attribute.kind === 'scalar') return archives.flatMap((archive, index) => restoreColumn(restoring, archive, index))
  const isFile = table === filesTable.name
  const owner = id(isFile ? 'related_id' : 'entity_id')
  const own = isFile
    ? sqlText`${id(filesTable.type)} = ${schema.uid}`
    : sqlText`${id('component_type')} in (${listText(componentUids(attribute))})`
  const present = sqlText`select ${owner} from ${id(table)} where ${id('field')} = ${name} and ${own} and ${owner} is not null`
  const isLacking = sqlText`${own} and ${owner} not in (select ${owner} from (${present}) as present)`
  return archives.map(({ kind, as }): PlanStep => {
    if (kind === 'field') return setValues(table, 'field', sqlText`${name}`, sqlText`${id('field')} = ${as} and ${isLacking}`)
    const columns = entryColumns.filter(({ from }) => from !== 'id')
    const where = sqlText`${id('field')} = ${name} and ${isLacking} and ${owner} in (select id from ${id(schema.table)})`
    return { kind: 'moveRows', from: as, to: table, columns, where, risk: 'slow' }
  })
}

function restoreColumn({ model, schema, attribute, number, spans }: AttributeToRestore, archive: ArchivedContent, index: number) {
  const { type = archive.conversion?.from, as } = archive
  if (type === undefined || attribute.kind !== 'scalar') return []
  const { table, column: name } = { table: schema.table, column: attribute.column }
  const conversion = getConversion(type, attribute.type, spans)
  const declared = attributeTypes[type].column
  if (conversion.rule === 'none') throw new Error(`Archived values of the type ${type} do not become values of the type ${attribute.type}`)
  if (conversion.rule === 'same' && declared === attributeTypes[attribute.type].column) return [fillColumn(table, name, as)]
  const column = describeTables(model)
    .find((each) => each.name === table)!
    .columns.find((each) => each.name === name)!
  const former: Column = { ...column, type: declared, notNull: false, default: null }
  const present = archiveNames(number).of(`${index}_${name}`)
  const steps: readonly PlanStep[] = [
    { kind: 'keepColumn', table, column, as: present, risk: 'slow' },
    { kind: 'renameColumn', table, column: as, to: name, risk: 'safe' },
    { kind: 'convertColumn', table, column, former, as, conversion, risk: 'slow' },
    setValues(table, name, sqlText`${id(present)}`, sqlText`${id(present)} is not null`),
  ]
  return steps
}
