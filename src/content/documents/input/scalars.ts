// The checks of scalar attributes: cast, type and constraints, one row per attribute type.
import { takenMessage } from '../../../foundation/errors/unique-conflict.js'
import type { ScalarType } from '../../../foundation/public/attribute-types.js'
import { getPattern, type Pattern } from '../../../model/schema/patterns.js'
import type { Scalar } from '../../../model/schema/types.js'
import { readValue } from '../../../query/rest/values.js'
import { checkBlocks } from './blocks.js'
import { toBoolean, toList, toNumber, toText } from './casts.js'
import { attributeError, choiceError, typeError, wholeError } from './errors.js'
import type { PatternCheck } from './pattern-deadline.js'
import type { AttributeError, Checked, Checking, PossibleError, ValuePath } from './types.js'

/** A constraint on a value of the right type. Returns the message after the value's name, with a dependency, or null. */
type Rule = (value: never, attribute: Scalar, checking: Checking) => string | PendingRule | null

/** A text that a pattern with a deadline is still to be held against. */
interface PendingRule {
  readonly says: string
  readonly depends: PatternCheck
}

interface Row {
  /** The value as its type sees it. Null is only cast where it is not allowed. */
  readonly cast: (value: unknown) => unknown
  /** The type that messages name; null: anything goes, the rules decide. */
  readonly type: 'string' | 'number' | 'boolean' | 'array' | null
  /** Null passes the type even where the attribute is required; the message is then `must be defined`. */
  readonly nullable: boolean
  readonly rules: readonly Rule[]
}

/** The default length of a `string`: its column is a varchar of this length. */
export const maxStringCharacters = 255

const same = (value: unknown): unknown => value

const isType: Readonly<Record<NonNullable<Row['type']>, (value: unknown) => boolean>> = {
  string: (value) => typeof value === 'string',
  number: (value) => typeof value === 'number' && !Number.isNaN(value),
  boolean: (value) => typeof value === 'boolean',
  array: Array.isArray,
}

const number = (option: unknown): option is number => typeof option === 'number' && Number.isFinite(option)
const length = (option: unknown): option is number => typeof option === 'number' && Number.isInteger(option) && option > 0

/** A stored password is a hash: its length says nothing about the password's. */
const isHash = (value: string, attribute: Scalar, { isStored }: Checking) =>
  isStored && attribute.type === 'password' && value.startsWith('$2')

/** A password can only be looked at while it is written: publication finds its hash, so drafts are no exception. */
const isFree = (attribute: Scalar, { isDraft }: Checking) => isDraft && attribute.type !== 'password'

const minLength = (value: string, attribute: Scalar, checking: Checking) => {
  const { minLength: least } = attribute.source
  const short = length(least) && value.length < least && !isFree(attribute, checking) && !isHash(value, attribute, checking)
  return short ? `must be at least ${least} characters` : null
}
const maxLength = (value: string, attribute: Scalar, checking: Checking) => {
  const most = length(attribute.source.maxLength) ? attribute.source.maxLength : attribute.type === 'string' ? maxStringCharacters : null
  const long = most !== null && value.length > most && !isHash(value, attribute, checking)
  return long ? `must be at most ${most} characters` : null
}
/** A text that its column cannot hold. */
const columnLength = (value: unknown, { type }: Scalar) =>
  type === 'string' && String(value).length > maxStringCharacters ? `must be at most ${maxStringCharacters} characters` : null
const min = (value: number, { source }: Scalar, { isDraft }: Checking) =>
  number(source.min) && value < source.min && !isDraft ? `must be greater than or equal to ${source.min}` : null
const max = (value: number, { source }: Scalar) =>
  number(source.max) && value > source.max ? `must be less than or equal to ${source.max}` : null
const integer = (value: number) => (Number.isInteger(value) ? null : 'must be an integer')
const finite = (value: number) => (Number.isFinite(value) ? null : 'must be a finite number')
/** As in Strapi, a number is judged by its text: 1e21 is none. */
const wholeNumber = (value: unknown) =>
  (typeof value === 'number' || typeof value === 'string') && /^[+-]?\d{1,1000}$/.test(String(value).trim())
    ? null
    : 'must be a valid integer'

