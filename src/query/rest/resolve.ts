// The state of a walk over a query, and the only conversion of names to attributes for a caller; `sort`, a list of such names.
import { type ApiError, inputError, invalidKey, type QueryParameter } from '../../foundation/errors/errors.js'
import type { IssueCode } from '../../foundation/errors/issues.js'
import { type AttributeGrants, type ContentRights, type Grants, grantedBelow, isGranted, noAttributes } from '../../foundation/grants.js'
import { fileType, isClosedType } from '../../model/schema/link.js'
import {
  type Attribute,
  assertNever,
  type ContentType,
  type Model,
  type Relation,
  type Scalar,
  type Schema,
} from '../../model/schema/types.js'
import type { Contract } from '../contract.js'
import type { PathAttribute, SortKey, ValueIndex } from '../request.js'
import { isObject } from '../request.js'

export interface QueryLimits {
  /** Relations and components that one path of a filter may cross. */
  readonly filterRelations: number
  /** Levels, conditions and populated attributes of one request, together. */
  readonly queryComplexity: number
}

export interface Resolver {
  readonly model: Model
  readonly grants: Grants
  /** The visible attributes of the current type or component; null: all that are not private. */
  readonly seen: AttributeGrants | null
  readonly contract: Contract
  /** The page's start and limit (`pageValues`), then the values of conditions in the order of the walk. */
  readonly values: unknown[]
  /** The parameter named in errors; inside a populate it remains `populate`. */
  readonly param: QueryParameter
  readonly budget: { nodes: number }
  /** Relations and components that one path of a filter may cross. */
  readonly filterRelations: number
  /** Unreadable attributes in the parameter: refused once all its names have been resolved. */
  readonly forbidden: { readonly rank: number; readonly error: ApiError }[]
  /** Relations in the parameter whose target the caller may not find: refused after these. */
  readonly restricted: ApiError[]
  /** Inside a populate, conditions and sort keys through such a relation are left out instead, like the relation itself. */
  readonly dropsRestricted: boolean
  /** Inside a scope, which comes from the project: it may use hidden attributes. */
  readonly isTrusted?: true
  /** Errors of invalid values: thrown once all names of the query have been resolved. */
  readonly deferred: { readonly stage: ErrorRank; readonly error: ApiError }[]
}

/** The order of deferred errors: a request with several errors gets the first. */
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
type ErrorRank = (typeof stages)[number]

/** Defers an error until all names are resolved. */
export function deferError(walk: Resolver, stage: ErrorRank, error: ApiError): void {
  walk.deferred.push({ stage, error })
}

/** @throws ApiError the deferred error of the earliest stage, if there is one. */
export function throwDeferred({ deferred, forbidden }: Resolver): void {
  if (forbidden[0] !== undefined) throw forbidden[0].error
  for (const stage of deferred.length === 0 ? [] : stages) {
    const first = deferred.find((one) => one.stage === stage)
    if (first !== undefined) throw first.error
  }
}

/** The stage of a sort or fields parameter: inside a populate, that of the populate. */
export const getRank = (walk: Resolver, parameter: 'sort' | 'fields'): ErrorRank => (walk.param === 'populate' ? 'populate' : parameter)
export const filterRank = (walk: Resolver): ErrorRank => (walk.param === 'populate' ? 'populatedFilters' : 'filters')
export function createResolver(model: Model, grants: Grants, contract: Contract, limits: QueryLimits, type: ContentType): Resolver {
  return {
    model,
    grants,
    seen: grants.content === undefined ? null : getReadable(grants.content, type.uid),
    contract,
    values: [null, null],
    param: 'filters',
    budget: { nodes: limits.queryComplexity },
    filterRelations: limits.filterRelations,
    forbidden: [],
    restricted: [],
    dropsRestricted: false,
    deferred: [],
  }
}

