// The media library in the administration API: files, folders, and what a role may do with them.
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import sharp from 'sharp'
import { afterAll, beforeAll, expect } from 'vitest'
import { addAdministrator, allowAdmins, requestAdmin, rowsOf, type SignedIn, signInAdmin } from '../support/administration.js'
import { rule } from '../support/rule.js'
import { type Served, serveProject, type TestResponse } from '../support/serve.js'
import { file, type Part, sample } from '../uploads/sending.js'
import { secrets } from './callers.js'
import { giveFileRight, sendForm } from './media-client.js'
import { giveRights } from './newsroom.js'

const page = 'api::page.page'
const project = {
  'src/components/block/picture.json': {
    collectionName: 'components_block_pictures',
    info: { displayName: 'Picture' },
    attributes: { image: { type: 'media' }, note: { type: 'string' } },
  },
  'src/api/page/content-types/page/schema.json': {
    kind: 'collectionType',
    collectionName: 'pages',
    info: { singularName: 'page', pluralName: 'pages', displayName: 'Page' },
    options: { draftAndPublish: true },
    attributes: {
      title: { type: 'string' },
      cover: { type: 'media' },
      gallery: { type: 'media', multiple: true },
      hero: { type: 'component', component: 'block.picture' },
      blocks: { type: 'dynamiczone', components: ['block.picture'] },
    },
  },
}

let served: Served
const uploads = () => join(served.folder, 'public', 'uploads')
let ada: SignedIn
const signedIn: Record<string, SignedIn> = {}
beforeAll(async () => {
  served = await serveProject(project, {
    environment: secrets,
    config: { limits: { authRateLimit: 0, fileBytes: 2_000_000 } },
  })
  await addAdministrator(served, 'ada@media.example')
  ada = await signInAdmin(served, 'ada@media.example')
  const everything = ['read', 'assets.create', 'assets.update', 'assets.download', 'assets.copy-link']
  const roles: Record<string, readonly (readonly [string, (readonly string[])?])[]> = {
    editor: everything.map((action) => [action]),
    author: [['read'], ['assets.create'], ['assets.update', ['admin::is-creator']]],
    owner: everything.map((action) => [action, ['admin::is-creator']]),
    colleague: everything.map((action) => [action, ['admin::has-same-role-as-creator']]),
    reader: [['read']],
    blind: [['assets.create'], ['assets.update']],
    unknown: everything.map((action) => [action, ['api::shop.is-open']]),
    none: [],
  }
  for (const [code, rights] of Object.entries(roles)) {
    for (const [action, conditions] of rights) await giveFileRight(served, code, action, conditions)
    await addAdministrator(served, `${code}@media.example`, [code])
    signedIn[code] = await signInAdmin(served, `${code}@media.example`)
  }
  await addAdministrator(served, 'other@media.example', ['colleague'])
  signedIn.other = await signInAdmin(served, 'other@media.example')
})
afterAll(() => served?.close())

const get = (path: string, by = ada) => requestAdmin(served, path, { token: by.accessToken })
const send = (method: string, path: string, body?: unknown, by = ada): Promise<TestResponse> =>
  requestAdmin(served, path, { method, token: by.accessToken, ...(body === undefined ? {} : { body }) })
const upload = (parts: readonly Part[], by = ada) => sendForm(served, '/files', parts, by)
const text = (name: string, content = 'words') => file(content, name, 'text/plain')

async function fileOf(
  name: string,
  { by = ada, folder, content }: { by?: SignedIn; folder?: number; content?: string } = {},
): Promise<number> {
  const made = await upload([text(name, content), ...(folder === undefined ? [] : [['folder', String(folder)] as const])], by)
  if (made.status !== 201) throw new Error(made.text)
  return made.body.data[0].id
}
async function folderOf(name: string, parent: number | null = null, by = ada): Promise<number> {
  const made = await send('POST', '/folders', { name, parent }, by)
  if (made.status !== 201) throw new Error(made.text)
  return made.body.data.id
}
const stored = async (id: number) => (await rowsOf(served, 'files')).find((row) => row.id === id)
const idOf = async (email: string) => (await served.sql('SELECT id FROM admin_users WHERE email = ?', email))[0]!.id
const names = ({ body }: TestResponse) => body.data.map(({ name }: { name: string }) => name)
const lastActs = async (count: number) =>
  (await get(`/activity?limit=${count}`)).body.data.map(({ action, subject, name }: Record<string, string>) => [action, subject, name])

