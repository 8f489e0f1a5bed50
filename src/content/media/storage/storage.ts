// The interface of a file storage. It stores complete files under generated names; text from clients never becomes a path.
import type { Readable } from 'node:stream'

/** A storage for uploaded files. */
export interface Storage {
  /** The value of the column `provider` for files in this storage. */
  readonly provider: string
  /** True if requests go over a network, so that responses do not wait for cleanup. */
  readonly remote: boolean
  /** Returns the URL of a file as stored in its row. */
  url(name: string): string
  /**
   * Stores a complete local file under `name` atomically; the local file may be moved.
   * @throws ApiError 503 if a remote storage rejects it.
   */
  put(path: string, name: string, mime: string): Promise<void>
  /** True if there is a file of this name. @throws ApiError 503 if a remote storage does not respond */
  has(name: string): Promise<boolean>
  /**
   * The bytes of the file of this name; null: there is none. It takes as long as bytes keep coming.
   * @throws ConfigError if the storage does not give the file, or does not say whether there is one
   */
  read(name: string, options?: ReadingOptions): Promise<Readable | null>
  /** Renames a stored file and replaces an existing one; a missing file is not an error. */
  move(from: string, to: string): Promise<void>
  /** Deletes a file; a missing file is not an error. */
  remove(name: string): Promise<void>
  /** Resolves when all earlier changes would survive a power failure. */
  flush(): Promise<void>
  close(): void
}

/** Options for reading a file. */
export interface ReadingOptions {
  /** A file that the storage denies counts as none: a key that may not list the bucket is denied those that are not there. */
  readonly deniedIsMissing?: boolean
}

/** Timeouts of a remote storage. */
export interface StorageLimits {
  /** Timeout and idle timeout of one request, in milliseconds. A download that has begun has the idle timeout alone. */
  readonly storageTimeout: number
  readonly storageIdleTimeout: number
}
