// Effects of POST /api/upload and DELETE /api/upload/files/:id on files, rows and pictures, beyond the recordings.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import sharp from 'sharp'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { rule } from '../support/rule.js'
import type { Served } from '../support/serve.js'
import { serveGolden } from '../support/serve.js'
import { file, leftovers, noise, sample, send, stored, tokens } from './sending.js'

let served: Served
beforeAll(async () => {
  served = await serveGolden()
})
afterAll(() => served.close())

const bytes = (url: string): Buffer => readFileSync(join(served.folder, 'uploads', url.replace('/uploads/', '')))

rule('uploads.8', 'a picture gets the formats that are smaller than itself, each inside its box', async () => {
  const { body, status } = await send(served, [file(sample('large.jpg'), 'large.jpg', 'image/jpeg')])
  expect(status).toBe(201)
  const [{ formats, width, height, size, url, hash }] = body
  expect([width, height]).toEqual([1600, 1100])
  expect(Object.fromEntries(Object.entries(formats as object).map(([name, { width, height }]) => [name, [width, height]]))).toEqual({
    thumbnail: [227, 156],
    large: [1000, 688],
    medium: [750, 516],
    small: [500, 344],
  })
  expect(formats.small).toMatchObject({ name: 'small_large.jpg', hash: `small_${hash}`, ext: '.jpg', mime: 'image/jpeg', path: null })
  for (const one of [{ url, size, width, height }, ...Object.values(formats as Record<string, never>)]) {
    const content = bytes(one.url)
    expect(one.size).toBe(Math.round(content.length / 10) / 100)
    expect(await sharp(content).metadata()).toMatchObject({ width: one.width, height: one.height, format: 'jpeg' })
  }
})

test('a picture is stored in a smaller encoding if there is one, without what a camera wrote into it', async () => {
  const camera = await noise(600, 400)
    .jpeg({ quality: 100 })
    .withExif({ IFD0: { Artist: 'someone' } })
    .toBuffer()
  const { body } = await send(served, [file(camera, 'camera.jpg', 'image/jpeg')])
  expect(bytes(body[0].url).length).toBeLessThan(camera.length / 2)
  expect(bytes(body[0].url).includes('someone')).toBe(false)
  const small = await noise(600, 400).jpeg({ quality: 20 }).toBuffer()
  const kept = await send(served, [file(small, 'small.jpg', 'image/jpeg')])
  expect(bytes(kept.body[0].url).equals(small)).toBe(true)
})

test('a drawing with sharp edges keeps every pixel', async () => {
  const plain = await noise(200, 100).png({ compressionLevel: 0 }).toBuffer()
  const { body } = await send(served, [file(plain, 'plain.png', 'image/png')])
  expect(bytes(body[0].url).length).toBeLessThan(plain.length)
  expect((await sharp(bytes(body[0].url)).raw().toBuffer()).equals(await sharp(plain).raw().toBuffer())).toBe(true)
})

test('a picture that must be rotated keeps its orientation tag', async () => {
  const turned = await noise(600, 400).jpeg({ quality: 100 }).withMetadata({ orientation: 6 }).toBuffer()
  const { body } = await send(served, [file(turned, 'turned.jpg', 'image/jpeg')])
  expect(body[0]).toMatchObject({ width: 400, height: 600 })
  for (const { url } of [body[0], body[0].formats.thumbnail]) expect((await sharp(bytes(url)).metadata()).orientation).toBe(6)
})

test('moving pictures keep moving', async () => {
  const frames = await Promise.all(
    ['#f00', '#0f0', '#00f'].map((background) =>
      sharp({ create: { width: 600, height: 400, channels: 3, background } })
        .png()
        .toBuffer(),
    ),
  )
  const moving = await sharp(frames, { join: { animated: true } })
    .gif()
    .toBuffer()
  const { body } = await send(served, [file(moving, 'moving.gif', 'image/gif')])
  expect(body[0]).toMatchObject({ width: 600, height: 400, formats: { thumbnail: { width: 234, height: 156 } } })
  expect((await sharp(bytes(body[0].formats.thumbnail.url), { animated: true }).metadata()).pages).toBe(3)
})

test('svg drawings have a size and no formats', async () => {
  const svg = '<?xml version="1.0"?><!-- made --><svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 2000 1000"><path/></svg>'
  const { body } = await send(served, [file(svg, 'wide.svg', 'image/svg+xml')])
  expect(body[0]).toMatchObject({ width: 2000, height: 1000, formats: null, mime: 'image/svg+xml', ext: '.svg' })
})

