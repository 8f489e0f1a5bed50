// What a write that is under way is about to do to files. Noted before the first file moves, and settled afterwards, so that
// whatever a stopped process or a storage that was away left can be told from what belongs to someone.
import { randomUUID } from 'node:crypto'
import { constants } from 'node:fs'
import { open, readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { MainConnection, WriteDatabase } from '../database/database.js'
import { forgetSwap, namesOfHash, swapIsCommitted } from './rows.js'
import type { StagingFolder } from './staging.js'
import type { Storages } from './storage/open.js'
import type { Storage } from './storage/storage.js'

/** Names of a hash that are only right if a row says so. */
export interface JournalEntry {
  /** Where the files lie, as rows say it. */
  readonly provider: string
  readonly hash: string
  readonly names: readonly string[]
  /** Files that take the places of others once a transaction that names `id` is committed. */
  readonly swap?: { readonly id: string; readonly moves: readonly (readonly [from: string, to: string])[] }
}

export interface Journal {
  /** Writes a note down. The result settles it; what fails in that is reported and tried again later. */
  note(note: JournalEntry): Promise<() => Promise<void>>
  /** Settles the notes that a stopped process left in its folder. */
  settleAll(folder: string): Promise<void>
  /** Tries again to settle what could not be settled; true if nothing is left. */
  retry(): Promise<boolean>
}

export interface JournalParts {
  /** Where notes are kept. */
  readonly workplace: StagingFolder
  readonly database: MainConnection
  readonly writer: WriteDatabase
  readonly storages: Storages
  /** Hears why something could not be settled. */
  failed(error: unknown): void
}

export function openJournal({ workplace, database, writer, storages, failed }: JournalParts): Journal {
  const left = new Map<string, JournalEntry>()
  const underWay = new Set<Promise<unknown>>()

  /** Puts files in their places if their transaction was committed, removes the noted ones that no row names, then the note. */
  async function settle(path: string, note: JournalEntry): Promise<void> {
    const storage = storages.of.get(note.provider)
    if (storage === undefined) throw new Error(`files of the storage "${note.provider}" are left, which is not configured`)
    if (note.swap !== undefined) await finishSwap(storage, note.swap)
    const kept = await namesOfHash(database, note.hash, note.provider)
    const gone = note.names.filter((name) => !kept.has(name))
    await Promise.all(gone.map((name) => storage.remove(name)))
    if (note.swap !== undefined) await forgetSwap(database, writer, note.swap.id)
    await rm(path, { force: true })
  }

  async function finishSwap(storage: Storage, { id, moves }: NonNullable<JournalEntry['swap']>): Promise<void> {
    if (!(await swapIsCommitted(database, id))) return
    for (const [from, to] of moves) await storage.move(from, to)
    await storage.settle()
  }

  async function tryToSettle(path: string, note: JournalEntry): Promise<boolean> {
    try {
      await settle(path, note)
      return left.delete(path) || true
    } catch (error) {
      left.set(path, note)
      failed(error)
      return false
    }
  }

  return {
    note: async (note) => {
      const path = join(workplace.folder, `${randomUUID()}.note`)
      const handle = await workplace.within(() => open(path, 'wx'))
      try {
        await handle.writeFile(JSON.stringify(note))
        await handle.sync()
      } finally {
        await handle.close()
      }
      return async () => {
        const settled = tryToSettle(path, note)
        underWay.add(settled)
        await settled
        underWay.delete(settled)
      }
    },
    settleAll: async (abandoned) => {
      for (const name of await readdir(abandoned)) {
        if (!name.endsWith('.note')) continue
        const path = join(abandoned, name)
        const note = parse(await readFile(path, { encoding: 'utf8', flag: constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) }))
        // A note that is not whole was never acted upon.
        if (note !== null) await settle(path, note)
      }
    },
    retry: async () => {
      await Promise.all(underWay)
      // Where one fails, the others would: what is away is asked once.
      for (const [path, note] of left) if (!(await tryToSettle(path, note))) break
      return left.size === 0
    },
  }
}

function parse(text: string): JournalEntry | null {
  try {
    // Before there were several storages, notes did not say which.
    return { provider: 'local', ...(JSON.parse(text) as Omit<JournalEntry, 'provider'>) }
  } catch {
    return null
  }
}
