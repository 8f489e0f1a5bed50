// Reads the header Idempotency-Key: a client may retry a POST without executing it twice.
import type { IncomingMessage } from 'node:http'
import type { Once } from '../content/documents/operation.js'
import { validationError } from '../foundation/errors/errors.js'

/** Visible characters without quotes, commas and backslashes; optionally in quotes, as in the draft standard. */
const form = /^(?:"([!#-+\--[\]-~]{1,255})"|([!#-+\--[\]-~]{1,255}))$/

/** Returns the key of a request, or null. @throws ApiError 400 for an invalid key */
export function idempotencyKeyOf({ headers, method, url }: IncomingMessage, format: string): Once | null {
  const given = headers['idempotency-key']
  if (given === undefined) return null
  const [, quoted, bare] = form.exec(String(given)) ?? []
  const key = quoted ?? bare
  if (key === undefined) throw validationError('Idempotency-Key must be 1 to 255 visible characters without quotes, commas and backslashes')
  return { key, request: `${method} ${url} ${format}` }
}
