// Opens a project's SQLite database: for a service, for a command that writes, or for inspection.

import { statSync } from 'node:fs'
import { Worker } from 'node:worker_threads'
import type { Database as Connection } from 'better-sqlite3'
import type { Logger } from 'pino'
import type { Config } from '../../foundation/config/config.js'
import { ConfigError } from '../../foundation/errors/errors.js'
import { elapsed } from '../../foundation/runtime/clock.js'
import { openClosers } from '../../foundation/runtime/shutdown.js'
import type { Model } from '../../model/schema/types.js'
import { describeIndexes } from '../../model/tables/own-indexes.js'
import { createBackgroundIndexes } from '../background-indexes.js'
import { createTableChanges } from '../cache/table-changes.js'
import {
  type CommandDatabase,
  type Database,
  type DatabaseHost,
  type DatabaseLock,
  type DatabaseView,
  databaseNames,
  type FillDatabase,
} from '../database.js'
import type { IndexingReport } from '../driver.js'
import { maxWriteResponseBytes } from '../limits.js'
import { applySqliteChange } from './apply-change.js'
import { findSchemaMismatches, findTableScans, inspectSqlite, readDeclaredColumns } from './catalog.js'
import { describeSqliteStep } from './change-statements.js'
import { openSqlite, openSqliteForViewing, openSqliteReader, retrySchemaChanges, type SqliteOptions, waitForLock } from './connection.js'
import { sqliteDialect } from './dialect.js'
import { getCode, isDamage } from './errors.js'
import { createFileGuard } from './file/health.js'
import { createIndexes } from './indexes.js'
import { createCommitVersion, createDependentTables, createMainConnection, watchCommits } from './main-connection.js'
import { fitModel, isUnprepared } from './prepare-database.js'
import { openProjectFile } from './project-file.js'
import { openReaders } from './readers/pool.js'
import { createWriter, type SqliteWriter, type WriterOptions } from './writer/writer.js'

/**
 * Opens a service's database: the main connection, reader threads, a writer thread (started by the first write), and the file watch. Closes
 * everything on failure.
 * @throws ConfigError if the database was lost, is damaged or cannot be prepared
 */
export async function openSqliteDatabase(config: Config, model: Model, { logger, signing, fill }: DatabaseHost): Promise<Database> {
  const { database: settings, limits } = config
  const opened = openClosers()
  try {
    const connection = await openProjectFile(config, model, logger, fill)
    let isLost = (): boolean => false
    opened.add(() => {
      // Closing would delete a foreign log at the old path.
      if (!isLost()) connection.close()
    })
    const presence = createFileGuard(connection, elapsed, (sentence) => logger.error(sentence))
    isLost = presence.isLost
    opened.add(presence.close)
    const indexes = createBackgroundIndexes(settings.indexes ? (wanted) => indexInBackground(settings, wanted, logger) : null)
    opened.add(indexes.stop)
    await indexes.begin(model)
    const failed = (message: string) => (error: Error) => {
      presence.note(error)
      logger.error({ err: error }, message)
    }
    const { readerThreads, maxReaderThreads } = settings
    const readers = await openReaders(
      {
        sqlite: settings,
        signing,
        readers: readerThreads,
        maxReaders: maxReaderThreads,
        ...limits,
      },
      sqliteDialect,
      failed('a reader thread failed'),
    )
    opened.add(readers.close)
    const version = createCommitVersion(connection)
    const changes = createTableChanges(createDependentTables(connection))
    const writer = startWriter(config, { signing, files: presence.files, changes }, logger, failed('the writer thread failed'))
    opened.add(writer.close)
    return {
      reads: presence.guardReads(readers),
      writes: presence.guardWrites(writer),
      main: presence.guardMain(createMainConnection(connection, version)),
      commits: presence.guardCommits(watchCommits(version, changes, writer)),
      names: databaseNames.sqlite,
      spans: {},
      addMissing: async (wanted) => {
        await fitModel(connection, writer, wanted, config.auth.jwtManagement === 'refresh')
        await indexes.begin(wanted)
      },
      checkSteps: null,
      applyChange: (work) => writer.alone(() => applySqliteChange(settings, work)),
      describeSteps: async (steps) => steps.map(describeSqliteStep),
      mismatches: async (wanted) => retrySchemaChanges(() => findSchemaMismatches(connection, wanted)),
      ...monitoringOf(connection, settings.filename),
      trouble: presence.trouble,
      close: () => opened.close(0),
    }
  } catch (error) {
    await opened.close(0).catch(() => {})
    throw error
  }
}

/** Bytes of the write-ahead log; 0 if there is none. */
const getWalBytes = (filename: string): number => statSync(`${filename}-wal`, { throwIfNoEntry: false })?.size ?? 0