test.each([
  ['a text that begins like a picture', 'BMW is a car', 'car.txt', 'image/bmp', 'text/plain', '.txt'],
  [
    'a zip inside a docx',
    await zip(),
    'letter.docx',
    '',
    'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
    '.docx',
  ],
  ['an unknown extension', 'abc', 'x.weird', 'application/x-foo', 'application/x-foo', '.weird'],
  ['no extension', 'abc', 'x', 'text/plain', 'text/plain', '.txt'],
  ['nothing known', 'abc', 'x', '', 'application/octet-stream', '.bin'],
  ['bytes that show nothing, as in Strapi', Buffer.alloc(500, 0xe7), 'x.png', 'text/plain', 'image/png', '.png'],
  ['a page named like a picture', '<html><script></script></html>', 'x.png', 'image/png', 'text/html', '.png'],
  ['a picture with another declared type', await noise(20, 20).png().toBuffer(), 'x.png', 'text/plain', 'image/png', '.png'],
])('the type of a file: %s', async (_what, content, name, declared, mime, ext) => {
  const { body } = await send(served, [file(content, name, declared)])
  expect(body[0]).toMatchObject({ mime, ext })
})

test('a file named like a picture is served as nothing executable, and refused where only pictures are allowed', async () => {
  const { body } = await send(served, [
    file('<html><script></script></html>', 'x.png', 'image/png'),
    file(Buffer.alloc(500, 0xe7), 'y.png'),
  ])
  for (const { url } of body) {
    const { headers } = await served.request(url)
    expect([headers.get('content-type'), headers.get('x-content-type-options')]).toEqual(['image/png', 'nosniff'])
  }
  const strict = await serveGolden({ config: { uploads: { allowedTypes: ['image/*'] } } })
  try {
    for (const content of ['<html></html>', Buffer.alloc(500, 0xe7), 'plain words'])
      expect((await send(strict, [file(content, 'x.png', 'image/png')])).status).toBe(400)
    expect((await send(strict, [file(sample('tiny.png'), 'x.png')])).status).toBe(201)
  } finally {
    await strict.close()
  }
})

async function zip(): Promise<Buffer> {
  return Buffer.from('504b0304140000000000000000000000000000000000000000000100000061504b0102', 'hex')
}

rule('uploads.1', 'several files get their infos, their order, and their place in a list', async () => {
  const [{ id: article }] = (await served.request('/api/articles?fields[0]=id&pagination[pageSize]=1&sort=id', { token: tokens.full! }))
    .body.data
  const parts = (caption: string) => [
    file(sample('tiny.png'), 'one.png'),
    file(sample('notes.txt'), 'two.txt'),
    ['fileInfo', JSON.stringify({ name: 'first', caption })] as const,
    ['fileInfo', JSON.stringify({ focalPoint: { x: 1, y: 2 } })] as const,
    ['ref', 'api::article.article'] as const,
    ['refId', String(article)] as const,
    ['field', 'gallery'] as const,
  ]
  const before = await gallery(article)
  const first = await send(served, parts('a'))
  expect(first.status).toBe(201)
  expect(first.body.map(({ name, caption, focalPoint }: Record<string, unknown>) => [name, caption, focalPoint])).toEqual([
    ['first', 'a', null],
    ['two.txt', null, { x: 1, y: 2 }],
  ])
  const second = await send(served, parts('b'))
  const ids = [...first.body, ...second.body].map(({ id }: { id: number }) => id)
  expect(await gallery(article)).toEqual([...before, ...ids])
})

rule('uploads.1', 'a form that links to nothing sends its inputs empty', async () => {
  const sent = await send(served, [file(sample('notes.txt'), 'alone.txt'), ['ref', ''], ['refId', ''], ['field', '']])
  expect([sent.status, sent.body[0].name]).toEqual([201, 'alone.txt'])
})

rule('uploads.1', 'a hash is derived from the name without the extension of the file, as in Strapi', async () => {
  const hashes = { 'renamed.txt': 'renamed', 'renamed.md': 'renamed_md', 'with.dots.TXT': 'with_dots_TXT', 'plain name': 'plain_name' }
  for (const [name, stem] of Object.entries(hashes)) {
    const { body } = await send(served, [file(sample('notes.txt'), 'a.txt'), ['fileInfo', JSON.stringify({ name })]])
    expect([name, body[0].hash.replace(/_[0-9a-f]{10}$/, '')]).toEqual([name, stem])
  }
})

