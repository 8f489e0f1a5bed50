// A document for its editor: draft, published version, states of its locales, revision and permitted actions.

import type { Body } from '../../content/documents/input/types.js'
import {
  type AttributeGrants,
  type ContentRight,
  grantedBelow,
  isGranted,
  noAttributes,
  projectAccess,
  unionOf,
} from '../../foundation/grants.js'
import { fileType, isClosedType, isPolymorphicTarget } from '../../model/schema/link.js'
import { type Attribute, assertNever, type ContentType, type Model, type Schema } from '../../model/schema/types.js'
import { type DocumentState, type Parameters, stateName } from '../../query/request.js'
import { type AdministratorGrants, superAdminGrants } from '../permissions/grants.js'
import { changedAttributes } from './changed-attributes.js'
import { type ContentAccess, type DocumentName, findVersion, findVersions, type VersionData } from './content-access.js'
import { findLinkedTypes, idFields, type LinkShapes, linkLevel, presentLinks, readLinkShapes } from './link-view.js'
import { type ScheduledAction, scheduledFor } from './scheduled-view.js'

/** A document in one locale. */
export interface DocumentView {
  readonly documentId: string
  readonly locale: string | null
  /** Null: the document does not exist in this locale; changing it creates it. */
  readonly revision: string | null
  readonly state: DocumentState | null
  /** The draft, or the only version of a type without Draft & Publish. */
  readonly draft: VersionData | null
  readonly published: VersionData | null
  /** Attributes of the draft that differ from the published version. */
  readonly changed: readonly string[]
  /** Relations of the draft with more links than are included; the rest is at `/links/:path`. */
  readonly more: readonly string[]
  readonly locales: readonly LocaleState[]
  /** Publications and withdrawals at a later time. */
  readonly scheduled: readonly ScheduledAction[]
  readonly may: DocumentPermissions
}

/** Reads a document; null: it does not exist for the administrator. */
export async function viewDocument(access: ContentAccess, name: DocumentName): Promise<DocumentView | null> {
  const { type, documentId, locale } = name
  // Read first: if the content changes in between, the next write fails with 412 instead of overwriting it.
  const whole = await access.documents.whole(type, { documentId, locale, side: 'draft' })
  const locales = await localeStates(access, type, documentId)
  if (locales.length === 0) return null
  const here = locales.find((one) => one.locale === locale) ?? null
  const { model } = access.documents.context
  const shapes = await readLinkShapes(access, model, findLinkedTypes(model, access, type))
  const populate = wholePopulate(access, type, shapes)
  const version = async (status: 'draft' | 'published') => {
    const found = await findVersion(access, name, { status, populate }, linkPage)
    return found === null ? null : presentLinks(model, shapes, type, found)
  }
  const draft = here === null ? null : await version('draft')
  const published = here === null || here.publishedAt === null || !type.draftAndPublish ? null : await version('published')
  return {
    documentId,
    locale,
    revision: draft === null ? null : (whole?.revision ?? null),
    state: here?.state ?? null,
    draft: truncateLinks(type, draft),
    published: truncateLinks(type, published),
    changed: here?.state === 'changed' && draft !== null && published !== null ? changedAttributes(model, type, draft, published) : [],
    more: draft === null ? [] : relationNames(type).filter((each) => hasMoreLinks(draft[each])),
    locales,
    scheduled: await scheduledFor(
      access,
      type,
      documentId,
      locales.map((each) => each.locale),
    ),
    may: await documentPermissions(access, name, here !== null),
  }
}

const maxLinks = 100
const linkPage = { start: 0, limit: maxLinks + 1 }

const hasMoreLinks = (value: unknown): value is readonly unknown[] => Array.isArray(value) && value.length > maxLinks

const relationNames = ({ attributes }: ContentType): readonly string[] =>
  [...attributes.values()].filter(({ kind }) => kind === 'relation' || kind === 'morphFrom').map(({ name }) => name)

/** Truncates the links of each relation. */
function truncateLinks(type: ContentType, version: VersionData | null): VersionData | null {
  const long = version === null ? [] : relationNames(type).filter((name) => hasMoreLinks(version[name]))
  if (version === null || long.length === 0) return version
  return { ...version, ...Object.fromEntries(long.map((name) => [name, (version[name] as readonly unknown[]).slice(0, maxLinks)])) }
}

/** A locale of a document that the administrator may see. */
interface LocaleState {
  /** Null on types without locales. */
  readonly locale: string | null
  readonly state: DocumentState
  readonly updatedAt: string | null
  readonly publishedAt: string | null
}

