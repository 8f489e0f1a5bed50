// The composition root: config → model → database → documents → http. Opens in this order, closes in the other.
import { mkdirSync } from 'node:fs'
import type { Logger } from 'pino'
import { openIdentification } from './auth/identify.js'
import type { Config } from './config.js'
import { openDirect } from './database/direct.js'
import { openReaders } from './database/readers.js'
import { openSqlite } from './database/sqlite.js'
import { sqliteDialect } from './database/sqlite-dialect.js'
import type { Documents } from './documents/find.js'
import { openDocuments } from './documents/find.js'
import { createServer } from './http/server.js'
import { loadModel } from './model/load.js'
import type { Model } from './model/types.js'
import { contracts } from './query/contract.js'

export interface Service {
  readonly model: Model
  /** Starts to listen; resolves to the address. */
  listen(): Promise<string>
  /** Lets requests in flight end, then closes everything. */
  close(): Promise<void>
}

/** Opens the service of a project. Nothing listens before `listen`. */
export async function createService(config: Config, logger: Logger): Promise<Service> {
  const model = await loadModel(config.folder)
  const { database: settings, limits } = config
  const connection = openSqlite(settings)
  mkdirSync(config.uploadsFolder, { recursive: true })
  const readers = await openReaders(
    {
      sqlite: settings,
      readers: settings.readers,
      maxReaders: settings.maxReaders,
      readQueue: limits.readQueue,
      readTimeout: limits.readTimeout,
      answerBytes: limits.answerBytes,
    },
    sqliteDialect,
    (error) => logger.error({ err: error }, 'a reader thread failed'),
  )
  const identification = await openIdentification(openDirect(connection), config.secrets, limits.cachedCallers)

  const documentsFor = (defaultLocale: string): Documents =>
    openDocuments(
      {
        model,
        contract: contracts[config.contract],
        defaultLocale,
        pages: config.rest,
        limits,
        strictParams: config.rest.strictParams,
      },
      readers,
      limits,
    )
  let documents = documentsFor((await identification.access()).defaultLocale)

  const server = await createServer(
    config,
    {
      identification,
      documents: () => documents,
    },
    logger,
  )
  return {
    model,
    listen: () => server.listen(),
    close: async () => {
      await server.close()
      await readers.close()
      connection.close()
    },
  }
}
