// One act on many documents of a type: which documents are meant, and what it came to for each of them.
import { ApiError, validationError } from '../../foundation/errors/errors.js'
import { isObject, type Parameters } from '../../query/rest/parameters.js'
import { type ContentAccess, readableType } from './content-access.js'
import { rowsOf } from './document-list.js'
import { actOnDocument, type DocumentAction } from './document-writes.js'

/** What is done, and where. */
export interface BulkAct {
  readonly action: DocumentAction
  /** The uid of the type. */
  readonly type: string
  /** One locale, several separated by commas, or `*`; null: the default one. */
  readonly locale: string | null
}

/** What decides which documents are meant, as in a list. */
export type ListedBy = Parameters

/** Why a document was left as it is. */
export interface DocumentError {
  readonly status: number
  readonly name: string
  readonly message: string
  /** The first errors about its values. */
  readonly errors: readonly { readonly path: readonly string[]; readonly message: string }[]
}

/** Rows that one read of a selection has. */
const atOnce = 2_000
/** Errors about the values of one document that are returned. */
const mostErrors = 10

/** Does the act to one document, whatever state it is in. Null: it is done. Never throws; `failed` receives what is no answer. */
export async function actOn(
  access: ContentAccess,
  { action, type, locale }: BulkAct,
  documentId: string,
  failed: (error: unknown) => void,
): Promise<DocumentError | null> {
  try {
    await actOnDocument(access, action, { type: readableType(access, type), documentId, locale: locale ?? undefined }, null)
    return null
  } catch (error) {
    if (!(error instanceof ApiError) || error.status === 500) failed(error)
    return errorOf(error)
  }
}

/** An error as the result of a document. */
export function errorOf(error: unknown): DocumentError {
  if (!(error instanceof ApiError) || error.status === 500)
    return { status: 500, name: 'InternalServerError', message: 'Internal Server Error', errors: [] }
  const { status, name, message, details } = error
  const given = (details as { readonly errors?: unknown } | null)?.errors
  return { status, name, message, errors: (Array.isArray(given) ? given.slice(0, mostErrors) : []).map(errorOfValue) }
}

/** An error about a value. Code of the project may have thrown anything. */
function errorOfValue(given: unknown): DocumentError['errors'][number] {
  const { path, message } = (isObject(given) ? given : {}) as { readonly path?: unknown; readonly message?: unknown }
  const names = Array.isArray(path) ? path : path === undefined || path === null ? [] : [path]
  return { path: names.map(String), message: String(message ?? '') }
}

/** The error of a document that is not among those that are meant any more. */
export const unmatched: DocumentError = {
  ...{ status: 409, name: 'ConflictError', errors: [] },
  message: 'The document does not match the filters any more',
}

/**
 * The documents of a list, in its order, each once; one more than `most` if there are too many.
 * @throws ApiError 400, 403, 404
 */
export async function documentsListed(access: ContentAccess, uid: string, where: ListedBy, most: number): Promise<readonly string[]> {
  const type = readableType(access, uid)
  const rows = await rowsOf(access, type, where, ['where', 'locale'])
  const found = new Set<string>()
  let position: { readonly id: number; readonly values: readonly unknown[] } | null = null
  for (;;) {
    const page = (await access.documents.findData(access.grants, {
      ...{ type, mode: 'many', action: `${uid}.find`, envelope: 'bare', paged: false, keyset: { position, backwards: false } },
      parameters: { ...rows, fields: ['documentId'], limit: atOnce },
    })) as readonly { readonly id: number; readonly documentId: string; readonly $0?: unknown }[]
    for (const { documentId } of page) if (found.size <= most) found.add(documentId)
    const last = page.at(-1)
    if (last === undefined || page.length < atOnce || found.size > most) return [...found]
    position = { id: last.id, values: valuesOf(last) }
  }
}

const valuesOf = (row: Readonly<Record<string, unknown>>): readonly unknown[] =>
  Array.from({ length: Object.keys(row).filter((name) => name.startsWith('$')).length }, (_, index) => row[`$${index}`])

/** Those of some documents that a list has. @throws ApiError 400, 403, 404 */
export async function stillListed(
  access: ContentAccess,
  uid: string,
  { filters, ...where }: ListedBy,
  ids: readonly string[],
): Promise<ReadonlySet<string>> {
  const among = { documentId: { $in: ids } }
  const both = filters === undefined ? among : { $and: [filters, among] }
  return new Set(await documentsListed(access, uid, { ...where, filters: both }, ids.length))
}

/** Members of JSON as a query string has them: numbers and booleans as texts. @throws ApiError 400 for null */
export function asParameters(value: unknown): unknown {
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  if (Array.isArray(value)) return value.map(asParameters)
  if (isObject(value)) return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, asParameters(inner)]))
  if (typeof value === 'string') return value
  throw validationError('A filter has no null: ask for what is empty with $null')
}