/** Reads one parameter with `read`, or one of a populated level: errors name it; forbidden attributes and restricted relations are refused at its end. */
export function inParameter<T>(walk: Resolver, param: QueryParameter, read: (walk: Resolver) => T): T {
  const inside: Resolver = { ...walk, param, forbidden: [], restricted: [] }
  const found = read(inside)
  const [forbidden] = inside.forbidden.toSorted((a, b) => a.rank - b.rank)
  if (forbidden !== undefined) throw forbidden.error
  const [restricted] = inside.restricted
  if (restricted !== undefined && !walk.dropsRestricted) throw restricted
  return found
}

/** Binds a value and returns its position. */
export function bind(walk: Resolver, value: unknown): ValueIndex {
  return walk.values.push(value) - 1
}

/** Counts a level, condition or populated attribute. @throws ApiError 400 beyond the limit `queryComplexity`. */
export function chargeNode(walk: Resolver): void {
  walk.budget.nodes--
  if (walk.budget.nodes < 0) throw inputError('The query is too complex', [walk.param], 'tooMany')
}

/** Maximum number of steps of a dot path: more than any database joins. */
const maxPathSteps = 100

/** @throws ApiError 400 for too many steps */
export function splitPath(path: string): readonly string[] {
  const steps = path
    .trim()
    .split('.')
    .filter((step) => step !== '')
  if (steps.length > maxPathSteps) throw inputError('The request is too deep or too complex', [], 'tooMany', { max: maxPathSteps })
  return steps
}
/** Converts a value, or defers its error. `at`: the position of the value in the parameter. */
export function tryConvert<T>(walk: Resolver, stage: ErrorRank, conversion: () => T, instead: T, at: readonly string[] | null = null): T {
  try {
    return conversion()
  } catch (error) {
    deferError(walk, stage, at === null ? (error as ApiError) : (error as ApiError).below(walk.param, ...at))
    return instead
  }
}

/** True if the caller, an administrator, may name the state of rows of `shape`. */
export const hasState = ({ seen }: Resolver, shape: Schema): boolean =>
  seen !== null && shape.kind === 'contentType' && shape.draftAndPublish

/** True if the caller may find documents of `target` through a relation. Media attributes need no permission, relations to files do. */
export function mayFind(walk: Resolver, target: string): boolean {
  return (walk.isTrusted === true || !isClosedType(target)) && walk.grants.may(`${target}.find`)
}

/** The other locales of a document need no separate permission; creators are shown if the schema says so. */
const needsNoGrant = ({ storage, name }: Relation): boolean =>
  storage.kind === 'localizations' || name === 'createdBy' || name === 'updatedBy'

export function getTarget(model: Model, attribute: PathAttribute): Schema {
  if (attribute.kind === 'media') return model.types.get(fileType)!
  if (attribute.kind === 'component') return model.components.get(attribute.component)!
  return model.types.get(attribute.target)!
}

/** The resolver for the targets of `attribute`. A zone has one set of attributes for all its components. */
export function enterTarget<Walk extends Resolver>(walk: Walk, attribute: Attribute, target: Schema): Walk {
  if (walk.seen === null) return walk
  return target.kind === 'component' ? { ...walk, seen: grantedBelow(walk.seen, attribute.name) } : enterType(walk, target)
}
export const enterType = <Walk extends Resolver>(walk: Walk, { uid }: ContentType): Walk =>
  walk.seen === null ? walk : { ...walk, seen: getReadable(walk.grants.content!, uid) }

const getReadable = ({ readable }: ContentRights, uid: string): AttributeGrants => readable.get(uid) ?? noAttributes

/** True if the caller may see an attribute of the current type or component. */
export const isVisible = ({ seen }: Resolver, { name, private: isPrivate }: Attribute): boolean =>
  seen === null ? !isPrivate : isGranted(seen, name)

/** True for scalars that callers of the content API may compare, sort by and select. */
export const isPublic = (attribute: Attribute): attribute is Scalar =>
  attribute.kind === 'scalar' && !attribute.private && attribute.type !== 'password'

/** True for scalars that the caller may compare, sort by and select. */
export function isReadable(walk: Resolver, attribute: Attribute): attribute is Scalar {
  return walk.seen === null
    ? isPublic(attribute)
    : attribute.kind === 'scalar' && isGranted(walk.seen, attribute.name) && attribute.type !== 'password'
}

