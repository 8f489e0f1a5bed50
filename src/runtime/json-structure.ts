// How deep and how wide a JSON text is, found without parsing it: what a parser makes of it costs many times its bytes.
import { validationError } from '../errors/errors.js'

export interface JsonLimits {
  /** Levels. */
  readonly bodyDepth: number
  /** Values, keys not counted. */
  readonly bodyValues: number
  /** Keys of one object. */
  readonly bodyKeys: number
}

const [quote, backslash, comma, colon] = [0x22, 0x5c, 0x2c, 0x3a]
const [brace, bracket, braceEnd, bracketEnd] = [0x7b, 0x5b, 0x7d, 0x5d]

/**
 * Looks at each byte once. What is no JSON passes, or is refused for its size: the parser tells the rest.
 * @throws ApiError 400 beyond the limits
 */
export function checkStructure(bytes: Buffer, { bodyDepth, bodyValues, bodyKeys }: JsonLimits): void {
  /** The keys so far of each object that is open. */
  const keys: number[] = []
  let values = 1
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at]!
    if (byte === quote) {
      at = endOfText(bytes, at)
    } else if (byte === comma) {
      values++
    } else if (byte === colon) {
      if (keys.length > 0 && ++keys[keys.length - 1]! > bodyKeys)
        throw validationError(`An object of the body has more than ${bodyKeys} keys`)
    } else if (byte === brace || byte === bracket) {
      keys.push(0)
      values++
      if (keys.length > bodyDepth) throw validationError('The data is nested too deeply')
    } else if (byte === braceEnd || byte === bracketEnd) {
      keys.pop()
    }
  }
  if (values > bodyValues) throw validationError(`The body has more than ${bodyValues} values`)
}

/** The place of the quote that ends the text which begins at `from`; the end of everything where it is missing. */
export function endOfText(bytes: Buffer, from: number): number {
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
