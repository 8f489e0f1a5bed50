// Opens the events of a service: event log, listeners of the project, and webhooks of the installation.
import type { MainConnection, WriteDatabase } from '../../database/database.js'
import type { EventListener } from '../../foundation/public/events.js'
import { runCode } from '../../foundation/runtime/project-code.js'
import { openLeases } from '../leases.js'
import { type Changes, followerTable, openChanges } from './changes.js'
import { type EventBacklog, openCursors, readBacklog } from './cursors.js'
import { type Deliveries, openDeliveries } from './deliveries.js'
import { type EventBatch, type EventLog, openEventLog, readEventBatch } from './event-log.js'
import { listenerConsumers } from './listeners.js'
import type { Recording } from './outbox.js'
import type { WebhookLimits, WebhookParts } from './webhooks/consumer.js'
import { openWebhookDeliveries } from './webhooks/deliveries.js'
import type { WebhookSettings } from './webhooks/open.js'
import { consumerOf, webhookTables } from './webhooks/webhook.js'

interface EventsOptions {
  readonly database: MainConnection
  readonly writer: WriteDatabase
  readonly listeners: readonly EventListener[]
  readonly webhooks: WebhookSettings
  /** True: events are recorded even without consumers. */
  readonly records: boolean
  readonly limits: EventLimits
  now(): number
  /** Reports failures of listeners and webhooks. */
  failed(consumer: string, error: unknown): void
  readonly givenUp: WebhookParts['givenUp']
  readonly attempted: WebhookParts['attempted']
  readonly tracing: WebhookParts['tracing']
}

interface EventLimits extends WebhookLimits {
  readonly hookTimeout: number
  readonly drainTimeout: number
  readonly outboxEvents: number
}

/** Recorded events without document content, for event streams. */
export interface StreamedEvents {
  /** Reads the next batch of events after a sequence. */
  read(after: number): Promise<EventBatch>
  /** Sequences of the oldest and the last stored event; 0 if there are none. */
  first(): Promise<number>
  last(): Promise<number>
  /**
   * Calls `listener` when there may be new events (those of other processes within two seconds); returns the function that unsubscribes it.
   */
  onEvents(listener: () => void): () => void
}

export interface Events {
  readonly log: EventLog
  readonly recording: Recording
  /** The tables of webhooks and followers, which other processes may change, and the function that reads them again. */
  readonly watched: { readonly tables: Readonly<Record<string, readonly string[]>>; reload(): Promise<void> }
  readonly streamed: StreamedEvents
  readonly changes: Changes
  /** Counts the events pending for listeners and webhooks of the installation. */
  backlog(): Promise<EventBacklog>
  /** Continues delivery for a short time; the next start delivers the rest. */
  close(): Promise<void>
}

/** Recorded events that are read at once for event streams; a larger event is read alone. */
const maxStreamReadBytes = 1_048_576

/** Concurrent requests to all webhooks of a process. */
const maxWebhookRequests = 50
/** Attempts to deliver an event to a listener: later events wait for them. */
const listenerAttempts = 10

/** Time limit for delivery on shutdown, in milliseconds. */
const longestClosing = 5_000

export async function openEvents(options: EventsOptions): Promise<Events> {
  const { database, writer, listeners, limits, records, now, failed } = options
  const log = openEventLog(database)
  const leases = openLeases(database, writer, (error) => failed('events', error))
  const cursors = openCursors(database, writer, leases)
  const inTime = async (name: string, run: () => unknown) => void (await runCode({ name, requestId: null }, limits.hookTimeout, run))
  const fixed = listenerConsumers(listeners, { attempts: listenerAttempts, timeout: limits.hookTimeout, inTime, failed })
  const names = fixed.map(({ name }) => name)
  const slots = { most: maxWebhookRequests + fixed.length, taken: 0 }
  const webhooks = openWebhookDeliveries({ ...options, settings: options.webhooks }, () => deliveries)
  const consumers = () => [...names, ...webhooks.registry.enabled().map(({ id }) => consumerOf(id))]
  const deliveries: Deliveries = openDeliveries({
    log,
    cursors,
    database,
    writer,
    slots,
    now,
    failed,
    outboxEvents: limits.outboxEvents,
    consumers,
  })
  const onChange: (() => void)[] = []
  const changed = (): void => {
    for (const call of onChange) call()
  }
  const changes = openChanges({ database, writer, changed, now, failed: (error) => failed('changes', error) })
  const reload = async (): Promise<void> => {
    await webhooks.registry.reload()
    await changes.reload()
    changed()
  }
  if (fixed.length > 0) {
    await cursors.register(names, await log.last())
    for (const consumer of fixed) deliveries.add(consumer)
  }
  return {
    log,
    recording: {
      isOn: () => records || fixed.length > 0 || webhooks.registry.enabled().length > 0 || changes.isFollowed(),
      onChange: (call) => void onChange.push(call),
      isFollowed: changes.isFollowed,
      wants: (event) => records || fixed.length > 0 || webhooks.registry.wants(event),
      unregistered: webhooks.registry.unregistered,
      neededFrom: deliveries.neededFrom,
      committed: () => {
        deliveries.committed()
        changes.committed()
      },
    },
    watched: { tables: { ...webhookTables, [followerTable]: ['name'] }, reload },
    streamed: {
      read: (after) => readEventBatch(database, after, maxStreamReadBytes),
      first: log.first,
      last: log.last,
      onEvents: deliveries.onEvents,
    },
    changes,
    backlog: () => readBacklog(database, consumers()),
    close: async () => {
      changes.close()
      await deliveries.close(Math.min(longestClosing, limits.drainTimeout / 5))
      webhooks.close()
      leases.close()
    },
  }
}
