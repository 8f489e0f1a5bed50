// Checks the attributes of a schema: the options of each attribute type and the values of each option.

import slugify from '@sindresorhus/slugify'
import { isScalarType } from '../types/attribute-types.js'
import type { OptionsByName } from '../types/options.js'
import { checkCondition } from './conditions.js'
import { careless, type Finding, shown, unlikely, unstartable, wrong } from './finding.js'
import { columnName } from './names.js'
import { attributeOptions, commonOptions, relationKinds } from './schema-format.js'
import type { AttributeSource, SchemaSource, SchemaSources } from './types.js'

/** The types whose attributes Strapi refuses to load with an invalid value of one of these options. */
const refusedByStrapi: Readonly<Record<string, readonly string[]>> = {
  enumeration: ['enum'],
  component: ['component'],
  relation: ['relation', 'target', 'inversedBy', 'morphBy'],
}

/** Names of the types in other services and languages. */
const otherTypes: ReadonlyMap<string, string> = new Map([
  ...['varchar', 'char', 'url', 'color'].map((name) => [name, 'string'] as const),
  ...['image', 'file', 'picture', 'video', 'upload', 'asset'].map((name) => [name, 'media'] as const),
  ...['markdown', 'html', 'wysiwyg'].map((name) => [name, 'richtext'] as const),
  ...['object', 'array', 'map'].map((name) => [name, 'json'] as const),
  ...['enum', 'select', 'choice'].map((name) => [name, 'enumeration'] as const),
  ...['reference', 'link', 'belongsto', 'hasmany'].map((name) => [name, 'relation'] as const),
  ...([
    ['number', 'integer'],
    ['int', 'integer'],
    ['bool', 'boolean'],
    ['double', 'float'],
    ['slug', 'uid'],
  ] as const),
])

/** Returns errors and warnings. */
export function checkAttribute(schema: SchemaSource, name: string, source: AttributeSource, sources: SchemaSources): readonly Finding[] {
  const { type } = source
  const known = Object.hasOwn(attributeOptions, type) ? attributeOptions[type]!.options : null
  if (known === null && type !== 'customField') {
    const path = `attributes.${name}.type`
    const meant = otherTypes.get(String(type).toLowerCase())
    return [
      meant === undefined
        ? wrong(path, `${shown(type)} is not an attribute type`, { given: type, known: () => Object.keys(attributeOptions) })
        : wrong(path, `${shown(type)} is not an attribute type; write "${meant}"`),
    ]
  }
  return [
    ...(known === null ? [] : checkOptions(name, source, { ...commonOptions, ...known })),
    ...checkBounds(name, source),
    ...checkCondition(schema, name),
    ...(type === 'enumeration' ? checkEnumeration(name, source) : []),
    ...(type === 'uid' ? checkTargetField(schema, name, source) : []),
    ...(type === 'relation' ? checkRelation(schema, name, source, sources) : []),
    ...(type === 'component' || type === 'dynamiczone' ? checkComponents(name, source, sources) : []),
  ]
}

function checkOptions(name: string, source: AttributeSource, known: OptionsByName): readonly Finding[] {
  return Object.entries(source).flatMap(([option, value]): readonly Finding[] => {
    const path = `attributes.${name}.${option}`
    const form = Object.hasOwn(known, option) ? known[option]!.form : null
    if (form === null)
      return [unlikely(path, `is not an option of the type ${source.type}`, { given: option, known: () => Object.keys(known) })]
    if (value === undefined || form.fits(value)) return []
    const report = refusedByStrapi[source.type]?.includes(option) === true ? wrong : careless
    return [report(path, `is ${shown(value)}; it must be ${form.words}`)]
  })
}

function checkBounds(name: string, source: AttributeSource): readonly Finding[] {
  return (
    [
      ['min', 'max'],
      ['minLength', 'maxLength'],
    ] as const
  ).flatMap(([least, most]) => {
    const [low, high] = [source[least], source[most]]
    const isNumber = (value: unknown) => typeof value === 'number' || (typeof value === 'string' && /^-?\d+$/.test(value))
    if (!isNumber(low) || !isNumber(high) || Number(low) <= Number(high)) return []
    // Strapi cannot make a pattern of such lengths.
    const report = least === 'minLength' ? wrong : careless
    return [report(`attributes.${name}.${least}`, `is ${low}, above ${most} (${high}), so no value is valid`)]
  })
}

