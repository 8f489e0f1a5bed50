// The wording and the order of attribute errors: values and paths are printed as yup prints them, which clients show to people.
import type { AttributeError, Path } from './input-types.js'

/** A value whose printed form would be longer is only hinted at: indentation makes deep values grow with the square of their size. */
const longestPrinted = 200_000

/** `sections[0].links`: how messages name a value; the whole is `this`. */
export function printPath(path: Path): string {
  if (path.length === 0) return 'this'
  return path.map((part, index) => (typeof part === 'number' ? `[${part}]` : index === 0 ? part : `.${part}`)).join('')
}

/** An error about the value at `path`; `says` follows its printed name. */
export function attributeError(path: Path, says: string, value?: unknown): AttributeError {
  return whole(path, `${printPath(path)} ${says}`, value)
}

/** An error whose message does not name the value. Numbers that JSON cannot write are shown as null, undefined not at all. */
export function whole(path: Path, message: string, value?: unknown): AttributeError {
  if (value === undefined) return { path, message }
  return { path, message, value: typeof value === 'number' && !Number.isFinite(value) ? null : value }
}

/** `x must be a \`string\` type, but the final value was: \`5\`.`, with what was sent where casting changed it. */
export function typeError(path: Path, type: string, value: unknown, sent: unknown): AttributeError {
  const cast = sent !== null && sent !== undefined && sent !== value ? ` (cast from the value \`${printValue(sent)}\`).` : '.'
  return attributeError(path, `must be a \`${type}\` type, but the final value was: \`${printValue(value)}\`${cast}`, value)
}

/** `x must be one of the following values: a, b`. */
export function choiceError(path: Path, choices: readonly unknown[], value: unknown): AttributeError {
  return attributeError(path, `must be one of the following values: ${choices.join(', ')}`, value)
}

/** A value as messages show it: indented JSON in which every scalar is a quoted string of its own. */
export function printValue(value: unknown): string {
  if (typeof value !== 'object' || value === null) return printScalar(value)
  if (printedLength(value, 1) > longestPrinted) return Array.isArray(value) ? '[…]' : '{…}'
  return JSON.stringify(value, (_, inner: unknown) => (typeof inner === 'object' && inner !== null ? inner : printScalar(inner)), 2)
}

function printScalar(value: unknown): string {
  if (typeof value === 'string') return `"${value}"`
  return Object.is(value, -0) ? '-0' : String(value)
}

function printedLength(value: unknown, depth: number): number {
  if (typeof value === 'string') return value.length + 6
  if (typeof value !== 'object' || value === null) return 26
  let length = 4 * depth
  for (const [key, inner] of Object.entries(value)) {
    length += key.length + 2 * depth + printedLength(inner, depth + 1)
    if (length > longestPrinted) return length
  }
  return length
}

/**
 * The errors of an object's fields in the order in which Strapi lists them: fields are looked at from the last to the
 * first, then sorted by the first field name that their printed path contains.
 */
export function inFieldOrder(path: Path, groups: ReadonlyMap<string, readonly AttributeError[]>): AttributeError[] {
  const names = [...groups.keys()]
  const rank = (name: string) => {
    const printed = path.length === 0 ? name : `${printPath(path)}.${name}`
    return names.findIndex((other) => printed.includes(other))
  }
  return names
    .filter((name) => groups.get(name)!.length > 0)
    .reverse()
    .map((name) => ({ name, rank: rank(name) }))
    .sort((a, b) => a.rank - b.rank)
    .flatMap(({ name }) => groups.get(name)!)
}
