// Opens connections to a SQLite database with the settings that every one of them needs.
import { closeSync, existsSync, mkdirSync, openSync } from 'node:fs'
import { dirname } from 'node:path'
import Database from 'better-sqlite3'
import { LRUCache } from 'lru-cache'
import { getCode } from './errors.js'
import { defineFunctions } from './functions.js'

export interface SqliteOptions {
  readonly filename: string
  /** Milliseconds to wait for another process's lock. */
  readonly busyTimeout: number
  /** Bytes of the file that are read through memory mapping. */
  readonly mmapBytes: number
  /** Kibibytes of pages that one connection keeps. */
  readonly cacheKibibytes: number
}

/** Milliseconds between two tries for a lock that SQLite itself does not wait for. */
const retryInterval = 20

/** Access for the owner alone: a database has password hashes, an uploads folder what may be private. */
export const ownersFolder = 0o700
const ownersFile = 0o600

/**
 * Opens the database for reading and writing; the file and its folder are made when they are missing, for their owner only.
 * WAL, so that readers and the writer never wait for each other; `synchronous=FULL`, so that a commit survives a power cut.
 */
export function openSqlite(options: SqliteOptions): Database.Database {
  createPrivateFolder(dirname(options.filename))
  if (!existsSync(options.filename)) closeSync(openSync(options.filename, 'a', ownersFile))
  return reopenSqlite(options)
}

/** Opens an existing database again; never creates one that was deleted. `eachStatement` is called for every statement of the driver. */
export function reopenSqlite(options: SqliteOptions, eachStatement?: () => void): Database.Database {
  const database = new Database(options.filename, {
    fileMustExist: true,
    timeout: options.busyTimeout,
    ...(eachStatement === undefined ? {} : { verbose: eachStatement }),
  })
  try {
    // SQLite does not wait for the lock that the change to WAL needs.
    waitForLock(options.busyTimeout, () => database.pragma('journal_mode = WAL'))
  } catch (error) {
    // A read-only file system keeps the journal that the file has.
    if (!getCode(error).startsWith('SQLITE_READONLY')) throw error
  }
  database.pragma('synchronous = FULL')
  return prepare(database, options)
}

/** Makes a folder that is missing, for its owner only; the folders above it are made as usual. One that is there keeps its mode. */
function createPrivateFolder(folder: string): void {
  if (existsSync(folder)) return
  mkdirSync(dirname(folder), { recursive: true })
  mkdirSync(folder, { recursive: true, mode: ownersFolder })
}

export const blockFor = (milliseconds: number): void => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds)

/** Repeats `work` while another connection holds the lock that it needs, for `milliseconds` at most. Blocks the thread. */
export function waitForLock<Result>(milliseconds: number, work: () => Result): Result {
  const end = performance.now() + milliseconds
  for (;;) {
    try {
      return work()
    } catch (error) {
      if (!getCode(error).startsWith('SQLITE_BUSY') || performance.now() >= end) throw error
      blockFor(retryInterval)
    }
  }
}

/**
 * Opens an existing database for a few reads. The last connection that closes removes SQLite's auxiliary files, which a read-only one would
 * leave.
 */
export function openSqliteForViewing(options: SqliteOptions): Database.Database {
  const database = new Database(options.filename, { fileMustExist: true, timeout: options.busyTimeout })
  database.pragma('query_only = ON')
  return prepare(database, options)
}

/**
 * Opens the database for reading only. `look` is called now and then while a statement runs; it throws to end the statement, whose
 * caller gets that error.
 */
export function openSqliteReader(options: SqliteOptions, look?: () => void): Database.Database {
  return prepare(new Database(options.filename, { readonly: true, fileMustExist: true, timeout: options.busyTimeout }), options, look)
}

function prepare(database: Database.Database, options: SqliteOptions, look: () => void = () => {}): Database.Database {
  database.pragma('foreign_keys = ON')
  database.pragma(`mmap_size = ${options.mmapBytes}`)
  database.pragma(`cache_size = -${options.cacheKibibytes}`)
  defineFunctions(database, look)
  return database
}

/** Prepares statements of a connection and keeps them, `most` of those that were used last. */
export function createStatementCache(database: Database.Database, most: number): (sql: string) => Database.Statement {
  const statements = new LRUCache<string, Database.Statement>({ max: most })
  return (sql) => {
    let statement = statements.get(sql)
    if (statement === undefined) {
      statement = database.prepare(sql)
      statements.set(sql, statement)
    }
    return statement
  }
}

/** Attempts of a statement during consecutive changes of the schema. */
const schemaRetries = 20

/**
 * Runs read-only statements outside of a transaction, and repeats them if the schema changes twice. SQLite prepares a statement again after
 * a change, but outside of a transaction fails after a second one (`SQLITE_SCHEMA`).
 */
export function retrySchemaChanges<Result>(run: () => Result): Result {
  for (let retry = 1; ; retry++) {
    try {
      return run()
    } catch (error) {
      if (getCode(error) !== 'SQLITE_SCHEMA' || retry === schemaRetries) throw error
    }
  }
}

/** Creates a value once for each connection. */
export function oncePerConnection<Kept extends object>(make: (database: Database.Database) => Kept): (database: Database.Database) => Kept {
  const kept = new WeakMap<Database.Database, Kept>()
  return (database) => {
    const present = kept.get(database)
    if (present !== undefined) return present
    const made = make(database)
    kept.set(database, made)
    return made
  }
}
