// The wording and the order of attribute errors: values and paths are printed as yup prints them, which clients show to people.
import { inputErrors } from '../../../foundation/config/limits.js'
import { printed } from '../../../foundation/errors/bounded-values.js'
import type { AttributeError, Checked, PossibleError, ValuePath } from './types.js'

/** `sections[0].links`: how messages name a value; the whole is `this`. */
export function printPath(path: ValuePath): string {
  if (path.length === 0) return 'this'
  return path.map((part, index) => (typeof part === 'number' ? `[${part}]` : index === 0 ? part : `.${part}`)).join('')
}

/** An error about the value at `path`; `says` follows its printed name. */
export function attributeError(path: ValuePath, says: string, value?: unknown): AttributeError {
  return whole(path, `${printPath(path)} ${says}`, value)
}

/** An error whose message does not name the value. Numbers that JSON cannot write are shown as null, undefined not at all. */
export function whole(path: ValuePath, message: string, value?: unknown): AttributeError {
  if (value === undefined) return { path, message }
  return { path, message, value: typeof value === 'number' && !Number.isFinite(value) ? null : value }
}

/** `x must be a \`string\` type, but the final value was: \`5\`.`, with what was sent where casting changed it. */
export function typeError(path: ValuePath, type: string, value: unknown, sent: unknown): AttributeError {
  const cast = sent !== null && sent !== undefined && sent !== value ? ` (cast from the value \`${printed(sent)}\`).` : '.'
  return attributeError(path, `must be a \`${type}\` type, but the final value was: \`${printed(value)}\`${cast}`, value)
}

/** `x must be one of the following values: a, b`. */
export function choiceError(path: ValuePath, choices: readonly unknown[], value: unknown): AttributeError {
  return attributeError(path, `must be one of the following values: ${choices.join(', ')}`, value)
}

/**
 * The errors of an object's fields in the order in which Strapi lists them: fields are looked at from the last to the
 * first, then sorted by the first field name that their printed path contains.
 */
export function inFieldOrder(path: ValuePath, groups: ReadonlyMap<string, readonly PossibleError[]>): PossibleError[] {
  const names = [...groups.keys()]
  const wrong = names.filter((name) => groups.get(name)!.length > 0)
  if (wrong.length < 2) return wrong.flatMap((name) => groups.get(name)!)
  const rank = (name: string) => {
    const printed = path.length === 0 ? name : `${printPath(path)}.${name}`
    return names.findIndex((other) => printed.includes(other))
  }
  return wrong
    .reverse()
    .map((name) => ({ name, rank: rank(name) }))
    .sort((a, b) => a.rank - b.rank)
    .flatMap(({ name }) => groups.get(name)!)
}

/** Checks entry after entry, until so much is wrong that nobody would read more. */
export function checkEach(
  entries: readonly unknown[],
  check: (entry: unknown, index: number) => Checked,
): { readonly values: readonly unknown[]; readonly errors: readonly PossibleError[] } {
  const values: unknown[] = []
  const errors: PossibleError[] = []
  let certain = 0
  for (const [index, entry] of entries.entries()) {
    const checked = check(entry, index)
    values.push(checked.value)
    for (const error of checked.errors) {
      errors.push(error)
      if (error.depends === undefined) certain++
    }
    if (certain >= inputErrors) break
  }
  return { values, errors }
}
