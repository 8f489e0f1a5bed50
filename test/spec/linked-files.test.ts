// Files of the media library that administrators may link to, at every position and by every way in which data is written.
import { afterAll, beforeAll, expect } from 'vitest'
import { rule } from '../support/rule.js'
import { type Served, serveProject, type TestResponse } from '../support/serve.js'
import { file, formOf } from '../uploads/sending.js'
import { addToken, secrets } from './callers.js'
import { giveFileRight } from './media-client.js'
import { type AdminClient, giveRights, type RightRow, signInClient } from './newsroom.js'

const page = 'api::page.page'
const pages = `/content/${page}`
const perLocale = { pluginOptions: { i18n: { localized: true } } }
const project = {
  'src/components/block/inner.json': {
    collectionName: 'components_block_inners',
    info: { displayName: 'Inner' },
    attributes: { image: { type: 'media' } },
  },
  'src/components/block/picture.json': {
    collectionName: 'components_block_pictures',
    info: { displayName: 'Picture' },
    attributes: {
      image: { type: 'media' },
      note: { type: 'string' },
      inner: { type: 'component', component: 'block.inner', repeatable: true },
    },
  },
  'src/api/page/content-types/page/schema.json': {
    kind: 'collectionType',
    collectionName: 'pages',
    info: { singularName: 'page', pluralName: 'pages', displayName: 'Page' },
    options: { draftAndPublish: true },
    pluginOptions: { i18n: { localized: true } },
    attributes: {
      title: { type: 'string', ...perLocale },
      count: { type: 'integer', ...perLocale },
      cover: { type: 'media', ...perLocale },
      gallery: { type: 'media', multiple: true, ...perLocale },
      hidden: { type: 'media', multiple: true, ...perLocale },
      sheet: { type: 'relation', relation: 'oneToOne', target: 'plugin::upload.file', ...perLocale },
      hero: { type: 'component', component: 'block.picture', ...perLocale },
      blocks: { type: 'dynamiczone', components: ['block.picture', 'block.inner'], ...perLocale },
    },
  },
}

let served: Served
let ada: AdminClient
const clients: Record<string, AdminClient> = {}
const ids: number[] = []
const documentIds: string[] = []
/** Files of another administrator, and of the one with conditions; and ids of missing files. */
let [theirs, others, own, absent] = [0, 0, 0, 0]

beforeAll(async () => {
  served = await serveProject(project, { environment: secrets, config: { limits: { authRateLimit: 0, historyInterval: 0 } } })
  if ((await served.sql('SELECT code FROM i18n_locale WHERE code = ?', 'de')).length === 0)
    await served.sql(
      'INSERT INTO i18n_locale (document_id, code, name, created_at, updated_at) VALUES (?, ?, ?, ?, ?) RETURNING id',
      ...['de-locale', 'de', 'German (de)', Date.now(), Date.now()],
    )
  await addToken(served, 'everything', { type: 'full-access' })
  ada = await signInClient(served, 'ada@links.example')
  const acts = ['read', 'create', 'update', 'publish'] as const
  const content = acts.map((action): RightRow => ({ action, subject: page, properties: { locales: null } }))
  const fields = Object.keys(project['src/api/page/content-types/page/schema.json'].attributes)
  const seen: RightRow = {
    action: 'read',
    subject: page,
    properties: { locales: null, fields: fields.filter((name) => name !== 'hidden') },
  }
  const roles: Record<string, readonly (readonly string[])[]> = { owner: [['admin::is-creator']], reader: [[]], stranger: [] }
  for (const [code, conditions] of Object.entries(roles)) {
    for (const one of conditions) await giveFileRight(served, code, 'read', one)
    await giveRights(served, code, code === 'reader' ? content : [...content.slice(1), seen])
    clients[code] = await signInClient(served, `${code}@links.example`, [code])
  }
  const sent = await served.request('/api/upload', {
    ...{ method: 'POST', token: 'everything' },
    body: formOf(['a', 'b', 'c'].map((name) => file(name, `${name}.txt`, 'text/plain'))),
  })
  for (const { id, documentId } of sent.body) {
    ids.push(id)
    documentIds.push(documentId)
  }
  ;[theirs, others, own] = ids as [number, number, number]
  absent = 900_000
  await served.sql('UPDATE files SET created_by_id = ? WHERE id = ?', clients.owner!.id, own)
})
afterAll(() => served?.close())

