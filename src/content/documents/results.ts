// The responses of writes, read inside their transaction: the document as the caller requested it, and single versions.

import type { ReadBytes, Transaction } from '../../database/database.js'
import { toText } from '../../database/response/sink.js'
import { fullAccess } from '../../foundation/grants.js'
import type { Parameters } from '../../query/rest/parameters.js'
import { readRequest } from '../../query/rest/read.js'
import { type DocumentVersion, mayReadDrafts, versionParameters } from '../../query/rest/versions.js'
import type { Entry, WriteContext, WriteOperation, WriteOutcome } from './operation.js'

const emptyResponse = Buffer.from('{"data":null,"meta":{}}')

/** The document as the caller asked to see it; `status` where the action and not the query decides it. */
export async function readResponse(
  { read, plans }: WriteContext,
  transaction: Transaction,
  { write: { type, query, format }, parameters, grants, locale }: WriteOperation,
  documentId: string,
  status?: 'draft' | 'published',
): Promise<ReadBytes> {
  const identity = { attribute: 'documentId' as const, value: documentId }
  const ask = () => {
    const { filters: _filters, sort: _sort, pagination: _pagination, start: _start, _q, ...given } = parameters
    const shown = { ...given, ...(locale === null ? {} : { locale }), ...(status === undefined ? {} : { status }) }
    return readRequest(read, grants, { type, mode: 'first', identity, format, afterWrite: true }, shown)
  }
  const text = `${grants.key} ${type.uid} ${format} ${locale} ${status} ${query}`
  const { plan, values, identityAt } = typeof query === 'string' ? plans.forQueryString(text, ask, 'data') : plans.forRequest(ask(), 'data')
  const answer = await transaction.read(plan, values.with(identityAt, documentId), true)
  // The parameters may select nothing, such as documents that were never published.
  return answer ?? { bytes: emptyResponse, release: () => {} }
}

/** One version of a write, for the caller and for hooks. */
export async function readEntry(
  context: WriteContext,
  transaction: Transaction,
  operation: WriteOperation,
  row: DocumentVersion,
): Promise<Entry> {
  const { read, plans } = context
  const { type, answers } = operation.write
  const show = async (grants: WriteOperation['grants'], shown: Parameters, isBounded: boolean): Promise<string> => {
    const identity = { attribute: 'id' as const, value: row.id }
    const request = readRequest(read, grants, { type, mode: 'first', identity, afterWrite: true }, { ...shown, ...versionParameters(row) })
    return toText(await transaction.read(plans.forRequest(request, 'bare').plan, request.values, isBounded))
  }
  const { fields, populate } = operation.parameters
  return {
    locale: row.locale,
    asked: answers === 'entries' ? await show(operation.grants, { fields, populate }, true) : null,
    whole: operation.isSeen ? await show(fullAccess, {}, false) : null,
  }
}

/** The result of a create or an update: the written version, and the response. */
export async function toWriteOutcome(
  context: WriteContext,
  transaction: Transaction,
  operation: WriteOperation,
  documentId: string,
  row: DocumentVersion,
): Promise<WriteOutcome> {
  const entries = [await readEntry(context, transaction, operation, row)]
  const answer = operation.write.answers === 'document' ? readResponse(context, transaction, operation, documentId) : null
  if (answer !== null) await transaction.defer(answer)
  return { documentId, entries, answer }
}

/** Filters in the query string of a DELETE apply: documents that do not match are retained (docs/differences.md). */
export async function matchesFilters(
  { read, plans }: WriteContext,
  transaction: Transaction,
  { write: { type }, parameters: { filters, _q, locale, status }, grants }: WriteOperation,
  documentId: string,
): Promise<boolean> {
  if (filters === undefined && _q === undefined) return true
  const identity = { attribute: 'documentId' as const, value: documentId }
  // Only readers of drafts learn whether a draft matches.
  const states = mayReadDrafts(read.draftGrant === true, grants, type) ? [status, 'draft'] : [status]
  for (const state of states) {
    const request = readRequest(read, grants, { type, mode: 'first', identity }, { filters, _q, locale, status: state })
    const found = await transaction.read(plans.forRequest(request, 'data').plan, request.values)
    found?.release()
    if (found !== null) return true
  }
  return false
}
