// Converts values to the type of an attribute, as leniently as the content API does.
import { checkStructure, isTooDeep } from '../../foundation/runtime/json-structure.js'

/** Numbers and booleans become texts; other values are returned unchanged. */
export function toText(value: unknown): unknown {
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : value
}

/** Numeric texts become numbers; other values become NaN. */
export function toNumber(value: unknown): number {
  if (typeof value === 'number') return value
  const digits = typeof value === 'string' ? value.replace(/\s/g, '') : null
  if (digits !== null) return digits === '' ? Number.NaN : Number(digits)
  return Number.parseFloat(printed(value))
}

/** `true`, `1`, `false` and `0`, as texts or numbers; other values are returned unchanged. */
export function toBoolean(value: unknown): unknown {
  const text = printed(value)
  return /^(true|1)$/i.test(text) ? true : /^(false|0)$/i.test(text) ? false : value
}

/** Returns an empty text for objects whose `toString`, which came with the body, is not a function. */
function printed(value: unknown): string {
  try {
    return String(value)
  } catch {
    return ''
  }
}

/** Returns a list, or the list that a text contains as JSON; null for other values. */
export function toList(value: unknown): readonly unknown[] | null {
  if (typeof value !== 'string') return Array.isArray(value) ? value : null
  try {
    checkStructure(Buffer.from(value))
    const parsed: unknown = JSON.parse(value)
    return Array.isArray(parsed) && !isTooDeep(parsed) ? parsed : null
  } catch {
    return null
  }
}