/** Data that links a file at one place. */
const places: Readonly<Record<string, (name: unknown) => Record<string, unknown>>> = {
  cover: (name) => ({ cover: name }),
  gallery: (name) => ({ gallery: [own, name] }),
  'gallery, as an object': (name) => ({ gallery: { set: [typeof name === 'number' ? { id: name } : { documentId: name }] } }),
  sheet: (name) => ({ sheet: name }),
  hero: (name) => ({ hero: { image: name } }),
  'hero, deeper': (name) => ({ hero: { note: 'x', inner: [{}, { image: name }] } }),
  blocks: (name) => ({ blocks: [{ __component: 'block.inner' }, { __component: 'block.picture', image: name }] }),
  'blocks, deeper': (name) => ({ blocks: [{ __component: 'block.picture', inner: [{ image: name }] }] }),
}

const create = (client: AdminClient, data: object) => client.send('POST', pages, { data })
async function made(data: object): Promise<string> {
  const answer = await create(ada, data)
  if (answer.status !== 201) throw new Error(answer.text)
  return answer.body.data.documentId
}
const revisionOf = async (id: string, locale = 'en') => ({
  'if-match': (await ada.get(`${pages}/${id}?locale=${locale}`)).headers.get('etag')!,
})
const change = async (client: AdminClient, id: string, changes: object) =>
  client.send('PATCH', `${pages}/${id}`, { changes }, await revisionOf(id))

/** A response without file names of the request, and without values that differ each time. */
const worded = ({ status, text }: TestResponse, name: number | string): string =>
  `${status} ${text.replaceAll(typeof name === 'string' ? name : new RegExp(`(?<=[:[,])${name}(?=[\\]},])`, 'g'), '?')}`

rule('rights.17', 'a file that may not be seen cannot be linked, in the words of one that is not there', async () => {
  const id = await made({ title: 'A page' })
  const documentOf = (row: number) => documentIds[ids.indexOf(row)]!
  for (const client of [clients.owner!, clients.stranger!]) {
    for (const [place, dataFor] of Object.entries(places).slice(client === clients.owner ? 0 : -2)) {
      const at = (name: unknown) =>
        client === clients.owner ? dataFor(name) : JSON.parse(JSON.stringify(dataFor(name)).replace(`[${own},`, '['))
      for (const [file, none] of [
        [theirs, absent],
        [documentOf(theirs), 'a'.repeat(24)],
      ] as const) {
        for (const more of [{}, { count: 'no number' }]) {
          const where = `${place} ${typeof file} ${JSON.stringify(more)}`
          const refused = await create(client, { ...at(file), ...more })
          expect(refused.status, where).toBe(400)
          expect(worded(refused, file), where).toBe(worded(await create(client, { ...at(none), ...more }), none))
          const changed = await change(client, id, { ...at(file), ...more })
          expect(changed.status, where).toBe(400)
          expect(worded(changed, file), where).toBe(worded(await change(client, id, { ...at(none), ...more }), none))
        }
      }
    }
    const both = await create(client, { gallery: [theirs, absent], cover: others })
    // One for each attribute that names one of them.
    const messages = both.body.error.details.errors.map(({ message }: { message: string }) => message)
    expect(messages).toEqual([expect.stringMatching(/^3 relation\(s\) of type plugin::upload\.file/), messages[0]])
  }
  expect((await served.sql('SELECT id FROM pages')).length).toBe(1)
})

rule(
  'rights.17',
  'administrators may link to files that they see; so may super administrators, and callers of the content API',
  async () => {
    for (const [place, dataFor] of Object.entries(places)) {
      expect((await create(clients.owner!, dataFor(own))).status, place).toBe(201)
      expect((await create(clients.reader!, dataFor(theirs))).status, place).toBe(201)
      expect((await create(ada, dataFor(theirs))).status, place).toBe(201)
      const body = JSON.stringify({ data: dataFor(theirs) })
      const headers = { 'content-type': 'application/json' }
      expect((await served.request('/api/pages', { method: 'POST', token: 'everything', headers, body })).status, place).toBe(201)
    }
  },
)

