// One process's own folder below the uploads, never served: files on their way and notes of pending writes. A lock in it says
// that its owner lives, also while that is paused and whatever clocks say; what a stopped owner left is others' to clear.
import { randomUUID } from 'node:crypto'
import { lstat, mkdir, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { type FileLock, lockFile } from '../database/sqlite/file/lock.js'
import { ConfigError } from '../errors/errors.js'

export interface StagingFolder {
  readonly folder: string
  /** Does `work` in the folder. Where that has vanished it is made anew, and the work done once more. */
  within<Result>(work: () => Promise<Result>): Promise<Result>
  close(): Promise<void>
  /** Stops without clearing: what lies there is for whoever finds it abandoned. */
  leave(): void
}

/** The file of a workplace that its owner has locked. */
const ownersFile = 'owner'

/** How often to look for abandoned workplaces, in milliseconds. */
export const sweepInterval = 60_000

const allWorkplaces = (uploads: string): string => join(uploads, '.octavo')

/**
 * Opens a new workplace inside the folder of uploads.
 * @throws ConfigError where a link would lead out of it.
 */
export async function openStagingFolder(uploads: string): Promise<StagingFolder> {
  await mkdir(allWorkplaces(uploads), { recursive: true })
  if ((await lstat(allWorkplaces(uploads))).isSymbolicLink())
    throw new ConfigError(`${allWorkplaces(uploads)} is a link; files on their way must lie in the folder of uploads itself`)
  const folder = join(allWorkplaces(uploads), randomUUID())
  let lock = await occupy(folder)
  let making: Promise<void> | null = null

  /** Makes the folder anew, once for all who miss it. What it lies in must still be there: else a disk is away. */
  async function restore(): Promise<void> {
    lock?.release()
    await mkdir(allWorkplaces(uploads)).catch(ignore('EEXIST'))
    lock = await occupy(folder)
  }

  return {
    folder,
    within: async (work) => {
      try {
        return await work()
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
        // Another one who missed it may have made it since.
        if (!(await isThere(join(folder, ownersFile)))) {
          making ??= restore().finally(() => {
            making = null
          })
          await making
        }
        return work()
      }
    },
    close: async () => {
      await rm(folder, { recursive: true, force: true })
      lock?.release()
    },
    leave: () => lock?.release(),
  }
}

/** Makes a folder and locks it. Whoever took it for an abandoned one in between removes it: it is made anew when it is needed. */
async function occupy(folder: string): Promise<FileLock | null> {
  await mkdir(folder).catch(ignore('EEXIST'))
  return lockOf(folder)
}

/** The lock of a workplace; null where its owner has it, or where its file system or its disk cannot tell. */
function lockOf(folder: string): FileLock | null {
  try {
    return lockFile(join(folder, ownersFile))
  } catch {
    return null
  }
}

/**
 * Clears the workplaces whose owners have stopped: `settle` does what is to be done about the notes in one. Nobody else is
 * at work there meanwhile.
 */
export async function clearAbandoned(uploads: string, own: StagingFolder, settle: (folder: string) => Promise<void>): Promise<void> {
  for (const entry of await readdir(allWorkplaces(uploads), { withFileTypes: true })) {
    const folder = join(allWorkplaces(uploads), entry.name)
    if (folder === own.folder || !entry.isDirectory()) continue
    const lock = lockOf(folder)
    if (lock === null) continue
    try {
      await settle(folder)
      await rm(folder, { recursive: true, force: true })
    } finally {
      lock.release()
    }
  }
}

const isThere = (path: string): Promise<boolean> =>
  lstat(path).then(
    () => true,
    () => false,
  )

const ignore =
  (code: string) =>
  (error: NodeJS.ErrnoException): void => {
    if (error.code !== code) throw error
  }
