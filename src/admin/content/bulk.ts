// One action on many documents of a type, within a request: the selection, and a result for each document.
import { serviceTransaction } from '../../database/database.js'
import { ApiError, forbidden, validationError } from '../../foundation/errors/errors.js'
import { isObject, type Parameters } from '../../query/request.js'
import type { StoreActions } from '../activity.js'
import type { Administration } from '../context.js'
import { type ContentAccess, findRows, parseLocales, readableType } from './content-access.js'
import { toRowParameters } from './document-list.js'
import { actOnDocument, type DocumentAction } from './document-writes.js'

/** An action on documents, given by their ids or as a list. */
export interface BulkRequest {
  readonly action: DocumentAction
  /** The uid of the type. */
  readonly type: string
  /** One locale, several separated by commas, or `*`; null: the default one. */
  readonly locale: string | null
  readonly documents: readonly string[] | null
  /** The parameters of a list. */
  readonly where: Parameters | null
}

/** The result for one document; `error` null: the action was carried out. */
export interface BulkResult {
  readonly documentId: string
  readonly error: DocumentError | null
}

/** Why a document was left unchanged. */
interface DocumentError {
  readonly status: number
  readonly name: string
  readonly message: string
  /** The first errors about its values. */
  readonly errors: readonly { readonly path: readonly string[]; readonly message: string }[]
}

/** The client of a bulk request. */
interface BulkClient {
  isGone(): boolean
  /** Stores the results under the Idempotency-Key of the request; absent: there is none. */
  readonly store?: StoreActions | undefined
}

const rowsPerRead = 2_000
const maxErrorsPerDocument = 10
const maxDocuments = 500

/** Refuses a request that is wrong for every document. @throws ApiError 400, 403, 404 */
export async function checkBulk(access: ContentAccess, { action, type: uid, locale, documents, where }: BulkRequest): Promise<void> {
  const type = readableType(access, uid)
  const needed = `${uid}.${action === 'discardDraft' ? 'discard' : action}`
  if (!access.grants.may(needed)) throw forbidden(needed)
  if (action !== 'delete' && !type.draftAndPublish) throw validationError(`${uid} has no drafts`)
  const isOfList = locale !== null && where?.locale === locale
  await parseLocales(access, type, locale ?? undefined, isOfList ? ['where', 'locale'] : ['locale'])
  if ((documents === null) === (where === null)) throw validationError('Give either documents or where')
}

/**
 * Carries out an action on documents one by one, each in a separate transaction. Once the client is gone, the remaining documents are
 * left unchanged, and their results say so.
 * @throws ApiError 400, 403, 404
 */
export async function actOnMany(
  { writer, log }: Pick<Administration, 'writer' | 'log'>,
  access: ContentAccess,
  client: BulkClient,
  request: BulkRequest,
): Promise<readonly BulkResult[]> {
  await checkBulk(access, request)
  const { type, where } = request
  const documents = where === null ? [...new Set(request.documents)] : await findListed(access, type, where, maxDocuments)
  if (documents.length > maxDocuments) throw validationError(`At most ${maxDocuments} documents in one request`)
  const results: BulkResult[] = []
  for (const documentId of documents) {
    const error = client.isGone() ? notDone : await actOn(access, request, documentId, log)
    results.push({ documentId, error })
  }
  const { store } = client
  if (store !== undefined) await serviceTransaction(writer, (transaction) => store(transaction, [{ id: '', responseData: results }]))
  return results
}

/** The result of a document whose turn came after the client had closed the connection. */
const notDone: DocumentError = {
  status: 503,
  name: 'ServiceUnavailableError',
  message: 'Not done: the client closed the connection',
  errors: [],
}

/** Carries out the action on one document in any state. Null: it is done. Never throws. */
async function actOn(
  access: ContentAccess,
  { action, type, locale }: BulkRequest,
  documentId: string,
  log: Administration['log'],
): Promise<DocumentError | null> {
  try {
    await actOnDocument(access, action, { type: readableType(access, type), documentId, locale: locale ?? undefined }, null)
    return null
  } catch (error) {
    if (error instanceof ApiError && error.status !== 500) return toDocumentError(error)
    log.error({ err: error, requestId: access.requestId }, 'a bulk action failed on a document')
    return { status: 500, name: 'InternalServerError', message: 'Internal Server Error', errors: [] }
  }
}

function toDocumentError({ status, name, message, details }: ApiError): DocumentError {
  const errors = (details as { readonly errors?: unknown } | null)?.errors
  return { status, name, message, errors: Array.isArray(errors) ? errors.slice(0, maxErrorsPerDocument).map(toValueError) : [] }
}

/** An error about a value. Code of the project may have thrown anything. */
function toValueError(given: unknown): DocumentError['errors'][number] {
  const { path, message } = (isObject(given) ? given : {}) as { readonly path?: unknown; readonly message?: unknown }
  const names = Array.isArray(path) ? path : path === undefined || path === null ? [] : [path]
  return { path: names.map(String), message: String(message ?? '') }
}

interface ListedRow {
  readonly id: number
  readonly documentId: string
  /** The sort values. */
  readonly [name: `$${number}`]: unknown
}

/** The ids of the documents of a list, in its order; `max` + 1 of them if there are more. @throws ApiError 400, 403, 404 */
async function findListed(access: ContentAccess, uid: string, where: Parameters, max: number): Promise<readonly string[]> {
  const type = readableType(access, uid)
  const rows = await toRowParameters(access, type, where, ['where', 'locale'])
  const found = new Set<string>()
  let position: { readonly id: number; readonly values: readonly unknown[] } | null = null
  for (;;) {
    const page: readonly ListedRow[] = await findRows(
      access,
      type,
      { ...rows, fields: ['documentId'], limit: rowsPerRead },
      { keyset: { position, backwards: false } },
    )
    for (const { documentId } of page) if (found.size <= max) found.add(documentId)
    const last = page.at(-1)
    if (last === undefined || page.length < rowsPerRead || found.size > max) return [...found]
    position = { id: last.id, values: sortValues(last) }
  }
}

const sortValues = (row: ListedRow): readonly unknown[] =>
  Array.from({ length: Object.keys(row).filter((name) => name.startsWith('$')).length }, (_, index) => row[`$${index}`])

/** JSON values as in a query string: numbers and booleans become strings. @throws ApiError 400 for null */
export function toParameters(value: unknown): unknown {
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  if (Array.isArray(value)) return value.map(toParameters)
  if (isObject(value)) return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, toParameters(inner)]))
  if (typeof value === 'string') return value
  throw validationError('A filter cannot be null: use $null to select empty values')
}
