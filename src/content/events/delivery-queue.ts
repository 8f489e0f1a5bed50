// Queue of deliveries to a consumer, in memory and as rows. Events with the same ordering key are delivered one after the other.
import { sql } from 'kysely'
import type { MainConnection, Transaction } from '../../database/database.js'
import { upsert } from '../../database/portable-sql.js'
import type { DeliveryOutcome } from './consumer.js'

export interface QueuedEvent {
  readonly sequence: number
  readonly orderingKey: string
  readonly attempts: number
  /** Earliest time of the next attempt, in milliseconds since 1970. */
  readonly dueAt: number
  /** True if the event has a pending row, so that the cursor may pass it. */
  readonly isStored: boolean
}

export interface DeliveryQueue {
  has(sequence: number): boolean
  /** Inserts an event by sequence among those with the same key. */
  add(event: QueuedEvent): void
  /** Replaces an event by one that is due earlier, unless it is being attempted. */
  reschedule(event: QueuedEvent): void
  /** Takes the next event due at `now`. It remains at the head of its key until `end`. */
  take(now: number): QueuedEvent | null
  /** Ends the attempt of an event: removes it, or replaces it by `next`. */
  end(event: QueuedEvent, next: QueuedEvent | null): void
  /** Unstored events queued after one of `failed`, or after one that is pending for a retry. */
  blockedBy(failed: readonly QueuedEvent[]): readonly QueuedEvent[]
  /** Marks an event as stored in a row. */
  stored(event: QueuedEvent): void
  counts(): { readonly stored: number; readonly unstored: number }
  /** The lowest unstored sequence, except these; null if there is none. */
  firstUnstored(except: ReadonlySet<number>): number | null
  /** When the next event is due, in milliseconds since 1970; null if there is none, or all are being attempted. */
  nextDue(): number | null
  running(): number
}

export function openDeliveryQueue(): DeliveryQueue {
  /** By ordering key, in round-robin order; events of a key by sequence. */
  const queues = new Map<string, QueuedEvent[]>()
  /** Keys whose first event is being attempted. */
  const running = new Set<string>()
  const events = new Map<number, QueuedEvent>()

  const replace = (event: QueuedEvent): void => {
    events.set(event.sequence, event)
    const queue = queues.get(event.orderingKey)!
    queue[queue.findIndex(({ sequence }) => sequence === event.sequence)] = event
  }
  const heads = function* (): Iterable<QueuedEvent> {
    for (const [key, [head]] of queues) if (!running.has(key)) yield head!
  }

  return {
    has: (sequence) => events.has(sequence),
    add: (event) => {
      events.set(event.sequence, event)
      const queue = queues.get(event.orderingKey) ?? []
      insertInOrder(queue, event, running.has(event.orderingKey) ? 1 : 0)
      queues.set(event.orderingKey, queue)
    },
    reschedule: (event) => {
      const isAttempted = running.has(event.orderingKey) && queues.get(event.orderingKey)![0]!.sequence === event.sequence
      if (!isAttempted && event.dueAt < events.get(event.sequence)!.dueAt) replace(event)
    },
    take: (now) => {
      for (const event of heads()) {
        if (event.dueAt > now) continue
        running.add(event.orderingKey)
        return event
      }
      return null
    },
    end: (event, next) => {
      running.delete(event.orderingKey)
      if (next !== null) return replace(next)
      events.delete(event.sequence)
      const rest = queues.get(event.orderingKey)!.filter(({ sequence }) => sequence !== event.sequence)
      queues.delete(event.orderingKey)
      // Moves the key to the end: round-robin.
      if (rest.length > 0) queues.set(event.orderingKey, rest)
    },
    blockedBy: (failed) => {
      const keys = new Set(failed.map(({ orderingKey }) => orderingKey))
      return unstoredBehind(
        queues.values(),
        ({ orderingKey, attempts }) => keys.has(orderingKey) || (attempts > 0 && !running.has(orderingKey)),
      )
    },
    stored: (event) => replace({ ...event, isStored: true }),
    counts: () => countsOf(events.values()),
    firstUnstored: (except) => least(events.values(), ({ sequence, isStored }) => (isStored || except.has(sequence) ? null : sequence)),
    nextDue: () => least(heads(), ({ dueAt }) => dueAt),
    running: () => running.size,
  }
}

