// Changes of polymorphic links: their tables, the types named in rows, and files, which use such a table too.

import { type OwnedMorph, ownedMorphs } from '../schema/graph.js'
import { fileType } from '../schema/link.js'
import type { Attribute } from '../schema/types.js'
import {
  archivedTable,
  archivedWithin,
  attributePath,
  type ModelComparison,
  type ModelPairs,
  mergeFindings,
  nothing,
  orderRenames,
  type PlanFindings,
  planned,
  type SchemaPair,
} from './comparison.js'
import { countText, id, listText, type SqlText, sqlText } from './sql-text.js'
import type { MovedColumn } from './steps.js'
import { changeTable, createTable, keepTable, replaceTable } from './table-changes.js'

/** The table of the links between files and what holds them. */
export const filesTable = { name: 'files_related_mph', type: 'related_type', field: 'field' } as const

type TableStorage = Extract<OwnedMorph['storage'], { readonly kind: 'table' }>

interface MorphTable extends OwnedMorph {
  readonly storage: TableStorage
}

const isTable = (morph: OwnedMorph): morph is MorphTable => morph.storage.kind === 'table'

/** Finds the same polymorphic relation in the newer model. */
const morphFinder =
  (pairs: ModelPairs) =>
  <Morph extends OwnedMorph>(from: Morph, newer: readonly Morph[]): Morph | undefined => {
    const uid = pairs.uidIn(from.shape.uid)
    const name = pairs.nameIn(from.shape.uid, from.name)
    return newer.find((morph) => morph.shape.uid === uid && morph.name === name)
  }

const morphColumns = (from: MorphTable, to: MorphTable): readonly MovedColumn[] => [
  { from: 'id', to: 'id' },
  { from: 'field', to: 'field' },
  ...(['here', 'id', 'type', 'order'] as const).map((what) => ({ from: from.storage[what], to: to.storage[what] })),
]

/** Compares the tables of polymorphic relations. */
export function compareMorphTables(comparison: ModelComparison): PlanFindings {
  const { pairs, kept, tableBefore, tableAfter } = comparison
  const newer = ownedMorphs(pairs.to).filter(isTable)
  const findNewer = morphFinder(pairs)
  const filled = new Set<MorphTable>()
  const older = ownedMorphs(pairs.from)
    .filter(isTable)
    .map((from): PlanFindings => {
      const uid = pairs.uidIn(from.shape.uid)
      const to = findNewer(from, newer)
      const before = tableBefore(from.storage.table)
      if (to === undefined) {
        const loss = {
          name: attributePath(from.shape, from.name),
          about: `The links of ${from.name} of ${from.shape.uid} are archived; the API no longer returns them.`,
          count: countText(before.name, null),
          kept: [archivedTable(kept, before.name)],
        }
        return { ...nothing, steps: keepTable(before, kept, 'losesData'), losses: uid === undefined ? [] : [loss] }
      }
      filled.add(to)
      const all = morphColumns(from, to)
      const after = tableAfter(to.storage.table)
      const stays = before.name === after.name && all.every((column) => column.from === column.to)
      const steps = stays
        ? changeTable({ from: before, to: after, columns: all, converted: new Set() }, kept)
        : replaceTable(before, after, all, kept)
      return { ...nothing, steps }
    })
  const created = newer.filter((morph) => !filled.has(morph)).flatMap(({ storage }) => createTable(tableAfter(storage.table)))
  return mergeFindings([...older, { ...nothing, steps: created }])
}

/** Follows types and components that are renamed or removed in every column that names types of rows. */
export function compareNamedTypes(comparison: ModelComparison): PlanFindings {
  const { pairs, kept } = comparison
  const renamed = orderRenames(pairs.schemas.map(({ from, to }) => ({ from: from.uid, to: to.uid })))
  const removed = pairs.removed.map(({ uid }) => uid)
  const kinds = namedTypes(comparison)
  return {
    ...nothing,
    steps: [
      ...kinds.flatMap(({ after, column }) =>
        renamed.map(({ from, to }) =>
          planned('rows', 'slow', {
            kind: 'setValues',
            table: after,
            column,
            value: sqlText`${to}`,
            where: sqlText`${id(column)} = ${from}`,
          }),
        ),
      ),
      // Strapi deletes such rows at its next start that changes a table.
      ...(removed.length === 0 ? [] : kinds.filter(({ isPairs }) => isPairs)).flatMap(({ before, columnBefore }) => {
        const where = sqlText`${id(columnBefore)} in (${listText(removed)})`
        return [
          planned('keepRows', 'losesData', { kind: 'keepRows', table: before, as: kept.rowsOf(before), where }),
          planned('deleteRows', 'losesData', { kind: 'deleteRows', table: before, where }),
        ]
      }),
    ],
  }
}

