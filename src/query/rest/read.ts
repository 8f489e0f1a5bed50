// A query string becomes a ReadRequest: one walk through filters, sort, pagination,
// fields and populate, in the order of the recorded checks.
import { unboundedPage } from '../../foundation/config/api.js'
import { ApiError, forbidden, inputError, validationError } from '../../foundation/errors/errors.js'
import { fullAccess, type Grants, projectAccess, type Scopes } from '../../foundation/grants.js'
import type { ContentType, Model, Relation, Scalar } from '../../model/schema/types.js'
import type { Contract } from '../contract.js'
import {
  type Filter,
  isObject,
  type Keyset,
  type LinkPage,
  type Page,
  type Parameters,
  type PathAttribute,
  type Populated,
  pageValues,
  type ReadRequest,
  type RowScopes,
  type Selection,
  type SortKey,
} from '../request.js'
import { readFilters, readSearch, readValue } from './filters.js'
import { readableFields, readFields, readPopulate, readStateField, withSorted } from './populate.js'
import {
  bind,
  createResolver,
  deferError,
  inParameter,
  type QueryLimits,
  type Resolver,
  readSort,
  throwDeferred,
  tryConvert,
} from './resolve.js'
import { comparesVersions, getDraftAccess, readLocales, readPublication, readStatus } from './versions.js'

export interface ReadContext {
  readonly model: Model
  readonly contract: Contract
  readonly defaultLocale: string
  readonly pages: PageLimits
  readonly limits: QueryLimits
  /** Refuse unknown top-level parameters, except of users and files (`api.rest.strictParams`). */
  readonly strictParams: boolean
  /** Reading drafts needs the separate action `findDraft` (`api.rest.draftGrant`). */
  readonly draftGrant?: boolean
}

/** The part of a read that does not come from the query string. */
export interface ReadTarget {
  readonly type: ContentType
  readonly mode: ReadRequest['mode']
  /** The document, by documentId; plugin endpoints name rows by id. */
  readonly identity?:
    | {
        readonly attribute: 'documentId' | 'id'
        readonly value: unknown
        /** A condition on the same attribute in the query string has no effect. */
        readonly wins?: boolean
      }
    | undefined
  readonly format?: ReadRequest['format']
  /** False: `filters` and `fields` are checked but not applied (one file). */
  readonly appliesFilters?: boolean
  /** Additional members of every object of the response, as JSON text. */
  readonly constants?: Selection['constants']
  /** True: the caller has just written the document, and sees at least its ids even if it may not see drafts. */
  readonly afterWrite?: boolean
  /** A keyset page; the parameters have none. */
  readonly keyset?: KeysetRequest
  /**
   * Of relations populated at the first level of one row, only a page of targets. `others`: maximum number of entries, targets or files of
   * every other populated attribute, at every depth of components, for all parent rows together.
   */
  readonly linkPage?: { readonly start: number; readonly limit: number; readonly others?: number }
  /** Replaces the limits of requests, for queries of the service itself. */
  readonly limits?: QueryLimits
  /** False: the response is a bare list; only top-level `start` and `limit` cut it (users, files). */
  readonly paged?: boolean
}

const knownParameters = new Set(
  'filters sort fields populate status locale page pageSize start limit _q publicationFilter hasPublishedVersion pagination count ordering'.split(
    ' ',
  ),
)

/**
 * Reads the parameters of a request.
 * @throws ApiError 403 for drafts that the caller may not see; 400 in the contract's shape for names that do not exist or may not
 * be seen, and for invalid values.
 */
