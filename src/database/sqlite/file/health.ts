// Health of the database, from connection errors and from its files, which may be replaced at runtime. Guards refuse reads and writes once
// the files are lost.

import { closeSync, fstatSync, openSync, readSync, type Stats, statSync } from 'node:fs'
import { basename } from 'node:path'
import type Database from 'better-sqlite3'
import type { CommitWatch } from '../../cache/table-changes.js'
import type { MainConnection, ReadDatabase, WriteDatabase } from '../../database.js'
import { schemaDriftError, unavailableError } from '../../errors.js'
import { isDrift } from '../errors.js'

interface Health {
  /** Null while the database can be trusted; otherwise the problem as a sentence for the operator. */
  trouble(): string | null
  /** True once the files are no longer those that were opened. Only a restart helps. */
  isLost(): boolean
  /** Marks the files as lost: all further reads and writes are refused. */
  lose(what: string): void
  /** Records an error if it concerns the files. */
  note(error: unknown): void
  /** Records an error and hides details of the files from clients. */
  toApiError(error: unknown): Error
  /** @throws ApiError 503 once the files are lost */
  check(): void
}

const reportedForMs = 60_000

const damage = /^SQLITE_(?:CORRUPT|NOTADB)/
const failure = /^SQLITE_IOERR/

/** The code and message of an error or its cause, if it has a code: other messages may quote a request. */
function getCause(error: unknown): { readonly code: string; readonly message: string } {
  const { cause } = error as { readonly cause?: unknown }
  for (const each of [error, cause]) {
    const { code, message = '' } = (each ?? {}) as { readonly code?: unknown; readonly message?: string }
    if (typeof code === 'string') return { code, message }
  }
  return { code: '', message: '' }
}

/** Where the open files can still be copied from, as the end of a sentence. */
const openFiles = process.platform === 'linux' ? ` (from /proc/${process.pid}/fd, the database and its -wal together)` : ''

/** `report` is called once per problem. */
function createFileHealth(now: () => number, report: (sentence: string) => void): Health {
  let lost: string | null = null
  let damaged: string | null = null
  let failed: { readonly sentence: string; readonly at: number } | null = null

  function lose(what: string): void {
    if (lost !== null) return
    lost = `The database is no longer the one that was opened: ${what}. Nothing is read or written until the service is started again. Ending it gives up what was acknowledged and is only in the files that it still has open: copy them first${openFiles}`
    report(lost)
  }

  function note(error: unknown): void {
    const { code, message } = getCause(error)
    if (code === lostFiles) lose(message)
    const text = `${code} ${message.split('\n')[0]}`.trim()
    if (damage.test(code) && damaged === null) {
      damaged = `The database is damaged (${text}). \`npx octavo doctor\` shows details; restore it from a backup`
      report(damaged)
    }
    if (!failure.test(code)) return
    if (failed === null) report(`The disk of the database fails (${text})`)
    failed = { sentence: `The disk of the database failed (${text})`, at: now() }
  }

  return {
    trouble: () => {
      if (failed !== null && now() - failed.at > reportedForMs) failed = null
      return lost ?? damaged ?? failed?.sentence ?? null
    },
    isLost: () => lost !== null,
    lose,
    note,
    toApiError: (error) => {
      note(error)
      const { code, message } = error as { readonly code?: unknown; readonly message: string }
      if (typeof code === 'string' && isDrift(code, message)) return schemaDriftError(error)
      const isAboutFiles = typeof code === 'string' && (damage.test(code) || failure.test(code))
      return isAboutFiles ? unavailableError('The database cannot be read at the moment', error) : (error as Error)
    },
    check: () => {
      if (lost !== null) throw unavailableError('The database is not available', new Error(lost))
    },
  }
}

interface FileGuard extends Pick<Health, 'trouble' | 'isLost' | 'note'> {
  readonly files: FileIdentities
  guardReads(database: ReadDatabase): ReadDatabase
  guardWrites(database: WriteDatabase): WriteDatabase
  guardMain(connection: MainConnection): MainConnection
  guardCommits(watch: CommitWatch): CommitWatch
  close(): void
}