async function gallery(article: number): Promise<readonly number[]> {
  const { body } = await served.request(`/api/articles?filters[id]=${article}&populate=gallery`, { token: tokens.full! })
  return (body.data[0].gallery ?? []).map(({ id }: { id: number }) => id)
}

test('a single media attribute has one file at a time', async () => {
  const link = [
    ['ref', 'api::article.article'],
    ['refId', '1'],
    ['field', 'cover'],
  ] as const
  await send(served, [file(sample('tiny.png'), 'a.png'), ...link])
  const { body } = await send(served, [file(sample('tiny.png'), 'b.png'), ...link])
  const linked = await served.sql(
    `select file_id, "order" from files_related_mph where related_id = 1 and related_type = 'api::article.article' and field = 'cover'`,
  )
  expect(linked).toEqual([{ file_id: body[0].id, order: 1 }])
})

test.each([
  ['an unknown row', { ref: 'api::article.article', refId: '999999', field: 'cover' }],
  ['an unknown attribute', { ref: 'api::article.article', refId: '1', field: 'nothing' }],
  ['no media attribute', { ref: 'api::article.article', refId: '1', field: 'title' }],
  ['an unknown type', { ref: 'api::nothing.nothing', refId: '1', field: 'cover' }],
])('a link to %s is refused and nothing is stored', async (_what, link) => {
  const before = stored(served)
  expect((await send(served, [file(sample('tiny.png'), 'a.png'), ...Object.entries(link)])).status).toBe(400)
  expect(stored(served)).toEqual(before)
})

test('files of the API are in one folder of the media library, which Strapi finds too', async () => {
  await send(served, [file(sample('tiny.png'), 'a.png')])
  const folders = await served.sql('select id, name, path_id, path from upload_folders')
  expect(folders).toEqual([{ id: 1, name: 'API Uploads', path_id: 1, path: '/1' }])
  expect(await served.sql(`select value, type from strapi_core_store_settings where "key" = 'plugin_upload_api-folder'`)).toEqual([
    { value: '{"id":1}', type: 'object' },
  ])
  const files = await served.sql(
    'select f.folder_path, l.folder_id from files f left join files_folder_lnk l on l.file_id = f.id where f.id > 13',
  )
  expect(new Set(files.map((row) => JSON.stringify(row)))).toEqual(new Set(['{"folder_path":"/1","folder_id":1}']))
})

rule('uploads.3', 'replacing keeps the address, and removes obsolete formats', async () => {
  const { body } = await send(served, [file(sample('large.jpg'), 'large.jpg'), ['fileInfo', '{"caption":"kept"}']])
  const [{ id, url, hash }] = body
  const { body: replaced, status } = await send(served, [file(sample('tiny.png'), 'tiny.png')], { path: `/api/upload?id=${id}` })
  expect(status).toBe(200)
  expect(replaced).toMatchObject({
    id,
    url,
    hash,
    name: 'tiny.png',
    caption: 'kept',
    mime: 'image/png',
    ext: '.jpg',
    width: 16,
    formats: {},
  })
  expect(stored(served).filter((name) => name.includes(hash))).toEqual([`${hash}.jpg`])
  expect(bytes(url).length).toBeLessThan(2_000)
})

rule('uploads.3', 'information about a file changes alone, also with a JSON body', async () => {
  const { body } = await send(served, [file(sample('notes.txt'), 'notes.txt'), ['fileInfo', '{"caption":"a","alternativeText":"b"}']])
  const path = `/api/upload?id=${body[0].id}`
  expect((await send(served, [['fileInfo', '{"name":"n","caption":""}']], { path })).body).toMatchObject({
    name: 'n',
    caption: '',
    alternativeText: 'b',
  })
  const json = await served.request(path, {
    method: 'POST',
    token: tokens.full!,
    headers: { 'content-type': 'application/json' },
    body: '{"fileInfo":{"caption":"c"}}',
  })
  expect(json.body).toMatchObject({ name: 'n', caption: 'c', url: body[0].url })
  expect((await send(served, [['fileInfo', '{}']], { path: '/api/upload?id=999999' })).body.error.message).toBe('Entity not found')
})

