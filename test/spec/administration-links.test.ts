// Links, rows of lists and search results as pages show them: names, states, locales and pictures.
import { afterAll, beforeAll, expect } from 'vitest'
import { rule } from '../support/rule.js'
import { type Served, serveProject, type TestResponse } from '../support/serve.js'
import { file } from '../uploads/sending.js'
import { secrets } from './callers.js'
import { type AdminClient, giveRights, signInClient } from './newsroom.js'

const place = 'api::place.place'
const guide = 'api::guide.guide'
const home = 'api::home.home'
const localized = { pluginOptions: { i18n: { localized: true } } }
const files = {
  'src/components/part/stop.json': {
    collectionName: 'components_part_stops',
    info: { displayName: 'Stop' },
    attributes: { metaTitle: { type: 'string' }, place: { type: 'relation', relation: 'oneToOne', target: place } },
  },
  'src/api/place/content-types/place/schema.json': {
    kind: 'collectionType',
    collectionName: 'places',
    info: { singularName: 'place', pluralName: 'places', displayName: 'Place' },
    options: { draftAndPublish: true },
    ...localized,
    attributes: {
      code: { type: 'string', ...localized },
      title: { type: 'string', ...localized },
      // The names of members of a row.
      state: { type: 'string', ...localized },
      locales: { type: 'string', ...localized },
      metaTitle: { type: 'string', ...localized },
      number: { type: 'integer', ...localized },
      notes: { type: 'text', ...localized },
      body: { type: 'blocks', ...localized },
      cover: { type: 'media', multiple: false, ...localized },
      gallery: { type: 'media', multiple: true, ...localized },
      guide: { type: 'relation', relation: 'manyToOne', target: guide, inversedBy: 'places' },
      near: { type: 'relation', relation: 'manyToMany', target: place },
      stops: { type: 'component', component: 'part.stop', repeatable: true, ...localized },
    },
  },
  'src/api/guide/content-types/guide/schema.json': {
    kind: 'collectionType',
    collectionName: 'guides',
    info: { singularName: 'guide', pluralName: 'guides', displayName: 'Guide' },
    options: { draftAndPublish: false },
    attributes: {
      name: { type: 'string' },
      slug: { type: 'uid' },
      phone: { type: 'string' },
      photo: { type: 'media', multiple: false },
      places: { type: 'relation', relation: 'oneToMany', target: place, mappedBy: 'guide' },
    },
  },
  'src/api/home/content-types/home/schema.json': {
    kind: 'singleType',
    collectionName: 'homes',
    info: { singularName: 'home', pluralName: 'homes', displayName: 'Home' },
    options: { draftAndPublish: true },
    attributes: { heading: { type: 'string' } },
  },
}

const places = `/content/${place}`
let served: Served
let ada: AdminClient
let limited: AdminClient
let german: AdminClient
let picture = 0
beforeAll(async () => {
  served = await serveProject(files, { environment: secrets, config: { limits: { authRateLimit: 1_000 } } })
  ada = await signInClient(served, 'ada@office.example')
  await ok(ada.send('POST', '/locales', { code: 'de', name: 'German (de)' }))
  const read = (subject: string, properties: object) => ({ action: 'read' as const, subject, properties })
  await giveRights(served, 'limited', [
    read(place, { fields: ['title', 'near', 'guide', 'stops.place'], locales: null }),
    read(guide, { fields: ['name'] }),
  ])
  await giveRights(served, 'german', [read(place, { locales: ['de'] })])
  limited = await signInClient(served, 'limited@office.example', ['limited'])
  german = await signInClient(served, 'german@office.example', ['german'])
  const png = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==', 'base64')
  picture = (await ok(ada.sendForm('/files', [file(png, 'mill.png', 'image/png')]))).body.data[0].id
  await ok(ada.send('PATCH', `/files/${picture}`, { alternativeText: 'A mill' }))
})
afterAll(() => served?.close())

async function ok(asked: Promise<TestResponse>): Promise<TestResponse> {
  const answer = await asked
  if (answer.status >= 300) throw new Error(answer.text)
  return answer
}
const make = async (data: object, type = place): Promise<string> =>
  (await ok(ada.send('POST', `/content/${type}`, { data }))).body.data.documentId
