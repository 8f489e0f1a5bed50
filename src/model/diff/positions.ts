// Positions of restored rows: after newer rows in the same position.
import { allSchemas, ownedLinks, ownedMorphs } from '../schema/graph.js'
import type { Model } from '../schema/types.js'
import { filesTable } from './polymorphic.js'
import { id, joinedText, type SqlText, sqlText } from './sql-text.js'
import type { PlanStep } from './steps.js'

/** A position column, numbered among rows with equal values in other columns. */
export interface Positions {
  readonly order: string
  readonly among: readonly string[]
  /** Links to drafts and to published rows are numbered separately: the column and table of the targets. */
  readonly states?: { readonly column: string; readonly table: string }
}

/** The positions in a table. */
export function positionsIn(model: Model, table: string): readonly Positions[] {
  if (table === filesTable.name) return [{ order: 'order', among: ['related_id', filesTable.type, filesTable.field] }]
  if (allSchemas(model).some(({ componentTable }) => componentTable === table)) return [{ order: 'order', among: ['entity_id', 'field'] }]
  const { target, storage } = ownedLinks(model).find((link) => link.storage.table === table) ?? {}
  if (target !== undefined && storage !== undefined) {
    const states = target.draftAndPublish ? { states: { column: storage.there, table: target.table } } : {}
    return storage.order === null ? [] : [{ order: storage.order, among: [storage.here], ...states }]
  }
  return ownedMorphs(model).flatMap(({ storage }) =>
    storage.kind === 'table' && storage.table === table ? [{ order: storage.order, among: [storage.here, 'field'] }] : [],
  )
}

/** Restored rows of another table, with the columns of that table. */
export function appendMoved(from: string, to: string, { order, among, states }: Positions, keptAs: (column: string) => string): PlanStep {
  const [place, own] = [id(order), id(keptAs(order))]
  const isAmong = (present: SqlText, coming: SqlText) =>
    joinedText(
      among.map((column) => sqlText`${present}.${id(column)} = ${coming}.${id(keptAs(column))}`),
      ' and ',
    )
  const ofSame = joinedText(
    among.map((column) => sqlText`other.${id(keptAs(column))} = coming.${id(keptAs(column))}`),
    ' and ',
  )
  const isSameState =
    states &&
    sqlText`exists (select 1 from ${id(states.table)} as one join ${id(states.table)} as two on (one.published_at is null) = (two.published_at is null)
      where one.id = present.${id(states.column)} and two.id = other.${id(keptAs(states.column))})`
  const meets = sqlText`exists (select 1 from ${id(from)} as other join ${id(to)} as present on ${isAmong(sqlText`present`, sqlText`other`)}
    and present.${place} = other.${own} where ${joinedText([ofSame, ...(isSameState ? [isSameState] : [])], ' and ')})`
  const last = sqlText`(select max(present.${place}) from ${id(to)} as present where ${isAmong(sqlText`present`, sqlText`${id(from)}`)})`
  return {
    ...{ kind: 'setValues', table: from, column: keptAs(order), value: sqlText`${own} + ${last}`, risk: 'slow' },
    where: sqlText`id in (select id from (select coming.id as id from ${id(from)} as coming where ${meets}) as coming)`,
  }
}

/** Rows that come back within their table, whose `field` changes from one name to another. */
export function fieldBehind(table: string, { order, among }: Positions, from: string, to: string): PlanStep {
  const place = id(order)
  const others = among.filter((column) => column !== 'field')
  const same = (one: SqlText, other: SqlText) =>
    joinedText(
      others.map((column) => sqlText`${one}.${id(column)} = ${other}.${id(column)}`),
      ' and ',
    )
  const columns = joinedText(
    others.map((column) => sqlText`${id(column)}`),
    ', ',
  )
  const meets = sqlText`exists (select 1 from ${id(table)} as other join ${id(table)} as present on ${same(sqlText`present`, sqlText`other`)}
    and present.field = ${to} and present.${place} = other.${place} where other.field = ${from} and ${same(sqlText`other`, sqlText`coming`)})`
  const ends = sqlText`(select ${columns}, max(${place}) as last from ${id(table)} where field = ${to} group by ${columns})`
  return {
    ...{ kind: 'setValues', table, column: order, risk: 'slow' },
    value: sqlText`${place} + (select ends.last from ${ends} as ends where ${same(sqlText`ends`, sqlText`${id(table)}`)})`,
    where: sqlText`id in (select id from (select coming.id as id from ${id(table)} as coming where coming.field = ${from} and ${meets}) as coming)`,
  }
}
