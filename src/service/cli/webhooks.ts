// `octavo webhooks`: webhooks and their deliveries.

import { readUnfinished, type UnfinishedDelivery } from '../../content/events/delivery-queue.js'
import { type EventHead, openEventLog } from '../../content/events/event-log.js'
import { openAddressRules } from '../../content/events/webhooks/addresses.js'
import { readAttempts, type WebhookAttempt } from '../../content/events/webhooks/attempts.js'
import { type EventsToResend, eventsToResend, sendTestEvent, webhookState } from '../../content/events/webhooks/management.js'
import { checkWebhook } from '../../content/events/webhooks/request.js'
import { ensureSecrets, rotateSecret, signingSecrets } from '../../content/events/webhooks/secrets.js'
import { consumerOf, findWebhook, readWebhooks, type Webhook, webhookEvents } from '../../content/events/webhooks/webhook.js'
import { createWebhook, deleteWebhook, resendEvents, updateWebhook } from '../../content/events/webhooks/write.js'
import type { MainConnection } from '../../database/database.js'
import { closest } from '../../foundation/errors/did-you-mean.js'
import { ConfigError } from '../../foundation/errors/errors.js'
import { commandLine, quotedWord } from '../../foundation/runtime/command-line.js'
import { whole } from './events.js'
import { orExplain } from './explain-error.js'
import { formatTime, print, printTable } from './output.js'
import { lookIntoStarted, type Project, withProject } from './project.js'

/** Options of `octavo webhooks create` and `update`. */
export interface WebhookOptions {
  readonly name?: string
  readonly url?: string
  readonly events?: string
  readonly header?: readonly string[]
  readonly removeHeader?: readonly string[]
  readonly disabled?: boolean
}

/** Prints the webhooks of a project. */
export const listWebhooksCommand = orExplain(async (folder: string, { json = false }: { readonly json?: boolean }) => {
  const webhooks = await lookIntoStarted(folder, async ({ database }) => {
    const listed = []
    for (const webhook of await readWebhooks(database)) listed.push(await withState(database, webhook))
    return listed
  })
  if (json) return print(JSON.stringify(webhooks, null, 2))
  printTable(
    ['id', 'name', '', 'url', 'events', 'headers', 'waiting', 'failed', 'last attempt', 'paused until'],
    webhooks.map(({ id, name, isEnabled, url, events, headers, waiting, failed, last, pausedUntil }) => [
      String(id),
      name,
      isEnabled ? 'enabled' : 'disabled',
      url,
      events.length === webhookEvents.length ? 'all' : events.join(', '),
      headers.join(', ') || '-',
      String(waiting),
      String(failed),
      last === null ? '-' : `${last.status === 0 ? 'no response' : last.status}, ${formatTime(last.attemptedAt)}`,
      formatTime(pausedUntil),
    ]),
  )
})

/** A webhook with its event counts, without the values of its headers. */
async function withState(database: Pick<MainConnection, 'rows'>, { headers, ...webhook }: Webhook) {
  return { ...webhook, headers: Object.keys(headers), ...(await webhookState(database, webhook.id, Date.now())) }
}

/** Creates a webhook and prints its signing secret. */
export const createWebhookCommand = orExplain(async (folder: string, options: WebhookOptions) => {
  const input = {
    name: options.name ?? '',
    url: options.url ?? '',
    events: readEvents(options.events ?? ''),
    headers: readHeaders(options.header ?? []),
  }
  const { secret } = await withProject(folder, async ({ config, database, writer }) => {
    check(config, input)
    await checkName(database, input.name, null)
    return writer.transaction((transaction) => createWebhook(transaction, input, options.disabled !== true, Date.now()))
  })
  print(secret)
})

/** Changes a webhook. */
export const updateWebhookCommand = orExplain(async (nameOrId: string, folder: string, options: WebhookOptions) => {
  const { name, url, events, header = [], removeHeader = [] } = options
  if (Object.keys(options).length === 0)
    throw new ConfigError('Nothing to change. Use --name, --url, --events, --header or --remove-header.')
  const changed = await withProject(folder, async ({ config, database, writer }) => {
    const before = await findWebhook(database, nameOrId)
    const after = {
      ...before,
      name: name ?? before.name,
      url: url ?? before.url,
      events: events === undefined ? before.events : readEvents(events),
      headers: changedHeaders(before, header, removeHeader),
    }
    check(config, events === undefined ? { ...after, events: [] } : after)
    await checkName(database, after.name, before.id)
    await writer.transaction((transaction) => updateWebhook(transaction, before.id, after))
    return after.name
  })
  print(`Changed webhook "${changed}".`)
})

