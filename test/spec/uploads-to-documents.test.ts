// Files linked to a document by a form, to any of its rows or to the document itself, are in all of its versions and stay.
import { afterAll, beforeAll, describe, expect } from 'vitest'
import { rule } from '../support/rule.js'
import { type Served, serveProject } from '../support/serve.js'
import { file, formOf } from '../uploads/sending.js'
import { addGerman, addToken, secrets, sending } from './callers.js'
import { component, contentType } from './library.js'

const own = { pluginOptions: { i18n: { localized: true } } }
const files = { cover: { type: 'media' }, gallery: { type: 'media', multiple: true } }
const project = {
  ...component('part', 'inner', { text: { type: 'string' }, picture: { type: 'media' } }),
  ...component('part', 'frame', {
    text: { type: 'string' },
    pictures: { type: 'media', multiple: true },
    inner: { type: 'component', component: 'part.inner' },
  }),
  ...contentType('note', { title: { type: 'string' }, ...files }),
  ...contentType('home', { title: { type: 'string' }, ...files }, { kind: 'singleType', draftAndPublish: true }),
  ...contentType(
    'post',
    { title: { type: 'string' }, ...files, frames: { type: 'component', component: 'part.frame', repeatable: true } },
    { draftAndPublish: true },
  ),
  ...contentType(
    'page',
    { title: { type: 'string', ...own }, gallery: { ...files.gallery, ...own }, shared: { type: 'media', multiple: true } },
    { draftAndPublish: true, localized: true },
  ),
}