export function readRequest(context: ReadContext, grants: Grants, wanted: ReadTarget, parameters: Parameters): ReadRequest {
  const { type, mode } = wanted
  if (context.strictParams && type.exposed) refuseUnknown(parameters)
  const drafts = getDraftAccess(context.model, context.draftGrant === true, grants, type, parameters)
  if (drafts.isClosed && (wanted.afterWrite !== true || comparesVersions(parameters))) throw forbidden(`${type.uid}.findDraft`)
  const walk = createResolver(context.model, drafts.grants, context.contract, wanted.limits ?? context.limits, type)
  if (parameters.lookup !== undefined)
    deferError(walk, 'lookup', inputError("Invalid params: 'lookup'", ['lookup'], 'unknown', { name: 'lookup' }))
  // As in Strapi, publication parameters do not apply to the response of a write.
  const publication = wanted.afterWrite === true ? [] : readPublication(walk, type, parameters)
  const filter = inParameter(walk, 'filters', (inside) => readConditions(inside, wanted, parameters.filters))
  const sort = inParameter(walk, 'sort', (inside) => readSort(inside, type, parameters.sort))
  const fields = inParameter(walk, 'fields', (inside) => readFields(inside, type, parameters.fields))
  const populate = inParameter(walk, 'populate', (inside) => readPopulate(inside, type, parameters.populate))
  const page = readPage(context, walk, wanted, parameters)
  const status = readStatus(walk, type, parameters.status)
  const { locale, targetLocale } = readLocales(walk, type, parameters, mode, context.defaultLocale)
  const search = readSearch(walk, type, parameters._q)
  throwDeferred(walk)
  const conditions: (Filter | null)[] = wanted.appliesFilters === false ? [] : [filter, search]
  let identityAt = -1
  if (wanted.identity !== undefined) {
    const attribute = type.attributes.get(wanted.identity.attribute) as Scalar
    identityAt = bind(walk, wanted.identity.value)
    conditions.unshift({ kind: 'compare', attribute, operator: '$eq', values: [identityAt] })
  }
  // As in Strapi, rows found through a relation show their sort keys in addition to the requested fields.
  const joined = filter !== null && crossesRelation(filter) && sort.every(({ path }) => path.length === 0)
  const shown = wanted.appliesFilters === false ? readableFields(walk, type) : joined ? withSorted(walk, type, fields, sort) : fields
  walk.values[pageValues.start] = page.start
  walk.values[pageValues.limit] = page.limit
  const of = conditions.filter((condition) => condition !== null)
  return {
    type,
    mode,
    ...(wanted.keyset === undefined ? {} : { keyset: readKeyset(walk, sort, wanted.keyset) }),
    status,
    locale,
    targetLocale,
    filter: of.length === 0 ? null : { kind: 'all', of },
    publication,
    closedDrafts: drafts.closed,
    scopes: grants.scopes.size === 0 ? noScopes : readScopes(walk, grants.scopes),
    sort,
    page,
    selection: {
      shape: type,
      ...(drafts.isClosed
        ? { fields: getIdAttributes(type), populate: [] }
        : {
            fields: shown,
            ...readStateField(walk, type, parameters.fields),
            populate: wanted.linkPage ? pageLinks(walk, populate, wanted.linkPage) : populate,
          }),
      ...(wanted.constants === undefined ? {} : { constants: wanted.constants }),
    },
    format: wanted.format ?? 'flat',
    identityAt,
    values: walk.values,
  }
}

/** Limits populated relations to one page of targets, and all other populated attributes to `others` rows. */
function pageLinks(
  walk: Resolver,
  populate: readonly Populated[],
  { start, limit, others }: NonNullable<ReadTarget['linkPage']>,
): readonly Populated[] {
  const page = { start: bind(walk, start), limit: bind(walk, limit) }
  const otherPage = others === undefined ? null : { start: bind(walk, 0), limit: bind(walk, others) }
  return populate.map((populated) => {
    if (populated.kind === 'relation' && populated.attribute.kind !== 'media') return { ...populated, page }
    return otherPage === null ? populated : boundLinks(populated, otherPage)
  })
}

/** Limits a populated attribute, and those inside of its components. */
function boundLinks(populated: Populated, page: LinkPage): Populated {
  const inside = (selection: Selection): Selection => ({ ...selection, populate: selection.populate.map((each) => boundLinks(each, page)) })
  if (populated.kind === 'component') return { ...populated, page, of: inside(populated.of) }
  if (populated.kind === 'zone') return { ...populated, page, on: populated.on.map(inside) }
  return populated.kind === 'count' ? populated : { ...populated, page }
}

