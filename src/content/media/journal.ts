// A journal of file operations in progress. An entry is written before the first file changes and resolved afterwards, so that files left
// orphaned by a crash or an unavailable storage can be cleaned up.
import { randomUUID } from 'node:crypto'
import { constants } from 'node:fs'
import { open, readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { MainConnection, WriteDatabase } from '../../database/database.js'
import { forgetSwap, namesInUse, swapIsCommitted } from './rows.js'
import type { StagingFolder } from './staging.js'
import type { Storages } from './storage/open.js'
import type { Storage } from './storage/storage.js'

/** File names that a write creates or deletes. Names without a row are deleted when the entry is resolved. */
export interface JournalEntry {
  /** The storage of the files, as in the column `provider`. */
  readonly provider: string
  /** The hash of the files; null: they are of any. */
  readonly hash: string | null
  readonly names: readonly string[]
  /** Files that replace others once a transaction with this `id` is committed. */
  readonly swap?: { readonly id: string; readonly moves: readonly (readonly [from: string, to: string])[] }
}

/** The journal of this process. */
export interface Journal {
  /** Writes an entry. Returns a function that resolves it; if that fails, the error is reported and it is retried later. */
  add(entry: JournalEntry): Promise<() => Promise<void>>
  /** Resolves the entries that a stopped process left in its folder. */
  recover(folder: string): Promise<void>
  /** Retries the entries that could not be resolved; returns true if none is left. */
  retry(): Promise<boolean>
}

/** The dependencies of a journal. */
export interface JournalParts {
  /** The folder for entries. */
  readonly stagingFolder: StagingFolder
  readonly database: MainConnection
  readonly writer: WriteDatabase
  readonly storages: Storages
  /** Called with the error if an entry could not be resolved. */
  failed(error: unknown): void
}

/** Opens the journal of this process. */
export function openJournal(parts: JournalParts): Journal {
  const { stagingFolder, failed } = parts
  const unresolved = new Map<string, JournalEntry>()
  const inProgress = new Set<Promise<unknown>>()

  async function tryToResolve(path: string, entry: JournalEntry): Promise<boolean> {
    try {
      await resolve(parts, path, entry)
      return unresolved.delete(path) || true
    } catch (error) {
      unresolved.set(path, entry)
      failed(error)
      return false
    }
  }

  return {
    add: async (entry) => {
      const path = join(stagingFolder.folder, `${randomUUID()}.note`)
      const handle = await stagingFolder.within(() => open(path, 'wx'))
      try {
        await handle.writeFile(JSON.stringify(entry))
        await handle.sync()
      } finally {
        await handle.close()
      }
      return async () => {
        const resolving = tryToResolve(path, entry)
        inProgress.add(resolving)
        await resolving
        inProgress.delete(resolving)
      }
    },
    recover: async (abandoned) => {
      for (const name of await readdir(abandoned)) {
        if (!name.endsWith('.note')) continue
        const path = join(abandoned, name)
        const entry = parse(await readFile(path, { encoding: 'utf8', flag: constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) }))
        // If an entry is incomplete, the process stopped before changing any file.
        if (entry !== null) await resolve(parts, path, entry)
      }
    },
    retry: async () => {
      await Promise.all(inProgress)
      // If one entry fails, the storage is probably unavailable, so the others are not tried.
      for (const [path, entry] of unresolved) if (!(await tryToResolve(path, entry))) break
      return unresolved.size === 0
    },
  }
}

/** Files that are deleted at the same time. */
const removedTogether = 8

/** Finishes a swap if its transaction was committed, deletes the files of the entry that no row names, then deletes the entry. */
async function resolve({ database, writer, storages }: JournalParts, path: string, entry: JournalEntry): Promise<void> {
  const storage = storages.of.get(entry.provider)
  if (storage === undefined) throw new Error(`leftover files are in the storage "${entry.provider}", which is not configured`)
  if (entry.swap !== undefined && (await swapIsCommitted(database, entry.swap.id))) await finishSwap(storage, entry.swap)
  const used = await namesInUse(database, entry.provider, entry.hash)
  const unused = entry.names.filter((name) => !used.has(name))
  for (let start = 0; start < unused.length; start += removedTogether)
    await Promise.all(unused.slice(start, start + removedTogether).map((name) => storage.remove(name)))
  if (entry.swap !== undefined) await forgetSwap(database, writer, entry.swap.id)
  await rm(path, { force: true })
}

async function finishSwap(storage: Storage, { moves }: NonNullable<JournalEntry['swap']>): Promise<void> {
  for (const [from, to] of moves) await storage.move(from, to)
  await storage.flush()
}

function parse(text: string): JournalEntry | null {
  try {
    // Entries of early versions have no provider.
    return { provider: 'local', ...(JSON.parse(text) as Omit<JournalEntry, 'provider'>) }
  } catch {
    return null
  }
}
