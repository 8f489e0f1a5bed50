// `filters` becomes a tree of conditions. One walk: finds every name, checks the caller's grants, converts every value.
import { invalidKey, validationError } from '../../foundation/errors/errors.js'
import type { Scalar, Schema } from '../../model/schema/types.js'
import { assertNever } from '../../model/schema/types.js'
import type { OperatorName } from '../operators.js'
import { isOperator, operators } from '../operators.js'
import type { Filter } from '../request.js'
import { isObject } from './parameters.js'
import type { Resolver } from './resolve.js'
import { beyond, bind, chargeNode, convert, deferError, filterRank, findComparable, isOpen, targetOf } from './resolve.js'
import { readFlag, readText, readValue } from './values.js'

/**
 * Reads a `filters` parameter of `shape`. Null where it holds no condition.
 * @throws ApiError 400 for names that do not exist or may not be seen, and for values that cannot be understood.
 */
export function readFilters(reading: Resolver, shape: Schema, node: unknown): Filter | null {
  if (node === undefined || node === null) return null
  if (Array.isArray(node)) throw validationError('The filters parameter must be an object')
  if (!isObject(node)) throw validationError('The filters parameter must be an object or an array')
  return readObject(reading, shape, node, [])
}

/** All conditions of one object must hold; below a relation they hold for the same target. */
function readObject(reading: Resolver, shape: Schema, node: Readonly<Record<string, unknown>>, path: readonly string[]): Filter | null {
  return all(Object.entries(node).map(([name, value]) => readEntry(reading, shape, name, value, path)))
}

const all = (filters: readonly (Filter | null)[]): Filter | null => {
  const some = filters.filter((filter) => filter !== null)
  return some.length === 0 ? null : some.length === 1 ? some[0]! : { kind: 'all', of: some }
}

function readEntry(reading: Resolver, shape: Schema, name: string, value: unknown, path: readonly string[]): Filter | null {
  chargeNode(reading)
  if (name === '$and' || name === '$or') return readJunction(reading, shape, name, value, path)
  if (name === '$not') return readNot(reading, shape, value, path)
  if (isOperator(name)) {
    // An operator beside attributes compares the row itself: `filters[author][$null]=true`, `filters[author][$in]=1`.
    if (path.length === 0) return senseless(reading, `The operator ${name} needs an attribute`)
    return compare(reading, shape.attributes.get('id') as Scalar, name, value)
  }
  if (name.startsWith('$')) throw invalidKey(reading.param, name, path.length === 0 ? null : path.join('.'))
  const attribute = findComparable(reading, shape, name, path, 'condition')
  if (attribute === null) return null
  const here = [...path, name]
  if (attribute.kind === 'scalar') return readScalar(reading, attribute, value, here)
  if (here.length > reading.filterRelations) throw validationError(`Filters cannot cross more than ${reading.filterRelations} relations`)
  const target = targetOf(reading.model, attribute)
  const where = readRelated(beyond(reading, attribute, target), target, value, here)
  if (where === null || (reading.dropsRestricted && !isOpen(reading, attribute))) return null
  return { kind: 'related', path: attribute, target, where }
}

function readRelated(reading: Resolver, target: Schema, value: unknown, path: readonly string[]): Filter | null {
  if (isObject(value)) return readObject(reading, target, value, path)
  const id = target.attributes.get('id') as Scalar
  return compare(reading, id, Array.isArray(value) ? '$in' : '$eq', value)
}

function readJunction(reading: Resolver, shape: Schema, name: '$and' | '$or', value: unknown, path: readonly string[]): Filter | null {
  if (!Array.isArray(value)) {
    if (isObject(value)) readObject(reading, shape, value, path)
    return senseless(reading, `${name} takes a list of filters`)
  }
  const of = value.map((member) => readMember(reading, shape, name, member, path))
  if (name === '$and') return all(of)
  // An empty sub-filter does not restrict, it is no alternative either.
  const some = of.filter((filter) => filter !== null)
  return some.length === 0 ? null : some.length === 1 ? some[0]! : { kind: 'any', of: some }
}

/** What `$not` holds must not hold together. Below a relation a bare value is the row id, as without `$not`. */
function readNot(reading: Resolver, shape: Schema, value: unknown, path: readonly string[]): Filter | null {
  const id = shape.attributes.get('id') as Scalar
  const isBare = (member: unknown): boolean => path.length > 0 && !isObject(member) && !Array.isArray(member)
  const of = listOf(value).map((member) =>
    isBare(member) ? compare(reading, id, '$eq', member) : readMember(reading, shape, '$not', member, path),
  )
  const filter = all(of)
  return filter === null ? null : { kind: 'not', of: filter }
}

/** A member of `$and`, `$or`, `$not`: a filter, or a list of members that must all hold. */
function readMember(reading: Resolver, shape: Schema, name: string, member: unknown, path: readonly string[]): Filter | null {
  if (isObject(member)) return readObject(reading, shape, member, path)
  chargeNode(reading)
  if (Array.isArray(member)) return all(member.map((one) => readMember(reading, shape, name, one, path)))
  return senseless(reading, `${name} takes ${name === '$not' ? 'a filter' : 'a list of filters'}`)
}

