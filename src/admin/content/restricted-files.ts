// Files that the data of an administrator's write must not link to: those that the administrator does not see in the media library, and
// that the version does not have at the same position already.

import { findHiddenFrom } from '../../content/documents/guard/hidden-rows.js'
import { getComponentEntries, getReferences, getTargetType } from '../../content/documents/guard/missing-targets.js'
import type { Body, Reference } from '../../content/documents/input/types.js'
import type { WriteScope } from '../../content/documents/operation.js'
import { readWhole } from '../../content/documents/read/find.js'
import { findVersions } from '../../content/documents/store/rows.js'
import { findTargets } from '../../content/documents/store/targets.js'
import { type AttributeGrants, type ContentRights, grantedBelow, isGranted, noAttributes } from '../../foundation/grants.js'
import { fileType } from '../../model/schema/link.js'
import type { Model, Schema } from '../../model/schema/types.js'
import { isObject } from '../../query/request.js'
import { toEntries } from './link-targets.js'

const none: ReadonlySet<number> = new Set()

/** Finds the row ids of restricted files. `copied` files may be linked to, and hooks of the project may add any file. */
export async function findRestrictedFiles(
  scope: WriteScope,
  { linkableFiles, readable }: ContentRights,
  copied: ReadonlySet<number>,
): Promise<ReadonlySet<number>> {
  const { transaction, operation, type } = scope
  const { data, grants } = operation
  if (linkableFiles.size === 0 || !isObject(data)) return none
  const { model } = scope.read
  const sent = Object.fromEntries(Object.entries(data).filter(([name]) => !operation.addedByHooks.has(name)))
  const named = [...filesIn({ model, shape: type, readable: noAttributes }, sent, {})].map(({ reference }) => reference)
  if (named.length === 0) return none
  const files = model.types.get(fileType)!
  const rows = await findTargets(transaction, files, named)
  const others = rows.map(({ id }) => id).filter((id) => !copied.has(id))
  const hidden = await findHiddenFrom(scope, { ...grants, scopes: linkableFiles })(files, others)
  if (hidden.size === 0) return none
  const ids = new Map<unknown, number>(rows.flatMap(({ id, document_id }) => [[id, id] as const, [document_id, id] as const]))
  const place = { model, shape: type, readable: readable.get(type.uid) ?? noAttributes }
  const restricted = new Set<number>()
  for (const { reference, linked } of filesIn(place, sent, await readReplaced(scope))) {
    const id = ids.get(reference.documentId ?? reference.id)
    if (id !== undefined && hidden.has(id) && !linked.has(id)) restricted.add(id)
  }
  return restricted
}

/** The version before the write; empty for a new one. */
async function readReplaced(scope: WriteScope): Promise<Body> {
  const { transaction, type } = scope
  const { action, documentId, locale } = scope.operation
  if (action === 'create' || documentId === null) return {}
  const versions = await findVersions(transaction, type, documentId)
  const row = versions.find((version) => version.locale === locale && (!type.draftAndPublish || version.published_at === null))
  return (row === undefined ? null : await readWhole(scope, type, row.id, 'files')) ?? {}
}

/** The shape of the data, and what the administrator can read of it. */
interface DataScope {
  readonly model: Model
  readonly shape: Schema
  readonly readable: AttributeGrants
}

/** A file in the data, and the readable files of the version at the same position. */
interface FileReference {
  readonly reference: Reference
  readonly linked: ReadonlySet<unknown>
}

function* filesIn({ model, shape, readable }: DataScope, body: Body, version: Body): Iterable<FileReference> {
  for (const [name, value] of Object.entries(body)) {
    const attribute = shape.attributes.get(name)
    if (attribute === undefined || value === undefined) continue
    const stored = isGranted(readable, name) ? toEntries(version[name]) : []
    const entries = new Map(stored.map((entry) => [`${entry.__component ?? ''} ${entry.id}`, entry]))
    for (const [component, entry] of getComponentEntries(model, attribute, value)) {
      const former = entries.get(`${attribute.kind === 'dynamiczone' ? component.uid : ''} ${entry.id}`)
      yield* filesIn({ model, shape: component, readable: grantedBelow(readable, name) }, entry, former ?? {})
    }
    if (getTargetType(model, attribute)?.uid !== fileType) continue
    // Only media attributes show files; relations to files are unreadable.
    const linked = new Set(attribute.kind === 'media' ? stored.map(({ id }) => id) : [])
    for (const reference of getReferences(value, attribute)) yield { reference, linked }
  }
}
