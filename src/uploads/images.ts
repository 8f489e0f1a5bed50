// Pictures: their size, the smaller formats, a smaller encoding. At most a few at a time, in threads of the library's own.
import { stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Metadata, Sharp, SharpOptions } from 'sharp'
import { ApiError } from '../errors.js'
import { openQueue } from './queue.js'

/** The settings that Strapi's media library keeps in the database. */
export interface PictureSettings {
  readonly sizeOptimization: boolean
  readonly responsiveDimensions: boolean
  readonly autoOrientation: boolean
}

/** A picture made from another, as a file beside it. */
export interface Made {
  readonly path: string
  readonly width: number
  readonly height: number
  readonly bytes: number
}

export interface Picture {
  readonly width: number
  readonly height: number
  /** A smaller encoding of the whole picture; null: the one that came is the best. */
  readonly encoded: Made | null
  readonly formats: ReadonlyMap<string, Made>
}

export interface ImageLimits {
  /** Pixels of one picture, all its frames together; larger ones are stored as they are, without formats. */
  readonly imagePixels: number
  readonly imagesAtOnce: number
  readonly imageQueue: number
  /** Milliseconds that one picture may take. */
  readonly imageTimeout: number
}

export interface Images {
  /**
   * Measures the picture at `path` and makes its formats beside it; null for what is no picture to us. `mime` is what its
   * bytes show.
   * @throws ApiError 400 for a broken one, 503 when too many wait.
   */
  make(path: string, mime: string | null, settings: PictureSettings): Promise<Picture | null>
}

/** Formats by name: the box that a picture must fit in, and gets one only if it does not. */
const thumbnail = { width: 245, height: 156 }
const breakpoints = { large: { width: 1000, height: 1000 }, medium: { width: 750, height: 750 }, small: { width: 500, height: 500 } }

const withFormats = new Set(['image/jpeg', 'image/png', 'image/webp', 'image/gif', 'image/tiff'])
/** From this many pixels on, the best coding of a JPEG would keep the whole picture in memory: 15 bytes a pixel. */
const largePicture = 2_000_000
/** Lossless where the original is: a drawing must not change. */
const encoders: Readonly<Record<string, (picture: Sharp, pixels: number) => Sharp>> = {
  'image/jpeg': (picture, pixels) => picture.jpeg({ quality: 80, optimiseCoding: pixels < largePicture }),
  'image/png': (picture) => picture.png(),
  'image/webp': (picture) => picture.webp({ quality: 80 }),
}
/** Only these decoders of the library are open to what comes from outside. */
const decoders = ['Jpeg', 'Png', 'Webp', 'Nsgif', 'Tiff', 'Heif'].map((format) => `VipsForeignLoad${format}`)

type Library = typeof import('sharp')

/** Opens the picture workshop. Its library is loaded with the first picture. */
export function openImages(limits: ImageLimits): Images {
  const queue = openQueue(limits.imagesAtOnce, limits.imageQueue)
  let loading: Promise<Library> | null = null

  const library = (): Promise<Library> => {
    loading ??= import('sharp').then(({ default: sharp }) => {
      sharp.concurrency(1)
      sharp.cache(false)
      sharp.block({ operation: ['VipsForeignLoad'] })
      sharp.unblock({ operation: decoders })
      return sharp
    })
    return loading
  }

  async function make(path: string, mime: string, settings: PictureSettings): Promise<Picture | null> {
    const sharp = await library()
    const options: SharpOptions = { limitInputPixels: limits.imagePixels, failOn: 'error', sequentialRead: true }
    let about: Metadata
    try {
      about = await sharp(path, { ...options, limitInputPixels: false }).metadata()
    } catch {
      throw notAnImage()
    }
    const { pages = 1, orientation = 1 } = about
    const turned = settings.autoOrientation && orientation >= 5
    const size = turned ? { width: about.height, height: about.width } : { width: about.width, height: about.height }
    const plain: Picture = { ...size, encoded: null, formats: new Map() }
    if (!withFormats.has(mime) || size.width * size.height * pages > limits.imagePixels) return plain
    const open = () => {
      const picture = sharp(path, { ...options, animated: pages > 1 }).timeout({ seconds: Math.ceil(limits.imageTimeout / 1000) })
      if (settings.autoOrientation) return picture.autoOrient()
      // What is not turned keeps saying how it is to be turned.
      return orientation === 1 ? picture : picture.withMetadata({ orientation })
    }
    const formats = new Map<string, Made>()
    const boxes = { thumbnail, ...(settings.responsiveDimensions ? breakpoints : {}) }
    try {
      for (const [name, box] of Object.entries(boxes)) {
        if (size.width <= box.width && size.height <= box.height) continue
        formats.set(name, await write(open().resize({ ...box, fit: 'inside' }), join(dirname(path), name)))
      }
      return { ...size, encoded: pages > 1 ? null : await encode(open(), path, mime, size.width * size.height, settings), formats }
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== undefined) throw error
      throw notAnImage()
    }
  }

  return {
    make: async (path, mime, settings) => {
      if (mime === null || !(withFormats.has(mime) || mime === 'image/avif')) return null
      return queue.run(() => make(path, mime, settings))
    },
  }
}

async function write(picture: Sharp, path: string): Promise<Made> {
  const { width, height, pageHeight, size } = await picture.toFile(path)
  return { path, width, height: pageHeight ?? height, bytes: size }
}

/** Encodes a still picture anew; kept if it is smaller, or if it had to be turned. */
async function encode(picture: Sharp, path: string, mime: string, pixels: number, settings: PictureSettings): Promise<Made | null> {
  const encoder = encoders[mime]
  if (encoder === undefined || !(settings.sizeOptimization || settings.autoOrientation)) return null
  const made = await write(encoder(picture, pixels), join(dirname(path), 'encoded'))
  return settings.autoOrientation || made.bytes < (await stat(path)).size ? made : null
}

const notAnImage = (): ApiError => new ApiError('ApplicationError', 'File is not a valid image')
