// Writes webhooks: Strapi's table, and Octavo's additional tables.
import { sql } from 'kysely'
import { serviceTransaction, type Transaction, type WriteDatabase } from '../../../database/database.js'
import { endOfPause, registration, removal } from '../cursors.js'
import { putDelivery } from '../delivery-queue.js'
import { type EventHead, openEventLog } from '../event-log.js'
import type { WebhookInput } from './request.js'
import { rotateSecret } from './secrets.js'
import { consumerOf, type Webhook } from './webhook.js'

const table = sql.table('strapi_webhooks')

/** Creates a webhook that gets events from now on. Returns its id and secret. */
export async function createWebhook(
  transaction: Transaction,
  { name, url, headers, events }: WebhookInput,
  isEnabled: boolean,
  now: number,
): Promise<{ readonly id: number; readonly secret: string }> {
  const id = await transaction.insert(sql`insert into ${table} (name, url, headers, events, enabled)
    values (${name}, ${url}, ${JSON.stringify(headers)}, ${JSON.stringify(events)}, ${Number(isEnabled)})`)
  if (isEnabled) await registerWebhook(transaction, id)
  return { id, secret: await rotateSecret(transaction, id, now) }
}

/** Updates a webhook. A newly enabled one gets events from now on. */
export async function updateWebhook(
  transaction: Transaction,
  id: number,
  { name, url, headers, events, isEnabled }: Webhook,
): Promise<void> {
  await transaction.run(sql`update ${table} set name = ${name}, url = ${url}, headers = ${JSON.stringify(headers)}, events = ${JSON.stringify(events)},
    enabled = ${Number(isEnabled)} where id = ${id}`)
  if (isEnabled) await registerWebhook(transaction, id)
  else await endDeliveriesIn(transaction, id)
}

/** Deletes a webhook with its secrets, deliveries and log. */
export async function deleteWebhook(transaction: Transaction, id: number): Promise<void> {
  await transaction.run(sql`delete from ${table} where id = ${id}`)
  await endDeliveriesIn(transaction, id)
}

/** Gives a webhook a cursor after the last event, unless it has one. */
async function registerWebhook(transaction: Transaction, id: number): Promise<void> {
  // Events of writes that commit concurrently may be delivered too.
  await transaction.run(registration(consumerOf(id), await openEventLog(transaction).last()))
}

/** Ends the deliveries of a webhook that was disabled or deleted, possibly by Strapi, unless it was enabled again. */
export function endDeliveries(writer: Pick<WriteDatabase, 'transaction'>, id: number): Promise<void> {
  return serviceTransaction(writer, (transaction) => endDeliveriesIn(transaction, id))
}

async function endDeliveriesIn(transaction: Transaction, id: number): Promise<void> {
  const name = consumerOf(id)
  const [webhook] = await transaction.rows<{ enabled: number | null }>(sql`select enabled from ${table} where id = ${id}`)
  if (Number(webhook?.enabled) === 1) return
  for (const statement of removal(name)) transaction.follow(statement)
  await transaction.run(sql`delete from octavo_deliveries where consumer = ${name} and state = 'done'`)
  if (webhook !== undefined) {
    await transaction.run(sql`update octavo_deliveries set state = 'failed' where consumer = ${name} and state = 'waiting'`)
    return
  }
  await transaction.run(sql`delete from octavo_deliveries where consumer = ${name}`)
  await transaction.run(sql`delete from octavo_webhook_attempts where webhook_id = ${id}`)
  await transaction.run(sql`delete from octavo_webhooks where webhook_id = ${id}`)
}

/** Queues events for another delivery, regardless of their state, and ends the pause of the webhook. */
export function resendEvents(transaction: Transaction, id: number, heads: readonly EventHead[]): void {
  if (heads.length > 0) transaction.follow(endOfPause(consumerOf(id)))
  for (const { sequence, subject } of heads)
    transaction.follow(putDelivery(consumerOf(id), 'waiting', { sequence, orderingKey: subject, attempts: 0, dueAt: 0 }))
}
