// Filters of a list as conditions that a form can edit, and back to the notation of the API, which is also that of the address.
import type { QueryData } from '../../server/query-string.js'

/** One comparison; `path` leads through relations: `['author', 'name']`. */
export interface Condition {
  readonly kind: 'condition'
  readonly path: readonly string[]
  readonly operator: Operator
  readonly value: string
}

/** Conditions joined by "and" or "or". */
export interface ConditionGroup {
  readonly kind: 'group'
  readonly join: 'and' | 'or'
  readonly items: readonly ConditionItem[]
}

/** A part of an address that the form cannot edit; it stays as it is. */
interface RawCondition {
  readonly kind: 'raw'
  readonly filters: Filters
}

/** An element of a group. */
export type ConditionItem = Condition | ConditionGroup | RawCondition

/** Filters in the notation of the API. */
export type Filters = Readonly<Record<string, QueryData>>

/** Comparisons of the form, with those of the API. */
const comparisons = {
  contains: '$containsi',
  notContains: '$notContainsi',
  startsWith: '$startsWithi',
  is: '$eq',
  oneOf: '$in',
  isNot: '$ne',
  less: '$lt',
  atMost: '$lte',
  more: '$gt',
  atLeast: '$gte',
  last: '$gte',
  me: '$eq',
  notMe: '$ne',
  empty: '$null',
  filled: '$notNull',
} as const

/** A comparison of the form. */
export type Operator = keyof typeof comparisons

/** Kinds of attributes by their comparisons. */
export type ComparedKind = 'text' | 'number' | 'date' | 'boolean' | 'choice' | 'relation' | 'person' | 'state'

/** Comparisons of a kind of attribute, the usual one first. */
export const operatorsOf: Readonly<Record<ComparedKind, readonly Operator[]>> = {
  text: ['contains', 'notContains', 'is', 'isNot', 'startsWith', 'empty', 'filled'],
  number: ['is', 'isNot', 'less', 'atMost', 'more', 'atLeast', 'empty', 'filled'],
  date: ['last', 'atLeast', 'less', 'is', 'empty', 'filled'],
  boolean: ['is', 'empty', 'filled'],
  choice: ['is', 'isNot', 'empty', 'filled'],
  relation: ['oneOf', 'empty', 'filled'],
  person: ['me', 'notMe', 'empty', 'filled'],
  state: ['is'],
}

/** Comparisons without a value. */
export const takesNoValue = (operator: Operator): boolean => ['empty', 'filled', 'me', 'notMe'].includes(operator)

/** The condition on the state of a document; it takes the state itself. */
const stateName = '$state'

/** The reader in a filter: replaced by their id in requests, so that a shared address means everybody's own. */
const meToken = 'me'
/** A number of days before today, as in `-7d`. */
const daysToken = /^-(\d{1,4})d$/

/** The conditions of a filter; null is no condition. */
export function readConditions(filters: QueryData | null): ConditionGroup {
  if (filters === null || typeof filters === 'string' || Array.isArray(filters)) return { kind: 'group', join: 'and', items: [] }
  const item = itemOf(filters as Filters)
  return item.kind === 'group' && item.join === 'and' ? item : { kind: 'group', join: 'and', items: [item] }
}

/** The members of an object, joined by "and". */
function itemOf(filters: Filters): ConditionItem {
  const items = Object.entries(filters).flatMap(([name, value]) => membersOf(name, value))
  return items.length === 1 ? items[0]! : { kind: 'group', join: 'and', items }
}

function membersOf(name: string, value: QueryData): readonly ConditionItem[] {
  const raw: ConditionItem = { kind: 'raw', filters: { [name]: value } }
  if (name === '$and' || name === '$or') {
    const list = listOf(value)
    if (list === null) return [raw]
    return [{ kind: 'group', join: name === '$and' ? 'and' : 'or', items: list.map(itemOf) }]
  }
  if (name === stateName && typeof value === 'string') return [{ kind: 'condition', path: [name], operator: 'is', value }]
  return name.startsWith('$') ? [raw] : (comparisonsOf([name], value) ?? [raw])
}

/** Indexed parameters with gaps are objects. */
function listOf(value: QueryData): readonly Filters[] | null {
  if (typeof value === 'string') return null
  const list = Array.isArray(value) ? value : Object.values(value)
  return list.every((one) => typeof one === 'object' && !Array.isArray(one)) ? (list as readonly Filters[]) : null
}

function comparisonsOf(path: readonly string[], value: QueryData): readonly Condition[] | null {
  if (typeof value === 'string') return [{ kind: 'condition', path, operator: 'is', value }]
  if (Array.isArray(value)) return null
  const found: Condition[] = []
  for (const [name, inner] of Object.entries(value)) {
    const made = name.startsWith('$') ? comparisonOf(path, name, inner) : comparisonsOf([...path, name], inner)
    if (made === null) return null
    found.push(...made)
  }
  return found
}