rule('administration-media.1', 'files are found by folder, text, kind and type, in four orders', async () => {
  const folder = await folderOf('Found')
  const sent = await upload([
    file(sample('large.jpg'), 'Mill.jpg', 'image/jpeg'),
    text('map.txt'),
    text('100%_list.txt'),
    ['fileInfo', JSON.stringify([{ alternativeText: 'A mill at dusk' }, { caption: 'Ways' }, {}])],
    ['folder', String(folder)],
  ])
  expect(sent.status, sent.text).toBe(201)
  const at = `/files?folder=${folder}`
  expect(names(await get(`${at}&sort=name:asc`)).sort()).toEqual(['100%_list.txt', 'Mill.jpg', 'map.txt'])
  expect(names(await get(`${at}&q=DUSK`))).toEqual(['Mill.jpg'])
  expect(names(await get(`${at}&q=ways`))).toEqual(['map.txt'])
  expect(names(await get(`${at}&q=${encodeURIComponent('%_')}`))).toEqual(['100%_list.txt'])
  expect(names(await get(`${at}&kind=image`))).toEqual(['Mill.jpg'])
  expect(names(await get(`${at}&kind=file&sort=name:asc`))).toEqual(['100%_list.txt', 'map.txt'])
  expect(names(await get(`${at}&mime=text/plain&sort=name:desc`))).toEqual(['map.txt', '100%_list.txt'])
  expect(names(await get(`${at}&lacksText=true`))).toEqual([])
  expect(names(await get('/files?folder=root'))).not.toContain('Mill.jpg')
  const [mill] = (await get(`${at}&kind=image`)).body.data
  expect(mill).toMatchObject({ mime: 'image/jpeg', folder: { id: folder, name: 'Found' }, createdBy: { firstname: 'Ada' } })
  expect(mill.formats.thumbnail.url).toMatch(/^\/uploads\/thumbnail_/)
  expect((await get(`${at}&kind=pictures`)).status).toBe(400)
  expect((await get(`${at}&filters[name]=x`)).status).toBe(400)
  expect((await get(`${at}&sort=hash:asc`)).status).toBe(400)
})

rule('administration-media.2', 'pages of a list have every file once, forwards and backwards', async () => {
  const folder = await folderOf('Pages')
  for (let number = 0; number < 7; number++) await fileOf(`same${number % 2}.txt`, { folder })
  const seen: number[] = []
  let after = ''
  for (let pages = 0; pages < 4; pages++) {
    const { body } = await get(`/files?folder=${folder}&sort=name:asc&limit=2${after}`)
    seen.push(...body.data.map(({ id }: { id: number }) => id))
    if (pages === 1) {
      const back = await get(`/files?folder=${folder}&sort=name:asc&limit=2&before=${body.meta.previous}`)
      expect(back.body.data.map(({ id }: { id: number }) => id)).toEqual(seen.slice(0, 2))
      expect((await get(`/files?folder=root&sort=name:asc&limit=2&after=${body.meta.next}`)).status).toBe(400)
    }
    after = `&after=${body.meta.next}`
    if (body.meta.next === null) break
  }
  expect(new Set(seen).size).toBe(7)
  expect(seen.length).toBe(7)
  expect((await get('/files?limit=201')).status).toBe(400)
  expect((await get(`/files/total?folder=${folder}`)).body.data).toEqual({ total: 7, exact: true })
})

rule('administration-media.3', 'an upload goes to its folder, for any administrator, under the rules of every upload', async () => {
  const folder = await folderOf('New files')
  const id = await fileOf('new.txt', { folder, by: signedIn.editor! })
  const [place] = await served.sql('SELECT path FROM upload_folders WHERE id = ?', folder)
  const editor = await idOf('editor@media.example')
  expect(await stored(id)).toMatchObject({ folder_path: place!.path, created_by_id: editor, updated_by_id: editor })
  expect(await served.sql('SELECT folder_id FROM files_folder_lnk WHERE file_id = ?', id)).toEqual([{ folder_id: folder }])
  const root = await fileOf('root.txt')
  expect(await stored(root)).toMatchObject({ folder_path: '/' })
  const before = readdirSync(uploads()).length
  const files = (await rowsOf(served, 'files')).length
  const refused: readonly (readonly [number, readonly Part[]])[] = [
    [400, [text('x.txt'), ['folder', '999999']]],
    [400, [text('x.txt'), ['folder', '1 or 1=1']]],
    [400, [text('x.txt'), ['ref', page]]],
    [400, [['folder', String(folder)]]],
    [400, [['other', Buffer.from('x'), 'x.txt', '']]],
    [400, [text('con')]],
    [413, [file(Buffer.alloc(2_100_000), 'large.bin')]],
  ]
  for (const [status, parts] of refused) expect((await upload(parts)).status, JSON.stringify(parts).slice(0, 80)).toBe(status)
  for (const [info, paths] of [
    [{ folder }, [['fileInfo', 'folder']]],
    [
      { name: 'x.txt', focalPoint: { x: 1, y: 2, z: 3 }, url: 'x' },
      [
        ['fileInfo', 'url'],
        ['fileInfo', 'focalPoint', 'z'],
      ],
    ],
  ] as const) {
    const unknown = await upload([text('x.txt'), ['fileInfo', JSON.stringify(info)]])
    expect([unknown.status, unknown.body.error.details?.errors.map(({ path }: { path: string[] }) => path)]).toEqual([400, paths])
    expect((await sendForm(served, `/files/${root}/replace`, [text('x.txt'), ['fileInfo', JSON.stringify(info)]], ada)).status).toBe(400)
  }
  expect((await send('POST', '/files', {})).status).toBe(400)
  expect((await rowsOf(served, 'files')).length).toBe(files)
  expect(readdirSync(uploads()).length).toBe(before)
})

