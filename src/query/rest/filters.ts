// `filters` and `_q` become a tree of conditions, with values of the attributes' types. One walk: finds every name, checks the caller's grants, converts every value.
import { type ApiError, inputError, invalidKey } from '../../foundation/errors/errors.js'
import { assertNever, type ContentType, type Scalar, type Schema } from '../../model/schema/types.js'
import { attributeTypes } from '../../model/types/attribute-types.js'
import { readFlag } from '../../model/types/numbers.js'
import { isOperator, type OperatorName, operators } from '../operators.js'
import type { DocumentState, Filter } from '../request.js'
import { documentStates, isObject, stateName } from '../request.js'
import {
  bind,
  chargeNode,
  deferError,
  enterTarget,
  filterRank,
  findComparable,
  getTarget,
  hasState,
  isReadable,
  mayTraverse,
  type Resolver,
  tryConvert,
} from './resolve.js'

/**
 * Reads a `filters` parameter of `shape`. Null without a condition.
 * @throws ApiError 400 for names that do not exist or may not be seen, and for invalid values.
 */
export function readFilters(walk: Resolver, shape: Schema, node: unknown): Filter | null {
  if (node === undefined || node === null) return null
  if (Array.isArray(node)) throw notAFilter('The filters parameter must be an object')
  if (!isObject(node)) throw notAFilter('The filters parameter must be an object or an array')
  return readObject(walk, shape, node, [])
}

const notAFilter = (message: string): ApiError => inputError(message, ['filters'], 'type', { expected: 'object' })

/** All conditions of one object must hold, below a relation for the same target. */
function readObject(walk: Resolver, shape: Schema, node: Readonly<Record<string, unknown>>, path: readonly string[]): Filter | null {
  return joinAll(Object.entries(node).map(([name, value]) => readEntry(walk, shape, name, value, path)))
}

const joinAll = (filters: readonly (Filter | null)[]): Filter | null => {
  const some = filters.filter((filter) => filter !== null)
  return some.length === 0 ? null : some.length === 1 ? some[0]! : { kind: 'all', of: some }
}

function readEntry(walk: Resolver, shape: Schema, name: string, value: unknown, path: readonly string[]): Filter | null {
  chargeNode(walk)
  if (name === '$and' || name === '$or') return readJunction(walk, shape, name, value, path)
  if (name === '$not') return readNot(walk, shape, value, path)
  if (isOperator(name)) {
    // An operator among attributes compares the row itself: `filters[author][$null]=true`, `filters[author][$in]=1`.
    if (path.length === 0) return refuse(walk, [name], `The operator ${name} needs an attribute`)
    return compare(walk, shape.attributes.get('id') as Scalar, name, value, [], path)
  }
  if (name === stateName && path.length === 0 && hasState(walk, shape)) return readState(walk, value)
  if (name.startsWith('$')) throw invalidKey(walk.param, name, path.length === 0 ? null : path.join('.'))
  const attribute = findComparable(walk, shape, name, path, 'condition')
  if (attribute === null) return null
  const here = [...path, name]
  if (attribute.kind === 'scalar') return readScalar(walk, attribute, value, here)
  if (here.length > walk.filterRelations) throw tooFar(walk, here)
  const target = getTarget(walk.model, attribute)
  const where = readRelated(enterTarget(walk, attribute, target), target, value, here)
  if (where === null || (walk.dropsRestricted && !mayTraverse(walk, attribute))) return null
  return { kind: 'related', path: attribute, target, where }
}

/** Nodes of a condition on the state, which compares two versions of a document. */
const stateNodes = 10

/** A condition on the state: a value, or a list of values, one of which holds. */
function readState(walk: Resolver, value: unknown): Filter | null {
  for (let node = 0; node < stateNodes; node++) chargeNode(walk)
  const states = [...new Set(toList(value))]
  const isKnown = (state: unknown): state is DocumentState => documentStates.some((known) => known === state)
  if (states.length === 0 || !states.every(isKnown))
    return refuse(walk, [stateName], `${stateName} takes ${documentStates.join(', ')}, or a list of these`)
  return { kind: 'state', states, model: walk.model }
}

const tooFar = ({ param, filterRelations: max }: Resolver, path: readonly string[]): ApiError =>
  inputError(`Filters cannot cross more than ${max} relations`, [param, ...path], 'tooMany', { max })

function readRelated(walk: Resolver, target: Schema, value: unknown, path: readonly string[]): Filter | null {
  if (isObject(value)) return readObject(walk, target, value, path)
  const id = target.attributes.get('id') as Scalar
  return compare(walk, id, Array.isArray(value) ? '$in' : '$eq', value, [], path)
}

