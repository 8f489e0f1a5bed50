// Reads the body of a request, after its caller has been found to be allowed: bounded, lenient about what clients send.
import type { IncomingMessage } from 'node:http'
import qs from 'qs'
import { ApiError } from '../errors.js'

export interface BodyLimits {
  readonly bodyBytes: number
  /** Milliseconds for the whole body. */
  readonly requestTimeout: number
}

/**
 * The parsed body: JSON or a form; `undefined` where there is none or it is of another kind.
 * @throws ApiError 413 beyond `bodyBytes`, 400 for broken JSON (behaviour: "Writes").
 */
export async function readBody(request: IncomingMessage, limits: BodyLimits): Promise<unknown> {
  const type = (request.headers['content-type'] ?? '').split(';')[0]!.trim().toLowerCase()
  const isJson = type === 'application/json' || type.endsWith('+json')
  if (!isJson && type !== 'application/x-www-form-urlencoded') return undefined
  const text = await readText(request, limits)
  if (text === '') return undefined
  return isJson ? parseJson(text) : qs.parse(text, { depth: 20, arrayLimit: 100, parameterLimit: 1000 })
}

async function readText(request: IncomingMessage, { bodyBytes, requestTimeout }: BodyLimits): Promise<string> {
  if (Number(request.headers['content-length'] ?? 0) > bodyBytes) throw tooLarge()
  const tooSlow = setTimeout(() => request.destroy(), requestTimeout)
  try {
    const chunks: Buffer[] = []
    let length = 0
    // The request itself stays open for its answer, whatever happens to its body.
    for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      length += chunk.length
      if (length > bodyBytes) throw tooLarge()
      chunks.push(chunk)
    }
    return Buffer.concat(chunks).toString('utf8')
  } finally {
    clearTimeout(tooSlow)
  }
}

const tooLarge = (): ApiError => new ApiError('PayloadTooLargeError', 'request entity too large', null)
const syntaxError = (message: string): ApiError => new ApiError('SyntaxError', message, null)

/** The key itself, or an escape that one of its letters may hide behind: most bodies have neither, and need no walk. */
const maySpellPrototype = /__proto__|\\u00[567]/

/** Objects and arrays only. A `__proto__` key is refused: no later step may meet one. */
function parseJson(text: string): unknown {
  let value: unknown
  try {
    value = JSON.parse(text.charCodeAt(0) === 0xfeff ? text.slice(1) : text)
  } catch (error) {
    throw syntaxError((error as Error).message)
  }
  if (typeof value !== 'object' || value === null) throw syntaxError('invalid JSON, only supports object and array')
  if (maySpellPrototype.test(text) && hasPrototypeKey(value)) throw syntaxError('Object contains forbidden prototype property')
  return value
}

function hasPrototypeKey(value: unknown): boolean {
  const waiting: unknown[] = [value]
  while (waiting.length > 0) {
    const next = waiting.pop()
    if (typeof next !== 'object' || next === null) continue
    if (Object.hasOwn(next, '__proto__')) return true
    waiting.push(...Object.values(next))
  }
  return false
}
