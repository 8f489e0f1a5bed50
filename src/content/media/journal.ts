// Journal of file operations in progress. An entry is written before the first file changes and resolved afterwards, so that files orphaned
// by a crash or an unavailable storage are cleaned up.
import { randomUUID } from 'node:crypto'
import { constants } from 'node:fs'
import { open, readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { MainConnection, WriteDatabase } from '../../database/database.js'
import { forgetSwap, namesInUse, swapIsCommitted } from './rows.js'
import type { StagingFolder } from './staging.js'
import type { Storages } from './storage/open.js'
import type { Storage } from './storage/storage.js'

/** File names that a write creates or deletes. Resolving the entry deletes those without a row. */
export interface JournalEntry {
  /** Storage of the files, as in the column `provider`. */
  readonly provider: string
  /** Hash of the files; null if they have different ones. */
  readonly hash: string | null
  readonly names: readonly string[]
  /** Files that replace others once the transaction with this `id` is committed. */
  readonly swap?: { readonly id: string; readonly moves: readonly (readonly [from: string, to: string])[] }
}

export interface Journal {
  /** Writes an entry. Returns a function that resolves it; a failure is reported and retried later. */
  add(entry: JournalEntry): Promise<() => Promise<void>>
  /** Resolves the entries of a stopped process. */
  recover(folder: string): Promise<void>
  /** Retries unresolved entries; true if none is left. */
  retry(): Promise<boolean>
}

interface JournalParts {
  /** Folder of the entries. */
  readonly stagingFolder: StagingFolder
  readonly database: MainConnection
  readonly writer: WriteDatabase
  readonly storages: Storages
  /** Reports an entry that could not be resolved. */
  failed(error: unknown): void
}

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
        // An incomplete entry: the process stopped before it changed any file.
        if (entry !== null) await resolve(parts, path, entry)
      }
    },
    retry: async () => {
      await Promise.all(inProgress)
      // The storage is probably unavailable, so the other entries would fail too.
      for (const [path, entry] of unresolved) if (!(await tryToResolve(path, entry))) break
      return unresolved.size === 0
    },
  }
}

/** Maximum number of concurrent deletions. */
const removedTogether = 8

/** Finishes a swap if its transaction was committed, deletes the files of the entry that have no row, then deletes the entry. */
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
    // Entries of early versions lack the provider.
    return { provider: 'local', ...(JSON.parse(text) as Omit<JournalEntry, 'provider'>) }
  } catch {
    return null
  }
}
