// Types and their layouts in the administration API: what an administrator sees of a type, and the settings that Strapi shares.
import { afterAll, beforeAll, expect } from 'vitest'
import { addAdministrator, allowAdmins, requestAdmin, type SignedIn, signInAdmin } from '../support/administration.js'
import { rule } from '../support/rule.js'
import type { Served, TestResponse } from '../support/serve.js'
import { front, giveRights, serveNewsroom, story, writer } from './newsroom.js'

let served: Served
let ada: SignedIn
const signedIn: Record<string, SignedIn> = {}
const configure = 'plugin::content-manager.'
beforeAll(async () => {
  served = await serveNewsroom()
  await addAdministrator(served, 'ada@layouts.example')
  ada = await signInAdmin(served, 'ada@layouts.example')
  await giveRights(served, 'part', [
    { action: 'read', subject: story, properties: { fields: ['title', 'seo.metaTitle', 'writer'], locales: null } },
    { action: 'update', subject: story, properties: { fields: ['title'], locales: null } },
  ])
  await giveRights(served, 'deleter', [{ action: 'delete', subject: story }])
  await allowAdmins(served, 'collections', `${configure}collection-types.configure-view`)
  await allowAdmins(served, 'singles', `${configure}single-types.configure-view`)
  await allowAdmins(served, 'components', `${configure}components.configure-layout`)
  for (const role of ['part', 'deleter', 'collections', 'singles', 'components', 'none']) {
    await addAdministrator(served, `${role}@layouts.example`, [role])
    signedIn[role] = await signInAdmin(served, `${role}@layouts.example`)
  }
})
afterAll(() => served?.close())

const get = (path: string, by = ada, headers: Readonly<Record<string, string>> = {}) =>
  requestAdmin(served, path, { token: by.accessToken, headers })
const put = (path: string, body: unknown, revision: string | null, by = ada): Promise<TestResponse> =>
  requestAdmin(served, path, {
    ...{ method: 'PUT', token: by.accessToken, body },
    headers: revision === null ? {} : { 'if-match': `"${revision}"` },
  })
const layoutAt = `/types/${story}/layout`
const keyOf = (uid: string) => `plugin_content_manager_configuration_${uid.includes('::') ? 'content_types' : 'components'}::${uid}`
async function storedOf(uid: string) {
  const [row] = await served.sql('SELECT value FROM strapi_core_store_settings WHERE "key" = ?', keyOf(uid))
  return row === undefined ? null : JSON.parse(row.value as string)
}
async function store(uid: string, value: unknown) {
  const text = JSON.stringify(value)
  if ((await storedOf(uid)) === null)
    await served.sql(
      'INSERT INTO strapi_core_store_settings ("key", value, type) VALUES (?, ?, ?) RETURNING id',
      keyOf(uid),
      text,
      'object',
    )
  else await served.sql('UPDATE strapi_core_store_settings SET value = ? WHERE "key" = ?', text, keyOf(uid))
}
async function current(by = ada, path = layoutAt) {
  const { body, status, text } = await get(path, by)
  expect(status, text).toBe(200)
  const { revision, ...layout } = body.data
  return { revision, layout }
}

rule('administration-layouts.1', 'a type has its attributes, components, layouts and one’s own fields in one response', async () => {
  const { body, headers } = await get(`/types/${story}`)
  expect(body.data).toMatchObject({ uid: story, kind: 'collectionType', draftAndPublish: true, localized: true })
  expect(body.data.attributes.slug).toMatchObject({ type: 'uid', targetField: 'title' })
  expect(Object.keys(body.data.components).sort()).toEqual(['block.text', 'shared.seo'])
  expect(body.data.components['block.text'].layout.layouts.edit.flat().map(({ name }: { name: string }) => name)).toEqual([
    'heading',
    'body',
    'seo',
    'source',
  ])
  expect(body.data.fields.update).toContain('secret')
  expect(body.data.actions).toEqual(['create', 'read', 'update', 'delete', 'publish'])
  expect(body.data.locales).toEqual({ create: null, publish: null })
  const again = await get(`/types/${story}`, ada, { 'if-none-match': headers.get('etag')! })
  expect(again.status).toBe(304)
  expect((await get('/types/plugin::users-permissions.user')).status).toBe(200)
  expect((await get('/types/plugin::upload.file')).status).toBe(404)
  expect((await get('/types/admin::user')).status).toBe(404)
  expect((await get('/types/api::nothing.nothing')).status).toBe(404)
})

