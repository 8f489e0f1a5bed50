// Files in S3: their locations, their rows, signed addresses, and failures of the storage.
import sharp from 'sharp'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { addAdministrator, requestAdmin, signInAdmin } from '../support/administration.js'
import type { Served } from '../support/serve.js'
import { serveGolden } from '../support/serve.js'
import { until } from '../support/until.js'
import { bucket, type S3Server, startS3, storedAt } from './s3-server.js'
import { file, formOf, leftovers, sample, send, stored, tokens } from './sending.js'

let s3: S3Server
beforeAll(async () => {
  s3 = await startS3()
})
afterAll(() => s3.close())
afterEach(() => {
  s3.trouble = { all: 'none' }
  s3.refusesAcls = false
})

const cover = [
  ['ref', 'api::article.article'],
  ['refId', '1'],
  ['field', 'cover'],
] as const
const draftWithCover = '/api/articles?filters[id]=1&status=draft'

describe('a public bucket', () => {
  let served: Served
  beforeAll(async () => {
    served = await serveGolden(storedAt(s3, { CDN_URL: 'https://cdn.example.test/x/', CDN_ROOT_PATH: 'root/here' }))
  })
  afterAll(() => served.close())

  test('a picture and its formats are stored below the root path, and rows say so as those of Strapi do', async () => {
    const before = stored(served)
    const { status, body } = await send(served, [file(sample('large.jpg'), 'large.jpg', 'image/jpeg')])
    expect(status).toBe(201)
    const [{ hash, url, formats, ...row }] = body
    expect(row).toMatchObject({ provider: 'aws-s3', provider_metadata: null, isUrlSigned: false })
    expect(url).toBe(`https://cdn.example.test/x/root/here/${hash}.jpg`)
    expect(formats.small.url).toBe(`https://cdn.example.test/x/root/here/small_${hash}.jpg`)
    const names = [hash, ...['thumbnail', 'large', 'medium', 'small'].map((name) => `${name}_${hash}`)]
    expect(s3.keys().filter((key) => key.includes(hash))).toEqual(names.map((name) => `root/here/${name}.jpg`).sort())
    expect(s3.metadata(`root/here/${hash}.jpg`)).toMatchObject({ 'content-type': 'image/jpeg' })
    expect([stored(served), leftovers(served)]).toEqual([before, []])
    expect((await served.request(`/api/upload/files/${body[0].id}`, { token: tokens.full! })).body).toEqual(body[0])
  })

  test('a bucket that refuses ACLs gets files without one, replaced ones too, and the log says so once', async () => {
    s3.refusesAcls = true
    const refused = await serveGolden(storedAt(s3))
    const first = await send(refused, [file('one', 'one.txt')])
    const second = await send(refused, [file('two', 'two.txt')], { path: `/api/upload?id=${first.body[0]?.id}` })
    const warned = refused.log.filter((line) => line.includes('The bucket refuses ACLs'))
    await refused.close()
    expect([first.status, second.status, warned.length]).toEqual([201, 200, 1])
  })

  test('files that a browser could run are downloads', async () => {
    const { body } = await send(served, [
      file(sample('drawing.svg'), 'drawing.svg'),
      file('<html></html>', 'page.html'),
      file('x', 'x.txt'),
    ])
    const disposition = (index: number) => s3.metadata(`root/here/${body[index].hash}${body[index].ext}`)['content-disposition']
    expect([disposition(0), disposition(1), disposition(2)]).toEqual(['attachment', 'attachment', undefined])
  })

  test('replacing keeps the address and removes obsolete formats; deleting removes all', async () => {
    const { body } = await send(served, [file(sample('large.jpg'), 'large.jpg')])
    const [{ id, url, hash }] = body
    const { body: replaced } = await send(served, [file(sample('tiny.png'), 'tiny.png')], { path: `/api/upload?id=${id}` })
    expect(replaced).toMatchObject({ id, url, hash, mime: 'image/png', formats: {}, provider: 'aws-s3' })
    const key = `root/here/${hash}.jpg`
    expect(s3.keys().filter((one) => one.includes(hash) || one.includes('/.'))).toEqual([key])
    const content = await (await fetch(`${s3.origin}/${bucket}/${key}`)).arrayBuffer()
    expect((await sharp(content).metadata()).format).toBe('png')
    expect(s3.metadata(key)).toMatchObject({ 'content-type': 'image/png' })
    await served.request(`/api/upload/files/${id}`, { method: 'DELETE', token: tokens.full! })
    expect(s3.keys().filter((one) => one.includes(hash))).toEqual([])
    expect(await served.sql('select * from octavo_file_swaps')).toEqual([])
  })

  test('files of the local disk stay where they are until they are replaced or deleted', async () => {
    const [row] = await served.sql("select id, url, hash, ext from files where provider = 'local' and ext = '.txt'")
    const { id, url, hash, ext } = row as Readonly<Record<string, string>>
    expect((await served.request(url!)).status).toBe(200)
    const { body } = await send(served, [file('other', 'other.txt')], { path: `/api/upload?id=${id}` })
    expect(body).toMatchObject({ provider: 'aws-s3', hash, url: `https://cdn.example.test/x/root/here/${hash}${ext}` })
    expect([s3.keys().includes(`root/here/${hash}${ext}`), (await served.request(url!)).status]).toEqual([true, 404])
  })
})

