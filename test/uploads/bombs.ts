// Pictures that are small as files and large, long or slow when they are decoded.
import { crc32, deflateSync } from 'node:zlib'
import sharp from 'sharp'

export interface Bomb {
  readonly name: string
  readonly make: () => Promise<Buffer> | Buffer
}

const chunk = (type: string, data: Uint8Array): Buffer => {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data])
  const [length, check] = [Buffer.alloc(4), Buffer.alloc(4)]
  length.writeUInt32BE(data.length)
  check.writeUInt32BE(crc32(body) >>> 0)
  return Buffer.concat([length, body, check])
}

interface PngShape {
  readonly width: number
  readonly height: number
  readonly bits?: number
  /** 0 gray, 2 RGB, 3 palette, 6 RGBA. */
  readonly color?: number
  readonly interlaced?: boolean
  /** Chunks between the header and the data. */
  readonly between?: readonly Buffer[]
}

const channels: Readonly<Record<number, number>> = { 0: 1, 2: 3, 3: 1, 6: 4 }

/** Compressed zeros, built by repeating the stream of a shorter run, so that gigabytes cost nothing here. */
function zeros(count: number): Buffer {
  if (count < 50_000_000) return deflateSync(Buffer.alloc(count), { level: 9 })
  // One block of a fixed code: a zero, then copies of 258 zeros from one byte before.
  const bits: number[] = []
  const bytes: number[] = []
  const put = (value: number, length: number, reversed: boolean): void => {
    for (let i = 0; i < length; i++) bits.push((value >> (reversed ? length - 1 - i : i)) & 1)
    while (bits.length >= 8) bytes.push(bits.splice(0, 8).reduce((sum, bit, i) => sum | (bit << i), 0))
  }
  put(1, 1, false)
  put(1, 2, false)
  put(0x30, 8, true)
  const copies = Math.floor((count - 1) / 258)
  // Eight copies fill a whole number of bytes: 8 bits of length 258, 5 of distance 1.
  const repeated = copies - (copies % 8)
  const head = Buffer.from(bytes)
  const pending = bits.splice(0)
  const piece: number[] = []
  let window = [...pending]
  for (let i = 0; i < 8; i++) {
    for (let j = 7; j >= 0; j--) window.push((0xc5 >> j) & 1)
    window.push(0, 0, 0, 0, 0)
    while (window.length >= 8) piece.push(window.splice(0, 8).reduce((sum, bit, k) => sum | (bit << k), 0))
  }
  const middle = Buffer.alloc((repeated / 8) * 13)
  for (let at = 0; at < middle.length; at++) middle[at] = piece[at % 13]!
  const tail: number[] = []
  const finish = (value: number, length: number, reversed: boolean): void => {
    for (let i = 0; i < length; i++) window.push((value >> (reversed ? length - 1 - i : i)) & 1)
  }
  for (let i = repeated; i < copies; i++) {
    finish(0xc5, 8, true)
    finish(0, 5, true)
  }
  for (let i = copies * 258 + 1; i < count; i++) finish(0x30, 8, true)
  finish(0, 7, true)
  while (window.length % 8 !== 0) window.push(0)
  while (window.length >= 8) tail.push(window.splice(0, 8).reduce((sum, bit, k) => sum | (bit << k), 0))
  window = []
  // The sum of zeros: 1, and their count modulo 65,521 above it.
  const sum = Buffer.alloc(4)
  sum.writeUInt16BE(count % 65_521, 0)
  sum.writeUInt16BE(1, 2)
  return Buffer.concat([Buffer.from([0x78, 0xda]), head, middle, Buffer.from(tail), sum])
}

/** A black PNG. */
export function blackPng({ width, height, bits = 8, color = 0, interlaced = false, between = [] }: PngShape): Buffer {
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  header.set([bits, color, 0, 0, interlaced ? 1 : 0], 8)
  const line = (columns: number): number => (columns === 0 ? 0 : 1 + Math.ceil((columns * channels[color]! * bits) / 8))
  const passes = [
    [0, 8, 0, 8],
    [4, 8, 0, 8],
    [0, 4, 4, 8],
    [2, 4, 0, 4],
    [0, 2, 2, 4],
    [1, 2, 0, 2],
    [0, 1, 1, 2],
  ] as const
  const size = interlaced
    ? passes.reduce((sum, [x, dx, y, dy]) => sum + line(Math.ceil((width - x) / dx)) * Math.ceil((height - y) / dy), 0)
    : line(width) * height
  return Buffer.concat([
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 13, 10, 26, 10]),
    chunk('IHDR', header),
    ...between,
    chunk('IDAT', zeros(size)),
    chunk('IEND', Buffer.alloc(0)),
  ])
}