function readJunction(walk: Resolver, shape: Schema, name: '$and' | '$or', value: unknown, path: readonly string[]): Filter | null {
  if (!Array.isArray(value)) {
    if (isObject(value)) readObject(walk, shape, value, path)
    return refuse(walk, [...path, name], `${name} takes a list of filters`)
  }
  const of = value.map((member) => readMember(walk, shape, name, member, path))
  if (name === '$and') return joinAll(of)
  // An empty sub-filter neither restricts nor matches.
  const some = of.filter((filter) => filter !== null)
  return some.length === 0 ? null : some.length === 1 ? some[0]! : { kind: 'any', of: some }
}

/** The members of `$not` must not all hold. Below a relation a bare value is the row id, as without `$not`. */
function readNot(walk: Resolver, shape: Schema, value: unknown, path: readonly string[]): Filter | null {
  const id = shape.attributes.get('id') as Scalar
  const isBare = (member: unknown): boolean => path.length > 0 && !isObject(member) && !Array.isArray(member)
  const of = toList(value).map((member) =>
    isBare(member) ? compare(walk, id, '$eq', member, [], path) : readMember(walk, shape, '$not', member, path),
  )
  const filter = joinAll(of)
  return filter === null ? null : { kind: 'not', of: filter }
}

/** A member of `$and`, `$or`, `$not`: a filter, or a list of members that must all hold. */
function readMember(walk: Resolver, shape: Schema, name: string, member: unknown, path: readonly string[]): Filter | null {
  if (isObject(member)) return readObject(walk, shape, member, path)
  chargeNode(walk)
  if (Array.isArray(member)) return joinAll(member.map((one) => readMember(walk, shape, name, one, path)))
  return refuse(walk, [...path, name], `${name} takes ${name === '$not' ? 'a filter' : 'a list of filters'}`)
}

function readScalar(walk: Resolver, attribute: Scalar, value: unknown, path: readonly string[]): Filter | null {
  if (Array.isArray(value)) return compare(walk, attribute, '$in', value, path)
  if (!isObject(value)) return compare(walk, attribute, '$eq', value, [], path)
  return joinAll(
    Object.entries(value).map(([name, operand]) => {
      chargeNode(walk)
      if (name === '$not') {
        const inner = joinAll(toList(operand).map((member) => readScalar(walk, attribute, member, path)))
        return inner === null ? null : { kind: 'not', of: inner }
      }
      if (name === '$and' || name === '$or')
        return refuse(walk, [...path, name], `${name} joins filters, it cannot be below ${attribute.name}`)
      if (!isOperator(name)) throw invalidKey(walk.param, name, getErrorPath(attribute, path))
      return compare(walk, attribute, name, operand, path)
    }),
  )
}

/** One condition. An object instead of a value is refused: conditions are never dropped silently. `at`: where errors of values are. */
function compare(
  walk: Resolver,
  attribute: Scalar,
  operator: OperatorName,
  operand: unknown,
  path: readonly string[],
  at = path,
): Filter | null {
  const { takes } = operators[operator]
  if (isObject(operand))
    return refuse(walk, [...at, operator], `${operator} of ${attribute.name} takes ${operandNames[takes]}, not an object`)
  for (const member of Array.isArray(operand) ? operand : []) {
    if (isObject(member)) throw invalidKey(walk.param, Object.keys(member)[0] ?? '', getErrorPath(attribute, path))
  }
  switch (takes) {
    case 'flag': {
      // A list counts as true.
      const isNull = (operator === '$null') === readFlag(operand)
      return { kind: 'compare', attribute, operator: isNull ? '$null' : '$notNull', values: [] }
    }
    case 'two': {
      const values = bindValues(walk, attribute, operator, operand, at)
      if (values.length !== 2) refuse(walk, [...at, operator], `${operator} takes two values`)
      return { kind: 'compare', attribute, operator, values }
    }
    case 'many':
      return { kind: 'compare', attribute, operator, values: bindValues(walk, attribute, operator, operand, at) }
    case 'one':
      return Array.isArray(operand)
        ? compareAny(walk, attribute, operator, operand, path, at)
        : compareOne(walk, attribute, operator, operand, at)
    default:
      return assertNever(takes)
  }
}

const operandNames = { one: 'a value', two: 'two values', many: 'a list of values', flag: 'true or false' } as const

/** Operators for a comparison with null, which equals nothing in SQL. */
const withoutValue: Partial<Record<OperatorName, OperatorName>> = { $eq: '$null', $eqi: '$null', $ne: '$notNull', $nei: '$notNull' }

function compareOne(walk: Resolver, attribute: Scalar, operator: OperatorName, operand: unknown, at: readonly string[]): Filter {
  const state = operand === null ? withoutValue[operator] : undefined
  if (state !== undefined) return { kind: 'compare', attribute, operator: state, values: [] }
  return { kind: 'compare', attribute, operator, values: [bindValue(walk, attribute, operator, operand, at)] }
}

