// Checks depth and size of a JSON text without parsing it, because parsing costs many times its bytes.
import { validationError } from '../errors/errors.js'

const maxDepth = 500
/** Values of a body, keys not counted. */
const maxBodyValues = 100_000
/** Keys of one object of a body. */
const maxBodyKeys = 10_000

const [quote, backslash, comma, colon] = [0x22, 0x5c, 0x2c, 0x3a]
const [brace, bracket, braceEnd, bracketEnd] = [0x7b, 0x5b, 0x7d, 0x5d]

/**
 * Checks a JSON text in one pass. Invalid JSON may pass, because the parser reports it.
 * @throws ApiError 400 beyond the limits
 */
export function checkStructure(bytes: Buffer, maxValues = maxBodyValues, maxKeys = maxBodyKeys): void {
  /** The number of keys so far in each open object. */
  const keys: number[] = []
  let values = 1
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at]!
    if (byte === quote) {
      at = endOfString(bytes, at)
    } else if (byte === comma) {
      values++
    } else if (byte === colon) {
      if (keys.length > 0 && ++keys[keys.length - 1]! > maxKeys)
        throw validationError(`An object of the body has more than ${maxKeys} keys`)
    } else if (byte === brace || byte === bracket) {
      keys.push(0)
      values++
      if (keys.length > maxDepth) throw validationError('The data is nested too deeply')
    } else if (byte === braceEnd || byte === bracketEnd) {
      keys.pop()
    }
  }
  if (values > maxValues) throw validationError(`The body has more than ${maxValues} values`)
}

/** Returns the index of the quote that closes the string at `from`; the length of the text if it is missing. */
export function endOfString(bytes: Buffer, from: number): number {
  let end = from
  do {
    end = bytes.indexOf(quote, end + 1)
    if (end === -1) return bytes.length
  } while (isEscaped(bytes, end))
  return end
}

function isEscaped(bytes: Buffer, at: number): boolean {
  let before = at - 1
  while (bytes[before] === backslash) before--
  return (at - before) % 2 === 0
}

const maxWalkDepth = 500

/** True for values that are nested so deeply that walking them would exhaust the stack. */
export const isTooDeep = (value: unknown): boolean => isDeeper(value, maxWalkDepth)

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (levels === 0) return true
  if (Array.isArray(value)) return value.some((inner) => isDeeper(inner, levels - 1))
  // `Object.values` of thousands of keys costs more than reading each.
  for (const key in value) {
    const inner = (value as Readonly<Record<string, unknown>>)[key]
    if (typeof inner === 'object' && isDeeper(inner, levels - 1)) return true
  }
  return false
}