/** A PNG chunk whose text inflates to `size` bytes. */
const zippedChunk = (type: 'iCCP' | 'zTXt', size: number): Buffer =>
  chunk(type, Buffer.concat([Buffer.from('name\0\0', 'latin1'), zeros(size)]))

/** A GIF of `frames` frames, each a dot on a canvas. */
export function dotsGif(frames: number, width: number, height: number): Buffer {
  const screen = Buffer.from('GIF89a\0\0\0\0\x80\0\0\0\0\0\xff\xff\xff', 'latin1')
  screen.writeUInt16LE(width, 6)
  screen.writeUInt16LE(height, 8)
  const loop = Buffer.from('!\xff\x0bNETSCAPE2.0\x03\x01\0\0\0', 'latin1')
  const frame = Buffer.from(',\0\0\0\0\x01\0\x01\0\0\x02\x02D\x01\0', 'latin1')
  return Buffer.concat([screen, loop, Buffer.alloc(frames * frame.length, frame), Buffer.from(';')])
}

/** An animated WebP of `frames` frames, each a dot on a canvas. */
export async function dotsWebp(frames: number, width: number, height: number): Promise<Buffer> {
  const dot = await sharp({ create: { width: 2, height: 2, channels: 3, background: '#000' } })
    .webp({ lossless: true })
    .toBuffer()
  const image = dot.subarray(12)
  const riff = (type: string, data: Buffer): Buffer => {
    const length = Buffer.alloc(4)
    length.writeUInt32LE(data.length)
    return Buffer.concat([Buffer.from(type, 'latin1'), length, data, Buffer.alloc(data.length % 2)])
  }
  const canvas = Buffer.alloc(10)
  canvas[0] = 2
  canvas.writeUIntLE(width - 1, 4, 3)
  canvas.writeUIntLE(height - 1, 7, 3)
  const about = Buffer.alloc(16)
  about.writeUIntLE(1, 6, 3)
  about.writeUIntLE(1, 9, 3)
  about.writeUIntLE(100, 12, 3)
  const frame = riff('ANMF', Buffer.concat([about, image]))
  const body = Buffer.concat([
    Buffer.from('WEBP'),
    riff('VP8X', canvas),
    riff('ANIM', Buffer.alloc(6)),
    Buffer.alloc(frames * frame.length, frame),
  ])
  return riff('RIFF', body)
}

type Field = readonly [tag: number, values: readonly number[]]

/** A TIFF with the given directories; data after the header. */
function tiffOf(directories: readonly (readonly Field[])[], data: Buffer, loop = false): Buffer {
  const pieces: Buffer[] = [Buffer.from([0x49, 0x49, 42, 0, 0, 0, 0, 0]), data]
  let at = 8 + data.length
  pieces[0]!.writeUInt32LE(at, 4)
  for (const [index, fields] of directories.entries()) {
    const size = 2 + fields.length * 12 + 4
    const long = fields.map(([, values]) => (values.length > 1 ? Buffer.from(Uint32Array.from(values).buffer) : Buffer.alloc(0)))
    const directory = Buffer.alloc(size)
    directory.writeUInt16LE(fields.length, 0)
    let behind = at + size
    for (const [i, [tag, values]] of fields.entries()) {
      directory.writeUInt16LE(tag, 2 + i * 12)
      directory.writeUInt16LE(4, 4 + i * 12)
      directory.writeUInt32LE(values.length, 6 + i * 12)
      directory.writeUInt32LE(values.length > 1 ? behind : values[0]!, 10 + i * 12)
      behind += long[i]!.length
    }
    directory.writeUInt32LE(index + 1 < directories.length ? behind : loop ? 8 + data.length : 0, size - 4)
    pieces.push(directory, ...long)
    at = behind
  }
  return Buffer.concat(pieces)
}

interface TiffShape {
  readonly width: number
  readonly height: number
  readonly samples: number
  readonly bits: number
  /** Sides of a tile; without, one strip. */
  readonly tile?: number
}

