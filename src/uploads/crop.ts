// Cuts a part out of a stored picture: its bytes are fetched from their storage, and cropped by an image process.
import { createReadStream } from 'node:fs'
import { unavailable } from '../database/unavailable.js'
import { ApiError, notFound } from '../errors/errors.js'
import type { Images } from './images/pool.js'
import type { CropBox } from './images/protocol.js'
import { mediaTypeOf } from './media-types.js'
import type { Received, Receiver } from './receive.js'
import type { FileRow } from './rows.js'
import type { StoredFiles } from './stored-files.js'

/** The dependencies of cropping. */
export interface CropParts {
  readonly receiver: Receiver
  readonly images: Images
  /** Opens the bytes of stored files. */
  openStored(): Promise<StoredFiles>
}

/**
 * Does something with a part of a stored picture, which is a received file meanwhile.
 * @throws ApiError 404 where the storage lacks the file, 503 where it cannot be reached, 400 for what cannot be cropped like this
 */
export async function withCropped<Result>(
  { receiver, images, openStored }: CropParts,
  row: FileRow,
  part: CropBox,
  work: (cropped: Received) => Promise<Result>,
): Promise<Result> {
  const name = `picture${row.ext}`
  const original = await fetched(receiver, openStored, row, name)
  try {
    const { detected } = await mediaTypeOf(original)
    const cut = await images.crop({ ...original, mime: detected }, part)
    if (cut === null) throw new ApiError('ApplicationError', 'The file is no picture that can be cropped like this')
    const cropped = await receiver.receive(createReadStream(cut.path), { name, declared: detected ?? '' })
    try {
      return await work(cropped)
    } finally {
      await receiver.discard([cropped])
    }
  } finally {
    await receiver.discard([original])
  }
}

async function fetched(receiver: Receiver, openStored: CropParts['openStored'], row: FileRow, name: string): Promise<Received> {
  const stored = await openStored()
  try {
    const file = await stored.find({ name: row.hash + row.ext, url: row.url, provider: row.provider }).catch((error: Error) => {
      throw unavailable('The file could not be fetched from its storage', error)
    })
    if (file === null) throw notFound('The storage does not have this file')
    return await receiver.receive(file.open(), { name, declared: '' })
  } finally {
    await stored.close()
  }
}
