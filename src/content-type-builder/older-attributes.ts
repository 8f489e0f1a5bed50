// The attributes in the bodies of the older routes: one row of checks for each type.
import { patternTime } from '../config/limits.js'
import { isDoneWithin, patternOf } from '../model/patterns.js'
import {
  atLeastOne,
  type BodyCheck,
  type BodyObject,
  type BodyPlace,
  each,
  flag,
  inside,
  integer,
  isObject,
  keys,
  length,
  matching,
  mistake,
  nullable,
  number,
  object,
  oneOf,
  required,
  text,
  that,
  typed,
} from './checks.js'
import { attributeName, isReservedAttribute, reservedAttributes, sameColumns } from './names.js'
import type { BuilderAttributes, Mistake } from './project-schemas.js'

/** Checks of the keys of an attribute; some depend on other keys. */
type Row = (attribute: BodyObject, around: AttributeOwner) => Readonly<Record<string, BodyCheck | readonly BodyCheck[]>>

/** What the attributes of a body are checked against. */
export interface AttributeOwner {
  readonly kind: 'collectionType' | 'singleType' | 'component'
  readonly attributes: BodyObject
  /** The uids that relations may point at, in Strapi's order. */
  readonly targets: readonly string[]
}

const isRegex = (source: unknown): boolean => {
  try {
    new RegExp(source as string)
    return true
  } catch {
    return false
  }
}

/** True if an attribute has a regular expression that does not compile, or an enumeration no values: Strapi refuses without a word. */
export const isUnreadable = (attributes: BodyObject): boolean =>
  Object.values(attributes).some((attribute) => {
    const { type, regex, enum: values } = (attribute ?? {}) as BodyObject
    if (type === 'enumeration') return values === undefined
    return ['string', 'text', 'uid'].includes(type as string) && typeof regex === 'string' && !isRegex(regex)
  })

const isJson = (value: unknown): boolean => {
  if (typeof value !== 'string') return true
  try {
    JSON.parse(value)
    return true
  } catch {
    return false
  }
}

const atMost = (most: number): BodyCheck => that((value: number) => value <= most, `must be less than or equal to ${most}`)
const digits = nullable(
  typed(
    'string',
    that((value: string) => /^\d*$/.test(value), 'must match the following: "/^\\d*$/"'),
  ),
)
const email = typed(
  'string',
  that((value: string) => /^[^\s@]+@[^\s@.]+(?:\.[^\s@.]+)*$/.test(value), 'must be a valid email'),
)
const uniqueText = { default: text, required: flag, unique: flag, minLength: length }
const moment: Row = () => ({ default: text, required: flag, unique: flag })
const fraction: Row = () => ({ default: number, required: flag, unique: flag, min: number, max: number })

const longerThanMinimum =
  ({ minLength }: BodyObject): BodyCheck =>
  (value, at) =>
    typeof minLength === 'number' && typeof value === 'number' && value < minLength
      ? [mistake(at, 'maxLength must be greater or equal to minLength', value)]
      : []

const enumValue: readonly BodyCheck[] = [
  typed(
    'string',
    that((value: string) => !/^\d/.test(value), 'should not start with number'),
  ),
]
const enumValues: BodyCheck = typed(
  'array',
  atLeastOne,
  that((values: readonly unknown[]) => new Set(values).size === values.length, 'cannot contain duplicate values'),
  each((value, at) => [...enumValue, required()].flatMap((check) => check(value, at))),
)

/** Whether a pattern of the request matches a text of the request, in bounded time; a pattern that takes too long matches nothing. */
function isMatch(source: string, value: string): boolean {
  let matches = false
  const pattern = patternOf(source)?.printed
  return pattern !== undefined && isDoneWithin(patternTime, () => (matches = pattern.test(value))) && matches
}

const uidForm = /^[A-Za-z0-9-_.~]*$/
const uid: Row = ({ targetField, regex }, { attributes }) => {
  const isText = ([, attribute]: readonly [string, unknown]) =>
    ['string', 'text'].includes((attribute as BodyObject | null)?.type as string)
  const texts = Object.entries(attributes).filter(isText)
  const isFree = (value: string) => value === '' || (typeof regex === 'string' ? isMatch(regex, value) : uidForm.test(value))
  return {
    targetField: [nullable(text), oneOf(texts.map(([name]) => name))],
    default: targetField
      ? (value, at) => (value === undefined ? [] : [mistake(at, 'cannot define a default UID if the targetField is set', value)])
      : typed('string', that(isFree, 'must match the custom regex or the default one "/^[A-Za-z0-9-_.~]*$/"')),
    minLength: length,
    maxLength: typed('number', length, atMost(256)),
    options: typed(
      'object',
      keys({ separator: text, lowercase: flag, decamelize: flag, customReplacements: typed('array'), preserveLeadingUnderscore: flag }),
    ),
    regex: text,
    required: flag,
  }
}

