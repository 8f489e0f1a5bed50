// Links of documents: candidates for a relation, the links of an attribute, and the documents that link to a document.

import { forbidden, inputError, notFound } from '../../foundation/errors/errors.js'
import { type AttributeGrants, grantedBelow, isGranted, noAttributes } from '../../foundation/grants.js'
import type { Attribute, ContentType, Model, Schema } from '../../model/schema/types.js'
import { queryHash } from '../values.js'
import {
  type ContentAccess,
  type DocumentName,
  findRows,
  findVersion,
  inLocale,
  parseLocale,
  readableType,
  type VersionData,
} from './content-access.js'
import {
  type CursorParameter,
  type CursorPosition,
  type DocumentPage,
  type PageQuery,
  parsePage,
  readPage,
  toCursor,
  wrongCursor,
} from './document-list.js'
import { type LinkView, linkLevel, readLinkShapes, toLink } from './link-view.js'

interface LinkQuery extends PageQuery {
  readonly q?: string | undefined
  readonly locale?: string | undefined
}

/** Candidates for a relation, sorted by name; drafts if the type has them. @throws ApiError 404, 403, 400 */
export async function listChoices(
  access: ContentAccess,
  uid: string,
  path: string,
  { q, locale, ...page }: LinkQuery,
): Promise<DocumentPage<LinkView>> {
  const { target } = resolveLinkPath(access, readableType(access, uid), path)
  const shape = (await readLinkShapes(access, access.documents.context.model, [target]))(target.uid)
  const rows = { _q: q, status: 'draft', ...inLocale(await parseLocale(access, target, locale)) }
  const { fields, populate } = linkLevel(shape)
  const { data, meta } = await readPage(access, target, { rows, sort: shape.naming ?? 'id', fields, populate }, page)
  return { data: data.map((row) => toLink(shape, row)), meta }
}

/** The links of an attribute of a draft, in their order. Rejects a cursor if the list has changed. @throws ApiError 404, 403, 400 */
export async function listLinks(
  access: ContentAccess,
  name: DocumentName,
  path: string,
  query: LinkQuery,
): Promise<DocumentPage<LinkView>> {
  const { type, documentId, locale } = name
  const { attribute, target, isOwn } = resolveLinkPath(access, type, path)
  if (!isOwn) throw inputError('Links inside of components come with the document', ['path'], 'unsupported')
  const { limit } = query
  const hash = queryHash([type.uid, documentId, locale, path])
  const { position, backwards } = parsePage(hash, query)
  const param = backwards ? 'before' : 'after'
  const at = position === null ? null : parseLinkCursor(position, param)
  const start = at === null ? 0 : backwards ? Math.max(0, at.index - limit) : at.index + 1
  const end = at !== null && backwards ? at.index : start + limit
  // One link more on both sides: to check the link of the cursor, and to know whether there is a next page.
  const first = at === null || backwards ? start : at.index
  const linkPage = { start: first, limit: end - first + 1 }
  const shape = (await readLinkShapes(access, access.documents.context.model, [target]))(target.uid)
  const populate = { [attribute.name]: linkLevel(shape) }
  const found = await findVersion(access, name, { fields: ['documentId'], populate }, linkPage)
  if (found === null) throw notFound()
  const value = found[attribute.name]
  const links = (Array.isArray(value) ? value : value === null || value === undefined ? [] : [value]) as readonly VersionData[]
  if (at !== null && links[at.index - first]?.id !== at.id) throw wrongCursor(param, 'The list has changed: begin again without the cursor')
  const data = links.slice(start - first, end - first)
  const cursorAt = (index: number) => toCursor(hash, { id: index, values: [links[index - first]!.id] })
  const isBefore = start > 0 && data.length > 0
  const isAfter = links.length > end - first && data.length > 0
  const meta = { limit, next: isAfter ? cursorAt(end - 1) : null, previous: isBefore ? cursorAt(start) : null }
  return { data: data.map((row) => toLink(shape, row)), meta }
}

