// Values and paths as they are printed: short, on one line, and without secrets.
import { isSecretKey, withoutSecrets } from './callers.js'

/** The most characters of a value, and of a path. */
const [longestValue, longestPath] = [160, 300]

/** A value on one line; values of secret keys are left out. */
export function shownValue(value: unknown, name?: string | number): string {
  if (value === undefined) return 'missing'
  if (typeof name === 'string' && isSecretKey(name) && value !== null) return '…'
  return short(
    JSON.stringify(value, (key, below: unknown) => (isSecretKey(key) && typeof below === 'string' ? '…' : below)),
    longestValue,
  )
}

/** A path with its escapes decoded where that is readable; values of secret parameters are left out. */
export function shownPath(path: string): string {
  const safe = withoutSecrets(path).replace(/%(?:5B|5D|24|2C|3A|2A)/gi, decodeURIComponent)
  return short(safe, longestPath)
}

function short(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most - 1)}…`
}
