// A content-type or component as TypeScript interfaces: its attributes in responses, its filters, its data in writes, and its shape.

import { isAlwaysRequired } from '../../../model/schema/conditions.js'
import type { Attribute } from '../../../model/schema/types.js'
import { assertNever } from '../../../model/schema/types.js'
import { publicFields } from '../../../query/rest/fields.js'
import type { DescribedLink, DescribedShape, View } from '../view.js'
import { isNullable, isPath, linksOf, mustBeGiven, targetsOf, writableOf } from '../view.js'
import { accessors, comment, literal, members, orNull, printInterface, type TypeMember, union, valueType } from './print.js'
import { filterType, inputType, responseType } from './scalars.js'

/** What a project takes for granted in reads of a type. */
export type TypeDefaults = Readonly<Record<string, unknown>>

const nameOf = ({ names }: View, { uid }: DescribedShape): string => names.get(uid)!

/** All interfaces of a content-type or component. */
export function printShape(view: View, shape: DescribedShape, defaults: TypeDefaults): string {
  const name = nameOf(view, shape)
  return [
    `${comment(summary(shape))}\n${printInterface(name, fieldMembers(view, shape))}`,
    `${comment(`Filters of ${shape.uid}.`)}\n${printInterface(`${name}Filters`, filterMembers(view, shape), `Octavo.Junctions<${name}Filters>`)}`,
    ...printInputs(view, shape, name),
    printInterface(`${name}Type`, shapeMembers(view, shape, name, defaults)),
  ].join('\n')
}

function summary(shape: DescribedShape): string {
  if (shape.kind === 'component') return `The component ${shape.uid} (${shape.displayName}).`
  const features = [...(shape.draftAndPublish ? ['drafts'] : []), ...(shape.localized ? ['locales'] : [])]
  const kind = shape.singleType ? 'single type' : 'collection type'
  return `A published version of ${shape.uid} (${[shape.displayName, kind, ...features].join(', ')}), without what \`populate\` adds.`
}

/** Components have a documentId in responses of one contract only. */
const fieldsOfComponent = ({ contract }: View): readonly TypeMember[] =>
  contract.componentDocumentIds ? [{ name: 'documentId', type: 'string' }] : []

function fieldMembers(view: View, shape: DescribedShape): readonly TypeMember[] {
  const fields = publicFields(shape).map(
    (attribute): TypeMember => ({
      name: attribute.name,
      type: orNull(responseType(shape, attribute), isNullable(attribute)),
    }),
  )
  return shape.kind === 'component' ? [...fields.slice(0, 1), ...fieldsOfComponent(view), ...fields.slice(1)] : fields
}

function filterMembers(view: View, shape: DescribedShape): readonly TypeMember[] {
  const paths = linksOf(view, shape).filter((link) => isPath(view, link, 'condition'))
  return [
    ...publicFields(shape).map((attribute) => ({ name: attribute.name, type: filterType(attribute) })),
    ...paths.map((link) => ({ name: link.name, type: `Octavo.LinkFilter<${nameOf(view, targetsOf(view, link)[0]!)}Filters>` })),
  ].map((member) => ({ ...member, isOptional: true }))
}

/** Types of plugins are written through routes of their own. */
function printInputs(view: View, shape: DescribedShape, name: string): readonly string[] {
  if (shape.kind === 'contentType' && !shape.exposed) return []
  const attributes = writableOf(shape)
  const whole = attributes.map(
    (attribute): TypeMember => ({
      name: attribute.name,
      type: orNull(dataType(view, attribute, 'Input'), isScalarLike(view, attribute) && !isAlwaysRequired(attribute)),
      isOptional: !mustBeGiven(view, shape, attribute),
    }),
  )
  const draft = attributes.map(
    (attribute): TypeMember => ({
      name: attribute.name,
      type: orNull(dataType(view, attribute, 'DraftInput'), isScalarLike(view, attribute)),
      isOptional: true,
    }),
  )
  return [
    `${comment(`Data of ${shape.uid} for a version that is published.`)}\n${printInterface(`${name}Input`, whole)}`,
    `${comment(`Data of ${shape.uid} for a draft, which need not be complete.`)}\n${printInterface(`${name}DraftInput`, draft)}`,
    ...(shape.kind === 'contentType' ? [printHookData(shape, name)] : []),
  ]
}

