// The content-types whose rows may be part of what a plan finds: those that it shows, and those that it only looks through.
import { readTables } from '../../../database/cache/table-changes.js'
import type { PlanHandle } from '../../../database/database.js'
import type { ContentType, Model } from '../../../model/schema/types.js'

/** Found once for each plan, which belongs to one model. */
const found = new WeakMap<PlanHandle, readonly string[]>()

/** The uids of the content-types that the answer to a plan is read from, in the order of their names. */
export function typesReadBy(handle: PlanHandle, model: Model): readonly string[] {
  const known = found.get(handle)
  if (known !== undefined) return known
  const tables = readTables(handle.plan)
  const uids = new Set([...model.types.values()].flatMap((type) => uidsIn(type, tables)))
  const types = [...uids].sort()
  found.set(handle, types)
  return types
}

/** The type, where its table is read; and both sides of relations whose pairs are. */
function uidsIn({ uid, table, attributes }: ContentType, tables: ReadonlySet<string>): readonly string[] {
  const related = [...attributes.values()].flatMap((attribute) =>
    attribute.kind === 'relation' && attribute.storage.kind === 'link' && tables.has(attribute.storage.table.toLowerCase())
      ? [uid, attribute.target]
      : [],
  )
  return tables.has(table.toLowerCase()) ? [uid, ...related] : related
}
