// Estimates the memory for decoding an image from its header.
import type { Metadata } from 'sharp'

/** An image beyond these limits is stored unchanged, without formats. */
export interface ImageBounds {
  /** Pixels in all frames. */
  readonly imagePixels: number
  /** Memory of the image process, in bytes. */
  readonly imageMemory: number
  /** Milliseconds of CPU time. */
  readonly imageCpuTime: number
}

export const maxImageFrames = 5_000
/** Maximum of the longer side, in pixels. */
const maxImageSide = 65_535

type ImageShape = Pick<
  Metadata,
  'width' | 'height' | 'channels' | 'depth' | 'isProgressive' | 'pages' | 'format' | 'pageHeight' | 'chromaSubsampling'
>

/** Bytes of the process and the image library alone. */
const base = 110_000_000
/** Lines in memory if an image is decoded line by line: read, reduced and written. */
const lines = 48
const bytesOfDepth: Readonly<Record<string, number>> = {
  uchar: 1,
  char: 1,
  ushort: 2,
  short: 2,
  uint: 4,
  int: 4,
  float: 4,
  double: 8,
  complex: 8,
  dpcomplex: 16,
}

/** Bytes per pixel of formats decoded as a whole; 0 for line-by-line decoding. */
const whole: Readonly<Record<string, (shape: ImageShape, sample: number) => number>> = {
  // Coefficients of all passes, two bytes each.
  jpeg: ({ isProgressive, channels, chromaSubsampling }) => (isProgressive ? 2 * (chromaSubsampling === '4:2:0' ? 1.5 : channels) : 0),
  png: ({ isProgressive, channels }, sample) => (isProgressive ? channels * sample : 0),
  webp: () => 6,
  gif: () => 8,
  // A single strip or tile may contain the whole image.
  tiff: ({ channels }, sample) => channels * sample,
}

const bytesPerPixel = 4

/** True if an image of this size and format can be processed within the limits. */
export function isWithin(shape: ImageShape, bounds: ImageBounds): boolean {
  const { width, pages = 1, channels, depth, format } = shape
  const height = shape.pageHeight ?? shape.height
  const sample = bytesOfDepth[depth] ?? 8
  const pixels = width * height
  if (pages > maxImageFrames || Math.max(width, height) > maxImageSide) return false
  if (pixels * pages > bounds.imagePixels || pixels * pages * channels * sample > bounds.imagePixels * bytesPerPixel) return false
  const perPixel = whole[format]?.(shape, sample) ?? channels * sample
  return base + pixels * perPixel + width * channels * sample * lines <= bounds.imageMemory
}
