// The bytes of stored files, for an export: read from the uploads folder, where they are kept from the start by links of their own, or
// fetched from wherever their addresses lead.
import { randomUUID } from 'node:crypto'
import { constants, createReadStream, createWriteStream } from 'node:fs'
import { link, lstat, open, rm, stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Config } from '../config/config.js'
import { openSigner, type Signer } from '../database/answer/signed-addresses.js'
import { ConfigError } from '../errors/errors.js'
import { signingOf } from './signing.js'
import { openStagingFolder, type StagingFolder } from './staging.js'
import { isStoredName } from './storage/local.js'

/** A file as its row names it. */
export interface NamedFile {
  readonly name: string
  readonly url: string
  /** The storage, as in the column. */
  readonly provider: string
}

/** The bytes of a file. */
export interface StoredFile {
  readonly bytes: number
  open(): Readable
}

/** Where the bytes of files are. */
export interface StoredFiles {
  /** Keeps a file as it is now, if that is possible. */
  pin(file: NamedFile): Promise<void>
  /** Null: it is missing. */
  find(file: NamedFile): Promise<StoredFile | null>
  close(): Promise<void>
}

/** Opens the files of a project. What is needed meanwhile lies in a staging folder, which other processes clean up after a crash. */
export async function openStoredFiles(config: Config): Promise<StoredFiles> {
  const { uploadsFolder, limits } = config
  const signing = signingOf(config)
  const signer = signing === null || signing.kind === 'local' ? null : await openSigner(signing)
  // A folder that cannot be written to is read as it is.
  const staging = await openStagingFolder(uploadsFolder).catch(() => null)
  const pinned = new Map<string, string>()

  async function findLocal({ name, url }: NamedFile): Promise<StoredFile | null> {
    const names = [name, basename(decodedUrl(url))].filter(isStoredName)
    const paths = [pinned.get(name), ...names.map((each) => join(uploadsFolder, each))].filter((path) => path !== undefined)
    for (const path of paths) {
      const file = await fileAt(path)
      if (file !== null) return file
    }
    return null
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
    find: (file) => (file.provider === 'local' ? findLocal(file) : fetched(file, { signer, staging, timeout: limits.storageTimeout })),
    close: async () => staging?.close(),
  }
}

/** The URL of a file as its name is written in the storage; unchanged where it cannot be decodedUrl. */
export const decodedUrl = (url: string): string => {
  try {
    return decodeURIComponent(url)
  } catch {
    return url
  }
}

/** Links are not followed. What is appended meanwhile is not read. */
async function fileAt(path: string): Promise<StoredFile | null> {
  const stats = await lstat(path).catch(() => null)
  if (stats?.isFile() !== true) return null
  const { size } = stats
  const flags = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0)
  return { bytes: size, open: () => (size === 0 ? Readable.from([]) : createReadStream(path, { flags: flags as never, end: size - 1 })) }
}

interface Fetching {
  readonly signer: Signer | null
  readonly staging: StagingFolder | null
  /** Milliseconds. */
  readonly timeout: number
}

/**
 * Fetches a file of a remote storage; null: there is none.
 * @throws ConfigError if the storage cannot be reached
 */
async function fetched({ url }: NamedFile, { signer, staging, timeout }: Fetching): Promise<StoredFile | null> {
  if (!/^https?:\/\//.test(url)) return null
  if (staging === null) throw new ConfigError('Files of a remote storage need an uploads folder that can be written to')
  const response = await fetch(signer?.sign(url) ?? url, { signal: AbortSignal.timeout(timeout) }).catch((error: Error) => {
    throw new ConfigError(`The file at ${url} cannot be fetched: ${(error.cause as Error | undefined)?.message ?? error.message}`)
  })
  if (response.status === 404 || response.status === 403 || response.body === null) {
    await response.body?.cancel()
    return null
  }
  if (!response.ok) throw new ConfigError(`The file at ${url} cannot be fetched: its storage responds with ${response.status}`)
  const path = join(staging.folder, `${randomUUID()}.fetched`)
  await pipeline(Readable.fromWeb(response.body as Parameters<typeof Readable.fromWeb>[0]), createWriteStream(path))
  const { size } = await stat(path)
  // It is gone as soon as it was read.
  const handle = await open(path, 'r')
  await rm(path)
  return { bytes: size, open: () => handle.createReadStream() }
}