const noScopes: RowScopes = {}

const getIdAttributes = (type: ContentType): readonly Scalar[] => ['id', 'documentId'].map((name) => type.attributes.get(name) as Scalar)

/** The `filters`; a condition on the documentId has no effect if the path identifies the document, but is checked. */
function readConditions(walk: Resolver, { type, identity }: ReadTarget, filters: unknown): Filter | null {
  const filter = readFilters(walk, type, filters)
  if (identity?.wins !== true || !isObject(filters) || filters.documentId === undefined) return filter
  const { documentId: _, ...others } = filters
  return readFilters(walk, type, others)
}

function crossesRelation(filter: Filter): boolean {
  if (filter.kind === 'related') return true
  if (filter.kind === 'compare' || filter.kind === 'state') return false
  return filter.kind === 'not' ? crossesRelation(filter.of) : filter.of.some(crossesRelation)
}

/**
 * Lists have pages. Bare lists only have `start` and `limit`, outside of `pagination`; `start` then also skips the row of a single
 * response. `page` and `pageSize` are checked and have no effect.
 */
function readPage(context: ReadContext, walk: Resolver, wanted: ReadTarget, parameters: Parameters): Page {
  if (wanted.mode === 'many' && wanted.paged !== false) return readPagination(walk, parameters, context.pages)
  const first: Page = { style: 'offset', start: 0, limit: 1, withCount: false }
  return tryConvert(walk, 'page', () => readOffset(parameters), first)
}

function readOffset(parameters: Parameters): Page {
  for (const name of ['page', 'pageSize'] as const) {
    const value = parameters[name]
    if (value === undefined) continue
    if (parameters.start !== undefined || parameters.limit !== undefined) throw misplacedPageError()
    if (!(Number.isInteger(Number(value)) && Number(value) > 0)) {
      throw new ApiError('PaginationError', `Invalid '${name}' parameter. Expected an integer > 0, received: ${String(value)}`)
    }
  }
  const start = Number(parameters.start ?? 0)
  const limit = parameters.limit === undefined ? null : Number(parameters.limit)
  if (!Number.isInteger(start) || start < 0) throw notAPage('start', `convertStartQueryParams expected a positive integer got ${start}`)
  if (limit !== null && (!Number.isInteger(limit) || (limit < 0 && limit !== -1))) {
    throw notAPage('limit', `convertLimitQueryParams expected a positive integer got ${limit}`)
  }
  const bounded = (value: number): number => Math.min(value, Number.MAX_SAFE_INTEGER)
  return { style: 'offset', start: bounded(start), limit: bounded(limit === null || limit === -1 ? Infinity : limit), withCount: false }
}

const notAPage = (name: string, message: string): ApiError => inputError(message, [name], 'type', { expected: 'integer' })

function refuseUnknown(parameters: Parameters): void {
  const unknown = Object.keys(parameters).find((name) => !knownParameters.has(name))
  if (unknown === undefined) return
  const message = `Invalid key ${unknown}`
  const details = { key: unknown, path: null, source: 'query', param: unknown }
  throw validationError(message, details).because([{ path: [unknown], message, code: 'unknown', params: { name: unknown } }])
}

/**
 * Reads the scopes of a caller: filters of the project's code, which may name attributes that are hidden from callers. Their values
 * are bound among those of the request.
 * @throws Error for a scope with unknown names: a bug of the project
 */
function readScopes(walk: Resolver, scopes: Scopes): RowScopes {
  const read: Record<string, Filter | 'nothing'> = {}
  for (const [uid, filters] of scopes) read[uid] = filters === null ? 'nothing' : readScope(walk, uid, filters)
  return read
}

