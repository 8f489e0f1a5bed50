// Checks the attributes of a schema: the options of each attribute type and the values of each option.
import { didYouMean } from '../errors/did-you-mean.js'
import { isScalarType } from './attributes.js'
import { columnName } from './names.js'
import type { AttributeSource, SchemaSource, SchemaSources } from './types.js'

/** A finding at one path of a schema: an error that ends the start, or a warning. */
export interface Finding {
  /** The path in the file: `attributes.slug.targetField`. */
  readonly path: string
  readonly message: string
  readonly isWarning: boolean
}

/** Describes what a value must be; null if it is valid. */
type Form = (value: unknown) => string | null

const form = (words: string, fits: (value: unknown) => boolean): Form => {
  return (value) => (value === null || fits(value) ? null : `is ${JSON.stringify(value)}; it must be ${words}`)
}
const yesOrNo = form('true or false', (value) => typeof value === 'boolean')
const text = form('a text', (value) => typeof value === 'string')
const number = form('a number', (value) => typeof value === 'number' && Number.isFinite(value))
const count = form('a whole number', (value) => typeof value === 'number' && Number.isInteger(value) && value >= 0)
const digits = form('a whole number', (value) => /^-?\d+$/.test(String(value)))
const texts = form('a list of texts', (value) => Array.isArray(value) && value.every((one) => typeof one === 'string'))
const object = form('an object', (value) => typeof value === 'object' && !Array.isArray(value))
const any: Form = () => null
const pattern = form('a regular expression', (value) => typeof value === 'string' && compiles(value))

function compiles(source: string): boolean {
  try {
    return new RegExp(source) instanceof RegExp
  } catch {
    return false
  }
}

type Options = Readonly<Record<string, Form>>

/** Options of every attribute; `column`, `customField` and options of Strapi's admin panel are ignored. */
const common: Options = {
  type: text,
  ...{
    required: yesOrNo,
    unique: yesOrNo,
    private: yesOrNo,
    configurable: yesOrNo,
    searchable: yesOrNo,
    writable: yesOrNo,
    visible: yesOrNo,
  },
  ...{ pluginOptions: object, column: object, conditions: any, description: any, displayName: any, useJoinTable: yesOrNo },
}
const lengths: Options = { minLength: count, maxLength: count }
const worded: Options = { ...lengths, regex: pattern, default: text }
const bounds: Options = { min: number, max: number }
const moment: Options = { default: text, min: any, max: any }
const entries: Options = { min: count, max: count }

/** The further options of each type. */
const options: Readonly<Record<string, Options>> = {
  string: { ...worded, ...bounds },
  text: worded,
  richtext: worded,
  email: { ...worded, ...bounds },
  password: { ...lengths, regex: pattern, default: any },
  uid: { ...worded, targetField: text, options: object },
  enumeration: { enum: texts, enumName: text, default: text },
  integer: { ...bounds, default: number },
  biginteger: { min: digits, max: digits, default: digits },
  float: { ...bounds, default: number },
  decimal: { ...bounds, default: number },
  boolean: { default: yesOrNo },
  date: moment,
  time: moment,
  datetime: moment,
  timestamp: { ...moment, default: any },
  json: { default: any },
  blocks: { default: any },
  media: { multiple: yesOrNo, allowedTypes: texts, ...entries },
  component: { component: text, repeatable: yesOrNo, default: any, ...entries },
  dynamiczone: { components: texts, ...entries },
  relation: {
    ...{
      relation: text,
      target: text,
      inversedBy: text,
      mappedBy: text,
      morphBy: text,
      morphColumn: object,
      joinColumn: object,
      joinTable: any,
    },
    ...{ owner: any, dominant: any, autoPopulate: any, targetAttribute: any },
  },
}

const relations = ['oneToOne', 'oneToMany', 'manyToOne', 'manyToMany', 'morphToOne', 'morphToMany', 'morphOne', 'morphMany']

/** Returns all errors and warnings about an attribute. */
export function checkAttribute(schema: SchemaSource, name: string, source: AttributeSource, sources: SchemaSources): readonly Finding[] {
  const { type } = source
  const known = Object.hasOwn(options, type) ? options[type]! : null
  if (known === null && type !== 'customField') {
    return [wrong(`attributes.${name}.type`, `"${type}" is not an attribute type${didYouMean(type, Object.keys(options))}`)]
  }
  return [
    ...(known === null ? [] : checkOptions(name, source, { ...common, ...known })),
    ...checkBounds(name, source),
    ...(type === 'enumeration' ? checkEnumeration(name, source) : []),
    ...(type === 'uid' ? checkTargetField(schema, name, source) : []),
    ...(type === 'relation' ? checkRelation(schema, name, source, sources) : []),
    ...(type === 'component' || type === 'dynamiczone' ? checkComponents(name, source, sources) : []),
  ]
}

/** Creates an error. */
export const wrong = (path: string, message: string): Finding => ({ path, message, isWarning: false })
/** Creates a warning. */
export const unlikely = (path: string, message: string): Finding => ({ path, message, isWarning: true })

