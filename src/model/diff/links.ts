// Changes of link tables: links stay with the relation that connects the same types, even if the other side owns the table.
import { type OwnedLink, ownedLinks } from '../schema/graph.js'
import type { LinkStorage, Relation } from '../schema/types.js'
import type { ModelPairs } from './comparison.js'
import {
  archivedTable,
  archivedWithin,
  attributePath,
  type ModelComparison,
  mergeFindings,
  nothing,
  type PlanFindings,
} from './comparison.js'
import { countText, id, sqlText } from './sql-text.js'
import type { MovedColumn } from './steps.js'
import { changeTable, createTable, keepTable, replaceTable } from './table-changes.js'
import type { PlanCondition, PlanLoss } from './types.js'

/** `turned`: the other side owns it now. */
interface LinkPair {
  readonly from: OwnedLink
  readonly to: OwnedLink
  readonly turned: boolean
}

/** Compares all link tables. */
export function compareLinks(comparison: ModelComparison): PlanFindings {
  const { pairs, kept, tableBefore, tableAfter } = comparison
  const [older, newer] = [ownedLinks(pairs.from), ownedLinks(pairs.to)]
  const matched = matchLinks(pairs, older, newer)
  const [goingOn, filled] = [new Set(matched.map(({ from }) => from)), new Set(matched.map(({ to }) => to))]
  return mergeFindings([
    ...matched.map((pair) => changeLinks(comparison, pair)),
    ...older
      .filter((link) => !goingOn.has(link))
      .map((link) => ({
        ...nothing,
        steps: keepTable(tableBefore(link.storage.table), kept, 'losesData'),
        losses: pairs.uidIn(link.shape.uid) === undefined ? [] : [lostLinks(comparison, link)],
      })),
    { ...nothing, steps: newer.filter((link) => !filled.has(link)).flatMap(({ storage }) => createTable(tableAfter(storage.table))) },
  ])
}

const lostLinks = ({ kept }: ModelComparison, { shape, relation, storage }: OwnedLink) => ({
  name: attributePath(shape, relation.name),
  about: `The links of ${relation.name} of ${shape.uid} are archived; it no longer refers to ${relation.target}.`,
  count: countText(storage.table, null),
  kept: [archivedTable(kept, storage.table)],
})

const getInverse = ({ relation }: OwnedLink): string | null => relation.inverse

/** Matching rules, most reliable first: by the owner's attribute, then by the attribute of the other side. */
const matchers: readonly ((pairs: ModelPairs, from: OwnedLink, to: OwnedLink) => boolean)[] = [
  (pairs, from, to) => isStraight(pairs, from, to) && pairs.nameIn(from.shape.uid, from.relation.name) === to.relation.name,
  (pairs, from, to) => isTurned(pairs, from, to) && pairs.nameIn(from.shape.uid, from.relation.name) === getInverse(to),
  (pairs, from, to) => isStraight(pairs, from, to) && nameOfInverse(pairs, from) !== null && nameOfInverse(pairs, from) === getInverse(to),
  (pairs, from, to) => isTurned(pairs, from, to) && nameOfInverse(pairs, from) === to.relation.name,
]

const isStraight = (pairs: ModelPairs, from: OwnedLink, to: OwnedLink): boolean =>
  pairs.uidIn(from.shape.uid) === to.shape.uid && pairs.uidIn(from.target.uid) === to.target.uid

const isTurned = (pairs: ModelPairs, from: OwnedLink, to: OwnedLink): boolean =>
  pairs.uidIn(from.shape.uid) === to.target.uid && pairs.uidIn(from.target.uid) === to.shape.uid

const nameOfInverse = (pairs: ModelPairs, from: OwnedLink): string | null => {
  const inverse = getInverse(from)
  return inverse === null ? null : (pairs.nameIn(from.target.uid, inverse) ?? null)
}

function matchLinks(pairs: ModelPairs, older: readonly OwnedLink[], newer: readonly OwnedLink[]): readonly LinkPair[] {
  const found: LinkPair[] = []
  const [open, free] = [new Set(older), new Set(newer)]
  matchers.forEach((fits, index) => {
    for (const from of open) {
      const to = [...free].find((link) => fits(pairs, from, link))
      if (to === undefined) continue
      found.push({ from, to, turned: index % 2 === 1 })
      open.delete(from)
      free.delete(to)
    }
  })
  return found
}

/** The storage as the older owner's side sees it. */
const seenFrom = (storage: LinkStorage, turned: boolean): LinkStorage =>
  turned ? { ...storage, here: storage.there, there: storage.here, order: storage.inverseOrder, inverseOrder: storage.order } : storage

