// Processes one image: measures it, and creates smaller formats and a smaller encoding. Runs in an image process, never in the service.
import { stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import sharp, { type Metadata, type Sharp, type SharpOptions } from 'sharp'
import { type Header, readHeader } from './header.js'
import { isWithin, maxImageFrames } from './memory-needs.js'
import type { CropBox, DerivedImage, FromImageProcess, ImageSize, ToImageProcess } from './protocol.js'

/** Formats by name with their maximum size; only larger images get the format. */
const thumbnail = { width: 245, height: 156 }
const breakpoints = { large: { width: 1000, height: 1000 }, medium: { width: 750, height: 750 }, small: { width: 500, height: 500 } }

const withFormats = new Set(['image/jpeg', 'image/png', 'image/webp', 'image/gif', 'image/tiff'])
/** Optimised JPEG coding holds the whole image in memory (15 bytes per pixel), so it is off from this many pixels on. */
const largeImage = 2_000_000
/** JPEG and WebP quality of resized pictures, and of those that are only rotated. */
const smaller = 80
const turned = 95
/** PNG stays lossless. */
const encoders: Readonly<Record<string, (image: Sharp, pixels: number, quality: number) => Sharp>> = {
  'image/jpeg': (image, pixels, quality) => image.jpeg({ quality, optimiseCoding: pixels < largeImage }),
  'image/png': (image) => image.png(),
  'image/webp': (image, _pixels, quality) => image.webp({ quality }),
}
/** The only decoders that may read uploaded files. */
const decoders = ['Jpeg', 'Png', 'Webp', 'Nsgif', 'Tiff', 'Heif'].map((format) => `VipsForeignLoad${format}`)

sharp.concurrency(1)
sharp.cache(false)
sharp.block({ operation: ['VipsForeignLoad'] })
sharp.unblock({ operation: decoders })

/**
 * Measures the image at `path` and creates its formats in the same folder; calls `report` with intermediate results. `mime` is the detected
 * type.
 * @throws errors of the disk
 */
export async function processImage(request: ToImageProcess, report: (message: FromImageProcess) => void): Promise<FromImageProcess> {
  const { path, mime, settings, bounds, crop } = request
  const options: SharpOptions = { limitInputPixels: bounds.imagePixels, failOn: 'error', sequentialRead: true }
  const header = headerOf(path, mime, maxImageFrames)
  if (header === 'broken') return { kind: 'broken' }
  if (header !== null) {
    const { width, height, frames } = header
    report({ kind: 'measured', size: { width, height } })
    if (
      !isWithin({ width, height, pages: frames, format: mime.slice(6) as 'gif', channels: 3, depth: 'uchar', isProgressive: false }, bounds)
    )
      return withoutFormats
  }
  let metadata: Metadata
  try {
    metadata = await sharp(path, { ...options, limitInputPixels: false }).metadata()
  } catch (error) {
    return isOutOfMemory(error) ? { kind: 'beyond' } : { kind: 'broken' }
  }
  const { pages = 1, orientation = 1 } = metadata
  const size = shownSize(metadata, orientation)
  report({ kind: 'measured', size })
  if (!withFormats.has(mime) || !isWithin(metadata, bounds)) return withoutFormats
  if (crop !== null) return { kind: 'done', encoded: await cropped(sharp(path, options), request, metadata, crop) }
  const open = () => {
    const image = sharp(path, { ...options, animated: pages > 1 })
    if (settings.autoOrientation) return image.autoOrient()
    // Keeps the orientation of an image that is not rotated, and no other metadata, which may include the location of a photograph.
    return orientation === 1 ? image : image.withExif({ IFD0: {} })
  }
  const kept = settings.autoOrientation ? 1 : orientation
  const formats = new Map<string, DerivedImage>()
  const boxes = { thumbnail, ...(settings.responsiveDimensions ? breakpoints : {}) }
  try {
    for (const [name, box] of Object.entries(boxes)) {
      if (size.width <= box.width && size.height <= box.height) continue
      const resized = open().resize({ ...shownSize(box, kept), fit: 'inside' })
      formats.set(name, shownAt(await write(resized, join(dirname(path), name)), kept))
    }
    report({ kind: 'formats', formats })
    return { kind: 'done', encoded: pages > 1 ? null : await encode(open(), request, metadata) }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== undefined) throw error
    // The library has no error codes; disk errors are recognized by their text.
    if (String(error).includes('system error: ')) throw Object.assign(error as Error, { code: 'EIO' })
    return isOutOfMemory(error) ? { kind: 'beyond' } : { kind: 'broken' }
  }
}

/** Rethrows disk errors; any other error means that the image is invalid. */
function headerOf(path: string, mime: string, frames: number): Header | 'broken' | null {
  try {
    return readHeader(path, mime, frames)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).syscall !== undefined) throw error
    return 'broken'
  }
}

const withoutFormats: FromImageProcess = { kind: 'done', encoded: null }

const isOutOfMemory = (error: unknown): boolean => /out of memory|unable to (?:malloc|allocate)|insufficient memory/i.test(String(error))

/** The displayed size of an image with this orientation. */
const shownSize = ({ width, height }: ImageSize, orientation: number): ImageSize =>
  orientation >= 5 ? { width: height, height: width } : { width, height }

const shownAt = (image: DerivedImage, orientation: number): DerivedImage => ({ ...image, ...shownSize(image, orientation) })

async function write(image: Sharp, path: string): Promise<DerivedImage> {
  const { width, height, pageHeight, size } = await image.toFile(path)
  return { path, width, height: pageHeight ?? height, bytes: size }
}

/** Writes a part of a still image as displayed; null for a part outside of it. */
async function cropped(
  image: Sharp,
  { path, mime }: ToImageProcess,
  { pages = 1, orientation = 1, width, height }: Metadata,
  { x, y, ...box }: CropBox,
): Promise<DerivedImage | null> {
  const shown = shownSize({ width, height }, orientation)
  if (pages > 1 || x + box.width > shown.width || y + box.height > shown.height) return null
  const part = image.autoOrient().extract({ left: x, top: y, ...box })
  return write(encoders[mime]?.(part, box.width * box.height, smaller) ?? part, join(dirname(path), 'cropped'))
}

/**
 * Re-encodes a still image that must be resized or rotated. The result is used if it is smaller, if it is rotated, or if the original has
 * metadata, which must not be published depending on the compression ratio.
 */
async function encode(
  image: Sharp,
  { path, mime, settings: { sizeOptimization, autoOrientation } }: ToImageProcess,
  { width, height, orientation = 1, exif, xmp, iptc }: Metadata,
): Promise<DerivedImage | null> {
  const encoder = encoders[mime]
  const isTurned = autoOrientation && orientation !== 1
  if (encoder === undefined || !(sizeOptimization || isTurned)) return null
  const made = await write(encoder(image, width * height, sizeOptimization ? smaller : turned), join(dirname(path), 'encoded'))
  const tellsMore = [exif, xmp, iptc].some((block) => block !== undefined)
  return isTurned || tellsMore || made.bytes < (await stat(path)).size ? made : null
}