rule('administration-media.4', 'a change is partial, and null clears', async () => {
  const [folder, id] = [await folderOf('Changed'), await fileOf('change.txt', { by: signedIn.editor! })]
  const all = { name: 'changed.txt', alternativeText: 'Words', caption: 'c', focalPoint: { x: 10, y: 90.5 }, folder }
  const changed = await send('PATCH', `/files/${id}`, all)
  expect(changed.status, changed.text).toBe(200)
  expect(changed.body.data).toMatchObject({ ...all, folder: { id: folder }, updatedBy: { firstname: 'Ada' } })
  expect((await stored(id))!.created_by_id).toBe(await idOf('editor@media.example'))
  const cleared = await send('PATCH', `/files/${id}`, { alternativeText: null, focalPoint: null, folder: null })
  expect(cleared.body.data).toMatchObject({ name: 'changed.txt', alternativeText: null, caption: 'c', focalPoint: null, folder: null })
  expect(await stored(id)).toMatchObject({ folder_path: '/' })
  const [row, acts] = [await stored(id), await lastActs(1)]
  const nothing = await send('PATCH', `/files/${id}`, {}, signedIn.editor)
  expect([nothing.status, nothing.body.data.id]).toEqual([200, id])
  expect([await stored(id), await lastActs(1)]).toEqual([row, acts])
  expect((await send('PATCH', `/files/${id}`, {}, signedIn.reader)).status).toBe(403)
  const wrong = [
    { name: '' },
    { focalPoint: { x: 101, y: 0 } },
    { folder: 999_999 },
    { hash: 'x' },
    { url: 'x' },
    { name: 'x'.repeat(256) },
  ]
  for (const body of wrong) expect((await send('PATCH', `/files/${id}`, body)).status, JSON.stringify(body)).toBe(400)
  expect((await send('PATCH', '/files/999999', { name: 'x' })).status).toBe(404)
  expect(await lastActs(2)).toEqual([
    ['update', 'file', 'changed.txt'],
    ['update', 'file', 'change.txt'],
  ])
})

rule('administration-media.5', 'replaced content keeps its address; readers get the former or the new bytes', async () => {
  const [one, other] = ['one'.repeat(40_000), 'other'.repeat(40_000)]
  const id = await fileOf('replaced.txt', { content: one })
  const { url } = (await get(`/files/${id}`)).body.data
  let isOver = false
  const read = async () => {
    const seen = new Set<string>()
    while (!isOver) seen.add(await (await fetch(served.origin + url)).text())
    return seen
  }
  const reading = [read(), read()]
  for (let round = 0; round < 6; round++) {
    const replaced = await sendForm(served, `/files/${id}/replace`, [text('replaced.txt', round % 2 === 0 ? other : one)], ada)
    expect(replaced.status, replaced.text).toBe(200)
    expect(replaced.body.data.url).toBe(url)
  }
  isOver = true
  for (const seen of await Promise.all(reading)) for (const content of seen) expect([one, other]).toContain(content)
  expect(await (await fetch(served.origin + url)).text()).toBe(one)
  expect((await sendForm(served, `/files/${id}/replace`, [text('a.txt'), text('b.txt')], ada)).status).toBe(400)
  expect((await sendForm(served, '/files/999999/replace', [text('a.txt')], ada)).status).toBe(404)
  expect((await lastActs(1))[0]).toEqual(['replace', 'file', 'replaced.txt'])
})

