// Event consumers, which are listeners and webhooks: selection and ordering of events, and results of attempts.
import type { RawBuilder } from 'kysely'
import type { MainConnection, WriteDatabase } from '../../database/database.js'
import type { Cursors } from './cursors.js'
import type { EventHead, EventLog, RecordedEvent } from './event-log.js'

export type DeliveryOutcome = {
  /** Logs the attempt, in the transaction that stores the outcome. */
  readonly logStatement: RawBuilder<unknown> | null
} & (
  | { readonly kind: 'delivered' }
  /** Retried after `pause` milliseconds; the consumer gets no events for `consumerPause` milliseconds. */
  | { readonly kind: 'failed'; readonly pause: number; readonly consumerPause: number }
  /** Not retried. */
  | { readonly kind: 'given-up' }
)

/** A receiver of events. */
export interface Consumer {
  /** The name of its cursor. */
  readonly name: string
  /** Maximum number of concurrent attempts. */
  readonly concurrency: number
  /** Maximum number of stored events (pending retries, and events blocked by one) before delivery of others stops. */
  readonly mostWaiting: number
  /** Maximum duration of an attempt, and maximum pause between two, in milliseconds. */
  readonly longestAttempt: number
  readonly longestPause: number
  wants(head: EventHead): boolean
  /** Events with the same ordering key are delivered one at a time, in order. */
  orderingKeyOf(head: EventHead): string
  /** Makes the `attempt`-th attempt, counted from 1. Rejects only if `signal` is aborted. */
  deliver(event: RecordedEvent, attempt: number, signal: AbortSignal): Promise<DeliveryOutcome>
  /** Replaces `deliver` for an event that was deleted from the outbox while pending. */
  missed(sequence: number, attempt: number): DeliveryOutcome
}

export interface DeliveryParts {
  readonly log: EventLog
  readonly cursors: Cursors
  readonly database: Pick<MainConnection, 'rows'>
  readonly writer: Pick<WriteDatabase, 'transaction'>
  readonly slots: AttemptSlots
  /** No event up to this sequence was ever deleted. */
  readonly outboxEvents: number
  now(): number
  /** Reports failures, and events that were deleted before delivery. */
  failed(consumer: string, error: unknown): void
}

/** Maximum number of concurrent attempts of a process, for all consumers. */
interface AttemptSlots {
  readonly most: number
  taken: number
}
