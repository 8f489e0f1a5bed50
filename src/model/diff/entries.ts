// Changes of entries of components and dynamic zones: rows of `_cmps` tables, which name attribute and component.
import type { Attribute, Model } from '../schema/types.js'
import {
  archivedRows,
  archivedTable,
  archivedWithin,
  attributePath,
  type ModelComparison,
  mergeFindings,
  nothing,
  orderRenames,
  type PlanFindings,
  planned,
  type SchemaPair,
} from './comparison.js'
import { countText, id, listText, type SqlText, sqlText } from './sql-text.js'
import { createTable, keepTable, replaceTable } from './table-changes.js'

/** Empty if it holds none. */
export const componentUids = (attribute: Attribute | undefined): readonly string[] => {
  if (attribute?.kind === 'component') return [attribute.component]
  return attribute?.kind === 'dynamiczone' ? attribute.components : []
}

const isHolder = ({ kind }: Attribute): boolean => kind === 'component' || kind === 'dynamiczone'

/** Compares the entries of a type or component that both models have. */
export function compareEntries(comparison: ModelComparison, pair: SchemaPair): PlanFindings {
  const { pairs } = comparison
  const held = [
    ...pairs.attributes(pair).map(({ from, to }) => ({ from, to: isHolder(to) ? to : undefined })),
    ...pairs.removedAttributes(pair).map((from) => ({ from, to: undefined })),
  ].filter(({ from }) => isHolder(from))
  const renamed = held.flatMap(({ from, to }) => (to === undefined ? [] : [{ from: from.name, to: to.name }]))
  const table = pair.to.componentTable
  return mergeFindings([
    entriesTable(comparison, pair),
    ...held.map(({ from, to }) => loseEntries(comparison, pair, from, to)),
    ...held.map(({ from, to }) => narrowEntries(pair, from, to)),
    {
      ...nothing,
      steps:
        table === null
          ? []
          : orderRenames(renamed).map(({ from, to }) =>
              planned('rows', 'slow', {
                kind: 'setValues',
                table,
                column: 'field',
                value: sqlText`${to}`,
                where: sqlText`${id('field')} = ${from}`,
              }),
            ),
    },
  ])
}

/** The columns of every table of entries. */
export const entryColumns = ['id', 'entity_id', 'cmp_id', 'component_type', 'field', 'order'].map((name) => ({ from: name, to: name }))

function entriesTable({ kept, tableBefore, tableAfter }: ModelComparison, { from, to }: SchemaPair): PlanFindings {
  const [before, after] = [from.componentTable, to.componentTable]
  if (before === after) return nothing
  if (before === null) return { ...nothing, steps: createTable(tableAfter(after!)) }
  // Strapi drops a table without a schema.
  if (after === null) return { ...nothing, steps: keepTable(tableBefore(before), kept, 'losesData') }
  return { ...nothing, steps: replaceTable(tableBefore(before), tableAfter(after), entryColumns, kept) }
}

const entryCondition = (attribute: string, components: readonly string[]): SqlText =>
  sqlText`${id('field')} = ${attribute} and ${id('component_type')} in (${listText(components)})`

/** Archives entries of components that the attribute no longer holds, by renaming their `field`. */
function loseEntries({ pairs, kept }: ModelComparison, pair: SchemaPair, from: Attribute, to: Attribute | undefined): PlanFindings {
  const allowed = new Set(componentUids(to))
  const lost = componentUids(from).filter((uid) => !allowed.has(pairs.uidIn(uid) ?? ''))
  const table = pair.from.componentTable!
  // Entries of a component that is removed as a whole are rows that name a removed schema: they go with those.
  const staying = lost.filter((uid) => pairs.uidIn(uid) !== undefined)
  const isWhole = lost.length === componentUids(from).length
  const path = attributePath(pair.from, from.name)
  const aside = pair.to.componentTable === null
  const place = (uid: string) => {
    if (aside) return archivedTable(kept, table)
    return staying.includes(uid) ? archivedWithin(kept, 'field', pair.to.componentTable!, from.name) : archivedRows(kept, table)
  }
  const loss = (name: string, components: readonly string[]) => ({
    name,
    about: `Entries of ${components.join(', ')} in ${from.name} of ${pair.from.uid} are archived; the API no longer returns them.`,
    count: countText(table, entryCondition(from.name, components)),
    kept: components.map(place).filter(({ as }, index, all) => all.findIndex((other) => other.as === as) === index),
  })
  const keepEntries = () =>
    planned('aside', 'losesData', {
      kind: 'setValues',
      table,
      column: 'field',
      value: sqlText`${kept.of(from.name)}`,
      where: entryCondition(from.name, staying),
    })
  return {
    ...nothing,
    steps: aside || staying.length === 0 ? [] : [keepEntries()],
    losses: lost.length === 0 ? [] : isWhole ? [loss(path, lost)] : lost.map((uid) => loss(`${path}:${uid}`, [uid])),
  }
}

/** Several entries where one is allowed now: they stay, and are visible again if the attribute becomes repeatable. */
function narrowEntries({ from: schema, to: newer }: SchemaPair, from: Attribute, to: Attribute | undefined): PlanFindings {
  const isMany = from.kind === 'dynamiczone' || (from.kind === 'component' && from.repeatable)
  if (!isMany || to?.kind !== 'component' || to.repeatable) return nothing
  const field = sqlText`${id('field')} = ${from.name}`
  return {
    ...nothing,
    conditions: [
      {
        name: `${attributePath(schema, from.name)}:single`,
        kind: 'single',
        about: `Rows of ${schema.uid} with several entries in ${from.name}: the first is returned, and a write replaces all.`,
        count: sqlText`select count(*) as count from (select entity_id from ${id(schema.componentTable!)} where ${field} group by entity_id having count(*) > 1) as found`,
        exact: true,
        narrows: [attributePath(newer, to.name)],
      },
    ],
  }
}

/** Includes nested components. */
export function mayContain(attribute: Attribute, uid: string, model: Model, seen = new Set<string>()): boolean {
  return componentUids(attribute).some((each) => {
    if (each === uid) return true
    if (seen.has(each)) return false
    seen.add(each)
    return [...(model.components.get(each)?.attributes.values() ?? [])].some((nested) => mayContain(nested, uid, model, seen))
  })
}
