// The parameters, query string and body of a request to a custom route, as its code gets them.
import type { IncomingMessage } from 'node:http'
import qs from 'qs'
import { type ApiError, validationError } from '../../../foundation/errors/errors.js'
import type { RouteBody } from '../../../foundation/public/routes.js'
import { readRawBody, streamBody } from '../../body-parser.js'
import { hasBody } from '../../form-body.js'
import type { RequestContext } from '../../request-context.js'

/** Bounds of a query string, as for content. */
const queryBounds = { depth: 20, arrayLimit: 100, parameterLimit: 1000 }

/** Parses a query string into objects and lists of texts. Keys that an object has anyway, such as `constructor`, are dropped. */
export const queryOf = (query: string): Readonly<Record<string, unknown>> => (query === '' ? {} : qs.parse(query, queryBounds))

/** Reads the body as the route wants it; undefined if it wants none. @throws ApiError 400, 408, 413, 499, 503 */
export async function bodyOf(kind: RouteBody, { request, beginBody, body, config }: RequestContext): Promise<unknown> {
  switch (kind) {
    case undefined:
      return undefined
    case 'raw':
      return readRawBody(request, beginBody(), config.limits)
    case 'stream':
      return streamBody(request, config.limits.uploadBytes)
    default: {
      const parsed = await body()
      if (parsed === undefined && hasBody(request)) throw unreadable(request)
      return parsed
    }
  }
}

function unreadable({ headers }: IncomingMessage): ApiError {
  const type = headers['content-type']
  const is = type === undefined ? 'is missing' : `is "${type}"`
  return validationError(`The body was not read: its Content-Type ${is}; application/json is needed`)
}