/** True if the caller may cross `attribute`, in a condition, a sort key or a populate. */
export function mayTraverse(walk: Resolver, attribute: PathAttribute): boolean {
  if (attribute.kind === 'relation') return needsNoGrant(attribute) || mayFind(walk, attribute.target)
  return attribute.kind !== 'morphFrom' || mayFind(walk, attribute.target)
}

const formatPath = (path: readonly string[]): string | null => (path.length === 0 ? null : path.join('.'))

/** The order of errors about unreadable attributes, independent of their order in the parameter. Among `fields`, private ones precede passwords. */
const ranks = { dynamiczone: 0, morphTo: 1, password: 2, private: 3, passwordField: 4 } as const

/** Records the use of an unreadable attribute: refused once all names of the parameter have been resolved. */
export function forbid(walk: Resolver, attribute: Attribute, error: ApiError, use: 'field' | 'other' = 'other'): void {
  const isPassword = attribute.kind === 'scalar' && attribute.type === 'password'
  const hidden = !isPassword ? 'private' : use === 'field' ? 'passwordField' : 'password'
  const kind = attribute.kind === 'dynamiczone' || attribute.kind === 'morphTo' ? attribute.kind : hidden
  walk.forbidden.push({ rank: ranks[kind], error })
}

/**
 * Finds `name` for a condition or a sort key: a readable scalar, or a path to rows that the caller may find; null for unreadable
 * attributes. The only producer of attributes for filters, `_q` and sort: a condition on a hidden attribute would leak its value
 * letter by letter.
 * @throws ApiError 400 `Invalid key` for unknown names; for those that the caller may not see at the end of the parameter.
 */
export function findComparable(
  walk: Resolver,
  shape: Schema,
  name: string,
  path: readonly string[],
  use: 'condition' | 'order',
): Scalar | PathAttribute | null {
  const attribute = shape.attributes.get(name)
  if (attribute === undefined) {
    const unknown = invalidKey(walk.param, name, formatPath(path))
    if (shape.kind !== 'component' || name !== 'documentId') throw unknown
    // Strapi accepts the name, and fails.
    deferError(walk, use === 'order' ? getRank(walk, 'sort') : filterRank(walk), unknown)
    return null
  }
  // An attribute that is hidden from an administrator is refused like one that does not exist.
  if (walk.seen !== null && !isVisible(walk, attribute)) throw invalidKey(walk.param, name, formatPath(path))
  const refused = (code: IssueCode) => invalidKey(walk.param, name, [...path, name].join('.'), code)
  const forbidden = () => refused(isVisible(walk, attribute) ? (use === 'order' ? 'cannotSort' : 'unsupported') : 'unknown')
  if (attribute.kind === 'dynamiczone' || attribute.kind === 'morphTo') {
    forbid(walk, attribute, forbidden())
    return null
  }
  // Nested conditions are still checked, so that the first error is reported: the request is refused in any case.
  const isHidden = walk.seen === null && attribute.private && walk.grants.comparesPrivate !== true
  if (isHidden) forbid(walk, attribute, forbidden())
  switch (attribute.kind) {
    case 'scalar':
      if (attribute.type === 'password' && !isHidden) forbid(walk, attribute, forbidden())
      return attribute
    case 'relation':
      if (!mayTraverse(walk, attribute)) walk.restricted.push(refused('forbidden'))
      return attribute
    case 'morphFrom':
      if (!mayTraverse(walk, attribute)) walk.restricted.push(refused('forbidden'))
      return attribute
    case 'media':
      if (!walk.contract.mediaFilters && use === 'condition') throw forbidden()
      return attribute
    case 'component':
      return attribute
    default:
      return assertNever(attribute)
  }
}

const refuseOrder = (walk: Resolver, path: readonly string[]): void =>
  deferError(
    walk,
    getRank(walk, 'sort'),
    inputError('Invalid order. order can only be one of asc|desc|ASC|DESC', [walk.param, ...path], 'enum', { allowed: ['asc', 'desc'] }),
  )

/**
 * Reads a `sort` parameter of `shape`.
 * @throws ApiError 400 for names that do not exist or may not be seen, and for orders other than asc and desc.
 */