function checkEnumeration(name: string, { enum: values, default: chosen }: AttributeSource): readonly Finding[] {
  const path = `attributes.${name}.enum`
  if (!Array.isArray(values)) return [wrong(path, 'must name at least one value')]
  if (values.length === 0) return [careless(path, 'must name at least one value')]
  // checkOptions reports values that are not texts.
  const texts = values.filter((value) => typeof value === 'string')
  const fault = findValueFault(texts)
  if (fault?.kind === 'wrong') return [wrong(path, fault.message)]
  return [
    ...(fault === null ? [] : [unstartable(path, fault.message)]),
    ...(typeof chosen !== 'string' || texts.includes(chosen)
      ? []
      : [careless(`attributes.${name}.default`, `${shown(chosen)} is not one of the values`, { given: chosen, known: () => texts })]),
  ]
}

function checkTargetField({ attributes }: SchemaSource, name: string, { targetField }: AttributeSource): readonly Finding[] {
  if (typeof targetField !== 'string') return []
  const path = `attributes.${name}.targetField`
  const target = attributes[targetField]
  if (target === undefined)
    return [careless(path, `${shown(targetField)} is not an attribute`, { given: targetField, known: () => Object.keys(attributes) })]
  return target.type === 'string' || target.type === 'text' || target.type === 'customField'
    ? []
    : [unlikely(path, `"${targetField}" is of the type ${target.type}; a uid is generated from a string or text`)]
}

function checkRelation(schema: SchemaSource, name: string, source: AttributeSource, sources: SchemaSources): readonly Finding[] {
  const { relation, target: targetUid } = source
  const at = (option: string) => `attributes.${name}.${option}`
  if (!relationKinds.some((kind) => kind === relation))
    return [
      wrong(at('relation'), `${shown(relation)} is not a kind of relation`, {
        given: String(relation),
        known: () => relationKinds,
      }),
    ]
  if (relation === 'morphToOne' || relation === 'morphToMany') return []
  const target = sources.get(String(targetUid))
  // Relations to types of plugins that only Strapi loads are skipped with a warning.
  if (target === undefined && String(targetUid).startsWith('plugin::')) return []
  if (target === undefined || target.kind === 'component') {
    const report = target === undefined ? wrong : careless
    return [
      report(at('target'), `${shown(targetUid)} is not a content-type`, {
        given: String(targetUid),
        known: () => getUids(sources, (kind) => kind !== 'component'),
      }),
    ]
  }
  return [
    ...checkOwner(name, source),
    ...(['mappedBy', 'inversedBy', 'morphBy'] as const).flatMap((side) => {
      const other = source[side]
      return typeof other === 'string' ? checkOtherSide(schema, target, other, at(side), source.useJoinTable === false) : []
    }),
  ]
}

/** Strapi refuses a manyToOne that another side owns, and a oneToMany that owns both. */
function checkOwner(name: string, { relation, inversedBy, mappedBy, useJoinTable }: AttributeSource): readonly Finding[] {
  const [owns, isOwned] = [typeof inversedBy === 'string', typeof mappedBy === 'string']
  if (relation === 'manyToOne' && isOwned && !owns)
    return [wrong(`attributes.${name}.mappedBy`, 'is not for a manyToOne, which always owns its relation; write inversedBy, or neither')]
  if (relation === 'oneToMany' && owns)
    return [
      wrong(`attributes.${name}.inversedBy`, 'is not for a oneToMany, whose other side owns the relation; write mappedBy, or neither'),
    ]
  return relation === 'oneToMany' && useJoinTable === false && !isOwned
    ? [wrong(`attributes.${name}.useJoinTable`, 'is false, which is for oneToOne and manyToOne')]
    : []
}

/** `path` names it. Strapi checks all but `mappedBy`, and the type only for `inversedBy`. */
function checkOtherSide(schema: SchemaSource, target: SchemaSource, name: string, path: string, isColumn: boolean): readonly Finding[] {
  const other = target.attributes[name]
  if (other === undefined) {
    // Code of a Strapi project may add attributes to types of plugins.
    const mayBeAdded = target.uid.startsWith('plugin::')
    const report = path.endsWith('mappedBy') || mayBeAdded ? careless : wrong
    const addition = mayBeAdded ? '. Where code adds it (strapi-server), write it into the schema.json of the extension' : ''
    return [
      report(path, `${target.uid} has no attribute ${shown(name)}${addition}`, {
        given: name,
        known: () => Object.keys(target.attributes),
      }),
    ]
  }
  // Strapi ignores it if the relation is a column.
  const report = path.endsWith('inversedBy') && !isColumn ? wrong : careless
  if (other.type !== 'relation') return [report(path, `"${name}" of ${target.uid} is of the type ${other.type}, not a relation`)]
  const isMorph = String(other.relation).startsWith('morphTo')
  if (path.endsWith('morphBy')) return isMorph ? [] : [careless(path, `"${name}" of ${target.uid} is neither morphToOne nor morphToMany`)]
  if (isMorph) return [careless(path, `"${name}" of ${target.uid} is a ${String(other.relation)}; its other side needs morphBy`)]
  return other.target === schema.uid
    ? []
    : [careless(path, `"${name}" of ${target.uid} refers to ${String(other.target)}, not back to ${schema.uid}`)]
}

