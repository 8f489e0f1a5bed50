// What became of a request, in the words of metrics and traces: a closed set of them, whatever is requested.
import type { FastifyReply, FastifyRequest } from 'fastify'
import { pathOf } from './request-log.js'

/** The methods that have a name of their own. */
const methods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])

/** The method of a request, or `_OTHER`. */
export const knownMethod = ({ method }: FastifyRequest): string => (methods.has(method) ? method : '_OTHER')

/** The template of the route of a request with the type; `(none)`: no route takes it. */
export const knownRoute = (request: FastifyRequest): string => pathOf(request) ?? '(none)'

/** The status of a request whose connection was closed before the response was sent. */
const closedByClient = 499

/** The status of a response whose connection is done with it. */
export const finalStatus = ({ raw }: FastifyReply): number => (raw.writableFinished ? raw.statusCode : closedByClient)
