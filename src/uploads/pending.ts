// Notes of names that a write makes or leaves behind. A note is written before the files and goes after the row, so that
// whatever a stopped process left can be told from what belongs to someone.
import { randomUUID } from 'node:crypto'
import { open, readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { DirectDatabase } from '../database/database.js'
import { namesOfHash } from './rows.js'
import type { Storage } from './storage.js'

export interface Pending {
  /** Notes that these names of `hash` are only right if a row says so. The result settles the note. */
  note(hash: string, names: readonly string[]): Promise<() => Promise<void>>
  /** Settles the notes that a stopped process left in its folder. */
  settleAll(folder: string): Promise<void>
}

interface Note {
  readonly hash: string
  readonly names: readonly string[]
}

export function openPending(folder: string, database: DirectDatabase, storage: Storage): Pending {
  /** Removes the noted files that no row names, then the note. */
  async function settle(path: string, { hash, names }: Note): Promise<void> {
    const kept = await namesOfHash(database, hash)
    const gone = names.filter((name) => !kept.has(name))
    await Promise.all(gone.map((name) => storage.remove(name)))
    await rm(path, { force: true })
  }

  return {
    note: async (hash, names) => {
      const path = join(folder, `${randomUUID()}.note`)
      const note: Note = { hash, names }
      const handle = await open(path, 'wx')
      try {
        await handle.writeFile(JSON.stringify(note))
        await handle.sync()
      } finally {
        await handle.close()
      }
      return () => settle(path, note)
    },
    settleAll: async (left) => {
      for (const name of await readdir(left)) {
        if (!name.endsWith('.note')) continue
        const path = join(left, name)
        const note = parse(await readFile(path, 'utf8'))
        // A note that is not whole was never acted upon.
        if (note !== null) await settle(path, note)
      }
    },
  }
}

function parse(text: string): Note | null {
  try {
    return JSON.parse(text) as Note
  } catch {
    return null
  }
}
