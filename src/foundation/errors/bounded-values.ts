// Truncates request values, keys and paths in error responses. Together the limits keep the response to a refused request below 16 kB.

/** Characters of one value in a message. */
const longestPrinted = 1_000
/** Bytes, as JSON, of a message or any other text, and of all details together. */
const longestText = 4_000
const longestDetails = 10_000
/** Nesting levels of a value in the details. */
const deepest = 250

/** Formats a value for a message: indented JSON with every scalar quoted, or `[…]` or `{…}` if that is too long. */
export function printed(value: unknown): string {
  if (typeof value !== 'object' || value === null) return printedScalar(value)
  if (printedLength(value, longestPrinted, 1) > longestPrinted) return Array.isArray(value) ? '[…]' : '{…}'
  return JSON.stringify(value, (_, inner: unknown) => (typeof inner === 'object' && inner !== null ? inner : printedScalar(inner)), 2)
}

function printedScalar(value: unknown): string {
  if (typeof value === 'string') return `"${value.length <= longestPrinted ? value : `${wellFormed(value.slice(0, longestPrinted))}…`}"`
  return Object.is(value, -0) ? '-0' : String(value)
}

/** Counts the characters of a printed value and stops beyond `most`. Indentation makes the length grow with the square of the depth. */
function printedLength(value: unknown, most: number, depth: number): number {
  if (typeof value === 'string') return value.length + 6
  if (!isStructure(value)) return 26
  let length = 4 * depth
  for (const key of keysOf(value)) {
    if (length > most) break
    length += (typeof key === 'number' ? 0 : key.length) + 2 * depth + printedLength(value[key], most - length, depth + 1)
  }
  return length
}

/** Truncates a text to `most` bytes as JSON. */
export function boundedText(text: string, most = longestText): string {
  if (text.length <= most && jsonBytes(text) <= most) return text
  let [bytes, end] = [3, 0]
  for (const character of text) {
    bytes += jsonBytes(character)
    if (bytes > most) break
    end += character.length
  }
  return `${text.slice(0, end)}…`
}

/** Truncates the details of an error. A list entry that does not fit is left out, together with all that follow. */
export function boundedDetails(details: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return fits(details, longestDetails) ? details : (beginning(details, longestDetails, 0) as Record<string, unknown>)
}

const jsonBytes = (text: string): number => Buffer.byteLength(JSON.stringify(text)) - 2
const wellFormed = (text: string): string => text.replace(/[\ud800-\udbff]$/, '')
/** Iterates lazily, because a list may have hundreds of thousands of entries. */
const keysOf = (value: object): Iterable<string | number> => (Array.isArray(value) ? value.keys() : Object.keys(value))
const isStructure = (value: unknown): value is Readonly<Record<string, unknown>> => typeof value === 'object' && value !== null

const fits = (value: unknown, most: number): boolean => sizeOf(value, most, 0) <= most

/** Counts the bytes of a value as JSON and stops beyond `most`. */
function sizeOf(value: unknown, most: number, depth: number): number {
  if (typeof value === 'string') return value.length > most ? value.length : jsonBytes(value) + 2
  if (!isStructure(value)) return 24
  if (depth > deepest) return Number.POSITIVE_INFINITY
  let size = 2
  for (const key of keysOf(value)) {
    size += (typeof key === 'number' ? 1 : sizeOf(key, most, depth) + 2) + sizeOf(value[key], most - size, depth + 1)
    if (size > most) break
  }
  return size
}

/** Returns the beginning of a value that fits in `most` bytes of JSON. */
function beginning(value: unknown, most: number, depth: number): unknown {
  if (typeof value === 'string') return boundedText(value, Math.min(most, longestText))
  if (!isStructure(value)) return value
  if (depth > deepest) return Array.isArray(value) ? '[…]' : '{…}'
  const entries: [string, unknown][] = []
  let room = most - 2
  for (const key of keysOf(value)) {
    const used = typeof key === 'number' ? 1 : sizeOf(key, room, depth) + 2
    const whole = fits(value[key], room - used)
    if (used + 8 > room || (!whole && Array.isArray(value) && entries.length > 0)) break
    const shown = whole ? value[key] : beginning(value[key], room - used, depth + 1)
    entries.push([String(key), shown])
    room -= used + sizeOf(shown, room, depth)
  }
  return Array.isArray(value) ? entries.map(([, shown]) => shown) : Object.fromEntries(entries)
}
