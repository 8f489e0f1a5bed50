// Lists of documents, by the row next to a page, and their totals up to a bound.

import type { Find } from '../../content/documents/read/find.js'
import { validationError } from '../../foundation/errors/errors.js'
import type { ContentType } from '../../model/schema/types.js'
import { type Parameters, readParameters } from '../../query/rest/parameters.js'
import { publicationFilters } from '../../query/rest/versions.js'
import { type ContentAccess, inLocale, localeOf, readableType } from './content-access.js'
import { type CursorPosition, cursorOf, positionOf, queryHash } from './cursors.js'
import type { VersionData } from './document-view.js'
import { rowStates } from './locale-states.js'

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

/** Which documents a list has. */
export interface WantedRows {
  readonly filters?: unknown
  readonly q?: unknown
  /** One, or `*`. */
  readonly locale?: string | undefined
  readonly status?: unknown
  readonly publicationFilter?: unknown
  readonly hasPublishedVersion?: unknown
}

/** A page of a list: how many rows, and behind or before which cursor. */
export interface WantedPage {
  readonly limit: number
  readonly after?: string | undefined
  readonly before?: string | undefined
}

/** What a list is asked for. */
export interface WantedList extends WantedRows, WantedPage {
  readonly sort?: unknown
  readonly fields?: unknown
  readonly populate?: unknown
}

/** The values of `publicationFilter`. */
export const knownPublicationFilters = publicationFilters

/** A query string as nested data, as the content API reads it: `filters[title][$eq]=Tea`. @throws ApiError 400 for a list that is too long */
export const nestedQuery = (query: string): Parameters => readParameters(query)

/** What decides which rows a list has; drafts unless asked otherwise. @throws ApiError 400 for a locale that is not there */
export async function rowsOf(
  access: Pick<ContentAccess, 'documents' | 'defaultLocale'>,
  type: ContentType,
  { filters, q, locale, status, publicationFilter, hasPublishedVersion }: WantedRows,
  localeAt = ['locale'],
): Promise<Parameters> {
  const chosen = locale === '*' && type.localized ? locale : await localeOf(access, type, locale, localeAt)
  return { filters, _q: q, status: status ?? 'draft', publicationFilter, hasPublishedVersion, ...inLocale(chosen) }
}

/** Reads a page of a list. @throws ApiError 404, 403, 400 */
export async function listDocuments(access: ContentAccess, uid: string, query: WantedList): Promise<DocumentPage> {
  const type = readableType(access, uid)
  const rows = await rowsOf(access, type, query)
  const { sort, fields, populate } = query
  const { data, meta } = await pageOfRows(access, type, { rows, sort, fields, populate }, query)
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

/** Reads a page of some rows. @throws ApiError 400 */
export async function pageOfRows(
  { documents, grants }: Pick<ContentAccess, 'documents' | 'grants'>,
  type: ContentType,
  { rows, sort, fields, populate, constants }: ShownRows,
  page: WantedPage,
): Promise<DocumentPage> {
  const { limit } = page
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
export async function countDocuments(access: ContentAccess, uid: string, query: WantedList): Promise<BoundedTotal> {
  const type = readableType(access, uid)
  const { sort, fields, populate } = query
  // What has no effect on the number is looked at all the same.
  const parameters = { ...(await rowsOf(access, type, query)), sort, fields, populate }
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

/** Where a page lies: behind a row, or before it; null: at the beginning. @throws ApiError 400 */
export function placeOf(
  hash: string,
  { after, before }: WantedPage,
): { readonly position: CursorPosition | null; readonly backwards: boolean } {
  if (after !== undefined && before !== undefined) throw validationError('A page is after a cursor or before one, not both')
  const cursor = after ?? before
  return { position: cursor === undefined ? null : positionOf(hash, cursor), backwards: before !== undefined }
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
  { status }: Parameters,
): Promise<readonly VersionData[]> {
  if (!type.draftAndPublish || status !== 'draft') return rows
  const stateOf = await rowStates(
    access,
    type,
    rows.map(({ id }) => id as number),
  )
  return rows.map((row) => ({ ...row, state: stateOf(row.id as number) }))
}
