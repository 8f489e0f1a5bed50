// A query string becomes a ReadRequest: one walk through filters, sort, fields and populate, in the order of the recorded checks.
import { ApiError, forbidden, validationError } from '../../foundation/errors/errors.js'
import type { Grants } from '../../foundation/grants.js'
import type { ContentType, Model, Scalar } from '../../model/schema/types.js'
import type { Contract } from '../contract.js'
import type { Filter, LinkPage, Page, Populated, ReadRequest, RowScopes, Selection } from '../request.js'
import { pageValues } from '../request.js'
import { asksForPublication, draftAccess } from './draft-grant.js'
import { readableFields, readFields, withSorted } from './fields.js'
import { readFilters } from './filters.js'
import { readKeyset, type WantedKeyset } from './keyset.js'
import type { PageLimits } from './pagination.js'
import { misplacedPage, readPagination } from './pagination.js'
import type { Parameters } from './parameters.js'
import { isObject } from './parameters.js'
import { readPopulate } from './populate.js'
import type { QueryLimits, Resolver } from './resolve.js'
import { bind, convert, deferError, inParameter, openResolver, throwDeferred } from './resolve.js'
import { readScopes } from './scopes.js'
import { readSearch } from './search.js'
import { readSort } from './sort.js'
import { readLocales, readPublication, readStatus } from './versions.js'

/** What every read of an installation shares. */
export interface ReadContext {
  readonly model: Model
  readonly contract: Contract
  readonly defaultLocale: string
  readonly pages: PageLimits
  readonly limits: QueryLimits
  /** Refuse unknown top-level parameters (`api.rest.strictParams`). */
  readonly strictParams: boolean
  /** Reading drafts needs an action of its own (`api.rest.draftGrant`). */
  readonly draftGrant?: boolean
}

/** What the caller wants to read, apart from the query string. */
export interface Wanted {
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
  /** False: `filters` and `fields` are checked and not applied (one file). */
  readonly narrowed?: boolean
  /** Members that every object of the answer carries besides its attributes, as JSON text. */
  readonly constants?: Selection['constants']
  /** True: the caller has just written the document, and sees its ids where it may not see drafts. */
  readonly written?: boolean
  /** A page that is found by the row next to it; the parameters have none. */
  readonly keyset?: WantedKeyset
  /**
   * Of the relations that are populated at the first level of one row, only some targets, in their order. `others`: of every other attribute that
   * is populated, at every depth of components, at most so many entries, targets or files, all rows above it together.
   */
  readonly linkPage?: { readonly start: number; readonly limit: number; readonly others?: number }
  /** Instead of those of requests, for a query of the service itself. */
  readonly limits?: QueryLimits
  /** False: the answer is a bare list; only top-level `start` and `limit` cut it (users, files). */
  readonly paged?: boolean
}

const knownParameters = new Set(
  'filters sort fields populate status locale page pageSize start limit _q publicationFilter hasPublishedVersion pagination count ordering'.split(
    ' ',
  ),
)

/**
 * Reads the parameters of a request.
 * @throws ApiError 403 where it is about drafts that the caller may not see; 400 in the contract's shape for anything that does
 * not exist, may not be seen or makes no sense.
 */
export function readRequest(context: ReadContext, grants: Grants, wanted: Wanted, parameters: Parameters): ReadRequest {
  const { type, mode } = wanted
  if (context.strictParams) refuseUnknown(parameters)
  const drafts = draftAccess(context.model, context.draftGrant === true, grants, type, parameters)
  if (drafts.isClosed && (wanted.written !== true || asksForPublication(parameters))) throw forbidden(`${type.uid}.findDraft`)
  const reading = openResolver(context.model, drafts.grants, context.contract, wanted.limits ?? context.limits, type)
  if (parameters.lookup !== undefined) deferError(reading, 'lookup', validationError("Invalid params: 'lookup'"))
  // As in Strapi, a write is answered with its document whatever its publication is.
  const publication = wanted.written === true ? [] : readPublication(reading, type, parameters)
  const filter = inParameter(reading, 'filters', (inside) => readConditions(inside, wanted, parameters.filters))
  const sort = inParameter(reading, 'sort', (inside) => readSort(inside, type, parameters.sort))
  const fields = inParameter(reading, 'fields', (inside) => readFields(inside, type, parameters.fields))
  const populate = inParameter(reading, 'populate', (inside) => readPopulate(inside, type, parameters.populate))
  const page = readPage(context, reading, wanted, parameters)
  const status = readStatus(reading, type, parameters.status)
  const { locale, targetLocale } = readLocales(reading, type, parameters, mode, context.defaultLocale)
  const search = readSearch(reading, type, parameters._q)
  throwDeferred(reading)
  const conditions: (Filter | null)[] = wanted.narrowed === false ? [] : [filter, search]
  let identityAt = -1
  if (wanted.identity !== undefined) {
    const attribute = type.attributes.get(wanted.identity.attribute) as Scalar
    identityAt = bind(reading, wanted.identity.value)
    conditions.unshift({ kind: 'compare', attribute, operator: '$eq', values: [identityAt] })
  }
  // As in Strapi, rows found through a relation show what they are sorted by, whatever fields were asked for.
  const joined = filter !== null && crossesRelation(filter) && sort.every(({ path }) => path.length === 0)
  const shown = wanted.narrowed === false ? readableFields(reading, type) : joined ? withSorted(reading, type, fields, sort) : fields
  reading.values[pageValues.start] = page.start
  reading.values[pageValues.limit] = page.limit
  const of = conditions.filter((condition) => condition !== null)
  return {
    ...{ type, mode, ...(wanted.keyset === undefined ? {} : { keyset: readKeyset(reading, sort, wanted.keyset) }) },
    status,
    locale,
    targetLocale,
    filter: of.length === 0 ? null : { kind: 'all', of },
    publication,
    closedDrafts: drafts.closed,
    scopes: grants.scopes.size === 0 ? noScopes : readScopes(reading, grants.scopes),
    sort,
    page,
    selection: {
      shape: type,
      ...(drafts.isClosed
        ? { fields: idsOf(type), populate: [] }
        : { fields: shown, populate: wanted.linkPage ? paged(reading, populate, wanted.linkPage) : populate }),
      ...(wanted.constants === undefined ? {} : { constants: wanted.constants }),
    },
    format: wanted.format ?? 'flat',
    identityAt,
    values: reading.values,
  }
}

