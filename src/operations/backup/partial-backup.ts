// Where a backup is written: a folder beside its place that gets its name once it is complete. What killed backups left is removed.
import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, readdir, rename, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { type FileLock, lockFile } from '../../database/sqlite/file/exclusive-access.js'
import { ConfigError } from '../../foundation/errors/errors.js'
import { syncToDisk } from '../../foundation/runtime/sync-to-disk.js'
import { makeFolder, syncFolders } from './checked-files.js'

/** A backup that is being written. */
export interface PartialBackup {
  readonly folder: string
  /** Gives it its name. @throws ConfigError if something has that name by now */
  finish(): Promise<void>
  /** Removes everything that was written. */
  abandon(): Promise<void>
}

const ending = '.octavo-part'
const unfinished = /^\..+\.[0-9a-f]{12}\.octavo-part(\.lock)?$/

/** @throws ConfigError if there is something at `path` */
export function refusePresent(path: string): void {
  if (existsSync(path)) throw new ConfigError(`${path} exists. A backup replaces nothing: choose another path with --to`)
}

/** Begins a backup that will be at `path`. @throws ConfigError if there is something */
export async function beginPartialBackup(path: string): Promise<PartialBackup> {
  refusePresent(path)
  const parent = dirname(path)
  await mkdir(parent, { recursive: true })
  await clearUnfinished(parent)
  const folder = join(parent, `.${basename(path)}.${randomBytes(6).toString('hex')}${ending}`)
  const lock = lockFile(lockOf(folder))
  const release = async (): Promise<void> => {
    await rm(lockOf(folder), { force: true })
    lock?.release()
  }
  await makeFolder(folder)
  return {
    folder,
    finish: async () => {
      await syncFolders(folder)
      refusePresent(path)
      await rename(folder, path)
      await syncToDisk(parent)
      await release()
    },
    abandon: async () => {
      await rm(folder, { recursive: true, force: true, maxRetries: 5 })
      await release()
    },
  }
}

const lockOf = (folder: string): string => `${folder}.lock`

/** Removes what backups left that were killed. The lock of one that goes on is held by its process. */
async function clearUnfinished(parent: string): Promise<void> {
  const names = (await readdir(parent)).filter((name) => unfinished.test(name)).map((name) => name.replace(/\.lock$/, ''))
  for (const name of new Set(names)) {
    const folder = join(parent, name)
    const lock = lockUnlessHeld(folder)
    if (lock === null) continue
    await rm(folder, { recursive: true, force: true })
    await rm(lockOf(folder), { force: true })
    lock.release()
  }
}

/** Null: somebody has it, or the file system has no locks. */
function lockUnlessHeld(folder: string): FileLock | null {
  try {
    return lockFile(lockOf(folder))
  } catch {
    return null
  }
}
