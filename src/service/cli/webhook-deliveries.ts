// `octavo webhooks trigger`, `deliveries` and `resend`: what has become of events that were sent to a webhook, and sending them again.

import { readUnfinished, type UnfinishedDelivery } from '../../content/events/delivery-rows.js'
import { type EventHead, openEventLog } from '../../content/events/event-log.js'
import { readAttempts, type WebhookAttempt } from '../../content/events/webhooks/attempts.js'
import { type EventsToResend, eventsToResend } from '../../content/events/webhooks/resend.js'
import { ensureSecrets, signingSecrets } from '../../content/events/webhooks/secrets.js'
import { sendTestEvent } from '../../content/events/webhooks/test-event.js'
import { consumerOf, findWebhook } from '../../content/events/webhooks/webhook.js'
import { resendEvents } from '../../content/events/webhooks/write.js'
import type { MainConnection } from '../../database/database.js'
import { ConfigError } from '../../foundation/errors/errors.js'
import { commandLine, quotedWord } from '../../foundation/runtime/command-line.js'
import { whole } from './events.js'
import { orExplain } from './explain-error.js'
import { lookIntoStarted, moment, print, printTable, withProject } from './project.js'

/** Sends Strapi's test event. @throws ConfigError if the webhook does not respond with success */
export const triggerWebhookCommand = orExplain(async (nameOrId: string, folder: string) => {
  const { name, response } = await withProject(folder, async ({ config, database, writer }) => {
    const webhook = await findWebhook(database, nameOrId)
    const now = Date.now()
    const secrets = signingSecrets(await ensureSecrets(database, writer, webhook.id), now)
    return { name: webhook.name, response: await sendTestEvent(config, webhook, secrets, now) }
  })
  const { status, error, duration } = response
  if (status === 0) throw new ConfigError(`Webhook "${name}" did not respond: ${error}.`)
  if (status < 200 || status > 299) throw new ConfigError(`Webhook "${name}" responded ${status}${error === null ? '' : `: ${error}`}`)
  print(`Webhook "${name}" responded ${status} in ${duration} ms.`)
})

/** Options of `octavo webhooks deliveries`. */
interface DeliveryListOptions {
  readonly waiting?: boolean
  readonly failed?: boolean
  readonly limit: string
  readonly json?: boolean
}

/** Prints attempts, or events that wait or were given up. */
export const listDeliveriesCommand = orExplain(async (nameOrId: string, folder: string, options: DeliveryListOptions) => {
  const { waiting = false, failed = false, json = false } = options
  if (waiting && failed) throw new ConfigError('Use either --waiting or --failed.')
  const limit = whole('--limit', options.limit)
  const state = waiting ? 'waiting' : failed ? 'failed' : null
  await lookIntoStarted(folder, async ({ database }) => {
    const { id } = await findWebhook(database, nameOrId)
    if (state === null) return printAttempts(await readAttempts(database, id, limit), json)
    const rows = (await readUnfinished(database, consumerOf(id), state)).slice(0, limit)
    return printUnfinished(await withHeads(database, rows), json)
  })
})

function printAttempts(attempts: readonly WebhookAttempt[], json: boolean): void {
  if (json) {
    print(JSON.stringify(attempts, null, 2))
    return
  }
  printTable(
    ['sequence', 'event', 'about', 'attempt', 'result', 'ms', 'when'],
    attempts.map(({ sequence, event, subject, attempt, status, error, duration, attemptedAt }) => [
      String(sequence),
      event,
      subject,
      String(attempt),
      status === 0 ? (error ?? 'no response') : String(status),
      String(duration),
      moment(attemptedAt),
    ]),
  )
}

type Unfinished = UnfinishedDelivery & Partial<Pick<EventHead, 'event' | 'subject'>>

async function withHeads(database: Pick<MainConnection, 'rows'>, rows: readonly UnfinishedDelivery[]): Promise<readonly Unfinished[]> {
  const log = openEventLog(database)
  const found: Unfinished[] = []
  for (const row of rows) {
    const event = await log.read(row.sequence)
    found.push(event === null ? row : { ...row, event: event.event, subject: event.subject })
  }
  return found
}

function printUnfinished(rows: readonly Unfinished[], json: boolean): void {
  if (json) {
    print(JSON.stringify(rows, null, 2))
    return
  }
  printTable(
    ['sequence', 'event', 'about', 'attempts', 'next attempt'],
    rows.map(({ sequence, event = '-', subject = 'no longer in the outbox', attempts, dueAt }) => [
      String(sequence),
      event,
      subject,
      String(attempts),
      dueAt === 0 ? '-' : moment(dueAt),
    ]),
  )
}

/** Options of `octavo webhooks resend`. */
interface ResendOptions {
  readonly failed?: boolean
  readonly after?: string
  readonly sequence?: string
}

/** Has events delivered again. */
export const resendCommand = orExplain(async (nameOrId: string, folder: string, options: ResendOptions) => {
  if (Object.keys(options).length !== 1) throw new ConfigError('Use one of --failed, --after and --sequence.')
  const count = await withProject(folder, async ({ config, database, writer }) => {
    const webhook = await findWebhook(database, nameOrId)
    if (!webhook.isEnabled)
      throw new ConfigError(
        `Webhook "${webhook.name}" is disabled. Enable it first: ${commandLine(`webhooks enable ${quotedWord(nameOrId)}`, folder)}`,
      )
    const waiting = (await readUnfinished(database, consumerOf(webhook.id), 'waiting')).length
    const free = config.limits.webhookWaiting - waiting
    const heads = await eventsToResend(database, webhook, meant(options), free)
    if (heads.length > free)
      throw new ConfigError(`More than ${free} events would wait (limits.webhookWaiting). Send some of them first, by --sequence.`)
    await writer.transaction(async (transaction) => resendEvents(transaction, webhook.id, heads))
    return heads.length
  })
  print(count === 0 ? 'There are no such events.' : `${count} ${count === 1 ? 'event' : 'events'} will be sent again.`)
})

/** The events that the options mean. */
function meant({ after, sequence }: ResendOptions): EventsToResend {
  if (after !== undefined) return { kind: 'after', sequence: whole('--after', after) }
  if (sequence === undefined) return { kind: 'failed' }
  return { kind: 'sequences', sequences: sequence.split(',').map((number) => whole('--sequence', number.trim())) }
}
