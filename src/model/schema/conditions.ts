// Conditional attributes: `conditions.visible` is a json-logic rule on the values of the same level; if it does not hold, the attribute is
// absent. Rules are limited when schemas are read, so that evaluation is cheap.
import jsonLogic from 'json-logic-js'
import { didYouMean } from '../../foundation/errors/did-you-mean.js'
import { careless, type Finding, shown, unlikely, wrong } from './finding.js'
import { collectSchemas } from './graph.js'
import type { Attribute, AttributeSource, Model, Schema } from './types.js'

/** Levels and parts of the rule of a conditional attribute. */
const maxConditionDepth = 20
const maxConditionParts = 500

type LevelValues = Readonly<Record<string, unknown>>

/** Excludes method calls, logging, and values that grow with every step. */
const operators: ReadonlySet<string> = new Set([
  ...['var', 'missing', 'missing_some', 'if', '?:', 'and', 'or', '!', '!!'],
  ...['==', '===', '!=', '!==', '<', '<=', '>', '>=', 'in'],
  ...['+', '-', '*', '/', '%', 'min', 'max', 'cat', 'substr', 'merge'],
])
/** Operators that apply a rule to a list; such rules cannot be nested. */
const overLists: ReadonlySet<string> = new Set(['all', 'none', 'some', 'filter', 'map'])

const isObject = (value: unknown): value is LevelValues => typeof value === 'object' && value !== null && !Array.isArray(value)

/** Undefined: always present. As in Strapi, null and false count as undefined. */
const getRule = ({ conditions }: AttributeSource): unknown => (isObject(conditions) ? conditions.visible || undefined : undefined)

/** Absent for some values, so never required of all documents. */
const isConditional = ({ source }: Attribute): boolean => getRule(source) !== undefined

/** Required in every document, regardless of its other values. */
export const isAlwaysRequired = (attribute: Attribute): boolean => attribute.required && !isConditional(attribute)

const conditionalCache = new WeakMap<Schema, readonly Attribute[]>()

function conditionalAttributes(shape: Schema): readonly Attribute[] {
  const known = conditionalCache.get(shape)
  if (known !== undefined) return known
  const found = [...shape.attributes.values()].filter(isConditional)
  conditionalCache.set(shape, found)
  return found
}

export const hasConditionalAttributes = (shape: Schema): boolean => conditionalAttributes(shape).length > 0

/** Objects with members in place of their methods (`{ "toString": 1 }`) cannot be compared. */
function isMet(rule: unknown, values: LevelValues): boolean {
  try {
    return jsonLogic.truthy(jsonLogic.apply(rule as never, values))
  } catch {
    return false
  }
}

const nothing: ReadonlySet<string> = new Set()

/** Names of attributes that are absent for these values. */
export function hiddenAttributes(shape: Schema, values: LevelValues): ReadonlySet<string> {
  const conditional = conditionalAttributes(shape)
  if (conditional.length === 0) return nothing
  const hidden = conditional.filter(({ source }) => !isMet(getRule(source), values))
  return new Set(hidden.map(({ name }) => name))
}

const withConditions = new WeakMap<Schema, boolean>()

/** Includes the components below it. */
export function hasConditions(model: Model, shape: Schema): boolean {
  const known = withConditions.get(shape)
  if (known !== undefined) return known
  const has = collectSchemas(model, shape).some(hasConditionalAttributes)
  withConditions.set(shape, has)
  return has
}

/** Checks form, size, operators and attribute names of a condition. */
export function checkCondition(
  { attributes }: { readonly attributes: Readonly<Record<string, AttributeSource>> },
  name: string,
): readonly Finding[] {
  const source = attributes[name]!
  const path = `attributes.${name}.conditions`
  if (source.conditions === undefined || source.conditions === null) return []
  if (!isObject(source.conditions))
    return [careless(path, `is ${JSON.stringify(source.conditions)}; it must be an object: { "visible": … }`)]
  const rule = getRule(source)
  const named = new Set<string>()
  const problem = findRuleError(rule, named)
  if (problem !== null) return [wrong(`${path}.visible`, problem)]
  return [...named].flatMap((other) => {
    const attribute = Object.hasOwn(attributes, other) ? attributes[other]! : null
    if (attribute === null)
      return [unlikely(`${path}.visible`, `${shown(other)} is not an attribute`, { given: other, known: () => Object.keys(attributes) })]
    return attribute.type === 'relation' || attribute.type === 'media'
      ? [unlikely(`${path}.visible`, `"${other}" is a ${attribute.type}: conditions see values alone, so it counts as absent`)]
      : []
  })
}

/** Returns an error or null. Adds the attributes that the rule reads to `named`. */
function findRuleError(rule: unknown, named: Set<string>): string | null {
  let parts = 0
  const visit = (part: unknown, depth: number, ofList: boolean): string | null => {
    parts += 1
    if (parts > maxConditionParts) return `has more than ${maxConditionParts} parts`
    if (typeof part !== 'object' || part === null) return null
    if (depth === 0) return `is nested more than ${maxConditionDepth} levels deep`
    if (Array.isArray(part)) return firstOf(part, (one) => visit(one, depth - 1, ofList))
    const [[operator, given] = ['', null], ...others] = Object.entries(part)
    // As in json-logic, an object with several keys, or with none, is a plain value.
    if (operator === '' || others.length > 0) return null
    const values: readonly unknown[] = Array.isArray(given) ? given : [given]
    if (operator === 'var' && !ofList && typeof values[0] === 'string' && values[0] !== '') named.add(values[0].split('.', 1)[0]!)
    if (overLists.has(operator)) {
      if (ofList) return `has "${operator}" inside of the rule of another list`
      return visit(values[0], depth - 1, false) ?? firstOf(values.slice(1), (one) => visit(one, depth - 1, true))
    }
    if (!operators.has(operator))
      return `has ${JSON.stringify(operator.slice(0, 50))}, which is not an operator of conditions${didYouMean(operator.slice(0, 50), [...operators, ...overLists])}`
    return firstOf(values, (one) => visit(one, depth - 1, ofList))
  }
  return visit(rule, maxConditionDepth, false)
}

function firstOf(parts: readonly unknown[], problem: (part: unknown) => string | null): string | null {
  for (const part of parts) {
    const found = problem(part)
    if (found !== null) return found
  }
  return null
}
