// `pagination` in both styles becomes a start and a limit. Values are clamped as recorded; other values than numbers are refused.
import { ApiError, validationError } from '../../foundation/errors/errors.js'
import type { Page } from '../request.js'
import type { Parameters } from './parameters.js'
import { isObject } from './parameters.js'
import type { Resolver } from './resolve.js'
import { deferError, tryConvert } from './resolve.js'

export interface PageLimits {
  readonly defaultLimit: number
  readonly maxLimit: number
  readonly withCount: boolean
  /** Members of one list in the query string; absent: 100. */
  readonly arrayLimit?: number
}

const paginationError = (message: string): ApiError => new ApiError('PaginationError', message)
export const misplacedPageError = (): ApiError =>
  paginationError('Invalid pagination attributes. The page parameters are incorrect and must be in the pagination object')

/** Reads `pagination` of a list (docs/spec/pagination.md). Mixed styles, fractions and non-numeric pages or starts are refused. */
export function readPagination(walk: Resolver, parameters: Parameters, limits: PageLimits): Page {
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

/** The size of a page: at least 1, at most maxLimit; maxLimit if it is not a number. */
function toPageSize(value: unknown, { defaultLimit, maxLimit }: PageLimits): number {
  if (value === undefined || value === null) return Math.min(defaultLimit, maxLimit)
  const number = toNumber(value)
  if (Number.isNaN(number)) return maxLimit
  return Math.min(maxLimit, Math.max(1, number))
}

function toWholeNumber(name: 'Start' | 'Limit', value: number): number {
  if (!Number.isInteger(value)) throw validationError(`convert${name}QueryParams expected a positive integer got ${value}`)
  // Beyond every row, but within the integers that a database takes.
  return Math.min(value, Number.MAX_SAFE_INTEGER)
}

function readWithCount(value: unknown, fallback: boolean): boolean {
  if (value === undefined) return fallback
  if (value === 'true' || value === 't' || value === '1') return true
  if (value === 'false' || value === 'f' || value === '0') return false
  throw validationError('Invalid withCount parameter. Expected "t","1","true","false","0","f"')
}