describe('a private bucket', () => {
  let served: Served
  beforeAll(async () => {
    served = await serveGolden(storedAt(s3, { AWS_ACL: 'private', AWS_SIGNED_URL_EXPIRES: '900' }))
  })
  afterAll(() => served.close())

  const addressesOf = ({ url, formats }: { url: string; formats: Record<string, { url: string }> | null }) => [
    url,
    ...Object.values(formats ?? {}).map((format) => format.url),
  ]

  async function expectReadable(addresses: readonly string[]): Promise<void> {
    for (const address of addresses) {
      expect(new URL(address).searchParams.get('X-Amz-Expires')).toBe('900')
      expect((await fetch(address)).status).toBe(200)
      const forged = address.replace(/(X-Amz-Signature=)(.)/, (_all, name, first) => name + (first === '0' ? '1' : '0'))
      expect((await fetch(forged)).status).toBe(403)
    }
  }

  test('an administrator crops a picture of the bucket; where the bucket fails, it is 503 and nothing changes', async () => {
    await addAdministrator(served, 'ada@bucket.example')
    const { accessToken: token } = await signInAdmin(served, 'ada@bucket.example')
    const form = formOf([file(sample('large.jpg'), 'large.jpg', 'image/jpeg')])
    const { body } = await served.request('/admin/api/files', { method: 'POST', token, body: form })
    const crop = () =>
      requestAdmin(served, `/files/${body.data[0].id}/crop`, { method: 'POST', token, body: { x: 0, y: 0, width: 300, height: 200 } })
    const cut = await crop()
    expect(cut.status, cut.text).toBe(200)
    expect(cut.body.data).toMatchObject({ width: 300, height: 200, isUrlSigned: true })
    const bytes = Buffer.from(await (await fetch(cut.body.data.url)).arrayBuffer())
    expect(await sharp(bytes).metadata()).toMatchObject({ width: 300, height: 200 })
    s3.trouble = { all: 'breaks' }
    const rows = (await served.sql('SELECT count(*) AS n FROM files'))[0]!.n
    expect((await crop()).status).toBe(503)
    expect((await served.sql('SELECT count(*) AS n FROM files'))[0]!.n).toBe(rows)
  })

  test('every response with a file has signed addresses; rows have bare ones', async () => {
    const sent = await send(served, [file(sample('large.jpg'), 'large.jpg'), ...cover])
    const [uploaded] = sent.body
    const bare = `${s3.origin}/${bucket}/${uploaded.hash}.jpg`
    expect(await served.sql(`select url from files where id = ${uploaded.id}`)).toEqual([{ url: bare }])
    const token = tokens.full!
    const found = (await served.request(`/api/upload/files/${uploaded.id}`, { token })).body
    const listed = (await served.request(`/api/upload/files?filters[id]=${uploaded.id}`, { token })).body[0]
    const paged = (await served.request(`/api/upload/files/page?filters[id]=${uploaded.id}`, { token })).body.data[0]
    const populated = (await served.request(`${draftWithCover}&populate=cover`, { token })).body.data[0].cover
    const starred = (await served.request(`${draftWithCover}&populate=*`, { token })).body.data[0].cover
    const nested = await served.request(`${draftWithCover}&populate=cover`, { token, headers: { 'strapi-response-format': 'v4' } })
    const { documentId } = (await served.request(draftWithCover, { token })).body.data[0]
    const written = await served.request(`/api/articles/${documentId}?status=draft&populate=cover`, {
      method: 'PUT',
      token,
      headers: { 'content-type': 'application/json' },
      body: '{"data":{"rank":1}}',
    })
    const files = [uploaded, found, listed, paged, populated, starred, nested.body.data[0].attributes.cover.data.attributes]
    for (const one of [...files, written.body.data.cover]) {
      expect(one.isUrlSigned).toBe(true)
      expect(Object.values(one.formats as Record<string, { isUrlSigned: boolean }>).map(({ isUrlSigned }) => isUrlSigned)).toEqual(
        Array(4).fill(true),
      )
      expect(addressesOf(one).every((address) => address.includes('X-Amz-Signature='))).toBe(true)
    }
    await expectReadable(addressesOf(populated))
  })

  test('an address alone is signed too', async () => {
    const { body } = await served.request(`${draftWithCover}&populate[cover][fields]=url`, { token: tokens.full! })
    expect(body.data[0].cover.isUrlSigned).toBe(true)
    await expectReadable([body.data[0].cover.url])
  })

  test('files stored elsewhere keep their addresses', async () => {
    const { body } = await served.request('/api/upload/files?filters[id]=1', { token: tokens.full! })
    expect([body[0].url.startsWith('/uploads/'), body[0].url.includes('?'), body[0].isUrlSigned]).toEqual([true, false, false])
  })
})