describe.each(['specification', 'strapi'] as const)('contract %s', (contract) => {
  let served: Served
  beforeAll(async () => {
    served = await serveProject(project, { environment: secrets, config: { api: { rest: { contract } } } })
    await addToken(served, 'everything', { type: 'full-access' })
    await addGerman(served)
  })
  afterAll(() => served?.close())

  const send = sending(() => served, 'everything')
  const upload = (ref: string, refId: string | number, field: string, query = '') =>
    served.request(`/api/upload${query}`, {
      ...{ method: 'POST', token: 'everything' },
      body: formOf([file('a', 'a.txt', 'text/plain'), ['ref', ref], ['refId', String(refId)], ['field', field]]),
    })
  async function linked(ref: string, refId: string | number, field: string, query = ''): Promise<number> {
    const { status, body, text } = await upload(ref, refId, field, query)
    expect(status, text).toBe(201)
    return body[0].id
  }
  const idsOf = (value: unknown) => [value ?? []].flat().map((one) => (one as { id: number }).id)
  /** The files of an attribute in the draft and in the published version. */
  const both = async (path: string, field: string, query = '') => {
    const read = async (status: string) => idsOf((await send('GET', `${path}?populate=${field}&status=${status}${query}`))[field])
    return [await read('draft'), await read('published')]
  }

  rule('uploads.20', 'a row of either version and the documentId link a file to both versions, and it stays', async () => {
    const post = await send('POST', 'posts', { title: 'a' })
    const path = `posts/${post.documentId}`
    const { id: draft } = await send('GET', `${path}?status=draft`)
    const gallery: number[] = []
    for (const refId of [post.id, draft, post.documentId]) {
      gallery.push(await linked('api::post.post', refId, 'gallery'))
      expect(await both(path, 'gallery')).toEqual([gallery, gallery])
      const cover = await linked('api::post.post', refId, 'cover')
      expect(await both(path, 'cover')).toEqual([[cover], [cover]])
      await send('PUT', path, { title: `b ${refId}` })
      await send('POST', `${path}/actions/publish`)
      expect([await both(path, 'gallery'), await both(path, 'cover')]).toEqual([
        [gallery, gallery],
        [[cover], [cover]],
      ])
    }
    const home = await send('PUT', 'home', { title: 'a' })
    const picture = await linked('api::home.home', home.documentId, 'cover')
    await send('PUT', 'home', { title: 'b' })
    expect(await both('home', 'cover')).toEqual([[picture], [picture]])
  })

  rule('uploads.20', 'a draft that is not published, and a type without drafts, have one row to link to', async () => {
    const { documentId } = await send('POST', 'posts?status=draft', { title: 'a' })
    const picture = await linked('api::post.post', documentId, 'cover')
    expect(idsOf((await send('GET', `posts/${documentId}?status=draft&populate=cover`)).cover)).toEqual([picture])
    await send('POST', `posts/${documentId}/actions/publish`)
    expect(await both(`posts/${documentId}`, 'cover')).toEqual([[picture], [picture]])
    const note = await send('POST', 'notes', { title: 'a' })
    const gallery = [await linked('api::note.note', note.id, 'gallery'), await linked('api::note.note', note.documentId, 'gallery')]
    await send('PUT', `notes/${note.documentId}`, { title: 'b' })
    expect(idsOf((await send('GET', `notes/${note.documentId}?populate=gallery`)).gallery)).toEqual(gallery)
  })

  rule('uploads.20', 'a localized attribute has it in the locale of the row or of the query, a shared one in all', async () => {
    const page = await send('POST', 'pages', { title: 'en' })
    const path = `pages/${page.documentId}`
    const german = await send('PUT', `${path}?locale=de`, { title: 'de' })
    const inGerman = [
      await linked('api::page.page', german.id, 'gallery'),
      await linked('api::page.page', page.documentId, 'gallery', '?locale=de'),
    ]
    const inEnglish = [await linked('api::page.page', page.documentId, 'gallery')]
    const shared = [await linked('api::page.page', page.id, 'shared'), await linked('api::page.page', german.id, 'shared')]
    await send('PUT', path, { title: 'new' })
    await send('PUT', `${path}?locale=de`, { title: 'neu' })
    for (const [locale, gallery] of [
      ['en', inEnglish],
      ['de', inGerman],
    ] as const) {
      expect(await both(path, 'gallery', `&locale=${locale}`)).toEqual([gallery, gallery])
      expect(await both(path, 'shared', `&locale=${locale}`)).toEqual([shared, shared])
    }
  })

  rule('uploads.20', 'an entry of a component selects those at its position with its values', async () => {
    const { documentId } = await send('POST', 'posts', { title: 'a', frames: [{ text: 'x' }, { text: 'y', inner: { text: 'z' } }] })
    const populate = 'populate[frames][populate][pictures]=true&populate[frames][populate][inner][populate]=picture'
    const frames = async (status: string) => (await send('GET', `posts/${documentId}?${populate}&status=${status}`)).frames
    const shown = async (status: string) =>
      (await frames(status)).map((frame: { pictures: unknown; inner: { picture: unknown } | null }) => [
        idsOf(frame.pictures),
        idsOf(frame.inner?.picture),
      ])
    const [live, drafts] = [await frames('published'), await frames('draft')]
    const pictures = [await linked('part.frame', live[1].id, 'pictures'), await linked('part.frame', drafts[1].id, 'pictures')]
    const inner = await linked('part.inner', live[1].inner.id, 'picture')
    const expected = [
      [[], []],
      [pictures, [inner]],
    ]
    expect([await shown('draft'), await shown('published')]).toEqual([expected, expected])
    await send('PUT', `posts/${documentId}`, { title: 'b' })
    expect([await shown('draft'), await shown('published')]).toEqual([expected, expected])
    await send('PUT', `posts/${documentId}?status=draft`, { frames: [{ text: 'new' }, { text: 'newer' }] })
    const alone = await linked('part.frame', (await frames('draft'))[1].id, 'pictures')
    expect([await shown('draft'), await shown('published')]).toEqual([
      [
        [[], []],
        [[alone], []],
      ],
      expected,
    ])
  })

  rule('uploads.20', 'a missing target is refused', async () => {
    const page = await send('POST', 'pages', { title: 'en' })
    for (const [ref, refId, query] of [
      ['api::post.post', 'none', ''],
      ['api::post.post', page.documentId, ''],
      ['api::post.post', '0x1', ''],
      ['api::post.post', '-1', ''],
      ['api::post.post', '9'.repeat(30), ''],
      ['api::post.post', 'x'.repeat(5_000), ''],
      ['api::page.page', page.documentId, '?locale=de'],
    ] as const) {
      const { status, body } = await upload(ref, refId, 'gallery', query)
      expect([status, body.error.message]).toEqual([400, 'No entry with this refId'])
    }
    const { status, body } = await upload('part.frame', page.documentId, 'pictures')
    expect([status, body.error.message]).toEqual([400, 'No entry with this refId'])
  })
})
