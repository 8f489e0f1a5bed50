// Reads a whole row, including everything hidden from callers: to validate or compare it, and to compute its revision.

import { createHmac } from 'node:crypto'
import type { ReadResult, Transaction } from '../../../database/database.js'
import { isColumnRelation } from '../../../model/schema/graph.js'
import { fileType, isPolymorphicTarget } from '../../../model/schema/link.js'
import type { Attribute, ContentType, Model, MorphTo, Relation, Scalar, Schema } from '../../../model/schema/types.js'
import type { Filter, Populated, ReadRequest, Selection } from '../../../query/request.js'
import type { Plans } from './plans.js'

/**
 * The extent of a read: values and components, the relations and files of components too, also the row's own files, or also its own
 * relations, without those stored by their targets. `required`: values, components, and required links.
 */
export type Extent = 'values' | 'components' | 'files' | 'links' | 'required'

/** A row of a type: by its id, or the draft of a document in a locale, or its only row where there are no drafts. */
export type RowSelector =
  | { readonly id: number }
  | { readonly documentId: string; readonly locale: string | null; readonly side: 'draft' | 'published' }

/** A row as it is stored, with entries of components and ids of links. */
export type WholeRow = Readonly<Record<string, unknown>>

/** Reads a row with its components. */
export async function readWhole(
  model: Model,
  plans: Plans,
  transaction: Transaction,
  type: ContentType,
  id: number,
  extent: Extent,
): Promise<WholeRow | null> {
  const bytes = await readWholeBytes(model, plans, transaction, type, id, extent)
  return bytes === null ? null : (JSON.parse(Buffer.from(bytes).toString('utf8')) as WholeRow)
}

/** The same as JSON. */
export async function readWholeBytes(
  model: Model,
  plans: Plans,
  transaction: Transaction,
  type: ContentType,
  id: number,
  extent: Extent,
): Promise<Uint8Array | null> {
  const request = requestWholeRow(model, type, { id }, extent)
  return copyBytes(await transaction.read(plans.forRequest(request, 'bare').plan, request.values))
}

/** The bytes of an answer, for longer than it is held. */
export function copyBytes(answer: ReadResult): Uint8Array | null {
  if (answer === null) return null
  const bytes = Uint8Array.from(answer.bytes)
  answer.release()
  return bytes
}

/** A read of one row with all its values and everything it contains. */
export const requestWholeRow = (model: Model, type: ContentType, which: RowSelector, extent: Extent): ReadRequest =>
  // Links may lead to a version of either kind.
  oneRow(type, which, {
    status: extent === 'links' || extent === 'required' ? 'any' : 'draft',
    selection: wholeSelection(model, type, extent),
  })

/** Links of one relation that are read of those that other documents keep. */
const maxLinksOfOthers = 101

/** The relations of a type whose links other documents keep. */
export const getInverseRelations = ({ attributes }: ContentType): readonly Relation[] =>
  [...attributes.values()].filter(
    (attribute) =>
      attribute.kind === 'relation' &&
      (attribute.storage.kind === 'inverseColumn' || (attribute.storage.kind === 'link' && !attribute.storage.owner)),
  ) as readonly Relation[]

/** A read of the first links of one row that other documents keep; null: its type has no such relation. */
export function requestInverseLinks(model: Model, type: ContentType, which: RowSelector): ReadRequest | null {
  const relations = getInverseRelations(type)
  if (relations.length === 0) return null
  const request = oneRow(type, which, { status: 'any', selection: { shape: type, fields: [], populate: [] } })
  const page = { start: request.values.length, limit: request.values.length + 1 }
  const populate = relations.map((attribute): Populated => {
    const target = model.types.get(attribute.target)!
    return { kind: 'relation', attribute, target, page, filter: null, sort: [], of: selectIds(target) }
  })
  return { ...request, selection: { shape: type, fields: [], populate }, values: [...request.values, 0, maxLinksOfOthers] }
}

function oneRow(type: ContentType, which: RowSelector, { status, selection }: Pick<ReadRequest, 'status' | 'selection'>): ReadRequest {
  const { filter, values } = toFilter(type, which)
  return {
    type,
    mode: 'first',
    status,
    locale: { kind: 'any' },
    targetLocale: null,
    filter,
    publication: [],
    closedDrafts: [],
    scopes: {},
    sort: [],
    page: { style: 'offset', start: 0, limit: 1, withCount: false },
    selection,
    format: 'flat',
    identityAt: -1,
    values: [0, 1, ...values],
  }
}

function toFilter(type: ContentType, which: RowSelector): { readonly filter: Filter; readonly values: readonly unknown[] } {
  const equal = (name: string, at: number): Filter => ({
    kind: 'compare',
    attribute: type.attributes.get(name) as Scalar,
    operator: '$eq',
    values: [at],
  })
  if ('id' in which) return { filter: equal('id', 2), values: [which.id] }
  const { documentId, locale, side } = which
  const publishedAt = type.attributes.get('publishedAt') as Scalar
  const of: Filter[] = [
    equal('documentId', 2),
    ...(type.localized ? [equal('locale', 3)] : []),
    ...(type.draftAndPublish
      ? [
          {
            kind: 'compare' as const,
            attribute: publishedAt,
            operator: side === 'draft' ? ('$null' as const) : ('$notNull' as const),
            values: [],
          },
        ]
      : []),
  ]
  return { filter: { kind: 'all', of }, values: [documentId, ...(type.localized ? [locale] : [])] }
}

