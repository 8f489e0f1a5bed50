// Requests to the administration API, typed by its description. Requests of a session that has ended wait for the next sign-in.
import type { paths } from './api.js'
import { isAway, noteConnection, noteResponse, Offline } from './connection.js'
import { pagePath } from './page-path.js'
import { writeQuery } from './query-string.js'
import { accessToken, adoptTokens, sessionState, type Tokens, untilSignedIn } from './session.js'

type Verb = 'get' | 'put' | 'post' | 'patch' | 'delete'
/** The paths of the API: `/content/{type}`. */
export type Path = keyof paths
/** The methods of a path. */
export type MethodOf<P extends Path> = { [V in Verb]: paths[P][V] extends { responses: object } ? Uppercase<V> : never }[Verb]
type Operation<P extends Path, M> = paths[P][Lowercase<M & string> & keyof paths[P]]

type ContentOf<R> = R extends { content: { 'application/json': infer Body } } ? Body : undefined
/** The body of a successful response. */
export type Body<P extends Path, M extends MethodOf<P>> =
  Operation<P, M> extends { responses: infer R } ? ContentOf<R[keyof R & (200 | 201 | 202 | 204)]> : never
/** The `data` of a successful response. */
export type Data<P extends Path, M extends MethodOf<P>> = Body<P, M> extends { data: infer D } ? D : undefined

type Part<Op, Name extends string> = Op extends { parameters: { [N in Name]?: infer Value } } ? Exclude<Value, undefined> : never
type InputOf<Op> = Op extends { requestBody?: infer R }
  ? Exclude<R, undefined> extends { content: { 'application/json': infer Body } }
    ? Body
    : Exclude<R, undefined> extends { content: { 'multipart/form-data': unknown } }
      ? FormData
      : never
  : never

/** Optional parts of a request. */
export interface RequestOptions<P extends Path, M extends MethodOf<P>> {
  /** The parameters of the path. */
  readonly path?: Part<Operation<P, M>, 'path'>
  readonly query?: { [Name in keyof Part<Operation<P, M>, 'query'>]?: unknown }
  /** JSON, or a form with files. */
  readonly body?: InputOf<Operation<P, M>>
  readonly headers?: Readonly<Record<string, string>>
  readonly signal?: AbortSignal
  /** The request also goes out while the page is left. */
  readonly keepalive?: boolean
}

/** A successful response. */
export interface Reply<Content> {
  readonly status: number
  readonly headers: Headers
  readonly body: Content
}

/** One error of a failure. */
export interface FailedInput {
  readonly path?: readonly (string | number)[]
  readonly message: string
  readonly name?: string
  readonly code?: string
  readonly params?: Readonly<Record<string, unknown>>
  readonly value?: unknown
}

/** An error response of the API. */
export class ApiFailure extends Error {
  override readonly name = 'ApiFailure'
  constructor(
    readonly status: number,
    /** The kind of error: `ValidationError`. */
    readonly kind: string,
    message: string,
    readonly details: Readonly<Record<string, unknown>>,
    /** Seconds after which the request may be sent again. */
    readonly retryAfter: number | null = null,
  ) {
    super(message)
  }

  /** The reason of a refused sign-in, or the kind of error: texts are looked up by it. */
  get reason(): string {
    const { reason } = this.details
    return typeof reason === 'string' ? reason : this.kind
  }

  /** All errors of an input. */
  get errors(): readonly FailedInput[] {
    const { errors } = this.details
    return Array.isArray(errors) ? (errors as readonly FailedInput[]) : []
  }
}

/** Longer than any request but an upload takes. */
const timeoutMs = 60_000

/** Sends a request and returns the body of the response. @throws ApiFailure, Offline, the reason of the signal */
export async function request<P extends Path, M extends MethodOf<P>>(
  method: M,
  path: P,
  options: RequestOptions<P, M> = {},
): Promise<Body<P, M>> {
  const { body } = await send(method, path, options)
  return body
}

/** Sends a request and returns the response. @throws ApiFailure, Offline, the reason of the signal */
export async function send<P extends Path, M extends MethodOf<P>>(
  method: M,
  path: P,
  options: RequestOptions<P, M> = {},
): Promise<Reply<Body<P, M>>> {
  const sent = { method, url: addressOf(path, options.path, options.query), options: options as SentOptions }
  let refused: string | null = null
  for (;;) {
    const token = await accessToken(refused)
    if (token !== null) {
      const response = await fetchOnce(sent, token)
      if (response.status !== 401) return readReply<Body<P, M>>(response)
      refused = token
    } else if (sessionState().kind === 'signedOut') throw new ApiFailure(401, 'UnauthorizedError', 'Nobody has signed in', {})
    else await untilSignedIn(options.signal)
  }
}

/** Sends a request that needs no sign-in; if the response signs in, its tokens are taken. @throws ApiFailure, Offline */
export async function requestSession<P extends Path, M extends MethodOf<P>>(
  method: M,
  path: P,
  options: RequestOptions<P, M> = {},
): Promise<Body<P, M>> {
  const sent = { method, url: addressOf(path, options.path, options.query), options: options as SentOptions }
  const { body, headers } = await readReply<Body<P, M>>(await fetchOnce(sent, null))
  const tokens = (body as { readonly data?: Partial<Tokens> } | undefined)?.data
  if (tokens?.accessToken !== undefined) adoptTokens(tokens as Tokens, headers.get('date'))
  return body
}

interface SentOptions {
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  readonly signal?: AbortSignal
  readonly keepalive?: boolean
}

interface Sent {
  readonly method: string
  readonly url: string
  readonly options: SentOptions
}

async function fetchOnce({ method, url, options }: Sent, token: string | null): Promise<Response> {
  const { body, headers, signal, keepalive = false } = options
  const isForm = body instanceof FormData
  const limits = isForm ? [] : [AbortSignal.timeout(timeoutMs)]
  try {
    const response = await fetch(url, {
      method,
      headers: {
        ...(token === null ? { 'octavo-admin': '1' } : { authorization: `Bearer ${token}` }),
        ...(isForm || (body === undefined && token !== null) ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: isForm ? body : JSON.stringify(body) }),
      signal: AbortSignal.any([...limits, ...(signal === undefined ? [] : [signal])]),
      keepalive,
    })
    noteResponse(response)
    return response
  } catch (error) {
    if (signal?.aborted === true) throw error
    noteConnection(false)
    throw new Offline('The service cannot be reached')
  }
}

async function readReply<Content>(response: Response): Promise<Reply<Content>> {
  const { status, headers } = response
  const text = await response.text().catch(() => {
    throw new Offline('The response was interrupted')
  })
  const body = parse(text) as Content
  if (response.ok) return { status, headers, body }
  const error = (body as { readonly error?: Partial<ApiFailure> } | undefined)?.error
  // A proxy in between, not the service.
  if (error === undefined && isAway(status)) throw new Offline(`The service is away: ${status}`)
  const after = headers.get('retry-after')
  throw new ApiFailure(
    status,
    error?.name ?? 'Error',
    error?.message ?? response.statusText,
    error?.details ?? {},
    after === null ? null : Number(after),
  )
}

function parse(text: string): unknown {
  try {
    return text === '' ? undefined : JSON.parse(text)
  } catch {
    return undefined
  }
}

function addressOf(path: string, params: unknown, query: object | undefined): string {
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String((params as Record<string, unknown>)[name])))
  const search = writeQuery((query ?? {}) as Readonly<Record<string, unknown>>)
  return `${pagePath}/api${filled}${search === '' ? '' : `?${search}`}`
}
