// Events that the parts of a service report for metrics. Without metrics, they have null instead.

/** A request whose response was sent, or whose connection was closed. */
interface MeasuredRequest {
  /** A method of HTTP, or `_OTHER`. */
  readonly method: string
  /** The template of its route with the type, such as `/api/articles/:documentId`, never its URL. */
  readonly route: string
  readonly status: number
  /** Null: an event stream, which goes on for as long as its client listens. */
  readonly seconds: number | null
  /** Bytes of the body that arrived; null: there is none. */
  readonly requestBytes: number | null
  /** Bytes of the body; null: there is none, it was not sent to its end, or its headers do not say. */
  readonly responseBytes: number | null
  /** The name of the error of a response with 500 or above, or its status; null: there was none. */
  readonly error: string | null
  /** Why the service refused it without doing the work; null: it did not. */
  readonly rejection: RejectionReason | null
}

export const rejectionReasons = ['rate_limit', 'too_large', 'too_complex', 'overload', 'pool_timeout', 'timeout', 'unavailable'] as const

/** Why a request was refused without doing its work. */
export type RejectionReason = (typeof rejectionReasons)[number]

/** Purpose of a database operation. */
export type DatabasePurpose = 'read' | 'write' | 'auth' | 'version' | 'outbox' | 'uploads' | 'accounts' | 'other'

/** A read, a transaction, or a single statement that writes. */
export type DatabaseOperation = 'SELECT' | 'transaction' | 'statement'

export const measuredResults = ['success', 'refused', 'failed'] as const

/** Result of an attempt; `failed`: by a failure of the service. */
export type MeasuredResult = (typeof measuredResults)[number]

export const webhookResults = ['delivered', 'failed', 'given_up'] as const

/** Result of a delivery attempt; `failed`: it is sent again; `given_up`: it is not. */
export type WebhookResult = (typeof webhookResults)[number]

export const limiters = ['address', 'account'] as const

/** The key of a rate limit. */
type LimitedBy = (typeof limiters)[number]

/** Receives what happens. Every label is one of a closed set: no value of a request is one. */
export interface Metrics {
  requestBegan(): void
  requestEnded(request: MeasuredRequest): void
  /** `role`: of the server that executed it. */
  databaseOperation(operation: DatabaseOperation, purpose: DatabasePurpose, role: 'primary' | 'replica', seconds: number): void
  /** The execution of a read has begun. `statements`: of its plan. */
  planExecuted(statements: number): void
  /** The validity of cached responses was checked. */
  cacheValidated(seconds: number): void
  /** A request was refused before it was one, because its headers were too large or too slow. */
  requestRefused(reason: RejectionReason): void
  /** An operation of the database failed; `errorClass`: one of a few words; `commit_unknown`: it may have been committed. */
  databaseFailed(errorClass: string): void
  /** A request was responded to with 304. */
  notModified(): void
  /** An attempt to deliver an event to a webhook. */
  webhookAttempted(result: WebhookResult, seconds: number): void
  /** A write of a document was committed; `action`: that of hooks. */
  documentWritten(uid: string, action: string): void
  /** A write of a document or user was refused because the value of a unique attribute is taken. */
  uniqueConflict(): void
  /** An image was processed, or could not be. */
  imageProcessed(seconds: number): void
  filesStored(files: number, bytes: number): void
  filesNotStored(files: number, result: Exclude<MeasuredResult, 'success'>): void
  /** An attempt at a route of sign-ins, such as `local`. */
  signInAttempt(route: string, result: MeasuredResult): void
  rateLimited(limiter: LimitedBy): void
}

/** Counts of all caches of plans of a service together, which they change themselves. */
export interface PlanCounts {
  /** Requests whose plan was cached. */
  hits: number
  /** Requests whose plan was compiled. */
  misses: number
  /** Evicted plans. */
  evictions: number
  /** Cached plans. */
  entries: number
}

/** Counts of caches that have done nothing yet. */
export const newPlanCounts = (): PlanCounts => ({ hits: 0, misses: 0, evictions: 0, entries: 0 })