const relationKinds = {
  collectionType: ['oneToOne', 'oneToMany', 'manyToOne', 'manyToMany', 'morphOne', 'morphMany', 'morphToOne', 'morphToMany'],
  singleType: ['oneToOne', 'oneToMany', 'morphOne', 'morphMany', 'morphToOne', 'morphToMany'],
  component: ['oneToOne', 'oneToMany'],
} as const

const relation: Row = ({ relation, target, targetAttribute }, { kind, targets }) => {
  const isPolymorphic = relation === 'morphToOne' || relation === 'morphToMany'
  // Administrators have no other side; Strapi says so with the kinds that it would accept.
  const isToAdministrator = target === 'admin::user' && typeof targetAttribute === 'string'
  const kinds: readonly string[] = isToAdministrator ? ['oneToOne, oneToMany'] : relationKinds[kind]
  return {
    relation: [text, oneOf(kinds, true), required()],
    target: isPolymorphic || relation === undefined ? text : [text, oneOf(targets), required()],
    targetAttribute: nullable(typed('string', matching(attributeName))),
    required: flag,
  }
}

/** Demands a list, with the sentence of zones. */
const listed: BodyCheck = (value, at) => (value === undefined ? [mistake(at, `${at.label} must be an array`, value)] : [])

const rows: Readonly<Record<string, Row>> = {
  media: () => ({
    multiple: flag,
    required: flag,
    allowedTypes: typed('array', atLeastOne, each(oneOf(['images', 'videos', 'files', 'audios']))),
  }),
  string: (attribute) => ({ ...uniqueText, maxLength: typed('number', length, longerThanMinimum(attribute), atMost(255)), regex: text }),
  text: () => ({ ...uniqueText, maxLength: length, regex: text }),
  richtext: () => ({ default: text, required: flag, minLength: length, maxLength: length }),
  blocks: () => ({ required: flag }),
  json: () => ({ default: that(isJson, 'is not a valid JSON'), required: flag }),
  enumeration: ({ enum: values }) => ({
    enum: enumValues,
    default: Array.isArray(values) ? [text, oneOf(values)] : text,
    enumName: typed('string', matching(attributeName)),
    required: flag,
  }),
  password: () => ({ required: flag, minLength: length, maxLength: length }),
  email: () => ({ default: email, required: flag, unique: flag, minLength: length, maxLength: length }),
  integer: () => ({ default: integer, required: flag, unique: flag, min: integer, max: integer }),
  biginteger: () => ({ default: digits, required: flag, unique: flag, min: digits, max: digits }),
  float: fraction,
  decimal: fraction,
  date: moment,
  time: moment,
  datetime: moment,
  timestamp: () => ({}),
  boolean: () => ({ default: nullable(flag), required: flag }),
  relation,
  uid,
  component: () => ({ component: [text, required()], repeatable: flag, required: flag, min: number, max: number }),
  dynamiczone: () => ({ components: [listed, typed('array', atLeastOne, each(text))], required: flag, min: number, max: number }),
  customField: () => ({}),
}

const common = { configurable: nullable(flag), private: nullable(flag), pluginOptions: object }

/** Checks all attributes of a type or component; names in `kept` are those of the file, and may be reserved ones. */
export function checkAttributes(around: AttributeOwner, kept: BuilderAttributes, at: BodyPlace): readonly Mistake[] {
  const conflicting = new Set(sameColumns(Object.keys(around.attributes)))
  return Object.entries(around.attributes).flatMap(([name, attribute]) => {
    const place = inside(at, name)
    const wrongName = nameMistake(name, Object.hasOwn(kept, name), conflicting)
    return [...(wrongName === null ? [] : [mistake(place, wrongName, attribute)]), ...checkAttribute(attribute, around, place)]
  })
}

function nameMistake(name: string, isKept: boolean, conflicting: ReadonlySet<string>): string | null {
  if (conflicting.has(name)) return `Attribute ${name} conflicts with an existing key`
  if (!isKept && isReservedAttribute(name)) return `Attribute keys cannot be one of ${reservedAttributes.join(', ')}`
  return attributeName.test(name) ? null : `Attribute name '${name}' must match the following regex: ${attributeName}`
}

function checkAttribute(attribute: unknown, around: AttributeOwner, at: BodyPlace): readonly Mistake[] {
  const wrong = typed('object')(attribute, at)
  if (wrong.length > 0 || !isObject(attribute)) return wrong
  const fields = attribute
  if (fields.type === undefined) return [mistake(at, 'Attribute must have either a type or a target', attribute)]
  const types = Object.keys(rows).filter((type) => around.kind !== 'component' || (type !== 'uid' && type !== 'dynamiczone'))
  const type = [text, oneOf(types)].flatMap((check) => check(fields.type, inside(at, 'type')))
  if (type.length > 0) return type
  const row = rows[fields.type as string]!
  return keys({ ...common, ...row(fields, around) })(fields, at)
}
