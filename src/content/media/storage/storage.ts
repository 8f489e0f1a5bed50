// Interface of a file storage. It stores complete files under generated names; client input never becomes a path.
import type { Readable } from 'node:stream'

export interface Storage {
  /** Value of the column `provider`. */
  readonly provider: string
  /** True if requests use a network, so that responses do not wait for cleanup. */
  readonly remote: boolean
  /** The URL of a file as stored in its row. */
  url(name: string): string
  /**
   * Stores a complete local file under `name` atomically; the local file may be moved.
   * @throws ApiError 503 if a remote storage rejects it
   */
  put(path: string, name: string, mime: string): Promise<void>
  /** @throws ApiError 503 if a remote storage does not respond */
  has(name: string): Promise<boolean>
  /**
   * Reads a file; null if there is none. Only the idle timeout applies.
   * @throws ConfigError if the storage neither returns the file nor reports that it does not exist
   */
  read(name: string, options?: ReadingOptions): Promise<Readable | null>
  /** Renames a file, replacing an existing one; a missing file is not an error. */
  move(from: string, to: string): Promise<void>
  /** A missing file is not an error. */
  remove(name: string): Promise<void>
  /** Resolves when all earlier changes would survive a power failure. */
  flush(): Promise<void>
  close(): void
}

export interface ReadingOptions {
  /** Treats a denied file as missing: S3 denies missing files to keys without permission to list the bucket. */
  readonly deniedIsMissing?: boolean
}

export interface StorageLimits {
  /** Timeout of a request, in milliseconds. A download in progress has only a sixth of it as idle timeout. */
  readonly storageTimeout: number
}
