// What one walk over a query carries with it, and the one place that turns a name into an attribute for a caller.
import type { ApiError, QueryParameter } from '../../foundation/errors/errors.js'
import { invalidKey, validationError } from '../../foundation/errors/errors.js'
import { type AttributeGrants, type ContentRights, type Grants, grantedBelow, isGranted, noAttributes } from '../../foundation/grants.js'
import { fileType, isClosedType } from '../../model/schema/link.js'
import type { Attribute, ContentType, Model, Relation, Scalar, Schema } from '../../model/schema/types.js'
import { assertNever } from '../../model/schema/types.js'
import type { Contract } from '../contract.js'
import type { PathAttribute, ValueIndex } from '../request.js'

export interface QueryLimits {
  /** Relations and components that one path of a filter may cross. */
  readonly filterRelations: number
  /** Levels, conditions and populated attributes of one request, together. */
  readonly queryComplexity: number
}

export interface Resolver {
  readonly model: Model
  readonly grants: Grants
  /** The attributes that the caller may see of the type or component that the walk is at; null: all that are not private. */
  readonly seen: AttributeGrants | null
  readonly contract: Contract
  /** The page's start and limit (`pageValues`), then the values of conditions in the order in which the walk met them. */
  readonly values: unknown[]
  /** The parameter that errors are about; inside a populate it stays `populate`. */
  readonly param: QueryParameter
  readonly budget: { nodes: number }
  /** Relations and components that one path of a filter may cross. */
  readonly filterRelations: number
  /** Attributes of the parameter that nobody may read: refused when every name in it has been found. */
  readonly forbidden: { readonly rank: number; readonly error: ApiError }[]
  /** Relations of the parameter whose target the caller may not find: refused after these. */
  readonly restricted: ApiError[]
  /** Inside a populate, conditions and sort keys behind such a relation are left out instead, like the relation itself. */
  readonly dropsRestricted: boolean
  /** Inside a scope, which no request has written: it may name what nobody is shown. */
  readonly isTrusted?: true
  /** Values that could not be understood: told only when every name of the query has been found. */
  readonly late: { readonly stage: ErrorRank; readonly error: ApiError }[]
}

/** The order in which values are looked at, once all names are found: a request with several mistakes is told of the first. */
const stages = [
  'pagination',
  'lookup',
  'locale',
  'sort',
  'fields',
  'populate',
  'page',
  'hasPublishedVersion',
  'filters',
  'populatedFilters',
  'search',
  'withCount',
] as const
export type ErrorRank = (typeof stages)[number]

/** Notes an error that is told in its turn. */
export function deferError(reading: Resolver, stage: ErrorRank, error: ApiError): void {
  reading.late.push({ stage, error })
}

/** @throws ApiError the noted error of the earliest stage, if there is one. */
export function throwDeferred({ late, forbidden }: Resolver): void {
  if (forbidden[0] !== undefined) throw forbidden[0].error
  for (const stage of late.length === 0 ? [] : stages) {
    const first = late.find((one) => one.stage === stage)
    if (first !== undefined) throw first.error
  }
}

/** The stage of a sort or fields parameter: what stands inside a populate is looked at with it. */
export const rankOf = (reading: Resolver, parameter: 'sort' | 'fields'): ErrorRank =>
  reading.param === 'populate' ? 'populate' : parameter
/** The stage of a condition. */
export const filterRank = (reading: Resolver): ErrorRank => (reading.param === 'populate' ? 'populatedFilters' : 'filters')

/** Begins a walk at `type`. */
export function openResolver(model: Model, grants: Grants, contract: Contract, limits: QueryLimits, type: ContentType): Resolver {
  return {
    model,
    grants,
    seen: grants.content === undefined ? null : shownOf(grants.content, type.uid),
    contract,
    values: [null, null],
    param: 'filters',
    budget: { nodes: limits.queryComplexity },
    filterRelations: limits.filterRelations,
    forbidden: [],
    restricted: [],
    dropsRestricted: false,
    late: [],
  }
}

/** Reads one parameter with `read`: errors are about it; forbidden attributes and restricted relations are refused at its end. */
export function inParameter<T>(reading: Resolver, param: QueryParameter, read: (reading: Resolver) => T): T {
  const inside: Resolver = { ...reading, param, forbidden: [], restricted: [] }
  const found = read(inside)
  const [forbidden] = inside.forbidden.toSorted((a, b) => a.rank - b.rank)
  if (forbidden !== undefined) throw forbidden.error
  const [restricted] = inside.restricted
  if (restricted !== undefined) throw restricted
  return found
}

/** The walk inside a populate: restricted relations are left out. */
export function insidePopulate(reading: Resolver): Resolver {
  return { ...reading, restricted: [], dropsRestricted: true }
}

/** Binds a value and returns its position. */
export function bind(reading: Resolver, value: unknown): ValueIndex {
  return reading.values.push(value) - 1
}

