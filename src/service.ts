// The composition root: config → model → database → documents → http. Opens in this order, closes in the other.
import type { Logger } from 'pino'
import type { House } from './auth/house.js'
import { openIdentification } from './auth/identify.js'
import { openJwts } from './auth/jwt.js'
import { openCounters, openLimiter } from './auth/limits.js'
import { openMail } from './auth/mail.js'
import { openPasswords } from './auth/passwords.js'
import { openSharedCounters } from './auth/shared-limits.js'
import { noteUse } from './auth/tokens.js'
import { elapsed } from './clock.js'
import type { Config } from './config.js'
import { openContent } from './content.js'
import { openDirect } from './database/direct.js'
import { startIndexing } from './database/indexing.js'
import { openPresence } from './database/presence.js'
import { openReaders } from './database/readers.js'
import { sqliteDialect } from './database/sqlite-dialect.js'
import { openWriter } from './database/writer.js'
import { openSourceMarks } from './documents/source-marks.js'
import type { ContentEvent } from './events.js'
import { examplesOf } from './http/examples.js'
import { createServer } from './http/server.js'
import type { DocumentService } from './interface.js'
import { openLog } from './log.js'
import { newDocumentId } from './model/document-id.js'
import { loadModel } from './model/load.js'
import type { Model } from './model/types.js'
import { openProject } from './project.js'
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
  /**
   * Lets requests in flight end, then closes everything. Before that all is served for `delay` milliseconds, while `/_health` reports
   * 503: for balancers, which look elsewhere meanwhile.
   */
  close(options?: { readonly delay?: number }): Promise<void>
}

/**
 * Opens the service of a project. Nothing listens before `listen`: scripts do without.
 * @throws ConfigError with a sentence for whoever starts it
 */
export async function createService(
  config: Config,
  logger: Logger = openLog({ level: config.logLevel, bytes: config.limits.logBytes, batches: false }).logger,
): Promise<Service> {
  const model = await loadModel(config.folder, config.privateAttributes)
  const { database: settings, limits } = config
  for (const warning of [...config.warnings, ...model.warnings]) logger.warn(warning)
  const connection = await openProject(config, model, logger)
  const stopIndexing = settings.indexes
    ? startIndexing(settings, model, {
        made: (count) => count > 0 && logger.info({ indexes: count }, 'made the missing indexes'),
        failed: (error) => logger.error({ err: error }, 'an index could not be made'),
      })
    : async () => {}
  const signing = signingOf(config)
  const presence = openPresence(connection, elapsed, (sentence) => logger.error(sentence))
  const ownReaders = await openReaders(
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
    (error) => {
      presence.note(error)
      logger.error({ err: error }, 'a reader thread failed')
    },
  )
  const readers = presence.guardReads(ownReaders)
  const ownWriter = openWriter(
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
    (error) => {
      presence.note(error)
      logger.error({ err: error }, 'the writer thread failed')
    },
  )
  const writer = presence.guardWrites(ownWriter)
  const direct = presence.guardDirect(openDirect(connection))
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
  const uploads = await openUploads(config, model, direct, writer, newDocumentId, content.watch, {
    left: (error) => logger.error({ err: error }, 'what a write or a stopped process left could not be cleared; it is tried again'),
    refused: (error) => logger.error({ err: error }, 'the storage of files refused'),
  })
  const mail = openMail(config.mail, config.showsLetters, logger)
  const house: House = {
    database: direct,
    writer,
    jwts,
    mail,
    limiter: openLimiter(
      config.auth.sharedLimits ? openSharedCounters(direct, writer, limits.countedCallers) : openCounters(limits.countedCallers),
      limits.authRequests,
    ),
    passwords: openPasswords(limits),
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
    health: presence.trouble,
    ...{ library: uploads.library, checkAddress: uploads.checkAddress, signsAddresses: signing !== null },
  }
  const server = await createServer(config, backend, logger)
  return {
    model,
    documents: content.service,
    events: { after: content.events.after },
    listen: () => server.listen(),
    examples: async () => examplesOf(model, (await identification.access()).public, config.rest.prefix).map(({ href }) => href),
    close: async ({ delay = 0 } = {}) => {
      await server.close(delay)
      await content.close()
      await uploads.close()
      await readers.close()
      await writer.close()
      await mail.close()
      await stopIndexing()
      presence.close()
      // Closing would remove a log that lies where ours was.
      if (!presence.isLost()) connection.close()
    },
  }
}
