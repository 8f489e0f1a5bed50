// What becomes of the entries of components and dynamic zones: rows of `_cmps` tables, which name attribute and component.
import type { Attribute } from '../schema/types.js'
import { attributePath, type ModelComparison } from './context.js'
import { nothing, type PlanFindings, planned, together } from './findings.js'
import { keptRows, keptTable, keptWithin } from './kept.js'
import { inOrder, type SchemaPair } from './pairs.js'
import { countText, id, listText, type SqlText, sqlText } from './sql-text.js'
import { createTable, keepTable, replaceTable } from './table-changes.js'

/** The components that an attribute may hold; none if it holds none. */
export const componentsOf = (attribute: Attribute | undefined): readonly string[] => {
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
  return together([
    entriesTable(comparison, pair),
    ...held.map(({ from, to }) => loseEntries(comparison, pair, from, to)),
    ...held.map(({ from, to }) => narrowed(pair, from, to)),
    {
      ...nothing,
      steps:
        table === null
          ? []
          : inOrder(renamed).map(({ from, to }) =>
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

/** The columns of a table of entries, which are the same in all of them. */
export const entryColumns = ['id', 'entity_id', 'cmp_id', 'component_type', 'field', 'order'].map((name) => ({ from: name, to: name }))

function entriesTable({ kept, tableBefore, tableAfter }: ModelComparison, { from, to }: SchemaPair): PlanFindings {
  const [before, after] = [from.componentTable, to.componentTable]
  if (before === after) return nothing
  if (before === null) return { ...nothing, steps: createTable(tableAfter(after!)) }
  // Strapi would drop the table that no schema has any more.
  if (after === null) return { ...nothing, steps: keepTable(tableBefore(before), kept, 'losesData') }
  return { ...nothing, steps: replaceTable(tableBefore(before), tableAfter(after), entryColumns, kept) }
}

const entriesOf = (attribute: string, components: readonly string[]): SqlText =>
  sqlText`${id('field')} = ${attribute} and ${id('component_type')} in (${listText(components)})`

/** Entries of components that the attribute does not hold any more get a `field` that no attribute has. */
function loseEntries({ pairs, kept }: ModelComparison, pair: SchemaPair, from: Attribute, to: Attribute | undefined): PlanFindings {
  const allowed = new Set(componentsOf(to))
  const lost = componentsOf(from).filter((uid) => !allowed.has(pairs.uidIn(uid) ?? ''))
  const table = pair.from.componentTable!
  // Entries of a component that is removed as a whole are rows that name a removed schema: they go with those.
  const staying = lost.filter((uid) => pairs.uidIn(uid) !== undefined)
  const isWhole = lost.length === componentsOf(from).length
  const path = attributePath(pair.from, from.name)
  const aside = pair.to.componentTable === null
  const place = (uid: string) => {
    if (aside) return keptTable(kept, table)
    return staying.includes(uid) ? keptWithin(kept, 'field', pair.to.componentTable!, from.name) : keptRows(kept, table)
  }
  const loss = (name: string, components: readonly string[]) => ({
    name,
    about: `Entries of ${components.join(', ')} in ${from.name} of ${pair.from.uid} are kept aside; the API does not answer them any more.`,
    count: countText(table, entriesOf(from.name, components)),
    kept: components.map(place).filter(({ as }, index, all) => all.findIndex((other) => other.as === as) === index),
  })
  const keepEntries = () =>
    planned('aside', 'losesData', {
      kind: 'setValues',
      table,
      column: 'field',
      value: sqlText`${kept.of(from.name)}`,
      where: entriesOf(from.name, staying),
    })
  return {
    ...nothing,
    steps: aside || staying.length === 0 ? [] : [keepEntries()],
    losses: lost.length === 0 ? [] : isWhole ? [loss(path, lost)] : lost.map((uid) => loss(`${path}:${uid}`, [uid])),
  }
}

/** Several entries where one is answered from now on: they stay, and come back if the attribute is made repeatable again. */
function narrowed({ from: schema, to: newer }: SchemaPair, from: Attribute, to: Attribute | undefined): PlanFindings {
  const isMany = from.kind === 'dynamiczone' || (from.kind === 'component' && from.repeatable)
  if (!isMany || to?.kind !== 'component' || to.repeatable) return nothing
  const field = sqlText`${id('field')} = ${from.name}`
  return {
    ...nothing,
    conditions: [
      {
        name: `${attributePath(schema, from.name)}:single`,
        kind: 'single',
        about: `Rows of ${schema.uid} with several entries in ${from.name}: the first is answered, and a write replaces all.`,
        count: sqlText`select count(*) as count from (select entity_id from ${id(schema.componentTable!)} where ${field} group by entity_id having count(*) > 1) as found`,
        exact: true,
        narrows: [attributePath(newer, to.name)],
      },
    ],
  }
}