rule('rights.17', 'links that are there stay, and may be sent again to the same place alone', async () => {
  const id = await made({
    ...{ title: 'Linked', cover: theirs, gallery: [theirs, others], sheet: theirs, hidden: [theirs] },
    hero: { image: theirs, note: 'n', inner: [{ image: theirs }, {}] },
    blocks: [{ __component: 'block.picture', image: theirs, inner: [{ image: others }] }, { __component: 'block.inner' }],
  })
  const read = async (client = ada) => (await client.get(`${pages}/${id}`)).body.data.draft
  const stranger = clients.stranger!
  const { hero, blocks } = await read(stranger)
  const first = (entry: { image: { id: number } }) => ({ ...entry, image: entry.image?.id ?? null })
  const whole = {
    ...{ title: 'Saved', cover: theirs, gallery: [others, theirs] },
    hero: { ...first(hero), inner: hero.inner.map(first) },
    blocks: blocks.map((block: never) => ({
      ...first(block),
      ...('inner' in block ? { inner: (block as { inner: never[] }).inner.map(first) } : {}),
    })),
  }
  const saved = await change(stranger, id, whole)
  expect(saved.status, saved.text).toBe(200)
  const after = await read()
  expect([after.title, after.cover.id, after.gallery.map((one: { id: number }) => one.id)]).toEqual(['Saved', theirs, [others, theirs]])
  expect([after.hero.image.id, after.hero.inner[0].image.id, after.blocks[0].image.id]).toEqual([theirs, theirs, theirs])
  expect(after.blocks[0].inner[0].image.id).toBe(others)
  for (const kept of [{ 'hero/note': 'x' }, { 'hero/inner/0/image': theirs }, { 'blocks/0/image': theirs }, { cover: documentIds[0] }])
    expect((await change(stranger, id, kept)).status, JSON.stringify(kept)).toBe(200)
  for (const added of [
    { cover: others },
    { gallery: [theirs, others, own] },
    { 'hero/image': others },
    { 'hero/inner/1/image': theirs },
    { 'blocks/0/image': others },
    { hero: { image: theirs } },
    { hero: { ...whole.hero, id: blocks[0].id } },
    { blocks: [{ __component: 'block.picture', image: theirs }] },
    { hidden: [theirs] },
    { sheet: theirs },
  ])
    expect((await change(stranger, id, added)).status, JSON.stringify(added)).toBe(400)
  expect(await read()).toMatchObject({ cover: { id: theirs }, hidden: [{ id: theirs }] })
  const fewer = await change(stranger, id, { gallery: [theirs], cover: null })
  expect(fewer.status, fewer.text).toBe(200)
  expect((await change(stranger, id, { cover: theirs })).status).toBe(400)
  const german = await stranger.send('PATCH', `${pages}/${id}?locale=de`, { changes: { gallery: [theirs] } }, { 'if-none-match': '*' })
  expect(german.status).toBe(400)
  expect((await stranger.send('POST', `${pages}/${id}/publish`, undefined, await revisionOf(id))).status).toBe(200)
})

rule('rights.17', 'copies, other locales and the history give links that their reader has seen', async () => {
  const data = {
    ...{ title: 'Copied', cover: theirs, gallery: [theirs, others], sheet: theirs },
    hero: { image: theirs, inner: [{ image: others }] },
    blocks: [{ __component: 'block.picture', image: theirs }],
  }
  const id = await made(data)
  const stranger = clients.stranger!
  const at = `${pages}/${id}`
  const isWhole = ({ cover, gallery, hero, blocks }: TestResponse['body']) =>
    expect([cover.id, gallery.length, hero.image.id, hero.inner[0].image.id, blocks[0].image.id]).toEqual([
      theirs,
      2,
      theirs,
      others,
      theirs,
    ])
  const clone = await stranger.send('POST', `${at}/clone`, { data: { title: 'A clone' } })
  expect(clone.status, clone.text).toBe(201)
  isWhole(clone.body.data.draft)
  const fields = ['cover', 'gallery', 'hero', 'blocks']
  const filled = await stranger.send('POST', `${at}/fill?locale=de`, { from: 'en', fields }, { 'if-none-match': '*' })
  expect(filled.status, filled.text).toBe(200)
  isWhole(filled.body.data.draft)
  const bare = await made({ title: 'Bare' })
  expect((await stranger.send('POST', `${pages}/${bare}/clone`, { data: { cover: theirs } })).status).toBe(400)
  expect((await change(stranger, id, { cover: null, gallery: [], hero: null, blocks: [] })).status).toBe(200)
  const [version] = (await stranger.get(`${at}/history`)).body.data
  const restored = await stranger.send('POST', `${at}/history/${version.id}/restore`, {}, await revisionOf(id))
  expect(restored.status, restored.text).toBe(200)
  isWhole(restored.body.data.draft)
})