/** Remaining tables whose rows may name a removed type or component. */
export const tablesNamingTypes = (comparison: ModelComparison): readonly string[] => [
  ...new Set(namedTypes(comparison).flatMap(({ isPairs, before }) => (isPairs ? [before] : []))),
]

/** Every column of both layouts that names types of rows. */
function namedTypes({ pairs }: ModelComparison) {
  const newer = ownedMorphs(pairs.to)
  const findNewer = morphFinder(pairs)
  const morphs = ownedMorphs(pairs.from).flatMap((from) => {
    const to = findNewer(from, newer)
    if (to === undefined || to.storage.kind !== from.storage.kind) return []
    const tableOf = ({ storage, shape }: OwnedMorph) => (storage.kind === 'table' ? storage.table : shape.table)
    const isPairs = from.storage.kind === 'table'
    return [{ before: tableOf(from), after: tableOf(to), columnBefore: from.storage.type, column: to.storage.type, isPairs }]
  })
  const entries = pairs.schemas.flatMap(({ from, to }) =>
    from.componentTable === null || to.componentTable === null
      ? []
      : [
          {
            before: from.componentTable,
            after: to.componentTable,
            columnBefore: 'component_type',
            column: 'component_type',
            isPairs: true,
          },
        ],
  )
  const { name, type } = filesTable
  const files = pairs.from.types.has(fileType) ? [{ before: name, after: name, columnBefore: type, column: type, isPairs: true }] : []
  return [...files, ...morphs, ...entries]
}

/** Compares the media attributes of a schema that both models have. */
export function compareMedia(comparison: ModelComparison, pair: SchemaPair): PlanFindings {
  const { pairs, kept } = comparison
  const { name: table, type, field } = filesTable
  const of = (attribute: string): SqlText => sqlText`${id(type)} = ${pair.from.uid} and ${id(field)} = ${attribute}`
  const rewrite = (from: string, to: string) => ({ table, column: field, value: sqlText`${to}`, where: of(from) })
  const both = pairs.attributes(pair).filter(({ from }) => from.kind === 'media')
  const lost: readonly Attribute[] = [
    ...pairs.removedAttributes(pair).filter(({ kind }) => kind === 'media'),
    ...both.filter(({ to }) => to.kind !== 'media').map(({ from }) => from),
  ]
  const staying = both.filter(({ to }) => to.kind === 'media')
  const single = staying.filter(({ from, to }) => from.kind === 'media' && to.kind === 'media' && from.many && !to.many)
  return {
    ...nothing,
    steps: [
      ...lost.map(({ name }) => planned('aside', 'losesData', { kind: 'setValues', ...rewrite(name, kept.of(name)) })),
      ...orderRenames(staying.map(({ from, to }) => ({ from: from.name, to: to.name }))).map(({ from, to }) =>
        planned('move', 'slow', { kind: 'setValues', ...rewrite(from, to) }),
      ),
    ],
    losses: lost.map(({ name }) => ({
      name: attributePath(pair.from, name),
      about: `The files of ${name} of ${pair.from.uid} stay in the media library; their links are archived.`,
      count: countText(table, of(name)),
      kept: [archivedWithin(kept, 'field', table, name)],
    })),
    conditions: single.map(({ from: { name } }) => ({
      name: `${attributePath(pair.from, name)}:single`,
      kind: 'single' as const,
      about: `Rows of ${pair.from.uid} with several files in ${name}: the first is returned, and a write replaces all.`,
      count: sqlText`select count(*) as count from (select related_id from ${id(table)} where ${of(name)} group by related_id having count(*) > 1) as found`,
      exact: true,
    })),
  }
}
