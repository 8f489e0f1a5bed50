// Prints names, texts and values of a project as TypeScript. Schema input always ends up in a name, a literal or a comment.

import { isAlwaysRequired } from '../../../model/schema/conditions.js'
import { fileType } from '../../../model/schema/link.js'
import { type Attribute, assertNever, type Scalar } from '../../../model/schema/types.js'
import { attributeTypes } from '../../../model/types/attribute-types.js'
import { publicFields } from '../../../query/rest/populate.js'
import {
  type DescribedLink,
  type DescribedShape,
  isNullable,
  isPath,
  linksOf,
  mustBeGiven,
  reachableFrom,
  targetsOf,
  type View,
  writableOf,
} from '../view.js'

/** A string literal. */
const literal = (text: string): string => `'${JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`

/** A property name, quoted if necessary. */
const property = (name: string): string => (/^[A-Za-z_$][\w$]*$/.test(name) ? name : literal(name))

/** A one-line comment. */
const comment = (text: string): string => `/** ${text.replaceAll(/[\r\n\u2028\u2029]+/g, ' ').replaceAll('*/', '*\\/')} */`

/** A union type; `never` for none. */
const union = (types: readonly string[]): string => (types.length === 0 ? 'never' : types.join(' | '))

const orNull = (type: string, isNullable: boolean): string => (isNullable && type !== 'unknown' ? `${type} | null` : type)

interface TypeMember {
  readonly name: string
  readonly type: string
  readonly isOptional?: boolean
}

/** Members of an object type, one per line. */
const members = (list: readonly TypeMember[], indent: string): string =>
  list.map(({ name, type, isOptional }) => `${indent}${property(name)}${isOptional ? '?' : ''}: ${type}\n`).join('')

/** Properties that read as unknown, and accept values of their type. */
const accessors = (list: readonly TypeMember[], indent: string): string =>
  list.map(({ name, type }) => `${indent}get ${property(name)}(): unknown\n${indent}set ${property(name)}(value: ${type})\n`).join('')

const printInterface = (name: string, list: readonly TypeMember[], parent = ''): string =>
  `export interface ${name}${parent === '' ? '' : ` extends ${parent}`} {\n${members(list, '  ')}}\n`

/** A JSON value as a literal type. */
function valueType(value: unknown): string {
  if (typeof value === 'string') return literal(value)
  if (Array.isArray(value)) return `readonly [${value.map(valueType).join(', ')}]`
  if (typeof value !== 'object' || value === null) return String(value)
  const entries = Object.entries(value).filter(([, inner]) => inner !== undefined)
  return entries.length === 0 ? '{}' : `{ ${entries.map(([key, inner]) => `${property(key)}: ${valueType(inner)}`).join('; ')} }`
}

export const fileHeader = '// Written by `octavo types` from the schemas of the project. Changes are lost when it runs again.'

/** A file with all declarations does not register its types. */
const standaloneNotice =
  '// This file does not type clients by itself: pass its types, createClient<Types>({ … }). Without them, any name compiles.\n'

/** Packages that contain the client and its types. */
export const clientPackages = ['octavo/client', 'octavo-client'] as const
export type ClientPackage = (typeof clientPackages)[number]

/** Content of the file in addition to the model. */
interface FileOptions {
  /** Default query of reads, by uid. */
  readonly defaults: Readonly<Record<string, TypeDefaults>>
  /** The package to import declarations from, or their text. */
  readonly declarations: { readonly package: ClientPackage } | { readonly text: string }
}

/** Plugin types, which have separate endpoints. */
const withEndpoints = ['plugin::upload.file', 'plugin::users-permissions.user', 'plugin::users-permissions.role']

