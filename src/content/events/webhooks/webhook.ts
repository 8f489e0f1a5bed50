// Webhooks in Strapi's own table, which its admin panel and `octavo webhooks` write.
import { sql } from 'kysely'
import type { MainConnection } from '../../../database/database.js'
import { didYouMean } from '../../../foundation/errors/did-you-mean.js'
import { notFound } from '../../../foundation/errors/errors.js'
import { type EntryEventName, entryEvents, type MediaEventName } from '../../../foundation/public/events.js'
import { consumerTable } from '../cursors.js'

export interface Webhook {
  readonly id: number
  readonly name: string
  readonly url: string
  /** Custom headers; may contain secrets. */
  readonly headers: Readonly<Record<string, string>>
  /** Subscribed events, possibly unknown ones. */
  readonly events: readonly string[]
  readonly isEnabled: boolean
}

/** Events that a webhook can subscribe to. */
export const webhookEvents: readonly (EntryEventName | MediaEventName)[] = [...entryEvents, 'media.create', 'media.update', 'media.delete']

const prefix = 'webhook '

export const consumerOf = (id: number): string => `${prefix}${id}`

/** The id of the webhook with this consumer name; null if it is another consumer. */
export function webhookOf(consumer: string): number | null {
  const id = consumer.startsWith(prefix) ? Number(consumer.slice(prefix.length)) : Number.NaN
  return Number.isSafeInteger(id) ? id : null
}

/** Columns that change whenever webhooks change, or one gets a cursor. */
export const webhookTables: Readonly<Record<string, readonly string[]>> = {
  strapi_webhooks: ['id', 'name', 'url', 'headers', 'events', 'enabled'],
  [consumerTable]: ['name'],
}

interface WebhookRow {
  readonly id: number
  readonly name: string | null
  readonly url: string | null
  readonly headers: unknown
  readonly events: unknown
  readonly enabled: number | boolean | null
}

/** Reads all webhooks by id. */
export async function readWebhooks(database: Pick<MainConnection, 'rows'>): Promise<readonly Webhook[]> {
  const rows = await database.rows<WebhookRow>(sql`select id, name, url, headers, events, enabled from strapi_webhooks order by id`)
  return rows.map(({ id, name, url, headers, events, enabled }) => ({
    id,
    name: name ?? '',
    url: url ?? '',
    headers: headersIn(parsed(headers)),
    events: eventsIn(parsed(events)),
    isEnabled: Number(enabled) === 1,
  }))
}

/** Finds a webhook by name or id. @throws ApiError 404 */
export async function findWebhook(database: Pick<MainConnection, 'rows'>, nameOrId: string): Promise<Webhook> {
  const webhooks = await readWebhooks(database)
  const found = webhooks.find(({ name }) => name === nameOrId) ?? webhooks.find(({ id }) => String(id) === nameOrId)
  if (found !== undefined) return found
  const names = webhooks.map(({ name }) => name)
  throw notFound(`There is no webhook "${nameOrId}"${didYouMean(nameOrId, names)}`)
}

/** Parses leniently, because other programs write the table. */
function parsed(stored: unknown): unknown {
  if (typeof stored !== 'string') return stored
  try {
    return JSON.parse(stored) as unknown
  } catch {
    return null
  }
}

const eventsIn = (value: unknown): readonly string[] =>
  Array.isArray(value) ? value.filter((event): event is string => typeof event === 'string') : []

const headersIn = (value: unknown): Readonly<Record<string, string>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).map(([name, text]) => [name, String(text)]))
    : {}
