// Changes of a table between layouts: columns by pairs, then indexes and foreign keys.
import type { Column, ForeignKey, Index, Table } from '../tables/table.js'
import type { ArchiveNames } from './comparison.js'
import { type NameChange, orderRenames, type PlanFindings, planned } from './comparison.js'
import type { MovedColumn } from './steps.js'

/** Both layouts of a table, and their common columns. */
interface TableChange {
  readonly from: Table
  readonly to: Table
  readonly columns: readonly MovedColumn[]
  /** Columns whose declaration another step changes. */
  readonly converted: ReadonlySet<string>
}

type Steps = PlanFindings['steps']

const columnOf = (table: Table, name: string): Column => table.columns.find((column) => column.name === name)!

export function changeTable({ from, to, columns, converted }: TableChange, kept: ArchiveNames): Steps {
  const before = new Set(columns.map((column) => column.from))
  const after = new Set(columns.map((column) => column.to))
  const removed = from.columns.filter(({ name }) => !before.has(name))
  const added = to.columns.filter(({ name }) => !after.has(name))
  const declared = columns.filter((pair) => !converted.has(pair.to) && isDeclaredAnew(columnOf(from, pair.from), columnOf(to, pair.to)))
  return [
    ...changeIndexes(from, to, columns, new Set([...converted, ...declared.map((pair) => pair.to)])),
    ...removed.map((column) => planned('aside', 'losesData', { kind: 'keepColumn', table: from.name, column, as: kept.of(column.name) })),
    ...(from.name === to.name ? [] : [planned('renameTables', 'safe', { kind: 'renameTable', table: from.name, to: to.name })]),
    ...orderRenames(columns).map((pair) =>
      planned('renameColumns', 'safe', { kind: 'renameColumn', table: to.name, column: pair.from, to: pair.to }),
    ),
    ...declared.map((pair) => {
      const [former, column] = [columnOf(from, pair.from), columnOf(to, pair.to)]
      return planned('create', 'slow', { kind: 'declareColumn', table: to.name, column, former, as: kept.of(pair.from) })
    }),
    ...added.map((column) =>
      planned('create', 'safe', { kind: 'addColumn', table: to.name, column, foreignKey: foreignKeyOf(to, column.name) }),
    ),
    ...changeForeignKeys(from, to, columns),
  ]
}

const foreignKeyOf = (table: Table, column: string): ForeignKey | null =>
  table.foreignKeys.find(({ columns }) => columns.length === 1 && columns[0] === column) ?? null

const isDeclaredAnew = (from: Column, to: Column): boolean =>
  from.type !== to.type || from.notNull !== to.notNull || from.default !== to.default

const renamed = (names: readonly string[], columns: readonly MovedColumn[]): string =>
  names.map((name) => columns.find(({ from }) => from === name)?.to ?? `${name} (gone)`).join()

/** Recreates indexes with a changed name, changed columns or a converted column. */
function changeIndexes(from: Table, to: Table, columns: readonly MovedColumn[], converted: ReadonlySet<string>): Steps {
  const isSame = (one: Index, other: Index) =>
    one.name === other.name &&
    one.unique === other.unique &&
    renamed(one.columns, columns) === other.columns.join() &&
    !other.columns.some((column) => converted.has(column))
  return [
    ...from.indexes
      .filter((index) => !to.indexes.some((other) => isSame(index, other)))
      .map((index) => planned('aside', 'safe', { kind: 'dropIndex', table: from.name, index })),
    ...to.indexes
      .filter((index) => !from.indexes.some((other) => isSame(other, index)))
      .map((index) => planned('indexes', 'slow', { kind: 'createIndex', table: to.name, index })),
  ]
}

function changeForeignKeys(from: Table, to: Table, columns: readonly MovedColumn[]): Steps {
  return from.foreignKeys.flatMap((key) => {
    const now = to.foreignKeys.find((other) => other.columns.join() === renamed(key.columns, columns))
    if (now === undefined) return [planned('aside', 'safe', { kind: 'dropForeignKey', table: from.name, foreignKey: key })]
    if (now.name === key.name) return []
    return [planned('indexes', 'safe', { kind: 'renameForeignKey', table: to.name, from: key.name, to: now })]
  })
}

/** Archives the whole table. */
export const keepTable = ({ name, indexes, foreignKeys }: Table, kept: ArchiveNames, risk: 'safe' | 'losesData'): Steps => [
  planned('aside', risk, {
    kind: 'keepTable',
    table: name,
    as: kept.of(name),
    indexes: indexes.map((index) => index.name),
    foreignKeys: foreignKeys.map((key) => key.name),
  }),
]

export const createTable = (table: Table): Steps => [planned('create', 'safe', { kind: 'createTable', table })]

/**
 * Creates the table again under its new names, and moves its rows there. The old table is archived if one of its columns has no successor.
 */
export function replaceTable(from: Table, to: Table, columns: readonly NameChange[], kept: ArchiveNames): Steps {
  const moved = new Set(columns.map((column) => column.from))
  const isWhole = from.columns.every(({ name }) => moved.has(name))
  return [
    ...keepTable(from, kept, 'safe'),
    ...createTable(to),
    planned('move', 'slow', { kind: 'moveRows', from: kept.of(from.name), to: to.name, columns }),
    ...(isWhole ? [planned('drop', 'safe', { kind: 'dropTable', table: kept.of(from.name) })] : []),
  ]
}
