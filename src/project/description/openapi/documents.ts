// The schemas of content-types and components in responses.

import { fileType } from '../../../model/schema/link.js'
import { assertNever } from '../../../model/schema/types.js'
import { publicFields } from '../../../query/rest/fields.js'
import type { DescribedLink, DescribedShape, View } from '../view.js'
import { isNullable, linksOf, targetsOf } from '../view.js'
import { responseScalar } from './scalars.js'
import { type Components, type DescriptionObject, integer, list, object, orNull, text } from './schema.js'

/** What descriptions of content-types are made from. */
export interface SchemaContext {
  readonly view: View
  readonly components: Components
  /** True if responses may show drafts, in which nothing is required. */
  showsDrafts(uid: string): boolean
}

/** A reference to the schema of a document or component. */
export const shapeRef = (context: SchemaContext, shape: DescribedShape): DescriptionObject =>
  context.components.ref('schemas', context.view.names.get(shape.uid)!, () => shapeSchema(context, shape))

function shapeSchema(context: SchemaContext, shape: DescribedShape): DescriptionObject {
  const { view, components } = context
  const isComplete = shape.kind === 'contentType' && !(shape.draftAndPublish && context.showsDrafts(shape.uid))
  const fields = publicFields(shape).map((attribute) => {
    const schema = responseScalar(view, components, shape, attribute)
    const isSystem = attribute.system && attribute.name !== 'publishedAt'
    return [attribute.name, isSystem || (isComplete && !isNullable(attribute)) ? schema : orNull(schema)] as const
  })
  const links = linksOf(view, shape).map((link) => [link.name, { ...linkSchema(context, link), description: populated }] as const)
  const beside: Record<string, DescriptionObject> = {
    ...(shape.kind === 'component' && view.contract.componentDocumentIds ? { documentId: text } : {}),
    ...(isShownInverse(view, shape)
      ? { locale: { type: 'null', description: 'Only behind the inverse side of a polymorphic relation.' } }
      : {}),
    ...(shape.uid === fileType
      ? { isUrlSigned: { type: 'boolean', description: 'In responses of the media library, and where URLs are signed.' } }
      : {}),
  }
  const always = shape.kind === 'component' ? ['id'] : ['id', 'documentId']
  return object({ ...Object.fromEntries([...fields, ...links]), ...beside }, always, { title: shape.displayName })
}

const populated = 'Only if `populate` asks for it.'

/** Behind the inverse side of a polymorphic relation documents show a locale, even if their type has none. */
const isShownInverse = ({ model }: View, shape: DescribedShape): boolean =>
  shape.kind === 'contentType' && !shape.localized && hasInverse(model)
const hasInverse = ({ types }: View['model']): boolean =>
  [...types.values()].some(({ attributes }) => [...attributes.values()].some(({ kind }) => kind === 'morphFrom'))

function linkSchema(context: SchemaContext, link: DescribedLink): DescriptionObject {
  const { view, components } = context
  const targets = targetsOf(view, link)
  const count = components.ref('schemas', 'count', () =>
    object({ count: integer }, ['count'], { description: 'The number of documents, if `populate` asks for `count`.' }),
  )
  const oneOrMany = (one: DescriptionObject, many: boolean): readonly DescriptionObject[] => (many ? [list(one)] : [one, { type: 'null' }])
  switch (link.kind) {
    case 'media':
      return link.many ? list(shapeRef(context, targets[0]!)) : orNull(shapeRef(context, targets[0]!))
    case 'relation':
    case 'morphFrom':
      return { anyOf: [...oneOrMany(shapeRef(context, targets[0]!), link.many), count] }
    case 'component':
      return { anyOf: [...oneOrMany(shapeRef(context, targets[0]!), link.repeatable), count] }
    case 'dynamiczone':
      return list(entrySchema(context, targets, '__component'))
    case 'morphTo':
      return { anyOf: [...oneOrMany(entrySchema(context, targets, '__type'), link.many), count] }
    default:
      return assertNever(link)
  }
}

/** Entries of several kinds, told apart by the uid in one of their members. */
function entrySchema(context: SchemaContext, targets: readonly DescribedShape[], member: '__component' | '__type'): DescriptionObject {
  const entries = targets.map((shape) => {
    const name = `${context.view.names.get(shape.uid)!}Entry`
    const ref = context.components.ref('schemas', name, () => ({
      allOf: [shapeRef(context, shape), object({ [member]: { type: 'string', const: shape.uid } }, [member])],
    }))
    return [shape.uid, ref] as const
  })
  if (entries.length < 2) return entries[0]?.[1] ?? { not: {} }
  const mapping = Object.fromEntries(entries.map(([uid, { $ref }]) => [uid, $ref]))
  return { oneOf: entries.map(([, ref]) => ref), discriminator: { propertyName: member, mapping } }
}