function readScope(walk: Resolver, uid: string, filters: unknown): Filter {
  const trusted: Resolver = {
    ...walk,
    grants: projectAccess,
    isTrusted: true,
    seen: null,
    budget: { nodes: Infinity },
    deferred: [],
    forbidden: [],
  }
  try {
    const filter = inParameter(trusted, 'filters', (inside) => readFilters(inside, walk.model.types.get(uid)!, filters))
    throwDeferred(trusted)
    if (filter !== null) return filter
  } catch (error) {
    throw error instanceof ApiError ? new Error(`The scope of ${uid} is not a filter of it: ${error.message}`) : error
  }
  throw new Error(`The scope of ${uid} has no condition`)
}
interface KeysetRequest {
  /** The values of the sort keys and the id of the row before the page, or, backwards, after it; null: none. */
  readonly position: { readonly values: readonly unknown[]; readonly id: number } | null
  readonly backwards: boolean
}

/** True if a row has several values below an attribute, and so no position among other rows. */
const isToMany = (attribute: PathAttribute): boolean => (attribute.kind === 'component' ? attribute.repeatable : attribute.many)

/** Types whose values have no order to continue a page from. */
const unordered: ReadonlySet<string> = new Set(['json', 'blocks'])

/**
 * Reads the position of a keyset page.
 * @throws ApiError 400 for values that do not belong to the sort keys, and for sort keys without an order
 */
function readKeyset(walk: Resolver, sort: readonly SortKey[], { position, backwards }: KeysetRequest): Keyset {
  const wrong = sort.find((key) => unordered.has(key.attribute.type) || key.path.some((step) => isToMany(step.attribute)))
  if (wrong !== undefined) {
    const names = [...wrong.path.map((step) => step.attribute.name), wrong.attribute.name]
    throw inputError(`Documents cannot be sorted by ${names.join('.')} here`, ['sort', ...names], 'cannotSort')
  }
  if (position === null) return { position: null, backwards }
  if (position.values.length !== sort.length) throw inputError('This cursor belongs to a different query', [], 'cursor')
  const values = sort.map(({ attribute }, index) => {
    const value = readValue(attribute, position.values[index], walk.contract.strictBooleans)
    return value === null ? null : bind(walk, value)
  })
  return { position: { values, id: bind(walk, position.id) }, backwards }
}

/** Maximum number of rows in one request: databases limit the values of a statement. */
export const maxRowsInScope = 1_024

/** A request for the ids of those of the given rows that are in the caller's scope, in every version and locale. */
export function readRowsInScope(context: ReadContext, grants: Grants, type: ContentType, ids: readonly number[]): ReadRequest {
  const { model, contract, limits } = context
  const walk = createResolver(model, grants, contract, limits, type)
  const id = type.attributes.get('id') as Scalar
  // Padded to a power of two, so that requests share plans.
  const padded = Array.from({ length: 2 ** Math.ceil(Math.log2(ids.length)) }, (_, index) => ids[index] ?? ids[0]!)
  const values = padded.map((each) => bind(walk, each))
  walk.values[pageValues.start] = 0
  walk.values[pageValues.limit] = ids.length
  return {
    type,
    mode: 'many',
    status: 'any',
    locale: { kind: 'any' },
    targetLocale: null,
    filter: { kind: 'compare', attribute: id, operator: '$in', values },
    publication: [],
    closedDrafts: [],
    scopes: readScopes(walk, grants.scopes),
    sort: [],
    page: { style: 'offset', start: 0, limit: ids.length, withCount: false },
    selection: { shape: type, fields: [id], populate: [] },
    format: 'flat',
    identityAt: -1,
    values: walk.values,
  }
}

/** Maximum number of versions of one document, in all its locales. */
const maxVersions = 10_000

/** A request for the ids and the documentId of all versions of the document that a row belongs to. */
export function readVersions(context: ReadContext, type: ContentType, id: number): ReadRequest {
  const request = readRowsInScope(context, fullAccess, type, [id])
  const path = type.attributes.get('localizations') as Relation
  const values = [...request.values]
  values[pageValues.limit] = maxVersions
  const fields = [...request.selection.fields, type.attributes.get('documentId') as Scalar]
  const selection = { ...request.selection, fields }
  return { ...request, selection, filter: { kind: 'related', path, target: type, where: request.filter! }, values }
}