/** Inserts an event by sequence, not before index `from`. */
function insertInOrder(queue: QueuedEvent[], event: QueuedEvent, from: number): void {
  const at = queue.findIndex(({ sequence }, index) => index >= from && sequence > event.sequence)
  queue.splice(at === -1 ? queue.length : at, 0, event)
}

function countsOf(events: Iterable<QueuedEvent>): ReturnType<DeliveryQueue['counts']> {
  let stored = 0
  let unstored = 0
  for (const { isStored } of events) {
    if (isStored) stored++
    else unstored++
  }
  return { stored, unstored }
}

/** Unstored events of queues whose first event is pending for a retry. */
const unstoredBehind = (queues: Iterable<readonly QueuedEvent[]>, isWaiting: (head: QueuedEvent) => boolean): readonly QueuedEvent[] =>
  [...queues].flatMap(([head, ...rest]) => (isWaiting(head!) ? rest.filter((event) => !event.isStored) : []))

/** The minimum of a property; null if no event has it. */
function least(events: Iterable<QueuedEvent>, of: (event: QueuedEvent) => number | null): number | null {
  let found: number | null = null
  for (const event of events) {
    const number = of(event)
    if (number !== null && (found === null || number < found)) found = number
  }
  return found
}

interface StoredDeliveries {
  readonly waiting: readonly QueuedEvent[]
  /** Sequences after the cursor that were delivered or given up. */
  readonly handled: ReadonlySet<number>
}

export interface AttemptResult {
  readonly event: QueuedEvent
  readonly outcome: DeliveryOutcome
  /** Time of the next attempt, in milliseconds since 1970. */
  readonly dueAt: number
  /** End of the pause that the consumer requested, in milliseconds since 1970; 0 for none. */
  readonly pausedUntil: number
}

interface DeliveryProgress {
  readonly consumer: string
  readonly cursor: number
  readonly results: readonly AttemptResult[]
  /** Events queued after a failed one. */
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

/** Reads the pending events of a consumer, and those after its cursor. */
export async function readDeliveries(database: Pick<MainConnection, 'rows'>, consumer: string, cursor: number): Promise<StoredDeliveries> {
  const rows = await database.rows<DeliveryRow>(
    sql`select sequence, ordering_key, state, attempts, due_at from ${table}
      where consumer = ${consumer} and (state = 'waiting' or sequence > ${cursor}) order by sequence`,
  )
  return {
    waiting: rows
      .filter(({ state }) => state === 'waiting')
      .map(({ sequence, ordering_key, attempts, due_at }) => ({
        sequence,
        orderingKey: ordering_key,
        attempts,
        dueAt: due_at,
        isStored: true,
      })),
    handled: new Set(rows.filter(({ state }) => state !== 'waiting').map(({ sequence }) => sequence)),
  }
}

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

/** Inserts or replaces a row. */
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

/** Deletes the rows of delivered events before the cursor, and those of given-up events that are no longer in the outbox. */
const deletePassed = (consumer: string, cursor: number) =>
  sql`delete from ${table} where consumer = ${consumer} and sequence <= ${cursor} and (state = 'done'
    or (state = 'failed' and sequence < (select coalesce(min(sequence), 0) from octavo_outbox)))`

/** Pending events of a consumer: the due time of the next attempt, in milliseconds since 1970, and the oldest sequence. */
interface WaitingDeliveries {
  readonly due: number
  readonly first: number
}

/** Reads pending events, by consumer. An ordering key is due when its first event is; later ones have the due time 0. */
export async function readWaiting(database: Pick<MainConnection, 'rows'>): Promise<ReadonlyMap<string, WaitingDeliveries>> {
  const rows = await database.rows<{ consumer: string; due: number; first: number }>(
    sql`select consumer, min(due) as due, min(first) as first from (
      select consumer, ordering_key, max(due_at) as due, min(sequence) as first from ${table}
      where state = 'waiting' group by consumer, ordering_key
    ) as by_key group by consumer`,
  )
  return new Map(rows.map(({ consumer, due, first }) => [consumer, { due, first }]))
}

/** An event that is pending for a retry, or was given up. */
export interface UnfinishedDelivery {
  readonly sequence: number
  readonly attempts: number
  /** Time of the next attempt, in milliseconds since 1970; 0 if the event was given up, or is queued after another one. */
  readonly dueAt: number
}

/** Returns the pending or given-up events of a consumer, oldest first. */
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
