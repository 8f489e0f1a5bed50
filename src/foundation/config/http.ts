// CORS settings: allowed origins, and the headers their pages may send.

import { validateHeaderName, validateHeaderValue } from 'node:http'
import * as z from 'zod'
import { originProblem } from './checks.js'

/** `*` for any origin, or a list of origins. */
const origins = () =>
  z.custom<'*' | readonly string[]>().superRefine((value: unknown, context) => {
    if (value === '*') return
    const isList = Array.isArray(value) && value.every((one) => typeof one === 'string')
    const problem = isList ? value.map(originProblem).find((found) => found !== null) : 'must be "*" or a list of origins'
    if (problem !== undefined && problem !== null) context.addIssue({ code: 'custom', message: problem })
  })

/** Strapi's four headers, and the further ones of this API. */
const knownHeaders = [
  ...['Content-Type', 'Authorization', 'Origin', 'Accept'],
  ...['Strapi-Response-Format', 'Strapi-Encode-Source-Maps', 'Idempotency-Key'],
]

/** The section `cors` of the configuration. */
export const corsSettings = () =>
  z.strictObject({
    origins: origins().default('*'),
    /** Headers that pages of other origins may send. */
    headers: z.array(z.string().regex(/^[\w-]+$/, 'must be the name of a header')).default(knownHeaders),
  })

/** Headers of the connection and of a single response, which the service sets itself. */
const ownHeaders: ReadonlySet<string> = new Set([
  ...['connection', 'keep-alive', 'proxy-connection', 'te', 'trailer', 'transfer-encoding', 'upgrade', 'date'],
  ...['content-type', 'content-length', 'content-encoding', 'content-range', 'content-disposition', 'accept-ranges'],
  ...['cache-control', 'etag', 'last-modified', 'vary', 'location', 'allow', 'retry-after', 'set-cookie'],
  ...['x-request-id', 'server-timing', 'octavo-hint'],
])

/** The error of a header without a full stop, or null. */
function problemOf(name: string, value: string): string | null {
  const lower = name.toLowerCase()
  if (lower.startsWith('access-control-')) return `"${name}" is set by the service; cors.origins and cors.headers configure it`
  if (ownHeaders.has(lower)) return `"${name}" is set by the service for each response and cannot be configured`
  try {
    validateHeaderName(name)
  } catch {
    return `"${name}" is not the name of a header`
  }
  try {
    validateHeaderValue(name, value)
  } catch {
    return `the value of "${name}" has a character that headers cannot have`
  }
  return value.trim() === '' ? `the value of "${name}" is empty` : null
}

/** Headers by name in lower case. */
const headers = () =>
  z.record(z.string(), z.string()).transform((given, context) => {
    const found: Record<string, string> = {}
    for (const [name, value] of Object.entries(given)) {
      const lower = name.toLowerCase()
      const problem = Object.hasOwn(found, lower) ? `"${name}" appears twice` : problemOf(name, value)
      if (problem !== null) context.addIssue({ code: 'custom', message: problem })
      found[lower] = value.trim()
    }
    return found as Readonly<Record<string, string>>
  })

/** Settings of the HTTP server. */
export const httpSettings = () =>
  z.strictObject({
    /** Headers of every response; one that the service has as a security default takes its place. */
    headers: headers().prefault({}),
  })
