// Lets whoever keeps versions of documents look at a write in its transaction.
import { textOf } from '../../database/answer/text.js'
import type { Transaction } from '../../database/database.js'
import { wholeVersionOf } from '../../query/rest/document-version.js'
import { readRequest } from '../../query/rest/read.js'
import type { WriteContext, WriteOperation } from './operation.js'
import { versionsOf } from './store/rows.js'

/** Queries of the service itself are as large as the model makes them. */
const unbounded = { filterRelations: Infinity, queryComplexity: Infinity }

/** Calls the keeper of an operation, if it has one. */
export async function keepVersions(
  { read, plans }: WriteContext,
  transaction: Transaction,
  { action, everywhere, keep, locale, write: { type } }: WriteOperation,
  at: 'before' | 'after',
  documentId: string | null,
): Promise<void> {
  if (keep === null || documentId === null) return
  const all = await versionsOf(transaction, type, documentId)
  await keep(at, {
    ...{ transaction, action, type, documentId },
    versions: all.filter((version) => everywhere || !type.localized || version.locale === locale),
    read: async (grants, version, parameters, links) => {
      const identity = { attribute: 'id' as const, value: version.id }
      const wanted = { type, mode: 'first' as const, identity, written: true, limits: unbounded, linkPage: { start: 0, limit: links } }
      const request = readRequest(read, grants, wanted, { ...parameters, ...wholeVersionOf(type, version) })
      return JSON.parse(textOf(await transaction.read(plans.forRequest(request, 'bare').plan, request.values))) as unknown
    },
  })
}
