// The columns of a list: attributes by name, or those of the list layout.

import { isGranted, noAttributes } from '../../foundation/grants.js'
import { fileType, isClosedType } from '../../model/schema/link.js'
import type { Attribute, ContentType } from '../../model/schema/types.js'
import { isObject, type Parameters, stateName } from '../../query/request.js'
import { readLayouts } from '../layouts/layouts.js'
import type { ContentAccess, VersionData } from './content-access.js'
import { idFields, idNames, type LinkShapes, linkLevel, readLinkShapes, thumbnailLevel, toLink, toThumbnail } from './link-view.js'

/** The parameters that select columns. */
export interface ColumnQuery {
  readonly fields?: unknown
  readonly populate?: unknown
}

/** The columns of a list. */
interface Columns {
  readonly parameters: ColumnQuery
  /** Columns whose rows are presented. */
  readonly related: readonly Attribute[]
  readonly shapes: LinkShapes
}

type ColumnAccess = Pick<ContentAccess, 'documents' | 'grants' | 'database'>

/**
 * Reads the columns of a list. `fields` may name relations, files and components, unless `populate` is given; without both, columns are
 * those of the list layout.
 */
export async function readColumns(access: ColumnAccess, type: ContentType, { fields, populate }: ColumnQuery): Promise<Columns> {
  const { model } = access.documents.context
  const isDefault = fields === undefined
  const names = isDefault ? await listedNames(access, type) : typeof fields === 'string' ? fields.split(',') : fields
  // The query refuses it.
  if (!Array.isArray(names)) return { parameters: { fields, populate }, related: [], shapes: noShapes }
  const readable = access.grants.content.readable.get(type.uid) ?? noAttributes
  // A hidden attribute is refused among the fields, like a name that does not exist.
  const isRelated = (name: unknown): boolean =>
    isGranted(readable, String(name).trim()) && (type.attributes.get(String(name).trim())?.kind ?? 'scalar') !== 'scalar'
  const related =
    populate === undefined
      ? [...new Set(names.filter(isRelated).map((name) => type.attributes.get(String(name).trim())!))].filter(
          (attribute) => !isDefault || isShown(access, attribute),
        )
      : []
  const targets = related.flatMap((attribute) => (isSingleLink(attribute) ? [model.types.get(attribute.target)!] : []))
  const shapes = await readLinkShapes(access, model, targets)
  const levels = Object.fromEntries(related.map((attribute) => [attribute.name, columnLevel(shapes, attribute)]))
  const scalars = isDefault || populate === undefined ? names.filter((name) => !isRelated(name)) : names
  return {
    parameters: { fields: [...scalars, ...idFields(type), stateName], populate: populate ?? levels },
    related,
    shapes,
  }
}

const noShapes: LinkShapes = () => {
  throw new Error('there are no links')
}

/** The readable columns of the list layout. */
async function listedNames({ documents, grants, database }: ColumnAccess, type: ContentType): Promise<readonly string[]> {
  const [layout] = await readLayouts(database, documents.context.model, [type])
  const readable = grants.content.readable.get(type.uid) ?? noAttributes
  return layout!.layouts.list.filter((name) => type.attributes.has(name) && isGranted(readable, name))
}

/** True if the administrator may read the targets of a column. */
function isShown({ grants }: ColumnAccess, attribute: Attribute): boolean {
  if (attribute.kind === 'component' || attribute.kind === 'media') return true
  if (attribute.kind !== 'relation' && attribute.kind !== 'morphFrom') return false
  return isAuthor(attribute) || (!isClosedType(attribute.target) && grants.may(`${attribute.target}.find`))
}

const isAuthor = ({ name }: Attribute): boolean => name === 'createdBy' || name === 'updatedBy'

/** True for a relation to one document. */
const isSingleLink = (attribute: Attribute): attribute is Extract<Attribute, { kind: 'relation' }> =>
  attribute.kind === 'relation' && !attribute.many && !isAuthor(attribute) && attribute.target !== fileType

/** The `populate` of a column. Lists show the number of links and entries where there may be several. */
function columnLevel(shapes: LinkShapes, attribute: Attribute): Parameters | true {
  if (isAuthor(attribute)) return { fields: ['firstname', 'lastname', 'username'] }
  if (attribute.kind === 'media') return thumbnailLevel
  if (isSingleLink(attribute)) return linkLevel(shapes(attribute.target))
  const isMany = attribute.kind === 'component' ? attribute.repeatable : 'many' in attribute && attribute.many
  return isMany ? { count: true } : true
}

/** The values of a row, with links and files as lists show them. */
export function presentColumns({ related, shapes }: Columns, row: VersionData): VersionData {
  const byName = new Map(related.map((attribute) => [attribute.name, attribute]))
  const values = Object.entries(row).flatMap(([name, value]): (readonly [string, unknown])[] => {
    if (name === stateName || idNames.has(name)) return []
    const attribute = byName.get(name)
    if (attribute?.kind === 'media') return [[name, Array.isArray(value) ? value.map(toThumbnail) : toThumbnail(value)]]
    if (attribute === undefined || !isSingleLink(attribute) || !isObject(value)) return [[name, value]]
    return [[name, toLink(shapes(attribute.target), value)]]
  })
  return Object.fromEntries(values)
}
