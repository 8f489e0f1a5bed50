// Compares a recorded body with that of a response. The order of keys is free; if Strapi loses precision, the exact value
// is accepted too; generated values (ids, times) must have the same roles, not the same values.

/** Generated values of one conversation: a value that corresponds to another does so throughout. */
export interface MadeUp {
  stands(key: string, recorded: unknown, answered: unknown): boolean
}

type Path = readonly (string | number)[]

/** The path and values of the first difference; null where there is none. `madeUp` is for conversations that write. */
export function firstDifference(recorded: unknown, answered: unknown, madeUp: MadeUp | null = null, path: Path = []): string | null {
  if (isObject(recorded) && isObject(answered) && Array.isArray(recorded) === Array.isArray(answered)) {
    for (const key of new Set([...Object.keys(recorded), ...Object.keys(answered)])) {
      if (!(key in recorded) || !(key in answered)) return `${[...path, key].join('.')} is ${key in recorded ? 'missing' : 'too much'}`
      if (madeUp !== null && isEncoded(key, recorded, answered)) continue
      const below = firstDifference(recorded[key], answered[key], madeUp, [...path, key])
      if (below !== null) return below
    }
    return null
  }
  const key = String(path.at(-1))
  if (madeUp?.stands(key, recorded, answered) || recorded === answered || isAsGood(recorded, answered, path)) return null
  return `${path.join('.')} is ${JSON.stringify(answered)?.slice(0, 80)} in place of ${JSON.stringify(recorded)?.slice(0, 80)}`
}

/** The same value with every list sorted, for responses without a defined order. */
export function ordered(value: unknown, writes = false): unknown {
  const plain = (one: unknown) =>
    JSON.stringify(one, (key, below) => (writes && (madeUpKeys.has(key) || clockKeys.has(key)) ? undefined : below)) ?? ''
  if (Array.isArray(value)) return value.map((one) => ordered(one, writes)).sort((a, b) => (plain(a) < plain(b) ? -1 : 1))
  return isObject(value)
    ? Object.fromEntries(
        Object.keys(value)
          .sort()
          .map((key) => [key, ordered(value[key], writes)]),
      )
    : value
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null

const clockKeys = new Set(['createdAt', 'updatedAt', 'publishedAt', 'lastUsedAt', 'expiresAt'])
const madeUpKeys = new Set(['id', 'documentId', 'hash', 'url', 'path', 'jwt', 'refreshToken', 'accessKey', 'related'])
const isoTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

/** `fixed`: documentIds in requests, which must be equal. */
export function madeUpValues(fixed: ReadonlySet<unknown>): MadeUp {
  const there = new Map<unknown, unknown>()
  const back = new Map<unknown, unknown>()
  const bind = (recorded: unknown, answered: unknown): boolean => {
    if (there.has(recorded)) return there.get(recorded) === answered
    if (back.has(answered)) return false
    there.set(recorded, answered)
    back.set(answered, recorded)
    return true
  }
  const translated = (text: string): string =>
    [...there].reduce((now, [from, to]) => (typeof from === 'string' && from.length > 8 ? now.replaceAll(from, String(to)) : now), text)
  return {
    stands(key, recorded, answered) {
      if (recorded === null || answered === null || typeof recorded !== typeof answered) return false
      if (clockKeys.has(key)) return isoTime.test(String(recorded)) && isoTime.test(String(answered))
      // Row ids count per table, and a JWT contains its time of creation.
      if (key === 'id' || key === 'jwt') return true
      if (madeUpKeys.has(key)) return fixed.has(recorded) ? recorded === answered : bind(recorded, answered)
      return typeof recorded === 'string' && translated(recorded) === answered
    },
  }
}

/** The size of a picture that was encoded again depends on the encoder. */
function isEncoded(key: string, recorded: Record<string, unknown>, answered: Record<string, unknown>): boolean {
  return (key === 'size' || key === 'sizeInBytes') && Boolean(recorded.width) && typeof recorded[key] === typeof answered[key]
}

/** Attributes of type json in the golden model: Strapi turns true and false inside them into 1 and 0. */
const jsonAttributes = new Set(['metadata', 'specs', 'social', 'json', 'data', 'points', 'dJson'])

/** Strapi lists allowed values in the order in which its files were loaded. */
const listed = (text: string): string =>
  text.replace(/(must be one of the following values: )(.*)$/, (_, head: string, list: string) => head + list.split(', ').sort().join(', '))

function isAsGood(recorded: unknown, answered: unknown, path: Path): boolean {
  if (typeof recorded === 'string' && typeof answered === 'string') {
    if (recorded.includes('must be one of the following values: ')) return listed(recorded) === listed(answered)
    return /^-?\d{16,}$/.test(answered) && Number(recorded) === Number(answered)
  }
  return typeof answered === 'boolean' && recorded === Number(answered) && path.slice(1).some((key) => jsonAttributes.has(String(key)))
}
