// Settings of the database: which one it is, how to reach it, and how it is used.
import { existsSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { resolve } from 'node:path'
import * as z from 'zod'
import { clientOf, type DatabaseClient } from './database-client.js'
import { replicasOf, type ServerSettings, serverOf } from './database-server.js'
import { booleanOf, type Environment, integerOf } from './environment.js'
import type { StrapiDatabase } from './files.js'

/** The most reader threads; each takes some megabytes. */
const mostReaders = 64

/** `database` in octavo.config. */
export const databaseSettings = () =>
  z.strictObject({
    filename: z.string().optional(),
    /** Number of permanent reader threads, and the maximum while heavy reads occupy some. */
    readerThreads: z.int().min(1).max(mostReaders).optional(),
    maxReaderThreads: z.int().min(1).max(mostReaders).optional(),
    /** Create Octavo's own indexes (`octavo_*`) in addition to Strapi's. */
    indexes: z.boolean().optional(),
    busyTimeout: z.int().positive().default(5_000),
    mmapBytes: z.int().min(0).default(0),
    cacheKibibytes: z.int().positive().default(2_048),
  })

/** The settings of the database. */
export interface DatabaseConfig {
  readonly client: DatabaseClient
  /** True if lists are sorted with null as the smallest value, as the contract says, wherever a database has it by itself. */
  readonly nullsFirst: boolean
  /** Null: the database is a SQLite file. */
  readonly server: ServerSettings | null
  /** URLs of read replicas, on PostgreSQL. */
  readonly replicas: readonly string[]
  readonly filename: string
  /** Why the database file is unknown from Strapi's config/database; null if it is known, or set elsewhere. */
  readonly problem: string | null
  readonly readerThreads: number
  readonly maxReaderThreads: number
  readonly indexes: boolean
  readonly busyTimeout: number
  readonly mmapBytes: number
  readonly cacheKibibytes: number
}

/** What the settings of the database are completed from. */
interface DatabaseSources {
  readonly root: string
  readonly environment: Environment
  readonly given: z.output<ReturnType<typeof databaseSettings>>
  /** Strapi's config/database, if nothing else names the database file. */
  readonly strapi: StrapiDatabase | null
}

/** Completes the settings of the database. @throws ConfigError that names the invalid value */
export function databaseOf({ root, environment, given, strapi }: DatabaseSources, nullsFirst: boolean): DatabaseConfig {
  const client = clientOf(environment, strapi, sqliteEvidence(root, environment, given))
  const server = serverOf(client, environment, strapi)
  return {
    ...given,
    ...readerThreadsOf(environment, given),
    client,
    nullsFirst,
    server,
    replicas: replicasOf(client, environment),
    filename: resolve(root, environment.DATABASE_FILENAME ?? given.filename ?? strapi?.filename ?? defaultFile),
    problem: server === null ? (strapi?.problem ?? null) : null,
    indexes: booleanOf(environment, 'OCTAVO_DATABASE_INDEXES') ?? given.indexes ?? false,
  }
}

/** The SQLite file of a project that names none. */
export const defaultFile = '.tmp/data.db'

/** What says that the project is on SQLite although it names no client, as the beginning of a sentence; null: nothing does. */
function sqliteEvidence(root: string, { DATABASE_FILENAME }: Environment, { filename }: DatabaseSources['given']): string | null {
  if (DATABASE_FILENAME !== undefined) return 'DATABASE_FILENAME names a SQLite file'
  if (filename !== undefined) return 'database.filename names a SQLite file'
  return existsSync(resolve(root, defaultFile)) ? `There is a SQLite file at ${defaultFile}` : null
}

function readerThreadsOf(
  environment: Environment,
  given: DatabaseSources['given'],
): Pick<DatabaseConfig, 'readerThreads' | 'maxReaderThreads'> {
  const threads = (name: string) => integerOf(environment, name, 1, mostReaders)
  const readerThreads = threads('OCTAVO_DATABASE_READER_THREADS') ?? given.readerThreads ?? Math.min(4, Math.max(2, availableParallelism()))
  const most = threads('OCTAVO_DATABASE_MAX_READER_THREADS') ?? given.maxReaderThreads ?? 2 * readerThreads
  return { readerThreads, maxReaderThreads: Math.max(readerThreads, most) }
}