rule('administration-layouts.1', 'attributes without permission appear nowhere in the response', async () => {
  const { body, text } = await get(`/types/${story}`, signedIn.part)
  expect(Object.keys(body.data.attributes).sort()).toEqual(['seo', 'title', 'writer'])
  expect(body.data.fields).toMatchObject({ create: [], update: expect.arrayContaining(['title']) })
  expect(body.data.fields.read).toEqual(expect.arrayContaining(['title', 'seo.metaTitle', 'writer']))
  expect(Object.keys(body.data.components['shared.seo'].attributes)).toEqual(['metaTitle'])
  expect(body.data.actions).toEqual(['read', 'update'])
  expect(body.data.locales).toEqual({ create: [], publish: [] })
  expect(body.data.layout.metadatas.writer.edit.mainField).toBe('documentId')
  for (const hidden of ['secret', 'metaSecret', 'summary', 'slug', 'sections', 'block.text', '"name"']) {
    const shown = hidden === '"name"' ? JSON.stringify(body.data.layout.metadatas.writer) : text
    expect(shown, hidden).not.toContain(hidden)
  }
  expect((await get(`/types/${story}`, signedIn.deleter)).body.data).toMatchObject({ attributes: {}, actions: ['delete'] })
  expect((await get(`/types/${story}`, signedIn.none)).status).toBe(403)
  expect((await get(`/types/${writer}`, signedIn.part)).status).toBe(403)
})

rule('administration-layouts.2', 'stored settings follow the model, as Strapi has them follow it', async () => {
  expect(await storedOf(story)).toBeNull()
  const made = (await current()).layout
  expect(made.layouts.list).toEqual(['id', 'title', 'summary', 'secret'])
  await store(story, {
    settings: { ...made.settings, pageSize: 20, mainField: 'gone', defaultSortBy: 'score' },
    metadatas: {
      title: { edit: { label: 'Heading' }, list: { label: 'Heading' } },
      gone: { edit: {}, list: {} },
      slug: { edit: {}, list: {} },
    },
    layouts: { list: ['id', 'gone', 'title'], edit: [[{ name: 'gone', size: 6 }], [{ name: 'title', size: 8 }]] },
    uid: story,
  })
  const { layout } = await current()
  expect(layout.settings).toMatchObject({ pageSize: 20, mainField: 'title', defaultSortBy: 'score' })
  expect(layout.metadatas.title).toMatchObject({ edit: { label: 'Heading', visible: true }, list: { label: 'Heading', sortable: true } })
  expect(layout.metadatas.gone).toBeUndefined()
  expect(layout.layouts.list).toEqual(['id', 'title', 'summary', 'secret'])
  const [first, second] = layout.layouts.edit
  expect(first).toEqual([{ name: 'title', size: 8 }])
  expect(second[0].name).toBe('summary')
  // It has settings, and was removed from the view.
  expect(layout.layouts.edit.flat().map(({ name }: { name: string }) => name)).not.toContain('slug')
  for (const broken of [[], 'x', { settings: 1, metadatas: [], layouts: { list: 1, edit: [[null, { name: 1 }], 7] } }]) {
    await store(story, broken)
    expect((await current()).layout.layouts.list).toEqual(['id', 'title', 'summary', 'secret'])
  }
  await served.sql('DELETE FROM strapi_core_store_settings WHERE "key" = ?', keyOf(story))
})

rule('administration-layouts.3', 'a layout is replaced with its revision, by administrators who may configure its kind', async () => {
  const { revision, layout } = await current()
  const changed = { ...layout, settings: { ...layout.settings, pageSize: 50 } }
  expect((await put(layoutAt, changed, null)).status).toBe(428)
  const done = await put(layoutAt, changed, revision)
  expect(done.status, done.text).toBe(200)
  expect(done.body.data.settings.pageSize).toBe(50)
  const late = await put(layoutAt, layout, revision)
  expect([late.status, late.body.error.details.settings.pageSize]).toEqual([412, 50])
  expect((await get('/activity?limit=1')).body.data[0]).toMatchObject({ action: 'layout', subject: story, fields: ['settings'] })
  const places = { collections: `/types/${story}/layout`, singles: `/types/${front}/layout`, components: '/types/shared.seo/layout' }
  for (const [role, own] of Object.entries(places))
    for (const path of Object.values(places)) {
      const status = path === own ? 200 : 403
      expect((await get(path, signedIn[role])).status, `${role} ${path}`).toBe(status)
      const now = await current(ada, path)
      expect((await put(path, now.layout, now.revision, signedIn[role])).status, `${role} ${path}`).toBe(status)
    }
  for (const role of ['none', 'part']) expect((await get(layoutAt, signedIn[role])).status).toBe(403)
  for (const uid of ['plugin::upload.file', 'api::x.x', 'shared.x']) expect((await get(`/types/${uid}/layout`)).status).toBe(404)
})

