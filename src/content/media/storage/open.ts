// Opens the configured storage. The S3 code is loaded only if configured.
import type { StorageConfig } from '../../../foundation/config/storage.js'
import { openLocalStorage } from './local.js'
import type { Storage, StorageLimits } from './storage.js'

/** The storage of new files, and all storages by provider. */
export interface Storages {
  readonly current: Storage
  readonly of: ReadonlyMap<string, Storage>
}

/** Opens the configured storage, and the local folder, which may contain earlier files. */
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
