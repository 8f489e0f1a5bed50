// The webhooks of the installation as this process knows them: read at the start, and again after a commit that changed them, together with
// the access rules, so that a webhook made by another process gets the events of the next request.
import { sql } from 'kysely'
import type { MainConnection } from '../../../database/database.js'
import { consumerTable } from '../cursors.js'
import { consumerOf, readWebhooks, type Webhook, webhookEvents, webhookOf } from './webhook.js'

/** The webhooks of the installation. */
export interface WebhookRegistry {
  /** Those that are enabled. */
  enabled(): readonly Webhook[]
  /** True if an enabled webhook wants an event of this name. */
  wants(event: string): boolean
  /** The consumers of enabled webhooks that have no cursor yet: they get one with the first event that is recorded. */
  unregistered(): readonly string[]
  reload(): Promise<void>
}

/** Opens the registry. `changed` is called when webhooks were read again; `stale`: webhooks that are not enabled and still have a cursor. */
export function openWebhookRegistry(database: Pick<MainConnection, 'rows'>, changed: (stale: readonly number[]) => void): WebhookRegistry {
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
