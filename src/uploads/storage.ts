// Where files lie. A store takes finished files under names that we made, and nothing else: no caller's text is a path.
import { mkdir, open, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'

export interface Storage {
  /** What the column `provider` says. */
  readonly provider: string
  /** The address under which clients read a file. */
  url(name: string): string
  /** Makes a finished file of the local disk readable under `name`, at once and as a whole; it is gone from where it was. */
  put(path: string, name: string, mime: string): Promise<void>
  /** Removes a file; one that is not there is no error. */
  remove(name: string): Promise<void>
  /** Resolves when everything that was put or removed survives a power cut. */
  settle(): Promise<void>
}

/** A folder of the local disk, served below /uploads/. Files appear by renaming: a reader sees none, the old one, or the new one. */
export async function openLocalStorage(folder: string): Promise<Storage> {
  await mkdir(folder, { recursive: true })
  return {
    provider: 'local',
    url: (name) => `/uploads/${name}`,
    put: async (path, name) => {
      await onDisk(path, 'r+')
      await rename(path, join(folder, name))
    },
    remove: (name) => rm(join(folder, name), { force: true }),
    settle: () => onDisk(folder, 'r'),
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