/** Counts one more level, condition or populated attribute. @throws ApiError 400 beyond the limit `queryComplexity`. */
export function chargeNode(reading: Resolver): void {
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

/** Runs a conversion whose failure is told in its turn. */
export function convert<T>(reading: Resolver, stage: ErrorRank, conversion: () => T, instead: T): T {
  try {
    return conversion()
  } catch (error) {
    deferError(reading, stage, error as ApiError)
    return instead
  }
}

/** Whether the caller may see documents of `target` through a relation. Media attributes need no permission, relations to files do. */
export function maySee(reading: Resolver, target: string): boolean {
  return (reading.isTrusted === true || !isClosedType(target)) && reading.grants.may(`${target}.find`)
}

/** The other locales of a document need no permission of their own; creators are shown where the schema says so. */
const needsNoGrant = ({ storage, name }: Relation): boolean =>
  storage.kind === 'localizations' || name === 'createdBy' || name === 'updatedBy'

/** The type or component that a path attribute leads to. */
export function targetOf(model: Model, attribute: PathAttribute): Schema {
  if (attribute.kind === 'media') return model.types.get(fileType)!
  if (attribute.kind === 'component') return model.components.get(attribute.component)!
  return model.types.get(attribute.target)!
}

/** The walk behind `attribute`, at rows of `target`. A zone has one set of attributes for all its components. */
export function beyond<Walk extends Resolver>(reading: Walk, attribute: Attribute, target: Schema): Walk {
  if (reading.seen === null) return reading
  return target.kind === 'component' ? { ...reading, seen: grantedBelow(reading.seen, attribute.name) } : atType(reading, target)
}

/** The walk at rows of `type`. */
export const atType = <Walk extends Resolver>(reading: Walk, { uid }: ContentType): Walk =>
  reading.seen === null ? reading : { ...reading, seen: shownOf(reading.grants.content!, uid) }

const shownOf = ({ readable }: ContentRights, uid: string): AttributeGrants => readable.get(uid) ?? noAttributes

/** Whether the caller may see an attribute of what the walk is at. */
export const isShown = ({ seen }: Resolver, { name, private: isPrivate }: Attribute): boolean =>
  seen === null ? !isPrivate : isGranted(seen, name)

/** True for scalars that callers of the content API may compare, sort by, select and be answered. */
export const isPublic = (attribute: Attribute): attribute is Scalar =>
  attribute.kind === 'scalar' && !attribute.private && attribute.type !== 'password'

/** True for scalars whose values may be compared, sorted, selected and answered. */
export function isReadable(reading: Resolver, attribute: Attribute): attribute is Scalar {
  return reading.seen === null
    ? isPublic(attribute)
    : attribute.kind === 'scalar' && isGranted(reading.seen, attribute.name) && attribute.type !== 'password'
}

/** Whether the caller may go through `attribute`, in a condition, a sort key or a populate. */
export function isOpen(reading: Resolver, attribute: PathAttribute): boolean {
  if (attribute.kind === 'relation') return needsNoGrant(attribute) || maySee(reading, attribute.target)
  return attribute.kind !== 'morphFrom' || maySee(reading, attribute.target)
}

const pathText = (path: readonly string[]): string | null => (path.length === 0 ? null : path.join('.'))

/** In which order attributes that nobody may read are refused, whatever their order in the parameter. */
const ranks = { dynamiczone: 0, morphTo: 1, password: 2, private: 3 } as const

/** Notes that `attribute` stands where nobody may read it: told when every name of the parameter has been found. */
export function forbid(reading: Resolver, attribute: Attribute, error: ApiError): void {
  const isPassword = attribute.kind === 'scalar' && attribute.type === 'password'
  const kind = attribute.kind === 'dynamiczone' || attribute.kind === 'morphTo' ? attribute.kind : isPassword ? 'password' : 'private'
  reading.forbidden.push({ rank: ranks[kind], error })
}

/**
 * Finds `name` for a condition or a sort key: a readable scalar, or a way to rows that the caller may find; null for what
 * nobody may read. The only producer of attributes for filters, `_q` and sort: a condition on what may not be read would tell it
 * letter by letter.
 * @throws ApiError 400 `Invalid key` for unknown names; for those that the caller may not see at the end of the parameter.
 */
export function findComparable(
  reading: Resolver,
  shape: Schema,
  name: string,
  path: readonly string[],
  use: 'condition' | 'order',
): Scalar | PathAttribute | null {
  const attribute = shape.attributes.get(name)
  if (attribute === undefined) {
    const unknown = invalidKey(reading.param, name, pathText(path))
    if (shape.kind !== 'component' || name !== 'documentId') throw unknown
    // Strapi knows it, and cannot answer.
    deferError(reading, use === 'order' ? rankOf(reading, 'sort') : filterRank(reading), unknown)
    return null
  }
  const forbidden = () => invalidKey(reading.param, name, [...path, name].join('.'))
  if (attribute.kind === 'dynamiczone' || attribute.kind === 'morphTo') {
    forbid(reading, attribute, forbidden())
    return null
  }
  // What stands below is still looked at, so that the first mistake is told: the request is refused all the same.
  const isHidden = reading.seen === null ? attribute.private && reading.grants.comparesPrivate !== true : !isShown(reading, attribute)
  if (isHidden) forbid(reading, attribute, forbidden())
  switch (attribute.kind) {
    case 'scalar':
      if (attribute.type === 'password' && !isHidden) forbid(reading, attribute, forbidden())
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
      return assertNever(attribute)
  }
}
