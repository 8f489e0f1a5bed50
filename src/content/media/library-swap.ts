// Replaces many files of the media library along with their rows. New files are stored before the transaction; replacements take their
// final names after the commit; then files without a row are deleted. The journal recovers from a crash.
import { randomUUID } from 'node:crypto'
import type { CommandDatabase } from '../../database/database.js'
import type { Config } from '../../foundation/config/config.js'
import { type Journal, type JournalEntry, openJournal } from './journal.js'
import { namesInUse } from './rows.js'
import { clearAbandoned, openStagingFolder } from './staging.js'
import { openStorages, type Storages } from './storage/open.js'
import type { Storage } from './storage/storage.js'

/** A complete local file to store; it may be moved. */
interface NewFileContent {
  readonly path: string
  readonly mime: string
}

/** A swap whose new files are stored. */
export interface LibrarySwap {
  /** Key of the rows that the transaction inserts into `octavo_file_swaps`. */
  readonly id: string
  /** Puts replacements in place if the transaction was committed, and deletes files without a row. The next start retries failures. */
  settle(): Promise<void>
}

/** The media library of a command. */
export interface LibrarySwaps {
  /** Folder for files to store; deleted by `close`. */
  readonly folder: string
  /** `provider` and URL of new files. */
  readonly provider: string
  url(name: string): string
  /** Recovers from stopped processes. `database`: the database of the project. */
  recover(database: CommandDatabase): Promise<void>
  /** Stores files by name. @throws ApiError 503 if a remote storage rejects one */
  begin(database: CommandDatabase, files: ReadonlyMap<string, NewFileContent>, report: (done: number) => void): Promise<LibrarySwap>
  close(): Promise<void>
}

/** Maximum number of files stored concurrently. */
const together = 8

export async function openLibrarySwaps({ uploadsFolder, storage, limits }: Config): Promise<LibrarySwaps> {
  const storages = await openStorages(uploadsFolder, storage, limits, () => {})
  const stagingFolder = await openStagingFolder(uploadsFolder)
  const journals: Journal[] = []
  const journalOn = ({ main, writes }: CommandDatabase): Journal => {
    const journal = openJournal({ stagingFolder, database: main, writer: writes, storages, failed: () => {} })
    journals.push(journal)
    return journal
  }
  return {
    folder: stagingFolder.folder,
    provider: storages.current.provider,
    url: storages.current.url,
    recover: (database) => clearAbandoned(uploadsFolder, stagingFolder, journalOn(database).recover),
    begin: (database, files, report) => begin({ storages, journal: journalOn(database), database }, files, report),
    close: async () => {
      const isResolved = (await Promise.all(journals.map((journal) => journal.retry()))).every((each) => each)
      // The next start retries unresolved entries.
      if (isResolved) await stagingFolder.close()
      else stagingFolder.abandon()
      for (const each of storages.of.values()) each.close()
    },
  }
}

interface SwapParts {
  readonly storages: Storages
  readonly journal: Journal
  readonly database: CommandDatabase
}

async function begin(
  { storages, journal, database }: SwapParts,
  files: ReadonlyMap<string, NewFileContent>,
  report: (done: number) => void,
): Promise<LibrarySwap> {
  const { current } = storages
  const id = randomUUID()
  const moves = await movesOf(current, [...files.keys()])
  const placed = new Map(moves.map(([from, to]) => [to, from]))
  const entries: JournalEntry[] = []
  for (const { provider } of storages.of.values()) {
    const isCurrent = provider === current.provider
    // A file that existed without a row must not be deleted.
    const added = isCurrent ? [...[...files.keys()].filter((name) => !placed.has(name)), ...placed.values()] : []
    const names = [...(await namesInUse(database.main, provider, null)), ...added]
    entries.push({ provider, hash: null, names: [...new Set(names)], ...(isCurrent && { swap: { id, moves } }) })
  }
  const resolvers: (() => Promise<void>)[] = []
  const settle = async (): Promise<void> => {
    for (const resolve of resolvers) await resolve()
  }
  try {
    for (const entry of entries) resolvers.push(await journal.add(entry))
    await store(current, files, placed, report)
    return { id, settle }
  } catch (error) {
    await settle()
    throw error
  }
}

/** Replacements are stored next to the originals under temporary names. */
async function movesOf(storage: Storage, names: readonly string[]): Promise<readonly (readonly [from: string, to: string])[]> {
  const moves: (readonly [string, string])[] = []
  for (let start = 0; start < names.length; start += together) {
    const some = names.slice(start, start + together)
    const taken = await Promise.all(some.map((name) => storage.has(name)))
    moves.push(...some.filter((_, index) => taken[index]).map((name) => [`.${randomUUID()}`, name] as const))
  }
  return moves
}

async function store(
  storage: Storage,
  files: ReadonlyMap<string, NewFileContent>,
  placed: ReadonlyMap<string, string>,
  report: (done: number) => void,
): Promise<void> {
  const all = [...files]
  for (let start = 0; start < all.length; start += together) {
    const some = all.slice(start, start + together)
    await Promise.all(some.map(([name, { path, mime }]) => storage.put(path, placed.get(name) ?? name, mime)))
    report(start + some.length)
  }
  await storage.flush()
}
