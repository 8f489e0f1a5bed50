// Opens the media library of a service: storage, workplace, picture workshop; and clears what stopped processes left.
import { rm } from 'node:fs/promises'
import type { Config } from '../config.js'
import type { DirectDatabase, WriteDatabase } from '../database/database.js'
import { openImages } from './images.js'
import { openIncoming } from './incoming.js'
import { type FileWatch, type Library, openLibrary } from './library.js'
import { openPending } from './pending.js'
import { openLocalStorage } from './storage.js'
import { abandonedWorkplaces, openWorkplace, sweepInterval } from './workplace.js'

export interface Uploads {
  readonly library: Library
  close(): Promise<void>
}

/** `failed` hears of what could not be cleared; it is tried again. */
export async function openUploads(
  { uploadsFolder, uploadTypes, limits }: Config,
  database: DirectDatabase,
  writer: WriteDatabase,
  newDocumentId: () => string,
  watch: FileWatch | null,
  failed: (error: unknown) => void,
): Promise<Uploads> {
  const storage = await openLocalStorage(uploadsFolder)
  const workplace = await openWorkplace(uploadsFolder)
  const pending = openPending(workplace.folder, database, storage)

  async function sweep(): Promise<void> {
    try {
      for (const folder of await abandonedWorkplaces(uploadsFolder, workplace)) {
        await pending.settleAll(folder)
        await rm(folder, { recursive: true, force: true })
      }
    } catch (error) {
      failed(error)
    }
  }
  await sweep()
  const again = setInterval(sweep, sweepInterval)
  again.unref()

  const incoming = openIncoming(workplace.folder, limits.fileBytes)
  const images = openImages(limits)
  return {
    library: openLibrary({ database, writer, storage, incoming, pending, images, rules: uploadTypes, limits, newDocumentId, watch }),
    close: async () => {
      clearInterval(again)
      await workplace.close()
    },
  }
}
