// The definition of a resource of the administration API. Resources are rows of one table (resources.ts), from which routing, checks, the
// description and the tables of tests follow.
import type { FastifyReply, FastifyRequest } from 'fastify'
import * as z from 'zod'
import type { ActingAdministrator } from '../../admin/activity.js'
import type { Administration } from '../../admin/context.js'
import type { Administrator, WholeType } from '../../admin/identity/identify.js'
import type { DoneBefore } from '../../admin/identity/once.js'
import type { Installation } from '../../project/installation.js'
import type { MountContext } from '../backend.js'
import type { MultipartBody } from '../multipart.js'
import type { Reply } from '../request-context.js'
import type { GivenHeaders, HeaderInput } from './headers.js'
import type { RefusalStatus } from './refusals.js'

/**
 * Who may ask. `anybody`: no credentials are looked at. `page`: the same, but only the page of the service, whose requests set or send the
 * cookie. `administrator`: everybody who is signed in. `byRoles`: the same, and what is asked for is held to what their roles allow. `superAdministrator`: who has the role of super administrators. An action: administrators with a
 * role that allows it, on all documents of a type if it is about one; `onFiles`: it is about files, so its conditions are looked at with each of them.
 */
export type Who =
  | 'anybody'
  | 'page'
  | 'administrator'
  | 'byRoles'
  | 'superAdministrator'
  | { readonly action: string; readonly on?: WholeType; readonly onFiles?: true }

/** What is counted of the attempts of one IP address: those that fail, or all. */
export interface CountedAttempts {
  readonly name: string
  readonly counted: 'failures' | 'all'
}

/** Everything that the handler of a resource needs. */
export interface ResourceRequest<Params = unknown, Query = unknown, Body = unknown> extends GivenHeaders {
  /** Who asks; only resources for administrators may read it. */
  readonly administrator: Administrator
  /** The same for the activity log. */
  readonly actor: ActingAdministrator
  readonly params: Params
  readonly query: Query
  readonly body: Body
  /** The form with files; only resources that have one may read it. */
  readonly form: MultipartBody
  readonly administration: Administration
  /** What the whole request is answered by. */
  readonly installation: Installation
  /** Releases the installation: what changes the model must not be waited for by itself. Nothing is read or written by it afterwards. */
  readonly leaveInstallation: () => void
  readonly parts: MountContext
  readonly request: FastifyRequest
  readonly reply: FastifyReply
}

/** A request before its form is read. */
export type AdmittedRequest<Params = unknown, Query = unknown, Body = unknown> = Omit<ResourceRequest<Params, Query, Body>, 'form'>

/** What a handler returns: a value, which is sent as JSON, or bytes of JSON. */
export interface Answered<Value> extends Omit<Reply, 'status' | 'value'> {
  /** Instead of the status of the resource. */
  readonly status?: number
  readonly value?: Value
}

/** A resource as the table keeps it. */
export interface Resource {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** The path below /admin/api; `:name` matches one segment. */
  readonly path: string
  /** One sentence for the description, without a full stop. */
  readonly summary: string
  readonly who: Who
  /** Limits attempts per IP address. */
  readonly attempts?: CountedAttempts
  /** Asks for the password again if it was given more than ten minutes ago. */
  readonly isStrong?: boolean
  /** The response contains a secret: it is not compressed. */
  readonly isSecret?: boolean
  /** Of the parameters of the path, in their order; without it each is a text. */
  readonly params: z.ZodType
  /** Of the query, whose parameters are texts; null: the query is not looked at. */
  readonly query: z.ZodType | null
  /** Parameters of the query may be nested, as in the content API: `filters[title][$eq]=Tea`. */
  readonly isNested?: boolean
  /** The headers that it looks at, besides the `Idempotency-Key` of what can be answered `again`. */
  readonly headers: HeaderInput
  /** Of the JSON body; null: there is none. */
  readonly body: z.ZodType | null
  /** Of a form with files in place of a body: `files`, and fields. */
  readonly form?: z.ZodObject
  /** The status of the response: 200, 201 or 204. */
  readonly status: number
  /** Besides the responses to reads, and to writes that mean a state: the response has an ETag. */
  readonly isTagged?: boolean
  /** Statuses of refusals besides those that follow from the rest, such as 403 where rights depend on what is asked for. */
  readonly refusals?: readonly RefusalStatus[]
  /** Of the JSON of the response; null: it has no content. */
  readonly answer: z.ZodType | null
  /** Checks rights beyond `who`, before a form is read, and also where the request was done before. @throws ApiError 403, 404 */
  admit?(asked: AdmittedRequest): Promise<void>
  handle(asked: ResourceRequest): Promise<Answered<unknown>>
  /**
   * Takes an `Idempotency-Key`, and answers for what was done before under it, where the answer is not kept or the rights of the administrator
   * have changed since; absent: the key has no effect.
   */
  again?(asked: ResourceRequest, done: DoneBefore): Promise<Answered<unknown>>
}

/** A row of the table: only what differs from an administrator's GET without query and body has to be said. */
export interface ResourceInput<
  Params extends z.ZodType,
  Query extends z.ZodType | null,
  Body extends z.ZodType | null,
  Answer extends z.ZodType | null,
> extends Pick<Resource, 'method' | 'path' | 'summary' | 'who' | 'attempts' | 'isStrong' | 'isSecret' | 'form'>,
    Pick<Resource, 'isNested' | 'isTagged' | 'refusals'> {
  readonly headers?: HeaderInput
  readonly params?: Params
  readonly query?: Query
  readonly body?: Body
  readonly status?: 200 | 201 | 204
  readonly answer: Answer
  admit?(asked: AdmittedRequest<z.output<Params>, OutputOf<Query>, OutputOf<Body>>): Promise<void>
  handle(asked: ResourceRequest<z.output<Params>, OutputOf<Query>, OutputOf<Body>>): Promise<AnsweredBy<Answer>>
  again?(asked: ResourceRequest<z.output<Params>, OutputOf<Query>, OutputOf<Body>>, done: DoneBefore): Promise<AnsweredBy<Answer>>
}

type AnsweredBy<Answer extends z.ZodType | null> = Answered<Answer extends z.ZodType ? z.input<Answer> : undefined>

type OutputOf<Schema extends z.ZodType | null> = Schema extends z.ZodType ? z.output<Schema> : undefined

const texts = z.record(z.string(), z.string())

/** Makes a row of the table, with the types of its schemas checked against its handler. */
export function resource<
  Answer extends z.ZodType | null,
  Params extends z.ZodType = typeof texts,
  Query extends z.ZodType | null = null,
  Body extends z.ZodType | null = null,
>(input: ResourceInput<Params, Query, Body, Answer>): Resource {
  const { params, query, headers = {}, body, answer, status, ...rest } = input
  return {
    ...rest,
    headers,
    params: params ?? texts,
    query: query ?? null,
    body: body ?? null,
    answer,
    status: status ?? (answer === null ? 204 : 200),
  } as Resource
}

/** A value as the response of a resource. */
export const answer = <Value>(value: Value, headers?: Reply['headers']): Answered<Value> => ({
  value,
  ...(headers === undefined ? {} : { headers }),
})

/** A response without content. */
export const nothing = (headers?: Reply['headers']): Answered<undefined> => (headers === undefined ? {} : { headers })
