// Composition of everything about documents: reads, writes, hooks, events, and the service that scripts and hooks use.
import type { Logger } from 'pino'
import { hashPassword } from './accounts/passwords.js'
import type { Config } from './config/config.js'
import type { MainConnection, ReadDatabase, WriteDatabase } from './database/database.js'
import type { Dialect } from './database/dialect.js'
import { openHooks, withTimeout } from './documents/hooks.js'
import { openIdempotencyKeys } from './documents/idempotency.js'
import { openDocuments } from './documents/read/find.js'
import { openPlans } from './documents/read/plans.js'
import { openService, type Parts } from './documents/service.js'
import { openInSync } from './documents/store/synced-drafts.js'
import { openWrites } from './documents/write.js'
import { ConfigError } from './errors/errors.js'
import { type ListenerCursors, openListenerCursors } from './events/cursors.js'
import { type NamedListener, openListeners } from './events/listeners.js'
import { type EventLog, type Outbox, openEventLog, openOutbox } from './events/outbox.js'
import type { Model } from './model/types.js'
import type { DocumentService } from './public/documents.js'
import type { EventListener } from './public/events.js'
import { contracts } from './query/contract.js'
import type { ReadContext } from './query/rest/read.js'
import type { FileWatch } from './uploads/library.js'

export interface ContentOptions {
  readonly config: Config
  readonly model: Model
  readonly dialect: Dialect
  readonly readers: ReadDatabase
  readonly writer: WriteDatabase
  readonly database: MainConnection
  readonly logger: Logger
  /** The installation's default locale, as it is now. */
  defaultLocale(): Promise<string>
}

export interface Content {
  /** Reads and writes for this default locale. */
  parts(defaultLocale: string): Parts
  readonly service: DocumentService
  readonly events: EventLog
  /** Null: nobody is told of files. */
  readonly watch: FileWatch | null
  /** Lets listeners hear of everything that was recorded. */
  close(): Promise<void>
}

/** Opens what is done to documents, by whoever. */
export async function openContent({
  config,
  model,
  dialect,
  readers,
  writer,
  database,
  logger,
  defaultLocale,
}: ContentOptions): Promise<Content> {
  const { limits, hooks: configured, events: told } = config
  const first = await defaultLocale()
  const serviceAt = (depth: number) => openService(async () => parts(await defaultLocale()), depth)
  const onceKeys = openIdempotencyKeys(limits)
  const inSync = openInSync()
  const events = openEventLog(database)
  const hooks = openHooks(configured, {
    ...limits,
    documents: serviceAt,
    failed: (hook, error) => logger.error({ err: error, hook }, 'a hook failed'),
  })
  const failed = (listener: string, error: unknown) => logger.error({ err: error, listener }, 'a listener failed')
  const places = openListenerCursors(database, writer, (error) => failed('listeners', error))
  const named = namesOf(told.listeners)
  const from = await placesOf(named, places, events)
  const listeners =
    named.length === 0
      ? null
      : openListeners(named, {
          ...{ read: events.after, last: events.last, places, failed, attempts: limits.listenerAttempts },
          from,
          inTime: (name, run) => withTimeout(limits.hookTimeout, name, run),
        })
  const isTold = told.outbox || listeners !== null

  function open(locale: string) {
    const context: ReadContext = {
      ...{ model, defaultLocale: locale, limits, contract: contracts[config.contract], pages: config.rest },
      ...{ strictParams: config.rest.strictParams, draftGrant: config.rest.draftGrant },
    }
    const outbox: Outbox | null = isTold
      ? openOutbox({ context, dialect, know: writer.register, limits, committed: () => listeners?.poll() })
      : null
    const documents = openDocuments(context, readers, limits)
    const plans = openPlans(writer, dialect, context.contract, limits)
    return {
      ...{ outbox, documents },
      writes: openWrites({ read: context, database: writer, plans, limits, hashPassword, hooks, outbox, inSync }, onceKeys),
    }
  }

  let current = open(first)
  function parts(locale: string): Parts {
    if (current.documents.context.defaultLocale !== locale) current = open(locale)
    return current
  }

  return {
    parts,
    service: serviceAt(0),
    events,
    watch: isTold
      ? {
          happened: (transaction, event, id) => current.outbox!.media(transaction, event, id, Date.now()),
          committed: () => listeners?.poll(),
        }
      : null,
    close: async () => {
      await listeners?.close(Math.min(farewell, limits.drainTimeout / 5))
      places.close()
    },
  }
}

/** Where each listener was left. */
async function placesOf(
  listeners: readonly NamedListener[],
  places: ListenerCursors,
  events: EventLog,
): Promise<ReadonlyMap<string, number>> {
  if (listeners.length === 0) return new Map()
  try {
    return await places.enter(
      listeners.map(({ name }) => name),
      await events.last(),
    )
  } catch (error) {
    places.close()
    throw error
  }
}

/** Milliseconds in which listeners are told of what is left when the service stops. */
const farewell = 5_000

/** Listeners go by the names of their functions, which therefore should have some; those that have none go by their place. */
function namesOf(listeners: readonly EventListener[]): readonly NamedListener[] {
  const names = listeners.map(({ name }) => name)
  return listeners.map((listener, index) => ({
    name:
      names[index] !== '' && names.indexOf(names[index]!) === names.lastIndexOf(names[index]!)
        ? names[index]!
        : `events.listeners[${index}]`,
    listener,
  }))
}

/** @throws ConfigError for hooks of types that there are not */
export function checkHooks({ hooks }: Config, model: Model): void {
  for (const [index, { name = `hooks[${index}]`, types = [] }] of hooks.entries()) {
    const unknown = types.find((uid) => !model.types.has(uid))
    if (unknown !== undefined) throw new ConfigError(`octavo.config is not right: ${name}: there is no type ${unknown}.`)
  }
}
