// The definition of a resource of the administration API. Resources are rows of one table (resources.ts), from which routing, checks, the
// description and the tables of tests follow.

import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import * as z from 'zod'
import type { ActingAdministrator } from '../../admin/activity.js'
import type { Administration } from '../../admin/context.js'
import type { FormerResult } from '../../admin/idempotency.js'
import type { Administrator } from '../../admin/identity/identify.js'
import type { AllowedCaller, CountedAttempts, Immutable } from '../../admin/manage/operation.js'
import type { Once } from '../../content/documents/operation.js'
import { ApiError } from '../../foundation/errors/errors.js'
import type { Installation } from '../../project/installation.js'
import type { MountContext } from '../backend.js'
import { readIdempotencyKey } from '../headers-and-cors.js'
import { readAgreement } from '../model-responses.js'
import type { MultipartBody } from '../multipart.js'
import type { Reply } from '../request-context.js'
import { type Preference, readPreferences } from './preferences.js'

/** The input of a handler. */
export interface ResourceRequest<Params = unknown, Query = unknown, Body = unknown> extends GivenHeaders {
  /** Only for resources that require an administrator. */
  readonly administrator: Administrator
  /** The actor in the log of activity. */
  readonly actor: ActingAdministrator
  readonly params: Params
  readonly query: Query
  readonly body: Body
  /** Only for resources with a form. */
  readonly form: MultipartBody
  readonly administration: Administration
  /** The installation of the whole request. */
  readonly installation: Installation
  /**
   * Releases the installation, so that a change of the model does not wait for its own request. The installation must not be used
   * afterwards.
   */
  readonly leaveInstallation: () => void
  readonly parts: MountContext
  readonly request: FastifyRequest
  readonly reply: FastifyReply
}

/** A request before its form is read. */
export type AdmittedRequest<Params = unknown, Query = unknown, Body = unknown> = Omit<ResourceRequest<Params, Query, Body>, 'form'>

/** The response of a handler: a value, sent as JSON, or bytes of JSON. */
export interface ResourceResponse<Value> extends Omit<Reply, 'status' | 'value'> {
  readonly status?: number
  readonly value?: Value
}

/** A row of the table. */
export interface Resource {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** The path below /admin/api; `:name` matches one segment. */
  readonly path: string
  /** One sentence for the description, without a full stop. */
  readonly summary: string
  readonly who: AllowedCaller
  /** Limits attempts per IP address. */
  readonly attempts?: CountedAttempts
  /** Requires the password again after ten minutes. */
  readonly isStrong?: boolean
  /** The response contains a secret: it is not compressed. */
  readonly isSecret?: boolean
  /** Parameters of the path, in their order; strings by default. */
  readonly params: z.ZodType
  /** Query parameters; null: the query is ignored. */
  readonly query: z.ZodType | null
  /** Nested parameters, as in the content API: `filters[title][$eq]=Tea`. */
  readonly isNested?: boolean
  /** Headers that the resource uses, except `Idempotency-Key`. */
  readonly headers: HeaderInput
  /** The JSON body; null: there is none. */
  readonly body: z.ZodType | null
  /** A form with `files` and fields instead of a body. */
  readonly form?: z.ZodObject
  /** The status of the response: 200, 201 or 204. */
  readonly status: number
  /** The response of a write has an ETag even though it does not require a state. */
  readonly isTagged?: boolean
  /** Additional error statuses, such as 403 if rights depend on the body. */
  readonly refusals?: readonly RefusalStatus[]
  /** The JSON of the response; null: there is no content. */
  readonly response: z.ZodType | null
  /** The data of server-sent events, which are the response. */
  readonly events?: z.ZodType
  /** Checks rights beyond `who`, before a form is read and before a stored response is returned. @throws ApiError 403, 404 */
  admit?(context: AdmittedRequest): Promise<void>
  handle(context: ResourceRequest): Promise<ResourceResponse<unknown>>
  /**
   * Responds to a repeated request if the response was not stored, or the rights of the administrator have changed; absent: `Idempotency-
   * Key` has no effect.
   */
  respondAgain?(context: ResourceRequest, done: FormerResult): Promise<ResourceResponse<unknown>>
}

/** A row of the table. Defaults: a GET by an administrator, without query and body. */
interface ResourceInput<
  Params extends z.ZodType,
  Query extends z.ZodType | null,
  Body extends z.ZodType | null,
  Response extends z.ZodType | null,
> extends Pick<Resource, 'method' | 'path' | 'summary' | 'who' | 'attempts' | 'isStrong' | 'isSecret' | 'form'>,
    Pick<Resource, 'isNested' | 'isTagged' | 'refusals' | 'events'> {
  readonly headers?: HeaderInput
  readonly params?: Params
  readonly query?: Query
  readonly body?: Body
  readonly status?: 200 | 201 | 204
  readonly response: Response
  admit?(context: AdmittedRequest<z.output<Params>, OutputOf<Query>, OutputOf<Body>>): Promise<void>
  handle(context: ResourceRequest<z.output<Params>, OutputOf<Query>, OutputOf<Body>>): Promise<ResponseOf<Response>>
  respondAgain?(
    context: ResourceRequest<z.output<Params>, OutputOf<Query>, OutputOf<Body>>,
    done: FormerResult,
  ): Promise<ResponseOf<Response>>
}

type ResponseOf<Answer extends z.ZodType | null> = ResourceResponse<Answer extends z.ZodType ? Immutable<z.input<Answer>> : undefined>

