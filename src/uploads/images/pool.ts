// Pictures: a few at a time, each in a process that has no other, stands behind everything else and is there while there is work.
import { unavailable } from '../../database/unavailable.js'
import { ApiError } from '../../errors/errors.js'
import { openQueue } from '../../runtime/queue.js'
import { asApiError, tooManyUploads } from '../receive.js'
import type { ImageBounds } from './memory-needs.js'
import type { ImageSettings, SourceImage } from './protocol.js'
import { type ImageWorker, startImageWorker } from './worker.js'

export interface ImageLimits extends ImageBounds {
  readonly imageConcurrency: number
  readonly imageQueue: number
}

/** A file that may be a picture; `mime` is what its bytes show. */
export interface ImageFile {
  readonly path: string
  readonly bytes: number
  readonly mime: string | null
}

export interface Images {
  /**
   * Measures a picture and makes its formats beside it; null for what is no picture to us. What needs more than the limits
   * allow is given back without formats.
   * @throws ApiError 400 for a broken one, 503 when too many wait or its process could not be started or was ended by somebody else.
   */
  make(file: ImageFile, settings: ImageSettings): Promise<SourceImage | null>
  close(): void
}

/** Milliseconds without work after which a process goes, and with it the memory of the picture library. */
const idleAfter = 10_000

const pictureTypes = /^image\/(?:jpeg|png|webp|gif|tiff|avif)$/

/** Opens the picture workshop. Its processes start with the first pictures. */
export function openImages(limits: ImageLimits): Images {
  const queue = openQueue(limits.imageConcurrency, limits.imageQueue, tooManyUploads)
  const { imagePixels, imageSide, imageFrames, imageBytes, imageMemory, imageWork, imageTimeout } = limits
  const bounds = { imagePixels, imageSide, imageFrames, imageBytes, imageMemory, imageWork, imageTimeout }
  const workers = new Set<ImageWorker>()
  /** Those without work, the last one used at the end. */
  const idle: { readonly worker: ImageWorker; readonly since: NodeJS.Timeout }[] = []

  function take(): ImageWorker {
    for (;;) {
      const rested = idle.pop()
      if (rested === undefined) break
      clearTimeout(rested.since)
      if (rested.worker.isAlive()) return rested.worker
      workers.delete(rested.worker)
    }
    const worker = startImageWorker(imageMemory)
    workers.add(worker)
    return worker
  }

  function giveBack(worker: ImageWorker): void {
    if (!worker.isAlive()) return void workers.delete(worker)
    const since = setTimeout(() => {
      idle.splice(
        idle.findIndex((one) => one.worker === worker),
        1,
      )
      workers.delete(worker)
      worker.stop()
    }, idleAfter)
    since.unref()
    idle.push({ worker, since })
  }

  async function make(path: string, bytes: number, mime: string, settings: ImageSettings): Promise<SourceImage> {
    const worker = take()
    const outcome = await worker.work({ path, bytes, mime, settings, bounds })
    giveBack(worker)
    if (outcome.kind === 'made') return outcome.picture
    if (outcome.kind === 'broken') throw new ApiError('ApplicationError', 'File is not a valid image')
    if (outcome.kind === 'lost')
      throw unavailable('The picture could not be worked on', new Error('a picture process was ended by somebody else'))
    if (outcome.kind === 'unstarted')
      throw unavailable('The picture could not be worked on', new Error(`a picture process could not be started: ${outcome.message}`))
    throw asApiError(Object.assign(new Error(outcome.message), { code: outcome.code }))
  }

  return {
    make: async ({ path, bytes, mime }, settings) => {
      if (mime === null || !pictureTypes.test(mime)) return null
      return queue.run(() => make(path, bytes, mime, settings))
    },
    close: () => {
      for (const { since } of idle) clearTimeout(since)
      for (const worker of workers) worker.stop()
    },
  }
}
