// What one walk over a query carries with it, and the one place that turns a name into an attribute for a caller.
import type { ApiError, QueryParameter } from '../errors.js'
import { invalidKey, validationError } from '../errors.js'
import type { Grants } from '../grants.js'
import { fileType } from '../model/link.js'
import type { Attribute, Component, ContentType, Model, Scalar } from '../model/types.js'
import type { Contract } from './contract.js'
import type { Path, ValueIndex } from './request.js'

export interface QueryLimits {
  /** Relations and components that one path of a filter may cross. */
  readonly filterRelations: number
  /** Levels, conditions and populated attributes of one request, together. */
  readonly planNodes: number
}

export interface Reading {
  readonly model: Model
  readonly grants: Grants
  readonly contract: Contract
  /** The page's start and limit (`pageValues`), then the values of conditions in the order in which the walk met them. */
  readonly values: unknown[]
  /** The parameter that errors are about; inside a populate it stays `populate`. */
  readonly param: QueryParameter
  readonly budget: { nodes: number }
  /** Relations and components that one path of a filter may cross. */
  readonly filterRelations: number
  /** Relations of the parameter whose target the caller may not find: refused when every name in it has been found. */
  readonly restricted: ApiError[]
  /** Inside a populate, conditions and sort keys behind such a relation are left out instead, like the relation itself. */
  readonly dropsRestricted: boolean
  /** A value that could not be understood: thrown only when every name of the query has been found. */
  readonly late: ApiError[]
}

export function startReading(model: Model, grants: Grants, contract: Contract, limits: QueryLimits): Reading {
  return {
    model,
    grants,
    contract,
    values: [null, null],
    param: 'filters',
    budget: { nodes: limits.planNodes },
    filterRelations: limits.filterRelations,
    restricted: [],
    dropsRestricted: false,
    late: [],
  }
}

/** Reads one parameter with `read`: errors are about it, and restricted relations in it are refused at its end. */
export function within<T>(reading: Reading, param: QueryParameter, read: (reading: Reading) => T): T {
  const inside = { ...reading, param, restricted: [] }
  const found = read(inside)
  const [restricted] = inside.restricted
  if (restricted !== undefined) throw restricted
  return found
}

/** The walk inside a populate: restricted relations are left out. */
export function insidePopulate(reading: Reading): Reading {
  return { ...reading, restricted: [], dropsRestricted: true }
}

/** Binds a value and returns its position. */
export function bind(reading: Reading, value: unknown): ValueIndex {
  return reading.values.push(value) - 1
}

/** Counts one more level, condition or populated attribute. @throws ApiError 400 beyond the limit `planNodes`. */
export function spend(reading: Reading): void {
  reading.budget.nodes--
  if (reading.budget.nodes < 0) throw validationError('The query is too complex')
}

/** The most steps of one dot path. No database joins as many tables, and no answer is nested as deeply. */
const longestPath = 100

/** The names of a dot path. @throws ApiError 400 beyond the most steps. */
export function stepsOf(path: string): readonly string[] {
  const steps = path
    .trim()
    .split('.')
    .filter((step) => step !== '')
  if (steps.length > longestPath) throw validationError('The request is too deep or too complex', {})
  return steps
}

/** Runs a conversion whose failure is reported only after all names have been checked. */
export function convert<T>(reading: Reading, conversion: () => T, instead: T): T {
  try {
    return conversion()
  } catch (error) {
    reading.late.push(error as ApiError)
    return instead
  }
}

/** Whether the caller may see documents of `target` through a relation. Files need no permission. */
export function maySee(reading: Reading, target: string): boolean {
  return target === fileType || reading.grants.may(`${target}.find`)
}

/** The type or component that a path attribute leads to. */
export function targetOf(model: Model, attribute: Path): ContentType | Component {
  if (attribute.kind === 'media') return model.types.get(fileType)!
  if (attribute.kind === 'component') return model.components.get(attribute.component)!
  return model.types.get(attribute.target)!
}

/** True for scalars whose values may be compared, sorted, selected and answered. */
export function isReadable(attribute: Attribute): attribute is Scalar {
  return attribute.kind === 'scalar' && !attribute.private && attribute.type !== 'password'
}

/** Whether the caller may go through `attribute` in a condition or a sort key. */
export function isOpen(reading: Reading, attribute: Path): boolean {
  if (attribute.kind === 'relation') return attribute.storage.kind === 'localizations' || maySee(reading, attribute.target)
  return attribute.kind !== 'morphFrom' || maySee(reading, attribute.target)
}

const pathText = (path: readonly string[]): string | null => (path.length === 0 ? null : path.join('.'))

/**
 * Finds `name` for a condition or a sort key: a readable scalar, or a way to rows that the caller may find.
 * The only producer of attributes for filters, `_q` and sort (security: "Comparison oracle on unreadable values").
 * @throws ApiError 400 `Invalid key` for anything else; for relations that the caller may not see at the end of the parameter.
 */
export function findComparable(
  reading: Reading,
  shape: ContentType | Component,
  name: string,
  path: readonly string[],
  use: 'condition' | 'order',
): Scalar | Path {
  const attribute = shape.attributes.get(name)
  if (attribute === undefined) throw invalidKey(reading.param, name, pathText(path))
  const forbidden = () => invalidKey(reading.param, name, [...path, name].join('.'))
  if (attribute.private) throw forbidden()
  switch (attribute.kind) {
    case 'scalar':
      if (!isReadable(attribute)) throw forbidden()
      return attribute
    case 'relation':
      if (!isOpen(reading, attribute)) reading.restricted.push(forbidden())
      return attribute
    case 'morphFrom':
      if (!isOpen(reading, attribute)) reading.restricted.push(forbidden())
      return attribute
    case 'media':
      if (!reading.contract.mediaFilters && use === 'condition') throw forbidden()
      return attribute
    case 'component':
      return attribute
    default:
      throw forbidden()
  }
}
