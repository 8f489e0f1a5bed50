// Files that scripts and hooks upload: `upload(file)` from a path, from memory, and from a stream.
import { createReadStream, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { afterAll, beforeAll, expect } from 'vitest'
import { grantsOf } from '../../src/foundation/grants.js'
import type { BeforeCall } from '../../src/foundation/public/hooks.js'
import { rule } from '../support/rule.js'
import type { Served } from '../support/serve.js'
import { goldenProject, serveGolden } from '../support/serve.js'
import { until } from '../support/until.js'
import { leftovers, sample, send, stored } from './sending.js'

const [article, author, setting] = ['api::article.article', 'api::author.author', 'api::setting.setting'] as const
const picture = join(goldenProject, 'samples', 'large.jpg')

let served: Served
let before: (call: BeforeCall) => unknown = () => {}
beforeAll(async () => {
  served = await serveGolden({
    config: { limits: { fileBytes: 2_000_000 }, uploads: { deniedTypes: ['application/pdf'] } },
    code: { hooks: [{ before: (call) => before(call) }], listeners: [function nobody() {}] },
  })
})
afterAll(() => served.close())

rule('uploads.13', 'a file from a path, from memory or from a stream is one that was sent', async () => {
  const { upload, documents } = served.service
  const sent = (await send(served, [['files', sample('large.jpg'), 'large.jpg', 'image/jpeg']])).body[0]
  const info = { alternativeText: 'Ferns', caption: 'In the wood', focalPoint: { x: 10, y: 20 } }
  const files = [
    await upload({ path: picture, ...info }),
    await upload({ content: sample('large.jpg'), name: 'large.jpg', ...info }),
    await upload({ content: createReadStream(picture), name: 'large.jpg', ...info }),
    await upload({ content: Readable.toWeb(createReadStream(picture)), name: 'large.jpg', type: 'image/jpeg', ...info }),
  ]
  const { width, height, mime, size, ext } = sent
  for (const file of files) {
    expect(file).toMatchObject({ name: 'large.jpg', ...info, width, height, mime, size, ext })
    expect(Object.keys(file).sort()).toEqual(Object.keys(sent).sort())
    expect(Object.keys(file.formats!)).toEqual(Object.keys(sent.formats))
    expect((await fetch(served.origin + file.url)).status).toBe(200)
    expect(await documents('plugin::upload.file').findOne({ documentId: file.documentId })).toMatchObject({ name: 'large.jpg' })
  }
  expect(new Set(files.map(({ hash }) => hash)).size).toBe(4)
  const events = await served.service.events.after(0)
  expect(events.filter(({ event }) => event === 'media.create')).toHaveLength(5)
  writeFileSync(join(served.folder, 'beside.txt'), 'A file of the project')
  expect(await upload({ path: 'beside.txt', name: 'A name.txt' })).toMatchObject({ name: 'A name.txt', mime: 'text/plain', formats: null })
})

rule('uploads.13', 'refused and unreadable files leave no traces', async () => {
  const { upload, documents } = served.service
  const rows = () => documents('plugin::upload.file').count()
  const [former, files] = [await rows(), stored(served).length]
  async function* broken() {
    yield Buffer.from('a beginning')
    throw Object.assign(new Error('the source is gone'), { code: 'ENOENT' })
  }
  const endless = Readable.from(
    (function* () {
      for (;;) yield Buffer.alloc(65_536)
    })(),
  )
  const refused: readonly (readonly [Parameters<typeof upload>[0], object | RegExp])[] = [
    [
      { content: Buffer.alloc(0), name: 'empty.txt' },
      { status: 400, message: 'Files are empty' },
    ],
    [{ content: endless, name: 'endless.bin' }, { status: 413 }],
    [{ content: Buffer.alloc(2_000_001), name: 'large.bin' }, { status: 413 }],
    [{ content: Buffer.from('text'), name: '../up.txt' }, { status: 400 }],
    [{ path: join(goldenProject, 'samples', 'paper.pdf') }, { status: 400 }],
    [{ content: Buffer.from('text'), name: 'a.txt', caption: {} as never }, { status: 400 }],
    [{ content: broken(), name: 'broken.txt' }, /cannot be read/],
    [{ content: Readable.from(['text']), name: 'text.txt' }, /cannot be read/],
    [{ path: 'nothing/here.txt' }, /ENOENT/],
    [{ name: 'nothing.txt' } as never, /either the path of a file or its content/],
    [{ content: Buffer.from('text') } as never, /needs the name/],
    [{ path: picture, tags: [] } as never, /has no parameter tags/],
  ]
  for (const [file, expected] of refused) {
    const error = await upload(file).then(
      () => null,
      (reason) => reason,
    )
    if (expected instanceof RegExp) expect(error.message).toMatch(expected)
    else expect(error).toMatchObject(expected)
    expect(error.status ?? null).not.toBe(503)
  }
  expect(await rows()).toBe(former)
  expect(stored(served)).toHaveLength(files)
  await until('no leftovers', () => leftovers(served).length === 0)
})

rule('uploads.14', 'a file is linked to a document by its documentId', async () => {
  const { upload, documents } = served.service
  const content = Buffer.from('linked')
  const story = await documents(article).create({ data: { title: 'With files' }, status: 'published' })
  const linkTo = (uid: string, field: string, documentId?: string) => ({ uid, field, ...(documentId === undefined ? {} : { documentId }) })
  const cover = await upload({ content, name: 'cover.txt', linkTo: linkTo(article, 'cover', story.documentId) })
  const draft = await documents(article).findOne({ documentId: story.documentId, populate: ['cover'] })
  expect(draft!.cover).toMatchObject({ id: cover.id })
  expect(await documents(article).findOne({ documentId: story.documentId, status: 'published', populate: ['cover'] })).toMatchObject({
    cover: null,
  })
  const { entries } = await documents(article).publish({ documentId: story.documentId, populate: ['cover'] })
  expect(entries[0]!.cover).toMatchObject({ id: cover.id })
  const single = await documents(setting).findFirst()
  if (single === null) await documents(setting).update({ data: { siteName: 'Golden' } })
  const logo = await upload({ content, name: 'logo.txt', linkTo: linkTo(setting, 'logo') })
  expect(await documents(setting).findOne({ populate: ['logo'] })).toMatchObject({ logo: { id: logo.id } })

  const wrong: readonly (readonly [ReturnType<typeof linkTo>, RegExp])[] = [
    [linkTo(article, 'title', story.documentId), /has no media attribute title/],
    [linkTo('api::nothing.nothing', 'cover', story.documentId), /has no media attribute/],
    [linkTo(article, 'cover', 'abcdefghijklmnopqrstuvwx'), /There is no document/],
    [linkTo(article, 'cover'), /needs a documentId/],
  ]
  const files = stored(served).length
  for (const [target, message] of wrong) await expect(upload({ content, name: 'x.txt', linkTo: target })).rejects.toThrow(message)
  expect(stored(served)).toHaveLength(files)
})

rule('uploads.14', 'permissions and scopes hold for files that are uploaded and linked', async () => {
  const { upload, documents } = served.service
  const content = Buffer.from('by a caller')
  const ann = await documents(author).create({ data: { name: 'Ann of files' } })
  const linkTo = { uid: author, documentId: ann.documentId, field: 'avatar' }
  const grants = (...actions: readonly string[]) => grantsOf(actions.join(' '), new Set(actions))
  const uploads = 'plugin::upload.content-api.upload'
  const forbidden = { name: 'ForbiddenError', status: 403 }
  await expect(upload({ content, name: 'x.txt' }, { grants: grants() })).rejects.toMatchObject(forbidden)
  await expect(upload({ content, name: 'x.txt', linkTo }, { grants: grants(uploads) })).rejects.toMatchObject(forbidden)
  const may = grants(uploads, `${author}.update`)
  const hidden = { ...may, key: 'hidden', scopes: new Map([[author, { name: 'Nobody' }]]) }
  await expect(upload({ content, name: 'x.txt', linkTo }, { grants: hidden })).rejects.toThrow('There is no document')
  expect(await upload({ content, name: 'x.txt', linkTo }, { grants: may })).toMatchObject({ name: 'x.txt' })
  // A hook may upload as well.
  before = async ({ uid, data, upload: own }) => {
    if (uid !== author || typeof data?.portrait !== 'string') return
    const { portrait, ...rest } = data
    const file = await own({ content: Buffer.from(portrait), name: 'portrait.txt' })
    Object.assign(data, { ...rest, avatar: file.id })
    delete data.portrait
  }
  const bob = await documents(author).create({ data: { name: 'Bob of files', portrait: 'a face' }, populate: ['avatar'] })
  expect(bob.avatar).toMatchObject({ name: 'portrait.txt' })
})