/** Refuses times that the database would change; other invalid times are refused when they are stored. */
function storableTime(value: unknown, attribute: Scalar, { momentFault }: Checking): string | null {
  if (momentFault === undefined || (typeof value !== 'string' && typeof value !== 'number')) return null
  const moment = toTimestamp(attribute, value)
  return moment === null ? null : momentFault(moment, attribute.type)
}

function toTimestamp(attribute: Scalar, value: string | number): number | null {
  try {
    const moment = readValue(attribute, String(value))
    return typeof moment === 'number' && Number.isInteger(moment) ? moment : null
  } catch {
    return null
  }
}

const uidPattern = getPattern('^[A-Za-z0-9-_.~]*$')!
const anyText = getPattern('^')!
function matches(value: string, pattern: Pattern, { trials }: Checking): string | PendingRule | null {
  const isMatch = pattern.test(value) ?? trials?.results.get(pattern)?.get(value)
  if (isMatch === true) return null
  const says = `must match the following: "${pattern.printed}"`
  return isMatch === false ? says : { says, depends: { pattern, value } }
}
const pattern = (value: string, attribute: Scalar, checking: Checking) => {
  const { source, required } = attribute
  if (typeof source.regex !== 'string' || isFree(attribute, checking) || isHash(value, attribute, checking)) return null
  return value === '' && !required ? null : matches(value, getPattern(source.regex) ?? anyText, checking)
}
const uid = (value: string, { source }: Scalar, checking: Checking) =>
  checking.isDraft ? null : matches(value, (typeof source.regex === 'string' ? getPattern(source.regex) : null) ?? uidPattern, checking)
const email = (value: string, _: Scalar, { isDraft }: Checking) => {
  if (value === '') return isDraft ? null : 'cannot be empty'
  return isDraft || isEmail(value) ? null : 'must be a valid email'
}

const text: Row = { cast: same, type: 'string', nullable: false, rules: [minLength, maxLength, pattern] }
const anything: Row = { cast: same, type: null, nullable: true, rules: [] }

/** A number that JSON could not hold exactly goes on as its text. */
const toExactText = (value: unknown): unknown => (Number.isInteger(value) && !Number.isSafeInteger(value) ? String(value) : value)

const rows: Readonly<Record<ScalarType, Row>> = {
  string: text,
  text,
  richtext: text,
  password: text,
  // The format's own "cannot be empty" takes the place of minLength.
  email: { ...text, rules: [maxLength, pattern, email] },
  uid: { ...text, rules: [minLength, maxLength, pattern, uid] },
  enumeration: { cast: toText, type: 'string', nullable: false, rules: [] },
  integer: { cast: toNumber, type: 'number', nullable: false, rules: [integer, min, max] },
  biginteger: { ...anything, cast: toExactText, rules: [wholeNumber, min, max] },
  float: { cast: toNumber, type: 'number', nullable: false, rules: [finite, min, max] },
  decimal: { cast: toNumber, type: 'number', nullable: false, rules: [finite, min, max] },
  boolean: { cast: toBoolean, type: 'boolean', nullable: true, rules: [] },
  date: anything,
  time: anything,
  datetime: { ...anything, rules: [storableTime] },
  timestamp: { ...anything, rules: [storableTime] },
  json: anything,
  blocks: { cast: toList, type: 'array', nullable: false, rules: [] },
}

/** Constraints of columns apply to hidden attributes, too. */
const columnRules: ReadonlySet<Rule> = new Set<Rule>([integer, finite, wholeNumber, storableTime])
const getRules = ({ isHidden }: Checking, { rules }: Row): readonly Rule[] =>
  isHidden === true ? [...rules.filter((rule) => columnRules.has(rule)), columnLength] : rules

const mustBeThere = (checking: Checking, attribute: Scalar): boolean => attribute.required && !checking.isDraft
const mayBeNull = (checking: Checking, attribute: Scalar): boolean => rows[attribute.type].nullable || !mustBeThere(checking, attribute)

/** The value of a scalar attribute as its type sees it, or its default; `undefined` is an absent one. */
export function castScalar(checking: Checking, attribute: Scalar, sent: unknown): unknown {
  if (sent === undefined) return getDefault(checking, attribute)
  return sent === null && mayBeNull(checking, attribute) ? null : rows[attribute.type].cast(sent)
}

