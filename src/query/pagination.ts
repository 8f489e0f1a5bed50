// `pagination` in both styles becomes a start and a limit. Values are clamped as recorded; what is no number is refused.
import { ApiError, validationError } from '../errors.js'
import type { Parameters } from './parameters.js'
import { isObject } from './parameters.js'
import type { Page } from './request.js'

export interface PageLimits {
  readonly defaultLimit: number
  readonly maxLimit: number
  readonly withCount: boolean
}

const paginationError = (message: string): ApiError => new ApiError('PaginationError', message)

/**
 * Reads `pagination` of a list (behaviour: "Pagination").
 * @throws ApiError 400 for mixed styles, fractions, and texts in place of page or start.
 */
export function readPagination(parameters: Parameters, limits: PageLimits): Page {
  if (parameters.page !== undefined || parameters.pageSize !== undefined) {
    throw paginationError('Invalid pagination attributes. The page parameters are incorrect and must be in the pagination object')
  }
  const given = isObject(parameters.pagination) ? parameters.pagination : {}
  const pages = given.page !== undefined || given.pageSize !== undefined
  const offsets = given.start !== undefined || given.limit !== undefined
  if (pages && offsets) throw paginationError('Cannot use both page & offset pagination in the same query')
  const withCount = readWithCount(given.withCount, limits.withCount)
  if (offsets) {
    const start = Math.max(0, given.start === undefined ? 0 : toNumber(given.start))
    return { style: 'offset', start: whole('Start', start), limit: size(given.limit, limits), withCount }
  }
  const page = Math.max(1, given.page === undefined ? 1 : toNumber(given.page))
  const limit = size(given.pageSize, limits)
  // The first row of a page, however far: the page is told by it.
  const start = Math.min(whole('Start', (page - 1) * limit), Number.MAX_SAFE_INTEGER - limit)
  return { style: 'page', start: start - (start % limit), limit, withCount }
}

const toNumber = (value: unknown): number => (typeof value === 'object' && value !== null ? Number.NaN : Number(value))

/** The size of a page: at least 1, at most maxLimit; maxLimit where it is no number. */
function size(value: unknown, { defaultLimit, maxLimit }: PageLimits): number {
  if (value === undefined) return Math.min(defaultLimit, maxLimit)
  const number = toNumber(value)
  if (Number.isNaN(number)) return maxLimit
  return whole('Limit', Math.min(maxLimit, Math.max(1, number)))
}

function whole(name: 'Start' | 'Limit', value: number): number {
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
