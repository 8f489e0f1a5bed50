// Shared state of all deliveries of a process.
import type { MainConnection, WriteDatabase } from '../../database/database.js'
import type { Cursors } from './cursors.js'
import type { EventLog } from './event-log.js'

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
