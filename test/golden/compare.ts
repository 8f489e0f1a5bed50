// Compares a recorded body with an answered one. The order of keys is free; where Strapi loses precision, the exact value
// is as good.

/** The path and values of the first difference; null where there is none. */
export function firstDifference(recorded: unknown, answered: unknown, path: readonly (string | number)[] = []): string | null {
  if (isObject(recorded) && isObject(answered) && Array.isArray(recorded) === Array.isArray(answered)) {
    for (const key of new Set([...Object.keys(recorded), ...Object.keys(answered)])) {
      if (!(key in recorded) || !(key in answered)) return `${[...path, key].join('.')} is ${key in recorded ? 'missing' : 'too much'}`
      const below = firstDifference(recorded[key], answered[key], [...path, key])
      if (below !== null) return below
    }
    return null
  }
  if (recorded === answered || isAsGood(recorded, answered, path)) return null
  return `${path.join('.')} is ${JSON.stringify(answered)?.slice(0, 80)} in place of ${JSON.stringify(recorded)?.slice(0, 80)}`
}

/** The same value with every list sorted, for answers whose order means nothing. */
export function ordered(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(ordered).sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1))
  return isObject(value)
    ? Object.fromEntries(
        Object.keys(value)
          .sort()
          .map((key) => [key, ordered(value[key])]),
      )
    : value
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null

/** Attributes of type json in the golden model: Strapi turns true and false inside them into 1 and 0. */
const jsonAttributes = new Set(['metadata', 'specs', 'social', 'json', 'data', 'points', 'dJson'])

function isAsGood(recorded: unknown, answered: unknown, path: readonly (string | number)[]): boolean {
  if (typeof recorded === 'string' && typeof answered === 'string') {
    return /^-?\d{16,}$/.test(answered) && Number(recorded) === Number(answered)
  }
  return typeof answered === 'boolean' && recorded === Number(answered) && path.some((key) => jsonAttributes.has(String(key)))
}
