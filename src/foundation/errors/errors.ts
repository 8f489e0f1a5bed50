// The two error classes: ApiError, which only http/respond.ts turns into a response, and ConfigError, for the operator.

import type { InputMistake, IssueCode, IssueParams } from './issues.js'

/** Names and statuses of the error body (errors.2). */
const statuses = {
  ApplicationError: 400,
  Error: 400,
  BadRequestError: 400,
  SyntaxError: 400,
  ValidationError: 400,
  PaginationError: 400,
  UnauthorizedError: 401,
  ForbiddenError: 403,
  PolicyError: 403,
  NotFoundError: 404,
  RequestTimeoutError: 408,
  ConflictError: 409,
  PreconditionFailedError: 412,
  PayloadTooLargeError: 413,
  URITooLongError: 414,
  UnsupportedMediaTypeError: 415,
  UnprocessableEntityError: 422,
  PreconditionRequiredError: 428,
  RateLimitError: 429,
  /** Only logged: the client closed the connection. */
  ClientClosedRequestError: 499,
  InternalServerError: 500,
  NotImplementedError: 501,
  ServiceUnavailableError: 503,
} as const

/** The names of API errors. */
export type ErrorName = keyof typeof statuses

/** The subject of an error, if its details do not contain it. */
export type Situation =
  /** The caller is not granted this action. */
  | { readonly kind: 'permission'; readonly action: string }
  /** The body was read and has no `data` that is an object. */
  | { readonly kind: 'data' }
  /** The body names documents or rows of this type that do not exist. */
  | { readonly kind: 'targets'; readonly uid: string; readonly named: readonly (string | number)[] }
  /** Entries of this component or zone that belong to another document, or to none, by row id. */
  | { readonly kind: 'entries'; readonly attribute: string; readonly ids: readonly number[] }
  /** A form has no files in the field `files`, but in these. */
  | { readonly kind: 'files'; readonly fields: readonly string[] }

/** An error that the client may see: its name, message and details become the response body. */
export class ApiError extends Error {
  override readonly name: ErrorName
  readonly status: number
  /** If null, the body has no `details` key. */
  readonly details: Readonly<Record<string, unknown>> | null

  /** Seconds after which the client may retry; undefined if it may not. */
  readonly retryAfter: number | undefined

  // A private field, so that neither a response nor the log can contain it.
  #situation: Situation | null = null
  #mistakes: readonly InputMistake[] | null = null
  #locale: string | null = null

  constructor(name: ErrorName, message: string, details: Readonly<Record<string, unknown>> | null = {}, retryAfter?: number) {
    super(boundedText(message))
    this.name = name
    this.status = statuses[name]
    this.details = details
    this.retryAfter = retryAfter ?? (statuses[name] === 503 ? 1 : undefined)
  }

  /** The subject of the error for development hints; null if its details contain it. */
  get situation(): Situation | null {
    return this.#situation
  }

  /** Sets the subject of the error, and returns the error. */
  about(situation: Situation): this {
    this.#situation = situation
    return this
  }

  /** The errors of the input with their codes, for the administration; null: see the details. */
  get mistakes(): readonly InputMistake[] | null {
    return this.#mistakes
  }

  /** Sets the errors of the input, and returns the error. */
  because(mistakes: readonly InputMistake[]): this {
    this.#mistakes = mistakes
    return this
  }

  /** The locale of a document that was written in several; null: there was only one, or it is unknown. */
  get locale(): string | null {
    return this.#locale
  }

  /** Sets the locale, and returns the error. */
  inLocale(locale: string | null): this {
    this.#locale = locale
    return this
  }

  /** The same error with another message and other details. */
  reworded(message: string, details = this.details): ApiError {
    const error = new ApiError(this.name, message, details, this.retryAfter)
    if (this.cause !== undefined) error.cause = this.cause
    error.#situation = this.#situation
    error.#mistakes = this.#mistakes
    error.#locale = this.#locale
    return error
  }

