// The webhooks that this process delivers to: the enabled ones, updated when webhooks change.

import { sql } from 'kysely'
import type { MainConnection, WriteDatabase } from '../../../database/database.js'
import { consumerTable } from '../cursors.js'
import type { Deliveries } from '../deliveries.js'
import type { WebhookLimits, WebhookParts } from './consumer.js'
import { openWebhookConsumers, type WebhookConsumers, type WebhookSettings } from './open.js'
import { consumerOf, readWebhooks, type Webhook, webhookEvents, webhookOf } from './webhook.js'
import { endDeliveries } from './write.js'

interface WebhookDeliveriesOptions {
  readonly database: MainConnection
  readonly writer: WriteDatabase
  readonly settings: WebhookSettings
  readonly limits: WebhookLimits
  now(): number
  failed(consumer: string, error: unknown): void
  readonly givenUp: WebhookParts['givenUp']
  readonly attempted: WebhookParts['attempted']
  readonly tracing: WebhookParts['tracing']
}

/** The webhooks of the installation, and the deliveries of this process. */
interface WebhookDeliveries {
  readonly registry: WebhookRegistry
  close(): void
}

export function openWebhookDeliveries(options: WebhookDeliveriesOptions, deliveries: () => Deliveries): WebhookDeliveries {
  const { writer, settings, failed } = options
  let consumers: WebhookConsumers | null = null
  let isClosed = false

  const registry = openWebhookRegistry(options.database, (stale) => {
    deliveries().changed()
    synchronizing = synchronizing.then(() => synchronize(stale)).catch((error) => failed('webhooks', error))
  })
  let synchronizing: Promise<void> = Promise.resolve()

  /** Starts deliveries to enabled webhooks, and stops the others. */
  async function synchronize(stale: readonly number[]): Promise<void> {
    const enabled = registry.enabled()
    const wanted = new Set(enabled.map(({ id }) => consumerOf(id)))
    const gone = deliveries()
      .names()
      .filter((name) => webhookOf(name) !== null && !wanted.has(name))
    for (const name of gone) await deliveries().remove(name)
    for (const id of stale) await endDeliveries(writer, id)
    if (enabled.length === 0 || !settings.deliver || isClosed) return
    consumers ??= openWebhookConsumers({ ...options, failed: (error) => failed('webhooks', error) })
    const present = new Set(deliveries().names())
    for (const webhook of enabled) {
      if (isClosed) return
      if (!present.has(consumerOf(webhook.id))) deliveries().add(consumers.consumerFor(latest(registry, webhook)))
    }
  }

  return {
    registry,
    close: () => {
      isClosed = true
      consumers?.close()
    },
  }
}

/** Returns the current configuration of a webhook, or the last known one. */
function latest(registry: WebhookRegistry, webhook: Webhook): () => Webhook {
  let known = webhook
  return () => {
    known = registry.enabled().find(({ id }) => id === webhook.id) ?? known
    return known
  }
}

interface WebhookRegistry {
  enabled(): readonly Webhook[]
  /** True if an enabled webhook subscribes to this event. */
  wants(event: string): boolean
  /** Consumers of enabled webhooks without a cursor; the next recorded event registers them. */
  unregistered(): readonly string[]
  reload(): Promise<void>
}

/** Opens the registry. `changed` is called after each reload; `stale`: webhooks that are not enabled but have a cursor. */
function openWebhookRegistry(database: Pick<MainConnection, 'rows'>, changed: (stale: readonly number[]) => void): WebhookRegistry {
  let enabled: readonly Webhook[] = []
  let wanted: ReadonlySet<string> = new Set()
  let unregistered: readonly string[] = []
  return {
    enabled: () => enabled,
    wants: (event) => wanted.has(event),
    unregistered: () => unregistered,
    reload: async () => {
      const webhooks = await readWebhooks(database)
      const cursors = await database.rows<{ name: string }>(sql`select name from ${sql.table(consumerTable)}`)
      const known = new Set(cursors.map(({ name }) => name))
      enabled = webhooks.filter(({ isEnabled }) => isEnabled)
      const consumers = enabled.map(({ id }) => consumerOf(id))
      wanted = new Set(webhookEvents.filter((event) => enabled.some(({ events }) => events.includes(event))))
      unregistered = consumers.filter((name) => !known.has(name))
      changed([...known].filter((name) => !consumers.includes(name)).flatMap((name) => webhookOf(name) ?? []))
    },
  }
}
