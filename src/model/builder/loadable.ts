// Validation of a changed model before files are written: Strapi accepts some of these changes, and then cannot start or loses content.
import { isDeepStrictEqual } from 'node:util'
import snakeCase from 'lodash/snakeCase.js'
import { checkSchemas } from '../schema/check.js'
import { findValueFault } from '../schema/check-attributes.js'
import { linkModel } from '../schema/link.js'
import { componentTable, linkTable, morphTable } from '../schema/names.js'
import type { SchemaSource } from '../schema/types.js'
import {
  getAttributes,
  isComponentUid,
  type ProjectSchema,
  type ProjectSchemas,
  type SchemaContent,
  type SchemaError,
} from './project-schemas.js'

type Schemas = ReadonlyMap<string, ProjectSchema>

/** Returns why the schemas of `after` that differ from `current` could not be served. */
export function findUnloadable(current: ProjectSchemas, after: Schemas): string | null {
  const changed = [...after.values()].filter((schema) => schema !== current.schemas.get(schema.uid))
  const names = namesIn(after)
  const [taken] = changed.flatMap((schema) => takenNames(schema, names, current.schemas))
  if (taken !== undefined) return taken.message
  const [error] = unstartable(current, after)
  if (error === undefined) return linkError(changed, after)
  const [uid, name] = error.path
  return name === undefined ? error.message : `${uid}.${name}: ${error.message}`
}

type Known = Pick<ProjectSchemas, 'schemas' | 'customFields' | 'isStrapis'>

/** The same for schemas that Octavo could serve and Strapi could not. Messages about an attribute are the end of a sentence. */
export function unstartable(current: Known, after: Schemas): readonly SchemaError[] {
  const changed = [...after.values()].filter((schema) => schema !== current.schemas.get(schema.uid))
  return changed.flatMap((schema) => [
    ...Object.keys(schema.content.attributes).flatMap((name) => wrongAttribute(current, after, schema, name)),
    ...circles(schema, after),
  ])
}

/** Builds the new model as a start does. */
function linkError(changed: readonly ProjectSchema[], after: Schemas): string | null {
  try {
    const sources = new Map([...after].map(([uid, schema]) => [uid, sourceOf(schema)]))
    checkSchemas(
      changed.map(({ uid, path }) => ({ file: path ?? uid, schema: sources.get(uid)! })),
      [...sources.values()],
      ['wrong'],
    )
    linkModel([...sources.values()])
    return null
  } catch (error) {
    return (error as Error).message
  }
}

const sourceOf = ({ uid, content }: ProjectSchema): SchemaSource => ({
  ...content,
  uid,
  kind: isComponentUid(uid) ? 'component' : content.kind === 'singleType' ? 'singleType' : 'collectionType',
})

/** Uids of schemas by name. */
type Owners = ReadonlyMap<string, readonly string[]>

/** The names that must be unique among schemas. */
interface TakenNames {
  /** singularName and pluralName. */
  readonly types: Owners
  /** The collectionName, in snake case. */
  readonly tables: Owners
  /** The tables of relations and components. */
  readonly links: Owners
}

function ownersOf(schemas: Schemas, namesOf: (schema: ProjectSchema) => readonly string[]): Owners {
  const owners = new Map<string, string[]>()
  for (const schema of schemas.values())
    for (const name of namesOf(schema)) {
      const known = owners.get(name)
      if (known === undefined) owners.set(name, [schema.uid])
      else known.push(schema.uid)
    }
  return owners
}

export const typeNamesIn = (schemas: Schemas): Owners =>
  ownersOf(schemas, ({ uid, content: { info } }) =>
    isComponentUid(uid) ? [] : [info.singularName, info.pluralName].filter((name) => name !== undefined),
  )

const namesIn = (schemas: Schemas): TakenNames => ({
  types: typeNamesIn(schemas),
  tables: ownersOf(schemas, ({ content: { collectionName } }) => [snakeCase(collectionName)]),
  links: ownersOf(schemas, ({ content: { collectionName = '', attributes } }) => [
    componentTable(collectionName),
    ...Object.keys(attributes).flatMap((name) => [linkTable(collectionName, name), morphTable(collectionName, name)]),
  ]),
})