/** Milliseconds between checks of the files, and consecutive checks that must agree before the files count as lost. */
const interval = 250
const confirmations = 2

/** Watches the files of `connection`, which must have read from them. `report` is called once per problem. */
export function createFileGuard(connection: Database.Database, now: () => number, report: (sentence: string) => void): FileGuard {
  const files = identifyFiles(connection)
  const watch = watchFiles(connection, files, confirmations)
  const health = createFileHealth(now, report)
  const timer = setInterval(() => {
    try {
      const what = watch.look()
      if (what !== null) health.lose(what)
    } catch (error) {
      health.note(error)
    }
  }, interval)
  timer.unref()
  return {
    files,
    trouble: health.trouble,
    isLost: health.isLost,
    note: health.note,
    guardReads: (database) => ({ ...database, execute: guarded(health, database.execute) }),
    guardWrites: (database) => ({
      ...database,
      transaction: guarded(health, database.transaction),
      run: guarded(health, database.run),
    }),
    guardMain: (database) => ({
      isRemote: database.isRemote,
      rows: guarded(health, database.rows),
      changed: async () => {
        health.check()
        try {
          return await database.changed()
        } catch (error) {
          throw health.toApiError(error)
        }
      },
    }),
    guardCommits: (watch) => ({
      changes: watch.changes,
      look: (since) => {
        health.check()
        try {
          return watch.look(since)
        } catch (error) {
          throw health.toApiError(error)
        }
      },
    }),
    close: () => clearInterval(timer),
  }
}

/** Wraps an operation: refuses it once the files are lost, and records its errors. */
function guarded<Act extends (...given: never[]) => Promise<unknown>>(health: Health, act: Act): Act {
  return (async (...given: Parameters<Act>) => {
    health.check()
    try {
      return await act(...given)
    } catch (error) {
      throw health.toApiError(error)
    }
  }) as Act
}

const endings = ['', '-wal', '-shm'] as const

/** The database file, its write-ahead log and its shared memory, as device and inode; null: missing. */
export type FileIdentities = Readonly<Record<(typeof endings)[number], string | null>>

interface DatabaseFileWatch {
  /** Returns null if the files are intact; otherwise the problem as part of a sentence. A problem is final. */
  look(): string | null
  /** Accepts the file's current state, right after this thread has written to it. */
  settle(): void
}

/** Error code for files that are no longer those that were opened. */
export const lostFiles = 'OCTAVO_LOST_FILES'

const identity = ({ dev, ino }: Stats): string => `${dev}:${ino}`
const found = (path: string): Stats | undefined => statSync(path, { throwIfNoEntry: false })

/** Identifies the files that a connection has open after its first read. Without WAL mode there is only the database file. */
function identifyFiles(connection: Database.Database): FileIdentities {
  const isLogged = connection.pragma('journal_mode', { simple: true }) === 'wal'
  const identities = endings.map((ending) => {
    const stats = ending === '' || isLogged ? found(connection.name + ending) : undefined
    return [ending, stats === undefined ? null : identity(stats)]
  })
  return Object.fromEntries(identities) as FileIdentities
}

/**
 * Watches the files of a connection, which must not be in a transaction during checks. `confirmations`: consecutive suspicious changes before a
 * change counts as foreign.
 */
