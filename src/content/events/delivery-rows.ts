// The rows of events that the cursor of a consumer does not describe: they wait for another attempt, were given up, or were delivered ahead
// of the cursor.
import { sql } from 'kysely'
import type { MainConnection, Transaction } from '../../database/database.js'
import { upsert } from '../../database/portable-sql.js'
import type { DeliveryOutcome } from './consumer.js'
import type { QueuedEvent } from './delivery-queue.js'

/** The rows of a consumer. */
export interface StoredDeliveries {
  readonly waiting: readonly QueuedEvent[]
  /** Sequences beyond the cursor that were delivered or given up. */
  readonly handled: ReadonlySet<number>
}

/** The result of an attempt. */
export interface AttemptResult {
  readonly event: QueuedEvent
  readonly outcome: DeliveryOutcome
  /** When the next attempt is due, in milliseconds since 1970. */
  readonly dueAt: number
  /** Until when the consumer wants no events; 0 if it said nothing about that. */
  readonly pausedUntil: number
}

/** The stored state of the deliveries to a consumer. */
export interface DeliveryProgress {
  readonly consumer: string
  readonly cursor: number
  readonly results: readonly AttemptResult[]
  /** Events that are now queued after others. */
  readonly blocked: readonly QueuedEvent[]
}

type DeliveryRowState = 'waiting' | 'failed' | 'done'

interface DeliveryRow {
  readonly sequence: number
  readonly ordering_key: string
  readonly state: DeliveryRowState
  readonly attempts: number
  readonly due_at: number
}

const name = 'octavo_deliveries'
const table = sql.table(name)

/** Reads the pending events of a consumer, and those beyond its cursor. */
export async function readDeliveries(database: Pick<MainConnection, 'rows'>, consumer: string, cursor: number): Promise<StoredDeliveries> {
  const rows = await database.rows<DeliveryRow>(
    sql`select sequence, ordering_key, state, attempts, due_at from ${table}
      where consumer = ${consumer} and (state = 'waiting' or sequence > ${cursor}) order by sequence`,
  )
  return {
    waiting: rows
      .filter(({ state }) => state === 'waiting')
      .map(({ sequence, ordering_key, attempts, due_at }) => ({
        ...{ sequence, orderingKey: ordering_key, attempts, dueAt: due_at, isStored: true },
      })),
    handled: new Set(rows.filter(({ state }) => state !== 'waiting').map(({ sequence }) => sequence)),
  }
}

/** Stores the results of attempts. */
export function storeProgress(transaction: Transaction, { consumer, cursor, results, blocked }: DeliveryProgress): void {
  const put = (state: DeliveryRowState, { sequence, orderingKey, attempts }: QueuedEvent, dueAt: number): void =>
    transaction.follow(putDelivery(consumer, state, { sequence, orderingKey, attempts, dueAt }))
  for (const { event, outcome, dueAt } of results) {
    if (outcome.logStatement !== null) transaction.follow(outcome.logStatement)
    const attempted = { ...event, attempts: event.attempts + 1 }
    if (outcome.kind === 'failed') put('waiting', attempted, dueAt)
    else if (outcome.kind === 'given-up') put('failed', attempted, 0)
    else if (event.sequence > cursor) put('done', attempted, 0)
    else if (event.isStored) transaction.follow(sql`delete from ${table} where consumer = ${consumer} and sequence = ${event.sequence}`)
  }
  for (const event of blocked) put('waiting', event, 0)
  if (results.length > 0) transaction.follow(deletePassed(consumer, cursor))
}

/** The statement that inserts a row, or replaces it. */
export const putDelivery = (
  consumer: string,
  state: DeliveryRowState,
  { sequence, orderingKey, attempts, dueAt }: Pick<QueuedEvent, 'sequence' | 'orderingKey' | 'attempts' | 'dueAt'>,
) =>
  upsert(
    name,
    { consumer, sequence, ordering_key: orderingKey, state, attempts, due_at: dueAt },
    ['consumer', 'sequence'],
    sql`state = ${state}, attempts = ${attempts}, due_at = ${dueAt}`,
  )

/** Deletes rows that the cursor has passed, and those of events that were given up and that the outbox no longer has. */
const deletePassed = (consumer: string, cursor: number) =>
  sql`delete from ${table} where consumer = ${consumer} and sequence <= ${cursor} and (state = 'done'
    or (state = 'failed' and sequence < (select coalesce(min(sequence), 0) from octavo_outbox)))`

/** Pending events of a consumer: the time of the next attempt, in milliseconds since 1970, and the oldest event. */
export interface WaitingDeliveries {
  readonly due: number
  readonly first: number
}

/** Reads pending events, by consumer. An ordering key is due when its first event is; the due times of later ones are 0. */
export async function readWaiting(database: Pick<MainConnection, 'rows'>): Promise<ReadonlyMap<string, WaitingDeliveries>> {
  const rows = await database.rows<{ consumer: string; due: number; first: number }>(
    sql`select consumer, min(due) as due, min(first) as first from (
      select consumer, ordering_key, max(due_at) as due, min(sequence) as first from ${table}
      where state = 'waiting' group by consumer, ordering_key
    ) as by_key group by consumer`,
  )
  return new Map(rows.map(({ consumer, due, first }) => [consumer, { due, first }]))
}

/** An event that waits for another attempt, or was given up. */
export interface UnfinishedDelivery {
  readonly sequence: number
  /** Attempts so far. */
  readonly attempts: number
  /** The time of the next attempt, in milliseconds since 1970; 0 if the event was given up, or is queued after another one. */
  readonly dueAt: number
}

/** Returns the events of a consumer that wait or were given up, the oldest first. */
export function readUnfinished(
  database: Pick<MainConnection, 'rows'>,
  consumer: string,
  state: 'waiting' | 'failed',
): Promise<readonly UnfinishedDelivery[]> {
  return database.rows<UnfinishedDelivery>(
    sql`select sequence, attempts, due_at as ${sql.id('dueAt')} from ${table}
      where consumer = ${consumer} and state = ${state} order by sequence`,
  )
}
