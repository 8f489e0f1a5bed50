// Files on their way in: streamed into a folder that is never served, measured, and gone again if anything fails.
import { randomUUID } from 'node:crypto'
import { mkdir, open, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { unavailable } from '../database/unavailable.js'
import { ApiError } from '../errors/errors.js'
import type { CleanupQueue } from './cleanup-queue.js'
import { fileNameOf } from './file-names.js'
import { headBytes } from './media-types.js'
import type { StagingFolder } from './staging.js'

/** What is told when a queue of uploads is full. */
export const tooManyUploads = 'Too many uploads are waiting'

/** A file that has come in completely. */
export interface Received {
  readonly path: string
  readonly bytes: number
  /** Its first bytes. */
  readonly head: Uint8Array
  /** As the form named it, found to be harmless. */
  readonly name: string
  readonly declared: string
}

/** What a form says about one of its files. */
export interface PartHeader {
  readonly name: string
  readonly declared: string
}

export interface Receiver {
  /** @throws ApiError 400 for a name that could harm, 413 beyond the limit, 503 when the disk does not take it. */
  receive(content: AsyncIterable<Uint8Array>, header: PartHeader): Promise<Received>
  /** Removes what came in and what was made from it. */
  discard(files: readonly Received[]): Promise<void>
}

/** Files come into the workplace, each with what is made from it in a folder of its own. */
export function openReceiver(workplace: StagingFolder, fileBytes: number, cleaning: CleanupQueue): Receiver {
  const remove = (part: string) => cleaning.run(() => rm(part, { force: true, recursive: true }))
  return {
    receive: async (content, { name: sent, declared }) => {
      const name = fileNameOf(sent)
      const part = join(workplace.folder, `${randomUUID()}.part`)
      const path = join(part, 'original')
      try {
        await workplace.within(() => mkdir(part))
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
      if (bytes > fileBytes) throw new ApiError('PayloadTooLargeError', `A file may have ${fileBytes} bytes at most`)
      if (head.length < headBytes) head = Buffer.concat([head, chunk]).subarray(0, headBytes)
      await handle.writeFile(chunk)
    }
    return { bytes, head }
  } finally {
    await handle.close()
  }
}

/** Full, at its owner's or its own limit, broken, read-only, somebody else's, away. */
const unable = new Set([
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

/** A disk that is full, broken or away is no bug: the caller may try again. */
export function asApiError(error: unknown): unknown {
  const { code } = error as NodeJS.ErrnoException
  if (code === undefined || !unable.has(code)) return error
  return unavailable('Files cannot be stored at the moment', error)
}