rule('uploads.4', 'deleting removes the file and its formats', async () => {
  const { body } = await send(served, [file(sample('large.jpg'), 'gone.jpg')])
  const [{ id, hash }] = body
  expect(stored(served).filter((name) => name.includes(hash))).toHaveLength(5)
  const deleted = await served.request(`/api/upload/files/${id}`, { method: 'DELETE', token: tokens.full! })
  expect(deleted.body).toEqual(body[0])
  expect(stored(served).filter((name) => name.includes(hash))).toEqual([])
  expect(await served.sql(`select * from files_folder_lnk where file_id = ${id}`)).toEqual([])
})

test.each([
  ['one for two files', ['{"caption":"a"}'], 2],
  ['two for one file', ['{"caption":"a"}', '{}'], 1],
  ['no object', ['"x"'], 1],
  ['nothing', ['null'], 1],
  ['no JSON', ['{nope'], 1],
  ['a caption that is no text', ['{"caption":{"a":1}}'], 1],
  ['a focal point outside', ['{"focalPoint":{"x":101,"y":-1}}'], 1],
  ['half a focal point', ['{"focalPoint":{"x":1}}'], 1],
  ['a name without end', [JSON.stringify({ name: 'x'.repeat(256) })], 1],
])('fileInfo is refused: %s', async (_what, infos, count) => {
  const files = Array.from({ length: count }, () => file(sample('notes.txt'), 'a.txt'))
  const { status, body } = await send(served, [...files, ...infos.map((info) => ['fileInfo', info] as const)])
  expect([status, body.error.name]).toEqual([400, 'ValidationError'])
})

test('nothing is left on its way', () => {
  expect(leftovers(served)).toEqual([])
})

/** The settings of the media library, until `work` ends. */
async function withSettings(settings: object, work: () => Promise<void>): Promise<void> {
  const set = (value: string) => served.sql(`update strapi_core_store_settings set value = ? where "key" = 'plugin_upload_settings'`, value)
  const [row] = (await served.sql(`select value from strapi_core_store_settings where "key" = 'plugin_upload_settings'`)) as {
    value: string
  }[]
  await set(JSON.stringify({ ...JSON.parse(row!.value), ...settings }))
  await work()
  await set(row!.value)
}

/** A photograph of a camera that knows where it is. */
const camera = (width: number, height: number, orientation: number) =>
  noise(width, height)
    .withMetadata({ orientation })
    .withExifMerge({ IFD0: { Make: 'a camera' }, IFD3: { GPSLatitude: '47/1 22/1 0/1' } })
    .withXmp('<x:xmpmeta xmlns:x="adobe:ns:meta/">a place</x:xmpmeta>')
const tells = (content: Buffer): boolean => content.includes('a camera') || content.includes('a place')

/** The size at which a browser shows a file, and its orientation. */
async function shownAs(content: Buffer) {
  const { width, height, orientation = 1 } = await sharp(content).metadata()
  return { size: orientation >= 5 ? [height, width] : [width, height], orientation }
}

const settings = [true, false].flatMap((autoOrientation) =>
  [true, false].map((sizeOptimization) => ({ autoOrientation, sizeOptimization, responsiveDimensions: sizeOptimization })),
)

/** Width, height and orientation. */
const cases = [
  [520, 300, 1],
  [520, 300, 8],
  [90, 60, 8],
  [90, 60, 3],
]

/** A sent picture, and its result. */
interface Picture {
  readonly what: string
  readonly setting: (typeof settings)[number]
  readonly orientation: number
  readonly sent: Buffer
  readonly size: readonly number[]
  readonly isEncoded: boolean
  readonly row: { readonly url: string; readonly width: number; readonly height: number }
  readonly formats: Readonly<Record<string, { url: string; width: number; height: number }>>
}

/** Pictures of every format, upright and lying, large and small, under every setting. They are sent once. */
const sendPictures = async (): Promise<readonly Picture[]> => {
  const all: Picture[] = []
  for (const setting of settings)
    await withSettings(setting, async () => {
      for (const format of ['jpeg', 'webp', 'png', 'tiff', 'avif'] as const)
        for (const [width, height, orientation] of format === 'jpeg' ? cases : format === 'avif' ? cases.slice(2, 3) : cases.slice(1, 3)) {
          const sent = await camera(width!, height!, orientation!).toFormat(format, { quality: 90 }).toBuffer()
          const [row] = (await send(served, [file(sent, `a.${format}`)])).body
          const what = JSON.stringify({ ...setting, format, orientation, width })
          const isTurned = setting.autoOrientation && orientation !== 1
          const isEncoded = /jpeg|webp|png/.test(format) && (setting.sizeOptimization || isTurned)
          all.push({ what, setting, orientation: orientation!, sent, size: [width!, height!], isEncoded, row, formats: row.formats ?? {} })
        }
    })
  return all
}
let sending: Promise<readonly Picture[]> | undefined
const pictures = () => {
  sending ??= sendPictures()
  return sending
}