export function watchFiles(connection: Database.Database, identities: FileIdentities, confirmations: number): DatabaseFileWatch {
  const path = connection.name
  const log = createLogMonitor(connection)
  const content = createContentMonitor(path, log, confirmations)
  let verdict: string | null = null

  function look(): string | null {
    if (verdict !== null) return verdict
    const before = identities['-wal'] === null ? null : readable(log)
    const files = endings.map((ending) => [ending, found(path + ending)] as const)
    for (const [ending, stats] of files) {
      if (identities[ending] === null) continue
      if (stats === undefined) return lost(ending, 'is gone')
      if (identity(stats) !== identities[ending]) return lost(ending, 'was replaced by another file')
    }
    if (before === null) return null
    const stats = files[0]![1]!
    if (before instanceof Error) {
      if (content.isUnchanged(stats)) throw before
      return lost('', 'was overwritten')
    }
    if (log.isTruncated(files[1]![1]!.size)) return lost('-wal', 'was made shorter')
    return content.isForeign(stats, before) ? lost('', 'was overwritten') : null
  }

  function lost(ending: string, what: string): string {
    verdict = `${basename(path)}${ending} ${what}`
    return verdict
  }

  return {
    look,
    settle: () => {
      if (identities['-wal'] !== null) content.settle(statSync(path), log.progress())
    },
  }
}

/** Number of frames in the log, and of checkpointed frames. */
interface LogProgress {
  readonly log: number
  readonly checkpointed: number
  /** Identifies the log: its header changes at each reset. */
  readonly generation: string
}

interface WriteAheadLog {
  readonly pageBytes: number
  /** @throws SqliteError if the file is no longer a database */
  progress(): LogProgress
  /** True if something other than SQLite has truncated the log, which has `bytes` now. */
  isTruncated(bytes: number): boolean
}

function createLogMonitor(connection: Database.Database): WriteAheadLog {
  const path = `${connection.name}-wal`
  const noop = connection.prepare('pragma wal_checkpoint(NOOP)')
  const pageBytes = Number(connection.pragma('page_size', { simple: true }))
  const progress = (): LogProgress => ({ ...(noop.get() as Omit<LogProgress, 'generation'>), generation: readGeneration(path) })
  // Initialized here because the log may be truncated before the first check.
  let lastBytes = found(path)?.size ?? 0

  /** True if the log has fewer bytes than frames, with no reset or write during the check. */
  function isTooShort(): boolean {
    const before = progress()
    const bytes = found(path)?.size ?? 0
    const after = progress()
    return before.log === after.log && before.generation === after.generation && bytes < after.log * (pageBytes + 24)
  }

  return {
    pageBytes,
    progress,
    isTruncated: (bytes) => {
      if (bytes < lastBytes && isTooShort()) return true
      lastBytes = bytes
      return false
    },
  }
}

/** Returns the log's progress, or the error if the file is no longer a database. */
function readable(log: WriteAheadLog): LogProgress | Error {
  try {
    return log.progress()
  } catch (error) {
    return error as Error
  }
}

/** The contents of the database file, which only checkpoints change. */
interface Content {
  isUnchanged(stats: Stats): boolean
  /**
   * True if something other than SQLite has written to the file. A finished checkpoint shows in the log's progress (`before`: at the start
   * of this check), an unfinished one in the file's pages.
   */
  isForeign(stats: Stats, before: LogProgress): boolean
  /** Accepts the current state of the file. */
  settle(stats: Stats, at: LogProgress): void
}

function createContentMonitor(path: string, log: WriteAheadLog, confirmations: number): Content {
  const getStamp = ({ size, mtimeMs }: Stats): string => `${size} ${mtimeMs}`
  const toState = (stats: Stats, at: LogProgress) => ({ stamp: getStamp(stats), bytes: stats.size, progress: at })
  let accepted = toState(statSync(path), log.progress())
  let suspicions = 0
  const isUnchanged = (stats: Stats): boolean => getStamp(stats) === accepted.stamp

  function settle(stats: Stats, at: LogProgress): void {
    accepted = toState(stats, at)
    suspicions = 0
  }

  /** True if a checkpoint has finished since. Growth of the log alone does not explain a change of the file. */
  const hasCheckpoint = ({ generation, checkpointed }: LogProgress): boolean =>
    checkpointed !== accepted.progress.checkpointed || generation !== accepted.progress.generation

  /** True if a checkpoint is running or was interrupted. */
  const isUnfinished = ({ log: frames, checkpointed }: LogProgress): boolean =>
    frames > checkpointed && hasUnfinishedCheckpoint(path, checkpointed, log.pageBytes, accepted.bytes)

  return {
    isUnchanged,
    isForeign: (stats, before) => {
      const now = log.progress()
      const explained = isUnchanged(stats) || hasCheckpoint(before) || hasCheckpoint(now) ? before : isUnfinished(now) ? now : null
      if (explained !== null) {
        settle(stats, explained)
        return false
      }
      // With nothing to checkpoint, SQLite cannot have written to the file.
      const isCertain = before.log === before.checkpointed && now.log === now.checkpointed
      return isCertain || ++suspicions >= confirmations
    },
    settle,
  }
}

