// The header Idempotency-Key: by which a client may send a POST again without having it done twice.
import type { IncomingMessage } from 'node:http'
import type { Once } from '../documents/operation.js'
import { validationError } from '../errors/errors.js'

/** Visible characters without quotes, commas and backslashes; in quotes, as the draft of the standard has it, or bare. */
const form = /^(?:"([!#-+\--[\]-~]{1,255})"|([!#-+\--[\]-~]{1,255}))$/

/** The key of a request, as far as it has one. @throws ApiError 400 for one that cannot be a key */
export function idempotencyKeyOf({ headers, method, url }: IncomingMessage, format: string): Once | null {
  const given = headers['idempotency-key']
  if (given === undefined) return null
  const [, quoted, bare] = form.exec(String(given)) ?? []
  const key = quoted ?? bare
  if (key === undefined) throw validationError('Idempotency-Key must be 1 to 255 visible characters without quotes, commas and backslashes')
  return { key, request: `${method} ${url} ${format}` }
}