rule('administration-layouts.3', 'a layout can be sent back as it was read', async () => {
  for (const uid of [story, 'shared.seo', front]) {
    const path = `/types/${uid}/layout`
    const { revision, layout } = await current(ada, path)
    const sent = await put(path, layout, revision)
    expect(sent.status, sent.text).toBe(200)
  }
})

rule('administration-layouts.4', 'unknown attributes are refused, each with its path', async () => {
  const { revision, layout } = await current()
  const { settings, metadatas, layouts } = layout
  const wrong: readonly (readonly [readonly string[], unknown])[] = [
    [['settings', 'mainField'], { ...layout, settings: { ...settings, mainField: 'nope' } }],
    [['settings', 'defaultSortBy'], { ...layout, settings: { ...settings, defaultSortBy: 'extra' } }],
    [['settings', 'pageSize'], { ...layout, settings: { ...settings, pageSize: 101 } }],
    [['metadatas', 'nope'], { ...layout, metadatas: { ...metadatas, nope: { edit: {}, list: {} } } }],
    [
      ['metadatas', 'writer', 'edit', 'mainField'],
      { ...layout, metadatas: { ...metadatas, writer: { edit: { mainField: 'x' }, list: {} } } },
    ],
    [['layouts', 'list', '0'], { ...layout, layouts: { ...layouts, list: ['sections'] } }],
    [['layouts', 'list', '1'], { ...layout, layouts: { ...layouts, list: ['title', 'title'] } }],
    [
      ['layouts', 'edit', '0'],
      {
        ...layout,
        layouts: {
          ...layouts,
          edit: [
            [
              { name: 'title', size: 8 },
              { name: 'slug', size: 6 },
            ],
          ],
        },
      },
    ],
    [
      ['layouts', 'edit', '1', '0'],
      { ...layout, layouts: { ...layouts, edit: [[{ name: 'title', size: 8 }], [{ name: 'title', size: 6 }]] } },
    ],
    [['layouts', 'edit', '0', '0'], { ...layout, layouts: { ...layouts, edit: [[{ name: 'createdAt', size: 6 }]] } }],
  ]
  for (const [path, body] of wrong) {
    const { status, body: answer } = await put(layoutAt, body, revision)
    expect([status, answer.error.details.errors[0].path], JSON.stringify(path)).toEqual([400, path])
  }
  for (const body of [
    { ...layout, more: 1 },
    { settings, metadatas },
    { ...layout, settings: { ...settings, more: 1 } },
  ])
    expect((await put(layoutAt, body, revision)).status).toBe(400)
  expect((await current()).revision).toBe(revision)
})

rule('administration-layouts.5', 'the stored layout has Strapi’s form, and unknown members stay', async () => {
  await store('shared.seo', {
    settings: { pageSize: 10, pluginSetting: 'kept' },
    metadatas: { metaTitle: { edit: { label: 'Old', pluginEdit: 1 }, list: {} } },
    layouts: { list: ['id', 'metaTitle'], edit: [[{ name: 'metaTitle', size: 6 }]], pluginLayout: [] },
    uid: 'shared.seo',
    isComponent: true,
    pluginValue: { kept: true },
  })
  const path = '/types/shared.seo/layout'
  const { revision, layout } = await current(ada, path)
  expect(layout.settings.pluginSetting).toBeUndefined()
  const { metaTitle, ...others } = layout.metadatas
  const metadatas = { ...others, metaTitle: { ...metaTitle, edit: { ...metaTitle.edit, label: 'New' } } }
  const done = await put(path, { ...layout, metadatas }, revision)
  expect(done.status, done.text).toBe(200)
  const stored = await storedOf('shared.seo')
  expect(stored).toMatchObject({ uid: 'shared.seo', isComponent: true, pluginValue: { kept: true } })
  expect(stored.settings).toMatchObject({ pluginSetting: 'kept', mainField: 'metaTitle', defaultSortOrder: 'ASC' })
  expect(stored.metadatas.metaTitle.edit).toMatchObject({ label: 'New', pluginEdit: 1, visible: true })
  expect(stored.layouts).toMatchObject({ pluginLayout: [] })
  const [row] = await served.sql('SELECT type FROM strapi_core_store_settings WHERE "key" = ?', keyOf('shared.seo'))
  expect(row!.type).toBe('object')
})