/** Linked documents are compared by their ids, which the value of a condition lists. */
const linkedId = 'documentId'

/** The ids in the value of a condition on links. */
export const linkedIds = ({ operator, value }: Condition): readonly string[] =>
  operator === 'oneOf' ? value.split(',').filter((id) => id !== '') : []

const isId = (value: QueryData): value is string => typeof value === 'string' && /^[\w-]+$/.test(value)

function comparisonOf(path: readonly string[], name: string, value: QueryData): readonly Condition[] | null {
  if (name === '$in') {
    const ids = typeof value === 'string' ? [value] : Object.values(value)
    const isLinked = path.length === 2 && path[1] === linkedId && !isPersonAttribute(path[0]!)
    if (!isLinked || ids.length === 0 || !ids.every(isId)) return null
    return [{ kind: 'condition', path: [path[0]!], operator: 'oneOf', value: ids.join(',') }]
  }
  if (typeof value !== 'string') return null
  const condition = (operator: Operator, given = value): readonly Condition[] => [{ kind: 'condition', path, operator, value: given }]
  if (name === '$null' || name === '$notNull') return condition((name === '$null') === (value !== 'false') ? 'empty' : 'filled', '')
  const isPerson = path.length === 2 && isPersonAttribute(path[0]!) && path[1] === 'id'
  if (isPerson && value === meToken && (name === '$eq' || name === '$ne'))
    return [{ kind: 'condition', path: [path[0]!], operator: name === '$eq' ? 'me' : 'notMe', value: '' }]
  const days = daysToken.exec(value)
  if (name === '$gte' && days !== null) return condition('last', days[1])
  const known = (Object.keys(comparisons) as Operator[]).find((one) => comparisons[one] === name)
  return known === undefined ? null : condition(known)
}

/** Attributes of every type that hold an administrator. */
export const isPersonAttribute = (name: string): boolean => name === 'createdBy' || name === 'updatedBy'

/** Filters of conditions; null where there are none. */
export function writeConditions(group: ConditionGroup): Filters | null {
  const filters = group.items.map(filtersOf).filter((one) => one !== null)
  if (filters.length === 0) return null
  return filters.length === 1 ? filters[0]! : { [group.join === 'and' ? '$and' : '$or']: filters }
}

function filtersOf(item: ConditionItem): Filters | null {
  if (item.kind === 'raw') return item.filters
  if (item.kind === 'group') return writeConditions(item)
  const { operator } = item
  if (item.path[0] === stateName) return { [stateName]: item.value }
  const isMe = operator === 'me' || operator === 'notMe'
  if (operator === 'oneOf') return { [item.path[0]!]: { [linkedId]: { $in: linkedIds(item) } } }
  const value = isMe ? meToken : operator === 'last' ? `-${item.value}d` : takesNoValue(operator) ? 'true' : item.value
  const path = isMe ? [...item.path, 'id'] : item.path
  return path.reduceRight<QueryData>((inner, name) => ({ [name]: inner }), { [comparisons[operator]]: value }) as Filters
}

/** Values that a request has in the place of tokens. */
export interface FilterContext {
  readonly me: number
  readonly today: Date
}

/** Filters for a request: "me" is the reader's id, and "7 days ago" a date. */
export function resolveFilters(filters: QueryData, context: FilterContext): QueryData {
  if (typeof filters === 'string') return filters
  if (Array.isArray(filters)) return filters.map((one: QueryData) => resolveFilters(one, context))
  return Object.fromEntries(
    Object.entries(filters).map(([name, value]) => {
      if (isPersonAttribute(name) && isMeFilter(value)) return [name, { id: replaceValues(value.id, String(context.me)) }]
      const days = name === '$gte' && typeof value === 'string' ? daysToken.exec(value) : null
      return [name, days === null ? resolveFilters(value, context) : dayBefore(context.today, Number(days[1]))]
    }),
  )
}

function isMeFilter(value: QueryData): value is { readonly id: Filters } {
  if (typeof value !== 'object' || !('id' in value) || typeof value.id !== 'object' || Array.isArray(value.id)) return false
  return Object.values(value.id).every((one) => one === meToken)
}

const replaceValues = (filters: Filters, value: string): Filters => Object.fromEntries(Object.keys(filters).map((name) => [name, value]))

/** A date of the reader's calendar, as `2026-11-22`. */
function dayBefore(today: Date, days: number): string {
  const day = new Date(today.getFullYear(), today.getMonth(), today.getDate() - days)
  const two = (value: number) => String(value).padStart(2, '0')
  return `${String(day.getFullYear()).padStart(4, '0')}-${two(day.getMonth() + 1)}-${two(day.getDate())}`
}
