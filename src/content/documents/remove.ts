// Deletes a document in one locale, or in all.
import type { Transaction } from '../../database/database.js'
import { createRowContext, matchesFilters, readEntry, type WriteContext, type WriteOperation, type WriteOutcome } from './operation.js'
import { removeRows } from './publish/publish.js'
import { clearOutOfSync, findVersions } from './store/rows.js'

/** Deletes the versions selected by the operation. Null if the document does not exist, or if the filters of the query exclude it. */
export async function removeDocument(
  context: WriteContext,
  transaction: Transaction,
  operation: WriteOperation,
): Promise<WriteOutcome | null> {
  const { documentId, everywhere, locale } = operation
  const { type } = operation.write
  if (documentId === null || !(await matchesFilters(context, transaction, operation, documentId))) return null
  const versions = await findVersions(transaction, type, documentId)
  const meant = versions.filter((version) => everywhere || !type.localized || version.locale === locale)
  if (meant.length === 0) return null
  const locales = new Set(meant.map((version) => version.locale))
  const gone = [...locales].flatMap((each) => meant.filter((version) => version.locale === each))
  const entries = []
  for (const row of gone) {
    entries.push(await readEntry(context, transaction, operation, row))
    await context.outbox?.entry(transaction, 'entry.delete', type, row, operation.now)
  }
  const ids = gone.map(({ id }) => id)
  await removeRows(createRowContext(context, transaction, operation, null), type, ids, type.draftAndPublish ? gone : [])
  if (gone.length === versions.length) clearOutOfSync(transaction, type, gone)
  return { documentId, entries, answer: null }
}
