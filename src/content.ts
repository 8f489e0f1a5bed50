// Composition of everything about documents: reads, writes, hooks, events, and the service that scripts and hooks use.
import type { Logger } from 'pino'
import { hashPassword } from './auth/passwords.js'
import type { Config } from './config.js'
import type { DirectDatabase, ReadDatabase, WriteDatabase } from './database/database.js'
import type { Dialect } from './database/dialect.js'
import { openDocuments } from './documents/find.js'
import { inTime, openHooks } from './documents/hooks.js'
import { type EventLog, type Outbox, openEventLog, openOutbox } from './documents/outbox.js'
import { openPlans } from './documents/plans.js'
import { openService, type Parts } from './documents/service.js'
import { openWrites } from './documents/write.js'
import { ConfigError } from './errors.js'
import type { DocumentService } from './interface.js'
import type { Model } from './model/types.js'
import { contracts } from './query/contract.js'
import type { ReadContext } from './query/read.js'
import type { FileWatch } from './uploads/library.js'
import { openListeners } from './watch/listeners.js'

export interface ContentOptions {
  readonly config: Config
  readonly model: Model
  readonly dialect: Dialect
  readonly readers: ReadDatabase
  readonly writer: WriteDatabase
  readonly database: DirectDatabase
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

/** @throws ConfigError for hooks of types that there are not */
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
  checkTypes(config, model)
  const serviceAt = (depth: number) => openService(async () => parts(await defaultLocale()), depth)
  const events = openEventLog(database)
  const hooks = openHooks(configured, {
    ...limits,
    documents: serviceAt,
    failed: (hook, error) => logger.error({ err: error, hook }, 'a hook failed'),
  })
  const listeners =
    told.listeners.length === 0
      ? null
      : openListeners(told.listeners, {
          read: events.after,
          last: await events.last(),
          inTime: (name, run) => inTime(limits.hookTimeout, name, run),
          failed: (listener, error) => logger.error({ err: error, listener }, 'a listener failed'),
        })
  const isTold = told.outbox || listeners !== null

  function open(locale: string) {
    const context: ReadContext = {
      ...{ model, defaultLocale: locale, limits, contract: contracts[config.contract], pages: config.rest },
      ...{ strictParams: config.rest.strictParams, draftGrant: config.rest.draftGrant },
    }
    const outbox: Outbox | null = isTold
      ? openOutbox({ context, dialect, know: writer.know, limits, committed: () => listeners?.look() })
      : null
    const documents = openDocuments(context, readers, limits)
    const plans = openPlans(writer, dialect, context.contract, limits)
    return { outbox, documents, writes: openWrites({ read: context, database: writer, plans, hashPassword, hooks, outbox }) }
  }

  let current = open(await defaultLocale())
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
          committed: () => listeners?.look(),
        }
      : null,
    close: async () => listeners?.close(),
  }
}

function checkTypes({ hooks }: Config, model: Model): void {
  for (const [index, { name = `hooks[${index}]`, types = [] }] of hooks.entries()) {
    const unknown = types.find((uid) => !model.types.has(uid))
    if (unknown !== undefined) throw new ConfigError(`octavo.config is not right: ${name}: there is no type ${unknown}.`)
  }
}