interface PageLimits {
  readonly defaultLimit: number
  readonly maxLimit: number
  readonly withCount: boolean
  /** Members of one list in the query string; absent: 100. */
  readonly arrayLimit?: number
}

const paginationError = (message: string): ApiError => new ApiError('PaginationError', message)
const misplacedPageError = (): ApiError =>
  paginationError('Invalid pagination attributes. The page parameters are incorrect and must be in the pagination object')

/** Reads `pagination` of a list (docs/spec/pagination.md). Mixed styles, fractions and non-numeric pages or starts are refused. */
function readPagination(walk: Resolver, parameters: Parameters, limits: PageLimits): Page {
  const given = isObject(parameters.pagination) ? parameters.pagination : {}
  const pages = given.page !== undefined || given.pageSize !== undefined
  const offsets = given.start !== undefined || given.limit !== undefined
  if (pages && offsets) deferError(walk, 'pagination', paginationError('Cannot use both page & offset pagination in the same query'))
  if (parameters.page !== undefined || parameters.pageSize !== undefined) {
    deferError(walk, 'page', misplacedPageError())
  }
  const withCount = tryConvert(walk, 'withCount', () => readWithCount(given.withCount, limits.withCount), limits.withCount)
  const nothing: Page = { style: 'page', start: 0, limit: 1, withCount }
  return tryConvert(walk, 'page', () => toPage(given, offsets, withCount, limits), nothing)
}

function toPage(given: Parameters, offsets: boolean, withCount: boolean, limits: PageLimits): Page {
  if (offsets) {
    const start = Math.max(0, given.start === undefined ? 0 : toNumber(given.start))
    return {
      style: 'offset',
      start: toWholeNumber('Start', start),
      limit: toWholeNumber('Limit', toPageSize(given.limit, limits)),
      withCount,
    }
  }
  const page = Math.max(1, given.page === undefined ? 1 : toNumber(given.page))
  const asked = toPageSize(given.pageSize, limits)
  // Clamped, but beyond every row: `meta` derives the page from its first row.
  const start = Math.min(toWholeNumber('Start', (page - 1) * asked), Number.MAX_SAFE_INTEGER - Math.ceil(asked))
  return { style: 'page', start, limit: toWholeNumber('Limit', asked), withCount }
}

/** A list of one value is that value. */
const toNumber = (value: unknown): number => {
  if (Array.isArray(value)) return value.length === 1 ? toNumber(value[0]) : Number.NaN
  return typeof value === 'object' && value !== null ? Number.NaN : Number(value)
}

/** The size of a page: at least 1, at most maxLimit; if it is not a number maxLimit, or NaN where there is none. */
function toPageSize(value: unknown, { defaultLimit, maxLimit }: PageLimits): number {
  if (value === undefined || value === null) return Math.min(defaultLimit, maxLimit)
  const number = toNumber(value)
  if (Number.isNaN(number)) return maxLimit === unboundedPage ? Number.NaN : maxLimit
  return Math.min(maxLimit, Math.max(1, number))
}

function toWholeNumber(name: 'Start' | 'Limit', value: number): number {
  if (!Number.isInteger(value)) throw notAPage(name.toLowerCase(), `convert${name}QueryParams expected a positive integer got ${value}`)
  // Beyond every row, but within the integers that a database takes.
  return Math.min(value, Number.MAX_SAFE_INTEGER)
}

function readWithCount(value: unknown, fallback: boolean): boolean {
  if (value === undefined) return fallback
  if (value === 'true' || value === 't' || value === '1') return true
  if (value === 'false' || value === 'f' || value === '0') return false
  throw inputError('Invalid withCount parameter. Expected "t","1","true","false","0","f"', ['pagination', 'withCount'], 'type', {
    expected: 'boolean',
  })
}