rule('administration-media.6', 'files are moved and deleted together, all or none', async () => {
  const folder = await folderOf('Together')
  const ids = [await fileOf('one.txt'), await fileOf('two.txt')]
  const [moved, emptied] = [await folderOf('Moved'), await folderOf('Emptied', folder)]
  expect((await send('POST', '/files/bulk', { action: 'move', files: ids, folders: [moved], folder })).status).toBe(204)
  expect(names(await get(`/files?folder=${folder}&sort=name:asc`))).toEqual(['one.txt', 'two.txt'])
  expect((await get(`/folders/${moved}`)).body.data.parent).toBe(folder)
  const before = await rowsOf(served, 'files')
  for (const wrong of [
    { action: 'move', files: [...ids, 999_999], folder: null },
    { action: 'move', files: ids, folder: 999_999 },
    { action: 'move', files: ids },
    { action: 'delete', files: [...ids, 999_999] },
    { action: 'delete', files: ids, folders: [folder] },
    { action: 'delete', files: Array.from({ length: 201 }, (_, index) => index + 1) },
  ])
    expect([400, 404], JSON.stringify(wrong)).toContain((await send('POST', '/files/bulk', wrong)).status)
  expect(await rowsOf(served, 'files')).toEqual(before)
  const paths = (await Promise.all(ids.map(stored))).map((row) => join(uploads(), `${row!.hash}${row!.ext}`))
  expect(paths.map((path) => existsSync(path))).toEqual([true, true])
  expect((await send('POST', '/files/bulk', { action: 'delete', files: ids, folders: [emptied] })).status).toBe(204)
  expect(paths.map((path) => existsSync(path))).toEqual([false, false])
  expect(await Promise.all(ids.map(stored))).toEqual([undefined, undefined])
  const one = await fileOf('single.txt')
  expect((await send('DELETE', `/files/${one}`)).status).toBe(204)
  expect((await send('DELETE', `/files/${one}`)).status).toBe(404)
  expect((await lastActs(1))[0]).toEqual(['delete', 'file', 'single.txt'])
})

rule('administration-media.12', 'a crop of a picture becomes a separate file, or replaces it', async () => {
  const folder = await folderOf('Crops')
  const picture = await sharp({ create: { width: 600, height: 400, channels: 3, background: 'red' } })
    .composite([{ input: { create: { width: 300, height: 400, channels: 3, background: 'blue' } }, left: 300, top: 0 }])
    .png()
    .toBuffer()
  const sent = await upload([file(picture, 'flag.png', 'image/png'), ['fileInfo', '{"caption":"Two halves"}'], ['folder', String(folder)]])
  const { id, url } = sent.body.data[0]
  const part = { x: 300, y: 100, width: 250, height: 200 }
  const beside = await send('POST', `/files/${id}/crop`, part)
  expect(beside.status, beside.text).toBe(200)
  const made = beside.body.data
  expect(made).toMatchObject({ name: 'flag.png', caption: 'Two halves', width: 250, height: 200, folder: { id: folder } })
  expect([made.id === id, made.url === url]).toEqual([false, false])
  const bytesAt = async (path: string) => Buffer.from(await (await fetch(served.origin + path)).arrayBuffer())
  const { channels } = await sharp(await bytesAt(made.url)).stats()
  expect(channels.slice(0, 3).map(({ mean }) => Math.round(mean))).toEqual([0, 0, 255])
  expect(await bytesAt(url)).toEqual(picture)
  const instead = await send('POST', `/files/${id}/crop`, { ...part, x: 0, place: 'instead' })
  expect(instead.body.data).toMatchObject({ id, url, width: 250, height: 200, caption: 'Two halves' })
  expect((await sharp(await bytesAt(url)).stats()).channels[0]!.mean).toBe(255)
  const notes = await fileOf('notes.txt')
  const wrong = [
    { ...part, x: 1 },
    { ...part, width: 0 },
    { ...part, x: -1 },
    { ...part, x: 0.5 },
    { x: 0, y: 0, width: 10 },
  ]
  for (const body of wrong) expect((await send('POST', `/files/${id}/crop`, body)).status, JSON.stringify(body)).toBe(400)
  const outside = await send('POST', `/files/${id}/crop`, { ...part, x: 1 })
  expect(outside.body.error.message).toBe('The rectangle is outside the picture (250 x 200)')
  expect(outside.body.error.details.errors.map(({ path }: { path: string[] }) => path)).toEqual([['width'], ['height']])
  const noPicture = await send('POST', `/files/${notes}/crop`, part)
  expect([noPicture.status, noPicture.body.error.message]).toEqual([400, 'The file is not a picture that can be cropped'])
  expect((await send('POST', '/files/999999/crop', part)).status).toBe(404)
  const small = { x: 0, y: 0, width: 10, height: 10 }
  expect((await send('POST', `/files/${id}/crop`, small, signedIn.reader)).status).toBe(403)
  expect((await send('POST', `/files/${id}/crop`, { ...small, place: 'instead' }, signedIn.author)).status).toBe(403)
  expect((await send('POST', `/files/${id}/crop`, small, signedIn.owner)).status).toBe(404)
  const turned = await sharp({ create: { width: 300, height: 100, channels: 3, background: 'red' } })
    .withMetadata({ orientation: 6 })
    .jpeg()
    .toBuffer()
  const upright = (await upload([file(turned, 'turned.jpg', 'image/jpeg')])).body.data[0].id
  const cut = await send('POST', `/files/${upright}/crop`, { x: 0, y: 150, width: 100, height: 150 })
  expect(cut.body.data).toMatchObject({ width: 100, height: 150 })
  const lying = await send('POST', `/files/${upright}/crop`, { x: 0, y: 0, width: 300, height: 100 })
  expect(lying.body.error.message).toBe('The rectangle is outside the picture (100 x 300)')
  const left = readdirSync(join(uploads(), '.octavo'), { recursive: true }) as string[]
  expect(left.filter((name) => /\.(?:part|note)$/.test(name))).toEqual([])
})

