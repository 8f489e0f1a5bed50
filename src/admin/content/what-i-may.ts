// What an administrator may do to one document, so that a page offers nothing that would be refused.
import { type AttributeGrants, type ContentRight, noAttributes, projectAccess, unionOf } from '../../foundation/grants.js'
import { type ContentAccess, type DocumentName, findVersions, inLocale } from './content-access.js'

/** What may be done to a document in a locale. */
export interface DocumentActs {
  /** The attributes that may be changed, dotted through components. */
  readonly update: readonly string[]
  readonly delete: boolean
  readonly publish: boolean
  readonly unpublish: boolean
  readonly discardDraft: boolean
}

const acts = ['update', 'delete', 'publish', 'unpublish', 'discardDraft'] as const

/** What may be done to a document. `isThere`: it has this locale; otherwise changing it makes it. */
export async function actsOn(access: ContentAccess, name: DocumentName, isThere: boolean): Promise<DocumentActs> {
  const { content } = access.grants
  const { type } = name
  const known = new Map<string, boolean>()
  const held: Record<string, readonly ContentRight[]> = {}
  for (const act of acts) {
    const rights = content?.toWrite(type.uid, act === 'update' && !isThere ? 'create' : act) ?? []
    const found: ContentRight[] = []
    for (const right of rights) if (await holds(access, name, right, isThere, known)) found.push(right)
    held[act] = found
  }
  const may = (act: string, needsDrafts: boolean) => held[act]!.length > 0 && isThere && (type.draftAndPublish || !needsDrafts)
  const attributes = held.update!.map((right) => right.attributes).reduce(unionOf, noAttributes)
  const writable = [...type.attributes.values()].filter((attribute) => attribute.kind !== 'scalar' || !attribute.system)
  return {
    update: writable.flatMap(({ name: attribute }) => namesOf(attribute, attributes)).filter((path) => !written.has(path)),
    delete: may('delete', false),
    publish: may('publish', true),
    unpublish: may('unpublish', true),
    discardDraft: may('discardDraft', true),
  }
}

/** Written by the service alone. */
const written = new Set(['createdBy', 'updatedBy', 'localizations'])

function namesOf(name: string, attributes: AttributeGrants): readonly string[] {
  if (attributes === 'all') return [name]
  const below = attributes.get(name)
  if (below === undefined) return []
  return below === 'all'
    ? [name]
    : [...below.keys()].filter((inner) => inner !== 'id').flatMap((inner) => namesOf(inner, below).map((path) => `${name}.${path}`))
}

/** Whether a right holds for a document; what is created is its creator's. */
async function holds(
  { documents }: ContentAccess,
  { type, documentId, locale }: DocumentName,
  { scope, locales }: ContentRight,
  isThere: boolean,
  known: Map<string, boolean>,
): Promise<boolean> {
  if (locale !== null && locales !== null && !locales.includes(locale)) return false
  if (scope === null || !isThere) return true
  const key = JSON.stringify(scope)
  const found = known.get(key)
  if (found !== undefined) return found
  // As a scope, it may compare what no request may.
  const grants = { ...projectAccess, scopes: new Map([[type.uid, scope]]) }
  const parameters = { ...inLocale(locale), status: 'draft', fields: ['documentId'] }
  const row = await findVersions({ documents, grants }, { type, mode: 'first', documentId, parameters })
  known.set(key, row !== null)
  return row !== null
}
