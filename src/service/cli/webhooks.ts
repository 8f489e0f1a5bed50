// `octavo webhooks`: lists, creates, changes and deletes webhooks. Secrets are printed by `create` and `secret` only.

import { openAddressRules } from '../../content/events/webhooks/addresses.js'
import { checkWebhook } from '../../content/events/webhooks/check.js'
import { ensureSecrets, rotateSecret } from '../../content/events/webhooks/secrets.js'
import { webhookState } from '../../content/events/webhooks/state.js'
import { findWebhook, readWebhooks, type Webhook, webhookEvents } from '../../content/events/webhooks/webhook.js'
import { createWebhook, deleteWebhook, updateWebhook } from '../../content/events/webhooks/write.js'
import type { MainConnection } from '../../database/database.js'
import { closest } from '../../foundation/errors/did-you-mean.js'
import { ConfigError } from '../../foundation/errors/errors.js'
import { orExplain } from './explain-error.js'
import { lookIntoStarted, moment, type Project, print, printTable, withProject } from './project.js'

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
      last === null ? '-' : `${last.status === 0 ? 'no response' : last.status}, ${moment(last.attemptedAt)}`,
      moment(pausedUntil),
    ]),
  )
})

/** A webhook with what has become of its events, without the values of its headers. */
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

/** @throws ConfigError for what is no header, without its value */
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