const at = (id: string, locale = 'en', type = place) => `/content/${type}/${id}?locale=${locale}`
const view = async (id: string, locale = 'en', by = ada) => (await ok(by.get(at(id, locale)))).body.data
const tag = async (id: string, locale = 'en', type = place) => ({
  'if-match': (await ok(ada.get(at(id, locale, type)))).headers.get('etag') ?? '',
})
const change = async (id: string, changes: object, locale = 'en') =>
  ok(ada.send('PATCH', at(id, locale), { changes }, await tag(id, locale)))
const inGerman = (id: string, changes: object) => ok(ada.send('PATCH', at(id, 'de'), { changes }, { 'if-none-match': '*' }))
const publish = async (id: string, locale = 'en') =>
  ok(ada.send('POST', `${places}/${id}/publish?locale=${locale}`, undefined, await tag(id, locale)))
const rows = async (query: string, by = ada) => (await ok(by.get(`${places}?${query}`))).body.data

rule('administration-links.1', 'a link has its name, state, further fields and a thumbnail everywhere', async () => {
  const ana = await make({ name: 'Ana', slug: 'ana', phone: '1', photo: picture }, guide)
  const draft = await make({ title: 'Link draft', code: 'A1', state: 'Hesse', notes: 'x'.repeat(300), cover: picture })
  const changed = await make({ title: 'Link changed' })
  const published = await make({ title: 'Link published' })
  for (const id of [changed, published]) await publish(id)
  await change(changed, { notes: 'more' })
  const near = [draft, changed, published]
  const id = await make({ title: 'Start', guide: ana, near, stops: [{ metaTitle: 's', place: changed }] })
  const { draft: shown } = await view(id)
  const thumbnail = { url: expect.stringMatching(/^\/uploads\/.*png$/), mime: 'image/png', alternativeText: 'A mill', width: 1, height: 1 }
  expect(shown.near).toEqual([
    {
      ...{ id: expect.any(Number), type: place, documentId: draft, locale: 'en', state: 'draft', name: 'Link draft', thumbnail },
      fields: { code: 'A1', state: 'Hesse' },
    },
    expect.objectContaining({ documentId: changed, state: 'changed', thumbnail: null }),
    expect.objectContaining({ documentId: published, state: 'published' }),
  ])
  expect(shown.guide).toEqual({
    ...{ id: expect.any(Number), type: guide, documentId: ana, locale: null, name: 'Ana', thumbnail },
    fields: { phone: '1' },
  })
  expect(shown.stops).toMatchObject([{ metaTitle: 's', place: { name: 'Link changed', state: 'changed' } }])
  const choices = (await ok(ada.get(`/choices/${place}/near?q=link`))).body.data
  const links = (await ok(ada.get(`${places}/${id}/links/near`))).body.data
  expect(links).toEqual(shown.near)
  expect(choices.find(({ documentId }: { documentId: string }) => documentId === draft)).toEqual(shown.near[0])
  const uses = (await ok(ada.get(`${places}/${changed}/uses`))).body.data
  expect(uses).toMatchObject([
    { path: 'near', documents: [{ documentId: id, name: 'Start', state: 'draft' }] },
    { path: 'stops.place', documents: [{ documentId: id }] },
  ])
  expect((await ok(ada.get(`/files/${picture}/uses`))).body.data).toContainEqual(
    expect.objectContaining({
      path: 'cover',
      documents: [expect.objectContaining({ documentId: draft, state: 'draft', name: 'Link draft' })],
    }),
  )
  // Links of the published version lead to published versions.
  expect((await publish(id)).body.data.published.near).toMatchObject([
    { documentId: changed, state: 'changed' },
    { documentId: published, state: 'published' },
  ])
  // What may not be read is not there.
  const part = await view(id, 'en', limited)
  expect(part.draft.near[0]).toMatchObject({ name: 'Link draft', fields: {}, thumbnail: null })
  expect(part.draft.guide).toMatchObject({ name: 'Ana', fields: {}, thumbnail: null })
  expect(part.draft.stops[0]).not.toHaveProperty('metaTitle')
  expect(part.draft.stops[0].place).toMatchObject({ name: 'Link changed' })
})

