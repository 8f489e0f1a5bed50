// One action on many documents of a type, within a request: the selection, and a result for each document.
import { serviceTransaction } from '../../database/database.js'
import { ApiError, forbidden, inputError } from '../../foundation/errors/errors.js'
import { isObject, type Parameters } from '../../query/request.js'
import type { StoreActions } from '../activity.js'
import type { Administration } from '../context.js'
import { type DocumentError, toDocumentError } from '../error-paths.js'
import { type ContentAccess, findRows, inLocale, parseLocales, readableType } from './content-access.js'
import { toRowParameters } from './document-list.js'
import { actOnDocument, type DocumentAction } from './document-writes.js'
import { readLinkShapes } from './link-view.js'

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
  /** The value of the naming attribute of a document that was left unchanged; null: see `error`, or it has none. */
  readonly name: string | null
  readonly error: DocumentError | null
}

/** The client of a bulk request. */
interface BulkClient {
  isGone(): boolean
  /** Stores the results under the Idempotency-Key of the request; absent: there is none. */
  readonly store?: StoreActions | undefined
}

const rowsPerRead = 2_000
const maxDocuments = 500

/** Refuses a request that is wrong for every document. @throws ApiError 400, 403, 404 */
export async function checkBulk(access: ContentAccess, { action, type: uid, locale, documents, where }: BulkRequest): Promise<void> {
  const type = readableType(access, uid)
  const needed = `${uid}.${action === 'discardDraft' ? 'discard' : action}`
  if (!access.grants.may(needed)) throw forbidden(needed)
  if (action !== 'delete' && !type.draftAndPublish) throw inputError(`${uid} has no drafts`, ['action'], 'unsupported')
  const isOfList = locale !== null && where?.locale === locale
  await parseLocales(access, type, locale ?? undefined, isOfList ? ['where', 'locale'] : ['locale'])
  if ((documents === null) === (where === null))
    throw inputError('Give either documents or where', [], documents === null ? 'required' : 'conflict')
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
  if (documents.length > maxDocuments) {
    const path = where === null ? ['documents'] : ['where']
    throw inputError(`At most ${maxDocuments} documents in one request`, path, 'tooMany', { max: maxDocuments })
  }
  const errors = new Map<string, DocumentError>()
  for (const documentId of documents) {
    const error = client.isGone() ? notDone : await actOn(access, request, documentId, log)
    if (error !== null) errors.set(documentId, error)
  }
  const names =
    client.isGone() || errors.size === 0 ? noNames : await findNames(access, request, [...errors.keys()]).catch(withoutNames(log))
  const results = documents.map((documentId) => ({
    documentId,
    name: names.get(documentId) ?? null,
    error: errors.get(documentId) ?? null,
  }))
  const { store } = client
  if (store !== undefined) await serviceTransaction(writer, (transaction) => store(transaction, [{ id: '', responseData: results }]))
  return results
}

/** The result of a document whose turn came after the client had closed the connection. */
const notDone: DocumentError = {
  status: 503,
  name: 'ServiceUnavailableError',
  message: 'Not done: the client closed the connection',
  locale: null,
  errors: [],
}

const noNames: ReadonlyMap<string, string> = new Map()

/** The results must not be lost because names cannot be read. */
const withoutNames = (log: Administration['log']) => (error: unknown) => {
  log.error({ err: error }, 'the names of documents in a bulk action cannot be read')
  return noNames
}

const namesPerRead = 200

/** The names of documents, from their drafts in a locale of the request, or in any. */
async function findNames(
  access: ContentAccess,
  { type: uid, locale }: BulkRequest,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const type = readableType(access, uid)
  const { naming } = (await readLinkShapes(access, access.documents.context.model, [type]))(uid)
  const names = new Map<string, string>()
  if (naming === null) return names
  const wanted = new Set((locale ?? access.defaultLocale).split(','))
  const fields = ['documentId', naming, ...(type.localized ? ['locale'] : [])]
  for (let start = 0; start < ids.length; start += namesPerRead) {
    const filters = { documentId: { $in: ids.slice(start, start + namesPerRead) } }
    const rows = await findRows(access, type, { filters, status: 'draft', fields, ...inLocale(type.localized ? '*' : null) })
    for (const { documentId, locale: own, [naming]: name } of rows) {
      const isBetter = wanted.has(String(own)) || !names.has(String(documentId))
      if (isBetter && typeof name === 'string') names.set(String(documentId), name)
    }
  }
  return names
}

/** Carries out the action on one document in any state. Null: it is done. Never throws. */
async function actOn(
  access: ContentAccess,
  request: BulkRequest,
  documentId: string,
  log: Administration['log'],
): Promise<DocumentError | null> {
  const { action, type, locale } = request
  try {
    await actOnDocument(access, action, { type: readableType(access, type), documentId, locale: locale ?? undefined }, null)
    return null
  } catch (error) {
    if (error instanceof ApiError && error.status !== 500) return toDocumentError(error, onlyLocale(access, request))
    log.error({ err: error, requestId: access.requestId }, 'a bulk action failed on a document')
    return { status: 500, name: 'InternalServerError', message: 'Internal Server Error', locale: null, errors: [] }
  }
}

/** The locale of a request; null if there are several, and on types without locales. */
function onlyLocale(access: ContentAccess, { type, locale }: BulkRequest): string | null {
  const given = locale ?? access.defaultLocale
  return readableType(access, type).localized && given !== '*' && !given.includes(',') ? given : null
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
  const rows = await toRowParameters(access, type, where, ['where'])
  const found = new Set<string>()
  let position: { readonly id: number; readonly values: readonly unknown[] } | null = null
  for (;;) {
    const page: readonly ListedRow[] = await findRows<ListedRow>(
      access,
      type,
      { ...rows, fields: ['documentId'], limit: rowsPerRead },
      { keyset: { position, backwards: false } },
    ).catch((error: unknown) => {
      throw error instanceof ApiError ? error.below('where') : error
    })
    for (const { documentId } of page) if (found.size <= max) found.add(documentId)
    const last = page.at(-1)
    if (last === undefined || page.length < rowsPerRead || found.size > max) return [...found]
    position = { id: last.id, values: sortValues(last) }
  }
}

const sortValues = (row: ListedRow): readonly unknown[] =>
  Array.from({ length: Object.keys(row).filter((name) => name.startsWith('$')).length }, (_, index) => row[`$${index}`])

/** JSON values as in a query string: numbers and booleans become strings. @throws ApiError 400 for null */
export function toParameters(value: unknown, path: readonly string[]): unknown {
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  if (Array.isArray(value)) return value.map((one, index) => toParameters(one, [...path, String(index)]))
  if (isObject(value)) return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, toParameters(inner, [...path, name])]))
  if (typeof value === 'string') return value
  throw inputError('A filter cannot be null: use $null to select empty values', path, 'required')
}
