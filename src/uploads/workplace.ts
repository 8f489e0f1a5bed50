// One process's own folder below the uploads, never served: files on their way and notes of pending writes. A heartbeat tells
// other processes that its owner lives; what a stopped owner left is theirs to clear.
import { randomUUID } from 'node:crypto'
import { mkdir, readdir, rm, stat, utimes } from 'node:fs/promises'
import { join } from 'node:path'

export interface Workplace {
  readonly folder: string
  close(): Promise<void>
  /** Stops without clearing: what lies there is for whoever finds it abandoned. */
  leave(): void
}

/** Milliseconds between two heartbeats, and of silence after which the owner has stopped. */
const heartbeat = 5_000
const silence = 60_000

const allWorkplaces = (uploads: string): string => join(uploads, '.octavo')

/** Opens a new workplace inside the folder of uploads. */
export async function openWorkplace(uploads: string): Promise<Workplace> {
  const folder = join(allWorkplaces(uploads), randomUUID())
  await mkdir(folder, { recursive: true })
  const beat = setInterval(() => {
    const now = new Date()
    // A disk that is away for a moment says so to whoever uploads.
    utimes(folder, now, now).catch(() => {})
  }, heartbeat)
  beat.unref()
  return {
    folder,
    close: async () => {
      clearInterval(beat)
      await rm(folder, { recursive: true, force: true })
    },
    leave: () => clearInterval(beat),
  }
}

/** The folders whose owners have stopped without closing them. */
export async function abandonedWorkplaces(uploads: string, { folder }: Workplace): Promise<readonly string[]> {
  const found: string[] = []
  for (const name of await readdir(allWorkplaces(uploads))) {
    const other = join(allWorkplaces(uploads), name)
    if (other === folder) continue
    const about = await stat(other).catch(() => null)
    if (about !== null && Date.now() - about.mtimeMs > silence) found.push(other)
  }
  return found
}

/** How often to look for abandoned workplaces again, in milliseconds. */
export const sweepInterval = silence
