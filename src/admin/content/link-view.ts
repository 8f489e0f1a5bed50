// Linked documents as pages show them: name, state, further fields and a thumbnail, all read with the link.

import type { RowReader } from '../../database/database.js'
import { isGranted, noAttributes } from '../../foundation/grants.js'
import { fileType, isPolymorphicTarget } from '../../model/schema/link.js'
import type { Attribute, ContentType, Model, Scalar, Schema } from '../../model/schema/types.js'
import { type DocumentState, isObject, type Parameters, stateName } from '../../query/request.js'
import { defaultMainField, readLayouts } from '../layouts/layouts.js'
import type { ContentAccess, VersionData } from './content-access.js'

/** The picture of a document, in its smallest format. */
export interface Thumbnail {
  readonly url: string
  readonly mime: string | null
  readonly alternativeText: string | null
  readonly width: number | null
  readonly height: number | null
}

/** A linked document in one version. */
export interface LinkView {
  /** The row id. */
  readonly id: number
  /** The uid of the type. */
  readonly type: string
  readonly documentId: string
  /** Null on types without locales. */
  readonly locale: string | null
  /** Only of types with Draft & Publish. */
  readonly state?: DocumentState
  /** The value of the naming attribute; null: it is empty, or none is readable. */
  readonly name: string | null
  readonly fields: Readonly<Record<string, unknown>>
  readonly thumbnail: Thumbnail | null
}

/** The attributes of a type that a link shows. */
interface LinkShape {
  readonly type: ContentType
  readonly naming: string | null
  readonly fields: readonly string[]
  readonly picture: string | null
}

/** Finds what links to a type show, by its uid. */
export type LinkShapes = (uid: string) => LinkShape

type LayoutReads = Pick<ContentAccess, 'grants'> & { readonly database: RowReader }

const maxFields = 3
/** Longer texts among the fields of a link are truncated. */
const maxText = 200

/** Names of preferred naming attributes, best first. */
const namingOrder = ['title', 'name', 'label', 'displayName', 'username', 'slug']
const namingTypes = new Set(['string', 'text', 'uid', 'email'])

/** Reads what links to these types show, by their list layouts. */
export async function readLinkShapes({ grants, database }: LayoutReads, model: Model, types: readonly ContentType[]): Promise<LinkShapes> {
  const unique = [...new Set(types)]
  const layouts = unique.length === 0 ? [] : await readLayouts(database, model, unique)
  const shapes = new Map<string, LinkShape>()
  for (const [index, type] of unique.entries()) {
    const { settings, layouts: stored } = layouts[index]!
    const readable = readableAttributes(grants, type)
    const scalars = readable.filter((attribute): attribute is Scalar => attribute.kind === 'scalar' && attribute.type !== 'password')
    const chosen = settings.mainField === defaultMainField(type) ? null : settings.mainField
    const naming = namingAttribute(scalars, chosen)
    const listed = stored.list.flatMap((name) => scalars.filter((scalar) => scalar.name === name && name !== naming && !idNames.has(name)))
    // A uid says little next to a name.
    const telling = listed.filter((scalar) => scalar.type !== 'uid')
    const fields = (telling.length > 0 ? telling : listed).map(({ name }) => name)
    const picture = readable.find((attribute) => attribute.kind === 'media' && !attribute.many)?.name ?? null
    shapes.set(type.uid, { type, naming, fields: fields.slice(0, maxFields), picture })
  }
  return (uid) => shapes.get(uid)!
}

/** Names that identify a version. */
export const idNames: ReadonlySet<string> = new Set(['id', 'documentId', 'locale'])

const readableAttributes = ({ content }: ContentAccess['grants'], { uid, attributes }: ContentType): readonly Attribute[] =>
  [...attributes.values()].filter(({ name }) => isGranted(content.readable.get(uid) ?? noAttributes, name))

/** The naming attribute: the main field that an administrator chose, or the best text. */
function namingAttribute(readable: readonly Scalar[], chosen: unknown): string | null {
  if (readable.some(({ name, system }) => name === chosen && !system)) return String(chosen)
  const names = readable.filter(({ type, system }) => !system && namingTypes.has(type)).map(({ name }) => name)
  return namingOrder.find((name) => names.includes(name)) ?? names[0] ?? null
}

const thumbnailFields = ['url', 'mime', 'alternativeText', 'width', 'height', 'formats']

/** The `populate` of files that are shown as thumbnails. */
export const thumbnailLevel = { fields: thumbnailFields }

/** The fields that identify a linked document. */
export const idFields = ({ localized }: ContentType): readonly string[] => ['documentId', ...(localized ? ['locale'] : [])]