function readScalar(reading: Resolver, attribute: Scalar, value: unknown, path: readonly string[]): Filter | null {
  if (Array.isArray(value)) return compare(reading, attribute, '$in', value, path)
  if (!isObject(value)) return compare(reading, attribute, '$eq', value)
  return all(
    Object.entries(value).map(([name, operand]) => {
      chargeNode(reading)
      if (name === '$not') {
        const inner = all(listOf(operand).map((member) => readScalar(reading, attribute, member, path)))
        return inner === null ? null : { kind: 'not', of: inner }
      }
      if (name === '$and' || name === '$or') return senseless(reading, `${name} joins filters, it cannot stand below ${attribute.name}`)
      if (!isOperator(name)) throw invalidKey(reading.param, name, placeOf(attribute, path))
      return compare(reading, attribute, name, operand, path)
    }),
  )
}

/** One condition. An object in place of a value is refused: a condition never vanishes. */
function compare(
  reading: Resolver,
  attribute: Scalar,
  operator: OperatorName,
  operand: unknown,
  path: readonly string[] = [],
): Filter | null {
  const { takes } = operators[operator]
  if (isObject(operand)) return senseless(reading, `${operator} of ${attribute.name} takes ${taken[takes]}, not an object`)
  for (const member of Array.isArray(operand) ? operand : []) {
    if (isObject(member)) throw invalidKey(reading.param, Object.keys(member)[0] ?? '', placeOf(attribute, path))
  }
  switch (takes) {
    case 'flag': {
      // A list says what a word does that is not `false`.
      const isNull = (operator === '$null') === readFlag(operand)
      return { kind: 'compare', attribute, operator: isNull ? '$null' : '$notNull', values: [] }
    }
    case 'two': {
      const values = valuesOf(reading, attribute, operator, operand)
      if (values.length !== 2) senseless(reading, `${operator} takes two values`)
      return { kind: 'compare', attribute, operator, values }
    }
    case 'many':
      return { kind: 'compare', attribute, operator, values: valuesOf(reading, attribute, operator, operand) }
    case 'one':
      return Array.isArray(operand)
        ? compareAny(reading, attribute, operator, operand, path)
        : compareOne(reading, attribute, operator, operand)
    default:
      return assertNever(takes)
  }
}

const taken = { one: 'a value', two: 'two values', many: 'a list of values', flag: 'true or false' } as const

function compareOne(reading: Resolver, attribute: Scalar, operator: OperatorName, operand: unknown): Filter {
  if (operand === null && operator === '$eq') return { kind: 'compare', attribute, operator: '$null', values: [] }
  if (operand === null && operator === '$ne') return { kind: 'compare', attribute, operator: '$notNull', values: [] }
  return { kind: 'compare', attribute, operator, values: [positionOf(reading, attribute, operator, operand)] }
}

/** A list where an operator takes one value: the condition holds for any of them, also one that is negated. */
function compareAny(
  reading: Resolver,
  attribute: Scalar,
  operator: OperatorName,
  operands: readonly unknown[],
  path: readonly string[],
): Filter | null {
  const isList = operands.length === 0 || (operator === '$eq' && !operands.includes(null))
  if (isList) return compare(reading, attribute, '$in', operands, path)
  const some = operands.map((operand) => {
    chargeNode(reading)
    const isNested = Array.isArray(operand) && !operators[operator].typed
    return isNested ? compare(reading, attribute, operator, operand, path) : compareOne(reading, attribute, operator, single(operand))
  })
  const of = some.filter((filter) => filter !== null)
  return of.length === 1 ? of[0]! : { kind: 'any', of }
}

/** The positions of the values of one operand. */
function valuesOf(reading: Resolver, attribute: Scalar, operator: OperatorName, operand: unknown): readonly number[] {
  return listOf(operand).map((value) => positionOf(reading, attribute, operator, single(value)))
}

/** The position of a value, understood by the attribute's type or as text. */
function positionOf(reading: Resolver, attribute: Scalar, operator: OperatorName, value: unknown): number {
  const read = () => (operators[operator].typed ? readValue(attribute, value, reading.contract.strictBooleans) : readText(value))
  return bind(reading, convert(reading, filterRank(reading), read, null))
}

/** Notes what no filter can mean; there is no condition in its place. */
function senseless(reading: Resolver, message: string): null {
  deferError(reading, filterRank(reading), validationError(message))
  return null
}

/** Where a wrong operator stands: below the attribute, or, as ids are no attributes, where they stand. */
function placeOf({ system, name }: Scalar, path: readonly string[]): string | null {
  const place = system && (name === 'id' || name === 'documentId') ? path.slice(0, -1) : path
  return place.length === 0 ? null : place.join('.')
}

const single = (value: unknown): unknown => (Array.isArray(value) && value.length === 1 ? value[0] : value)
const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [value])