/** Maximum log frames inspected, and maximum file pages compared with them. */
const maxFrames = 100_000
const maxPages = 64
const headerBytes = 32
const frameHeaderBytes = 24

/** Descriptors of database files, never closed: closing one would release all locks of this process on the file. */
const descriptors = new Map<string, number>()

function getDescriptor(path: string): number {
  const { dev, ino } = statSync(path)
  const name = `${dev}:${ino}`
  const descriptor = descriptors.get(name) ?? openSync(path, 'r')
  descriptors.set(name, descriptor)
  return descriptor
}

/** The sequence number and salts in the log's header. SQLite holds no locks on this file, so it may be closed. */
function readGeneration(log: string): string {
  const header = Buffer.alloc(12)
  try {
    withFile(log, (file) => readSync(file, header, 0, header.length, 12))
  } catch {
    // A missing log is reported by the file check.
  }
  return header.toString('base64')
}

function withFile<Result>(path: string, use: (descriptor: number) => Result): Result {
  const descriptor = openSync(path, 'r')
  try {
    return use(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

/**
 * Whether an unfinished checkpoint (running, failed on a full disk, or killed) has written frames from `checkpointed` on to the file. A
 * checkpoint first extends the file, then writes pages in ascending order.
 */
function hasUnfinishedCheckpoint(database: string, checkpointed: number, pageBytes: number, knownBytes: number): boolean {
  const file = getDescriptor(database)
  return withFile(`${database}-wal`, (log) => {
    const { pages, databasePages } = readFrames(log, checkpointed, pageBytes)
    const { size } = fstatSync(file)
    if (size !== knownBytes && size === databasePages * pageBytes) return true
    const page = Buffer.alloc(pageBytes)
    const frame = Buffer.alloc(pageBytes)
    return [...pages.keys()]
      .sort((one, other) => one - other)
      .slice(0, maxPages)
      .some((number) => {
        if (readSync(file, page, 0, pageBytes, (number - 1) * pageBytes) < pageBytes) return false
        return pages.get(number)!.some((at) => readSync(log, frame, 0, pageBytes, at) === pageBytes && frame.equals(page))
      })
  })
}

/** Offsets of each page in the log from frame `first` on, and the database size in pages after the last commit. */
function readFrames(log: number, first: number, pageBytes: number) {
  const header = Buffer.alloc(headerBytes)
  const salts = Buffer.alloc(8)
  if (readSync(log, header, 0, headerBytes, 0) === headerBytes) header.copy(salts, 0, 16, 24)
  const pages = new Map<number, number[]>()
  let databasePages = 0
  const frame = Buffer.alloc(frameHeaderBytes)
  for (let index = first; index < first + maxFrames; index++) {
    const at = headerBytes + index * (frameHeaderBytes + pageBytes)
    // Stale frames with other salts may follow the last frame.
    if (readSync(log, frame, 0, frameHeaderBytes, at) < frameHeaderBytes || !frame.subarray(8, 16).equals(salts)) break
    const number = frame.readUInt32BE(0)
    databasePages = frame.readUInt32BE(4) || databasePages
    const contents = pages.get(number)
    if (contents === undefined) pages.set(number, [at + frameHeaderBytes])
    else contents.push(at + frameHeaderBytes)
  }
  return { pages, databasePages }
}
