// An exchange: what hints know of a request and of its response, which is decided.
import type { IncomingHttpHeaders } from 'node:http'
import type { DocumentReads } from '../../content/documents/read/find.js'
import type { Config } from '../../foundation/config/config.js'
import type { ApiError } from '../../foundation/errors/errors.js'
import type { AccessState } from '../../identity/access/access-state.js'
import type { Caller } from '../../identity/access/identify.js'
import type { ContentType, Model } from '../../model/schema/types.js'
import type { Parameters } from '../../query/rest/parameters.js'

/** A request, and how it is answered. */
export interface HintedExchange {
  /** In capitals. */
  readonly method: string
  /** Without the query string, decoded as far as possible. */
  readonly path: string
  readonly parameters: Parameters
  readonly headers: IncomingHttpHeaders
  readonly status: number
  /** The error of the response; null if there is none. */
  readonly error: ApiError | null
  readonly config: Config
  readonly model: Model
  /** The content-type that the request is about; null if it is about none. */
  readonly type: ContentType | null
  /** The document or row that the path names. */
  readonly documentId: string | null
  /** What the route was given; null if the request was refused before. */
  readonly asked: ServedRequest | null
}

/** An exchange as the server sees it, whose query is a text. */
export interface RawExchange extends Omit<HintedExchange, 'parameters'> {
  /** Without the question mark. */
  readonly query: string
}

/** What a route was given, and what it did. */
export interface ServedRequest {
  readonly caller: Caller
  readonly access: AccessState
  readonly documents: DocumentReads
  /** The body that was read; null if none was. `value` is undefined where it is empty or of a type that is not read. */
  readonly body: { readonly value: unknown } | null
  /** True if a write found no such document, and did nothing. */
  readonly wroteNothing: boolean
}

/** Says what is wrong with a request and how to repair it, in one or two sentences; null if that is about something else. */
export type Hint = (exchange: HintedExchange) => string | null | Promise<string | null>