rule('administration-links.1', 'the list layout chooses name and fields, and long texts are cut', async () => {
  const layoutAt = `/types/${place}/layout`
  const before = await ok(ada.get(layoutAt))
  const { revision: _, ...layout } = before.body.data
  const put = async (settings: object, list: readonly string[]) => {
    const { headers } = await ok(ada.get(layoutAt))
    const body = { ...layout, settings: { ...layout.settings, ...settings }, layouts: { ...layout.layouts, list } }
    await ok(ada.send('PUT', layoutAt, body, { 'if-match': headers.get('etag')! }))
  }
  const target = await make({ title: 'Titled', code: 'C9', metaTitle: 'Meta', notes: 'n'.repeat(300) })
  const id = await make({ title: 'Pointer', near: [target] })
  await put({ mainField: 'metaTitle' }, ['id', 'guide', 'notes', 'cover', 'title', 'updatedAt', 'code'])
  const [link] = (await view(id)).draft.near
  expect(link).toMatchObject({ name: 'Meta', fields: { notes: `${'n'.repeat(199)}…`, title: 'Titled', updatedAt: expect.any(String) } })
  expect(Object.keys(link.fields)).toHaveLength(3)
  const start = (await ok(ada.get('/start'))).body.data
  expect(start.types.find(({ uid }: { uid: string }) => uid === place).naming).toBe('metaTitle')
  await put({ mainField: 'number' }, before.body.data.layouts.list)
  await change(target, { number: 4711 })
  expect((await view(id)).draft.near).toMatchObject([{ name: '4711' }])
  expect((await ok(ada.get('/find?q=4711'))).body.data.documents).toEqual([])
  await put({}, before.body.data.layouts.list)
})

rule('administration-links.2', 'a row has the states of all locales and the columns of the list layout', async () => {
  const ana = await make({ name: 'Bea' }, guide)
  const one = await make({ title: 'Row one', code: 'r1', state: 'Bavaria', locales: 'mine', guide: ana, cover: picture, body: [] })
  await publish(one)
  await inGerman(one, { title: 'Zeile eins' })
  const two = await make({ title: 'Row two', code: 'r2', near: [one], gallery: [picture] })
  const only = 'filters[title][$startsWith]=Row&sort=title'
  expect(await rows(only)).toEqual([
    {
      ...{ id: expect.any(Number), documentId: one, locale: 'en', state: 'published' },
      locales: [
        { locale: 'de', state: 'draft' },
        { locale: 'en', state: 'published' },
      ],
      scheduled: [],
      values: { code: 'r1', title: 'Row one', state: 'Bavaria' },
    },
    {
      ...{ id: expect.any(Number), documentId: two, locale: 'en', state: 'draft' },
      locales: [{ locale: 'en', state: 'draft' }],
      scheduled: [],
      values: { code: 'r2', title: 'Row two', state: null },
    },
  ])
  const [first, second] = await rows(`${only}&fields=title,guide,cover,near,gallery,stops,locales`)
  expect(first.values).toEqual({
    ...{ title: 'Row one', locales: 'mine', near: { count: 0 }, stops: { count: 0 }, gallery: [] },
    guide: expect.objectContaining({ documentId: ana, name: 'Bea' }),
    cover: expect.objectContaining({ alternativeText: 'A mill' }),
  })
  expect(second.values).toMatchObject({ guide: null, cover: null, near: { count: 1 }, gallery: [{ mime: 'image/png' }] })
  expect((await rows(`${only}&fields[0]=title&populate[guide][fields]=name`))[0].values).toMatchObject({ guide: { name: 'Bea' } })
  expect((await ada.get(`${places}?fields=nothing`)).status).toBe(400)
  expect((await limited.get(`${places}?fields=code`)).status).toBe(400)
  expect((await limited.get(`${places}?fields=cover`)).status).toBe(400)
  expect((await rows(only, limited))[0].values).toEqual({ title: 'Row one' })
  // An unreadable locale is not listed.
  expect(await rows(`locale=de&filters[title]=Zeile eins&fields=title`, german)).toMatchObject([
    { locale: 'de', state: 'draft', locales: [{ locale: 'de', state: 'draft' }] },
  ])
  const [guided] = (await ok(ada.get(`/content/${guide}?filters[name]=Bea`))).body.data
  expect(Object.keys(guided).sort()).toEqual(['documentId', 'id', 'locale', 'values'])
})