/** Casts and checks the value of a scalar attribute; `undefined` is an absent one. */
export function checkScalar(checking: Checking, attribute: Scalar, sent: unknown, path: ValuePath): Checked {
  const row = rows[attribute.type]
  const isRequired = mustBeThere(checking, attribute)
  const allowsNull = mayBeNull(checking, attribute)
  const value = castScalar(checking, attribute, sent)
  const isUnreadable = attribute.type === 'blocks' && value === null && sent !== null && sent !== undefined
  const isLost = isUnreadable && !checking.contract.unreadableBlocksAreNull
  if (isUnreadable && !isLost) checking.reportDropped?.(checking.uid ?? '', path)
  const wrongType = [
    ...(value === undefined || row.type === null || (value === null && allowsNull && !isLost) || isType[row.type](value)
      ? []
      : [typeError(path, row.type, value, sent)]),
    ...(attribute.type === 'enumeration' && checking.isHidden !== true ? wrongChoice(attribute, value, path) : []),
  ]
  if (wrongType.length > 0) return { value, errors: wrongType }
  if (value === undefined || value === null) return { value, errors: isRequired ? missing(checking, value, path) : [] }
  if (attribute.type === 'blocks')
    return checking.isHidden === true ? { value, errors: [] } : checkBlocks(value as readonly unknown[], path)
  const broken = getRules(checking, row).flatMap((rule): PossibleError[] => {
    const found = rule(value as never, attribute, checking)
    if (found === null) return []
    if (typeof found === 'string') return [attributeError(path, found, value)]
    return [{ ...attributeError(path, found.says, value), depends: found.depends }]
  })
  return { value, errors: [...broken, ...checkUnique(checking, attribute, value, path)] }
}

/** Values that no number column can store: no document has them, and a database may refuse to look them up. */
const isNoSuchNumber = (type: ScalarType, value: unknown): boolean =>
  // A list of one number, or true, would be compared as that number.
  (type === 'biginteger' && wholeNumber(value) !== null) || (type === 'integer' && integer(value as number) !== null)

/** The error of a value that must be unique, if it is taken. */
function checkUnique({ isDraft, places }: Checking, scalar: Scalar, value: unknown, path: ValuePath): PossibleError[] {
  if (!scalar.unique || isDraft || places === null || value === '') return []
  if (isNoSuchNumber(scalar.type, value)) return []
  const shown = scalar.type === 'biginteger' ? String(BigInt(value as string | number)) : value
  return [{ ...wholeError(path, takenMessage, shown), depends: { path, scalar, value, places } }]
}

/** Errors of an absent or removed required value. */
export function missing({ isCreation }: Checking, value: null | undefined, path: ValuePath): AttributeError[] {
  if (isCreation) return [attributeError(path, 'must be defined.', value)]
  return value === null ? [attributeError(path, 'cannot be null.', value)] : []
}

const getDefault = ({ isCreation, isStored }: Checking, { source }: Scalar): unknown =>
  isCreation && !isStored ? source.default : undefined

function wrongChoice({ source }: Scalar, value: unknown, path: ValuePath): AttributeError[] {
  const choices: readonly unknown[] = Array.isArray(source.enum) ? source.enum : []
  return value === undefined || value === null || choices.includes(value) ? [] : [choiceError(path, [...choices, null], value)]
}

const beyondAscii = '\\u00A0-\\uD7FF\\uF900-\\uFDCF\\uFDF0-\\uFFEF'
const local = new RegExp(`^[a-z\\d!#$%&'*+\\-/=?^_\`{|}~.${beyondAscii}]+$`, 'i')
const domain = new RegExp(`^[a-z\\d\\-._~${beyondAscii}]+$`, 'i')
const start = new RegExp(`^[a-z\\d${beyondAscii}]`, 'i')
const end = new RegExp(`[a-z${beyondAscii}]$`, 'i')
const dot = new RegExp(`[a-z\\d${beyondAscii}]\\.[a-z${beyondAscii}]`, 'i')

/** An address: letters of every script, no quoted parts, a dot in the domain. Every pattern runs in linear time. */
function isEmail(text: string): boolean {
  const at = text.lastIndexOf('@')
  if (at < 1) return false
  const [name, host] = [text.slice(0, at), text.slice(at + 1)]
  const dotsFit = !name.startsWith('.') && !name.endsWith('.') && !name.includes('..')
  return dotsFit && local.test(name) && domain.test(host) && start.test(host) && end.test(host) && dot.test(host)
}
