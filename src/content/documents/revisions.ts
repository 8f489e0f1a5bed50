// Writes of those who say which state of a draft they mean, by its revision.
import type { Transaction } from '../../database/database.js'
import { ApiError } from '../../foundation/errors/errors.js'
import type { ContentType } from '../../model/schema/types.js'
import type { ReadRequest } from '../../query/request.js'
import type { Body } from './input/types.js'
import type { WriteContext, WriteOperation } from './operation.js'
import { isSameRow, readRevised } from './read/revision.js'
import { relationsOfOthers } from './read/whole-document.js'
import { type StoredVersion, versionsOf } from './store/rows.js'

/** The revision of a row, as the transaction sees it. */
async function revisionIn(context: WriteContext, transaction: Transaction, type: ContentType, id: number): Promise<string | null> {
  const execute = (request: ReadRequest) => transaction.read(context.plans.forRequest(request, 'bare').plan, request.values)
  return (await readRevised(execute, context.read.model, context.revisionKey, type, { id }))?.revision ?? null
}

/** Whether a write replaces links that other documents keep, and so says what they are. */
function replacesOthers({ data, write: { type } }: WriteOperation): boolean {
  const given = (data ?? {}) as Body
  return relationsOfOthers(type).some(({ name }) => Object.hasOwn(given, name) && !isChangeOfLinks(given[name]))
}

const isChangeOfLinks = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && !('set' in value) && ('connect' in value || 'disconnect' in value)

/** Of each locale that a write is about, the row that its revision is that of, the first: the draft, or the published row where there is none. */
function revised({ everywhere, locale, write: { type } }: WriteOperation, versions: readonly StoredVersion[]): readonly StoredVersion[] {
  const concerned = versions.filter((version) => everywhere || !type.localized || version.locale === locale)
  const locales = [...new Set(concerned.map((version) => version.locale))]
  return locales.map((each) => concerned.find((version) => version.locale === each)!)
}

/**
 * Holds a write to the revisions that its caller has seen. Links that other documents keep may have changed, unless the write replaces them.
 * @throws ApiError 412 if a draft has another one, or is there or not there against what the caller expects
 */
export async function checkRevisions(
  context: WriteContext,
  transaction: Transaction,
  operation: WriteOperation,
  expected: readonly string[],
): Promise<void> {
  const { documentId, write } = operation
  const rows = documentId === null ? [] : revised(operation, await versionsOf(transaction, write.type, documentId))
  if ((rows.length === 0) !== (expected.length === 0)) throw changed()
  const isMeant = replacesOthers(operation) ? (one: string, other: string) => one === other : isSameRow
  const stale: StoredVersion[] = []
  for (const row of rows) {
    const revision = await revisionIn(context, transaction, write.type, row.id)
    if (revision === null || !expected.some((each) => isMeant(each, revision))) stale.push(row)
  }
  if (stale.length > 0) throw changed(operation.everywhere && write.type.localized ? stale : [])
}

/** `versions`: those that have changed, where a write is about several. */
function changed(versions: readonly StoredVersion[] = []): ApiError {
  const locales = versions.map(({ locale }) => locale).join(', ')
  return new ApiError('PreconditionFailedError', `${locales === '' ? '' : `${locales}: `}The document has changed since it was read`)
}

/** The revision of what a write has left, in the locale that it is about; null where that is none, or not one. */
export async function revisionAfter(
  context: WriteContext,
  transaction: Transaction,
  operation: WriteOperation,
  documentId: string,
): Promise<string | null> {
  if (operation.everywhere && operation.write.type.localized) return null
  const [row] = revised(operation, await versionsOf(transaction, operation.write.type, documentId))
  return row === undefined ? null : revisionIn(context, transaction, operation.write.type, row.id)
}
