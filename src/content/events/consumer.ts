// A consumer of events: a listener of the project or a webhook. It selects events and their ordering, and handles the results of attempts.
// And the shared state of all deliveries of a process.
import type { RawBuilder } from 'kysely'
import type { MainConnection, WriteDatabase } from '../../database/database.js'
import type { Cursors } from './cursors.js'
import type { EventHead, EventLog, RecordedEvent } from './event-log.js'

/** The outcome of an attempt to deliver an event. */
export type DeliveryOutcome = {
  /** A statement that logs the attempt, in the transaction that stores the outcome. */
  readonly logStatement: RawBuilder<unknown> | null
} & (
  | { readonly kind: 'delivered' }
  /** It is tried again after `pause` milliseconds; no event is sent to this consumer for `consumerPause` milliseconds. */
  | { readonly kind: 'failed'; readonly pause: number; readonly consumerPause: number }
  /** It is not tried again. */
  | { readonly kind: 'given-up' }
)

/** A receiver of events. */
export interface Consumer {
  /** The name of its cursor. */
  readonly name: string
  /** The most events that are delivered at the same time. */
  readonly concurrency: number
  /** Maximum number of events pending for a retry, or queued after one, without blocking others. */
  readonly mostWaiting: number
  /** The longest that an attempt takes, and the longest pause between two, in milliseconds. */
  readonly longestAttempt: number
  readonly longestPause: number
  wants(head: EventHead): boolean
  /** Events with the same ordering key are delivered one after the other, in order; others do not wait for them. */
  orderingKeyOf(head: EventHead): string
  /** Attempts to deliver an event: the `attempt`-th attempt, from 1. Does not reject unless `signal` is aborted. */
  deliver(event: RecordedEvent, attempt: number, signal: AbortSignal): Promise<DeliveryOutcome>
  /** Called instead for an event that was deleted from the outbox while it waited. */
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
  /** The time of day. */
  now(): number
  /** Reports failures, and events that were deleted before delivery. */
  failed(consumer: string, error: unknown): void
}

/** Maximum number of concurrent attempts of a process, for all consumers. */
export interface AttemptSlots {
  readonly most: number
  taken: number
}