/** What comes from outside may be anything until it is validated: it is read as unknown. A type and not an interface, so that it is a record too. */
function printHookData(shape: DescribedShape & { readonly kind: 'contentType' }, name: string): string {
  const input = `${name}${shape.draftAndPublish ? 'DraftInput' : 'Input'}`
  const attributes = writableOf(shape).map(({ name: attribute }) => ({ name: attribute, type: `${input}[${literal(attribute)}]` }))
  const text = `Data of ${shape.uid} in hooks before it is validated: any value may be there, and only right ones are assigned.`
  return `${comment(text)}\nexport type ${name}HookData = {\n${accessors(attributes, '  ')}}\n`
}

/** True for attributes that null empties; relations and media allow it by their types, lists by row 16. */
const isScalarLike = ({ contract }: View, attribute: Attribute): boolean =>
  attribute.kind === 'scalar' ||
  (attribute.kind === 'component' && !attribute.repeatable) ||
  ((attribute.kind === 'component' || attribute.kind === 'dynamiczone') && contract.nullEmptiesLists)

function dataType(view: View, attribute: Attribute, form: 'Input' | 'DraftInput'): string {
  const componentInput = (uid: string) => `${view.names.get(uid)!}${form}`
  switch (attribute.kind) {
    case 'scalar':
      return inputType(attribute)
    case 'relation':
    case 'morphFrom':
      return attribute.many ? 'Octavo.RelationToMany' : 'Octavo.RelationToOne'
    case 'morphTo':
      return `Octavo.RelationToAny<${union(view.anyTypes.map(({ uid }) => literal(uid)))}>`
    case 'media':
      return attribute.many ? 'Octavo.FilesInput' : 'Octavo.FileInput'
    case 'component': {
      const one = `Octavo.ComponentData<${componentInput(attribute.component)}>`
      return attribute.repeatable ? `readonly ${one}[]` : one
    }
    case 'dynamiczone':
      return `readonly (${union(attribute.components.map((uid) => `Octavo.ZoneEntryData<${literal(uid)}, ${componentInput(uid)}>`))})[]`
    default:
      return assertNever(attribute)
  }
}

function shapeMembers(view: View, shape: DescribedShape, name: string, defaults: TypeDefaults): readonly TypeMember[] {
  const links = linksOf(view, shape).map((link): TypeMember => ({ name: link.name, type: linkType(view, link) }))
  const common: readonly TypeMember[] = [
    { name: 'uid', type: literal(shape.uid) },
    { name: 'fields', type: name },
    { name: 'links', type: links.length === 0 ? '{}' : `{\n${members(links, '    ')}  }` },
    { name: 'filters', type: `${name}Filters` },
  ]
  if (shape.kind === 'component') return common
  return [
    ...common,
    { name: 'kind', type: literal(shape.singleType ? 'singleType' : 'collectionType') },
    { name: 'path', type: literal(shape.singleType ? shape.singularName : shape.pluralName) },
    { name: 'drafts', type: String(shape.draftAndPublish) },
    { name: 'input', type: shape.exposed ? `${name}Input` : 'never' },
    { name: 'draftInput', type: shape.exposed ? `${name}DraftInput` : 'never' },
    { name: 'hookData', type: shape.exposed ? `${name}HookData` : 'never' },
    { name: 'defaults', type: valueType(defaults) },
  ]
}

function linkType(view: View, link: DescribedLink): string {
  const target = union(targetsOf(view, link).map((shape) => `${nameOf(view, shape)}Type`))
  return `Octavo.${linkNames(link)}<${target}>`
}

function linkNames(link: DescribedLink): string {
  switch (link.kind) {
    case 'relation':
    case 'morphFrom':
      return link.many ? 'ToMany' : 'ToOne'
    case 'morphTo':
      return link.many ? 'ToManyOfAny' : 'ToAny'
    case 'media':
      return link.many ? 'ManyFiles' : 'OneFile'
    case 'component':
      return link.repeatable ? 'ManyComponents' : isNullable(link) ? 'OneComponent' : 'RequiredComponent'
    case 'dynamiczone':
      return 'ZoneOf'
    default:
      return assertNever(link)
  }
}