rule('administration-media.7', 'uses of a file: by attribute, in components and zones, of what may be read', async () => {
  const id = await fileOf('used.txt')
  const document = async (data: object) => {
    const made = await send('POST', `/content/${page}`, { data })
    if (made.status !== 201) throw new Error(made.text)
    return made.body.data.documentId
  }
  const [cover, hero, zone] = [
    await document({ title: 'Cover', cover: id, gallery: [id] }),
    await document({ title: 'Hero', hero: { image: id } }),
    await document({
      title: 'Zone',
      blocks: [
        { __component: 'block.picture', note: 'x' },
        { __component: 'block.picture', image: id },
      ],
    }),
  ]
  await document({ title: 'Other' })
  const usesFor = async (by: SignedIn) => {
    const { status, body, text: all } = await get(`/files/${id}/uses`, by)
    expect(status, all).toBe(200)
    return Object.fromEntries(
      body.data.map(({ path, documents }: { path: string; documents: { documentId: string; name?: string }[] }) => [
        path,
        documents.map(({ documentId, name }) => [documentId, name]),
      ]),
    )
  }
  expect(await usesFor(ada)).toEqual({
    cover: [[cover, 'Cover']],
    gallery: [[cover, 'Cover']],
    'hero.image': [[hero, 'Hero']],
    'blocks.image': [[zone, 'Zone']],
  })
  expect(await usesFor(signedIn.reader!)).toEqual({})
  await giveFileRight(served, 'page-reader', 'read')
  await giveRights(served, 'page-reader', [{ action: 'read', subject: page, properties: { fields: ['cover', 'hero.note'] } }])
  await addAdministrator(served, 'page-reader@media.example', ['page-reader'])
  const reader = await signInAdmin(served, 'page-reader@media.example')
  expect(await usesFor(reader)).toEqual({ cover: [[cover, null]] })
  expect((await get('/files/999999/uses')).status).toBe(404)
})

rule('administration-media.8', 'folders are named as in Strapi, and numbered by the highest path_id and one', async () => {
  const [parent, rows] = [await folderOf('Named'), await rowsOf(served, 'upload_folders')]
  const highest = Math.max(...rows.map(({ path_id }) => path_id as number))
  const made = await send('POST', '/folders', { name: 'Inner', parent })
  const [outer] = rows.filter(({ id }) => id === parent)
  expect(made.body.data).toMatchObject({ name: 'Inner', parent, path: `${outer!.path}/${highest + 1}` })
  const ada1 = await idOf('ada@media.example')
  const [row] = (await rowsOf(served, 'upload_folders')).filter(({ id }) => id === made.body.data.id)
  expect(row).toMatchObject({ path_id: highest + 1, created_by_id: ada1, updated_by_id: ada1 })
  const wrong = [
    { name: 'Inner', parent },
    { name: 'a/b' },
    { name: ' x' },
    { name: '' },
    { name: 'x', parent: 999_999 },
    { name: 'x', path: '/1' },
  ]
  for (const body of wrong) expect((await send('POST', '/folders', body)).status, JSON.stringify(body)).toBe(400)
  const nowhere = [
    [await send('POST', '/folders', { name: 'x', parent: 999_999 }), 'parent'],
    [await send('PATCH', `/folders/${parent}`, { parent: 999_999 }), 'parent'],
    [await send('PATCH', `/folders/${parent}`, { parent }), 'parent'],
    [await send('POST', '/files/bulk', { action: 'move', folders: [parent], folder: 999_999 }), 'folder'],
    [await send('POST', '/files/bulk', { action: 'move', folders: [parent], folder: parent }), 'folder'],
  ] as const
  for (const [{ body }, field] of nowhere) expect(body.error.details.errors[0].path).toEqual([field])
  expect((await send('POST', '/folders', { name: 'Inner' })).status).toBe(201)
  expect(names(await get(`/folders?parent=${parent}`))).toEqual(['Inner'])
  expect(names(await get('/folders?parent=root'))).toContain('Named')
  expect(names(await get('/folders?q=NAME'))).toEqual(['Named'])
  const first = await get('/folders?limit=1')
  const second = await get(`/folders?limit=1&after=${first.body.meta.next}`)
  expect(second.body.data[0].id).toBeGreaterThan(first.body.data[0].id)
  expect((await get(`/folders?parent=root&limit=1&after=${first.body.meta.next}`)).status).toBe(400)
  await Promise.all(Array.from({ length: 8 }, (_, index) => folderOf(`At once ${index}`)))
  const numbers = (await rowsOf(served, 'upload_folders')).map(({ path_id }) => path_id)
  expect(new Set(numbers).size).toBe(numbers.length)
})

