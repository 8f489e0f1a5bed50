// Opens SQLite connections with their settings and SQL functions.

import { closeSync, existsSync, mkdirSync, openSync } from 'node:fs'
import { dirname } from 'node:path'
import Database from 'better-sqlite3'
import { LRUCache } from 'lru-cache'
import { getCode } from './errors.js'

export interface SqliteOptions {
  readonly filename: string
  /** Milliseconds to wait for another process's lock. */
  readonly busyTimeout: number
  /** Maximum bytes of the file to map into memory. */
  readonly mmapBytes: number
  readonly cacheKibibytes: number
}

/** Milliseconds between attempts to get a lock that SQLite does not wait for. */
const retryInterval = 20

/** Access for the owner only: the database contains password hashes, and the uploads folder private files. */
export const ownersFolder = 0o700
const ownersFile = 0o600

/**
 * Opens the database for reading and writing, creating the file and its folder if missing. WAL, so that readers and the writer never block
 * each other; `synchronous=FULL`, so that commits survive a power failure.
 */
export function openSqlite(options: SqliteOptions): Database.Database {
  createPrivateFolder(dirname(options.filename))
  if (!existsSync(options.filename)) closeSync(openSync(options.filename, 'a', ownersFile))
  return reopenSqlite(options)
}

/** Opens an existing database; never recreates a deleted one. `eachStatement` is called for every statement executed. */
export function reopenSqlite(options: SqliteOptions, eachStatement?: () => void): Database.Database {
  const database = new Database(options.filename, {
    fileMustExist: true,
    timeout: options.busyTimeout,
    ...(eachStatement === undefined ? {} : { verbose: eachStatement }),
  })
  try {
    // SQLite does not wait for the lock that switching to WAL requires.
    waitForLock(options.busyTimeout, () => database.pragma('journal_mode = WAL'))
  } catch (error) {
    // On a read-only file system the journal mode stays as it is.
    if (!getCode(error).startsWith('SQLITE_READONLY')) throw error
  }
  database.pragma('synchronous = FULL')
  return prepare(database, options)
}

/** Creates a missing folder with owner-only access; its parents get default modes. An existing folder keeps its mode. */
function createPrivateFolder(folder: string): void {
  if (existsSync(folder)) return
  mkdirSync(dirname(folder), { recursive: true })
  mkdirSync(folder, { recursive: true, mode: ownersFolder })
}

export const blockFor = (milliseconds: number): void => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds)

/** Retries `work` while another connection holds the lock, for up to `milliseconds`. Blocks the thread. */
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

/** Opens an existing database for a few reads. A connection in read-only mode, if closed last, would leave auxiliary files behind. */
export function openSqliteForViewing(options: SqliteOptions): Database.Database {
  const database = new Database(options.filename, { fileMustExist: true, timeout: options.busyTimeout })
  database.pragma('query_only = ON')
  return prepare(database, options)
}

/** Opens the database read-only. `look` is called periodically while a statement runs; it throws to abort the statement. */
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

/** Caches up to `most` prepared statements of a connection (LRU). */
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

/** Maximum attempts of a statement during consecutive schema changes. */
const schemaRetries = 20

/**
 * Runs read-only statements outside a transaction, retrying on `SQLITE_SCHEMA`: SQLite re-prepares a statement after one schema change, but
 * fails after a second.
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

/** Memoizes a value per connection. */
export function oncePerConnection<Value extends object>(
  make: (database: Database.Database) => Value,
): (database: Database.Database) => Value {
  const values = new WeakMap<Database.Database, Value>()
  return (database) => {
    const present = values.get(database)
    if (present !== undefined) return present
    const created = make(database)
    values.set(database, created)
    return created
  }
}

/** `look` is called periodically while a statement runs; it throws to abort the statement. */
export function defineFunctions(database: Database.Database, look: () => void = () => {}): void {
  // Sigma has two lower-case forms, depending on its position in a word.
  const fold = (text: unknown) => {
    look()
    return text === null ? null : String(text).toLowerCase().replaceAll('ς', 'σ')
  }
  database.function('octavo_fold', { deterministic: true }, fold)
  // Like `like`: texts end at a NUL, and a value that contains one matches nothing.
  const upToNul = (text: string) => text.split('\0', 1)[0]!
  const searches = { exact: createSearch('exact'), ascii: createSearch('ascii') }
  const search = (find: (text: string, value: string) => boolean) => (text: unknown, value: unknown) => {
    look()
    return text === null || value === null ? null : Number(find(String(text), String(value)))
  }
  const like = (find: (text: string, value: string) => boolean) => (text: string, value: string) =>
    !value.includes('\0') && find(upToNul(text), value)
  database.function('octavo_contains', { deterministic: true }, search(searches.exact))
  database.function('octavo_like_contains', { deterministic: true }, search(like(searches.ascii)))
  database.function('octavo_like_ends', { deterministic: true }, search(like(endsWithAscii)))
  database.function('octavo_alive', () => {
    look()
    return 1
  })
}

/** Exact comparison, or ignoring ASCII case like SQLite's `like`. */
type Comparison = 'exact' | 'ascii'

const upperA = 65
const upperZ = 90
const toLower = 32
const folded = (unit: number): number => (unit >= upperA && unit <= upperZ ? unit + toLower : unit)
const same = (unit: number): number => unit

/** Returns a substring search that caches the failure table of the last value: a statement searches many rows for one value. */
function createSearch(comparison: Comparison): (text: string, value: string) => boolean {
  const unitOf = comparison === 'ascii' ? folded : same
  let last: { readonly value: string; readonly fallbacks: Int32Array } = { value: '', fallbacks: new Int32Array() }
  return (text, value) => {
    if (value.length > text.length) return false
    if (last.value !== value) last = { value, fallbacks: computeFallbacks(value, unitOf) }
    const { fallbacks } = last
    for (let at = 0, matched = 0; at < text.length; at += 1) {
      const unit = unitOf(text.charCodeAt(at))
      while (matched > 0 && unitOf(value.charCodeAt(matched)) !== unit) matched = fallbacks[matched - 1]!
      if (unitOf(value.charCodeAt(matched)) === unit) matched += 1
      if (matched === value.length) return true
    }
    return value.length === 0
  }
}

/** The Knuth-Morris-Pratt failure function: the length of the longest proper border of each prefix of `value`. */
function computeFallbacks(value: string, unitOf: (unit: number) => number): Int32Array {
  const fallbacks = new Int32Array(value.length)
  for (let at = 1, matched = 0; at < value.length; at += 1) {
    const unit = unitOf(value.charCodeAt(at))
    while (matched > 0 && unitOf(value.charCodeAt(matched)) !== unit) matched = fallbacks[matched - 1]!
    if (unitOf(value.charCodeAt(matched)) === unit) matched += 1
    fallbacks[at] = matched
  }
  return fallbacks
}

function endsWithAscii(text: string, value: string): boolean {
  const from = text.length - value.length
  if (from < 0) return false
  for (let at = 0; at < value.length; at += 1) {
    if (folded(value.charCodeAt(at)) !== folded(text.charCodeAt(from + at))) return false
  }
  return true
}
