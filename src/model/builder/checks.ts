// Checks of values in the bodies of the older routes, with Strapi's sentences. Every mistake is reported, in Strapi's order.
import type { Mistake } from './project-schemas.js'

/** An object of a body. */
export type BodyObject = Readonly<Record<string, unknown>>

/** Where a value stands: its path, and how sentences call it. */
export interface BodyPlace {
  readonly path: readonly string[]
  readonly label: string
}

/** Checks a value; undefined means that it was not sent. */
export type BodyCheck = (value: unknown, at: BodyPlace) => readonly Mistake[]

/** The place of a key of an object. */
export const inside = (at: BodyPlace, key: string): BodyPlace => ({
  path: [...at.path, key],
  label: at.label === '' ? key : `${at.label}.${key}`,
})

/** A mistake; `sentence` is complete. */
export const mistake = (at: BodyPlace, sentence: string, value: unknown): Mistake =>
  value === undefined ? { path: at.path, message: sentence } : { path: at.path, message: sentence, value }

const printedScalar = (value: unknown): string => (typeof value === 'string' ? `"${value}"` : String(value))
/** A value in a sentence. Inside objects and arrays Strapi prints every value as a text once more. */
const printed = (value: unknown): string =>
  typeof value === 'object' && value !== null
    ? JSON.stringify(value, (_, part) => (typeof part === 'object' && part !== null ? part : printedScalar(part)), 2)
    : printedScalar(value)

export const isObject = (value: unknown): value is BodyObject => typeof value === 'object' && value !== null && !Array.isArray(value)

const kinds = {
  string: (value: unknown) => typeof value === 'string',
  number: (value: unknown) => typeof value === 'number' && Number.isFinite(value),
  boolean: (value: unknown) => typeof value === 'boolean',
  array: Array.isArray,
  object: isObject,
} as const

/** A value of one type; further checks run only if it has it. */
export const typed =
  (kind: keyof typeof kinds, ...further: readonly BodyCheck[]): BodyCheck =>
  (value, at) => {
    if (value === undefined || kinds[kind](value)) return further.flatMap((check) => check(value, at))
    return [mistake(at, `${at.label || 'this'} must be a \`${kind}\` type, but the final value was: \`${printed(value)}\`.`, value)]
  }

/** Leaves null alone. */
export const nullable =
  (check: BodyCheck): BodyCheck =>
  (value, at) =>
    value === null ? [] : check(value, at)

/** A check that says `sentence` about values that do not hold; the label goes before it. */
export const that =
  (holds: (value: never) => boolean, sentence: string): BodyCheck =>
  (value, at) =>
    value === undefined || holds(value as never) ? [] : [mistake(at, `${at.label} ${sentence}`, value)]

/** Demands a value; null and the empty string are none. */
export const required =
  (sentence?: string): BodyCheck =>
  (value, at) =>
    value === undefined || value === null || value === '' ? [mistake(at, sentence ?? `${at.label} is a required field`, value)] : []

/** One of `values`; `isBare` leaves the label out. */
export const oneOf =
  (values: readonly unknown[], isBare = false): BodyCheck =>
  (value, at) => {
    if (value === undefined || values.includes(value)) return []
    return [mistake(at, `${isBare ? '' : `${at.label} `}must be one of the following values: ${values.join(', ')}`, value)]
  }

/** A text of a form, or the empty text. */
export const matching = (form: RegExp): BodyCheck =>
  that((value: string) => value === '' || form.test(value), `must match the following regex: ${form}`)

/** The place of an entry of an array. */
export const entryOf = ({ path, label }: BodyPlace, index: number): BodyPlace => ({
  path: [...path, String(index)],
  label: `${label}[${index}]`,
})

/** Checks every entry of an array. Strapi reports what is wrong with the array itself after that. */
export const each =
  (...checks: readonly BodyCheck[]): BodyCheck =>
  (value, at) =>
    (value as readonly unknown[] | undefined)?.flatMap((entry, index) => checks.flatMap((check) => check(entry, entryOf(at, index)))) ?? []

/** Runs `further` only if all of `first` hold. */
export const inTurn =
  (first: readonly BodyCheck[], ...further: readonly BodyCheck[]): BodyCheck =>
  (value, at) => {
    const wrong = first.flatMap((check) => check(value, at))
    return wrong.length > 0 ? wrong : further.flatMap((check) => check(value, at))
  }

/**
 * The mistakes of an object's keys, in the order of Strapi's library: a mistake counts for the first key whose name occurs anywhere in the
 * path of its own key, and mistakes of one place come from the last key to the first.
 */
export function inOrderOfKeys(found: readonly (readonly [key: string, mistakes: readonly Mistake[]])[], at: BodyPlace): Mistake[] {
  const rank = (key: string) => found.findIndex(([other]) => inside(at, key).label.includes(other))
  return found
    .filter(([, mistakes]) => mistakes.length > 0)
    .toReversed()
    .map(([key, mistakes]) => ({ mistakes, rank: rank(key) }))
    .sort((one, other) => one.rank - other.rank)
    .flatMap(({ mistakes }) => mistakes)
}

/** Checks the keys of an object; keys without a check are left alone. */
export const keys =
  (checks: Readonly<Record<string, BodyCheck | readonly BodyCheck[]>>): BodyCheck =>
  (value, at) => {
    if (!isObject(value)) return []
    const found = Object.entries(checks).map(([key, check]) => {
      const place = inside(at, key)
      return [key, [check].flat().flatMap((one) => one(value[key], place))] as const
    })
    return inOrderOfKeys(found, at)
  }

/** Refuses keys that are not listed. */
export const onlyKeys =
  (known: readonly string[]): BodyCheck =>
  (value, at) => {
    const unknown = Object.keys(isObject(value) ? value : {}).filter((key) => !known.includes(key))
    const subject = at.path.length === 0 ? 'this field' : `${at.label} field`
    return unknown.length === 0 ? [] : [mistake(at, `${subject} has unspecified keys: ${unknown.join(', ')}`, value)]
  }

export const flag = typed('boolean')
export const text = typed('string')
export const number = typed('number')
export const object = typed('object')
const isInteger: BodyCheck = that((value: number) => Number.isInteger(value), 'must be an integer')
export const integer = typed('number', isInteger)
/** minLength and maxLength. */
export const length = typed(
  'number',
  isInteger,
  that((value: number) => value > 0, 'must be a positive number'),
)
export const notEmpty: BodyCheck = that((value: string) => value.length >= 1, 'must be at least 1 characters')
export const atLeastOne: BodyCheck = that((value: readonly unknown[]) => value.length > 0, 'field must have at least 1 items')
