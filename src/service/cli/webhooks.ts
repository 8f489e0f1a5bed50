// `octavo webhooks`: webhooks and their deliveries.

import { act } from '../../admin/manage/operation.js'
import { testWebhook, type UnfinishedEvent, unfinishedEvents, webhooks } from '../../admin/manage/webhooks.js'
import { openAddressRules } from '../../content/events/webhooks/addresses.js'
import { readAttempts, type WebhookAttempt } from '../../content/events/webhooks/attempts.js'
import { webhookState } from '../../content/events/webhooks/management.js'
import { checkWebhook } from '../../content/events/webhooks/request.js'
import { ensureSecrets } from '../../content/events/webhooks/secrets.js'
import { findWebhook, readWebhooks, type Webhook, webhookEvents } from '../../content/events/webhooks/webhook.js'
import { updateWebhook } from '../../content/events/webhooks/write.js'
import type { MainConnection } from '../../database/database.js'
import { closest } from '../../foundation/errors/did-you-mean.js'
import { ConfigError } from '../../foundation/errors/errors.js'
import { commandLine, quotedWord } from '../../foundation/runtime/terminal.js'
import { commandContext, runOperation } from './changes.js'
import { whole } from './events.js'
import { orExplain } from './explain-error.js'
import { formatTime, pluralize, print, printJson, printTable } from './output.js'
import { lookIntoStarted, type Project, withProject } from './project.js'

interface WebhookOptions {
  readonly name?: string
  readonly url?: string
  readonly events?: string
  readonly header?: readonly string[]
  readonly removeHeader?: readonly string[]
  readonly disabled?: boolean
}

