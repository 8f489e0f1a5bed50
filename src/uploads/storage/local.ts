// A folder of the local disk, served below /uploads/. Files appear by renaming: a reader sees none, the old one, or the new one.
import { constants } from 'node:fs'
import { mkdir, open, rename, rm } from 'node:fs/promises'
import { basename, join } from 'node:path'
import type { Storage } from './storage.js'

export async function openLocalStorage(folder: string): Promise<Storage> {
  await mkdir(folder, { recursive: true })
  const isOurs = (name: string): boolean => name !== '' && name !== '.' && name !== '..' && basename(name) === name && !name.includes('\\')
  /** Names come from rows and notes; one that leads elsewhere was not written by us. */
  const placeOf = (name: string): string => {
    if (isOurs(name)) return join(folder, name)
    throw new Error(`"${name}" is no name of a stored file`)
  }
  return {
    provider: 'local',
    remote: false,
    url: (name) => `/uploads/${name}`,
    put: async (path, name) => {
      await onDisk(path, constants.O_RDWR | (constants.O_NOFOLLOW ?? 0))
      await rename(path, placeOf(name))
    },
    move: async (from, to) => {
      await rename(placeOf(from), placeOf(to)).catch((error: NodeJS.ErrnoException) => {
        if (error.code !== 'ENOENT') throw error
      })
    },
    remove: async (name) => (isOurs(name) ? rm(join(folder, name), { force: true }) : undefined),
    settle: () => onDisk(folder, constants.O_RDONLY),
    close: () => {},
  }
}

async function onDisk(path: string, flags: number): Promise<void> {
  const handle = await open(path, flags)
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