  /** Prepends names to the paths of the errors of the input, and returns the error. */
  below(...names: InputMistake['path']): this {
    this.#mistakes = this.#mistakes?.map((mistake) => ({ ...mistake, path: [...names, ...mistake.path] })) ?? null
    return this
  }
}

/** The query parameter with an invalid key. */
export type QueryParameter = 'filters' | 'sort' | 'fields' | 'populate'

/** 400 `Invalid key K[ at PATH]`: a name that does not exist or may not be seen (errors.3). */
export function invalidKey(param: QueryParameter, key: string, path: string | null, code: IssueCode = 'unknown'): ApiError {
  const where = path !== null && path !== key ? ` at ${path}` : ''
  const error = new ApiError('ValidationError', `Invalid key ${key}${where}`, { key, path, source: 'query', param })
  return error.because([{ path: [param, ...keyPath(key, path)], message: error.message, code, params: { name: key } }])
}

/** The path of a key, which `path` may include. */
function keyPath(key: string, path: string | null): readonly string[] {
  if (path === null || path === key) return [key]
  const above = path.endsWith(`.${key}`) ? path.slice(0, -key.length - 1) : path
  return [...above.split('.'), key]
}

/** Creates a 400 error about invalid input. */
export const validationError = (message: string, details?: Readonly<Record<string, unknown>>): ApiError =>
  new ApiError('ValidationError', message, details)

/**
 * Creates a 400 error about one value of the input. As in Strapi, its details are empty: position, code and parameters are for the
 * administration.
 */
export const inputError = (message: string, path: InputMistake['path'], code: IssueCode, params: IssueParams = {}): ApiError =>
  validationError(message).because([{ path, message, code, params }])

/** Creates a 400 error with all errors of an input in its details. Its message is that of a single error, or their number. */
export function mistakenInput(mistakes: readonly InputMistake[]): ApiError {
  const errors = mistakes.map(({ path, message }) => ({ path: path.map(String), message, name: 'ValidationError' as const }))
  const message = errors.length === 1 ? errors[0]!.message : `${errors.length} errors occurred`
  return validationError(message, { errors }).because(mistakes)
}

/** Creates a 400 error at one path of the input. */
export const invalidAt = (path: InputMistake['path'], message: string, code: IssueCode = 'invalid', params: IssueParams = {}): ApiError =>
  mistakenInput([{ path, message, code, params }])

/** Creates a 404 error. */
export const notFound = (message = 'Not Found'): ApiError => new ApiError('NotFoundError', message)
/** Creates a 403 error; `action`: the one that the caller is not granted. */
export function forbidden(action?: string): ApiError {
  const error = new ApiError('ForbiddenError', 'Forbidden')
  return action === undefined ? error : error.about({ kind: 'permission', action })
}
/** Creates a 401 error. */
export const unauthorized = (message: string): ApiError => new ApiError('UnauthorizedError', message)

/** An invalid configuration, or an environment that cannot be used; the message is a sentence for the operator. */
export class ConfigError extends Error {}

/** The message for a taken value of a unique attribute. */
export const takenMessage = 'This attribute must be unique'

/** True if a write was refused because of such a value. */
export function isUniqueConflict(error: unknown): boolean {
  if (!(error instanceof ApiError) || error.status !== 400) return false
  const { errors = [] } = (error.details ?? {}) as { readonly errors?: readonly { readonly message?: unknown }[] }
  return errors.some(({ message }) => message === takenMessage)
}

/** Characters of one value in a message. */
const longestPrinted = 1_000
/** Bytes, as JSON, of a message or any other text, and of all details together. */
const longestText = 4_000
const longestDetails = 10_000
/** Nesting levels of a value in the details. */
const deepest = 250