/** A list for an operator that takes one value: the condition, also a negated one, holds for any of them. */
function compareAny(
  walk: Resolver,
  attribute: Scalar,
  operator: OperatorName,
  operands: readonly unknown[],
  path: readonly string[],
  at: readonly string[],
): Filter | null {
  const isList = operands.length === 0 || (operator === '$eq' && !operands.includes(null))
  if (isList) return compare(walk, attribute, '$in', operands, path, at)
  const some = operands.map((operand) => {
    chargeNode(walk)
    const isNested = Array.isArray(operand) && !operators[operator].typed
    return isNested
      ? compare(walk, attribute, operator, operand, path, at)
      : compareOne(walk, attribute, operator, unwrapSingle(operand), at)
  })
  const of = some.filter((filter) => filter !== null)
  return of.length === 1 ? of[0]! : { kind: 'any', of }
}

function bindValues(walk: Resolver, attribute: Scalar, operator: OperatorName, operand: unknown, at: readonly string[]): readonly number[] {
  return toList(operand).map((value) => bindValue(walk, attribute, operator, unwrapSingle(value), at))
}

/** Binds a value of the attribute's type, or as text. */
function bindValue(walk: Resolver, attribute: Scalar, operator: OperatorName, value: unknown, at: readonly string[]): number {
  const read = () => (operators[operator].typed ? readValue(attribute, value, walk.contract.strictBooleans) : readText(value))
  return bind(walk, tryConvert(walk, filterRank(walk), read, null, at))
}

/** Defers the error about a meaningless filter, which becomes no condition. */
function refuse(walk: Resolver, path: readonly string[], message: string): null {
  deferError(walk, filterRank(walk), inputError(message, [walk.param, ...path], 'format', { expected: 'filter' }))
  return null
}

/** The path of an invalid operator in its error: below the attribute; ids are not attributes, so next to them. */
function getErrorPath({ system, name }: Scalar, path: readonly string[]): string | null {
  const errorPath = system && (name === 'id' || name === 'documentId') ? path.slice(0, -1) : path
  return errorPath.length === 0 ? null : errorPath.join('.')
}

const unwrapSingle = (value: unknown): unknown => (Array.isArray(value) && value.length === 1 ? value[0] : value)
const toList = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [value])

/** Reads `_q`: texts that contain the words, numbers whose digits do. Private attributes are never searched (Strapi leaks them). */
export function readSearch(walk: Resolver, type: ContentType, value: unknown): Filter | null {
  if (value === undefined || value === null || value === '') return null
  if (typeof value !== 'string') {
    deferError(walk, 'search', inputError('Invalid _q parameter. Expected a string', ['_q'], 'type', { expected: 'string' }))
    return null
  }
  const isNumber = value.trim() !== '' && Number.isFinite(Number(value))
  const of = [...type.attributes.values()].flatMap((attribute): Filter[] => {
    if (!isReadable(walk, attribute) || !attribute.searchable) return []
    const { search } = attributeTypes[attribute.type]
    if (search === null || (search === 'number' && !isNumber)) return []
    // Lists of administrators show no ids, whose letters would match short words; a whole one is found.
    const isWhole = walk.seen !== null && attribute.system === true && attribute.name === 'documentId'
    return [{ kind: 'compare', attribute, operator: isWhole ? '$eq' : '$containsi', values: [bind(walk, value)] }]
  })
  // Without a searchable attribute nothing matches.
  return of.length === 0
    ? { kind: 'compare', attribute: type.attributes.get('id') as never, operator: '$in', values: [] }
    : { kind: 'any', of }
}

/**
 * The value to compare `attribute` with. `strictBooleans`: row 15 of the contract.
 * @throws ApiError 400 with the recorded message if the value does not have the attribute's type.
 */
export function readValue(attribute: Scalar, value: unknown, strictBooleans = false): unknown {
  if (value === null || value === undefined) return null
  if (typeof value === 'object') throw inputError(`Invalid value for ${attribute.name}`, [], 'type')
  // Row ids are compared unchecked: a documentId instead finds nothing and does not fail.
  if (attribute.system && attribute.name === 'id') return readId(String(value))
  return attributeTypes[attribute.type].parseQuery(value, attribute, strictBooleans)
}

function readId(text: string): unknown {
  if (/^-?\d{1,15}$/.test(text)) return Number(text)
  // Digits before a NUL would be read as the number.
  return text.includes('\0') ? '' : text
}

/** The operand of LIKE and similar operators; null is the text `null`, as in Strapi. */
function readText(value: unknown): string | null {
  if (value === undefined) return null
  if (typeof value === 'object' && value !== null) throw inputError('Invalid value', [], 'type', { expected: 'string' })
  return String(value)
}
