// Parses the JSON of a body. Its structure is checked first, so that a small text cannot cause disproportionate work.

import { ApiError } from '../foundation/errors/errors.js'
import { nextTurn } from '../foundation/runtime/event-loop.js'
import { checkStructure, type JsonLimits } from '../foundation/runtime/json-structure.js'

export type { JsonLimits }

/** Matches `__proto__`, also with escaped letters. Most bodies do not match and need no further check. */
const maySpellPrototype = /__proto__|\\u00[567]/

/** Bytes of a text after whose parsing other requests get a turn of the event loop. */
const longText = 65_536

/**
 * Parses a JSON object or array and refuses a `__proto__` key.
 * @throws ApiError 400 for invalid JSON (writing.20), and beyond the limits
 */
export async function parseJson(bytes: Buffer, limits: JsonLimits): Promise<unknown> {
  checkStructure(bytes, limits)
  const text = bytes.toString('utf8')
  let value: unknown
  try {
    value = JSON.parse(text.charCodeAt(0) === 0xfeff ? text.slice(1) : text)
  } catch (error) {
    throw syntaxError((error as Error).message)
  }
  if (bytes.length > longText) await nextTurn()
  if (typeof value !== 'object' || value === null) throw syntaxError('invalid JSON, only supports object and array')
  if (maySpellPrototype.test(text) && hasPrototypeKey(value)) throw syntaxError('Object contains forbidden prototype property')
  return value
}

const syntaxError = (message: string): ApiError => new ApiError('SyntaxError', message, null)

function hasPrototypeKey(value: unknown): boolean {
  const waiting: unknown[] = [value]
  while (waiting.length > 0) {
    const next = waiting.pop()
    if (typeof next !== 'object' || next === null) continue
    if (Object.hasOwn(next, '__proto__')) return true
    for (const inner of Object.values(next)) if (typeof inner === 'object') waiting.push(inner)
  }
  return false
}
