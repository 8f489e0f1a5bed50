// Lists of documents with cursor pagination, and bounded totals.

import type { Find } from '../../content/documents/read/find.js'
import { type ApiError, inputError } from '../../foundation/errors/errors.js'
import type { ContentType } from '../../model/schema/types.js'
import { type DocumentState, type Parameters, stateName } from '../../query/request.js'
import { queryHash } from '../values.js'
import { type ContentAccess, findRows, inLocale, parseLocale, readableType, unbounded, type VersionData } from './content-access.js'
import { idFields } from './link-view.js'
import { type ColumnQuery, presentColumns, readColumns } from './list-columns.js'
import { type RowAction, readRowActions } from './scheduled-view.js'

/** The row next to a page. */
export interface CursorPosition {
  readonly values: readonly unknown[]
  readonly id: number
}

const maxLength = 8_192

export const toCursor = (hash: string, { id, values }: CursorPosition): string =>
  Buffer.from(JSON.stringify([hash, id, ...values])).toString('base64url')

export type CursorParameter = 'after' | 'before'

/** Parses a cursor. @throws ApiError 400 for an invalid cursor, and for one of another query */
function parseCursor(hash: string, cursor: string, param: CursorParameter): CursorPosition {
  const [of, id, ...values] = decodeParts(cursor, param)
  if (typeof of !== 'string' || !Number.isSafeInteger(id) || values.some((value) => typeof value === 'object' && value !== null))
    throw wrongCursor(param)
  if (of !== hash) throw wrongCursor(param, 'The cursor belongs to a different query: start again without it')
  return { id: id as number, values }
}

function decodeParts(cursor: string, param: CursorParameter): readonly unknown[] {
  if (cursor.length > maxLength) throw wrongCursor(param)
  try {
    const parts = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8')) as unknown
    if (Array.isArray(parts)) return parts
  } catch {}
  throw wrongCursor(param)
}

/** 400 for a cursor. */
export const wrongCursor = (param: CursorParameter, message = 'Invalid cursor'): ApiError => inputError(message, [param], 'cursor')

/** Maximum exact total. */
const maxCounted = 10_000

/** A page of a list. */
export interface DocumentPage<Row = VersionData> {
  readonly data: readonly Row[]
  readonly meta: { readonly limit: number; readonly next: string | null; readonly previous: string | null }
}

/** A locale of a document in a list. */
export interface RowLocale {
  readonly locale: string
  /** Only of types with Draft & Publish. */
  readonly state?: DocumentState
}

/** A document in a list, in one locale. */
interface ListedDocument {
  /** The row id. */
  readonly id: number
  readonly documentId: string
  /** Null on types without locales. */
  readonly locale: string | null
  /** Only of types with Draft & Publish. */
  readonly state?: DocumentState
  /** Only of types with locales. */
  readonly locales?: readonly RowLocale[]
  /** Only of types with Draft & Publish. */
  readonly scheduled?: readonly RowAction[]
  /** The attributes of the list. */
  readonly values: VersionData
}

/** A total; `exact` false: there are more. */
export interface BoundedTotal {
  readonly total: number
  readonly exact: boolean
}

/** Selects the documents of a list. */
interface RowQuery {
  readonly filters?: unknown
  readonly q?: unknown
  /** One, or `*`. */
  readonly locale?: string | undefined
  readonly status?: unknown
  readonly publicationFilter?: unknown
  readonly hasPublishedVersion?: unknown
}

/** A page: its size, and the cursor after or before which it begins. */
export interface PageQuery {
  readonly limit: number
  readonly after?: string | undefined
  readonly before?: string | undefined
}

interface ListQuery extends RowQuery, PageQuery, ColumnQuery {
  readonly sort?: unknown
}

