// Crops a stored picture: fetches it from its storage, and crops it in an image process.
import { createReadStream } from 'node:fs'
import { unavailableError } from '../../database/errors.js'
import { ApiError, mistakenInput, notFound } from '../../foundation/errors/errors.js'
import type { Images } from './images/pool.js'
import type { CropBox, SourceImage } from './images/protocol.js'
import { mediaTypeOf } from './media-types.js'
import type { Received, Receiver } from './receive.js'
import type { FileRow } from './rows.js'
import type { StoredFiles } from './stored-files.js'

export interface CropParts {
  readonly receiver: Receiver
  readonly images: Images
  /** Opens the bytes of stored files. */
  openStored(): Promise<StoredFiles>
}

/**
 * Runs `work` with a part of a stored picture as a received file, which is deleted afterwards.
 * @throws ApiError 404 if the storage lacks the file, 503 if it is unavailable, 400 if the part cannot be cropped
 */
export async function withCropped<Result>(
  { receiver, images, openStored }: CropParts,
  row: FileRow,
  { part, caller }: { readonly part: CropBox; readonly caller: string },
  work: (cropped: Received) => Promise<Result>,
): Promise<Result> {
  const name = `picture${row.ext}`
  const original = await fetched(receiver, openStored, row, name)
  try {
    const { detected } = await mediaTypeOf(original)
    const cut = await images.crop({ ...original, mime: detected }, part, caller)
    if (cut?.encoded == null) throw refusal(cut, part)
    const cropped = await receiver.receive(createReadStream(cut.encoded.path), { name, declared: detected ?? '' })
    try {
      return await work(cropped)
    } finally {
      await receiver.discard([cropped])
    }
  } finally {
    await receiver.discard([original])
  }
}

/** Returns the error for a part that cannot be cropped. */
function refusal(picture: SourceImage | null, { x, y, width, height }: CropBox): ApiError {
  const size = { width: picture?.width ?? Infinity, height: picture?.height ?? Infinity }
  const beyond = [...(x + width > size.width ? (['width'] as const) : []), ...(y + height > size.height ? (['height'] as const) : [])]
  if (beyond.length === 0) return new ApiError('ApplicationError', 'The file is not a picture that can be cropped')
  const message = `The rectangle is outside the picture (${size.width} x ${size.height})`
  const mistakes = beyond.map((name) => ({ path: [name], message, code: 'max' as const, params: { max: size[name] } }))
  return mistakenInput(mistakes).reworded(message)
}

async function fetched(receiver: Receiver, openStored: CropParts['openStored'], row: FileRow, name: string): Promise<Received> {
  const stored = await openStored()
  try {
    const file = await stored.find({ name: row.hash + row.ext, url: row.url, provider: row.provider }).catch((error: Error) => {
      throw unavailableError('The file could not be fetched from its storage', error)
    })
    if (typeof file === 'string') throw notFound('The storage does not have this file')
    return await receiver.receive(file.open(), { name, declared: '' })
  } finally {
    await stored.close()
  }
}
