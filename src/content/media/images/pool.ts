// A pool of image processes with low priority, one image each at a time. Idle processes end.
import { unavailableError } from '../../../database/errors.js'
import { ApiError } from '../../../foundation/errors/errors.js'
import { openTurns } from '../../../foundation/runtime/queues.js'
import { asApiError, tooManyUploads } from '../receive.js'
import type { ImageBounds } from './memory-needs.js'
import type { CropBox, ImageSettings, SourceImage, ToImageProcess } from './protocol.js'
import { type ImageWorker, type Outcome, startImageWorker } from './worker.js'

interface ImageLimits extends ImageBounds {
  readonly imageConcurrency: number
  readonly imageQueue: number
}

/** A file that may be an image; `mime` is the detected type. */
interface ImageFile {
  readonly path: string
  readonly bytes: number
  readonly mime: string | null
}

export interface Images {
  /**
   * Measures an image and creates its formats in the same folder; null for types that are not processed. An image beyond the limits gets no
   * formats. Callers are queued fairly.
   * @throws ApiError 400 for an invalid image; 503 if the queue is full, or if the process could not be started or was killed from outside
   */
  make(file: ImageFile, settings: ImageSettings, caller: string): Promise<SourceImage | null>
  /**
   * Measures an image as displayed and writes a part of it to the same folder as `encoded`; null for types that are not processed.
   * `encoded` is null for animated or too large images, and for parts outside of the image.
   * @throws like `make`
   */
  crop(file: ImageFile, part: CropBox, caller: string): Promise<SourceImage | null>
  close(): void
}

/** Milliseconds before an idle process ends. */
const idleTimeout = 10_000

const imageTypes = /^image\/(?:jpeg|png|webp|gif|tiff|avif)$/

/** Processes start on demand. `processed` is called after each image, with its duration in seconds. */
export function openImages(limits: ImageLimits, processed: (seconds: number) => void): Images {
  const turns = openTurns(limits.imageConcurrency, limits.imageQueue, tooManyUploads)
  const { imagePixels, imageMemory, imageCpuTime } = limits
  const bounds = { imagePixels, imageMemory, imageCpuTime }
  const workers = new Set<ImageWorker>()
  /** Idle processes, most recently used last. */
  const idle: { readonly worker: ImageWorker; readonly since: NodeJS.Timeout }[] = []

  function take(): ImageWorker {
    for (;;) {
      const candidate = idle.pop()
      if (candidate === undefined) break
      clearTimeout(candidate.since)
      if (candidate.worker.isAlive()) return candidate.worker
      workers.delete(candidate.worker)
    }
    const worker = startImageWorker(imageMemory)
    workers.add(worker)
    return worker
  }

  function release(worker: ImageWorker): void {
    if (!worker.isAlive()) return void workers.delete(worker)
    const since = setTimeout(() => {
      idle.splice(
        idle.findIndex((one) => one.worker === worker),
        1,
      )
      workers.delete(worker)
      worker.stop()
    }, idleTimeout)
    since.unref()
    idle.push({ worker, since })
  }

  async function make(request: Omit<ToImageProcess, 'bounds'>): Promise<SourceImage> {
    const worker = take()
    const started = performance.now()
    const outcome = await worker.work({ ...request, bounds })
    if (outcome.kind !== 'unstarted' && outcome.kind !== 'lost') processed((performance.now() - started) / 1000)
    release(worker)
    return imageOf(outcome)
  }

  return {
    make: async ({ path, bytes, mime }, settings, caller) => {
      if (mime === null || !imageTypes.test(mime)) return null
      return turns.run(caller, () => make({ path, bytes, mime, settings, crop: null }))
    },
    crop: async ({ path, bytes, mime }, crop, caller) => {
      if (mime === null || !imageTypes.test(mime)) return null
      const settings = { sizeOptimization: false, responsiveDimensions: false, autoOrientation: true }
      return turns.run(caller, () => make({ path, bytes, mime, settings, crop }))
    },
    close: () => {
      for (const { since } of idle) clearTimeout(since)
      for (const worker of workers) worker.stop()
    },
  }
}

/** @throws ApiError 400, 503 */
function imageOf(outcome: Outcome): SourceImage {
  if (outcome.kind === 'made') return outcome.image
  if (outcome.kind === 'broken') throw new ApiError('ApplicationError', 'File is not a valid image')
  if (outcome.kind === 'lost')
    throw unavailableError('The image could not be processed', new Error('an image process was killed from outside'))
  if (outcome.kind === 'unstarted')
    throw unavailableError('The image could not be processed', new Error(`an image process could not be started: ${outcome.message}`))
  throw asApiError(Object.assign(new Error(outcome.message), { code: outcome.code }))
}
