// Checks of values in the bodies of the older routes, with Strapi's sentences. Every mistake is reported, in the order of the checks.
import type { Mistake } from './project-schemas.js'

/** Where a value stands: its path, and how sentences call it. */
export interface Place {
  readonly path: readonly string[]
  readonly label: string
}

/** Checks a value; undefined means that it was not sent. */
export type Check = (value: unknown, at: Place) => readonly Mistake[]

/** The place of a key of an object. */
export const inside = (at: Place, key: string): Place => ({
  path: [...at.path, key],
  label: at.label === '' ? key : `${at.label}.${key}`,
})

/** A mistake; `sentence` is complete. */
export const mistake = (at: Place, sentence: string, value: unknown): Mistake =>
  value === undefined ? { path: at.path, message: sentence } : { path: at.path, message: sentence, value }

const printed = (value: unknown): string =>
  typeof value === 'object' && value !== null ? JSON.stringify(value, null, 2) : JSON.stringify(value)

export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const kinds = {
  string: (value: unknown) => typeof value === 'string',
  number: (value: unknown) => typeof value === 'number' && Number.isFinite(value),
  boolean: (value: unknown) => typeof value === 'boolean',
  array: Array.isArray,
  object: isObject,
} as const

/** A value of one type; further checks run only if it has it. */
export const typed =
  (kind: keyof typeof kinds, ...further: readonly Check[]): Check =>
  (value, at) => {
    if (value === undefined || kinds[kind](value)) return further.flatMap((check) => check(value, at))
    return [mistake(at, `${at.label} must be a \`${kind}\` type, but the final value was: \`${printed(value)}\`.`, value)]
  }

/** Leaves null alone. */
export const nullable =
  (check: Check): Check =>
  (value, at) =>
    value === null ? [] : check(value, at)

/** A check that says `sentence` about values that do not hold; the label goes before it. */
export const that =
  (holds: (value: never) => boolean, sentence: string): Check =>
  (value, at) =>
    value === undefined || holds(value as never) ? [] : [mistake(at, `${at.label} ${sentence}`, value)]

/** Demands a value; the empty string is none. */
export const required =
  (sentence?: string): Check =>
  (value, at) =>
    value === undefined || value === '' ? [mistake(at, sentence ?? `${at.label} is a required field`, value)] : []

/** One of `values`; `isBare` leaves the label out. */
export const oneOf =
  (values: readonly unknown[], isBare = false): Check =>
  (value, at) => {
    if (value === undefined || values.includes(value)) return []
    return [mistake(at, `${isBare ? '' : `${at.label} `}must be one of the following values: ${values.join(', ')}`, value)]
  }

/** A text of a form, or the empty text. */
export const matching = (form: RegExp): Check =>
  that((value: string) => value === '' || form.test(value), `must match the following regex: ${form}`)

/** Checks every entry of an array. */
export const each =
  (check: Check): Check =>
  (value, { path, label }) =>
    (value as readonly unknown[] | undefined)?.flatMap((entry, index) =>
      check(entry, { path: [...path, String(index)], label: `${label}[${index}]` }),
    ) ?? []

/** Checks the keys of an object; keys without a check are left alone. */
export const keys =
  (checks: Readonly<Record<string, Check | readonly Check[]>>): Check =>
  (value, at) =>
    Object.entries(isObject(value) ? checks : {}).flatMap(([key, check]) => {
      const place = inside(at, key)
      const found = (value as Readonly<Record<string, unknown>>)[key]
      return [check].flat().flatMap((one) => one(found, place))
    })

/** Refuses keys that are not listed. */
export const onlyKeys =
  (known: readonly string[]): Check =>
  (value, at) => {
    const unknown = Object.keys(value as object).filter((key) => !known.includes(key))
    const subject = at.path.length === 0 ? 'this field' : `${at.label} field`
    return unknown.length === 0 ? [] : [mistake(at, `${subject} has unspecified keys: ${unknown.join(', ')}`, value)]
  }

export const flag = typed('boolean')
export const text = typed('string')
export const number = typed('number')
export const object = typed('object')
const isInteger: Check = that((value: number) => Number.isInteger(value), 'must be an integer')
export const integer = typed('number', isInteger)
/** minLength and maxLength. */
export const length = typed(
  'number',
  isInteger,
  that((value: number) => value > 0, 'must be a positive number'),
)
export const notEmpty: Check = that((value: string) => value.length >= 1, 'must be at least 1 characters')
export const atLeastOne: Check = that((value: readonly unknown[]) => value.length > 0, 'field must have at least 1 items')
