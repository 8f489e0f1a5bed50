// The error that the client throws for an error status.

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

/** One validation error of the data of a write. */
export interface AttributeProblem {
  readonly path: readonly (string | number)[]
  readonly message: string
  readonly name: string
  readonly value?: unknown
}

/** More about an error, depending on its name. */
export interface ErrorDetails {
  readonly errors?: readonly AttributeProblem[]
  /** An unknown or forbidden key and its path. */
  readonly key?: string
  readonly path?: string | null
  readonly [other: string]: unknown
}

/** Length of an error message that quotes a response without JSON. */
const maxMessageCharacters = 200

/** A response with an error status. Failures of the network are those of `fetch`. */
export class ApiError extends Error {
  override readonly name: ApiErrorName
  readonly status: number
  readonly details: ErrorDetails
  /** The body has been read. Not enumerable, so that a printed error is short. */
  declare readonly response: globalThis.Response

  constructor(response: globalThis.Response, body: unknown) {
    const { error } = (typeof body === 'object' && body !== null ? body : {}) as { error?: Partial<ApiError> | null }
    super(error?.message ?? (typeof body === 'string' && body !== '' ? body.slice(0, maxMessageCharacters) : response.statusText))
    this.name = error?.name ?? 'ApiError'
    this.status = response.status
    this.details = error?.details ?? {}
    Object.defineProperty(this, 'response', { value: response })
  }
}

/** True for errors of this client; with `status`, for those with this status. */
export const isApiError = (error: unknown, status?: number): error is ApiError =>
  error instanceof ApiError && (status === undefined || error.status === status)