function wholeSelection(model: Model, shape: Schema, extent: Extent): Selection {
  const attributes = [...shape.attributes.values()]
  const below = (uid: string): Selection => wholeSelection(model, model.components.get(uid)!, extent)
  const populate = attributes.flatMap((attribute): Populated[] => {
    if (attribute.kind === 'component') return [{ kind: 'component', attribute, filter: null, sort: [], of: below(attribute.component) }]
    if (attribute.kind === 'dynamiczone') return [{ kind: 'zone', attribute, on: attribute.components.map(below) }]
    if (extent === 'required') return attribute.required ? requiredLink(model, attribute) : []
    if (attribute.kind === 'morphTo') return extent === 'links' ? [populateMorph(model, attribute)] : []
    const isRead = shape.kind === 'component' ? extent !== 'values' : readsOwn(extent, attribute)
    const target = isRead ? getLinkedType(model, attribute) : null
    if (target !== null && (attribute.kind === 'relation' || attribute.kind === 'media'))
      return [{ kind: 'relation', attribute, target, filter: null, sort: [], of: selectIds(target) }]
    return []
  })
  // A password leaves the database as the text it is stored as: only here, to see that there is one.
  const fields = attributes
    .filter((attribute) => attribute.kind === 'scalar')
    .map((scalar): Scalar => ({ ...scalar, type: scalar.type === 'password' ? 'string' : scalar.type }))
  return { shape, fields, populate }
}

function requiredLink(model: Model, attribute: Attribute): Populated[] {
  if (attribute.kind === 'morphTo') return [populateMorph(model, attribute)]
  if (attribute.kind !== 'relation' && attribute.kind !== 'media') return []
  const target = model.types.get(attribute.kind === 'media' ? fileType : attribute.target)!
  return [{ kind: 'relation', attribute, target, filter: null, sort: [], of: selectIds(target) }]
}

/** True if a link of the row itself is read. Links stored by other documents are not its own. */
function readsOwn(extent: Extent, attribute: Attribute): boolean {
  if (attribute.kind === 'media') return extent === 'files' || extent === 'links'
  return extent === 'links' && attribute.kind === 'relation' && isOwn(attribute)
}

const isOwn = ({ storage }: Relation): boolean => storage.kind === 'link' && storage.owner

const selectIds = (shape: Schema): Selection => ({ shape, fields: [shape.attributes.get('id') as Scalar], populate: [] })

const populateMorph = (model: Model, attribute: MorphTo): Populated => ({
  kind: 'morph',
  attribute,
  on: [...model.types.values()].filter(isPolymorphicTarget).map((type) => ({ ...selectIds(type), versions: 'any' as const })),
})

/** The type that links of a relation lead to, or that of files; null for what keeps no links. */
export function getLinkedType(model: Model, attribute: Attribute): ContentType | null {
  if (attribute.kind === 'media') return model.types.get(fileType)!
  if (attribute.kind !== 'relation') return null
  return attribute.storage.kind === 'link' || isColumnRelation(attribute) ? model.types.get(attribute.target)! : null
}

/** Characters of the part about the row itself, with its components and links, and of that about links that other documents keep. */
const [ownCharacters, othersCharacters] = [27, 16]

/** Reads with a separate plan. */
type Execute = (request: ReadRequest) => Promise<ReadResult>

/**
 * Reads a row with its components and links, as JSON, and its revision: two keyed hashes, of the row itself, and of the first links that other
 * documents store, if its type has such relations. Without the key it reveals nothing about the rest of the row.
 */
export async function readRevised(
  execute: Execute,
  model: Model,
  key: string,
  type: ContentType,
  which: RowSelector,
): Promise<{ readonly revision: string; readonly bytes: Uint8Array } | null> {
  const hashOf = (bytes: Uint8Array) => createHmac('sha256', key).update(bytes).digest('base64url')
  // First: a newer state than the revision is detected by the next write, an older one would be overwritten unnoticed.
  const request = requestInverseLinks(model, type, which)
  const others = request === null ? null : copyBytes(await execute(request))
  const bytes = copyBytes(await execute(requestWholeRow(model, type, which, 'links')))
  if (bytes === null) return null
  const linked = others === null ? '' : hashOf(others).slice(0, othersCharacters)
  return { revision: hashOf(bytes).slice(0, ownCharacters) + linked, bytes }
}

/** True if two revisions are of the same row, ignoring links that others store. */
export const isSameRow = (one: string, other: string): boolean => one.slice(0, ownCharacters) === other.slice(0, ownCharacters)
