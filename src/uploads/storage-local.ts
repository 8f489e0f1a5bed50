// A folder of the local disk, served below /uploads/. Files appear by renaming: a reader sees none, the old one, or the new one.
import { mkdir, open, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Storage } from './storage.js'

export async function openLocalStorage(folder: string): Promise<Storage> {
  await mkdir(folder, { recursive: true })
  return {
    provider: 'local',
    remote: false,
    url: (name) => `/uploads/${name}`,
    put: async (path, name) => {
      await onDisk(path, 'r+')
      await rename(path, join(folder, name))
    },
    move: async (from, to) => {
      await rename(join(folder, from), join(folder, to)).catch((error: NodeJS.ErrnoException) => {
        if (error.code !== 'ENOENT') throw error
      })
    },
    remove: (name) => rm(join(folder, name), { force: true }),
    settle: () => onDisk(folder, 'r'),
    close: () => {},
  }
}

async function onDisk(path: string, flags: 'r' | 'r+'): Promise<void> {
  const handle = await open(path, flags)
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