const monitoringOf = (connection: Connection, filename: string): Pick<Database, 'tableScans' | 'activity'> => ({
  tableScans: (statement) => findTableScans(connection, statement),
  activity: () => ({ pools: [], replicas: null, retriedTransactions: 0, walBytes: getWalBytes(filename) }),
})

function startWriter(
  { database: sqlite, limits }: Config,
  around: Pick<WriterOptions, 'signing' | 'files' | 'changes'>,
  logger: Logger,
  failed: (error: Error) => void,
): SqliteWriter {
  return createWriter(
    {
      sqlite,
      ...around,
      writtenBytes: maxWriteResponseBytes(limits.bodyBytes),
      writeTimeout: limits.writeTimeout,
      // Counting slows the driver down, so only log level trace enables it.
      ...(logger.isLevelEnabled('trace') && {
        committed: (statements: number) => logger.trace({ statements }, 'a write is on disk'),
      }),
    },
    failed,
  )
}

const indexInBackground = (settings: Config['database'], model: Model, logger: Logger): (() => Promise<void>) =>
  startIndexing(settings, model, {
    created: (count) => count > 0 && logger.info({ indexes: count }, 'created missing indexes'),
    failed: (error) => logger.error({ err: error }, 'could not create an index'),
  })

/** Opens the database for a command that writes, creating it if the project is new. */
export async function openSqliteForCommand(config: Config, model: Model, fill: FillDatabase): Promise<CommandDatabase> {
  const connection = await openProjectFile(config, model, { info: () => {}, warn: () => {} }, fill)
  // Thread errors are ignored: the failed write reports them.
  const writes = createWriter(
    {
      sqlite: config.database,
      signing: null,
      files: null,
      writtenBytes: Number.MAX_SAFE_INTEGER,
      writeTimeout: config.limits.writeTimeout,
      changes: createTableChanges(() => new Map()),
    },
    () => {},
  )
  return {
    main: createMainConnection(connection),
    writes,
    close: async () => {
      await writes.close()
      connection.close()
    },
  }
}

function createView(connection: Connection): DatabaseView {
  const main = createMainConnection(connection)
  return {
    ...inspectSqlite(main),
    main,
    isEmpty: async () => isUnprepared(connection),
    mismatches: async (model) => findSchemaMismatches(connection, model),
    declaredColumns: async () => readDeclaredColumns(connection),
    close: async () => void connection.close(),
  }
}

export const openSqliteView = (config: Config): DatabaseView => createView(openSqliteForViewing(config.database))

/** Opens a snapshot for reading while services write. @throws ConfigError with a remedy if the file is damaged */
export function openSqliteSnapshot({ database }: Config): DatabaseView {
  let connection: Connection | null = null
  try {
    connection = openSqliteReader(database)
    connection.exec('begin')
    return createView(connection)
  } catch (error) {
    connection?.close()
    if (!isDamage(error)) throw error
    const { filename } = database
    throw new ConfigError(
      `The database at ${filename} cannot be read (${(error as Error).message}). Restore a backup; "sqlite3 ${filename} .recover" may rescue some data.`,
    )
  }
}

/** Creates Octavo's missing indexes, reporting each before it starts. Returns the number of created indexes. */
export function createSqliteIndexes(
  { database }: Config,
  model: Model,
  report: (name: string, done: number, missing: number) => void,
): number {
  const connection = openSqlite(database)
  try {
    return createIndexes(connection, describeIndexes(model), ({ name }, done, missing) => report(name, done, missing))
  } finally {
    connection.close()
  }
}

/** Takes the startup lock, creating the database file of a new project. A read-only database needs no lock. */
export function lockSqlite(config: Config, wait: number): DatabaseLock {
  const connection = openSqlite(config.database)
  try {
    waitForLock(wait, () => connection.exec('begin immediate'))
  } catch (error) {
    if (!getCode(error).startsWith('SQLITE_READONLY')) {
      connection.close()
      throw error
    }
  }
  return {
    countTokens: async () => {
      const table = connection.prepare("select 1 from sqlite_schema where name = 'strapi_api_tokens'").get()
      return table === undefined ? 0 : Number(connection.prepare('select count(*) from strapi_api_tokens').pluck().get())
    },
    // Ends the empty transaction.
    release: async () => void connection.close(),
  }
}

/** Starts to create missing indexes; returns a function that stops it. */
function startIndexing(sqlite: SqliteOptions, model: Model, report: IndexingReport): () => Promise<void> {
  const worker = new Worker(new URL('./index-thread.js', import.meta.url), { workerData: { sqlite, indexes: describeIndexes(model) } })
  worker.on('message', (made: number) => report.created(made))
  worker.on('error', report.failed)
  return async () => {
    await worker.terminate()
  }
}
