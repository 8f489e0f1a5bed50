// Conditions as sentences, for the chips above a list.
import { useQuery } from '@tanstack/react-query'
import { useFormat, useWords } from '../../parts/words.js'
import { request } from '../../server/client.js'
import { startQuery } from '../../server/queries.js'
import { wordsOf } from '../../words/format.js'
import { columnLabel } from './columns.js'
import { type Condition, type ConditionGroup, type ConditionItem, linkedIds, takesNoValue } from './conditions.js'
import { attributeOf, comparedKind, stateColumn, type TypeInfo } from './list-query.js'

/** Ids of linked documents by the types of their targets. */
function targetsOf(type: TypeInfo, { items }: Pick<ConditionGroup, 'items'>): readonly (readonly [target: string, id: string])[] {
  return items.flatMap((item) => {
    if (item.kind === 'group') return targetsOf(type, item)
    const target = item.kind === 'condition' ? attributeOf(type, item.path[0] ?? '')?.target : undefined
    return item.kind === 'raw' || target === undefined ? [] : linkedIds(item).map((id) => [target, id] as const)
  })
}

/** Names of the documents that conditions list, by their ids; undefined: not loaded. */
export function useLinkedNames(
  type: TypeInfo,
  group: Pick<ConditionGroup, 'items'>,
  locale: string | null,
): (id: string) => string | undefined {
  const start = useQuery(startQuery()).data?.data
  const targets = targetsOf(type, group)
  const load = async (signal: AbortSignal) => {
    const names = new Map<string, string>()
    for (const target of new Set(targets.map(([uid]) => uid))) {
      const known = start?.types.find(({ uid }) => uid === target)
      if (known?.naming == null) continue
      const ids = targets.flatMap(([uid, id]) => (uid === target ? [id] : []))
      const query = { filters: { documentId: { $in: ids } }, fields: [known.naming], limit: 200 }
      const { data } = await request('GET', '/content/{type}', {
        ...{ path: { type: target }, signal },
        query: { ...query, ...(known.localized && locale !== null ? { locale } : {}) },
      })
      for (const { documentId, values } of data) names.set(documentId, String(values[known.naming] ?? ''))
    }
    return names
  }
  const { data } = useQuery({
    queryKey: ['names of links', locale, targets],
    queryFn: ({ signal }) => load(signal),
    enabled: start !== undefined && targets.length > 0,
    staleTime: 60_000,
    placeholderData: (previous) => previous,
  })
  return (id) => data?.get(id) || undefined
}

/** Returns a function that says a condition of a group in the reader's language. */
export function useConditionText(type: TypeInfo, group: ConditionGroup, locale: string | null): (item: ConditionItem) => string {
  const words = useWords()
  const nameOf = useLinkedNames(type, group, locale)
  const format = useFormat()
  const { list } = words
  const labelOf = ([first = '', ...rest]: readonly string[]) =>
    [columnLabel(words, type, first), ...rest.map((name) => list.attributes[name] ?? wordsOf(name))].join(' › ')
  const saidValue = ({ path, value }: Condition) => {
    const [first = ''] = path
    const attribute = path.length === 1 ? attributeOf(type, first) : undefined
    if (first === stateColumn) return words.parts.state[value as 'draft'] ?? value
    if (value === 'true') return list.yes
    if (value === 'false') return list.no
    const isDate = attribute === undefined ? /^\d{4}-\d{2}-\d{2}$/.test(value) : comparedKind(first, attribute) === 'date'
    const date = new Date(`${value.slice(0, 10)}T12:00:00`)
    return isDate && !Number.isNaN(date.getTime()) ? format.date(date) : value
  }
  const textOf = (item: ConditionItem): string => {
    if (item.kind === 'raw') return list.conditions.raw
    if (item.kind === 'group') return `(${item.items.map(textOf).join(item.join === 'and' ? list.conditions.and : list.conditions.or)})`
    const label = labelOf(item.path)
    if (item.operator === 'last') return `${label} ${list.lastDays(Number(item.value))}`
    if (item.operator === 'oneOf') {
      const names = linkedIds(item).map((id) => nameOf(id) ?? '…')
      return `${label} ${list.operators.is} ${names.join(list.conditions.or)}`
    }
    const [first = ''] = item.path
    const isDate = item.path.length === 1 && comparedKind(first, attributeOf(type, first)) === 'date'
    const operator = (isDate ? list.dateOperators[item.operator] : undefined) ?? list.operators[item.operator]
    return takesNoValue(item.operator) ? `${label} ${operator}` : `${label} ${operator} ${saidValue(item)}`
  }
  return textOf
}