interface VersionState {
  readonly documentId: string
  readonly locale?: string | null
  readonly updatedAt: string | null
  readonly publishedAt: string | null
  /** Absent on types without Draft & Publish. */
  readonly [stateName]?: DocumentState
}

/** Maximum number of versions of a document: one for each locale. */
const maxVersions = 1_000

/** The state of every locale of a document. */
export async function localeStates(access: ContentAccess, type: ContentType, documentId: string): Promise<readonly LocaleState[]> {
  const fields = [...idFields(type), 'updatedAt', 'publishedAt', stateName]
  const read = async (more: Parameters) => {
    const parameters = { ...more, fields, limit: maxVersions, ...(type.localized ? { locale: '*' } : {}) }
    return (await findVersions(access, { type, mode: 'many', documentId, parameters })) as readonly VersionState[]
  }
  if (!type.draftAndPublish) return (await read({})).map((version) => toLocaleState(version, version))
  const drafts = await read({ status: 'draft' })
  const published = await read({ status: 'published' })
  const locales = [...new Set([...drafts, ...published].map(({ locale = null }) => locale))]
  const of = (versions: readonly VersionState[], locale: string | null) =>
    versions.find((version) => (version.locale ?? null) === locale) ?? null
  return locales.map((locale) => toLocaleState(of(drafts, locale), of(published, locale)))
}

function toLocaleState(draft: VersionState | null, published: VersionState | null): LocaleState {
  const { locale = null, updatedAt, [stateName]: state = 'published' } = (draft ?? published)!
  return { locale, state, updatedAt, publishedAt: published?.publishedAt ?? null }
}

/** Permitted actions on a document in a locale. */
interface DocumentPermissions {
  /** Writable attributes, dotted through components. */
  readonly update: readonly string[]
  readonly delete: boolean
  readonly publish: boolean
  readonly unpublish: boolean
  readonly discardDraft: boolean
}

const permittedActions = ['update', 'delete', 'publish', 'unpublish', 'discardDraft'] as const

/** Permitted actions, so that a page offers only these. `isThere`: the document exists in this locale; otherwise changing it creates it. */
async function documentPermissions(access: ContentAccess, name: DocumentName, isThere: boolean): Promise<DocumentPermissions> {
  const { content } = access.grants
  const { type } = name
  const known = new Map<string, boolean>()
  const held: Record<string, readonly ContentRight[]> = {}
  for (const act of permittedActions) {
    const rights = content.toWrite(type.uid, act === 'update' && !isThere ? 'create' : act)
    const found: ContentRight[] = []
    for (const right of rights) if (await isRightHeld(access, name, right, isThere, known)) found.push(right)
    held[act] = found
  }
  const may = (act: string, needsDrafts: boolean) => held[act]!.length > 0 && isThere && (type.draftAndPublish || !needsDrafts)
  const attributes = held.update!.map((right) => right.attributes).reduce(unionOf, noAttributes)
  const writable = [...type.attributes.values()].filter((attribute) => attribute.kind !== 'scalar' || !attribute.system)
  return {
    update: writable.flatMap(({ name: attribute }) => grantedPaths(attribute, attributes)).filter((path) => !serviceWritten.has(path)),
    delete: may('delete', false),
    publish: may('publish', true),
    unpublish: may('unpublish', true),
    discardDraft: may('discardDraft', true),
  }
}

const serviceWritten = new Set(['createdBy', 'updatedBy', 'localizations'])

function grantedPaths(name: string, attributes: AttributeGrants): readonly string[] {
  if (attributes === 'all') return [name]
  const below = attributes.get(name)
  if (below === undefined) return []
  return below === 'all'
    ? [name]
    : [...below.keys()].filter((inner) => inner !== 'id').flatMap((inner) => grantedPaths(inner, below).map((path) => `${name}.${path}`))
}

/** True if the administrator may publish an existing document in a locale, or take its publication back. */
export async function mayPublish(access: ContentAccess, name: DocumentName, action: 'publish' | 'unpublish'): Promise<boolean> {
  for (const right of access.grants.content.toWrite(name.type.uid, action))
    if (await isRightHeld(access, name, right, true, new Map())) return true
  return false
}

/** True if a right applies to a document. A new document belongs to its creator. */
async function isRightHeld(
  { documents }: ContentAccess,
  name: DocumentName,
  { scope, locales }: ContentRight,
  isThere: boolean,
  known: Map<string, boolean>,
): Promise<boolean> {
  const { type, locale } = name
  if (locale !== null && locales !== null && !locales.includes(locale)) return false
  if (scope === null || !isThere) return true
  const key = JSON.stringify(scope)
  const found = known.get(key)
  if (found !== undefined) return found
  // A scope may compare attributes that requests cannot filter by.
  const grants = { ...projectAccess, scopes: new Map([[type.uid, scope]]) }
  const row = await findVersion({ documents, grants }, name)
  known.set(key, row !== null)
  return row !== null
}