/** Formats a value for a message: indented JSON with every scalar quoted, or `[…]` or `{…}` if that is too long. */
export function printed(value: unknown): string {
  if (typeof value !== 'object' || value === null) return printedScalar(value)
  if (printedLength(value, longestPrinted, 1) > longestPrinted) return Array.isArray(value) ? '[…]' : '{…}'
  return JSON.stringify(value, (_, inner: unknown) => (typeof inner === 'object' && inner !== null ? inner : printedScalar(inner)), 2)
}

function printedScalar(value: unknown): string {
  if (typeof value === 'string') return `"${value.length <= longestPrinted ? value : `${wellFormed(value.slice(0, longestPrinted))}…`}"`
  return Object.is(value, -0) ? '-0' : String(value)
}

/** Counts the characters of a printed value and stops beyond `most`. Indentation makes the length grow with the square of the depth. */
function printedLength(value: unknown, most: number, depth: number): number {
  if (typeof value === 'string') return value.length + 6
  if (!isStructure(value)) return 26
  let length = 4 * depth
  for (const key of keysOf(value)) {
    if (length > most) break
    length += (typeof key === 'number' ? 0 : key.length) + 2 * depth + printedLength(value[key], most - length, depth + 1)
  }
  return length
}

/** Truncates a text to `most` bytes as JSON. */
export function boundedText(text: string, most = longestText): string {
  if (text.length <= most && jsonBytes(text) <= most) return text
  let [bytes, end] = [3, 0]
  for (const character of text) {
    bytes += jsonBytes(character)
    if (bytes > most) break
    end += character.length
  }
  return `${text.slice(0, end)}…`
}

/** Truncates the details of an error. A list entry that does not fit is left out, together with all that follow. */
export function boundedDetails(details: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return fits(details, longestDetails) ? details : (beginning(details, longestDetails, 0) as Record<string, unknown>)
}

const jsonBytes = (text: string): number => Buffer.byteLength(JSON.stringify(text)) - 2
const wellFormed = (text: string): string => text.replace(/[\ud800-\udbff]$/, '')
/** Iterates lazily, because a list may have hundreds of thousands of entries. */
const keysOf = (value: object): Iterable<string | number> => (Array.isArray(value) ? value.keys() : Object.keys(value))
const isStructure = (value: unknown): value is Readonly<Record<string, unknown>> => typeof value === 'object' && value !== null

const fits = (value: unknown, most: number): boolean => sizeOf(value, most, 0) <= most

/** Counts the bytes of a value as JSON and stops beyond `most`. */
function sizeOf(value: unknown, most: number, depth: number): number {
  if (typeof value === 'string') return value.length > most ? value.length : jsonBytes(value) + 2
  if (!isStructure(value)) return 24
  if (depth > deepest) return Number.POSITIVE_INFINITY
  let size = 2
  for (const key of keysOf(value)) {
    size += (typeof key === 'number' ? 1 : sizeOf(key, most, depth) + 2) + sizeOf(value[key], most - size, depth + 1)
    if (size > most) break
  }
  return size
}

/** Returns the beginning of a value that fits in `most` bytes of JSON. */
function beginning(value: unknown, most: number, depth: number): unknown {
  if (typeof value === 'string') return boundedText(value, Math.min(most, longestText))
  if (!isStructure(value)) return value
  if (depth > deepest) return Array.isArray(value) ? '[…]' : '{…}'
  const entries: [string, unknown][] = []
  let room = most - 2
  for (const key of keysOf(value)) {
    const used = typeof key === 'number' ? 1 : sizeOf(key, room, depth) + 2
    const whole = fits(value[key], room - used)
    if (used + 8 > room || (!whole && Array.isArray(value) && entries.length > 0)) break
    const shown = whole ? value[key] : beginning(value[key], room - used, depth + 1)
    entries.push([String(key), shown])
    room -= used + sizeOf(shown, room, depth)
  }
  return Array.isArray(value) ? entries.map(([, shown]) => shown) : Object.fromEntries(entries)
}
