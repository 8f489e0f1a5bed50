// Pictures: a few at a time, in a process of their own that stands behind everything else and is there while there is work.
import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { ApiError } from '../errors.js'
import type { FromPictures, ToPictures } from './image-messages.js'
import type { Picture, PictureBounds, PictureSettings } from './image-work.js'
import { asApiError } from './incoming.js'
import { openQueue } from './queue.js'

export interface ImageLimits extends PictureBounds {
  readonly imagesAtOnce: number
  readonly imageQueue: number
}

export interface Images {
  /**
   * Measures the picture at `path` and makes its formats beside it; null for what is no picture to us. `mime` is what its
   * bytes show.
   * @throws ApiError 400 for a broken one, 503 when too many wait or the process failed.
   */
  make(path: string, mime: string | null, settings: PictureSettings): Promise<Picture | null>
  close(): void
}

/** Milliseconds without work after which the process goes, and with it the memory of the picture library. */
const idleAfter = 10_000
/** Milliseconds that a picture may take beyond its time: the library keeps that itself, unless a decoder hangs. */
const grace = 5_000
/** What the process gets of the environment: nothing that is secret. */
const environment = ['PATH', 'TMPDIR', 'LD_LIBRARY_PATH', 'SystemRoot', 'TEMP', 'TMP']

const pictureTypes = /^image\/(?:jpeg|png|webp|gif|tiff|avif)$/
const notAnImage = (): ApiError => new ApiError('ApplicationError', 'File is not a valid image')

interface Asked {
  readonly resolve: (picture: Picture) => void
  readonly reject: (error: Error) => void
}

/** Opens the picture workshop. Its process starts with the first picture. */
export function openImages(limits: ImageLimits): Images {
  const queue = openQueue(limits.imagesAtOnce, limits.imageQueue)
  const asked = new Map<number, Asked>()
  let process: ChildProcess | null = null
  let idle: NodeJS.Timeout | undefined
  let jobs = 0

  function stop(): void {
    clearTimeout(idle)
    process?.kill('SIGKILL')
    process = null
  }

  function start(): ChildProcess {
    const started = fork(fileURLToPath(new URL('./image-process.js', import.meta.url)), {
      execArgv: [],
      env: processEnvironment(limits.imagesAtOnce),
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    })
    started.on('message', (message: FromPictures) => finish(message))
    const mine = new Set<number>()
    /** A process that died over its pictures takes only them with it; the next picture gets a new one. */
    const lose = (): void => {
      if (process === started) process = null
      for (const id of mine) asked.get(id)?.reject(new ApiError('ServiceUnavailableError', 'The picture could not be worked on'))
    }
    started.on('exit', lose)
    started.on('error', lose)
    owned.set(started, mine)
    return started
  }
  const owned = new WeakMap<ChildProcess, Set<number>>()

  function finish(message: FromPictures): void {
    const ask = asked.get(message.id)
    if (message.kind === 'failed') ask?.reject(asApiError(Object.assign(new Error(message.message), { code: message.code })) as Error)
    else if (message.picture === null) ask?.reject(notAnImage())
    else ask?.resolve(message.picture)
  }

  async function make(path: string, mime: string, settings: PictureSettings): Promise<Picture> {
    clearTimeout(idle)
    process ??= start()
    const worker = process
    const id = ++jobs
    const { imagePixels, imageTimeout } = limits
    owned.get(worker)!.add(id)
    const late = setTimeout(() => {
      asked.get(id)?.reject(notAnImage())
      worker.kill('SIGKILL')
    }, imageTimeout + grace)
    try {
      return await new Promise<Picture>((resolve, reject) => {
        asked.set(id, { resolve, reject })
        worker.send({ id, path, mime, settings, bounds: { imagePixels, imageTimeout } } satisfies ToPictures)
      })
    } finally {
      clearTimeout(late)
      asked.delete(id)
      owned.get(worker)!.delete(id)
      if (asked.size === 0) {
        idle = setTimeout(stop, idleAfter)
        idle.unref()
      }
    }
  }

  return {
    make: async (path, mime, settings) => {
      if (mime === null || !pictureTypes.test(mime)) return null
      return queue.run(() => make(path, mime, settings))
    },
    close: stop,
  }
}

function processEnvironment(threads: number): Record<string, string> {
  const known = environment.flatMap((name) => {
    const value = globalThis.process.env[name]
    return value === undefined ? [] : [[name, value] as const]
  })
  return { ...Object.fromEntries(known), UV_THREADPOOL_SIZE: String(threads) }
}
