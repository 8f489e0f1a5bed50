// Whether the files of a database are still the ones that were opened, and whether what is in them was written through SQLite.

import { closeSync, openSync, readSync, type Stats, statSync } from 'node:fs'
import { basename } from 'node:path'
import type Database from 'better-sqlite3'

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

/** The sequence and the salts in the header of a log. SQLite has no locks on this file that closing it could end. */
function generationOf(path: string): string {
  const header = Buffer.alloc(12)
  try {
    const file = openSync(path, 'r')
    try {
      readSync(file, header, 0, header.length, 12)
    } finally {
      closeSync(file)
    }
  } catch {
    // One that is gone is told of where the files themselves are looked at.
  }
  return header.toString('base64')
}

/**
 * Watches the files of a connection, which must not be inside a transaction when somebody looks. Without a checkpoint nothing writes to the database's file, and a checkpoint shows in the
 * progress of the log when it has ended: a file that has changed without that was written by something else.
 * `patience`: how often that must be seen in a row where a checkpoint could be under way.
 */
export function watchFiles(connection: Database.Database, identities: FileIdentities, patience: number): FileWatch {
  const path = connection.name
  const noop = connection.prepare('pragma wal_checkpoint(NOOP)')
  const passive = connection.prepare('pragma wal_checkpoint(PASSIVE)')
  const frame = Number(connection.pragma('page_size', { simple: true })) + 24
  const progress = (): Progress => ({ ...(noop.get() as Omit<Progress, 'generation'>), generation: generationOf(`${path}-wal`) })
  const stampOf = ({ size, mtimeMs }: Stats): string => `${size} ${mtimeMs}`
  let known = { stamp: stampOf(statSync(path)), progress: progress() }
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
    const stamp = stampOf(files[0]![1]!)
    if (!(before instanceof Error)) return lookInside(before, stamp, files[1]![1]!.size)
    if (stamp === known.stamp) throw before
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

  function lookInside(before: Progress, stamp: string, logBytes: number): string | null {
    if (logBytes < lastLog && logBytes < progress().log * frame) return say('-wal', 'was made shorter')
    lastLog = logBytes
    if (stamp === known.stamp || isExplained(before) || isExplained(progress())) {
      known = { stamp, progress: before }
      suspicions = 0
      return null
    }
    // With nothing to be checkpointed, nobody who goes through SQLite has written. Otherwise whoever does holds a lock.
    const isCertain = before.log === before.checkpointed
    if (!isCertain && (++suspicions < patience || isCheckpointing())) return null
    return say('', 'was overwritten')
  }

  /** A checkpoint that has ended since. That the log has grown explains nothing. */
  const isExplained = ({ generation, checkpointed }: Progress): boolean =>
    checkpointed !== known.progress.checkpointed || generation !== known.progress.generation

  /** Whether another process, or thread, is at a checkpoint. A file for which none can be made is none of ours. */
  function isCheckpointing(): boolean {
    try {
      return (passive.get() as { readonly busy: number }).busy === 1
    } catch {
      return false
    }
  }

  function say(ending: string, what: string): string {
    said = `${basename(path)}${ending} ${what}`
    return said
  }

  return {
    look,
    settle: () => {
      if (identities['-wal'] !== null) known = { progress: progress(), stamp: stampOf(statSync(path)) }
    },
  }
}