rule('administration-links.3', 'the state is a condition in any branch of filters, and totals are by state', async () => {
  const made: Record<string, string> = {}
  for (const title of ['draft', 'changed', 'published', 'draft too']) made[title] = await make({ title: `State ${title}`, code: 'state' })
  for (const title of ['changed', 'published']) await publish(made[title]!)
  await change(made.changed!, { notes: 'more' })
  const found = async (query: string) =>
    (await rows(`filters[code]=state&sort=title&${query}`)).map(({ values }: never) => (values as { title: string }).title)
  expect(await found('filters[$state]=draft')).toEqual(['State draft', 'State draft too'])
  expect(await found('filters[$state]=changed')).toEqual(['State changed'])
  expect(await found('filters[$state][0]=changed&filters[$state][1]=published')).toEqual(['State changed', 'State published'])
  expect(await found('filters[$not][$state]=draft')).toEqual(['State changed', 'State published'])
  expect(await found('filters[$or][0][$state]=changed&filters[$or][1][title][$endsWith]=too')).toEqual(['State changed', 'State draft too'])
  expect(await found('status=published&filters[$state]=changed')).toEqual(['State changed'])
  for (const wrong of ['filters[$state]=none', 'filters[$state][$eq]=draft', 'filters[near][$state]=draft'])
    expect([wrong, (await ada.get(`${places}?${wrong}`)).status]).toEqual([wrong, 400])
  expect((await ada.get(`/content/${guide}?filters[$state]=draft`)).status).toBe(400)
  expect((await served.request('/api/places?filters[$state]=draft')).status).toBe(
    (await served.request('/api/places?filters[$nothing]=draft')).status,
  )
  const total = async (query: string) => (await ok(ada.get(`${places}/total?filters[code]=state&${query}`))).body.data
  const exactly = (count: number) => ({ total: count, exact: true })
  expect(await total('by=state')).toEqual({
    ...exactly(4),
    states: { draft: exactly(2), changed: exactly(1), published: exactly(1) },
  })
  expect(await total('by=state&filters[title][$contains]=draft')).toMatchObject({
    total: 2,
    states: { draft: exactly(2), changed: exactly(0) },
  })
  expect(await total('')).toEqual(exactly(4))
  expect((await ada.get(`/content/${guide}/total?by=state`)).status).toBe(400)
  expect((await ada.get(`${places}/total?by=code`)).status).toBe(400)
})

rule('administration-links.4', 'a document names the attributes that differ from its published version', async () => {
  const [draft, published] = [await make({ title: 'Waiting' }), await make({ title: 'Public' })]
  await publish(published)
  const stops = [{ metaTitle: 'one', place: published }, { metaTitle: 'two' }]
  const id = await make({ title: 'Compared', notes: 'a', near: [published, draft], stops, cover: picture })
  expect((await view(id)).changed).toEqual([])
  expect((await publish(id)).body.data).toMatchObject({ state: 'published', changed: [] })
  expect((await change(id, { title: 'Compared' })).body.data.changed).toEqual([])
  expect((await change(id, { notes: 'b', 'stops/1/metaTitle': 'TWO' })).body.data).toMatchObject({
    state: 'changed',
    changed: ['notes', 'stops'],
  })
  await change(id, { near: [draft], cover: null })
  expect((await view(id)).changed).toEqual(['notes', 'cover', 'near', 'stops'])
  expect((await view(id, 'en', limited)).changed).toEqual(['near'])
  expect((await publish(id)).body.data.changed).toEqual([])
})

rule('administration-links.5', 'entries of the history name what changed since the one before', async () => {
  const id = await make({ title: 'First', notes: 'a', stops: [{ metaTitle: 's' }] })
  const later = () =>
    served.sql('UPDATE strapi_history_versions SET created_at = ? WHERE related_document_id = ?', Date.now() - 700_000, id)
  const changedIn = async (query = '', by = ada) =>
    (await ok(by.get(`${places}/${id}/history?${query}`))).body.data.map(({ changed }: { changed: unknown }) => changed)
  for (const changes of [{ title: 'Second' }, { 'stops/0/metaTitle': 't' }, { notes: 'b', code: 'x' }, { title: 'Last' }]) {
    await change(id, changes)
    await later()
  }
  expect(await changedIn()).toEqual([['code', 'notes'], ['stops'], ['title'], null])
  expect(await changedIn('limit=2')).toEqual([['code', 'notes'], ['stops']])
  expect(await changedIn('', limited)).toEqual([[], [], ['title'], null])
})

