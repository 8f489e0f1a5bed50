// The composition root: config → model → database → documents → http. Opens in this order, closes in the other, also where it fails
// half-way.
import type { Logger } from 'pino'
import { type Identification, openIdentification } from './access/identify.js'
import { type Jwts, openJwts } from './access/jwt.js'
import { openCounters, openLimiter } from './access/rate-limit.js'
import { openSharedCounters } from './access/rate-limit-store.js'
import { noteUse } from './access/tokens.js'
import type { AccountContext } from './accounts/context.js'
import { type Mailer, openMailer } from './accounts/email.js'
import { openPasswords } from './accounts/passwords.js'
import type { Config } from './config/config.js'
import { checkHooks, openContent } from './content.js'
import type { MainConnection, ReadDatabase, WriteDatabase } from './database/database.js'
import { startIndexing } from './database/sqlite/background-indexes.js'
import { sqliteDialect } from './database/sqlite/dialect.js'
import { openPresence, type Presence } from './database/sqlite/file/presence.js'
import { openMainConnection } from './database/sqlite/main-connection.js'
import { openReaders } from './database/sqlite/readers/pool.js'
import { openWriter } from './database/sqlite/writer/writer.js'
import { examplesOf } from './http/pages/examples.js'
import { createServer } from './http/server.js'
import { newDocumentId } from './model/document-id.js'
import { loadModel } from './model/load.js'
import type { Model } from './model/types.js'
import { openProject } from './project.js'
import type { DocumentService } from './public/documents.js'
import type { ContentEvent } from './public/events.js'
import { contracts } from './query/contract.js'
import { elapsed } from './runtime/clock.js'
import { openLog } from './runtime/log.js'
import { openSourceMaps } from './source-maps/source-maps.js'
import { openUploads } from './uploads/open.js'
import { signingOf } from './uploads/signing.js'

export interface Service {
  readonly model: Model
  /** The documents of a type, for scripts: `service.documents('api::article.article').findMany()`. */
  readonly documents: DocumentService
  /** What has been recorded (`events` of octavo.config). */
  readonly events: {
    /** Events with a higher sequence than `sequence`, oldest first, 100 at most or as many as `limit`. */
    after(sequence: number, limit?: number): Promise<readonly ContentEvent[]>
  }
  /** Starts to listen; resolves to the address. */
  listen(): Promise<string>
  /** Requests that show something of this project to everyone, as paths with queries. */
  examples(): Promise<readonly string[]>
  /**
   * Lets requests in flight end, then closes everything. Before that all is served for `delay` milliseconds, while `/_health` reports
   * 503: for balancers, which look elsewhere meanwhile.
   */
  close(options?: { readonly delay?: number }): Promise<void>
}

/**
 * Opens the service of a project. Nothing listens before `listen`: scripts do without. Where it fails, nothing of it stays open.
 * @throws ConfigError with a sentence for whoever starts it
 */
export async function createService(config: Config, logger?: Logger): Promise<Service> {
  const opened = openClosers()
  try {
    return await open(config, logger ?? ownLog(config, opened), opened)
  } catch (error) {
    // Only the first failure is told: others follow from it.
    await opened.close(0).catch(() => {})
    throw error
  }
}

async function open(config: Config, logger: Logger, opened: Closers): Promise<Service> {
  const model = await loadModel(config.folder, config.privateAttributes)
  checkHooks(config, model)
  for (const warning of [...config.warnings, ...model.warnings]) logger.warn(warning)
  const mail = openMailer(config.mail, config.showsLetters, logger)
  opened.add(mail.close)
  const stores = await openStores(config, model, logger, opened)
  const { presence, readers, writer, direct } = stores
  const jwts = openJwts(config.secrets.jwtSecret)
  const identification = await openIdentification(direct, {
    secrets: config.secrets,
    jwts,
    jwtManagement: config.auth.jwtManagement,
    cachedCallers: config.limits.cachedCallers,
    tokenUsed: (id, now) => noteUse(writer, id, now).catch((error) => logger.warn({ err: error }, 'the use of a token was not noted')),
  })
  const content = await openContent({
    ...{ config, model, dialect: sqliteDialect, readers, writer, database: direct, logger },
    defaultLocale: async () => (await identification.access()).defaultLocale,
  })
  opened.add(content.close)
  const uploads = await openUploads(config, model, direct, writer, newDocumentId, content.watch, {
    left: (error) => logger.error({ err: error }, 'what a write or a stopped process left could not be cleared; it is tried again'),
    refused: (error) => logger.error({ err: error }, 'the storage of files refused'),
  })
  opened.add(uploads.close)
  const backend = {
    ...{ identification, model: () => model, documents: content.parts, markSources: openSourceMaps(config.limits) },
    accounts: houseOf(config, model, stores, { identification, jwts, mail, log: logger }),
    health: presence.trouble,
    ...{ library: uploads.library, checkAddress: uploads.checkAddress, signsAddresses: signingOf(config) !== null },
  }
  const server = await createServer(config, backend, logger)
  opened.add(server.close)
  return {
    model,
    documents: content.service,
    events: { after: content.events.after },
    listen: () => server.listen(),
    examples: async () => examplesOf(model, (await identification.access()).public, config.rest.prefix).map(({ href }) => href),
    close: ({ delay = 0 } = {}) => opened.close(delay),
  }
}