/** Leaves of the relations that are populated the targets of one page, and of all else that is populated at most `others`. */
function paged(
  reading: Resolver,
  populate: readonly Populated[],
  { start, limit, others }: NonNullable<Wanted['linkPage']>,
): readonly Populated[] {
  const page = { start: bind(reading, start), limit: bind(reading, limit) }
  const most = others === undefined ? null : { start: bind(reading, 0), limit: bind(reading, others) }
  return populate.map((populated) => {
    if (populated.kind === 'relation' && populated.attribute.kind !== 'media') return { ...populated, page }
    return most === null ? populated : bounded(populated, most)
  })
}

/** The same for what is populated inside of components. */
function bounded(populated: Populated, page: LinkPage): Populated {
  const inside = (selection: Selection): Selection => ({ ...selection, populate: selection.populate.map((each) => bounded(each, page)) })
  if (populated.kind === 'component') return { ...populated, page, of: inside(populated.of) }
  if (populated.kind === 'zone') return { ...populated, page, on: populated.on.map(inside) }
  return populated.kind === 'count' ? populated : { ...populated, page }
}

const noScopes: RowScopes = {}

const idsOf = (type: ContentType): readonly Scalar[] => ['id', 'documentId'].map((name) => type.attributes.get(name) as Scalar)

/** The `filters`; a condition on the documentId of the one document that the path names is looked at, and has no effect. */
function readConditions(reading: Resolver, { type, identity }: Wanted, filters: unknown): Filter | null {
  const filter = readFilters(reading, type, filters)
  if (identity?.wins !== true || !isObject(filters) || filters.documentId === undefined) return filter
  const { documentId: _, ...others } = filters
  return readFilters(reading, type, others)
}

function crossesRelation(filter: Filter): boolean {
  if (filter.kind === 'related') return true
  if (filter.kind === 'compare') return false
  return filter.kind === 'not' ? crossesRelation(filter.of) : filter.of.some(crossesRelation)
}

/**
 * Lists have pages. Bare lists do not: what their callers may still say is `start` and `limit`, outside of `pagination`;
 * there, `start` skips the one row of a single answer too. `page` and `pageSize` are looked at, and have no effect.
 */
function readPage(context: ReadContext, reading: Resolver, wanted: Wanted, parameters: Parameters): Page {
  if (wanted.mode === 'many' && wanted.paged !== false) return readPagination(reading, parameters, context.pages)
  const first: Page = { style: 'offset', start: 0, limit: 1, withCount: false }
  return convert(reading, 'page', () => readOffset(parameters), first)
}

function readOffset(parameters: Parameters): Page {
  for (const name of ['page', 'pageSize'] as const) {
    const value = parameters[name]
    if (value === undefined) continue
    if (parameters.start !== undefined || parameters.limit !== undefined) throw misplacedPage()
    if (!(Number.isInteger(Number(value)) && Number(value) > 0)) {
      throw new ApiError('PaginationError', `Invalid '${name}' parameter. Expected an integer > 0, received: ${String(value)}`)
    }
  }
  const start = Number(parameters.start ?? 0)
  const limit = parameters.limit === undefined ? null : Number(parameters.limit)
  if (!Number.isInteger(start) || start < 0) throw validationError(`convertStartQueryParams expected a positive integer got ${start}`)
  if (limit !== null && (!Number.isInteger(limit) || (limit < 0 && limit !== -1))) {
    throw validationError(`convertLimitQueryParams expected a positive integer got ${limit}`)
  }
  const bounded = (value: number): number => Math.min(value, Number.MAX_SAFE_INTEGER)
  return { style: 'offset', start: bounded(start), limit: bounded(limit === null || limit === -1 ? Infinity : limit), withCount: false }
}

function refuseUnknown(parameters: Parameters): void {
  const unknown = Object.keys(parameters).find((name) => !knownParameters.has(name))
  if (unknown !== undefined) throw validationError(`Invalid params: '${unknown}'`)
}