describe('trouble (R14)', () => {
  let served: Served
  beforeAll(async () => {
    served = await serveGolden(storedAt(s3, {}, { storageTimeout: 2_400 }))
  })
  afterAll(() => served.close())

  const state = async () => ({
    keys: s3.keys(),
    rows: await served.sql('select * from files'),
    links: await served.sql('select * from files_related_mph'),
  })
  const quiet = () => until('no leftovers', () => leftovers(served).length === 0)

  test.each([500, 503, 403, 'silence', 'drips', 'breaks'] as const)('a storage that answers %s: 503, no row, no file', async (trouble) => {
    const before = await state()
    s3.trouble = { all: 'none', PUT: trouble }
    const { status, body, headers } = await send(served, [file(sample('large.jpg'), 'large.jpg'), file('x', 'x.txt'), ...cover])
    expect([status, body.error.name, headers.get('retry-after')]).toEqual([503, 'ServiceUnavailableError', '1'])
    await quiet()
    expect(await state()).toEqual(before)
    expect((await served.request('/api/articles?pagination[pageSize]=1')).status).toBe(200)
    s3.trouble = { all: 'none' }
    // On a busy machine a request may take longer than the short limits of this service.
    await until('files are stored again', async () => (await send(served, [file('x', 'x.txt')])).status === 201)
  })

  test('a transient failure of the storage is retried', async () => {
    s3.trouble = { all: 'none', PUT: 500 }
    const sent = send(served, [file('passing', 'passing.txt')])
    await until('the storage is asked', () => s3.seen.some((line) => line.includes('passing_')))
    s3.trouble = { all: 'none' }
    expect((await sent).status).toBe(201)
  })

  test('documents are written while the storage is away', async () => {
    s3.trouble = { all: 'silence' }
    const written = await served.request('/api/tags', {
      method: 'POST',
      token: tokens.full!,
      headers: { 'content-type': 'application/json' },
      body: '{"data":{"name":"while away"}}',
    })
    expect(written.status).toBe(201)
  })

  test('a file that cannot be removed yet is remembered, and removed when the storage is back', async () => {
    const other = await serveGolden(storedAt(s3))
    const { body } = await send(other, [file('gone', 'gone.txt')])
    const key = `${body[0].hash}.txt`
    s3.trouble = { all: 'none', DELETE: 500 }
    const deleted = await other.request(`/api/upload/files/${body[0].id}`, { method: 'DELETE', token: tokens.full! })
    expect(deleted.status).toBe(200)
    expect(await other.sql(`select id from files where id = ${body[0].id}`)).toEqual([])
    expect([leftovers(other).length, s3.keys().includes(key)]).toEqual([1, true])
    s3.trouble = { all: 'none' }
    await other.close()
    expect(s3.keys().includes(key)).toBe(false)
  })
})