rule('administration-links.6', 'a search finds a document once, the best names first', async () => {
  const both = await make({ title: 'Harbour' })
  await inGerman(both, { title: 'Harbour (deutsch)' })
  const inside = await make({ title: 'The old harbour' })
  const start = await make({ title: 'Harbour master' })
  const rename = async (name: string, data: object) => {
    const png = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==', 'base64')
    const { id } = (await ok(ada.sendForm('/files', [file(png, name, 'image/png')]))).body.data[0]
    await ok(ada.send('PATCH', `/files/${id}`, data))
  }
  await rename('boat.png', { caption: 'In the harbour' })
  await rename('harbour.png', {})
  const { documents, files: found } = (await ok(ada.get('/find?q=harbour'))).body.data
  expect(documents.map(({ documentId }: { documentId: string }) => documentId)).toEqual([both, start, inside])
  expect(documents[0]).toMatchObject({
    ...{ type: place, displayName: 'Place', name: 'Harbour', locale: 'en', state: 'draft', thumbnail: null },
    locales: [
      { locale: 'de', state: 'draft' },
      { locale: 'en', state: 'draft' },
    ],
  })
  expect(found.map(({ name }: { name: string }) => name)).toEqual(['harbour.png', 'boat.png'])
  expect(found[0].thumbnail).toMatchObject({ mime: 'image/png' })
  const one = (await ok(ada.get('/find?q=harbour&limit=1'))).body.data
  expect([one.documents.length, one.files.length]).toEqual([1, 1])
  for (const limit of ['0', '51', 'x']) expect((await ada.get(`/find?q=a&limit=${limit}`)).status).toBe(400)
  expect((await ok(german.get('/find?q=harbour'))).body.data.documents).toMatchObject([
    { documentId: both, locale: 'de', locales: [{ locale: 'de', state: 'draft' }] },
  ])
})

rule('administration-links.7', 'the start names the naming attributes, single documents and locales', async () => {
  const typeOf = async (uid: string, by = ada) =>
    (await ok(by.get('/start'))).body.data.types.find((type: { uid: string }) => type.uid === uid)
  expect(await typeOf(home)).toMatchObject({ naming: 'heading', documentId: null })
  const id = await make({ heading: 'Welcome' }, home)
  expect(await typeOf(home)).toMatchObject({ naming: 'heading', documentId: id })
  expect(await typeOf(place)).toMatchObject({ naming: 'title', documentId: null })
  expect(await typeOf(guide, limited)).toMatchObject({ naming: 'name' })
  const { locales } = (await ok(ada.get('/start'))).body.data
  expect(locales).toEqual([
    { code: 'en', name: 'English', isDefault: true },
    { code: 'de', name: 'German', isDefault: false },
  ])
})

rule('administration-links.8', 'labels that repeat a name are words, except where they are set', async () => {
  const { layout, components } = (await ok(ada.get(`/types/${place}`))).body.data
  expect(layout.metadatas.metaTitle).toMatchObject({ edit: { label: 'Meta title' }, list: { label: 'Meta title' } })
  expect(layout.metadatas.updatedAt.list.label).toBe('Updated at')
  expect(components['part.stop'].layout.metadatas.metaTitle.edit.label).toBe('Meta title')
  const { metadatas } = (await ok(ada.get(`/types/${place}/layout`))).body.data
  expect(metadatas.metaTitle.edit.label).toBe('metaTitle')
})

rule('administration-links.9', 'clients revalidate content, and store no secrets', async () => {
  const id = await make({ title: 'Cached' })
  const cacheOf = async (path: string) => (await ok(ada.get(path))).headers.get('cache-control')
  const paths = [
    places,
    at(id),
    `${places}/total`,
    `${places}/${id}/uses`,
    `/choices/${place}/near`,
    `/types/${place}`,
    '/find?q=a',
    '/files',
    '/start',
  ]
  for (const path of paths) expect([path, await cacheOf(path)]).toEqual([path, 'private, no-cache'])
  for (const path of ['/session/all', '/tokens', '/webhooks', '/me']) expect([path, await cacheOf(path)]).toEqual([path, 'no-store'])
  const { headers } = await ada.get(at(id))
  const again = await ada.get(at(id), { 'if-none-match': headers.get('etag')! })
  expect([again.status, again.headers.get('cache-control')]).toEqual([304, 'private, no-cache'])
  const missing = await ada.get(`${places}/none`)
  expect([missing.status, missing.headers.get('cache-control')]).toEqual([404, 'no-store'])
  expect((await change(id, { title: 'Again' })).headers.get('cache-control')).toBe('no-store')
})
