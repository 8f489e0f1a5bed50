// Schemas of content-types and components in responses.
import { isAlwaysRequired } from '../../../model/schema/conditions.js'
import { fileType } from '../../../model/schema/link.js'
import { type Attribute, assertNever } from '../../../model/schema/types.js'
import { publicFields } from '../../../query/rest/populate.js'
import { type DescribedLink, type DescribedShape, isNullable, linksOf, mustBeGiven, targetsOf, type View, writableOf } from '../view.js'
import {
  type Components,
  type DescriptionObject,
  inputScalar,
  integer,
  isCount,
  list,
  object,
  orNull,
  responseScalar,
  text,
} from './schema.js'

export interface SchemaContext {
  readonly view: View
  readonly components: Components
  /** True if responses may show drafts, whose attributes are all optional. */
  showsDrafts(uid: string): boolean
}

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
      ? { locale: { type: 'null', description: 'Only below the inverse side of a polymorphic relation.' } }
      : {}),
    ...(shape.uid === fileType
      ? { isUrlSigned: { type: 'boolean', description: 'In responses of the media library, and where URLs are signed.' } }
      : {}),
  }
  const always = shape.kind === 'component' ? ['id'] : ['id', 'documentId']
  return object({ ...Object.fromEntries([...fields, ...links]), ...beside }, always, { title: shape.displayName })
}

const populated = 'Only if `populate` asks for it.'

/** On the inverse side of a polymorphic relation, documents have a locale even if their type is not localized. */
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

/** Entries of several types, distinguished by the uid in `member`. */
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

/** References the schema of a write's data. Private attributes are not described. */
export const inputRef = (context: SchemaContext, shape: DescribedShape): DescriptionObject =>
  context.components.ref('schemas', `${context.view.names.get(shape.uid)!}Input`, () => inputSchema(context, shape))

/** Attributes that a caller may send. Relations require permission to find their targets. */
const described = (context: SchemaContext, shape: DescribedShape): readonly Attribute[] =>
  writableOf(shape).filter((attribute) => !attribute.private && mayGive(context, attribute))

function mayGive({ view }: SchemaContext, attribute: Attribute): boolean {
  if (attribute.kind === 'relation' || attribute.kind === 'morphFrom') return view.leadsTo(attribute.target)
  return attribute.kind !== 'morphTo' || view.anyTypes.length > 0
}

function inputSchema(context: SchemaContext, shape: DescribedShape): DescriptionObject {
  const attributes = described(context, shape)
  const needed = attributes.filter((attribute) => mustBeGiven(context.view, shape, attribute)).map(({ name }) => name)
  const own: Record<string, DescriptionObject> =
    shape.kind === 'component' ? { id: { ...integer, description: 'The component of the draft to change; without it, a new one.' } } : {}
  const properties = Object.fromEntries(attributes.map((attribute) => [attribute.name, attributeSchema(context, attribute)]))
  const description = needed.length === 0 ? {} : { description: `Needed to publish a new document: ${needed.join(', ')}.` }
  // Entries of dynamic zones have an additional member.
  const closed = shape.kind === 'component' ? {} : { additionalProperties: false }
  return object({ ...own, ...properties }, [], { title: shape.displayName, ...description, ...closed })
}

function attributeSchema(context: SchemaContext, attribute: Attribute): DescriptionObject {
  const { view, components } = context
  const component = (uid: string) => inputRef(context, view.model.components.get(uid)!)
  switch (attribute.kind) {
    case 'scalar':
      return isAlwaysRequired(attribute) ? inputScalar(view, components, attribute) : orNull(inputScalar(view, components, attribute))
    case 'relation':
    case 'morphFrom':
      return relationInput(components)
    case 'morphTo':
      return typedRelationInput(
        components,
        view.anyTypes.map(({ uid }) => uid),
      )
    case 'media':
      return mediaInput(components)
    case 'component':
      if (attribute.repeatable) return emptiable(view, attribute, bounded(attribute, list(component(attribute.component))))
      return isAlwaysRequired(attribute) ? component(attribute.component) : orNull(component(attribute.component))
    case 'dynamiczone':
      return emptiable(
        view,
        attribute,
        bounded(attribute, list(oneOfSeveral(attribute.components.map((uid) => zoneEntry(component(uid), uid))))),
      )
    default:
      return assertNever(attribute)
  }
}

/** A list with the permitted number of entries on publication. Unless required, it may also be empty. */
const bounded = (attribute: Attribute, schema: DescriptionObject): DescriptionObject => {
  const { min, max } = attribute.source
  return {
    ...schema,
    ...(isCount(min) && isAlwaysRequired(attribute) && { minItems: min }),
    ...(isCount(max) && { maxItems: max }),
  }
}

/** Row 16. */
const emptiable = ({ contract }: View, attribute: Attribute, schema: DescriptionObject): DescriptionObject =>
  contract.nullEmptiesLists && !isAlwaysRequired(attribute) ? orNull(schema) : schema

const oneOfSeveral = (entries: readonly DescriptionObject[]): DescriptionObject =>
  entries.length < 2 ? (entries[0] ?? { not: {} }) : { anyOf: entries }

const zoneEntry = (component: DescriptionObject, uid: string): DescriptionObject => ({
  allOf: [component, object({ __component: { type: 'string', const: uid } }, ['__component'])],
})

const position = (): DescriptionObject =>
  object({ before: text, after: text, start: { const: true }, end: { const: true } }, [], {
    minProperties: 1,
    maxProperties: 1,
    additionalProperties: false,
    description: 'Where the document goes among the related ones; default: at the end.',
  })

const target = (components: Components): DescriptionObject =>
  components.ref('schemas', 'related-document', () => ({
    anyOf: [
      { type: 'string', description: 'A documentId.' },
      { type: 'integer', description: 'A row id.' },
      object({ documentId: text, id: integer, locale: { type: ['string', 'null'] }, status: { type: 'string' }, position: position() }),
    ],
  }))

/** A relation: the documents that replace it, or changes to it. */
const relationInput = (components: Components): DescriptionObject =>
  components.ref('schemas', 'relation-input', () => {
    const one = target(components)
    const several = { anyOf: [one, list(one)] }
    return {
      anyOf: [
        one,
        list(one),
        { type: 'null' },
        object({ connect: several, disconnect: several }, [], { additionalProperties: false }),
        object({ set: several }, ['set'], { additionalProperties: false }),
      ],
    }
  })

const typedRelationInput = (components: Components, uids: readonly string[]): DescriptionObject =>
  components.ref('schemas', 'typed-relation-input', () => {
    const one = object({ __type: { type: 'string', enum: uids }, documentId: text, id: integer, position: { type: 'object' } }, ['__type'])
    return {
      anyOf: [list(one), object({ connect: list(one), disconnect: list(one), set: list(one) }, [], { additionalProperties: false })],
    }
  })

/** Files by id. */
const mediaInput = (components: Components): DescriptionObject =>
  components.ref('schemas', 'media-input', () => {
    const one: DescriptionObject = { anyOf: [integer, text, object({ id: integer }, ['id']), object({ documentId: text }, ['documentId'])] }
    return { anyOf: [one, list(one), { type: 'null' }, object({ set: { anyOf: [one, list(one)] } }, ['set'])] }
  })