/** Refuses conditions on publications of a type that has none: ignoring them would select every document. @throws ApiError 400 */
function refusePublications({ uid, draftAndPublish }: ContentType, query: RowQuery, above: readonly string[]): void {
  const given = (['publicationFilter', 'hasPublishedVersion'] as const).find((name) => query[name] !== undefined)
  if (!draftAndPublish && given !== undefined) throw inputError(`${uid} has no drafts`, [...above, given], 'unsupported')
}

/** The parameters that select rows; drafts by default. @throws ApiError 400 for an unknown locale, and for what the type does not support */
export async function toRowParameters(
  access: Pick<ContentAccess, 'documents' | 'defaultLocale'>,
  type: ContentType,
  query: RowQuery,
  above: readonly string[] = [],
): Promise<Parameters> {
  const { filters, q, locale, status, publicationFilter, hasPublishedVersion } = query
  refusePublications(type, query, above)
  const chosen = locale === '*' && type.localized ? locale : await parseLocale(access, type, locale, [...above, 'locale'])
  return { filters, _q: q, status: status ?? 'draft', publicationFilter, hasPublishedVersion, ...inLocale(chosen) }
}

/** Reads a page of a list. @throws ApiError 404, 403, 400 */
export async function listDocuments(access: ContentAccess, uid: string, query: ListQuery): Promise<DocumentPage<ListedDocument>> {
  const type = readableType(access, uid)
  const rows = await toRowParameters(access, type, query)
  const columns = await readColumns(access, type, query)
  const { data, meta } = await readPage(access, type, { rows, sort: query.sort, ...columns.parameters }, query)
  const localesOf = type.localized ? await readRowLocales(access, type, data) : null
  const actionsOn = await readRowActions(
    access,
    type,
    data.map(({ documentId }) => String(documentId)),
  )
  const shown = data.map((row): ListedDocument => {
    const documentId = String(row.documentId)
    const locales = localesOf?.(documentId)
    return {
      id: row.id as number,
      documentId,
      locale: type.localized && typeof row.locale === 'string' ? row.locale : null,
      ...(type.draftAndPublish ? { state: row[stateName] as DocumentState } : {}),
      ...(locales === undefined ? {} : { locales }),
      ...(type.draftAndPublish ? { scheduled: actionsOn(documentId, locales?.map(({ locale }) => locale) ?? [null]) } : {}),
      values: presentColumns(columns, row),
    }
  })
  return { data: shown, meta }
}

/** Maximum average number of locales per row. */
const maxRowLocales = 100

/** Reads the locales of the documents of a page, with their states. */
export async function readRowLocales(
  access: Pick<ContentAccess, 'documents' | 'grants'>,
  type: ContentType,
  rows: readonly { readonly documentId?: unknown }[],
): Promise<(documentId: string) => readonly RowLocale[]> {
  const ids = [...new Set(rows.map(({ documentId }) => String(documentId)))]
  const parameters = {
    status: 'draft',
    locale: '*',
    filters: { documentId: { $in: ids } },
    fields: [...idFields(type), stateName],
    sort: 'locale',
    limit: ids.length * maxRowLocales,
  }
  const found = ids.length === 0 ? [] : await findRows(access, type, parameters, { limits: unbounded })
  const locales = new Map<string, RowLocale[]>(ids.map((id) => [id, []]))
  for (const { documentId, locale, [stateName]: state } of found)
    locales.get(String(documentId))?.push({ locale: String(locale), ...(type.draftAndPublish ? { state: state as DocumentState } : {}) })
  return (documentId) => locales.get(documentId) ?? []
}

/** The selection, order and content of rows. */
interface RowSelection {
  readonly rows: Parameters
  readonly sort: unknown
  readonly fields?: unknown
  readonly populate?: unknown
  readonly constants?: Find['constants']
}

