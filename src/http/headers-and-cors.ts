// What every response carries and every request must pass: CORS, safety headers, request ids.
import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { ApiError } from '../errors/errors.js'

export type CorsOrigins = '*' | readonly string[]

/** Sent with every response. */
export const safetyHeaders: Readonly<Record<string, string>> = {
  vary: 'Origin, Authorization, Strapi-Response-Format, Strapi-Encode-Source-Maps',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'SAMEORIGIN',
  'referrer-policy': 'no-referrer',
  'strict-transport-security': 'max-age=31536000; includeSubDomains',
}

/** For answers that no browser shall show as a page, nor run anything of. */
export const policy = "default-src 'none'; frame-ancestors 'self'"

/** True for statuses that hold for this caller or this moment only: nobody may keep such an answer. */
export const isPassing = (status: number): boolean => status === 401 || status === 403 || status === 429 || status >= 500

/** More headers than a request may have. */
export const refuseHeaders = (reply: FastifyReply): FastifyReply => reply.status(431).header('connection', 'close').send()

/** A request id is taken over only in this form: it ends up in logs. */
const requestIdForm = /^[\w-]{8,64}$/

export function requestId({ headers }: IncomingMessage | { headers: Record<string, unknown> }): string {
  const given = headers['x-request-id']
  return typeof given === 'string' && requestIdForm.test(given) ? given : randomUUID()
}

/** The origin to allow: any, without credentials; or a listed one, with credentials. Null: none. */
function allowedOrigin(origins: CorsOrigins, origin: string | undefined): string | null {
  if (origins === '*') return '*'
  return origin !== undefined && origins.includes(origin) ? origin : null
}

/** Adds the CORS headers of an answer. */
export function addCors(origins: CorsOrigins, request: FastifyRequest, reply: FastifyReply): void {
  const allowed = allowedOrigin(origins, request.headers.origin)
  if (request.headers.origin === undefined || allowed === null) return
  reply.header('access-control-allow-origin', allowed)
  if (allowed !== '*') reply.header('access-control-allow-credentials', 'true')
}

/** True for a preflight, which is answered here: 204 with what may be sent. */
export function isPreflight(request: FastifyRequest): boolean {
  return (
    request.method === 'OPTIONS' && request.headers.origin !== undefined && request.headers['access-control-request-method'] !== undefined
  )
}

export function answerPreflight(reply: FastifyReply, headers: readonly string[]): FastifyReply {
  return reply
    .status(204)
    .header('access-control-allow-methods', 'GET,POST,PUT,PATCH,DELETE,HEAD,OPTIONS')
    .header('access-control-allow-headers', headers.join(','))
    .header('access-control-max-age', '31536000')
    .send()
}

/** Refuses paths that are made to be misread: a leading double slash. */
export function checkUrl(url: string): void {
  if (url.startsWith('//')) throw new ApiError('BadRequestError', 'Malicious Path', null)
}
