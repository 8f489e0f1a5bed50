// Opens connections to a SQLite database with the settings that every one of them needs.
import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import Database from 'better-sqlite3'
import { LRUCache } from 'lru-cache'

export interface SqliteOptions {
  readonly filename: string
  /** Milliseconds to wait for another process's lock. */
  readonly busyTimeout: number
  /** Bytes of the file that are read through memory mapping. */
  readonly mmapBytes: number
  /** Kibibytes of pages that one connection keeps. */
  readonly cacheKibibytes: number
}

/**
 * Opens the database for reading and writing; the file and its folder are made when they are missing.
 * WAL, so that readers and the writer never wait for each other; `synchronous=FULL`, so that a commit survives a power cut.
 * `eachStatement` is called whenever the driver runs a statement.
 */
export function openSqlite(options: SqliteOptions, eachStatement?: () => void): Database.Database {
  mkdirSync(dirname(options.filename), { recursive: true })
  const database = new Database(options.filename, {
    timeout: options.busyTimeout,
    ...(eachStatement === undefined ? {} : { verbose: eachStatement }),
  })
  try {
    database.pragma('journal_mode = WAL')
  } catch (error) {
    // A read-only file system keeps the journal that the file has.
    if (!String((error as { code?: string }).code).startsWith('SQLITE_READONLY')) throw error
  }
  database.pragma('synchronous = FULL')
  return prepare(database, options)
}

/** Opens the database for reading only. */
export function openSqliteReader(options: SqliteOptions): Database.Database {
  return prepare(new Database(options.filename, { readonly: true, fileMustExist: true, timeout: options.busyTimeout }), options)
}

function prepare(database: Database.Database, options: SqliteOptions): Database.Database {
  database.pragma('foreign_keys = ON')
  database.pragma(`mmap_size = ${options.mmapBytes}`)
  database.pragma(`cache_size = -${options.cacheKibibytes}`)
  // Sigma has two small letters, by its place in a word.
  const fold = (text: unknown) => (text === null ? null : String(text).toLowerCase().replaceAll('ς', 'σ'))
  database.function('octavo_fold', { deterministic: true }, fold)
  return database
}

/** Prepares statements of a connection and keeps them, `most` of those that were used last. */
export function keepStatements(database: Database.Database, most: number): (sql: string) => Database.Statement {
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

/** What is made once for each connection, when it is first asked for. */
export function perConnection<Kept extends object>(make: (database: Database.Database) => Kept): (database: Database.Database) => Kept {
  const kept = new WeakMap<Database.Database, Kept>()
  return (database) => {
    const present = kept.get(database)
    if (present !== undefined) return present
    const made = make(database)
    kept.set(database, made)
    return made
  }
}