export const listWebhooksCommand = orExplain(async (folder: string, { json = false }: { readonly json?: boolean }) => {
  const all = await lookIntoStarted(folder, async ({ database }) => {
    const listed = []
    for (const webhook of await readWebhooks(database)) listed.push(await withState(database, webhook))
    return listed
  })
  if (json) return printJson(all)
  printTable(
    ['id', 'name', '', 'url', 'events', 'headers', 'waiting', 'failed', 'last attempt', 'paused until'],
    all.map(({ id, name, isEnabled, url, events, headers, waiting, failed, last, pausedUntil }) => [
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
  const { responseData: secret } = await withProject(folder, async (project) => {
    check(project.config, input)
    await checkName(project.database, input.name, null)
    return runOperation(webhooks.create, project, { ...input, events: [...input.events], isEnabled: options.disabled !== true })
  })
  print(String(secret))
})

export const updateWebhookCommand = orExplain(async (nameOrId: string, folder: string, options: WebhookOptions) => {
  const { name, url, events, header = [], removeHeader = [] } = options
  if (Object.keys(options).length === 0)
    throw new ConfigError('Nothing to change. Use --name, --url, --events, --header or --remove-header.')
  const changed = await withProject(folder, async (project) => {
    const { config, database } = project
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
    const fields = Object.keys(options).map((option) => (option === 'removeHeader' ? 'headers' : option === 'header' ? 'headers' : option))
    await store(project, before, after, [...new Set(fields)])
    return after.name
  })
  print(`Changed webhook "${changed}".`)
})

export const switchWebhookCommand = (isEnabled: boolean) =>
  orExplain(async (nameOrId: string, folder: string) => {
    const name = await change(folder, nameOrId, (project, webhook) => store(project, webhook, { ...webhook, isEnabled }, ['isEnabled']))
    print(`${isEnabled ? 'Enabled' : 'Disabled'} webhook "${name}".`)
  })

export const deleteWebhookCommand = orExplain(async (nameOrId: string, folder: string) => {
  const name = await change(folder, nameOrId, (project, webhook) => runOperation(webhooks.delete, project, webhook))
  print(`Deleted webhook "${name}".`)
})

/** Prints the signing secret of a webhook, after replacing it if requested. */
export const webhookSecretCommand = orExplain(
  async (nameOrId: string, folder: string, { rotate = false }: { readonly rotate?: boolean }) => {
    const secret = await withProject(folder, async (project) => {
      const { id } = await findWebhook(project.database, nameOrId)
      if (rotate) return String((await runOperation(webhooks.rotateSecret, project, { id })).responseData)
      return (await ensureSecrets(project.database, project.writer, id)).secret
    })
    print(secret)
  },
)

/** Finds a webhook, runs `work`, and returns its name. */
const change = (folder: string, nameOrId: string, work: (project: Project, webhook: Webhook) => Promise<unknown>): Promise<string> =>
  withProject(folder, async (project) => {
    const webhook = await findWebhook(project.database, nameOrId)
    await work(project, webhook)
    return webhook.name
  })

/** Stores a webhook with an audit entry. */
const store = (project: Project, { id, name }: Webhook, after: Webhook, fields: readonly string[]) =>
  act(commandContext(project, webhooks.update.audit!), async (transaction) => {
    await updateWebhook(transaction, id, after)
    return { id: String(id), name, fields }
  })

const check = ({ webhooks, limits }: Project['config'], input: Parameters<typeof checkWebhook>[0]): void =>
  checkWebhook(input, openAddressRules(webhooks.allowPrivateAddresses, limits))

/** Names identify webhooks in commands. @throws ConfigError if another webhook has the name */
async function checkName(database: Pick<MainConnection, 'rows'>, name: string, id: number | null): Promise<void> {
  const other = (await readWebhooks(database)).find((webhook) => webhook.name === name && webhook.id !== id)
  if (other !== undefined) throw new ConfigError(`There is a webhook "${name}" already. Choose another --name.`)
}

/** @throws ConfigError for an unknown event */
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
  const { name, response } = await withProject(folder, async (project) => {
    const webhook = await findWebhook(project.database, nameOrId)
    return { name: webhook.name, response: await testWebhook(project, webhook, Date.now()) }
  })
  const { status, error, duration } = response
  if (status === 0) throw new ConfigError(`Webhook "${name}" did not respond: ${error}.`)
  if (status < 200 || status > 299) throw new ConfigError(`Webhook "${name}" responded ${status}${error === null ? '' : `: ${error}`}`)
  print(`Webhook "${name}" responded ${status} in ${duration} ms.`)
})

interface DeliveryListOptions {
  readonly waiting?: boolean
  readonly failed?: boolean
  readonly limit: string
  readonly json?: boolean
}

/** Prints attempts, or pending or given-up events. */
export const listDeliveriesCommand = orExplain(async (nameOrId: string, folder: string, options: DeliveryListOptions) => {
  const { waiting = false, failed = false, json = false } = options
  if (waiting && failed) throw new ConfigError('Use either --waiting or --failed.')
  const limit = whole('--limit', options.limit)
  const state = waiting ? 'waiting' : failed ? 'failed' : null
  await lookIntoStarted(folder, async ({ database }) => {
    const { id } = await findWebhook(database, nameOrId)
    if (state === null) return printAttempts(await readAttempts(database, id, limit), json)
    return printUnfinished(await unfinishedEvents(database, id, state, limit), json)
  })
})

function printAttempts(attempts: readonly WebhookAttempt[], json: boolean): void {
  if (json) {
    printJson(attempts)
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

function printUnfinished(rows: readonly UnfinishedEvent[], json: boolean): void {
  if (json) {
    printJson(rows)
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

interface ResendOptions {
  readonly failed?: boolean
  readonly after?: string
  readonly sequence?: string
}

/** Queues events for another delivery. */
export const resendCommand = orExplain(async (nameOrId: string, folder: string, options: ResendOptions) => {
  if (Object.keys(options).length !== 1) throw new ConfigError('Use one of --failed, --after and --sequence.')
  const count = await withProject(folder, async (project) => {
    const { id, name, isEnabled } = await findWebhook(project.database, nameOrId)
    if (!isEnabled)
      throw new ConfigError(
        `Webhook "${name}" is disabled. Enable it first: ${commandLine(`webhooks enable ${quotedWord(nameOrId)}`, folder)}`,
      )
    return Number((await runOperation(webhooks.resend, project, { id, ...meant(options) })).responseData)
  })
  print(count === 0 ? 'There are no such events.' : `${pluralize(count, 'event')} will be sent again.`)
})

/** The events that the options select. */
function meant({ after, sequence }: ResendOptions) {
  if (after !== undefined) return { kind: 'after' as const, sequence: whole('--after', after) }
  if (sequence === undefined) return { kind: 'failed' as const }
  return { kind: 'sequences' as const, sequences: sequence.split(',').map((number) => whole('--sequence', number.trim())) }
}
