// Reads size and number of frames of GIF, WebP and TIFF without decoding, up to a maximum number of frames.
import { closeSync, fstatSync, openSync, readSync } from 'node:fs'

export interface Header {
  readonly width: number
  readonly height: number
  /** At most one more than the requested maximum. */
  readonly frames: number
}

/** Size of the read buffer in bytes. */
const window = 65_536

/** Reads the header of a GIF, WebP or TIFF and counts at most `frames` frames; null for other types and invalid files. */
export function readHeader(path: string, mime: string, frames: number): Header | null {
  const read = readers[mime]
  if (read === undefined) return null
  const file = openSync(path, 'r')
  try {
    return read(bytesOf(file), frames)
  } finally {
    closeSync(file)
  }
}

/** Returns the byte at an offset; 0 beyond the end, because files may contain arbitrary 64-bit offsets. */
type Bytes = (offset: number) => number

function bytesOf(file: number): Bytes {
  const buffer = Buffer.alloc(window)
  const { size } = fstatSync(file)
  let start = 0
  let length = 0
  return (offset) => {
    if (!(offset < size)) return 0
    if (offset < start || offset >= start + length) {
      start = offset
      length = readSync(file, buffer, 0, window, offset)
    }
    return length === 0 ? 0 : buffer[offset - start]!
  }
}

function numberAt(bytes: Bytes, offset: number, length: number): number {
  let value = 0
  for (let i = length - 1; i >= 0; i--) value = value * 256 + bytes(offset + i)
  return value
}

const textAt = (bytes: Bytes, offset: number, length: number): string =>
  String.fromCharCode(...Array.from({ length }, (_, i) => bytes(offset + i)))

const readers: Readonly<Record<string, (bytes: Bytes, most: number) => Header | null>> = {
  'image/gif': readGif,
  'image/webp': readWebp,
  'image/tiff': readTiff,
}

function readGif(bytes: Bytes, most: number): Header | null {
  if (textAt(bytes, 0, 3) !== 'GIF') return null
  const colors = (flags: number): number => ((flags & 0x80) === 0 ? 0 : 3 * 2 ** ((flags & 7) + 1))
  const pastBlocks = (offset: number): number => {
    let at = offset
    while (bytes(at) !== 0) at += 1 + bytes(at)
    return at + 1
  }
  let frames = 0
  let at = 13 + colors(bytes(10))
  for (;;) {
    const kind = bytes(at)
    if (kind === 0x2c) {
      frames++
      if (frames > most) break
      at = pastBlocks(at + 11 + colors(bytes(at + 9)))
    } else if (kind === 0x21) at = pastBlocks(at + 2)
    else break
  }
  return { width: numberAt(bytes, 6, 2), height: numberAt(bytes, 8, 2), frames: Math.max(1, frames) }
}

/** How the first chunk encodes the size, for each kind of WebP. */
const canvases: Readonly<Record<string, (bytes: Bytes) => readonly [width: number, height: number]>> = {
  'VP8 ': (bytes) => [numberAt(bytes, 26, 2) & 0x3fff, numberAt(bytes, 28, 2) & 0x3fff],
  VP8L: (bytes) => [1 + (numberAt(bytes, 21, 2) & 0x3fff), 1 + ((numberAt(bytes, 22, 3) >> 6) & 0x3fff)],
  VP8X: (bytes) => [1 + numberAt(bytes, 24, 3), 1 + numberAt(bytes, 27, 3)],
}

function readWebp(bytes: Bytes, most: number): Header | null {
  const first = textAt(bytes, 12, 4)
  const canvas = canvases[first]
  if (textAt(bytes, 0, 4) !== 'RIFF' || canvas === undefined) return null
  const [width, height] = canvas(bytes)
  let frames = 0
  const end = 8 + numberAt(bytes, 4, 4)
  for (let at = 12; first === 'VP8X' && at < end && bytes(at) !== 0 && frames <= most; ) {
    if (textAt(bytes, at, 4) === 'ANMF') frames++
    const size = numberAt(bytes, at + 4, 4)
    at += 8 + size + (size % 2)
  }
  return { width, height, frames: Math.max(1, frames) }
}

/** Returns a header only for a TIFF with too many or circular pages; sharp reads the metadata of others. */
function readTiff(bytes: Bytes, most: number): Header | null {
  const little = bytes(0) === 0x49
  const big = numberAt(bytes, little ? 2 : 3, 1) === 43
  const number = (offset: number, length: number): number => {
    if (little) return numberAt(bytes, offset, length)
    let value = 0
    for (let i = 0; i < length; i++) value = value * 256 + bytes(offset + i)
    return value
  }
  const [word, counter, entry] = big ? [8, 8, 20] : [4, 2, 12]
  const first = number(big ? 8 : 4, word)
  let frames = 0
  for (let at = first; at !== 0 && frames <= most; frames++) at = number(at + counter + number(at, counter) * entry, word)
  if (frames <= most) return null
  const side = (tag: number): number => {
    for (let i = 0; i < number(first, counter); i++) {
      const at = first + counter + i * entry
      if (number(at, 2) === tag) return number(at + entry - word, number(at + 2, 2) === 3 ? 2 : 4)
    }
    return 0
  }
  return { width: side(256), height: side(257), frames }
}