rule('administration-media.9', 'a folder moves with its content, and never into itself', async () => {
  const a = await folderOf('A')
  const b = await folderOf('B', a)
  const c = await folderOf('C', b)
  const deep = await fileOf('deep.txt', { folder: c })
  const pathOf = async (id: number) => (await get(`/folders/${id}`)).body.data.path
  const [unchanged, acts] = [await rowsOf(served, 'upload_folders'), await lastActs(1)]
  expect((await send('PATCH', `/folders/${b}`, {}, signedIn.editor)).status).toBe(200)
  expect([await rowsOf(served, 'upload_folders'), await lastActs(1)]).toEqual([unchanged, acts])
  const moved = await send('PATCH', `/folders/${b}`, { name: 'B2', parent: null })
  expect(moved.body.data).toMatchObject({ name: 'B2', parent: null })
  expect(await pathOf(c)).toBe(`${moved.body.data.path}/${(await pathOf(c)).split('/').at(-1)}`)
  expect((await stored(deep))!.folder_path).toBe(await pathOf(c))
  const links = await served.sql('SELECT folder_id FROM upload_folders_parent_lnk WHERE folder_id = ?', b)
  expect(links).toEqual([])
  for (const parent of [b, c]) expect((await send('PATCH', `/folders/${b}`, { parent })).status).toBe(400)
  expect((await send('POST', '/files/bulk', { action: 'move', folders: [b], folder: c })).status).toBe(400)
  const answers = await Promise.all([send('PATCH', `/folders/${a}`, { parent: b }), send('PATCH', `/folders/${b}`, { parent: a })])
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 400])
  const rows = await rowsOf(served, 'upload_folders')
  const parents = new Map(
    (await rowsOf(served, 'upload_folders_parent_lnk')).map(({ folder_id, inv_folder_id }) => [folder_id, inv_folder_id]),
  )
  for (const row of rows) {
    const parent = rows.find(({ id }) => id === parents.get(row.id as number))
    expect(row.path).toBe(`${parent?.path ?? ''}/${row.path_id}`)
  }
  expect((await stored(deep))!.folder_path).toBe(await pathOf(c))
})

rule('administration-media.9', 'a path that its column cannot hold is refused', async () => {
  const top = await folderOf('Top')
  const [{ path_id }] = (await served.sql('SELECT path_id FROM upload_folders WHERE id = ?', top)) as [{ path_id: number }]
  const long = `/${'1/'.repeat(125)}${path_id}`
  await served.sql('UPDATE upload_folders SET path = ? WHERE id = ?', long, top)
  expect((await send('POST', '/folders', { name: 'Too deep', parent: top })).status).toBe(400)
  await served.sql('UPDATE upload_folders SET path = ? WHERE id = ?', `/${path_id}`, top)
})

rule('administration-media.10', 'a folder is deleted with its content only if that is said', async () => {
  const outer = await folderOf('Outer')
  const inner = await folderOf('Inner of outer', outer)
  const id = await fileOf('inside.txt', { folder: inner })
  const row = await stored(id)
  expect((await send('DELETE', `/folders/${outer}`)).status).toBe(400)
  expect((await send('DELETE', `/folders/${inner}`)).status).toBe(400)
  expect((await send('DELETE', `/folders/${outer}?withContent=true`)).status).toBe(204)
  expect(await stored(id)).toBeUndefined()
  expect(existsSync(join(uploads(), `${row!.hash}${row!.ext}`))).toBe(false)
  expect((await get(`/folders/${inner}`)).status).toBe(404)
  expect((await send('DELETE', `/folders/${outer}`)).status).toBe(404)
  const large = await folderOf('Large')
  const sample = await fileOf('many.txt', { folder: large })
  const digits = `(SELECT 0 AS d ${Array.from({ length: 9 }, (_, digit) => `UNION ALL SELECT ${digit + 1} `).join('')})`
  await served.sql(
    `INSERT INTO files (document_id, name, hash, ext, mime, size, url, provider, folder_path)
       SELECT 'many' || a.d || b.d || c.d || e.d, name, 'many' || a.d || b.d || c.d || e.d, ext, mime, size, url, provider, folder_path
       FROM files, ${digits} a, ${digits} b, ${digits} c, ${digits} e WHERE files.id = ? AND e.d < 2`,
    sample,
  )
  await served.sql(`INSERT INTO files_folder_lnk (file_id, folder_id) SELECT id, ${large} FROM files WHERE document_id LIKE 'many%'`)
  expect((await send('DELETE', `/folders/${large}?withContent=true`)).status).toBe(400)
  await served.sql("DELETE FROM files WHERE document_id LIKE 'many%'")
  expect((await send('DELETE', `/folders/${large}?withContent=true`)).status).toBe(204)
  const empty = await folderOf('Empty')
  expect((await send('DELETE', `/folders/${empty}`)).status).toBe(204)
  await served.sql(
    `UPDATE strapi_sessions SET metadata = ? WHERE user_id = ?`,
    '{"passwordAt":"2020-01-01T00:00:00.000Z"}',
    String(await idOf('editor@media.example')),
  )
  const strong = await send('DELETE', `/folders/${large}?withContent=true`, undefined, signedIn.editor)
  expect(strong.body.error.details).toEqual({ reason: 'password' })
  expect((await send('POST', '/files/bulk', { action: 'delete', files: [id] }, signedIn.editor)).status).toBe(403)
})

