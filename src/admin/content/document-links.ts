// Links of documents: what an attribute may be linked to, what it is linked to, and who links to a document.
import { notFound, validationError } from '../../foundation/errors/errors.js'
import { type AttributeGrants, type ContentRights, grantedBelow, isGranted, noAttributes } from '../../foundation/grants.js'
import type { Attribute, ContentType, Model, Schema } from '../../model/schema/types.js'
import { type ContentAccess, type DocumentName, findVersions, inLocale, localeOf, readableType } from './content-access.js'
import { type CursorPosition, cursorOf, queryHash } from './cursors.js'
import { type DocumentPage, pageOfRows, placeOf, type WantedPage } from './document-list.js'
import { type VersionData, viewerOf } from './document-view.js'
import { linkAt } from './link-paths.js'
import { namingAttribute, namingFields } from './shown-attributes.js'

/** Which page of links, or of candidates. */
export interface LinkQuery extends WantedPage {
  readonly q?: string | undefined
  readonly locale?: string | undefined
}

/** Candidates for a relation, by their names: drafts where there are such. @throws ApiError 404, 403, 400 */
export async function listChoices(
  access: ContentAccess,
  uid: string,
  path: string,
  { q, locale, ...page }: LinkQuery,
): Promise<DocumentPage> {
  const { target } = linkAt(access, readableType(access, uid), path)
  const name = namingAttribute(viewerOf(access), target)
  const rows = { _q: q, status: 'draft', ...inLocale(await localeOf(access, target, locale)) }
  return pageOfRows(access, target, { rows, sort: name ?? 'id', fields: namingFields(viewerOf(access), target) }, page)
}

/**
 * What an attribute of a draft is linked to, in the order of the links. A cursor of a list that has changed since is refused.
 * @throws ApiError 404, 403, 400
 */
export async function listLinks(access: ContentAccess, name: DocumentName, path: string, query: LinkQuery): Promise<DocumentPage> {
  const { type, documentId, locale } = name
  const { attribute, target, isOwn } = linkAt(access, type, path)
  if (!isOwn) throw validationError('Links inside of components come with the document', { path })
  const { limit } = query
  const hash = queryHash([type.uid, documentId, locale, path])
  const { position, backwards } = placeOf(hash, query)
  const at = position === null ? null : linkOf(position)
  const start = at === null ? 0 : backwards ? Math.max(0, at.index - limit) : at.index + 1
  const end = at !== null && backwards ? at.index : start + limit
  // The link of the cursor comes along, to tell whether it still stands there, and the one behind the page.
  const first = at === null || backwards ? start : at.index
  const linkPage = { start: first, limit: end - first + 1 }
  const populate = { [attribute.name]: { fields: namingFields(viewerOf(access), target) } }
  const parameters = { ...inLocale(locale), status: 'draft', fields: ['documentId'], populate }
  const found = (await findVersions(access, { type, mode: 'first', documentId, parameters, linkPage })) as VersionData | null
  if (found === null) throw notFound()
  const value = found[attribute.name]
  const links = (Array.isArray(value) ? value : value === null || value === undefined ? [] : [value]) as readonly VersionData[]
  if (at !== null && links[at.index - first]?.id !== at.id) throw validationError('The list has changed: begin again without the cursor')
  const data = links.slice(start - first, end - first)
  const cursorAt = (index: number) => cursorOf(hash, { id: index, values: [links[index - first]!.id] })
  const isBefore = start > 0 && data.length > 0
  const isAfter = links.length > end - first && data.length > 0
  return { data, meta: { limit, next: isAfter ? cursorAt(end - 1) : null, previous: isBefore ? cursorAt(start) : null } }
}

/** The link that a cursor names, by its place in the list and the row id of its target. @throws ApiError 400 */
function linkOf({ id: index, values }: CursorPosition): { readonly index: number; readonly id: unknown } {
  if (index < 0 || index > furthest || values.length !== 1) throw validationError('Invalid cursor')
  return { index, id: values[0] }
}

/** Links of one attribute that can be paged through. */
const furthest = 1_000_000

/** Documents that link to a document by one attribute. */
export interface DocumentUses {
  readonly type: string
  /** Dotted through components. */
  readonly path: string
  /** The first of them. */
  readonly documents: readonly VersionData[]
  /** There are others. */
  readonly more: boolean
}

/** Documents of one attribute that are told. */
const mostUses = 50

/** Who links to a document, of what the administrator may see; links inside of dynamic zones are not looked for. @throws ApiError 404, 403 */
export async function listUses(access: ContentAccess, { type, documentId, locale }: DocumentName): Promise<readonly DocumentUses[]> {
  const parameters = { ...inLocale(locale), status: 'draft', fields: ['documentId'] }
  if ((await findVersions(access, { type, mode: 'first', documentId, parameters })) === null) throw notFound()
  const uses: DocumentUses[] = []
  for (const { owner, path } of linksTo(access, type)) {
    const filters = path.reduceRight<unknown>((inner, name) => ({ [name]: inner }), { documentId: { $eq: documentId } })
    const found = (await access.documents.findData(access.grants, {
      ...{ type: owner, mode: 'many', action: `${owner.uid}.find`, envelope: 'bare', paged: false },
      parameters: {
        ...{ filters, status: 'draft', fields: namingFields(viewerOf(access), owner), limit: mostUses + 1 },
        ...inLocale(owner.localized ? (locale ?? access.defaultLocale) : null),
      },
    })) as readonly VersionData[]
    const documents = found.slice(0, mostUses)
    if (found.length > 0) uses.push({ type: owner.uid, path: path.join('.'), documents, more: found.length > mostUses })
  }
  return uses
}

/** The attributes by which documents of the project link to a type, as far as the administrator may see them. */
function linksTo({ documents, grants }: ContentAccess, type: ContentType) {
  const { model } = documents.context
  const owners = [...model.types.values()].filter(({ exposed, uid }) => exposed && grants.may(`${uid}.find`))
  const { readable } = grants.content as ContentRights
  return owners.flatMap((owner) =>
    pathsTo(model, owner, type.uid, readable.get(owner.uid) ?? noAttributes, []).map((path) => ({ owner, path })),
  )
}

function pathsTo(
  model: Model,
  shape: Schema,
  target: string,
  granted: AttributeGrants,
  above: readonly string[],
): readonly (readonly string[])[] {
  return [...shape.attributes.values()].flatMap((attribute: Attribute) => {
    if (!isGranted(granted, attribute.name) || attribute.name === 'localizations' || above.length > 5) return []
    const path = [...above, attribute.name]
    if (attribute.kind === 'component') {
      return pathsTo(model, model.components.get(attribute.component)!, target, grantedBelow(granted, attribute.name), path)
    }
    const isLink =
      attribute.kind === 'relation' && attribute.target === target && attribute.storage.kind === 'link' && attribute.storage.owner
    return isLink ? [path] : []
  })
}
