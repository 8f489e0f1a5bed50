// Values of filters that no document can have, or that mean something else than they seem to.
import type { ApiError } from '../../foundation/errors/errors.js'
import type { Model, Scalar, Schema } from '../../model/schema/types.js'
import { isOperator, type OperatorName, operators } from '../../query/operators.js'
import { isObject } from '../../query/rest/parameters.js'
import { readValue } from '../../query/rest/values.js'
import type { Hint } from './exchange.js'
import { listed, quoted, shown, similar } from './sentences.js'
import { labelOf, looksLikeDocumentId, nameOf, shapesOf } from './shapes.js'

/** One condition of a filter: an attribute, or the row behind a relation, compared with a value. */
export interface FilterCondition {
  /** As the query string writes it: `filters[author][$eq]`. */
  readonly written: string
  /** Without the operator: `filters[author]`. */
  readonly place: string
  readonly attribute: Scalar
  /** What the attribute belongs to; for a relation compared with a value, what it leads to. */
  readonly shape: Schema
  /** True if a relation was compared with a value, which is a row id. */
  readonly isRelation: boolean
  readonly operator: OperatorName
  readonly value: unknown
}

/** Conditions that hints look at, and levels of filters. */
const [mostConditions, deepest] = [200, 12]

/** The conditions of a filter; what the model lacks is skipped. */
export function* conditionsOf(model: Model, shape: Schema, node: unknown, place: string, depth = 0): Generator<FilterCondition> {
  if (!isObject(node) || depth > deepest) return
  for (const [name, value] of Object.entries(node)) {
    if (/^\$(?:and|or|not)$/.test(name)) {
      for (const [index, member] of Array.isArray(value) ? value.entries() : [[null, value] as const])
        yield* conditionsOf(model, shape, member, index === null ? `${place}[${name}]` : `${place}[${name}][${index}]`, depth + 1)
      continue
    }
    const attribute = shape.attributes.get(name)
    if (attribute === undefined) continue
    const here = `${place}[${name}]`
    if (attribute.kind === 'scalar') yield* compared({ place: here, attribute, shape, isRelation: false }, value)
    for (const target of shapesOf(model, attribute)) {
      const id = target.attributes.get('id') as Scalar
      yield* compared({ place: here, attribute: id, shape: target, isRelation: true }, value)
      yield* conditionsOf(model, target, value, here, depth + 1)
    }
  }
}

type FilteredValue = Pick<FilterCondition, 'place' | 'attribute' | 'shape' | 'isRelation'>

/** The conditions on one attribute: a value, a list, or an object of operators. */
function* compared(what: FilteredValue, node: unknown, depth = 0): Generator<FilterCondition> {
  const condition = (operator: OperatorName, value: unknown, written: string): FilterCondition => ({ ...what, operator, value, written })
  if (!isObject(node)) {
    for (const value of Array.isArray(node) ? node : [node]) if (!isObject(value)) yield condition('$eq', value, what.place)
    return
  }
  for (const [name, operand] of Object.entries(node)) {
    if (name === '$not' && depth < deepest) yield* compared(what, operand, depth + 1)
    if (!isOperator(name)) continue
    for (const value of Array.isArray(operand) ? operand : [operand])
      if (!isObject(value)) yield condition(name, value, `${what.place}[${name}]`)
  }
}

type Check = (condition: FilterCondition, text: string, strictBooleans: boolean) => string | null

/** What is looked at, in this order. */
const checks: readonly Check[] = [
  wordForNothing,
  rowId,
  noChoice,
  noFlag,
  (condition, text) => (operators[condition.operator].takes === 'flag' ? null : list(condition, text)),
  noValue,
  wildcard,
]

/** Silent lists, and errors about values that do not name the attribute. */
export const wrongValue: Hint = ({ config, model, type, parameters, status, error }) => {
  if (type === null || (status >= 300 && (status !== 400 || 'key' in (error?.details ?? {})))) return null
  let looked = 0
  for (const condition of conditionsOf(model, type, parameters.filters, 'filters')) {
    if (looked++ > mostConditions) return null
    for (const check of checks) {
      const found = check(condition, String(condition.value ?? ''), config.contract === 'specification')
      if (found !== null) return found
    }
  }
  return null
}

/** 400: `$between` with one value. */
export const oneOfTwo: Hint = ({ model, type, parameters, status, error }) => {
  if (type === null || status !== 400 || 'key' in (error?.details ?? {})) return null
  for (const { operator, place, value } of conditionsOf(model, type, parameters.filters, 'filters'))
    if (operator === '$between')
      return `$between takes two values: write ${place}[$between][0]=${shown(encodeURIComponent(String(value)))}&${place}[$between][1]=…`
  return null
}

/** What a client writes that has no value. */
function wordForNothing({ written, place, attribute, operator }: FilterCondition, text: string): string | null {
  if (operators[operator].takes === 'flag' || !/^(?:null|undefined|NaN|\[object Object\])$/.test(text)) return null
  if (text === 'null') return `${written}=null compares with the text "null". For no value, write ${place}[$null]=true`
  return `${written} is the text ${quoted(text)}: the client sent a variable without a value for ${attribute.name}.`
}

