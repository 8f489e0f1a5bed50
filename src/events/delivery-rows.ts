// The rows of events that a consumer is not simply done with: they wait for another attempt, were given up, or were delivered ahead of the
// cursor.
import { sql } from 'kysely'
import type { MainConnection, Transaction } from '../database/database.js'
import { upsert } from '../database/fragments.js'
import type { DeliveryOutcome } from './consumer.js'
import type { Task } from './lanes.js'

/** What the database knows of the deliveries to a consumer apart from its cursor. */
export interface StoredDeliveries {
  readonly waiting: readonly Task[]
  /** Sequences beyond the cursor that the consumer is done with. */
  readonly handled: ReadonlySet<number>
}

/** An attempt that has ended, and what becomes of its event. */
export interface Settled {
  readonly task: Task
  readonly outcome: DeliveryOutcome
  /** When the next attempt is due, in milliseconds since 1970. */
  readonly dueAt: number
}

/** What is to be stored about the deliveries to a consumer. */
export interface DeliveryProgress {
  readonly consumer: string
  readonly cursor: number
  readonly settled: readonly Settled[]
  /** Tasks that wait from now on behind others. */
  readonly parked: readonly Task[]
}

type DeliveryRowState = 'waiting' | 'failed' | 'done'

interface DeliveryRow {
  readonly sequence: number
  readonly lane: string
  readonly state: DeliveryRowState
  readonly attempts: number
  readonly due_at: number
}

const name = 'octavo_deliveries'
const table = sql.table(name)

/** Reads what waits for a consumer, and what lies beyond its cursor. */
export async function readDeliveries(database: Pick<MainConnection, 'rows'>, consumer: string, cursor: number): Promise<StoredDeliveries> {
  const rows = await database.rows<DeliveryRow>(
    sql`select sequence, lane, state, attempts, due_at from ${table}
      where consumer = ${consumer} and (state = 'waiting' or sequence > ${cursor}) order by sequence`,
  )
  return {
    waiting: rows
      .filter(({ state }) => state === 'waiting')
      .map(({ sequence, lane, attempts, due_at }) => ({ sequence, lane, attempts, dueAt: due_at, isStored: true })),
    handled: new Set(rows.filter(({ state }) => state !== 'waiting').map(({ sequence }) => sequence)),
  }
}

/** Stores how attempts have ended. */
export function storeProgress(transaction: Transaction, { consumer, cursor, settled, parked }: DeliveryProgress): void {
  const put = (state: DeliveryRowState, { sequence, lane, attempts }: Task, dueAt: number): void =>
    transaction.follow(putDelivery(consumer, state, { sequence, lane, attempts, dueAt }))
  for (const { task, outcome, dueAt } of settled) {
    if (outcome.note !== null) transaction.follow(outcome.note)
    const attempted = { ...task, attempts: task.attempts + 1 }
    if (outcome.kind === 'failed') put('waiting', attempted, dueAt)
    else if (outcome.kind === 'given-up') put('failed', attempted, 0)
    else if (task.sequence > cursor) put('done', attempted, 0)
    else if (task.isStored) transaction.follow(sql`delete from ${table} where consumer = ${consumer} and sequence = ${task.sequence}`)
  }
  for (const task of parked) put('waiting', task, 0)
  if (settled.length > 0) transaction.follow(deletePassed(consumer, cursor))
}

/** A row as it is put in place of one that is there. */
export const putDelivery = (
  consumer: string,
  state: DeliveryRowState,
  { sequence, lane, attempts, dueAt }: Pick<Task, 'sequence' | 'lane' | 'attempts' | 'dueAt'>,
) =>
  upsert(
    name,
    { consumer, sequence, lane, state, attempts, due_at: dueAt },
    ['consumer', 'sequence'],
    sql`state = ${state}, attempts = ${attempts}, due_at = ${dueAt}`,
  )

/** Deletes rows that the cursor has passed, and those of events that were given up and that the outbox no longer has. */
const deletePassed = (consumer: string, cursor: number) =>
  sql`delete from ${table} where consumer = ${consumer} and sequence <= ${cursor} and (state = 'done'
    or (state = 'failed' and sequence < (select coalesce(min(sequence), 0) from octavo_outbox)))`

/** What waits for a consumer: when the next attempt is due, in milliseconds since 1970, and the oldest event. */
export interface WaitingDeliveries {
  readonly due: number
  readonly first: number
}

/** Reads what waits, by consumer. A lane is due when its first event is; those behind it have no moment of their own. */
export async function readWaiting(database: Pick<MainConnection, 'rows'>): Promise<ReadonlyMap<string, WaitingDeliveries>> {
  const rows = await database.rows<{ consumer: string; due: number; first: number }>(
    sql`select consumer, min(due) as due, min(first) as first from (
      select consumer, lane, max(due_at) as due, min(sequence) as first from ${table} where state = 'waiting' group by consumer, lane
    ) as lanes group by consumer`,
  )
  return new Map(rows.map(({ consumer, due, first }) => [consumer, { due, first }]))
}

/** An event that waits for another attempt, or was given up. */
export interface UnfinishedDelivery {
  readonly sequence: number
  /** Attempts so far. */
  readonly attempts: number
  /** When the next attempt is due, in milliseconds since 1970; 0 if the event was given up, or waits behind another one. */
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
