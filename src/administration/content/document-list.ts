// Lists of documents, by the row next to a page, and their totals up to a bound.

import type { Find } from '../../documents/read/find.js'
import { validationError } from '../../errors/errors.js'
import type { ContentType } from '../../model/types.js'
import { type Parameters, parseParameters } from '../../query/rest/parameters.js'
import { type ContentAccess, inLocale, readableType } from './content-access.js'
import { type CursorPosition, cursorOf, positionOf, queryHash } from './cursors.js'
import type { VersionData } from './document-view.js'
import { rowStates } from './locale-states.js'

/** Rows of a page: at most, and unless asked for. */
const [mostRows, usualRows] = [200, 50]
/** Rows up to which a total is counted. */
const mostCounted = 10_000

/** A page of a list. */
export interface DocumentPage {
  readonly data: readonly VersionData[]
  readonly meta: { readonly limit: number; readonly next: string | null; readonly previous: string | null }
}

/** A total; not exact: there are more. */
export interface BoundedTotal {
  readonly total: number
  readonly exact: boolean
}

const known = new Set(
  ['filters', 'sort', 'fields', 'populate', 'q', 'locale', 'status', 'publicationFilter', 'hasPublishedVersion'].concat(
    'limit',
    'after',
    'before',
  ),
)

/** The query of a list. @throws ApiError 400 for parameters that it does not have */
function readQuery(rawQuery: string): Parameters {
  const given = parseParameters(rawQuery)
  const unknown = Object.keys(given).find((name) => !known.has(name))
  if (unknown !== undefined) throw validationError(`Invalid params: '${unknown}'`)
  return given
}

/** What decides which rows a list has; drafts unless asked otherwise. */
export function rowsOf(
  { defaultLocale }: Pick<ContentAccess, 'defaultLocale'>,
  type: ContentType,
  { filters, q, locale, status, ...more }: Parameters,
): Parameters {
  const { publicationFilter, hasPublishedVersion } = more
  if (locale !== undefined && typeof locale !== 'string') throw validationError('locale must be a text')
  const parameters = { filters, _q: q, status: status ?? 'draft', publicationFilter, hasPublishedVersion }
  return { ...parameters, ...inLocale(type.localized ? (locale ?? defaultLocale) : null) }
}

/** Reads a page of a list. @throws ApiError 404, 403, 400 */
export async function listDocuments(access: ContentAccess, uid: string, rawQuery: string): Promise<DocumentPage> {
  const type = readableType(access, uid)
  const query = readQuery(rawQuery)
  const rows = rowsOf(access, type, query)
  const { sort, fields, populate, ...page } = query
  const { data, meta } = await pageOfRows(access, type, { rows, sort, fields, populate }, page)
  return { data: await withStates(access, type, data, rows), meta }
}

/** Which rows, in which order, and what is shown of them. */
export interface ShownRows {
  readonly rows: Parameters
  readonly sort: unknown
  readonly fields: unknown
  readonly populate?: unknown
  /** Members that are the same in every row. */
  readonly constants?: Find['constants']
}

/** Reads a page of some rows; `page`: its `limit`, and `after` or `before`. @throws ApiError 400 */
export async function pageOfRows(
  { documents, grants }: Pick<ContentAccess, 'documents' | 'grants'>,
  type: ContentType,
  { rows, sort, fields, populate, constants }: ShownRows,
  page: Parameters,
): Promise<DocumentPage> {
  const limit = limitOf(page.limit)
  const hash = queryHash([type.uid, rows, sort])
  const { position, backwards } = placeOf(hash, page)
  const found = (await documents.findData(grants, {
    ...{ type, mode: 'many', action: `${type.uid}.find`, envelope: 'bare', paged: false, keyset: { position, backwards } },
    ...(constants === undefined ? {} : { constants }),
    parameters: { ...rows, sort, fields, populate, limit: limit + 1 },
  })) as readonly VersionData[]
  const isFull = found.length > limit
  const shown = backwards ? found.slice(0, limit).reverse() : found.slice(0, limit)
  const cursorAt = (row: VersionData | undefined): string | null => (row === undefined ? null : cursorOf(hash, placeIn(row)))
  const isAfter = backwards || isFull
  const isBefore = backwards ? isFull : position !== null
  return {
    data: shown.map((row) => Object.fromEntries(Object.entries(row).filter(([name]) => !name.startsWith('$')))),
    meta: { limit, next: isAfter ? cursorAt(shown.at(-1)) : null, previous: isBefore ? cursorAt(shown[0]) : null },
  }
}

/** Counts the rows of a list. @throws ApiError 404, 403, 400 */
export async function countDocuments(access: ContentAccess, uid: string, rawQuery: string): Promise<BoundedTotal> {
  const type = readableType(access, uid)
  const query = readQuery(rawQuery)
  const { sort, fields, populate } = query
  // What has no effect on the number is looked at all the same.
  const parameters = { ...rowsOf(access, type, query), sort, fields, populate }
  return countRows(access, type, parameters)
}

/** Counts rows up to a bound. @throws ApiError 400 */
export async function countRows(
  { documents, grants }: Pick<ContentAccess, 'documents' | 'grants'>,
  type: ContentType,
  given: Parameters,
): Promise<BoundedTotal> {
  const parameters = { ...given, limit: mostCounted + 1 }
  const total = (await documents.findData(grants, {
    ...{ type, parameters, mode: 'many', action: `${type.uid}.find`, envelope: 'countToLimit', paged: false },
  })) as number
  return { total: Math.min(total, mostCounted), exact: total <= mostCounted }
}

/** The `limit` of a page. @throws ApiError 400 */
export function limitOf(given: unknown): number {
  if (given === undefined) return usualRows
  const limit = typeof given === 'string' && /^\d{1,4}$/.test(given) ? Number(given) : 0
  if (limit < 1 || limit > mostRows) throw validationError(`limit must be 1 to ${mostRows}`)
  return limit
}

function placeOf(hash: string, { after, before }: Parameters): { readonly position: CursorPosition | null; readonly backwards: boolean } {
  if (after !== undefined && before !== undefined) throw validationError('A page is after a cursor or before one, not both')
  const cursor = after ?? before
  if (cursor === undefined) return { position: null, backwards: false }
  if (typeof cursor !== 'string') throw validationError('Invalid cursor')
  return { position: positionOf(hash, cursor), backwards: before !== undefined }
}

/** What a row is sorted by, which it shows as `$0`, `$1`. */
function placeIn(row: VersionData): CursorPosition {
  const values: unknown[] = []
  for (let index = 0; `$${index}` in row; index++) values.push(row[`$${index}`])
  return { id: row.id as number, values }
}

/** The rows, drafts with their state. */
async function withStates(
  access: ContentAccess,
  type: ContentType,
  rows: readonly VersionData[],
  { locale, status }: Parameters,
): Promise<readonly VersionData[]> {
  // Of a list in several locales each row would have to be asked for in its own.
  if (!type.draftAndPublish || status !== 'draft' || locale === '*') return rows
  const ids = rows.map(({ documentId }) => String(documentId))
  const states = await rowStates(access, type, ids, locale === undefined ? {} : { locale })
  return rows.map((row) => ({ ...row, state: states.get(String(row.documentId)) ?? 'draft' }))
}
