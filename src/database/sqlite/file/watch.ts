// Whether the files of a database are still the ones that were opened, and whether what is in them was written through SQLite.

import { type Stats, statSync } from 'node:fs'
import { basename } from 'node:path'
import type Database from 'better-sqlite3'
import { generationOf, isBegun } from './wal.js'

/** The database's file, its write-ahead log and the shared memory of its readers, as device and inode; null: there was none. */
export type FileIdentities = Readonly<Record<(typeof endings)[number], string | null>>

export interface FileWatch {
  /** Null while all is well; otherwise what has become of which file, as part of a sentence. Once said, it stays so. */
  look(): string | null
  /** Takes the file as it is now for the right one: right after this thread has written to it itself. */
  settle(): void
}

/** The code of the error that tells that the files are not those that were opened. */
export const lostFiles = 'OCTAVO_LOST_FILES'

const endings = ['', '-wal', '-shm'] as const

const identity = ({ dev, ino }: Stats): string => `${dev}:${ino}`
const found = (path: string): Stats | undefined => statSync(path, { throwIfNoEntry: false })

/** The files that a connection has open, once it has read. A database that is not in WAL mode has only the first. */
export function identifyFiles(connection: Database.Database): FileIdentities {
  const isLogged = connection.pragma('journal_mode', { simple: true }) === 'wal'
  const identities = endings.map((ending) => {
    const stats = ending === '' || isLogged ? found(connection.name + ending) : undefined
    return [ending, stats === undefined ? null : identity(stats)]
  })
  return Object.fromEntries(identities) as FileIdentities
}

/** How far the log goes, and how much of it is in the file. */
interface Progress {
  readonly log: number
  readonly checkpointed: number
  /** Which log it is: each time it begins anew its header is another. */
  readonly generation: string
}

/**
 * Watches the files of a connection, which must not be inside a transaction when somebody looks. Nothing but a checkpoint writes to the
 * database's file: one that has ended shows in the progress of the log, one that has not in the pages of the file. A file that has
 * changed without either was written by something else. `patience`: how often that must be seen in a row.
 */
export function watchFiles(connection: Database.Database, identities: FileIdentities, patience: number): FileWatch {
  const path = connection.name
  const noop = connection.prepare('pragma wal_checkpoint(NOOP)')
  const pageBytes = Number(connection.pragma('page_size', { simple: true }))
  const progress = (): Progress => ({ ...(noop.get() as Omit<Progress, 'generation'>), generation: generationOf(`${path}-wal`) })
  const stampOf = ({ size, mtimeMs }: Stats): string => `${size} ${mtimeMs}`
  const seen = (stats: Stats, at: Progress) => ({ stamp: stampOf(stats), bytes: stats.size, progress: at })
  let known = seen(statSync(path), progress())
  // As it is now: a log that is emptied before anybody has looked was made shorter too.
  let lastLog = found(`${path}-wal`)?.size ?? 0
  let suspicions = 0
  let said: string | null = null

  function look(): string | null {
    if (said !== null) return said
    const before = identities['-wal'] === null ? null : readable()
    const files = endings.map((ending) => [ending, found(path + ending)] as const)
    for (const [ending, stats] of files) {
      if (identities[ending] === null) continue
      if (stats === undefined) return say(ending, 'is gone')
      if (identity(stats) !== identities[ending]) return say(ending, 'was replaced by another file')
    }
    if (before === null) return null
    const stats = files[0]![1]!
    if (!(before instanceof Error)) return lookInside(before, stats, files[1]![1]!.size)
    if (stampOf(stats) === known.stamp) throw before
    return say('', 'was overwritten')
  }

  /** The progress, or the error of a file that is not even that of a database any more. */
  function readable(): Progress | Error {
    try {
      return progress()
    } catch (error) {
      return error as Error
    }
  }

  function lookInside(before: Progress, stats: Stats, logBytes: number): string | null {
    if (logBytes < lastLog && isShorter()) return say('-wal', 'was made shorter')
    lastLog = logBytes
    const now = progress()
    if (stampOf(stats) === known.stamp || isExplained(before) || isExplained(now)) return settle(stats, before)
    if (isUnfinished(now)) return settle(stats, now)
    // With nothing to be checkpointed, nobody who goes through SQLite has written.
    const isCertain = before.log === before.checkpointed && now.log === now.checkpointed
    return !isCertain && ++suspicions < patience ? null : say('', 'was overwritten')
  }

  function settle(stats: Stats, at: Progress): null {
    known = seen(stats, at)
    suspicions = 0
    return null
  }

  /** Whether the log has fewer bytes than frames, asked while nobody empties it or writes on it. */
  function isShorter(): boolean {
    const [before, bytes, after] = [progress(), found(`${path}-wal`)?.size ?? 0, progress()]
    return before.log === after.log && before.generation === after.generation && bytes < after.log * (pageBytes + 24)
  }

  /** Whether a checkpoint is under way, or was given up. */
  function isUnfinished({ log, checkpointed }: Progress): boolean {
    return log > checkpointed && isBegun(path, checkpointed, pageBytes, known.bytes)
  }

  /** A checkpoint that has ended since. That the log has grown explains nothing. */
  const isExplained = ({ generation, checkpointed }: Progress): boolean =>
    checkpointed !== known.progress.checkpointed || generation !== known.progress.generation

  function say(ending: string, what: string): string {
    said = `${basename(path)}${ending} ${what}`
    return said
  }

  return {
    look,
    settle: () => {
      if (identities['-wal'] !== null) settle(statSync(path), progress())
    },
  }
}