function tiffFields({ width, height, samples, bits, tile }: TiffShape, length: number): readonly Field[] {
  const place: readonly Field[] =
    tile === undefined
      ? [
          [273, [8]],
          [278, [height]],
          [279, [length]],
        ]
      : [
          [322, [tile]],
          [323, [tile]],
          [324, Array.from({ length: Math.ceil(width / tile) * Math.ceil(height / tile) }, () => 8)],
          [325, Array.from({ length: Math.ceil(width / tile) * Math.ceil(height / tile) }, () => length)],
        ]
  const all: readonly Field[] = [
    [256, [width]],
    [257, [height]],
    [258, Array.from({ length: samples }, () => bits)],
    [259, [8]],
    [262, [samples > 2 ? 2 : 1]],
    [277, [samples]],
    [284, [1]],
    ...(samples > 3 ? ([[338, Array.from({ length: samples - 3 }, () => 0)]] as const) : []),
    ...place,
  ]
  return [...all].sort(([a], [b]) => a - b)
}

function blackTiff(shape: TiffShape): Buffer {
  const { width, height, samples, bits, tile } = shape
  const data = zeros(((tile ?? width) * (tile ?? height) * samples * bits) / 8)
  return tiffOf([tiffFields(shape, data.length)], data)
}

const black = (width: number, height: number) =>
  sharp({ create: { width, height, channels: 3, background: '#000' }, limitInputPixels: false })

/** A progressive JPEG with a repeated last pass. */
async function passes(width: number, height: number, count: number): Promise<Buffer> {
  const jpeg = await black(width, height).jpeg({ progressive: true }).toBuffer()
  const last = jpeg.lastIndexOf(Buffer.from([0xff, 0xda]))
  const scan = jpeg.subarray(last, jpeg.length - 2)
  return Buffer.concat([jpeg.subarray(0, last), Buffer.alloc(scan.length * count, scan), Buffer.from([0xff, 0xd9])])
}

/** The same JPEG that says it is larger. */
async function claiming(width: number, height: number, progressive: boolean): Promise<Buffer> {
  const jpeg = Buffer.from(await black(64, 64).jpeg({ progressive }).toBuffer())
  const frame = jpeg.indexOf(Buffer.from([0xff, progressive ? 0xc2 : 0xc0]))
  jpeg.writeUInt16BE(height, frame + 5)
  jpeg.writeUInt16BE(width, frame + 7)
  return jpeg
}

const nested = Array.from({ length: 30 }, (_, i) => `<g id="a${i + 1}"><use href="#a${i}"/><use href="#a${i}"/></g>`).join('')

