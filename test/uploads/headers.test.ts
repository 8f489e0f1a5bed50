// Pictures whose headers are wrong: lengths, counts and offsets that no file of that size can have. Each is a broken picture, or one
// that is stored without formats; none is an error of the service.
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Served } from '../support/serve.js'
import { serveGolden } from '../support/serve.js'
import { blackPng, dotsGif, dotsWebp } from './bombs.js'
import { file, leftovers, noise, send } from './sending.js'

let served: Served
beforeAll(async () => {
  served = await serveGolden()
})
afterAll(() => served.close())

/** A BigTIFF of 64 bytes, in one of the two byte orders: its first directory, and a value at offset 16. */
function bigTiff(order: 'II' | 'MM', first: bigint, count = 0n): Buffer {
  const tiff = Buffer.alloc(64)
  tiff.write(order, 'latin1')
  const [short, long] =
    order === 'II'
      ? [tiff.writeUInt16LE.bind(tiff), tiff.writeBigUInt64LE.bind(tiff)]
      : [tiff.writeUInt16BE.bind(tiff), tiff.writeBigUInt64BE.bind(tiff)]
  short(43, 2)
  short(8, 4)
  long(first, 8)
  long(count, 16)
  return tiff
}

const tiff = (first: number): Buffer => {
  const small = Buffer.alloc(64)
  small.set([0x49, 0x49, 42, 0])
  small.writeUInt32LE(first, 4)
  small.writeUInt16LE(0xffff, 8)
  return small
}

/** The bytes with others at an offset. */
const put = (bytes: Uint8Array, offset: number, others: readonly number[]): Buffer => {
  const changed = Buffer.from(bytes)
  changed.set(others, offset)
  return changed
}

const most = [0xff, 0xff, 0xff, 0xff]
const jpeg = () => noise(300, 200).jpeg().toBuffer()
const avif = () => noise(300, 200).avif({ effort: 0 }).toBuffer()
const gif = dotsGif(3, 300, 300)
const png = blackPng({ width: 300, height: 300 })

const broken: Readonly<Record<string, () => Buffer | Promise<Buffer>>> = {
  'tiff: a directory at 2^64 - 16': () => bigTiff('II', 0xffff_ffff_ffff_fff0n),
  'tiff: a directory at 2^53 + 1': () => bigTiff('II', 2n ** 53n + 1n),
  'tiff: a directory of 2^63 - 1 entries': () => bigTiff('II', 16n, 2n ** 63n - 1n),
  'tiff: a directory of 2^64 - 1 entries, the largest byte first': () => bigTiff('MM', 16n, 2n ** 64n - 1n),
  'tiff: a directory at 2^63, the largest byte first': () => bigTiff('MM', 2n ** 63n),
  'tiff: a directory of 65,535 entries': () => tiff(8),
  'png: two bytes behind the signature': () => Buffer.from('89504e470d0a1a0a0000', 'hex'),
  'png: no chunk behind the signature': () => Buffer.concat([png.subarray(0, 8), Buffer.alloc(60, 1)]),
  'png: the signature alone': () => png.subarray(0, 8),
}
/** Odd files; other tests decide if they are pictures. */
const odd: Readonly<Record<string, () => Buffer | Promise<Buffer>>> = {
  'tiff: a directory of 32 bits behind the end': () => tiff(0xffff_fff0),
  'png: a first chunk of 4 GB': () => put(png, 8, most),
  'png: a second chunk of 4 GB': () => put(png, 33, most),
  'jpeg: a segment without a length': async () => put(await jpeg(), 4, [0, 0]),
  'jpeg: a segment of 65,535': async () => put(await jpeg(), 4, [0xff, 0xff]),
  'avif: a first box of 4 GB': async () => put(await avif(), 0, most),
  'avif: a first box of 64 bits': async () => put(await avif(), 0, [0, 0, 0, 1]),
  'avif: a second box of 4 GB': async () => put(await avif(), (await avif()).readUInt32BE(0), most),
  'avif: a second box of 64 bits': async () => put(await avif(), (await avif()).readUInt32BE(0), [0, 0, 0, 1]),
  'gif: a first block that ends behind the file': () => gif.subarray(0, 20),
  'gif: a frame with colors that are not there': () => put(gif, gif.indexOf(Buffer.from(',\0\0\0\0', 'latin1')) + 9, [0xff]),
  'webp: a file of 4 GB': async () => put(await dotsWebp(2, 300, 300), 4, most),
  'webp: a first chunk of 4 GB': async () => put(await dotsWebp(2, 300, 300), 16, most),
  'webp: a second chunk of 4 GB': async () => put(await dotsWebp(2, 300, 300), 34, most),
}

test.each(Object.entries(broken))('%s is no valid image', async (_name, make) => {
  const before = await served.sql('select id from files')
  const { status, text } = await send(served, [file(await make(), 'picture.bin')])
  expect([status, text]).toEqual([400, expect.stringContaining('File is not a valid image')])
  expect([await served.sql('select id from files'), leftovers(served)]).toEqual([before, []])
})

test.each(Object.entries(odd))('%s is no error of the service', async (_name, make) => {
  const { status, text } = await send(served, [file(await make(), 'picture.bin')])
  expect([201, 400], text).toContain(status)
  expect(leftovers(served)).toEqual([])
})
