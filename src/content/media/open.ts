// Opens the media library of a service with its storage, staging folder and image processing, and cleans up after stopped processes.
import { setTimeout as pause } from 'node:timers/promises'
import type { MainConnection, WriteDatabase } from '../../database/database.js'
import type { Config } from '../../foundation/config/config.js'
import { openCleanupQueue } from './cleanup-queue.js'
import { openImages } from './images/pool.js'
import { openJournal } from './journal.js'
import { type Library, openLibrary } from './library.js'
import { openReceiver } from './receive.js'
import { type CheckAddress, checkOf } from './signing.js'
import { clearAbandoned, openStagingFolder, type StagingFolder, sweepInterval } from './staging.js'
import { tryUploadsFolder } from './storage/local.js'
import { openStorages } from './storage/open.js'
import { openStoredFiles } from './stored-files.js'

/** Milliseconds to retry unresolved journal entries during a shutdown. */
const shutdownGrace = 3_000

export interface Uploads {
  readonly library: Library
  /** Checks signed URLs of local files; null if files are public. */
  readonly checkAddress: CheckAddress | null
  close(): Promise<void>
}

interface UploadReports {
  /** A cleanup failed and will be retried. */
  cleanupFailed(error: unknown): void
  /** The remote storage rejected a request. */
  storageFailed(error: unknown): void
  /** An image was processed, or could not be. */
  imageProcessed(seconds: number): void
}

export async function openUploads(
  config: Config,
  database: MainConnection,
  writer: WriteDatabase,
  newDocumentId: () => string,
  reports: UploadReports,
): Promise<Uploads> {
  const { uploadsFolder, uploadTypes, limits } = config
  const storages = await openStorages(uploadsFolder, config.storage, limits, reports.storageFailed)
  const closeStorages = (): void => {
    for (const storage of storages.of.values()) storage.close()
  }
  const stagingFolder = await openPlaces(config).catch((error) => {
    closeStorages()
    throw error
  })
  const journal = openJournal({ stagingFolder, database, writer, storages, failed: reports.cleanupFailed })
  const cleanupQueue = openCleanupQueue()

  async function sweep(): Promise<void> {
    await journal.retry()
    try {
      await cleanupQueue.retry()
      await clearAbandoned(uploadsFolder, stagingFolder, journal.recover)
    } catch (error) {
      reports.cleanupFailed(error)
    }
  }
  await sweep()
  const sweeping = setInterval(sweep, sweepInterval)
  sweeping.unref()

  const receiver = openReceiver(stagingFolder, limits.fileBytes, cleanupQueue)
  const images = openImages(limits, reports.imageProcessed)
  return {
    checkAddress: checkOf(config),
    library: openLibrary({
      database,
      writer,
      storages,
      receiver,
      journal,
      images,
      openStored: () => openStoredFiles(config),
      rules: uploadTypes,
      limits,
      newDocumentId,
    }),
    close: async () => {
      clearInterval(sweeping)
      // The next start retries unresolved entries.
      if (await Promise.race([journal.retry(), pause(shutdownGrace, false, { ref: false })])) await stagingFolder.close()
      else stagingFolder.abandon()
      images.close()
      closeStorages()
    },
  }
}

/** Opens the staging folder, and verifies that the uploads folder is writable. */
async function openPlaces({ uploadsFolder, storage }: Config): Promise<StagingFolder> {
  const staging = await openStagingFolder(uploadsFolder)
  if (storage.provider !== 'local') return staging
  try {
    await tryUploadsFolder(uploadsFolder)
    return staging
  } catch (error) {
    await staging.close()
    throw error
  }
}