rule('administration-media.10', 'files that come into a folder while it is deleted are deleted, or the folder stays', async () => {
  for (let round = 0; round < 5; round++) {
    const folder = await folderOf(`Race ${round}`)
    await fileOf('first.txt', { folder })
    const [deleted, added] = await Promise.all([
      send('DELETE', `/folders/${folder}?withContent=true`),
      upload([text('late.txt'), ['folder', String(folder)]]),
    ])
    expect([201, 400]).toContain(added.status)
    expect(deleted.status, deleted.text).toBe(204)
    const left = (await rowsOf(served, 'files')).filter(({ name }) => name === 'late.txt')
    expect(left).toEqual([])
  }
})

type Verb = 'list' | 'get' | 'uses' | 'folders' | 'upload' | 'folder' | 'patch' | 'move' | 'replace' | 'delete' | 'rename' | 'remove'
const verbs: readonly Verb[] = [
  'list',
  'get',
  'uses',
  'folders',
  'upload',
  'folder',
  'patch',
  'move',
  'replace',
  'delete',
  'rename',
  'remove',
]

async function request(by: SignedIn, verb: Verb, id: number, folder: number): Promise<TestResponse> {
  switch (verb) {
    case 'list':
      return get(`/files?folder=${folder}`, by)
    case 'get':
      return get(`/files/${id}`, by)
    case 'uses':
      return get(`/files/${id}/uses`, by)
    case 'folders':
      return get(`/folders/${folder}`, by)
    case 'upload':
      return upload([text('matrix.txt')], by)
    case 'folder':
      return send('POST', '/folders', { name: `Matrix ${Math.random()}` }, by)
    case 'patch':
      return send('PATCH', `/files/${id}`, { caption: 'x' }, by)
    case 'move':
      return send('POST', '/files/bulk', { action: 'move', files: [id], folder }, by)
    case 'replace':
      return sendForm(served, `/files/${id}/replace`, [text('matrix.txt')], by)
    case 'delete':
      return send('DELETE', `/files/${id}`, undefined, by)
    case 'rename':
      return send('PATCH', `/folders/${folder}`, { name: `Renamed ${Math.random()}` }, by)
    case 'remove':
      return send('DELETE', `/folders/${folder}?withContent=true`, undefined, by)
  }
}
const said = (verb: Verb, { status, body }: TestResponse): string =>
  verb === 'list' && status === 200 ? `200 ${body.data.length}` : String(status)
const all = ['200 1', '200', '200', '200', '201', '201', '200', '204', '200', '204', '200', '204']
const hidden = ['200 0', '404', '404', '200', '201', '201', '404', '404', '404', '404', '403', '403']
const refused = verbs.map(() => '403')

/** Each role with files and folders of its administrator and of others. */
const matrix: readonly (readonly [role: string, whose: 'own' | 'others', says: readonly string[]])[] = [
  ['editor', 'own', all],
  ['editor', 'others', all],
  ['author', 'own', all],
  ['author', 'others', ['200 1', '200', '200', '200', '201', '201', '403', '403', '403', '403', '403', '403']],
  ['owner', 'own', all],
  ['owner', 'others', hidden],
  ['colleague', 'own', all],
  ['colleague', 'others', hidden],
  ['reader', 'others', ['200 1', '200', '200', '200', '403', '403', '403', '403', '403', '403', '403', '403']],
  ['blind', 'own', ['403', '403', '403', '403', '403', '403', '404', '404', '404', '404', '403', '403']],
  ['unknown', 'own', refused],
  ['none', 'own', refused],
]