const otherOwner = (owners: Owners, name: string, uid: string): string | undefined => owners.get(name)?.find((other) => other !== uid)

const systemTable = /^(?:strapi|octavo)_/

function takenNames({ uid, content }: ProjectSchema, names: TakenNames, before: Schemas): readonly SchemaError[] {
  if (before.has(uid) && before.get(uid)!.content.collectionName === content.collectionName) return []
  const table = content.collectionName ?? ''
  const mistakes = isComponentUid(uid) ? [] : takenTypeNames(uid, content, names.types)
  const sameTable = otherOwner(names.tables, snakeCase(table), uid)
  if (sameTable !== undefined)
    mistakes.push({ path: [uid, 'collectionName'], message: `The collectionName "${table}" is the one of ${sameTable}`, value: table })
  else if (systemTable.test(table) || otherOwner(names.links, table, uid) !== undefined)
    mistakes.push({
      path: [uid, 'collectionName'],
      message: `The collectionName "${table}" is reserved for tables of the system`,
      value: table,
    })
  return mistakes
}

/** The names of a type that another type uses. */
export const takenTypeNames = (uid: string, { info }: SchemaContent, types: Owners): SchemaError[] =>
  (['singularName', 'pluralName'] as const).flatMap((key) => {
    const name = info[key]
    const taken = name === undefined ? undefined : otherOwner(types, name, uid)
    return taken === undefined ? [] : [{ path: [uid, key], message: `The ${key} "${name}" is already used by ${taken}`, value: name }]
  })

function wrongAttribute(current: Known, after: Schemas, { uid }: ProjectSchema, name: string): readonly SchemaError[] {
  const attribute = getAttributes(after, uid)[name]!
  if (isDeepStrictEqual(attribute, getAttributes(current.schemas, uid)[name])) return []
  const mistake = (message: string, ...option: readonly string[]): readonly SchemaError[] => [{ path: [uid, name, ...option], message }]
  switch (attribute.type) {
    case 'component':
      return after.has(attribute.component as string) ? [] : mistake(`there is no component ${attribute.component}`)
    case 'dynamiczone': {
      const unknown = listOf(attribute.components).filter((component) => !after.has(component))
      return unknown.length === 0 ? [] : mistake(`there is no component ${unknown.join(', ')}`)
    }
    case 'enumeration':
      return valueFault(current, listOf(attribute.enum)).flatMap((fault) => mistake(fault, 'enum'))
    case 'customField':
      return current.customFields.has(attribute.customField as string) ? [] : mistake(notRegistered(attribute.customField))
    case 'relation':
      return /^morph(One|Many)$/.test(attribute.relation as string) && typeof attribute.morphBy !== 'string'
        ? mistake(`a relation ${attribute.relation} needs morphBy, the polymorphic relation of ${attribute.target}`)
        : []
    default:
      return []
  }
}

const notRegistered = (field: unknown): string => {
  const uid = typeof field === 'string' ? field : '(none)'
  return `the custom field ${uid} is not registered; if a plugin brings it along, say its type in octavo.config: "customFields": { "${uid}": "string" }`
}

const listOf = (value: unknown): readonly string[] =>
  Array.isArray(value) ? value.filter((one): one is string => typeof one === 'string') : []

// Other faults are reported by checkSchemas.
function valueFault({ isStrapis }: Known, values: readonly string[]): readonly string[] {
  const fault = isStrapis ? findValueFault(values) : null
  return fault?.kind === 'unstartable' ? [fault.message] : []
}

/** A component that contains itself, directly or through others, could never be read. */
function circles({ uid }: ProjectSchema, after: Schemas): readonly SchemaError[] {
  if (!isComponentUid(uid)) return []
  const seen = new Set<string>()
  const partsOf = (component: string): string[] =>
    Object.values(getAttributes(after, component)).flatMap(({ type, component: part }) => (type === 'component' ? [part as string] : []))
  const open = partsOf(uid)
  while (open.length > 0) {
    const part = open.pop()!
    if (part === uid) return [{ path: [uid], message: `The component ${uid} contains itself` }]
    if (!seen.has(part)) open.push(...partsOf(part))
    seen.add(part)
  }
  return []
}