/** The position of a link and the row id of its target, from a cursor. @throws ApiError 400 */
function parseLinkCursor({ id: index, values }: CursorPosition, param: CursorParameter): { readonly index: number; readonly id: unknown } {
  if (index < 0 || index > maxLinkIndex || values.length !== 1) throw wrongCursor(param)
  return { index, id: values[0] }
}

/** Maximum position of a link. */
const maxLinkIndex = 1_000_000

/** Documents that link to a document or use a file through one attribute. */
export interface DocumentUses {
  readonly type: string
  /** Dotted through components and zones. */
  readonly path: string
  readonly documents: readonly LinkView[]
  /** True if there are more. */
  readonly more: boolean
}

const maxUses = 50

/**
 * Documents that link to a document and are readable for the administrator; links in dynamic zones are not included.
 * @throws ApiError 404, 403
 */
export async function listUses(access: ContentAccess, name: DocumentName): Promise<readonly DocumentUses[]> {
  const { type, documentId, locale } = name
  if ((await findVersion(access, name)) === null) throw notFound()
  const uses: DocumentUses[] = []
  const links = linksTo(access, type)
  const shapes = await readLinkShapes(
    access,
    access.documents.context.model,
    links.map(({ owner }) => owner),
  )
  for (const { owner, path } of links) {
    const filters = path.reduceRight<unknown>((inner, name) => ({ [name]: inner }), { documentId: { $eq: documentId } })
    const found = await findRows(access, owner, {
      filters,
      status: 'draft',
      ...linkLevel(shapes(owner.uid)),
      limit: maxUses + 1,
      ...inLocale(owner.localized ? (locale ?? access.defaultLocale) : null),
    })
    const documents = found.slice(0, maxUses).map((row) => toLink(shapes(owner.uid), row))
    if (found.length > 0) uses.push({ type: owner.uid, path: path.join('.'), documents, more: found.length > maxUses })
  }
  return uses
}

/** The readable attributes of all types that link to a type. */
function linksTo({ documents, grants }: ContentAccess, type: ContentType) {
  const { model } = documents.context
  const owners = [...model.types.values()].filter(({ exposed, uid }) => exposed && grants.may(`${uid}.find`))
  const { readable } = grants.content
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

const step = /^([\w-]+)(?:\[([\w.-]+)\])?$/

/** The steps of a path; brackets contain the component of a dynamic zone. */
const parseSteps = (path: string): readonly string[] => path.match(/[^.[\]]+(?:\[[^\]]*\])?/g) ?? []

/**
 * Finds the readable relation at a path such as `writer`, `seo.image` or `sections[block.text].source`.
 * @throws ApiError 400 where there is none, 403 where its documents may not be read
 */
function resolveLinkPath({ documents, grants }: Pick<ContentAccess, 'documents' | 'grants'>, type: ContentType, path: string) {
  const { model } = documents.context
  const wrong = () => inputError(`The path ${path} is that of no relation`, ['path'], 'unknown', { name: path })
  let shape: Schema | undefined = type
  let granted: AttributeGrants = grants.content.readable.get(type.uid) ?? noAttributes
  const steps = parseSteps(path)
  for (const [index, text] of steps.entries()) {
    const [, name = '', component] = step.exec(text) ?? []
    const attribute: Attribute | undefined = shape?.attributes.get(name)
    if (attribute === undefined || !isGranted(granted, name)) throw wrong()
    granted = grantedBelow(granted, name)
    if (index === steps.length - 1) {
      if ((attribute.kind !== 'relation' && attribute.kind !== 'morphFrom') || component !== undefined) throw wrong()
      const target = model.types.get(attribute.target)
      if (target === undefined || !target.exposed) throw wrong()
      if (!grants.may(`${target.uid}.find`)) throw forbidden(`${target.uid}.find`)
      return { attribute, target, isOwn: steps.length === 1 }
    }
    if (attribute.kind === 'component') shape = model.components.get(attribute.component)
    else if (attribute.kind === 'dynamiczone' && component !== undefined && attribute.components.includes(component))
      shape = model.components.get(component)
    else throw wrong()
  }
  throw wrong()
}