/** Enables or disables a webhook. */
export const switchWebhookCommand = orExplain(async (nameOrId: string, folder: string, isEnabled: boolean) => {
  const name = await change(folder, nameOrId, async ({ writer }, webhook) => {
    await writer.transaction((transaction) => updateWebhook(transaction, webhook.id, { ...webhook, isEnabled }))
  })
  print(`${isEnabled ? 'Enabled' : 'Disabled'} webhook "${name}".`)
})

/** Deletes a webhook. */
export const deleteWebhookCommand = orExplain(async (nameOrId: string, folder: string) => {
  const name = await change(folder, nameOrId, ({ writer }, { id }) => writer.transaction((transaction) => deleteWebhook(transaction, id)))
  print(`Deleted webhook "${name}".`)
})

/** Prints the signing secret of a webhook, or replaces it first. */
export const webhookSecretCommand = orExplain(
  async (nameOrId: string, folder: string, { rotate = false }: { readonly rotate?: boolean }) => {
    const secret = await withProject(folder, async ({ database, writer }) => {
      const { id } = await findWebhook(database, nameOrId)
      if (rotate) return writer.transaction((transaction) => rotateSecret(transaction, id, Date.now()))
      return (await ensureSecrets(database, writer, id)).secret
    })
    print(secret)
  },
)

/** Finds a webhook, runs `work`, and returns its name. */
const change = (folder: string, nameOrId: string, work: (project: Project, webhook: Webhook) => Promise<void>): Promise<string> =>
  withProject(folder, async (project) => {
    const webhook = await findWebhook(project.database, nameOrId)
    await work(project, webhook)
    return webhook.name
  })

const check = ({ webhooks, limits }: Project['config'], input: Parameters<typeof checkWebhook>[0]): void =>
  checkWebhook(input, openAddressRules(webhooks.allowPrivateAddresses, limits))

/** Commands find webhooks by their names. @throws ConfigError for a name that another one has */
async function checkName(database: Pick<MainConnection, 'rows'>, name: string, id: number | null): Promise<void> {
  const other = (await readWebhooks(database)).find((webhook) => webhook.name === name && webhook.id !== id)
  if (other !== undefined) throw new ConfigError(`There is a webhook "${name}" already. Choose another --name.`)
}

/** @throws ConfigError for an event that does not exist */
function readEvents(list: string): readonly string[] {
  if (list.trim() === 'all') return webhookEvents
  const events = [...new Set(list.split(',').map((event) => event.trim()))].filter((event) => event !== '')
  for (const event of events) {
    if (webhookEvents.some((known) => known === event)) continue
    const meant = closest(event, webhookEvents)
    const hint = meant === null ? `The events are ${webhookEvents.join(', ')}.` : `Did you mean ${meant}?`
    throw new ConfigError(`Webhook event ${event} is not supported. ${hint}`)
  }
  if (events.length === 0) throw new ConfigError(`--events is empty. The events are ${webhookEvents.join(', ')}.`)
  return events
}

/** @throws ConfigError for an invalid header, without its value */
function readHeaders(headers: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    headers.map((header) => {
      const [name = '', ...rest] = header.split(':')
      if (!/^\S+$/.test(name.trim()) || rest.length === 0) throw new ConfigError('--header must look like "Name: value".')
      return [name.trim(), rest.join(':').trim()]
    }),
  )
}

function changedHeaders({ headers }: Webhook, added: readonly string[], removed: readonly string[]): Readonly<Record<string, string>> {
  const given = readHeaders(added)
  const names = [...removed, ...Object.keys(given)].map((name) => name.toLowerCase())
  const missing = removed.find((name) => !Object.keys(headers).some((header) => header.toLowerCase() === name.toLowerCase()))
  if (missing !== undefined) throw new ConfigError(`The webhook has no header "${missing}".`)
  return { ...Object.fromEntries(Object.entries(headers).filter(([name]) => !names.includes(name.toLowerCase()))), ...given }
}

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
      formatTime(attemptedAt),
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
      dueAt === 0 ? '-' : formatTime(dueAt),
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
    const free = config.limits.webhookQueue - waiting
    const heads = await eventsToResend(database, webhook, meant(options), free)
    if (heads.length > free)
      throw new ConfigError(`More than ${free} events would wait (limits.webhookQueue). Send some of them first, by --sequence.`)
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
