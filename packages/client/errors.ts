// The error of a request that the service refused.

/** The names of errors that the service reports. */
export type ApiErrorName =
  | 'ApplicationError'
  | 'BadRequestError'
  | 'ConflictError'
  | 'ForbiddenError'
  | 'InternalServerError'
  | 'NotFoundError'
  | 'PaginationError'
  | 'PayloadTooLargeError'
  | 'PolicyError'
  | 'RateLimitError'
  | 'ServiceUnavailableError'
  | 'SyntaxError'
  | 'UnauthorizedError'
  | 'ValidationError'
  | (string & {})

/** One thing that is wrong with the data of a write. */
export interface AttributeProblem {
  readonly path: readonly (string | number)[]
  readonly message: string
  readonly name: string
  readonly value?: unknown
}

/** More about an error, depending on its name. */
export interface ErrorDetails {
  /** What is wrong with the data of a write. */
  readonly errors?: readonly AttributeProblem[]
  /** The key that is not known or not allowed, and where it is. */
  readonly key?: string
  readonly path?: string | null
  readonly [other: string]: unknown
}

/** Characters of a response that is no JSON, in the message of its error. */
const longestText = 200

/** A response with an error status. Failures of the network are those of `fetch`. */
export class ApiError extends Error {
  override readonly name: ApiErrorName
  readonly status: number
  readonly details: ErrorDetails
  /** The response, whose body has been read. It is not enumerable, so that an error that is printed does not show all of it. */
  declare readonly response: globalThis.Response

  constructor(response: globalThis.Response, body: unknown) {
    const { error } = (typeof body === 'object' && body !== null ? body : {}) as { error?: Partial<ApiError> | null }
    super(error?.message ?? (typeof body === 'string' && body !== '' ? body.slice(0, longestText) : response.statusText))
    this.name = error?.name ?? 'ApiError'
    this.status = response.status
    this.details = error?.details ?? {}
    Object.defineProperty(this, 'response', { value: response })
  }
}

/** True for errors of this client; with `status`, for those with this status. */
export const isApiError = (error: unknown, status?: number): error is ApiError =>
  error instanceof ApiError && (status === undefined || error.status === status)