interface Stores {
  readonly presence: Presence
  readonly readers: ReadDatabase
  readonly writer: WriteDatabase
  readonly direct: MainConnection
}

/** Opens the database: the connection, the threads that read and write, and the look at whether its files are there. */
async function openStores(config: Config, model: Model, logger: Logger, opened: Closers): Promise<Stores> {
  const { database: settings, limits } = config
  const connection = await openProject(config, model, logger)
  let isLost = (): boolean => false
  opened.add(() => {
    // Closing would remove a log that lies where ours was.
    if (!isLost()) connection.close()
  })
  const presence = openPresence(connection, elapsed, (sentence) => logger.error(sentence))
  isLost = presence.isLost
  opened.add(presence.close)
  if (settings.indexes)
    opened.add(
      startIndexing(settings, model, {
        made: (count) => count > 0 && logger.info({ indexes: count }, 'made the missing indexes'),
        failed: (error) => logger.error({ err: error }, 'an index could not be made'),
      }),
    )
  const failed = (message: string) => (error: Error) => {
    presence.note(error)
    logger.error({ err: error }, message)
  }
  const signing = signingOf(config)
  const readers = await openReaders(
    {
      sqlite: settings,
      signing,
      readers: settings.readers,
      maxReaders: settings.maxReaders,
      readQueue: limits.readQueue,
      heavyReadQueue: limits.heavyReadQueue,
      readTimeout: limits.readTimeout,
      answerBytes: limits.answerBytes,
      unsentBytes: limits.unsentBytes,
    },
    sqliteDialect,
    failed('a reader thread failed'),
  )
  opened.add(readers.close)
  const writer = openWriter(
    {
      sqlite: settings,
      signing,
      files: presence.files,
      // A document as large as its body is answered, whatever the limits are.
      writtenBytes: Math.max(limits.writtenBytes, limits.bodyBytes * 4),
      writeQueue: limits.writeQueue,
      writeTimeout: limits.writeTimeout,
      // Counting costs the driver time: only who reads every line of the log wants it.
      ...(logger.isLevelEnabled('trace') && {
        committed: (statements: number) => logger.trace({ statements }, 'a write is on disk'),
      }),
    },
    failed('the writer thread failed'),
  )
  opened.add(writer.close)
  return {
    presence,
    readers: presence.guardReads(readers),
    writer: presence.guardWrites(writer),
    direct: presence.guardDirect(openMainConnection(connection)),
  }
}

/** What acts on accounts need. */
function houseOf(
  config: Config,
  model: Model,
  { direct, writer }: Stores,
  { identification, jwts, mail, log }: { identification: Identification; jwts: Jwts; mail: Mailer; log: Logger },
): AccountContext {
  const { auth, limits, secrets } = config
  const counters = auth.sharedLimits ? openSharedCounters(direct, writer, limits.countedCallers) : openCounters(limits.countedCallers)
  return {
    database: direct,
    writer,
    jwts,
    mail,
    limiter: openLimiter(counters, limits.authRequests),
    passwords: openPasswords(limits),
    log,
    jwtSecret: secrets.jwtSecret,
    signIn: auth,
    publicUrl: config.publicUrl,
    prefix: config.rest.prefix,
    now: Date.now,
    model: () => model,
    settings: async () => (await identification.access()).accounts,
    input: () => ({ model, contract: contracts[config.contract] }),
    defaultLocale: async () => (await identification.access()).defaultLocale,
  }
}

/** Milliseconds that the last lines of a log have to be written. */
const lastLines = 700

/** The log of a service that was given none. */
function ownLog({ logLevel, limits }: Config, opened: Closers): Logger {
  const log = openLog({ level: logLevel, bytes: limits.logBytes, batches: false })
  opened.add(() => log.close(lastLines))
  return log.logger
}

interface Closers {
  /** Takes note of how something that was opened is closed; the server serves on for `delay` milliseconds before. */
  add(close: (delay: number) => unknown): void
  /** Closes what was opened, the last first. @throws the first failure, when all are closed that can be */
  close(delay: number): Promise<void>
}

function openClosers(): Closers {
  const closers: ((delay: number) => unknown)[] = []
  let closing: Promise<void> | null = null

  async function closeAll(delay: number): Promise<void> {
    const failures: unknown[] = []
    for (const close of closers.toReversed()) {
      try {
        await close(delay)
      } catch (error) {
        failures.push(error)
      }
    }
    if (failures.length > 0) throw failures[0]
  }

  return {
    add: (close) => void closers.push(close),
    close: (delay) => {
      closing ??= closeAll(delay)
      return closing
    },
  }
}