/** Reads a page of some rows. @throws ApiError 400 */
export async function readPage(
  reads: Pick<ContentAccess, 'documents' | 'grants'>,
  type: ContentType,
  { rows, sort, fields, populate, constants }: RowSelection,
  page: PageQuery,
): Promise<DocumentPage> {
  const { limit } = page
  const hash = queryHash([type.uid, rows, sort])
  const { position, backwards } = parsePage(hash, page)
  const found = await findRows(
    reads,
    type,
    { ...rows, sort, fields, populate, limit: limit + 1 },
    { keyset: { position, backwards }, ...(constants === undefined ? {} : { constants }) },
  )
  const isFull = found.length > limit
  const shown = backwards ? found.slice(0, limit).reverse() : found.slice(0, limit)
  const cursorAt = (row: VersionData | undefined): string | null => (row === undefined ? null : toCursor(hash, toPosition(row)))
  const isAfter = backwards || isFull
  const isBefore = backwards ? isFull : position !== null
  return {
    data: shown.map((row) => Object.fromEntries(Object.entries(row).filter(([name]) => !isSortValue(name)))),
    meta: { limit, next: isAfter ? cursorAt(shown.at(-1)) : null, previous: isBefore ? cursorAt(shown[0]) : null },
  }
}

/** Rows contain their sort values as `$0`, `$1`. */
const isSortValue = (name: string): boolean => /^\$\d+$/.test(name)

/** Totals of a list, also by state. */
interface ListTotals extends BoundedTotal {
  readonly states?: Readonly<Record<DocumentState, BoundedTotal>>
}

/** Counts the rows of a list, also by their state if `by` says so. @throws ApiError 404, 403, 400 */
export async function countDocuments(
  access: ContentAccess,
  uid: string,
  { by, ...query }: ListQuery & { readonly by?: 'state' | undefined },
): Promise<ListTotals> {
  const type = readableType(access, uid)
  // Invalid parameters are refused even if they do not affect the total.
  const { parameters } = await readColumns(access, type, query)
  const rows = await toRowParameters(access, type, query)
  const total = await countRows(access, type, { ...rows, sort: query.sort, ...parameters })
  if (by === undefined) return total
  if (!type.draftAndPublish) throw inputError(`${type.uid} has no drafts`, ['by'], 'unsupported')
  const count = (state: DocumentState) => {
    const ofState = { [stateName]: state }
    return countRows(access, type, { ...rows, filters: rows.filters === undefined ? ofState : { $and: [rows.filters, ofState] } })
  }
  const [draft, changed, published] = await Promise.all([count('draft'), count('changed'), count('published')])
  return { ...total, states: { draft, changed, published } }
}

/** Counts rows up to a bound. @throws ApiError 400 */
export async function countRows(
  { documents, grants }: Pick<ContentAccess, 'documents' | 'grants'>,
  type: ContentType,
  given: Parameters,
): Promise<BoundedTotal> {
  const parameters = { ...given, limit: maxCounted + 1 }
  const total = (await documents.findData(grants, {
    type,
    parameters,
    mode: 'many',
    action: `${type.uid}.find`,
    envelope: 'countToLimit',
    paged: false,
  })) as number
  return { total: Math.min(total, maxCounted), exact: total <= maxCounted }
}

/** The start of a page; position null: the beginning or the end of the list. @throws ApiError 400 */
export function parsePage(
  hash: string,
  { after, before }: PageQuery,
): { readonly position: CursorPosition | null; readonly backwards: boolean } {
  if (after !== undefined && before !== undefined)
    throw inputError('A page is after a cursor or before one, not both', ['before'], 'conflict')
  const cursor = after ?? before
  const param = before === undefined ? 'after' : 'before'
  return { position: cursor === undefined ? null : parseCursor(hash, cursor, param), backwards: before !== undefined }
}

/** The sort values of a row, which it contains as `$0`, `$1`. */
function toPosition(row: VersionData): CursorPosition {
  const values: unknown[] = []
  for (let index = 0; `$${index}` in row; index++) values.push(row[`$${index}`])
  return { id: row.id as number, values }
}