/** Prints the types of a project. The output is the same for the same model. */
export function printFile(view: View, { defaults, declarations }: FileOptions): string {
  const roots = [...view.model.types.values()].filter(({ uid, exposed }) => exposed || withEndpoints.includes(uid))
  const shapes = reachableFrom(view, roots)
  const types = shapes.filter(({ kind }) => kind === 'contentType')
  const index = printInterface(
    'Types',
    types.map(({ uid }) => ({ name: uid, type: `${view.names.get(uid)!}Type` })),
  )
  return [
    `${fileHeader}\n${'text' in declarations ? standaloneNotice : ''}/* eslint-disable */\n`,
    'text' in declarations ? `${declarations.text}\n` : `import type * as Octavo from '${declarations.package}'\n`,
    ...shapes.map((shape) => printShape(view, shape, defaults[shape.uid] ?? {})),
    `/** The content-types of the project by uid. */\n${index}`,
    ...('text' in declarations
      ? []
      : [`declare module ${literal(declarations.package)} {\n  interface ContentTypes extends Types {}\n}\n`]),
  ].join('\n')
}

/** JSON attributes of files with a known structure. */
const ofFiles: Readonly<Record<string, string>> = { formats: 'Octavo.FileFormats', focalPoint: 'Octavo.FocalPoint' }

function getChoices(attribute: Scalar): readonly string[] | null {
  const choices = attributeTypes[attribute.type].choices?.(attribute) ?? []
  return choices.length === 0 ? null : choices.map((value) => literal(String(value)))
}

/** The type of a value in responses, without null. */
function responseType(shape: DescribedShape, attribute: Scalar): string {
  if (shape.uid === fileType && attribute.type === 'json') return ofFiles[attribute.name] ?? 'unknown'
  const choices = getChoices(attribute)
  return choices === null ? attributeTypes[attribute.type].typescript.response : union(choices)
}

function filterType(attribute: Scalar): string {
  const choices = getChoices(attribute)
  return choices === null ? attributeTypes[attribute.type].typescript.filter : `Octavo.ChoiceFilter<${union(choices)}>`
}

/** The type of a value in the data of a write, without null. */
function inputType(attribute: Scalar): string {
  const choices = getChoices(attribute)
  const { input, response } = attributeTypes[attribute.type].typescript
  return choices === null ? (input ?? response) : union(choices)
}

/** Default parameters of a type's reads. */
type TypeDefaults = Readonly<Record<string, unknown>>

const nameOf = ({ names }: View, { uid }: DescribedShape): string => names.get(uid)!

/** All interfaces of a content-type or component. */
function printShape(view: View, shape: DescribedShape, defaults: TypeDefaults): string {
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

/** Plugin types are written through separate routes. */
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

/** Input is unknown until it is validated. A type rather than an interface, so that it is also a record. */
function printHookData(shape: DescribedShape & { readonly kind: 'contentType' }, name: string): string {
  const input = `${name}${shape.draftAndPublish ? 'DraftInput' : 'Input'}`
  const attributes = writableOf(shape).map(({ name: attribute }) => ({ name: attribute, type: `${input}[${literal(attribute)}]` }))
  const text = `Data of ${shape.uid} in hooks before it is validated: any value may be there, and only right ones are assigned.`
  return `${comment(text)}\nexport type ${name}HookData = {\n${accessors(attributes, '  ')}}\n`
}

/** True for attributes that null clears; types of relations and media include it, those of lists by row 16. */
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

/** Statements of declaration files that are not permitted in a namespace: imports, functions and constants. */
const elsewhere = /^(?:import type [^;]*;|export declare (?:const|function) [^;]*;|export \{\};)\n?/gm

/** Joins declaration files that reference only each other. */
export function standaloneDeclarations(files: readonly string[]): string {
  const body = files.map((text) => text.replaceAll(elsewhere, '').trim()).join('\n')
  return [
    `/** What the types below are made of. */\nexport declare namespace Octavo {\n${body.replaceAll(/^(?=.)/gm, '  ')}\n}`,
    'export declare namespace Octavo {\n  interface ContentTypes extends Types {}\n}',
  ].join('\n\n')
}

/** The required declaration files, relative to `dist/types` in the package. */
export const declarationFiles: readonly string[] = [
  ...['blocks', 'content-types', 'inputs', 'queries', 'results', 'selection'].map((name) => `src/foundation/public/content/${name}.d.ts`),
  ...['document-methods', 'typed-strapi'].map((name) => `packages/client/${name}.d.ts`),
]