rule('uploads.16', 'formats and re-encoded pictures keep only the orientation of the metadata', async () => {
  for (const { what, setting, orientation, isEncoded, row, formats } of await pictures())
    for (const { url } of [...(isEncoded ? [row] : []), ...Object.values(formats)]) {
      expect(tells(bytes(url)), what).toBe(false)
      expect((await shownAs(bytes(url))).orientation, what).toBe(setting.autoOrientation ? 1 : orientation)
    }
})

rule('uploads.17', 'width and height are those at which a browser shows a picture and its formats', async () => {
  for (const { what, orientation, size, row, formats } of await pictures()) {
    expect([row.width, row.height], what).toEqual(orientation === 8 ? size.toReversed() : size)
    for (const { url, width, height } of [row, ...Object.values(formats)])
      expect((await shownAs(bytes(url))).size, what).toEqual([width, height])
    const { thumbnail = { width: 245, height: 156 } } = formats
    expect(thumbnail.width === 245 || thumbnail.height === 156, what).toBe(true)
    expect(thumbnail.width <= 245 && thumbnail.height <= 156, what).toBe(true)
  }
})

rule('uploads.18', 'a picture that needs no resizing or rotation stays unchanged, with any other settings', async () => {
  for (const { what, setting, size, sent, isEncoded, row, formats } of await pictures()) {
    expect(bytes(row.url).equals(sent), what).toBe(!isEncoded)
    const names = setting.responsiveDimensions ? ['small', 'thumbnail'] : ['thumbnail']
    expect(Object.keys(formats).sort(), what).toEqual(size[0] === 90 ? [] : names)
  }
})

rule('uploads.19', 'a file is replaced by what its address does not misname, and by nothing else', async () => {
  const png = await noise(30, 20).png().toBuffer()
  const jpeg = await noise(30, 20).jpeg().toBuffer()
  const pdf = '%PDF-1.4\n%%EOF\n'
  const svg = '<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"/>'
  const html = '<!doctype html><script>1</script>'
  const replacing = async (old: Parameters<typeof file>, next: Parameters<typeof file>) => {
    const [{ id, url }] = (await send(served, [file(...old)])).body
    const { status, body } = await send(served, [file(...next)], { path: `/api/upload?id=${id}` })
    const isReplaced = !bytes(url).equals(Buffer.from(old[0] as string))
    if (status === 400) expect([body.error.name, body.error.message]).toEqual(['ApplicationError', expect.stringContaining('upload that')])
    return [status, isReplaced]
  }
  const [done, refused] = [
    [200, true],
    [400, false],
  ]
  expect(await replacing([png, 'a.png'], [jpeg, 'b.jpg'])).toEqual(done)
  expect(await replacing([pdf, 'a.pdf'], [`${pdf}more`, 'b.pdf'])).toEqual(done)
  expect(await replacing(['a,b', 'a.csv'], ['# text', 'b.md'])).toEqual(done)
  expect(await replacing(['\0\0', 'a.bin'], [pdf, 'b.pdf'])).toEqual(done)
  expect(await replacing(['one', 'a.txt'], [html, 'b.html'])).toEqual(done)
  for (const [content, name] of [
    [pdf, 'b.pdf'],
    [svg, 'b.svg'],
    ['text', 'b.txt'],
  ] as const)
    expect(await replacing([png, 'a.png'], [content, name]), name).toEqual(refused)
  expect(await replacing([svg, 'a.svg'], [png, 'b.png'])).toEqual(refused)
  // A wrong original type stays.
  expect(await replacing([pdf, 'a.png'], [`${pdf}more`, 'b.pdf'])).toEqual(done)
  expect(await replacing([pdf, 'a.pdf'], [jpeg, 'b.jpg'])).toEqual(refused)
  expect(await replacing(['{}', 'a.json'], [pdf, 'b.json'])).toEqual(refused)
  expect(leftovers(served)).toEqual([])
})
