// What decoding a picture needs, told from its header before anything of it is decoded.
import type { Metadata } from 'sharp'

/** Bounds of one picture. Beyond them it is stored as it came, without formats. */
export interface ImageBounds {
  /** Pixels of one picture, all its frames together. */
  readonly imagePixels: number
  /** Pixels of its longer side, and frames. */
  readonly imageSide: number
  readonly imageFrames: number
  /** Bytes of all its decoded pixels. */
  readonly imageBytes: number
  /** Bytes of memory of the process that works on it. */
  readonly imageMemory: number
  /** Milliseconds of processor time. */
  readonly imageWork: number
  /** Milliseconds by the clock. */
  readonly imageTimeout: number
}

type Shape = Pick<
  Metadata,
  'width' | 'height' | 'channels' | 'depth' | 'isProgressive' | 'pages' | 'format' | 'pageHeight' | 'chromaSubsampling'
>

/** Bytes of the process itself and of what its library keeps for any picture. */
const base = 110_000_000
/** Lines of a picture that are in memory where it is decoded line by line: as read, as reduced, as written. */
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

/** Bytes for each pixel of formats that are decoded as a whole; 0: line by line. */
const whole: Readonly<Record<string, (shape: Shape, sample: number) => number>> = {
  // The coefficients of all passes, two bytes each.
  jpeg: ({ isProgressive, channels, chromaSubsampling }) => (isProgressive ? 2 * (chromaSubsampling === '4:2:0' ? 1.5 : channels) : 0),
  png: ({ isProgressive, channels }, sample) => (isProgressive ? channels * sample : 0),
  webp: () => 6,
  gif: () => 8,
  // A strip or a tile may hold all of it.
  tiff: ({ channels }, sample) => channels * sample,
}

/** True if a picture of this shape can be worked on within the bounds. */
export function isWithin(shape: Shape, bounds: ImageBounds): boolean {
  const { width, pages = 1, channels, depth, format } = shape
  const height = shape.pageHeight ?? shape.height
  const sample = bytesOfDepth[depth] ?? 8
  const pixels = width * height
  if (pages > bounds.imageFrames || Math.max(width, height) > bounds.imageSide) return false
  if (pixels * pages > bounds.imagePixels || pixels * pages * channels * sample > bounds.imageBytes) return false
  const perPixel = whole[format]?.(shape, sample) ?? channels * sample
  return base + pixels * perPixel + width * channels * sample * lines <= bounds.imageMemory
}
