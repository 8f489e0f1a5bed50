// Staging folder of one process, inside the uploads folder and never served: for files being received, and for the journal. Its owner locks
// a file in it, so that other processes can tell a stopped owner, after which they clean up, from a paused one.
import { randomUUID } from 'node:crypto'
import { lstat, mkdir, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { type FileLock, lockFile } from '../../database/sqlite/file/exclusive-access.js'
import { makeUploadsFolder, onUploadsFolder } from '../../foundation/config/storage.js'
import { ConfigError } from '../../foundation/errors/errors.js'

export interface StagingFolder {
  readonly folder: string
  /** Runs `work` in the folder. If the folder was deleted, recreates it and repeats `work` once. */
  within<Result>(work: () => Promise<Result>): Promise<Result>
  close(): Promise<void>
  /** Releases the folder without deleting it; another process cleans up. */
  abandon(): void
}

const lockFileName = 'owner'

/** Milliseconds between searches for abandoned staging folders. */
export const sweepInterval = 60_000

const stagingRoot = (uploads: string): string => join(uploads, '.octavo')

/**
 * Creates a staging folder inside the uploads folder.
 * @throws ConfigError if the uploads folder is unusable, or a symbolic link leads out of it
 */
export async function openStagingFolder(uploads: string): Promise<StagingFolder> {
  await makeUploadsFolder(uploads)
  await onUploadsFolder(uploads, () => mkdir(stagingRoot(uploads)).catch(ignore('EEXIST')))
  if ((await lstat(stagingRoot(uploads))).isSymbolicLink())
    throw new ConfigError(`${stagingRoot(uploads)} is a symbolic link; the staging folder must be inside the uploads folder.`)
  const folder = join(stagingRoot(uploads), randomUUID())
  let lock = await onUploadsFolder(uploads, () => occupy(folder))
  let restoring: Promise<void> | null = null

  /** Recreates the folder, once for all waiting callers. Fails if the uploads folder is missing, because its disk may be unmounted. */
  async function restore(): Promise<void> {
    lock?.release()
    await mkdir(stagingRoot(uploads)).catch(ignore('EEXIST'))
    lock = await occupy(folder)
  }

  return {
    folder,
    within: async (work) => {
      try {
        return await work()
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
        // Another caller may have recreated it.
        if (!(await exists(join(folder, lockFileName)))) {
          restoring ??= restore().finally(() => {
            restoring = null
          })
          await restoring
        }
        return work()
      }
    },
    close: async () => {
      await rm(folder, { recursive: true, force: true })
      lock?.release()
    },
    abandon: () => lock?.release(),
  }
}

/** Creates and locks a folder. Another process may delete it as abandoned in between; it is then recreated on demand. */
async function occupy(folder: string): Promise<FileLock | null> {
  await mkdir(folder).catch(ignore('EEXIST'))
  return lockOf(folder)
}

/** Locks a staging folder; null if its owner has the lock, or if the file system does not support locks. */
function lockOf(folder: string): FileLock | null {
  try {
    return lockFile(join(folder, lockFileName))
  } catch {
    return null
  }
}

/**
 * Deletes the staging folders of stopped processes after `recover` has resolved their journal entries. The lock excludes other processes.
 */
export async function clearAbandoned(uploads: string, own: StagingFolder, recover: (folder: string) => Promise<void>): Promise<void> {
  for (const entry of await readdir(stagingRoot(uploads), { withFileTypes: true })) {
    const folder = join(stagingRoot(uploads), entry.name)
    if (folder === own.folder || !entry.isDirectory()) continue
    const lock = lockOf(folder)
    if (lock === null) continue
    try {
      await recover(folder)
      await rm(folder, { recursive: true, force: true })
    } finally {
      lock.release()
    }
  }
}

/** True if a running process has a staging folder here. */
export async function hasRunningOwner(uploads: string): Promise<boolean> {
  for (const folder of await stagingFolders(uploads)) {
    const lock = lockOf(folder)
    if (lock === null) return true
    lock.release()
  }
  return false
}

/** Deletes all staging folders, which must be unused. */
export const removeStaging = (uploads: string): Promise<void> => rm(stagingRoot(uploads), { recursive: true, force: true })

/** True if stopped processes have left staging folders. */
export const hasAbandoned = async (uploads: string): Promise<boolean> => (await stagingFolders(uploads)).length > 0

async function stagingFolders(uploads: string): Promise<readonly string[]> {
  const entries = await readdir(stagingRoot(uploads), { withFileTypes: true }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error
    return []
  })
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => join(stagingRoot(uploads), name))
}

const exists = (path: string): Promise<boolean> =>
  lstat(path).then(
    () => true,
    () => false,
  )

const ignore =
  (code: string) =>
  (error: NodeJS.ErrnoException): void => {
    if (error.code !== code) throw error
  }
