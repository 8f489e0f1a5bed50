// The work on one picture: its size, the smaller formats, a smaller encoding. Runs in the picture process, never in the service.
import { stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import sharp, { type Metadata, type Sharp, type SharpOptions } from 'sharp'

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

export interface PictureBounds {
  /** Pixels of one picture, all its frames together; larger ones are stored as they are, without formats. */
  readonly imagePixels: number
  /** Milliseconds that one picture may take. */
  readonly imageTimeout: number
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

sharp.concurrency(1)
sharp.cache(false)
sharp.block({ operation: ['VipsForeignLoad'] })
sharp.unblock({ operation: decoders })

/**
 * Measures the picture at `path` and makes its formats beside it; null: it is broken. `mime` is what its bytes show.
 * @throws what the disk throws.
 */
export async function makePicture(path: string, mime: string, settings: PictureSettings, limits: PictureBounds): Promise<Picture | null> {
  const options: SharpOptions = { limitInputPixels: limits.imagePixels, failOn: 'error', sequentialRead: true }
  let about: Metadata
  try {
    about = await sharp(path, { ...options, limitInputPixels: false }).metadata()
  } catch {
    return null
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
    // The library has no codes: what the disk does not take is told from what is no picture by its words.
    if (String(error).includes('system error: ')) throw Object.assign(error as Error, { code: 'EIO' })
    return null
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
