// Opens the storage that is configured. What S3 needs is only loaded where it is.
import type { StorageConfig } from '../../config/storage.js'
import { openLocalStorage } from './local.js'
import type { Storage, StorageLimits } from './storage.js'

/** Where new files go, and all places where files lie, by what their rows say. */
export interface Storages {
  readonly current: Storage
  readonly of: ReadonlyMap<string, Storage>
}

/** Opens the local folder, where files may lie from before, and the place that is configured. */
export async function openStorages(
  folder: string,
  config: StorageConfig,
  limits: StorageLimits,
  report: (error: unknown) => void,
): Promise<Storages> {
  const local = await openLocalStorage(folder)
  if (config.provider === 'local') return { current: local, of: new Map([[local.provider, local]]) }
  const { openS3Storage } = await import('./s3.js')
  const s3 = openS3Storage(config, limits, report)
  return { current: s3, of: new Map([local, s3].map((storage) => [storage.provider, storage])) }
}
