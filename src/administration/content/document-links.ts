// Links of documents: what an attribute may be linked to, what it is linked to, and who links to a document.
import { notFound, validationError } from '../../errors/errors.js'
import { type AttributeGrants, type ContentRights, grantedBelow, isGranted, noAttributes } from '../../grants.js'
import type { Attribute, ContentType, Model, Schema } from '../../model/types.js'
import type { Parameters } from '../../query/rest/parameters.js'
import { type ContentAccess, type DocumentName, findVersions, inLocale, localeOf, readableType } from './content-access.js'
import { cursorOf, positionOf, queryHash } from './cursors.js'
import { type DocumentPage, limitOf, pageOfRows } from './document-list.js'
import { type VersionData, viewerOf } from './document-view.js'
import { linkAt } from './link-paths.js'
import { namingAttribute, namingFields } from './shown-attributes.js'

/** Which page of links, or of candidates. */
export interface LinkQuery {
  readonly q?: string | undefined
  readonly locale?: string | undefined
  readonly limit?: string | undefined
  readonly after?: string | undefined
  readonly before?: string | undefined
}

/** Candidates for a relation, by their names: drafts where there are such. @throws ApiError 404, 403, 400 */
export function listChoices(access: ContentAccess, uid: string, path: string, { q, locale, ...page }: LinkQuery): Promise<DocumentPage> {
  const { target } = linkAt(access, readableType(access, uid), path)
  const name = namingAttribute(viewerOf(access), target)
  const rows = { _q: q, status: 'draft', ...inLocale(localeOf(access, target, locale)) }
  return pageOfRows(access, target, { rows, sort: name ?? 'id', fields: namingFields(viewerOf(access), target) }, page as Parameters)
}

/**
 * What an attribute of a draft is linked to, in the order of the links. A cursor of a list that has changed since is refused.
 * @throws ApiError 404, 403, 400
 */
export async function listLinks(access: ContentAccess, name: DocumentName, path: string, query: LinkQuery): Promise<DocumentPage> {
  const { type, documentId, locale } = name
  const { attribute, target, isOwn } = linkAt(access, type, path)
  if (!isOwn) throw validationError('Links inside of components come with the document', { path })
  const limit = limitOf(query.limit)
  const hash = queryHash([type.uid, documentId, locale, path])
  const { start, last } = startOf(hash, query.after)
  // The row before the page comes along, to tell whether it still stands there.
  const linkPage = { start: Math.max(0, start - 1), limit: limit + (start === 0 ? 1 : 2) }
  const populate = { [attribute.name]: { fields: namingFields(viewerOf(access), target) } }
  const parameters = { ...inLocale(locale), status: 'draft', fields: ['documentId'], populate }
  const found = (await findVersions(access, { type, mode: 'first', documentId, parameters, linkPage })) as VersionData | null
  if (found === null) throw notFound()
  const value = found[attribute.name]
  const links = (Array.isArray(value) ? value : value === null || value === undefined ? [] : [value]) as readonly VersionData[]
  if (start > 0 && links[0]?.id !== last) throw validationError('The list has changed: begin again without the cursor')
  const rest = start > 0 ? links.slice(1) : links
  const data = rest.slice(0, limit)
  const next = rest.length > limit ? cursorOf(hash, { id: start + limit, values: [data.at(-1)!.id] }) : null
  return { data, meta: { limit, next, previous: null } }
}

function startOf(hash: string, after: string | undefined): { readonly start: number; readonly last: unknown } {
  if (after === undefined) return { start: 0, last: null }
  const { id, values } = positionOf(hash, after)
  if (id < 1 || id > furthest || values.length !== 1) throw validationError('Invalid cursor')
  return { start: id, last: values[0] }
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