interface Viewer {
  readonly model: Model
  readonly grants: AdministratorGrants
  readonly shapes: LinkShapes | null
}

/** The `populate` parameter for a whole document. `shapes` null: only ids of links and files. */
export const wholePopulate = (
  { documents, grants }: Pick<ContentAccess, 'documents' | 'grants'>,
  type: ContentType,
  shapes: LinkShapes | null = null,
): Parameters =>
  shapePopulate({ model: documents.context.model, grants, shapes }, type, grants.content.readable.get(type.uid) ?? noAttributes)

function shapePopulate(viewer: Viewer, shape: Schema, granted: AttributeGrants): Parameters {
  const shown = [...shape.attributes.values()].flatMap((attribute): (readonly [string, unknown])[] => {
    if (attribute.kind === 'scalar' || !isGranted(granted, attribute.name) || attribute.name === 'localizations') return []
    const value = attributePopulate(viewer, attribute, granted)
    return value === null ? [] : [[attribute.name, value]]
  })
  return Object.fromEntries(shown)
}

function attributePopulate(viewer: Viewer, attribute: Exclude<Attribute, { kind: 'scalar' }>, granted: AttributeGrants): unknown {
  const { model, grants, shapes } = viewer
  const entry = (uid: string): unknown => {
    const populate = shapePopulate(viewer, model.components.get(uid)!, grantedBelow(granted, attribute.name))
    return Object.keys(populate).length === 0 ? true : { populate }
  }
  const linked = (type: ContentType): unknown => (shapes === null ? { fields: idFields(type) } : linkLevel(shapes(type.uid)))
  const files = shapes === null ? { fields: ['documentId'] } : true
  switch (attribute.kind) {
    case 'component':
      return entry(attribute.component)
    case 'dynamiczone':
      return attribute.components.length === 0 ? null : { on: Object.fromEntries(attribute.components.map((uid) => [uid, entry(uid)])) }
    case 'media':
      return files
    case 'morphTo': {
      const types = [...model.types.values()].filter((type) => isPolymorphicTarget(type) && grants.may(`${type.uid}.find`))
      return types.length === 0
        ? null
        : { on: Object.fromEntries(types.map((type) => [type.uid, type.uid === fileType ? files : linked(type)])) }
    }
    case 'relation':
    case 'morphFrom': {
      if (attribute.target === 'admin::user' && (attribute.name === 'createdBy' || attribute.name === 'updatedBy'))
        return { fields: ['firstname', 'lastname', 'username'] }
      const target = model.types.get(attribute.target)!
      if (isClosedType(target.uid) || !grants.may(`${target.uid}.find`)) return null
      return target.uid === fileType ? files : linked(target)
    }
    default:
      return assertNever(attribute)
  }
}

/** The same access with the grants of a super administrator. */
export const unrestricted = (access: ContentAccess): ContentAccess => ({
  ...access,
  grants: superAdminGrants(access.documents.context.model),
})

/** Fields in `fields` whose entries have more content in `whole` than in `seen`. */
export const findPartlyHidden = ({ attributes }: ContentType, fields: readonly string[], seen: Body, whole: Body): readonly string[] =>
  componentFields(attributes, fields).filter((field) => JSON.stringify(seen[field]) !== JSON.stringify(whole[field]))

const componentFields = (attributes: ContentType['attributes'], fields: readonly string[]): readonly string[] =>
  fields.filter((field) => ['component', 'dynamiczone'].includes(String(attributes.get(field)?.kind)))

/** Fields of a draft with parts that the administrator cannot see: replacing their entries would lose these parts. */
export async function findUnreadableFields(
  access: ContentAccess,
  name: DocumentName,
  fields: readonly string[],
): Promise<readonly string[]> {
  const { type } = name
  const parts = componentFields(type.attributes, fields)
  if (parts.length === 0) return []
  const read = async (as: ContentAccess): Promise<Body> => {
    const whole = wholePopulate(as, type)
    const populate = Object.fromEntries(parts.filter((field) => field in whole).map((field) => [field, whole[field]]))
    return (await findVersion(as, name, { fields: ['documentId'], populate })) ?? {}
  }
  return findPartlyHidden(type, parts, await read(access), await read(unrestricted(access)))
}
