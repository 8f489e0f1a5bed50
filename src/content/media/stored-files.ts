// Reads stored files for an export: from the uploads folder, where hard links preserve them from the start, or from the project's storage.
// URLs that lead elsewhere are not fetched.
import { randomUUID } from 'node:crypto'
import { constants, createReadStream, createWriteStream } from 'node:fs'
import { link, lstat, open, rm, stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Config } from '../../foundation/config/config.js'
import type { S3Config } from '../../foundation/config/storage.js'
import { ConfigError } from '../../foundation/errors/errors.js'
import { onceDone } from '../../foundation/runtime/coalesce.js'
import { openStagingFolder } from './staging.js'
import { isStoredName } from './storage/local.js'
import { decodedUrl, isObjectName, objectNameAt } from './storage/s3-address.js'
import type { Storage } from './storage/storage.js'

export interface NamedFile {
  readonly name: string
  readonly url: string
  /** The storage, as in the column. */
  readonly provider: string
}

interface StoredFile {
  readonly bytes: number
  open(): Readable
}

/** Why a file is missing: the storage lacks it, or its row names another location and the project's storage has no file with its name. */
export type Absence = 'absent' | 'elsewhere'

export interface StoredFiles {
  /** Preserves the current content of a file, if possible. */
  pin(file: NamedFile): Promise<void>
  /** @throws ConfigError if the storage is unavailable, or does not return the whole file */
  find(file: NamedFile): Promise<StoredFile | Absence>
  close(): Promise<void>
}

/** Temporary files are in a staging folder, which other processes clean up after a crash. */
export async function openStoredFiles(config: Config): Promise<StoredFiles> {
  const { uploadsFolder, storage, limits } = config
  // A folder that is not writable is read without hard links.
  const staging = await openStagingFolder(uploadsFolder).catch(() => null)
  const pinned = new Map<string, string>()
  let opened: Storage | null = null
  const remote = onceDone(async () => {
    const { openS3Storage } = await import('./storage/s3.js')
    opened = openS3Storage(storage as S3Config, limits, () => {})
    return opened
  })

  async function findLocal({ name, url }: NamedFile): Promise<StoredFile | Absence> {
    const names = [name, basename(decodedUrl(url))].filter(isStoredName)
    const paths = [pinned.get(name), ...names.map((each) => join(uploadsFolder, each))].filter((path) => path !== undefined)
    for (const path of paths) {
      const file = await fileAt(path)
      if (file !== null) return file
    }
    return 'absent'
  }

  /** By URL or, if that is another one (such as a former CDN), by name, which is unique. */
  async function findInBucket({ name, url }: NamedFile, bucket: S3Config): Promise<StoredFile | Absence> {
    if (staging === null) throw new ConfigError('Files of a remote storage need an uploads folder that can be written to')
    const named = objectNameAt(bucket, url)
    const { read } = await remote()
    for (const each of new Set([named, name])) {
      if (each === null || !isObjectName(each)) continue
      const bytes = await read(each, { deniedIsMissing: true })
      if (bytes !== null) return staged(bytes, each, staging.folder)
    }
    return named === null ? 'elsewhere' : 'absent'
  }

  return {
    pin: async ({ name, provider }) => {
      if (provider !== 'local' || staging === null || !isStoredName(name) || pinned.has(name)) return
      const path = join(staging.folder, `${randomUUID()}.kept`)
      await link(join(uploadsFolder, name), path).then(
        () => pinned.set(name, path),
        () => {},
      )
    },
    find: async (file) => {
      if (file.provider === 'local') return findLocal(file)
      return storage.provider === 'aws-s3' && file.provider === storage.provider ? findInBucket(file, storage) : 'elsewhere'
    },
    close: async () => {
      opened?.close()
      await staging?.close()
    },
  }
}

/** Does not follow links, and ignores bytes appended concurrently. */
async function fileAt(path: string): Promise<StoredFile | null> {
  const stats = await lstat(path).catch(() => null)
  if (stats?.isFile() !== true) return null
  const { size } = stats
  const flags = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0)
  return { bytes: size, open: () => (size === 0 ? Readable.from([]) : createReadStream(path, { flags: flags as never, end: size - 1 })) }
}

/** Downloads an object. @throws ConfigError if it is incomplete */
async function staged(bytes: Readable, name: string, folder: string): Promise<StoredFile> {
  const path = join(folder, `${randomUUID()}.fetched`)
  await pipeline(bytes, createWriteStream(path)).catch((error: Error) => {
    throw new ConfigError(`The file ${name} cannot be fetched: ${error.message}`)
  })
  const { size } = await stat(path)
  // Unlinked now, so that closing the handle frees it.
  const handle = await open(path, 'r')
  await rm(path)
  return { bytes: size, open: () => handle.createReadStream() }
}