function checkComponents(name: string, source: AttributeSource, sources: SchemaSources): readonly Finding[] {
  const isZone = source.type === 'dynamiczone'
  const named = isZone ? source.components : [source.component]
  const report = isZone ? careless : wrong
  if (!Array.isArray(named)) return [careless(`attributes.${name}.components`, 'must be a list of components')]
  return named.flatMap((uid, index) =>
    sources.get(String(uid))?.kind === 'component'
      ? []
      : [
          report(`attributes.${name}.${isZone ? `components.${index}` : 'component'}`, `${shown(uid)} is not a component`, {
            given: String(uid),
            known: () => getUids(sources, (kind) => kind === 'component'),
          }),
        ],
  )
}

const getUids = (sources: SchemaSources, isMeant: (kind: SchemaSource['kind']) => boolean): readonly string[] =>
  [...sources.values()].filter(({ kind }) => isMeant(kind)).map(({ uid }) => uid)

const hasColumn = ({ type }: AttributeSource): boolean => isScalarType(type) || type === 'customField'

/** Columns of every row, in addition to attributes. */
const ownColumns = {
  component: ['id'],
  contentType: ['id', 'document_id', 'created_at', 'updated_at', 'published_at', 'created_by_id', 'updated_by_id', 'locale'],
}

/** Finds attributes that share a column with another attribute or with a system column. */
export function checkColumns({ kind, attributes }: SchemaSource): readonly Finding[] {
  const owners = new Map<string, string>()
  const own = ownColumns[kind === 'component' ? 'component' : 'contentType']
  return Object.entries(attributes).flatMap(([name, source]) => {
    if (!hasColumn(source)) return []
    const named = (source.column as { readonly name?: unknown } | undefined)?.name
    if (typeof named === 'string' && own.includes(named))
      return [wrong(`attributes.${name}.column.name`, `is "${named}", a column that every row has`)]
    const column = typeof named === 'string' ? named : columnName(name)
    const other = owners.get(column)
    owners.set(column, name)
    return other === undefined ? [] : [wrong(`attributes.${name}`, `has the same column as "${other}": ${column}`)]
  })
}

interface ValueFault {
  /** `unstartable`: Octavo serves them, Strapi does not start. */
  readonly kind: 'wrong' | 'unstartable'
  /** The end of a sentence about them. */
  readonly message: string
}

/** Strapi's name of a value for GraphQL, also in a project without it. */
const strapiName = (value: string): string => slugify(value, { separator: '_', lowercase: false, decamelize: false })

export function findValueFault(values: readonly string[]): ValueFault | null {
  const seen = new Set<string>()
  const twice = values.find((value) => seen.size === seen.add(value).size)
  if (twice !== undefined) return { kind: 'wrong', message: `has ${shown(twice)} twice` }
  const blank = values.find((value) => value.trim() === '')
  if (blank !== undefined) return { kind: 'wrong', message: `has ${shown(blank)}, an empty value` }
  const message = faultInStrapi(values)
  return message === null ? null : { kind: 'unstartable', message }
}

function faultInStrapi(values: readonly string[]): string | null {
  const byName = new Map<string, string>()
  for (const value of values) {
    const name = strapiName(value)
    const former = byName.get(name)
    if (name === '')
      return `has ${shown(value)}. Strapi does not start with it: of each value it makes a name of Latin letters and digits, and nothing is left of this one`
    if (/^\d/.test(name))
      return `has ${shown(value)}. Strapi does not start with it: the name that it makes of each value must begin with a Latin letter`
    if (former !== undefined)
      return `has ${shown(former)} and ${shown(value)}. Strapi does not start with both: it makes the name ${shown(name)} of each`
    byName.set(name, value)
  }
  return null
}