/** Rows behind relations are compared by their numeric ids. */
function rowId({ written, place, attribute, shape, isRelation, operator }: FilterCondition, text: string): string | null {
  const isId = attribute.system && attribute.name === 'id'
  const label = labelOf(shape)
  if (isRelation && label !== null && !operators[operator].typed && operators[operator].takes !== 'flag')
    return `${written} compares row ids of ${nameOf(shape)}. Write ${place}[${label}][${operator}]=${encodeURIComponent(text)}`
  if (attribute.system && attribute.name === 'documentId' && /^\d{1,15}$/.test(text))
    return `${written}=${text}: a documentId has 24 letters and digits. ${text} looks like a row id: ${place.replace(/\[documentId\]$/, '[id]')}=${text}`
  if (!isId || !operators[operator].typed || operators[operator].takes === 'flag' || /^-?\d{1,15}$/.test(text) || text === '') return null
  const above = isRelation ? place : place.replace(/\[id\]$/, '')
  if (/^\d+(?:\s*,\s*\d+)+$/.test(text)) return null
  if (looksLikeDocumentId(text))
    return `${written} compares row ids, which are numbers. For a documentId, write ${above}[documentId][$eq]=${text}`
  const byLabel = label === null ? '' : `, or ${above}[${label}][$eq]=${encodeURIComponent(text)}`
  return `${written} compares row ids of ${nameOf(shape)}, which are numbers, not ${quoted(text)}. Write ${above}[documentId][$eq]=<documentId>${byLabel}`
}

/** A value that the enumeration does not have. */
function noChoice({ written, attribute, operator }: FilterCondition, text: string): string | null {
  const choices = attribute.source.enum
  if (attribute.type !== 'enumeration' || !Array.isArray(choices) || text === '') return null
  if (!/^\$(?:eqi?|nei?|in|notIn)$/.test(operator)) return null
  const names = choices.map(String)
  if (names.includes(text) || (operator.endsWith('i') && names.some((name) => name.toLowerCase() === text.toLowerCase()))) return null
  const parts = text.split(',')
  if (parts.length > 1 && parts.every((part) => names.includes(part.trim()))) return null
  const meant = similar(text, names)
  return `${written}=${shown(text)}: no document has this value, ${attribute.name} is an enumeration.${meant === null ? '' : ` Did you mean "${meant}"?`} Values: ${listed(names)}.`
}

/** Words that look like true or false. */
function noFlag({ written, attribute, operator }: FilterCondition, text: string, strictBooleans: boolean): string | null {
  const isFlag = operators[operator].takes === 'flag'
  if (!isFlag && (strictBooleans || attribute.type !== 'boolean' || !operators[operator].typed)) return null
  if (/^(?:false|t|f|1|0|)$/.test(text) || text.toLowerCase() === 'true') return null
  return `${written}=${shown(text)} counts as true, as every text but false, f, 0 and nothing does. Write true or false.`
}

/** The operator for several values that asks the question of one for a single value. */
const lists: Readonly<Partial<Record<OperatorName, OperatorName>>> = {
  ...{ $eq: '$in', $eqi: '$in', $in: '$in', $between: '$between' },
  ...{ $ne: '$notIn', $nei: '$notIn', $notIn: '$notIn' },
}

/** `1,2,3` where a list has one parameter for each value. */
function list({ place, attribute, operator }: FilterCondition, text: string): string | null {
  const isNumber = /^(?:integer|biginteger|float|decimal)$/.test(attribute.type) || (attribute.system && attribute.name === 'id')
  const parts = text.split(',').map((part) => part.trim())
  const isList = parts.length > 1 && (isNumber || attribute.type === 'enumeration' || operator === '$in' || operator === '$notIn')
  if (!isList || parts.some((part) => part === '' || part.includes(' '))) return null
  const written = lists[operator]
  if (written === undefined) return null
  const values = parts.slice(0, 3).map((part, index) => `${place}[${written}][${index}]=${part}`)
  return `A list is one parameter for each value: ${values.join('&')}`
}

/** What errors say of a value without its attribute. */
function noValue({ written, attribute, operator, value }: FilterCondition, text: string, strictBooleans: boolean): string | null {
  if (!operators[operator].typed || operators[operator].takes === 'flag' || value === null || typeof value === 'object') return null
  try {
    readValue(attribute, value, strictBooleans)
    return null
  } catch (error) {
    return `${written}=${shown(text)}: ${attribute.name} is of type ${attribute.type} (${(error as ApiError).message}). ${forms[attribute.type] ?? ''}`.trim()
  }
}

const forms: Readonly<Record<string, string>> = {
  boolean: 'Write true or false.',
  date: 'Write it as 2026-11-24.',
  datetime: 'Write it as 2026-11-24T08:00:00.000Z.',
  timestamp: 'Write it as 2026-11-24T08:00:00.000Z.',
  time: 'Write it as 08:00:00.',
  integer: 'Write a number.',
  biginteger: 'Write a number.',
  float: 'Write a number.',
  decimal: 'Write a number, with a point for decimals.',
}

/** Patterns of SQL and shells, which operators for texts do not have. */
function wildcard({ written, operator }: FilterCondition, text: string): string | null {
  if (!/^\$(?:not)?(?:contains|startsWith|endsWith|eq)i?$/i.test(operator) || !/^(?:[%*].+[%*]|\*.+|.+\*)$/.test(text)) return null
  const [bare, isExact] = [text.replace(/[%*]/g, ''), /^\$eqi?$/.test(operator)]
  return `${written}=${shown(text)} looks for the characters "%" and "*" themselves. Write ${isExact ? '$contains, $startsWith or $endsWith' : operator} with ${quoted(bare)}.`
}
