// Storage on the local disk, served below /uploads/. Files are renamed into place, so readers never see an incomplete file.
import { randomUUID } from 'node:crypto'
import { constants, createReadStream } from 'node:fs'
import { lstat, open, rename, rm } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { Readable } from 'node:stream'
import { makeUploadsFolder, onUploadsFolder } from '../../../foundation/config/storage.js'
import type { Storage } from './storage.js'

/** True for a plain file name: not a path, nor the folder itself. */
export const isStoredName = (name: string): boolean =>
  name !== '' && name !== '.' && name !== '..' && basename(name) === name && !name.includes('\\') && !name.includes('\0')

/** Opens the storage in a folder, which is created if necessary. @throws ConfigError if it cannot be created */
export async function openLocalStorage(folder: string): Promise<Storage> {
  await makeUploadsFolder(folder)
  /** Names come from rows and journal entries; Octavo never writes one with a path. */
  const pathOf = (name: string): string => {
    if (isStoredName(name)) return join(folder, name)
    throw new Error(`"${name}" is not the name of a stored file`)
  }
  return {
    provider: 'local',
    remote: false,
    url: (name) => `/uploads/${name}`,
    put: async (path, name) => {
      await syncToDisk(path, constants.O_RDWR | (constants.O_NOFOLLOW ?? 0))
      await rename(path, pathOf(name))
    },
    has: (name) =>
      lstat(pathOf(name)).then(
        () => true,
        () => false,
      ),
    read: async (name) => {
      const stats = await lstat(pathOf(name)).catch(() => null)
      if (stats?.isFile() !== true) return null
      return stats.size === 0 ? Readable.from([]) : createReadStream(pathOf(name), { end: stats.size - 1 })
    },
    move: async (from, to) => {
      await rename(pathOf(from), pathOf(to)).catch((error: NodeJS.ErrnoException) => {
        if (error.code !== 'ENOENT') throw error
      })
    },
    remove: async (name) => (isStoredName(name) ? rm(join(folder, name), { force: true }) : undefined),
    flush: () => syncToDisk(folder, constants.O_RDONLY),
    close: () => {},
  }
}

/**
 * Verifies that the uploads folder is writable, which an existing staging folder does not prove.
 * @throws ConfigError if it is not
 */
export const tryUploadsFolder = (folder: string): Promise<void> =>
  onUploadsFolder(folder, async () => {
    const path = join(folder, `.${randomUUID()}`)
    const handle = await open(path, 'wx')
    await handle.close()
    await rm(path)
  })

async function syncToDisk(path: string, flags: number): Promise<void> {
  const handle = await open(path, flags)
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
