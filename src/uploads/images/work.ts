// The work on one picture: its size, the smaller formats, a smaller encoding. Runs in a picture process, never in the service.
import { stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import sharp, { type Metadata, type Sharp, type SharpOptions } from 'sharp'
import { type Header, readHeader } from './header.js'
import { isWithin } from './memory-needs.js'
import type { FromImageProcess, Made, ToImageProcess } from './protocol.js'

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
 * Measures the picture at `path` and makes its formats beside it; `tell` hears what is known or made so far. `mime` is what
 * its bytes show.
 * @throws what the disk throws.
 */
export async function processImage(asked: ToImageProcess, tell: (message: FromImageProcess) => void): Promise<FromImageProcess> {
  const { path, mime, settings, bounds } = asked
  const options: SharpOptions = { limitInputPixels: bounds.imagePixels, failOn: 'error', sequentialRead: true }
  const header = headerOf(path, mime, bounds.imageFrames)
  if (header === 'broken') return { kind: 'broken' }
  if (header !== null) {
    const { width, height, frames } = header
    tell({ kind: 'measured', size: { width, height } })
    if (
      !isWithin({ width, height, pages: frames, format: mime.slice(6) as 'gif', channels: 3, depth: 'uchar', isProgressive: false }, bounds)
    )
      return plain
  }
  let about: Metadata
  try {
    about = await sharp(path, { ...options, limitInputPixels: false }).metadata()
  } catch (error) {
    return isShortage(error) ? { kind: 'beyond' } : { kind: 'broken' }
  }
  const { pages = 1, orientation = 1 } = about
  const turned = settings.autoOrientation && orientation >= 5
  const size = turned ? { width: about.height, height: about.width } : { width: about.width, height: about.height }
  tell({ kind: 'measured', size })
  if (!withFormats.has(mime) || !isWithin(about, bounds)) return plain
  const open = () => {
    const picture = sharp(path, { ...options, animated: pages > 1 })
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
    tell({ kind: 'formats', formats })
    return { kind: 'done', encoded: pages > 1 ? null : await encode(open(), asked, size.width * size.height) }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== undefined) throw error
    // The library has no codes: what the disk does not take is told from what is no picture by its words.
    if (String(error).includes('system error: ')) throw Object.assign(error as Error, { code: 'EIO' })
    return isShortage(error) ? { kind: 'beyond' } : { kind: 'broken' }
  }
}

/** What the disk throws goes on; whatever else is thrown comes from the picture. */
function headerOf(path: string, mime: string, frames: number): Header | 'broken' | null {
  try {
    return readHeader(path, mime, frames)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).syscall !== undefined) throw error
    return 'broken'
  }
}

const plain: FromImageProcess = { kind: 'done', encoded: null }

/** True where the library got no more memory. */
const isShortage = (error: unknown): boolean => /out of memory|unable to (?:malloc|allocate)|insufficient memory/i.test(String(error))

async function write(picture: Sharp, path: string): Promise<Made> {
  const { width, height, pageHeight, size } = await picture.toFile(path)
  return { path, width, height: pageHeight ?? height, bytes: size }
}

/** Encodes a still picture anew; kept if it is smaller, or if it had to be turned. */
async function encode(picture: Sharp, { path, mime, settings }: ToImageProcess, pixels: number): Promise<Made | null> {
  const encoder = encoders[mime]
  if (encoder === undefined || !(settings.sizeOptimization || settings.autoOrientation)) return null
  const made = await write(encoder(picture, pixels), join(dirname(path), 'encoded'))
  return settings.autoOrientation || made.bytes < (await stat(path)).size ? made : null
}
