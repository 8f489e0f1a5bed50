// Requests of the actions on many documents.
import { ApiFailure, type FailedInput, request } from '../../server/client.js'
import { Offline } from '../../server/connection.js'
import type { QueryData } from '../../server/query-string.js'
import type { BulkDocument, BulkError, BulkFailure } from './bulk-run.js'

/** An action on many documents. */
export type BulkAction = 'publish' | 'unpublish' | 'delete' | 'edit'

/** True while the service cannot be reached. */
export const isAway = (error: unknown): boolean => error instanceof Offline || (error instanceof ApiFailure && error.status === 429)

/** True for a request that needs the password again. */
export const asksForPassword = (error: unknown): boolean =>
  error instanceof ApiFailure && error.status === 403 && error.details.reason === 'password'

/** The errors of a refusal; its message where it names none. */
const errorsOf = (message: string, errors: readonly FailedInput[]): readonly BulkError[] =>
  errors.length === 0
    ? [{ path: [], code: 'other', params: {}, message }]
    : errors.map((error) => ({ path: error.path ?? [], code: error.code ?? 'other', params: error.params ?? {}, message: error.message }))

/** Publishes, unpublishes or deletes some documents. */
export async function actOnDocuments(
  action: Exclude<BulkAction, 'edit'>,
  type: string,
  locale: string | undefined,
  batch: readonly BulkDocument[],
  key: string,
): Promise<readonly BulkFailure[]> {
  const body = { action, type, documents: batch.map(({ documentId }) => documentId), ...(locale === undefined ? {} : { locale }) }
  const { data } = await request('POST', '/bulk', { body, headers: { 'idempotency-key': key } })
  return data.results.flatMap(({ documentId, name, error }) => {
    if (error === null) return []
    const known = name ?? batch.find((one) => one.documentId === documentId)?.name ?? documentId
    return [{ documentId, name: known, locale: error.locale, errors: errorsOf(error.message, error.errors) }]
  })
}

/** Attempts of a change that meets newer revisions. */
const attempts = 3

/** Sets fields of a document; a repeated request does no harm. */
export async function editDocument(
  type: string,
  locale: string | undefined,
  changes: Readonly<Record<string, unknown>>,
  edited: BulkDocument,
): Promise<readonly BulkFailure[]> {
  const path = { type, document: edited.documentId }
  const query = locale === undefined ? {} : { locale }
  for (let attempt = 1; ; attempt++) {
    try {
      const { data } = await request('GET', '/content/{type}/{document}', { path, query })
      await request('PATCH', '/content/{type}/{document}', {
        path,
        query,
        headers: { 'if-match': `"${data.revision ?? ''}"`, prefer: 'return=minimal' },
        body: { changes },
      })
      return []
    } catch (error) {
      if (!(error instanceof ApiFailure) || error.status === 401 || error.status === 429) throw error
      if (error.status !== 412 || attempt === attempts)
        return [{ ...edited, locale: locale ?? null, errors: errorsOf(error.message, error.errors) }]
    }
  }
}

/** Rows of one request for the documents of a list. */
const rowsAtOnce = 200

/** All documents of a list, page by page in the order of their ids, which the action does not change. */
export async function* allDocuments(
  type: string,
  selection: Readonly<Record<string, QueryData>>,
  naming: string,
  untitled: string,
): AsyncGenerator<readonly BulkDocument[]> {
  let after: string | null = null
  do {
    const query: Record<string, unknown> = { ...selection, fields: [naming], sort: 'id:asc', limit: rowsAtOnce }
    if (after !== null) query.after = after
    const page: { data: readonly { documentId: string; values: Readonly<Record<string, unknown>> }[]; meta: { next: string | null } } =
      await request('GET', '/content/{type}', { path: { type }, query })
    yield page.data.map(({ documentId, values }) => ({ documentId, name: String(values[naming] ?? untitled) }))
    after = page.meta.next
  } while (after !== null)
}

/** The chosen documents as one batch. */
export async function* someDocuments(documents: readonly BulkDocument[]): AsyncGenerator<readonly BulkDocument[]> {
  yield documents
}

/** Gives the password again; false for a wrong one. */
export async function confirmPassword(password: string): Promise<boolean> {
  try {
    await request('POST', '/session/password', { body: { password } })
    return true
  } catch (error) {
    if (error instanceof ApiFailure && error.status < 500) return false
    throw error
  }
}
