// JSON of a body: measured before it is parsed, so that no text within `bodyBytes` costs more than its bytes do.

import { ApiError } from '../errors/errors.js'
import { nextTurn } from '../runtime/event-loop.js'
import { checkStructure, type JsonLimits } from '../runtime/json-structure.js'

export type { JsonLimits }

/** The key itself, or an escape that one of its letters may hide behind: most bodies have neither, and need no walk. */
const maySpellPrototype = /__proto__|\\u00[567]/

/** Bytes of a text whose parsing is work enough for one turn of the event loop. */
const long = 65_536

/**
 * Parses objects and arrays only. A `__proto__` key is refused: no later step may meet one.
 * @throws ApiError 400 for broken JSON (writing.20), and beyond the limits
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
  if (bytes.length > long) await nextTurn()
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