export const bombs: readonly Bomb[] = [
  { name: 'png 100,000,000 wide', make: () => blackPng({ width: 100_000_000, height: 1 }) },
  { name: 'png 40,000,000 wide of 16 bits', make: () => blackPng({ width: 40_000_000, height: 1, bits: 16, color: 6 }) },
  { name: 'png 100,000,000 high', make: () => blackPng({ width: 1, height: 100_000_000 }) },
  { name: 'png of one bit, 800,000,000 wide', make: () => blackPng({ width: 800_000_000, height: 1, bits: 1 }) },
  { name: 'png 64k by 64k', make: () => blackPng({ width: 65_535, height: 65_535, bits: 1 }) },
  { name: 'png 65,535 by 1,500 of 16 bits', make: () => blackPng({ width: 65_535, height: 1_500, bits: 16, color: 6 }) },
  { name: 'png 1,500 by 65,535 of 16 bits', make: () => blackPng({ width: 1_500, height: 65_535, bits: 16, color: 6 }) },
  { name: 'png 9,999 by 9,999', make: () => blackPng({ width: 9_999, height: 9_999, color: 2 }) },
  { name: 'png 9,999 by 9,999 of 16 bits', make: () => blackPng({ width: 9_999, height: 9_999, bits: 16, color: 6 }) },
  {
    name: 'png 9,999 by 9,999 of 16 bits, interlaced',
    make: () => blackPng({ width: 9_999, height: 9_999, bits: 16, color: 6, interlaced: true }),
  },
  { name: 'png 5,000 by 5,000, interlaced', make: () => blackPng({ width: 5_000, height: 5_000, color: 6, interlaced: true }) },
  { name: 'png with a profile of 2 GB', make: () => blackPng({ width: 600, height: 600, between: [zippedChunk('iCCP', 2_000_000_000)] }) },
  {
    name: 'png with texts of 1 GB',
    make: () => blackPng({ width: 600, height: 600, between: Array.from({ length: 10 }, () => zippedChunk('zTXt', 100_000_000)) }),
  },
  {
    name: 'png of 1,000,000 texts',
    make: () => blackPng({ width: 600, height: 600, between: [Buffer.alloc(16_000_000, chunk('tEXt', Buffer.from('a\0bc')))] }),
  },
  { name: 'jpeg 10,000 by 10,000', make: () => black(10_000, 10_000).jpeg().toBuffer() },
  {
    name: 'jpeg 10,000 by 10,000, progressive',
    make: () => black(10_000, 10_000).jpeg({ progressive: true, chromaSubsampling: '4:4:4' }).toBuffer(),
  },
  { name: 'jpeg 65,500 by 65,500', make: () => claiming(65_500, 65_500, false) },
  { name: 'jpeg 9,999 by 9,999, progressive, cut', make: () => claiming(9_999, 9_999, true) },
  { name: 'jpeg of 4,000 passes', make: () => passes(5_000, 5_000, 4_000) },
  { name: 'webp 10,000 by 10,000', make: () => black(10_000, 10_000).webp({ effort: 0 }).toBuffer() },
  { name: 'webp 10,000 by 10,000, lossless', make: () => black(10_000, 10_000).webp({ lossless: true, effort: 0 }).toBuffer() },
  { name: 'webp of 1,000,000 frames', make: () => dotsWebp(1_000_000, 300, 300) },
  { name: 'webp of 24 frames of 2,000 by 2,000', make: () => dotsWebp(24, 2_000, 2_000) },
  { name: 'gif of 10,000,000 frames', make: () => dotsGif(10_000_000, 300, 300) },
  { name: 'gif of 10,000,000 dots', make: () => dotsGif(10_000_000, 1, 1) },
  { name: 'gif of 1,000 frames of 300 by 300', make: () => dotsGif(1_000, 300, 300) },
  { name: 'gif 65,535 by 65,535', make: () => dotsGif(1, 65_535, 65_535) },
  { name: 'gif 9,999 by 9,999', make: () => dotsGif(1, 9_999, 9_999) },
  { name: 'tiff 9,999 by 9,999 of 16 bits in one strip', make: () => blackTiff({ width: 9_999, height: 9_999, samples: 4, bits: 16 }) },
  { name: 'tiff of one tile, 16,000 by 16,000', make: () => blackTiff({ width: 3_000, height: 3_000, samples: 3, bits: 8, tile: 16_000 }) },
  { name: 'tiff of tiles', make: () => blackTiff({ width: 9_984, height: 9_984, samples: 4, bits: 16, tile: 256 }) },
  { name: 'tiff of 1,000 channels', make: () => blackTiff({ width: 3_000, height: 300, samples: 1_000, bits: 16 }) },
  {
    name: 'tiff of 50,000 pages',
    make: () => {
      const data = deflateSync(Buffer.alloc(600 * 600))
      const fields = tiffFields({ width: 600, height: 600, samples: 1, bits: 8 }, data.length)
      return tiffOf(
        Array.from({ length: 50_000 }, () => fields),
        data,
      )
    },
  },
  {
    name: 'tiff whose pages go in a circle',
    make: () => {
      const data = deflateSync(Buffer.alloc(600 * 600))
      return tiffOf([tiffFields({ width: 600, height: 600, samples: 1, bits: 8 }, data.length)], data, true)
    },
  },
  { name: 'avif 12,000 by 8,000', make: () => black(12_000, 8_000).avif({ effort: 0 }).toBuffer() },
  {
    name: 'svg with a huge box',
    make: () => Buffer.from('<svg viewBox="0 0 1e308 1e308" xmlns="http://www.w3.org/2000/svg"><rect width="1e308" height="1e308"/></svg>'),
  },
  {
    name: 'svg of nested uses',
    make: () =>
      Buffer.from(
        `<svg width="9999" height="9999" xmlns="http://www.w3.org/2000/svg"><g id="a0"><rect width="9" height="9"/></g>${nested}<use href="#a30"/></svg>`,
      ),
  },
  {
    name: 'svg of filters',
    make: () =>
      Buffer.from(
        `<svg width="99999" height="99999" xmlns="http://www.w3.org/2000/svg"><filter id="f">${'<feGaussianBlur stdDeviation="999"/>'.repeat(500)}</filter><rect filter="url(#f)" width="99999" height="99999"/></svg>`,
      ),
  },
]