/** The columns of both tables that hold the same. */
function columnsOf(pair: LinkPair): readonly MovedColumn[] {
  const from = pair.from.storage
  const to = seenFrom(pair.to.storage, pair.turned)
  const columns: MovedColumn[] = [
    { from: 'id', to: 'id' },
    { from: from.here, to: to.here },
    { from: from.there, to: to.there },
  ]
  if (from.order !== null && to.order !== null) columns.push({ from: from.order, to: to.order })
  if (from.inverseOrder !== null && to.inverseOrder !== null) columns.push({ from: from.inverseOrder, to: to.inverseOrder })
  return columns
}

function changeLinks(comparison: ModelComparison, pair: LinkPair): PlanFindings {
  const { kept, tableBefore, tableAfter } = comparison
  const [from, to] = [pair.from.storage, pair.to.storage]
  const columns = columnsOf(pair)
  const [before, after] = [tableBefore(from.table), tableAfter(to.table)]
  const stays = !pair.turned && from.table === to.table && columns.every((column) => column.from === column.to)
  const steps = stays
    ? changeTable({ from: before, to: after, columns, converted: new Set() }, kept)
    : replaceTable(before, after, columns, kept)
  return { ...nothing, steps, ...narrowLinks(comparison, pair), losses: lostOrders(comparison, pair, columns, stays) }
}

function lostOrders(
  { kept }: ModelComparison,
  { from: { shape, relation, storage } }: LinkPair,
  columns: readonly MovedColumn[],
  stays: boolean,
): readonly PlanLoss[] {
  const carried = new Set(columns.map((column) => column.from))
  return [storage.order, storage.inverseOrder]
    .filter((order): order is string => order !== null && !carried.has(order))
    .map((order) => ({
      name: `${attributePath(shape, relation.name)}:${order === storage.order ? 'order' : 'inverseOrder'}`,
      about: `The order of the links of ${relation.name} of ${shape.uid} is archived.`,
      count: countText(storage.table, sqlText`${id(order)} is not null`),
      kept: [
        stays
          ? archivedWithin(kept, 'column', storage.table, order)
          : { kind: 'values', table: storage.table, name: order, as: kept.of(storage.table) },
      ],
    }))
}

function arity(
  relation: Relation['relation'],
  turned: boolean,
  isTwoWay: boolean,
): { readonly targets: boolean; readonly owners: boolean } {
  const targets = relation === 'oneToMany' || relation === 'manyToMany'
  const owners = relation === 'manyToOne' || relation === 'manyToMany' || !isTwoWay
  return turned ? { targets: owners, owners: targets } : { targets, owners }
}

/** Rows with several links where one is allowed now. The links stay; the first is returned, and a write replaces them. */
function narrowLinks({ pairs }: ModelComparison, { from, to, turned }: LinkPair): { readonly conditions: readonly PlanCondition[] } {
  const before = arity(from.relation.relation, false, from.relation.inverse !== null)
  const after = arity(to.relation.relation, turned, to.relation.inverse !== null)
  const { table, here, there } = from.storage
  const owner = pairs.from.types.get(from.shape.uid)
  const path = attributePath(from.shape, from.relation.name)
  const narrows = [
    attributePath(to.shape, to.relation.name),
    ...(to.relation.inverse === null ? [] : [attributePath(to.target, to.relation.inverse)]),
  ]
  const conditions: PlanCondition[] = []
  if (before.targets && !after.targets)
    conditions.push({
      name: `${path}:single`,
      kind: 'single',
      about: `Rows of ${from.shape.uid} that have several links by ${from.relation.name}: one of them is returned, and a write replaces all.`,
      count: sqlText`select count(*) as count from (select ${id(here)} from ${id(table)} group by ${id(here)} having count(*) > 1) as found`,
      exact: true,
      narrows,
    })
  if (before.owners && !after.owners && owner !== undefined)
    conditions.push({
      name: `${path}:singleOwner`,
      kind: 'single',
      about: `Rows of ${from.relation.target} that several documents of ${from.shape.uid} refer to by ${from.relation.name}: only one of them may.`,
      count: sqlText`select count(*) as count from (select link.${id(there)} from ${id(table)} as link join ${id(owner.table)} as owner on owner.id = link.${id(here)} group by link.${id(there)} having count(distinct owner.document_id) > 1) as found`,
      exact: true,
      narrows,
    })
  return { conditions }
}
