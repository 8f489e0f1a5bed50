// Casts values to the type of an attribute, as leniently as the content API does.

import { checkStructure } from '../../../foundation/runtime/json-structure.js'
import { isTooDeep } from './keys.js'

/** Numbers and booleans become texts; other values are returned unchanged. */
export function toText(value: unknown): unknown {
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : value
}

/** Numeric texts become numbers; other values become NaN. */
export function toNumber(value: unknown): number {
  if (typeof value === 'number') return value
  const digits = typeof value === 'string' ? value.replace(/\s/g, '') : null
  if (digits !== null) return digits === '' ? Number.NaN : Number(digits)
  return Number.parseFloat(written(value))
}

/** `true`, `1`, `false` and `0`, as texts or numbers; other values are returned unchanged. */
export function toBoolean(value: unknown): unknown {
  const text = written(value)
  return /^(true|1)$/i.test(text) ? true : /^(false|0)$/i.test(text) ? false : value
}

/** The text of any value; empty for objects whose own `toString`, which came with the body, is no function. */
function written(value: unknown): string {
  try {
    return String(value)
  } catch {
    return ''
  }
}

/** A list, or the list that a text holds as JSON; null where there is none. */
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
