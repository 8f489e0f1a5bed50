// Finds rows hidden from the caller of a write, in its transaction. Hidden rows cannot be referenced, and links to them are retained.
import { forbidden } from '../../../foundation/errors/errors.js'
import type { Grants } from '../../../foundation/grants.js'
import { fileType } from '../../../model/schema/link.js'
import type { ContentType } from '../../../model/schema/types.js'
import { maxRowsInScope, readRowsInScope } from '../../../query/rest/read.js'
import type { TransactionReads } from '../read/plans.js'
import { findVersions } from '../store/rows.js'

/** Finds rows outside of the caller's scopes or, for administrators, of types that they may not read. */
export function findHiddenFrom({ read, plans, transaction }: TransactionReads, grants: Grants): FindHidden {
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

/** Finds rows that a write must not reference; null if there are none. */
export function findUnnameable(
  reading: TransactionReads,
  { grants, policy }: { readonly grants: Grants; readonly policy: { readonly hiddenFiles?: ReadonlySet<number> } | null },
): FindHidden | null {
  const unseen = grants.scopes.size === 0 && grants.content === undefined ? null : findHiddenFrom(reading, grants)
  const hiddenFiles = policy?.hiddenFiles
  if (hiddenFiles === undefined || hiddenFiles.size === 0) return unseen
  return async (type, ids) => {
    if (type.uid === fileType) return new Set(ids.filter((id) => hiddenFiles.has(id)))
    return unseen === null ? new Set() : unseen(type, ids)
  }
}

/** True if any version of the document is hidden: then the whole document does not exist for the caller. */
export async function isHidden(reading: TransactionReads, grants: Grants, type: ContentType, documentId: string): Promise<boolean> {
  const ids = (await findVersions(reading.transaction, type, documentId)).map(({ id }) => id)
  return (await findHiddenFrom(reading, grants)(type, ids)).size > 0
}

/** Returns the hidden ones among these rows. */
export type FindHidden = (type: ContentType, ids: readonly number[]) => Promise<ReadonlySet<number>>

/** Returns the rows that a caller may reference. */
export async function withoutHidden<Row extends { readonly id: number }>(
  find: FindHidden,
  type: ContentType,
  rows: readonly Row[],
): Promise<readonly Row[]> {
  if (rows.length === 0) return rows
  const hidden = await find(
    type,
    rows.map(({ id }) => id),
  )
  return hidden.size === 0 ? rows : rows.filter(({ id }) => !hidden.has(id))
}

/**
 * Returns the new targets of a relation, including hidden ones in `present`: callers cannot remove links that they cannot see.
 * @throws ApiError 403 if the hidden target of a to-one relation would be replaced
 */
export async function keepHidden(
  find: FindHidden,
  type: ContentType,
  present: readonly number[],
  wanted: readonly number[],
  many: boolean,
): Promise<readonly number[]> {
  const lost = present.filter((id) => !wanted.includes(id))
  if (lost.length === 0) return wanted
  const hidden = await find(type, lost)
  if (hidden.size === 0) return wanted
  if (many) return [...wanted, ...lost.filter((id) => hidden.has(id))]
  if (wanted.length > 0) throw forbidden()
  return present
}
