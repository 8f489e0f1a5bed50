// Conditions as sentences, for the chips above a list.

import { useFormat, useWords } from '../../parts/words.js'
import { wordsOf } from '../../words/format.js'
import { columnLabel } from './columns.js'
import { type Condition, type ConditionItem, takesNoValue } from './conditions.js'
import { attributeOf, comparedKind, stateColumn, type TypeInfo } from './list-query.js'

/** Returns a function that says a condition in the reader's language. */
export function useConditionText(type: TypeInfo): (item: ConditionItem) => string {
  const words = useWords()
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
    const [first = ''] = item.path
    const isDate = item.path.length === 1 && comparedKind(first, attributeOf(type, first)) === 'date'
    const operator = (isDate ? list.dateOperators[item.operator] : undefined) ?? list.operators[item.operator]
    return takesNoValue(item.operator) ? `${label} ${operator}` : `${label} ${operator} ${saidValue(item)}`
  }
  return textOf
}