export function readSort(walk: Resolver, shape: Schema, node: unknown): readonly SortKey[] {
  if (node === undefined || node === null || node === '') return []
  if (typeof node === 'string') return node.split(',').flatMap((entry) => readEntry(walk, shape, entry))
  if (Array.isArray(node)) {
    // A list has either texts or objects: a mixed one is read as an object with numbers as keys.
    if (new Set(node.map((entry) => typeof entry)).size > 1) throw invalidKey(walk.param, '0', null)
    // As in Strapi, a nested list has no effect, nor has a list instead of an order.
    return node.flatMap((entry) => (Array.isArray(entry) ? [] : readSort(walk, shape, entry)))
  }
  if (isObject(node)) return readObject({ ...walk, root: shape }, shape, node, [], [])
  throw inputError(
    'Invalid sort parameter. Expected a string, an array of strings, a sort object or an array of sort objects',
    [walk.param],
    'type',
    { expected: 'string' },
  )
}

/** `author.name:desc` → its path and its order. */
function readEntry(walk: Resolver, shape: Schema, entry: string): readonly SortKey[] {
  if (entry.trim() === '') return []
  const [names = '', order] = entry.split(':')
  let node: unknown = order === undefined ? undefined : order.trim() === '' ? ':' : order.trim()
  const path = splitPath(names)
  if (path.length === 0) return []
  if (path.some((name) => name in Object.prototype)) {
    deferError(walk, getRank(walk, 'sort'), inputError('Invalid sort query', [walk.param, ...path], 'unknown'))
    return []
  }
  for (const name of path.toReversed()) node = { [name]: node }
  return readObject({ ...walk, root: shape }, shape, node as Readonly<Record<string, unknown>>, [], [])
}

/** Types with Draft & Publish accept `status` with any order, as Strapi's panel sends it: all rows of a list have the same status. */
const isStatus = ({ root }: Sorting, shape: Schema, name: string, order: unknown): boolean =>
  name === 'status' && (order ?? '') !== '' && root.kind === 'contentType' && root.draftAndPublish && !shape.attributes.has(name)

/** A walk through sort keys, and the type or component at its start. */
interface Sorting extends Resolver {
  readonly root: Schema
}

function readObject(
  walk: Sorting,
  shape: Schema,
  node: Readonly<Record<string, unknown>>,
  names: readonly string[],
  path: SortKey['path'],
): readonly SortKey[] {
  return Object.entries(node).flatMap(([name, value]) => {
    chargeNode(walk)
    if (isStatus(walk, shape, name, value)) return []
    const attribute = findComparable(walk, shape, name, names, 'order')
    if (attribute === null) return []
    const here = [...names, name]
    if (value === '' || Array.isArray(value) || (attribute.kind === 'scalar' && value === null)) return []
    if (attribute.kind === 'scalar') {
      return [{ path, attribute, descending: isDescending(walk, value, here) }]
    }
    const target = getTarget(walk.model, attribute)
    if (isObject(value)) {
      const keys = readObject(enterTarget(walk, attribute, target), target, value, here, [...path, { attribute, target }])
      return walk.dropsRestricted && !mayTraverse(walk, attribute) ? [] : keys
    }
    if (value === undefined || value === null)
      throw invalidKey(walk.param, name, here.join('.'), isVisible(walk, attribute) ? 'cannotSort' : 'unknown')
    // A text after a relation is the name of one of its attributes.
    const key = String(value)
    findComparable(enterTarget(walk, attribute, target), target, key, here, 'order')
    refuseOrder(walk, here)
    return []
  })
}

function isDescending(walk: Resolver, value: unknown, path: readonly string[]): boolean {
  if (value === undefined || value === null) return false
  if (isObject(value)) {
    const [key = ''] = Object.keys(value)
    if (key.startsWith('$')) refuseOrder(walk, path)
    else throw invalidKey(walk.param, key, path.join('.'))
    return false
  }
  const order = String(value).toLowerCase()
  if (order !== 'asc' && order !== 'desc') refuseOrder(walk, path)
  return order === 'desc'
}
