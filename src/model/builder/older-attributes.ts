// The attributes in the bodies of the older routes: one row of checks for each type.
import { patternTime } from '../../foundation/config/limits.js'
import { isDoneWithin, patternOf } from '../schema/patterns.js'
import {
  atLeastOne,
  type BodyCheck,
  type BodyObject,
  type BodyPlace,
  each,
  flag,
  inOrderOfKeys,
  inside,
  inTurn,
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
type Row = (attribute: BodyObject, around: CheckedOwner) => Readonly<Record<string, BodyCheck | readonly BodyCheck[]>>

/** What the attributes of a body are checked against. */
export interface AttributeOwner {
  /** Null if the body says a kind that there is not. */
  readonly kind: 'collectionType' | 'singleType' | 'component' | null
  readonly attributes: BodyObject
  /** The uids that relations may point at, in Strapi's order. */
  readonly targets: readonly string[]
}

/** The same, with the names of the attributes that a uid may be generated from. */
interface CheckedOwner extends AttributeOwner {
  readonly texts: readonly string[]
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
const emailForm = /^[^\s@]+@(?:[\p{L}\d](?:[\p{L}\d_~-]*[\p{L}\d])?\.)+\p{L}(?:[\p{L}\d_~-]*\p{L})?$/u
const email = typed(
  'string',
  that((value: string) => value === '' || emailForm.test(value), 'must be a valid email'),
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

const enumValue: BodyCheck = typed(
  'string',
  that((value: string) => !/^\d/.test(value), 'should not start with number'),
  required(),
)
const enumValues: BodyCheck = typed(
  'array',
  each(enumValue),
  atLeastOne,
  that((values: readonly unknown[]) => new Set(values).size === values.length, 'cannot contain duplicate values'),
)

/** Milliseconds that are left in this turn of the event loop, and so to the request whose body is checked in it. */
let left = patternTime

/** Whether a pattern of the request matches a text of the request, in bounded time; a pattern that takes too long matches nothing. */
function isMatch(source: string, value: string): boolean {
  let matches = false
  const pattern = patternOf(source)?.printed
  if (pattern === undefined || left < 1) return false
  const since = performance.now()
  if (left === patternTime) setImmediate(() => (left = patternTime))
  const isDone = isDoneWithin(left, () => (matches = pattern.test(value)))
  left -= performance.now() - since
  return isDone && matches
}

const uidForm = /^[A-Za-z0-9-_.~]*$/
/** The default of a uid. With a regular expression, a default that is missing does not match. */
const uidDefault = ({ targetField, regex }: BodyObject): BodyCheck => {
  const isFree = (value: unknown): boolean => {
    if (typeof value !== 'string') return typeof regex !== 'string'
    return value === '' || (typeof regex === 'string' ? isMatch(regex, value) : uidForm.test(value))
  }
  return typed(
    'string',
    (value, at) =>
      targetField && value !== undefined ? [mistake(at, 'cannot define a default UID if the targetField is set', value)] : [],
    (value, at) => (isFree(value) ? [] : [mistake(at, `${at.label} must match the custom regex or the default one "${uidForm}"`, value)]),
  )
}

const uid: Row = (attribute, { texts }) => {
  const pair = that((texts: readonly unknown[]) => texts.length >= 2, 'field must have at least 2 items')
  return {
    targetField: [nullable(text), oneOf(texts)],
    default: uidDefault(attribute),
    minLength: length,
    maxLength: typed('number', length, longerThanMinimum(attribute), atMost(256)),
    options: typed(
      'object',
      keys({
        separator: text,
        lowercase: flag,
        decamelize: flag,
        customReplacements: typed('array', each(typed('array', pair))),
        preserveLeadingUnderscore: flag,
      }),
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
  const isToAdministrator = target === 'admin::user' && targetAttribute !== undefined
  const kinds: readonly string[] = isToAdministrator ? ['oneToOne, oneToMany'] : kind === null ? [] : relationKinds[kind]
  return {
    relation: typed('string', oneOf(kinds, true), required()),
    target: isPolymorphic || relation === undefined ? nullable(text) : inTurn([text, oneOf(targets)], required()),
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
    allowedTypes: typed('array', each(text, oneOf(['images', 'videos', 'files', 'audios'])), atLeastOne),
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
  component: () => ({ component: typed('string', required()), repeatable: flag, required: flag, min: number, max: number }),
  dynamiczone: () => ({
    components: [listed, typed('array', each(typed('string', required())), atLeastOne)],
    required: flag,
    min: number,
    max: number,
  }),
  customField: () => ({}),
}

const common = { configurable: nullable(flag), private: nullable(flag), pluginOptions: object }

/** Checks all attributes of a type or component; names in `kept` are those of the file, and may be reserved ones. */
export function checkAttributes(around: AttributeOwner, kept: BuilderAttributes, at: BodyPlace): readonly Mistake[] {
  const conflicting = new Set(sameColumns(Object.keys(around.attributes)))
  const isText = ([, attribute]: readonly [string, unknown]) =>
    ['string', 'text'].includes((attribute as BodyObject | null)?.type as string)
  const texts = Object.entries(around.attributes)
    .filter(isText)
    .map(([name]) => name)
  const found = Object.entries(around.attributes).map(([name, attribute]) => {
    const place = inside(at, name)
    const wrongName = nameMistake(name, Object.hasOwn(kept, name), conflicting)
    const mistakes = checkAttribute(attribute, { ...around, texts }, place)
    return [name, [...mistakes, ...(wrongName === null ? [] : [mistake(place, wrongName, attribute)])]] as const
  })
  return inOrderOfKeys(found, at)
}

function nameMistake(name: string, isKept: boolean, conflicting: ReadonlySet<string>): string | null {
  if (conflicting.has(name)) return `Attribute ${name} conflicts with an existing key`
  if (!isKept && isReservedAttribute(name)) return `Attribute keys cannot be one of ${reservedAttributes.join(', ')}`
  return attributeName.test(name) ? null : `Attribute name '${name}' must match the following regex: ${attributeName}`
}

function checkAttribute(attribute: unknown, around: CheckedOwner, at: BodyPlace): readonly Mistake[] {
  const wrong = typed('object')(attribute, at)
  if (wrong.length > 0 || !isObject(attribute)) return wrong
  const fields = attribute
  if (fields.type === undefined) return [mistake(at, 'Attribute must have either a type or a target', attribute)]
  const types = Object.keys(rows).filter((type) => around.kind !== 'component' || (type !== 'uid' && type !== 'dynamiczone'))
  const { type } = fields
  const row = typeof type === 'string' && Object.hasOwn(rows, type) ? { ...common, ...rows[type]!(fields, around) } : {}
  return keys({ type: [text, oneOf(types)], ...row })(fields, at)
}
