// What an administrator sees of a whole document, as a populate: components and zones at every depth, links by their names.
import { type AttributeGrants, type ContentRights, type Grants, grantedBelow, isGranted, noAttributes } from '../../foundation/grants.js'
import { fileType, isClosedType, isPolymorphicTarget } from '../../model/schema/link.js'
import type { Attribute, ContentType, Model, Schema } from '../../model/schema/types.js'
import { assertNever } from '../../model/schema/types.js'
import type { Parameters } from '../../query/rest/parameters.js'

/** Whoever looks at a document. */
interface Viewer {
  readonly model: Model
  readonly grants: Grants & { readonly content: ContentRights }
  /** Links are shown without names, and files by their ids alone. */
  readonly onlyIds?: true
}

/** Names of the attribute by which documents are known, the best first. */
const naming = ['title', 'name', 'label', 'displayName', 'username', 'slug']

/** The attribute by which documents of a type are known; null where the viewer may see none. */
export function namingAttribute({ grants }: Pick<Viewer, 'grants'>, type: ContentType): string | null {
  const granted = grants.content.readable.get(type.uid) ?? noAttributes
  const texts = [...type.attributes.values()].filter(
    (attribute) =>
      attribute.kind === 'scalar' &&
      !attribute.system &&
      ['string', 'text', 'uid', 'email'].includes(attribute.type) &&
      isGranted(granted, attribute.name),
  )
  const names = texts.map(({ name }) => name)
  return naming.find((name) => names.includes(name)) ?? names[0] ?? null
}

/** The fields by which a linked document is shown. */
export function namingFields(viewer: Pick<Viewer, 'grants'>, type: ContentType): readonly string[] {
  const name = namingAttribute(viewer, type)
  const locale = type.localized ? ['locale'] : []
  const publishedAt = type.draftAndPublish ? ['publishedAt'] : []
  return ['documentId', ...locale, ...publishedAt, ...(name === null ? [] : [name])]
}

const idFields = (type: ContentType): readonly string[] => ['documentId', ...(type.localized ? ['locale'] : [])]

/** The whole of a document of `type`, as the `populate` of a request. */
export const wholePopulate = (viewer: Viewer, type: ContentType): Parameters =>
  populateOf(viewer, type, viewer.grants.content.readable.get(type.uid) ?? noAttributes)

function populateOf(viewer: Viewer, shape: Schema, granted: AttributeGrants): Parameters {
  const shown = [...shape.attributes.values()].flatMap((attribute): (readonly [string, unknown])[] => {
    if (attribute.kind === 'scalar' || !isGranted(granted, attribute.name) || attribute.name === 'localizations') return []
    const value = populateValue(viewer, attribute, granted)
    return value === null ? [] : [[attribute.name, value]]
  })
  return Object.fromEntries(shown)
}

function populateValue(viewer: Viewer, attribute: Exclude<Attribute, { kind: 'scalar' }>, granted: AttributeGrants): unknown {
  const { model, grants } = viewer
  const entry = (uid: string): unknown => {
    const populate = populateOf(viewer, model.components.get(uid)!, grantedBelow(granted, attribute.name))
    return Object.keys(populate).length === 0 ? true : { populate }
  }
  const linked = (type: ContentType): unknown => ({ fields: viewer.onlyIds ? idFields(type) : namingFields(viewer, type) })
  const files = viewer.onlyIds ? { fields: ['documentId'] } : true
  switch (attribute.kind) {
    case 'component':
      return entry(attribute.component)
    case 'dynamiczone':
      return attribute.components.length === 0 ? null : { on: Object.fromEntries(attribute.components.map((uid) => [uid, entry(uid)])) }
    case 'media':
      return files
    case 'morphTo': {
      const types = [...model.types.values()].filter((type) => isPolymorphicTarget(type) && grants.may(`${type.uid}.find`))
      return types.length === 0 ? null : { on: Object.fromEntries(types.map((type) => [type.uid, linked(type)])) }
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
