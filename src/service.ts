// The composition root: config → model → database → documents → http. Opens in this order, closes in the other.
import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Database } from 'better-sqlite3'
import { type Logger, pino } from 'pino'
import type { House } from './auth/house.js'
import { openIdentification } from './auth/identify.js'
import { openJwts } from './auth/jwt.js'
import { openCounters, openLimiter } from './auth/limits.js'
import { openMail } from './auth/mail.js'
import { openSharedCounters } from './auth/shared-limits.js'
import { noteUse } from './auth/tokens.js'
import type { Config } from './config.js'
import { openContent } from './content.js'
import { openDirect } from './database/direct.js'
import { startIndexing } from './database/indexing.js'
import { prepareDatabase } from './database/prepare.js'
import { openReaders } from './database/readers.js'
import { openSqlite } from './database/sqlite.js'
import { sqliteDialect } from './database/sqlite-dialect.js'
import { openWriter } from './database/writer.js'
import { openSourceMarks } from './documents/source-marks.js'
import type { ContentEvent } from './events.js'
import { examplesOf } from './http/examples.js'
import { createServer } from './http/server.js'
import type { DocumentService } from './interface.js'
import { newDocumentId } from './model/document-id.js'
import { loadModel } from './model/load.js'
import type { Model } from './model/types.js'
import { contracts } from './query/contract.js'
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
  /** Lets requests in flight end, then closes everything. */
  close(): Promise<void>
}

/** A new database gets its tables, its first rows and the content of the project's `seed` folder; an old one what it lacks. */
export async function prepareProject(
  config: Config,
  connection: Database,
  model: Model,
  logger: Pick<Logger, 'info' | 'warn'>,
): Promise<void> {
  const now = new Date()
  const { isNew, added } = prepareDatabase(connection, model, {
    now,
    newDocumentId,
    apiTokenSalt: config.secrets.apiTokenSalt,
    locale: config.initialLocale,
  })
  if (added.length > 0) logger.warn({ added }, 'the database lacked what the model has: added')
  if (!isNew || !existsSync(join(config.folder, 'seed'))) return
  const { seedProject } = await import('./documents/seed.js')
  const report = (line: string) => logger.info(line)
  const documents = await seedProject(config.folder, connection, model, {
    newDocumentId,
    now,
    uploadsFolder: config.uploadsFolder,
    report,
  })
  logger.info({ documents }, 'a new database: the content of the seed folder is in it')
}

/**
 * Opens the service of a project. Nothing listens before `listen`: scripts do without.
 * @throws ConfigError with a sentence for whoever starts it
 */
export async function createService(config: Config, logger: Logger = pino({ level: config.logLevel })): Promise<Service> {
  const model = await loadModel(config.folder, config.privateAttributes)
  const { database: settings, limits } = config
  const connection = openSqlite(settings)
  mkdirSync(config.uploadsFolder, { recursive: true })
  await prepareProject(config, connection, model, logger)
  const stopIndexing = settings.indexes
    ? startIndexing(settings, model, {
        made: (count) => count > 0 && logger.info({ indexes: count }, 'made the missing indexes'),
        failed: (error) => logger.error({ err: error }, 'an index could not be made'),
      })
    : async () => {}
  const signing = signingOf(config)
  const readers = await openReaders(
    {
      sqlite: settings,
      signing,
      readers: settings.readers,
      maxReaders: settings.maxReaders,
      readQueue: limits.readQueue,
      readTimeout: limits.readTimeout,
      answerBytes: limits.answerBytes,
      unsentBytes: limits.unsentBytes,
    },
    sqliteDialect,
    (error) => logger.error({ err: error }, 'a reader thread failed'),
  )
  const writer = openWriter(
    {
      sqlite: settings,
      signing,
      writeQueue: limits.writeQueue,
      writeTimeout: limits.writeTimeout,
      // Counting costs the driver time: only who reads every line of the log wants it.
      ...(logger.isLevelEnabled('trace') && {
        committed: (statements: number) => logger.trace({ statements }, 'a write is on disk'),
      }),
    },
    (error) => logger.error({ err: error }, 'the writer thread failed'),
  )
  const direct = openDirect(connection)
  const jwts = openJwts(config.secrets.jwtSecret)
  const identification = await openIdentification(direct, {
    secrets: config.secrets,
    jwts,
    jwtManagement: config.auth.jwtManagement,
    cachedCallers: limits.cachedCallers,
    tokenUsed: (id, now) => noteUse(writer, id, now).catch((error) => logger.warn({ err: error }, 'the use of a token was not noted')),
  })
  const content = await openContent({
    ...{ config, model, dialect: sqliteDialect, readers, writer, database: direct, logger },
    defaultLocale: async () => (await identification.access()).defaultLocale,
  })
  const uploads = await openUploads(config, direct, writer, newDocumentId, content.watch, {
    left: (error) => logger.error({ err: error }, 'what a write or a stopped process left could not be cleared; it is tried again'),
    refused: (error) => logger.error({ err: error }, 'the storage of files refused'),
  })
  const mail = openMail(config.mail, config.production, logger)
  const house: House = {
    database: direct,
    writer,
    jwts,
    mail,
    limiter: openLimiter(
      config.auth.sharedLimits ? openSharedCounters(direct, writer, limits.countedCallers) : openCounters(limits.countedCallers),
      limits.authRequests,
    ),
    log: logger,
    jwtSecret: config.secrets.jwtSecret,
    signIn: config.auth,
    publicUrl: config.publicUrl,
    prefix: config.rest.prefix,
    now: Date.now,
    model: () => model,
    settings: async () => (await identification.access()).accounts,
    input: () => ({ model, contract: contracts[config.contract] }),
    defaultLocale: async () => (await identification.access()).defaultLocale,
  }

  const backend = {
    ...{ identification, house, model: () => model, documents: content.parts, markSources: openSourceMarks(limits) },
    ...{ library: uploads.library, checkAddress: uploads.checkAddress, signsAddresses: signing !== null },
  }
  const server = await createServer(config, backend, logger)
  return {
    model,
    documents: content.service,
    events: { after: content.events.after },
    listen: () => server.listen(),
    examples: async () => examplesOf(model, (await identification.access()).public, config.rest.prefix).map(({ href }) => href),
    close: async () => {
      await server.close()
      await content.close()
      await uploads.close()
      await readers.close()
      await writer.close()
      mail.close()
      await stopIndexing()
      connection.close()
    },
  }
}
