// Headers of every response and checks of every request: CORS, security headers, request ids.
import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Once } from '../content/documents/operation.js'
import type { Config } from '../foundation/config/config.js'
import { validationError } from '../foundation/errors/errors.js'

type CorsOrigins = '*' | readonly string[]

/** The request headers that every response depends on; with compression, what shrinks depends on `Accept-Encoding` too. */
export const variesBy = 'Origin, Authorization, Strapi-Response-Format, Strapi-Encode-Source-Maps'

/** Headers of every response, in addition to `Vary`. */
const securityHeaders: Readonly<Record<string, string>> = {
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'SAMEORIGIN',
  'referrer-policy': 'no-referrer',
  'strict-transport-security': 'max-age=31536000; includeSubDomains',
}

/** The Content-Security-Policy for responses that browsers must not show as a page or run. */
const policy = "default-src 'none'; frame-ancestors 'self'"

/** The parts of the configuration that headers of every response depend on. */
type HeaderConfig = Pick<Config, 'compression' | 'corsOrigins' | 'responseHeaders'>

/**
 * Returns a function that adds the headers of every response: the service's, and those of the configuration, which replace the
 * same name; and those that allow its origin. Pages and files set their own policy.
 */
export function createHeaders({ compression, corsOrigins, responseHeaders }: HeaderConfig) {
  const headers = {
    ...securityHeaders,
    'content-security-policy': policy,
    ...responseHeaders,
    vary: compression ? `${variesBy}, Accept-Encoding` : variesBy,
  }
  return (request: FastifyRequest, reply: FastifyReply): void => {
    reply.headers(headers).header('x-request-id', request.id)
    const { origin } = request.headers
    if (origin === undefined) return
    const allowed = allowedOrigin(corsOrigins, origin)
    if (allowed === null) return
    reply.header('access-control-allow-origin', allowed)
    if (allowed !== '*') reply.header('access-control-allow-credentials', 'true')
  }
}

/** The policy of a page of the service: that of the configuration, if it has one. */
export const getPagePolicy = ({ responseHeaders }: Pick<Config, 'responseHeaders'>, own: string): string =>
  responseHeaders['content-security-policy'] ?? own

/** The policy of a file: browsers enforce that of the configuration as well, so that an uploaded file never runs as a page of this origin. */
export const getFilePolicy = ({ responseHeaders }: Pick<Config, 'responseHeaders'>, own: string): string => {
  const { 'content-security-policy': configured } = responseHeaders
  return configured === undefined ? own : `${configured}, ${own}`
}

/** True for statuses that depend on the caller or the time, so that the response must not be cached. */
export const isUncacheable = (status: number): boolean => status === 401 || status === 403 || status === 429 || status >= 500

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Responses of the route contain secrets: no cache may keep them, and they are not compressed. */
    isSecret?: boolean
    /** The route is one of the project. */
    isCustom?: boolean
  }
}

/** True if the responses of a request's route contain secrets. */
export const isSecret = ({ routeOptions }: FastifyRequest): boolean => routeOptions.config?.isSecret === true

/** Refuses a request with too many headers. */
export const refuseHeaders = (reply: FastifyReply): FastifyReply => reply.status(431).header('connection', 'close').send()

/** The accepted form of a request id, which is written to the log. */
const requestIdForm = /^[\w-]{8,64}$/

/** Returns the request id that the client sent, or a new one. */
export function requestId({ headers }: IncomingMessage | { headers: Record<string, unknown> }): string {
  const given = headers['x-request-id']
  return typeof given === 'string' && requestIdForm.test(given) ? given : randomUUID()
}

/** Returns the origin to allow: `*` without credentials, or a listed one with credentials; null if it is not allowed. */
function allowedOrigin(origins: CorsOrigins, origin: string): string | null {
  if (origins === '*') return '*'
  return origins.includes(origin) ? origin : null
}

/** True for a CORS preflight request. */
export function isPreflight(request: FastifyRequest): boolean {
  return (
    request.method === 'OPTIONS' && request.headers.origin !== undefined && request.headers['access-control-request-method'] !== undefined
  )
}

/** Responds to a preflight request with the allowed methods and headers. */
export function answerPreflight(reply: FastifyReply, headers: readonly string[]): FastifyReply {
  return reply
    .status(204)
    .header('access-control-allow-methods', 'GET,POST,PUT,PATCH,DELETE,HEAD,OPTIONS')
    .header('access-control-allow-headers', headers.join(','))
    .header('access-control-max-age', '31536000')
    .send()
}

/** Visible characters without quotes, commas and backslashes; optionally in quotes, as in the draft standard. */
const form = /^(?:"([!#-+\--[\]-~]{1,255})"|([!#-+\--[\]-~]{1,255}))$/

/** Returns the key of a request, or null. @throws ApiError 400 for an invalid key */
export function readIdempotencyKey({ headers, method, url }: IncomingMessage, format: string): Once | null {
  const given = headers['idempotency-key']
  if (given === undefined) return null
  const [, quoted, bare] = form.exec(String(given)) ?? []
  const key = quoted ?? bare
  if (key === undefined) throw validationError('Idempotency-Key must be 1 to 255 visible characters without quotes, commas and backslashes')
  return { key, request: `${method} ${url} ${format}` }
}