type OutputOf<Schema extends z.ZodType | null> = Schema extends z.ZodType ? z.output<Schema> : undefined

export const texts = z.record(z.string(), z.string())

/** Creates a row, and checks its handler against its schemas. */
export function resource<
  Answer extends z.ZodType | null,
  Params extends z.ZodType = typeof texts,
  Query extends z.ZodType | null = null,
  Body extends z.ZodType | null = null,
>(input: ResourceInput<Params, Query, Body, Answer>): Resource {
  const { params, query, headers = {}, body, response, status, ...rest } = input
  return {
    ...rest,
    headers,
    params: params ?? texts,
    query: query ?? null,
    body: body ?? null,
    response,
    status: status ?? (response === null ? 204 : 200),
  } as Resource
}

export const respond = <Value>(value: Value, headers?: Reply['headers']): ResourceResponse<Value> => ({
  value,
  ...(headers === undefined ? {} : { headers }),
})

export const respondNothing = (headers?: Reply['headers']): ResourceResponse<undefined> => (headers === undefined ? {} : { headers })

/** The required state of a write, by its revision in `If-Match`. */
interface StateHeader {
  /** The name of the object. */
  readonly of: string
  /** The object that `If-None-Match: *` creates; absent: none. */
  readonly orNew?: string
}

/** Headers that a resource uses, except `Idempotency-Key`. */
export interface HeaderInput {
  readonly state?: StateHeader
  /** Reads `octavo-agree`: names of content that may be hidden. */
  readonly agrees?: true
  readonly prefers?: readonly Preference[]
}

/** The parsed headers of a request. */
export interface GivenHeaders {
  /** The idempotency key; null: none. */
  readonly once: Once | null
  /** The expected revisions; none: the object must not exist. */
  readonly expected: readonly string[]
  readonly agreed: ReadonlySet<string>
  readonly preferred: ReadonlySet<Preference>
}

/** Parses the headers of a request; `isOnce`: also its key. @throws ApiError 400, 428 */
export function readHeaders(request: IncomingMessage, { state, agrees, prefers = [] }: HeaderInput, isOnce: boolean): GivenHeaders {
  const preferred = readPreferences(request.headers, prefers)
  return {
    once: isOnce ? readIdempotencyKey(request, ['administration', ...preferred].join(' ')) : null,
    preferred,
    expected: state === undefined ? [] : parseExpected(request.headers, state),
    agreed: agrees === true ? readAgreement(request) : new Set(),
  }
}

const maxRevisions = 100

/** An ETag: the revision, and after a point a hash of the whole response. Compressed responses have a weak ETag with the same revision. */
const tagPattern = /^(?:W\/)?"([\w-]{1,64})(?:\.[\w-]{1,64})?"$/

/** The expected revisions. @throws ApiError 428 for a request with neither revisions nor If-None-Match */
function parseExpected(headers: IncomingHttpHeaders, state: StateHeader): readonly string[] {
  const given = headers['if-match']
  if (given === undefined) {
    if (state.orNew !== undefined && headers['if-none-match'] === '*') return []
    throw new ApiError('PreconditionRequiredError', `Say which state you mean: ${stateHint(state)}`)
  }
  const tags = given.split(',').slice(0, maxRevisions)
  const revisions = tags.flatMap((one) => tagPattern.exec(one.trim())?.[1] ?? [])
  if (revisions.length > 0) return revisions
  if (given.trim() === '*')
    throw new ApiError(
      'PreconditionRequiredError',
      `If-Match: * does not say which state you mean: a revision is required, ${stateHint(state)}`,
    )
  // A foreign tag matches nothing.
  return ['none']
}

const stateHint = ({ of, orNew }: StateHeader): string =>
  `If-Match with the ETag of ${of}${orNew === undefined ? '' : `, or If-None-Match: * for ${orNew}`}`

interface DescribedRefusal {
  readonly name: string
  readonly description: string
  readonly header?: 'ETag' | 'Retry-After'
}

/** Error statuses that resources declare. */
export const refusals = {
  400: { name: 'BadRequest', description: 'The input is wrong; `details.errors` has every error with its path, where there are several' },
  401: { name: 'Unauthorized', description: 'There is no valid access token, or no valid session' },
  403: { name: 'Forbidden', description: 'It is not allowed; with `details.reason` `password`, it is once the password was given again' },
  404: { name: 'NotFound', description: 'It does not exist, or not for the administrator' },
  408: { name: 'RequestTimeout', description: 'The body did not arrive in time' },
  409: { name: 'Conflict', description: 'It conflicts with the current state, or with a concurrent request' },
  412: { name: 'PreconditionFailed', description: 'It has changed since it was read; `details` has it as it is', header: 'ETag' },
  413: { name: 'PayloadTooLarge', description: 'The body is too large' },
  422: { name: 'UnprocessableEntity', description: 'The Idempotency-Key was sent with another request before' },
  428: { name: 'PreconditionRequired', description: 'The request does not say which state it means' },
  429: { name: 'TooManyRequests', description: 'There are too many attempts', header: 'Retry-After' },
  501: { name: 'NotImplemented', description: 'The database lacks tables that a current version of Strapi 5 creates' },
  503: { name: 'ServiceUnavailable', description: 'It is not possible now', header: 'Retry-After' },
} as const satisfies Readonly<Record<number, DescribedRefusal>>

export type RefusalStatus = keyof typeof refusals
