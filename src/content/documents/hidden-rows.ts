// Which rows the scopes of a write's caller hide, found in its transaction.
import type { Transaction } from '../../database/database.js'
import type { Grants } from '../../foundation/grants.js'
import { fileType } from '../../model/schema/link.js'
import type { ContentType } from '../../model/schema/types.js'
import { maxRowsInScope, readRowsInScope } from '../../query/rest/read.js'
import type { WriteReading } from './read/plans.js'
import type { FindHidden } from './store/hidden-rows.js'
import { versionsOf } from './store/rows.js'

/** Finds rows that a caller does not see: outside of its scopes, or, for administrators, of types that they may not read. */
export function hiddenFrom({ read, plans }: WriteReading, transaction: Transaction, grants: Grants): FindHidden {
  return async (type, ids) => {
    if (grants.content?.readable.has(type.uid) === false) return new Set(ids)
    if (ids.length === 0 || !grants.scopes.has(type.uid)) return new Set()
    const seen = new Set<number>()
    for (let from = 0; from < ids.length; from += maxRowsInScope) {
      const request = readRowsInScope(read, grants, type, ids.slice(from, from + maxRowsInScope))
      const answer = (await transaction.read(plans.forRequest(request, 'bare').plan, request.values))!
      const rows = JSON.parse(Buffer.from(answer.bytes).toString('utf8')) as readonly { readonly id: number }[]
      answer.release()
      for (const { id } of rows) seen.add(id)
    }
    return new Set(ids.filter((id) => !seen.has(id)))
  }
}

/** Finds rows that a write cannot name; null: there are none. */
export function hiddenIn(
  reading: WriteReading,
  transaction: Transaction,
  { grants, policy }: { readonly grants: Grants; readonly policy: { readonly hiddenFiles?: ReadonlySet<number> } | null },
): FindHidden | null {
  const unseen = grants.scopes.size === 0 && grants.content === undefined ? null : hiddenFrom(reading, transaction, grants)
  const hiddenFiles = policy?.hiddenFiles
  if (hiddenFiles === undefined || hiddenFiles.size === 0) return unseen
  return async (type, ids) => {
    if (type.uid === fileType) return new Set(ids.filter((id) => hiddenFiles.has(id)))
    return unseen === null ? new Set() : unseen(type, ids)
  }
}

/** Whether a version of the document is hidden: then the whole document does not exist for the caller. */
export async function isHidden(
  reading: WriteReading,
  transaction: Transaction,
  grants: Grants,
  type: ContentType,
  documentId: string,
): Promise<boolean> {
  const ids = (await versionsOf(transaction, type, documentId)).map(({ id }) => id)
  return (await hiddenFrom(reading, transaction, grants)(type, ids)).size > 0
}
