// Receives files: streams them into the staging folder, which is never served, and deletes them on failure.
import { createHash, randomUUID } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { mkdir, open, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { unavailableError } from '../../database/errors.js'
import { ApiError } from '../../foundation/errors/errors.js'
import type { CleanupQueue } from './cleanup-queue.js'
import { fileNameOf } from './file-names.js'
import { headBytes } from './media-types.js'
import type { StagingFolder } from './staging.js'

/** Error message for a full upload queue. */
export const tooManyUploads = 'Too many uploads are waiting'

export interface Received {
  readonly path: string
  readonly bytes: number
  /** The first bytes. */
  readonly head: Uint8Array
  /** Validated name from the form. */
  readonly name: string
  readonly declared: string
}

interface PartHeader {
  readonly name: string
  readonly declared: string
}

export interface Receiver {
  /** @throws ApiError 400 for an unsafe name, 413 beyond the size limit, 503 if the disk fails */
  receive(content: AsyncIterable<Uint8Array>, header: PartHeader): Promise<Received>
  /** Deletes received files and images derived from them. */
  discard(files: readonly Received[]): Promise<void>
}

/** Each file gets its own folder, which also holds the images derived from it. */
export function openReceiver(stagingFolder: StagingFolder, fileBytes: number, cleanupQueue: CleanupQueue): Receiver {
  const remove = (part: string) => cleanupQueue.run(() => rm(part, { force: true, recursive: true }))
  return {
    receive: async (content, { name: sent, declared }) => {
      const name = fileNameOf(sent)
      const part = join(stagingFolder.folder, `${randomUUID()}.part`)
      const path = join(part, 'original')
      try {
        await stagingFolder.within(() => mkdir(part))
        return { path, name, declared, ...(await write(path, content, fileBytes)) }
      } catch (error) {
        await remove(part)
        throw asApiError(error)
      }
    },
    discard: async (files) => {
      await Promise.all(files.map(({ path }) => remove(dirname(path))))
    },
  }
}

async function write(path: string, content: AsyncIterable<Uint8Array>, fileBytes: number): Promise<{ bytes: number; head: Uint8Array }> {
  const handle = await open(path, 'wx')
  try {
    let bytes = 0
    let head: Uint8Array = new Uint8Array()
    for await (const chunk of content) {
      bytes += chunk.length
      if (bytes > fileBytes) throw new ApiError('PayloadTooLargeError', `A file must not exceed ${fileBytes} bytes`)
      if (head.length < headBytes) head = Buffer.concat([head, chunk]).subarray(0, headBytes)
      await handle.writeFile(chunk)
    }
    return { bytes, head }
  } finally {
    await handle.close()
  }
}

/** Digest of the received bytes. @throws ApiError 503 if the disk fails */
export async function digestOf({ path }: Received): Promise<string> {
  const hash = createHash('sha256')
  await pipeline(createReadStream(path), hash).catch((error: unknown) => {
    throw asApiError(error)
  })
  return hash.digest('base64url')
}

/** Errors of a disk that is full, over quota, broken, read-only, inaccessible or not mounted. */
const diskErrors = new Set([
  'ENOSPC',
  'EDQUOT',
  'EFBIG',
  'EIO',
  'EROFS',
  'EACCES',
  'EPERM',
  'EMFILE',
  'ENFILE',
  'ENOENT',
  'ENOTDIR',
  'ESTALE',
  'ENODEV',
  'ENXIO',
  'ETIMEDOUT',
  'EBUSY',
  'ENOMEM',
  'ELOOP',
])

/** Converts disk errors to 503, because the client may retry; returns other errors unchanged. */
export function asApiError(error: unknown): unknown {
  const { code } = error as NodeJS.ErrnoException
  if (code === undefined || !diskErrors.has(code)) return error
  return unavailableError('Files cannot be stored at the moment', error)
}
