// Opens the media library of a service: storage, workplace, picture workshop; and clears what stopped processes left.
import { setTimeout as pause } from 'node:timers/promises'
import type { Config } from '../config/config.js'
import type { MainConnection, WriteDatabase } from '../database/database.js'
import { openCleanupQueue } from './cleanup-queue.js'
import { openImages } from './images/pool.js'
import { openJournal } from './journal.js'
import { type Library, openLibrary } from './library.js'
import { openReceiver } from './receive.js'
import { type CheckAddress, checkOf } from './signing.js'
import { clearAbandoned, openStagingFolder, sweepInterval } from './staging.js'
import { openStorages } from './storage/open.js'

/** Milliseconds that a storage which was away gets to take what is left when the service stops. */
const farewell = 3_000

export interface Uploads {
  readonly library: Library
  /** Checks addresses of the local disk's files; null: everyone may read them. */
  readonly checkAddress: CheckAddress | null
  close(): Promise<void>
}

/** What goes wrong apart from requests. */
export interface UploadReports {
  /** Something could not be cleared; it is tried again. */
  left(error: unknown): void
  /** A storage on another machine refused. */
  refused(error: unknown): void
}

export async function openUploads(
  config: Config,
  database: MainConnection,
  writer: WriteDatabase,
  newDocumentId: () => string,
  reports: UploadReports,
): Promise<Uploads> {
  const { uploadsFolder, uploadTypes, limits } = config
  const storages = await openStorages(uploadsFolder, config.storage, limits, reports.refused)
  const closeStorages = (): void => {
    for (const storage of storages.of.values()) storage.close()
  }
  const workplace = await openStagingFolder(uploadsFolder).catch((error) => {
    closeStorages()
    throw error
  })
  const pending = openJournal({ workplace, database, writer, storages, failed: reports.left })
  const cleaning = openCleanupQueue()

  async function sweep(): Promise<void> {
    await pending.retry()
    try {
      await cleaning.again()
      await clearAbandoned(uploadsFolder, workplace, pending.settleAll)
    } catch (error) {
      reports.left(error)
    }
  }
  await sweep()
  const again = setInterval(sweep, sweepInterval)
  again.unref()

  const incoming = openReceiver(workplace, limits.fileBytes, cleaning)
  const images = openImages(limits)
  return {
    checkAddress: checkOf(config),
    library: openLibrary({
      database,
      writer,
      storages,
      incoming,
      pending,
      images,
      rules: uploadTypes,
      limits,
      newDocumentId,
    }),
    close: async () => {
      clearInterval(again)
      // What is left stays for the next start.
      if (await Promise.race([pending.retry(), pause(farewell, false, { ref: false })])) await workplace.close()
      else workplace.leave()
      images.close()
      closeStorages()
    },
  }
}
