// The schemas of content-types and components in the data of writes.
import { isAlwaysRequired } from '../../../model/schema/conditions.js'
import type { Attribute } from '../../../model/schema/types.js'
import { assertNever } from '../../../model/schema/types.js'
import type { DescribedShape } from '../view.js'
import { mustBeGiven, type View, writableOf } from '../view.js'
import type { SchemaContext } from './documents.js'
import { inputScalar, isCount } from './scalars.js'
import { type Components, type DescriptionObject, integer, list, object, orNull, text } from './schema.js'

/** A reference to the schema of the data that a write of this type takes. Private attributes are not described. */
export const inputRef = (context: SchemaContext, shape: DescribedShape): DescriptionObject =>
  context.components.ref('schemas', `${context.view.names.get(shape.uid)!}Input`, () => inputSchema(context, shape))

/** The attributes that a caller may give. Relations need the permission to find what they lead to. */
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
  // Entries of dynamic zones have a member more.
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

/** A list with the number of entries that it may have when it is published. One that is not required may also be empty. */
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
    ...{ minProperties: 1, maxProperties: 1, additionalProperties: false },
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

/** Files by their ids. */
const mediaInput = (components: Components): DescriptionObject =>
  components.ref('schemas', 'media-input', () => {
    const one: DescriptionObject = { anyOf: [integer, text, object({ id: integer }, ['id']), object({ documentId: text }, ['documentId'])] }
    return { anyOf: [one, list(one), { type: 'null' }, object({ set: { anyOf: [one, list(one)] } }, ['set'])] }
  })