for (const [role, whose, says] of matrix)
  rule('administration-media.11', `${role} with ${whose} files and folders`, async () => {
    await served.sql(
      'UPDATE strapi_sessions SET metadata = ? WHERE origin = ?',
      JSON.stringify({ passwordAt: new Date().toISOString() }),
      'admin',
    )
    const by = await signInAdmin(served, `${role}@media.example`)
    const creator = whose === 'own' ? await idOf(`${role}@media.example`) : await idOf('ada@media.example')
    const answers: string[] = []
    for (const verb of verbs) {
      const folder = await folderOf(`Of ${role} ${whose} ${verb}`)
      const id = await fileOf('mine.txt', { folder })
      await served.sql('UPDATE files SET created_by_id = ? WHERE id = ?', creator as number, id)
      await served.sql('UPDATE upload_folders SET created_by_id = ? WHERE id = ?', creator as number, folder)
      const acts = (await rowsOf(served, 'octavo_activity')).length
      const answer = await request(by, verb, id, folder)
      answers.push(said(verb, answer))
      const isWrite = answer.status < 300 && !['list', 'get', 'uses', 'folders'].includes(verb)
      const noted = (await rowsOf(served, 'octavo_activity')).length - acts
      expect(noted > 0, `${verb} is noted`).toBe(isWrite)
    }
    expect(answers).toEqual(says)
  })

rule(
  'administration-media.11',
  'administrators who share a role with the creator may, and a folder is only deleted with files that may be deleted',
  async () => {
    const other = signedIn.other!
    const colleague = await signInAdmin(served, 'colleague@media.example')
    const id = await fileOf('shared.txt', { by: other })
    expect((await get(`/files/${id}`, colleague)).body.data).toMatchObject({ name: 'shared.txt', may: ['update', 'download', 'copyLink'] })
    const folder = await folderOf('Of colleague', null, colleague)
    const foreign = await fileOf('foreign.txt', { folder })
    expect((await send('DELETE', `/folders/${folder}?withContent=true`, undefined, colleague)).status).toBe(403)
    expect(await stored(foreign)).toBeDefined()
    expect((await get(`/files/total?folder=${folder}`, colleague)).body.data.total).toBe(0)
    expect(names(await get(`/files?q=foreign`, colleague))).toEqual([])
    await allowAdmins(served, 'late-role', 'plugin::upload.read')
  },
)

rule('administration-media.11', 'files that may not be seen are as safe in a folder as by themselves', async () => {
  for (const [code, rights] of Object.entries({
    mole: [['read', ['admin::is-creator']], ['assets.update']],
    keeper: [['assets.update']],
  })) {
    for (const [action, conditions] of rights) await giveFileRight(served, code, action as string, conditions as string[] | undefined)
    await addAdministrator(served, `${code}@media.example`, [code])
  }
  const [mole, keeper] = [await signInAdmin(served, 'mole@media.example'), await signInAdmin(served, 'keeper@media.example')]
  const folder = await folderOf('Safe')
  const deeper = await folderOf('Deeper', folder)
  const id = await fileOf('unseen.txt', { folder: deeper })
  const absent = id + 1_000_000
  for (const ofFile of [id, absent]) {
    for (const [method, path, body] of [
      ['GET', `/files/${ofFile}`],
      ['PATCH', `/files/${ofFile}`, { caption: 'x' }],
      ['DELETE', `/files/${ofFile}`],
      ['POST', '/files/bulk', { action: 'delete', files: [ofFile] }],
      ['POST', '/files/bulk', { action: 'delete', files: [ofFile], folders: [folder] }],
      ['POST', '/files/bulk', { action: 'move', files: [ofFile], folder: null }],
    ] as const) {
      const refused = await send(method, path, body, mole)
      expect([refused.status, refused.body.error.message], `${method} ${path}`).toEqual([404, 'File not found'])
    }
  }
  for (const of of [folder, deeper]) {
    for (const refused of [
      await send('DELETE', `/folders/${of}?withContent=true`, undefined, mole),
      await send('POST', '/files/bulk', { action: 'delete', folders: [of], withContent: true }, mole),
    ]) {
      expect(refused.status, refused.text).toBe(403)
      expect(refused.text).not.toContain('unseen')
    }
  }
  for (const at of [folder, absent]) {
    for (const [method, path, body] of [
      ['GET', `/folders/${at}`],
      ['POST', '/folders', { name: 'Blind', parent: at }],
      ['PATCH', `/folders/${at}`, { name: 'Blind' }],
      ['DELETE', `/folders/${at}`],
      ['DELETE', `/folders/${at}?withContent=true`],
      ['POST', '/files/bulk', { action: 'delete', folders: [at], withContent: true }],
      ['POST', '/files/bulk', { action: 'move', folders: [at], folder: null }],
      ['POST', '/files/bulk', { action: 'move', folder: at }],
    ] as const)
      expect((await send(method, path, body, keeper)).status, `${method} ${path}`).toBe(403)
  }
  expect(await stored(id)).toBeDefined()
  expect((await send('DELETE', `/folders/${folder}?withContent=true`, undefined, signedIn.editor)).status).toBe(204)
})