/** The parameters that read a document as a link. */
export const linkLevel = ({ type, naming, fields, picture }: LinkShape): Parameters => ({
  fields: [...idFields(type), stateName, ...(naming === null ? [] : [naming]), ...fields],
  ...(picture === null ? {} : { populate: { [picture]: thumbnailLevel } }),
})

/** The name of a document in a row with its naming attribute; null: it has none. */
export function nameIn({ naming }: Pick<LinkShape, 'naming'>, row: VersionData): string | null {
  const name = naming === null ? null : row[naming]
  return name === null || name === undefined ? null : String(name)
}

/** A row that was read by `linkLevel`, as a link. */
export function toLink(shape: LinkShape, row: VersionData): LinkView {
  const { type, fields, picture } = shape
  return {
    id: row.id as number,
    type: type.uid,
    documentId: String(row.documentId),
    locale: type.localized && typeof row.locale === 'string' ? row.locale : null,
    ...(type.draftAndPublish ? { state: row[stateName] as DocumentState } : {}),
    name: nameIn(shape, row),
    fields: Object.fromEntries(fields.map((field) => [field, truncate(row[field])])),
    thumbnail: picture === null ? null : toThumbnail(row[picture]),
  }
}

const truncate = (value: unknown): unknown =>
  typeof value === 'string' && value.length > maxText ? `${value.slice(0, maxText - 1)}…` : (value ?? null)

/** A file as a thumbnail: its smallest format, if it has formats; null: there is none. */
export function toThumbnail(file: unknown): Thumbnail | null {
  if (!isObject(file) || typeof file.url !== 'string') return null
  const small = isObject(file.formats) && isObject(file.formats.thumbnail) ? file.formats.thumbnail : {}
  const { url, mime, width, height } = typeof small.url === 'string' ? { ...file, ...small } : file
  const text = (value: unknown) => (typeof value === 'string' ? value : null)
  const size = (value: unknown) => (typeof value === 'number' ? value : null)
  return { url: String(url), mime: text(mime), alternativeText: text(file.alternativeText), width: size(width), height: size(height) }
}

/** The type of a link in a version; null: a file, an administrator, or nothing that is linked. */
function linkedType(model: Model, attribute: Attribute, row: VersionData): ContentType | null {
  const uid = attribute.kind === 'morphTo' ? String(row.__type) : 'target' in attribute ? attribute.target : ''
  const type = model.types.get(uid)
  return type === undefined || uid === fileType || uid.startsWith('admin::') ? null : type
}

/** The types that links of a type lead to, through its components at every depth. */
export function findLinkedTypes(model: Model, { grants }: Pick<ContentAccess, 'grants'>, shape: Schema): readonly ContentType[] {
  const found = new Set<ContentType>()
  const visited = new Set<Schema>()
  const visit = (schema: Schema): void => {
    if (visited.has(schema)) return
    visited.add(schema)
    for (const attribute of schema.attributes.values()) {
      if (attribute.kind === 'component') visit(model.components.get(attribute.component)!)
      if (attribute.kind === 'dynamiczone') for (const uid of attribute.components) visit(model.components.get(uid)!)
      const types =
        attribute.kind === 'morphTo'
          ? [...model.types.values()].filter(isPolymorphicTarget)
          : attribute.kind === 'relation' || attribute.kind === 'morphFrom'
            ? [model.types.get(attribute.target)!]
            : []
      for (const type of types) if (grants.may(`${type.uid}.find`)) found.add(type)
    }
  }
  visit(shape)
  return [...found].filter(({ uid }) => uid !== fileType && !uid.startsWith('admin::'))
}

/** A version with its links as `LinkView`, also in components. Links of polymorphic relations keep their `__type`. */
export function presentLinks(model: Model, shapes: LinkShapes, shape: Schema, entry: VersionData): VersionData {
  const values = Object.entries(entry).map(([name, value]): readonly [string, unknown] => {
    const attribute = shape.attributes.get(name)
    if (attribute === undefined || attribute.kind === 'scalar' || attribute.kind === 'media') return [name, value]
    const present = (row: unknown): unknown => (isObject(row) ? presentRow(model, shapes, attribute, row) : row)
    return [name, Array.isArray(value) ? value.map(present) : present(value)]
  })
  return Object.fromEntries(values)
}

function presentRow(model: Model, shapes: LinkShapes, attribute: Attribute, row: VersionData): VersionData {
  if (attribute.kind === 'component') return presentLinks(model, shapes, model.components.get(attribute.component)!, row)
  if (attribute.kind === 'dynamiczone') return presentLinks(model, shapes, model.components.get(String(row.__component))!, row)
  const type = linkedType(model, attribute, row)
  if (type === null) return row
  const link = { ...toLink(shapes(type.uid), row) }
  return attribute.kind === 'morphTo' ? { ...link, __type: row.__type } : link
}
