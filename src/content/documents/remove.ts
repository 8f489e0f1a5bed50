// Deletes a document in one locale, or in all.
import { createRowContext, matchesFilters, readEntry, type WriteOutcome, type WriteScope } from './operation.js'
import { removeRows } from './publish/publish.js'
import { clearOutOfSync, clearScheduled, findVersions, scheduledIn } from './store/rows.js'

/** Deletes the versions selected by the operation. Null if the document does not exist, or if the filters of the query exclude it. */
export async function removeDocument(scope: WriteScope): Promise<WriteOutcome | null> {
  const { transaction, operation, type } = scope
  const { documentId, everywhere, locale } = operation
  if (documentId === null || !(await matchesFilters(scope, documentId))) return null
  const versions = await findVersions(transaction, type, documentId)
  const meant = versions.filter((version) => everywhere || !type.localized || version.locale === locale)
  if (meant.length === 0) return null
  const locales = new Set(meant.map((version) => version.locale))
  const gone = [...locales].flatMap((each) => meant.filter((version) => version.locale === each))
  const entries = []
  for (const row of gone) {
    entries.push(await readEntry(scope, row))
    await scope.outbox?.entry(transaction, 'entry.delete', type, row, operation)
  }
  const ids = gone.map(({ id }) => id)
  await removeRows(createRowContext(scope, null), type, ids, type.draftAndPublish ? gone : [])
  if (gone.length === versions.length) clearOutOfSync(transaction, type, gone)
  if (versions.some(({ scheduled }) => scheduled === 1)) clearScheduled(transaction, scheduledIn(type, documentId, [...locales]))
  return { documentId, entries, answer: null }
}
