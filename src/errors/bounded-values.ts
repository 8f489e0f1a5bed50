// What a refusal shows of a request: values, keys and paths come back only as far as these bounds reach, however deep, wide or long
// they are. Together they keep the answer to a refused request below 16 kB.

/** Characters of one value in a message. */
const longestPrinted = 1_000
/** Bytes, as JSON, of a message and of any other text, and of all details together. */
const longestText = 4_000
const longestDetails = 10_000
/** Levels of a value in the details. */
const deepest = 250

/** A value as messages show it: indented JSON in which every scalar is a quoted text of its own; `[…]` or `{…}` where that is too long. */
export function printed(value: unknown): string {
  if (typeof value !== 'object' || value === null) return printedScalar(value)
  if (printedLength(value, longestPrinted, 1) > longestPrinted) return Array.isArray(value) ? '[…]' : '{…}'
  return JSON.stringify(value, (_, inner: unknown) => (typeof inner === 'object' && inner !== null ? inner : printedScalar(inner)), 2)
}

function printedScalar(value: unknown): string {
  if (typeof value === 'string') return `"${value.length <= longestPrinted ? value : `${wellFormed(value.slice(0, longestPrinted))}…`}"`
  return Object.is(value, -0) ? '-0' : String(value)
}

/** Characters of a printed value; beyond `most` only that they are more. Indentation makes deep values grow with the square of their depth. */
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

/** A message within its bound, as JSON counts. */
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

/** Details of a refusal within their bound: what of them comes first. An entry of a list that does not fit whole is left out, with those that follow. */
export function boundedDetails(details: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return fits(details, longestDetails) ? details : (beginning(details, longestDetails, 0) as Record<string, unknown>)
}

const jsonBytes = (text: string): number => Buffer.byteLength(JSON.stringify(text)) - 2
const wellFormed = (text: string): string => text.replace(/[\ud800-\udbff]$/, '')
/** One after the other: a list may have hundreds of thousands. */
const keysOf = (value: object): Iterable<string | number> => (Array.isArray(value) ? value.keys() : Object.keys(value))
const isStructure = (value: unknown): value is Readonly<Record<string, unknown>> => typeof value === 'object' && value !== null

const fits = (value: unknown, most: number): boolean => sizeOf(value, most, 0) <= most

/** Bytes of a value as JSON; beyond `most` only that it is more. */
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

/** As much of a value as has room in `most` bytes of JSON. */
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