function checkOptions(name: string, source: AttributeSource, known: Options): readonly Finding[] {
  return Object.entries(source).flatMap(([option, value]): readonly Finding[] => {
    const path = `attributes.${name}.${option}`
    const fits = Object.hasOwn(known, option) ? known[option]! : null
    if (fits === null) return [unlikely(path, `is not an option of the type ${source.type}${didYouMean(option, Object.keys(known))}`)]
    const problem = value === undefined ? null : fits(value)
    return problem === null ? [] : [wrong(path, problem)]
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
    return [wrong(`attributes.${name}.${least}`, `is ${low}, above ${most} (${high}), so no value is valid`)]
  })
}

function checkEnumeration(name: string, { enum: values, default: chosen }: AttributeSource): readonly Finding[] {
  const path = `attributes.${name}.enum`
  if (!Array.isArray(values) || values.length === 0) return [wrong(path, 'must name at least one value')]
  const twice = values.find((value, index) => values.indexOf(value) !== index)
  if (twice !== undefined) return [wrong(path, `has "${twice}" twice`)]
  if (typeof chosen !== 'string' || values.includes(chosen)) return []
  return [wrong(`attributes.${name}.default`, `"${chosen}" is not one of the values${didYouMean(chosen, values)}`)]
}

function checkTargetField({ attributes }: SchemaSource, name: string, { targetField }: AttributeSource): readonly Finding[] {
  if (typeof targetField !== 'string') return []
  const path = `attributes.${name}.targetField`
  const target = attributes[targetField]
  if (target === undefined) return [wrong(path, `"${targetField}" is not an attribute${didYouMean(targetField, Object.keys(attributes))}`)]
  return target.type === 'string' || target.type === 'text' || target.type === 'customField'
    ? []
    : [unlikely(path, `"${targetField}" is of the type ${target.type}; a uid is generated from a string or text`)]
}

function checkRelation(schema: SchemaSource, name: string, source: AttributeSource, sources: SchemaSources): readonly Finding[] {
  const { relation, target: targetUid } = source
  const at = (option: string) => `attributes.${name}.${option}`
  if (typeof relation !== 'string' || !relations.includes(relation))
    return [
      wrong(at('relation'), `${JSON.stringify(relation) ?? 'nothing'} is not a kind of relation${didYouMean(String(relation), relations)}`),
    ]
  if (relation === 'morphToOne' || relation === 'morphToMany') return []
  const uids = [...sources.values()].filter(({ kind }) => kind !== 'component').map(({ uid }) => uid)
  const target = sources.get(String(targetUid))
  // Relations to types of plugins that only Strapi loads are skipped with a warning.
  if (target === undefined && String(targetUid).startsWith('plugin::')) return []
  if (target === undefined || target.kind === 'component')
    return [wrong(at('target'), `${JSON.stringify(targetUid) ?? 'nothing'} is not a content-type${didYouMean(String(targetUid), uids)}`)]
  return (['mappedBy', 'inversedBy', 'morphBy'] as const).flatMap((side) => {
    const other = source[side]
    return typeof other === 'string' ? checkOtherSide(schema, target, other, at(side)) : []
  })
}

/** Checks the other side of a relation. `path`: where it is named. */
function checkOtherSide(schema: SchemaSource, target: SchemaSource, name: string, path: string): readonly Finding[] {
  const other = target.attributes[name]
  if (other === undefined)
    return [wrong(path, `${target.uid} has no attribute "${name}"${didYouMean(name, Object.keys(target.attributes))}`)]
  if (other.type !== 'relation') return [wrong(path, `"${name}" of ${target.uid} is of the type ${other.type}, not a relation`)]
  const isMorph = String(other.relation).startsWith('morphTo')
  if (path.endsWith('morphBy')) return isMorph ? [] : [wrong(path, `"${name}" of ${target.uid} is neither morphToOne nor morphToMany`)]
  if (isMorph) return [wrong(path, `"${name}" of ${target.uid} is a ${String(other.relation)}; its other side needs morphBy`)]
  return other.target === schema.uid
    ? []
    : [wrong(path, `"${name}" of ${target.uid} leads to ${String(other.target)}, not back to ${schema.uid}`)]
}

function checkComponents(name: string, source: AttributeSource, sources: SchemaSources): readonly Finding[] {
  const isZone = source.type === 'dynamiczone'
  const named = isZone ? source.components : [source.component]
  if (!Array.isArray(named)) return [wrong(`attributes.${name}.components`, 'must be a list of components')]
  const known = [...sources.values()].filter(({ kind }) => kind === 'component').map(({ uid }) => uid)
  return named.flatMap((uid, index) =>
    known.includes(String(uid))
      ? []
      : [
          wrong(
            `attributes.${name}.${isZone ? `components.${index}` : 'component'}`,
            `${JSON.stringify(uid) ?? 'nothing'} is not a component${didYouMean(String(uid), known)}`,
          ),
        ],
  )
}

/** True if the attribute has its own column. */
const hasColumn = ({ type }: AttributeSource): boolean => isScalarType(type) || type === 'customField'

/** Finds attributes that would share a column. */
export function checkColumns({ attributes }: SchemaSource): readonly Finding[] {
  const owners = new Map<string, string>()
  return Object.entries(attributes).flatMap(([name, source]) => {
    if (!hasColumn(source)) return []
    const column = columnName(name)
    const other = owners.get(column)
    owners.set(column, name)
    return other === undefined ? [] : [wrong(`attributes.${name}`, `has the same column as "${other}": ${column}`)]
  })
}
