// Undoing changes in another order than the reverse one, undoing an undo, and writes in between: nothing is lost or
// damaged, or the undo is refused and names the changes to undo first.
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { addGerman, addToken, insert, secrets } from '../spec/callers.js'
import { removeProject, type Served, serveProject, type TestResponse } from '../support/serve.js'
import { agreed as agree, send as request, token } from './changing-project.js'

const main = join(import.meta.dirname, '..', '..', 'dist', 'main.js')
const text = { type: 'string' }
const relation = (kind: string, target: string) => ({ type: 'relation', relation: kind, target: `api::${target}.${target}` })
const component = (name: string) => ({ type: 'component', component: `order.${name}` })
const on = { options: { draftAndPublish: true } }
const off = { options: { draftAndPublish: false } }
const localized = { ...off, pluginOptions: { i18n: { localized: true } } }
const type = (name: string, attributes: object, more: object = off) => ({
  [`api::${name}.${name}`]: {
    kind: 'collectionType',
    collectionName: `${name}s`,
    info: { singularName: name, pluralName: `${name}s`, displayName: name },
    ...more,
    attributes,
  },
})
const part = (name: string, attributes: object) => ({ [`order.${name}`]: { info: { displayName: name }, attributes } })

let served: Served
beforeAll(async () => {
  served = await serveProject({}, { environment: secrets, config: { admin: { model: 'always' } } })
  await addToken(served, token, { type: 'full-access' })
  await served.sql("update strapi_api_tokens set document_id = 'token'")
  await addGerman(served)
})
afterAll(async () => {
  await served.service.close()
  await removeProject(served.folder)
})

const send = (path: string, method: string, body?: unknown): Promise<TestResponse> => request(served, { path, method, body })

/** Sends a change, and agrees to hide content. */
const agreed = (name: string, method: string, body: object): Promise<TestResponse> =>
  agree(served, { path: `/api/content-type-builder/${name}`, method, body })

const changes = async (): Promise<readonly { readonly id: number; readonly undoes: number }[]> =>
  (await send('/api/content-type-builder/changes', 'GET')).body.data

/** Makes a change; resolves to its id. */
async function change(data: object, renames: readonly object[] = []): Promise<number> {
  const answer = await agreed('schemas', 'PUT', { data, renames })
  expect(answer.status, answer.text).toBe(200)
  return (await changes()).at(-1)!.id
}

/** Undoes a change; resolves to the id of the undo. */
async function undo(id?: number): Promise<number> {
  const answer = await agreed('undo', 'POST', id === undefined ? {} : { data: { change: id } })
  expect(answer.status, answer.text).toBe(200)
  return (await changes()).at(-1)!.id
}

/** An undo that is refused; resolves to its message. */
async function refused(id: number): Promise<string> {
  const answer = await agreed('undo', 'POST', { data: { change: id } })
  expect(answer.status, answer.text).toBe(409)
  return answer.body.error.message
}

async function made(path: string, data: object): Promise<string> {
  const answer = await send(path, 'POST', { data })
  expect(answer.status, answer.text).toBe(201)
  return answer.body.data.documentId
}

async function saved(path: string, data: object): Promise<void> {
  const answer = await send(path, 'PUT', { data })
  expect(answer.status, answer.text).toBe(200)
}

async function read(path: string) {
  const answer = await send(path, 'GET')
  expect(answer.status, answer.text).toBe(200)
  return answer.body.data
}

/** The checks of the doctor that have found something wrong, with examples. */
async function damage(): Promise<readonly unknown[]> {
  const env = { ...process.env, ...secrets, ...served.sameDatabase, UPLOADS_DIR: 'uploads' }
  const ended = promisify(execFile)(process.execPath, [main, 'doctor', served.folder, '--json'], { env })
  const { stdout } = await ended.catch((error: { readonly stdout: string }) => error)
  const { checks } = JSON.parse(stdout) as { readonly checks: readonly { readonly name: string; readonly verdict: string }[] }
  return checks.filter(({ verdict }) => verdict === 'wrong')
}

/** The names of what a document links to, in each of its versions. */
async function linked(path: string, attribute: string): Promise<readonly (readonly string[])[]> {
  const names = []
  for (const status of ['draft', 'published']) {
    const found = await read(`${path}?populate=${attribute}&status=${status}`)
    names.push((found[attribute] as readonly { readonly name: string }[]).map(({ name }) => name))
  }
  return names
}

/** A type with links to another, under separate names. */
const pair = (name: string, drafts: { readonly tag?: object; readonly note?: object } = {}) => {
  const [tagName, noteName] = [`${name}-tag`, `${name}-note`]
  const tags = relation('oneToMany', tagName)
  const note = (attributes: object, more: object = drafts.note ?? on) => type(noteName, { title: text, ...attributes }, more)
  const tag = (more: object = drafts.tag ?? on) => type(tagName, { name: text }, more)
  return { tagName, noteName, tags, note, tag, tagPath: `/api/${tagName}s`, notePath: `/api/${noteName}s` }
}

test('live-model.14, model-plans.18: links come back in the versions that there are, also where Draft & Publish of their targets is off', async () => {
  for (const [name, away] of [
    ['first', false],
    ['whole', true],
  ] as const) {
    const { noteName, tags, note, tag, tagPath, notePath } = pair(name)
    await change({ ...tag(), ...note({ tags }) })
    const targets = [await made(tagPath, { name: 'one' }), await made(tagPath, { name: 'two' })]
    const id = await made(notePath, { title: 'n', tags: targets })
    const path = `${notePath}/${id}`
    const removed = await change(away ? { [`api::${noteName}.${noteName}`]: null } : note({}))
    const switched = await change(tag(off))
    await undo(removed)
    expect(await linked(path, 'tags')).toEqual([
      ['one', 'two'],
      ['one', 'two'],
    ])
    await undo(switched)
    expect(await linked(path, 'tags')).toEqual([
      ['one', 'two'],
      ['one', 'two'],
    ])
    expect(await damage()).toEqual([])
    await saved(path, { title: 'n2' })
    expect(await linked(path, 'tags')).toEqual([
      ['one', 'two'],
      ['one', 'two'],
    ])
  }
}, 60_000)

test('model-plans.13, model-plans.18: links of restored drafts refer to newer drafts', async () => {
  for (const [name, owners] of [
    ['second', on],
    ['third', off],
  ] as const) {
    const { tags, note, tag, tagPath, notePath } = pair(name, { tag: off, note: owners })
    await change({ ...tag(), ...note({ tags }) })
    const id = await made(notePath, { title: 'n', tags: [await made(tagPath, { name: 'one' })] })
    const path = `${notePath}/${id}`
    const removed = await change(note({}))
    const switched = await change(tag(on))
    await undo(removed)
    expect(await linked(path, 'tags')).toEqual([['one'], ['one']])
    await saved(path, { title: 'n2' })
    expect(await linked(path, 'tags')).toEqual([['one'], ['one']])
    await undo(switched)
    expect(await linked(path, 'tags')).toEqual([['one'], ['one']])
    expect(await damage()).toEqual([])
  }
}, 60_000)

test('model-plans.18: links to replaced drafts refer to the new drafts', async () => {
  const { tags, note, tag, tagPath, notePath } = pair('fourth')
  await change({ ...tag(), ...note({ tags }) })
  const target = await made(tagPath, { name: 'one' })
  const path = `${notePath}/${await made(notePath, { title: 'n', tags: [target] })}`
  const removed = await change(note({}))
  const switched = await change(tag(off))
  await saved(`${tagPath}/${target}`, { name: 'written' })
  await undo(switched)
  await undo(removed)
  expect(await linked(path, 'tags')).toEqual([['written'], ['written']])
  expect(await damage()).toEqual([])
}, 60_000)

test('model-plans.18: drafts of two types, switched off and on again in the same order, keep their links', async () => {
  const { tags, note, tag, tagPath, notePath } = pair('fifth')
  await change({ ...tag(), ...note({ tags }) })
  const path = `${notePath}/${await made(notePath, { title: 'n', tags: [await made(tagPath, { name: 'one' })] })}`
  const first = await change(tag(off))
  const second = await change(note({ tags }, off))
  await undo(first)
  await undo(second)
  expect(await linked(path, 'tags')).toEqual([['one'], ['one']])
  expect(await damage()).toEqual([])
}, 60_000)

test('live-model.14: an undo that would lose links to archived content is refused, with the change to undo first', async () => {
  const { noteName, tagName, tags, note, tag, tagPath, notePath } = pair('sixth')
  await change({ ...tag(), ...note({ tags }) })
  const draft = (await send(`${tagPath}?status=draft`, 'POST', { data: { name: 'draft' } })).body.data.documentId
  const id = (await send(`${notePath}?status=draft`, 'POST', { data: { title: 'n', tags: [draft] } })).body.data.documentId
  const removed = await change(note({}))
  const switched = await change(tag(off))
  expect(await refused(removed)).toBe(
    `1 link of api::${noteName}.${noteName}.tags refers to content that change ${switched} (api::${tagName}.${tagName}) archived. Undo change ${switched} first`,
  )
  await undo(switched)
  await undo(removed)
  const [found] = (await read(`${notePath}?status=draft&populate=tags`)) as readonly {
    readonly documentId: string
    readonly tags: readonly { readonly name: string }[]
  }[]
  expect([found!.documentId, found!.tags.map(({ name }) => name)]).toEqual([id, ['draft']])
}, 60_000)

test('model-plans.14, model-plans.18: links to other locales are not led to the default one for good', async () => {
  const { tags, note, tag, tagPath, notePath } = pair('seventh', { tag: localized, note: localized })
  await change({ ...tag(), ...note({ tags }) })
  const target = await made(tagPath, { name: 'one' })
  await saved(`${tagPath}/${target}?locale=de`, { name: 'eins' })
  const id = await made(notePath, { title: 'n', tags: [target] })
  await saved(`${notePath}/${id}?locale=de`, { title: 'd', tags: [target] })
  const german = async () =>
    (await read(`${notePath}/${id}?locale=de&populate=tags`)).tags.map(({ name }: { readonly name: string }) => name)
  expect(await german()).toEqual(['eins'])
  const removed = await change(note({}))
  const switched = await change(tag(off))
  expect(await refused(removed)).toContain(`Undo change ${switched} first`)
  await undo(switched)
  await undo(removed)
  expect(await german()).toEqual(['eins'])
}, 60_000)

test('model-plans.13: what copies of components would lack is not brought back to the originals alone', async () => {
  const seo = (attributes: object) => part('seo', { summary: text, ...attributes })
  const page = (more: object) => type('order-page', { title: text, seo: component('seo') }, more)
  const tag = type('order-tag', { name: text })
  await change({ ...tag, ...seo({ words: text, tags: relation('oneToMany', 'order-tag') }), ...page(off) })
  const target = await made('/api/order-tags', { name: 'one' })
  const id = await made('/api/order-pages', { title: 'p', seo: { summary: 's', words: 'w', tags: [target] } })
  const removed = await change(seo({}))
  const switched = await change(page(on))
  expect(await refused(removed)).toContain(`Undo change ${switched} first`)
  await undo(switched)
  await undo(removed)
  const found = await read(`/api/order-pages/${id}?populate[seo][populate]=*`)
  expect([found.seo.words, found.seo.tags.length]).toEqual(['w', 1])
  // Drafts that come back have the components that they had.
  await change(page(on))
  expect((await send(`/api/order-pages/${id}`, 'DELETE')).status).toBe(204)
  const other = await made('/api/order-pages', { title: 'p', seo: { summary: 's', words: 'w', tags: [target] } })
  const second = await change(page(off))
  const third = await change(seo({}))
  await undo(second)
  await undo(third)
  for (const status of ['draft', 'published']) {
    const version = await read(`/api/order-pages/${other}?populate[seo][populate]=*&status=${status}`)
    expect([version.seo.words, version.seo.tags.length], status).toEqual(['w', 1])
  }
  expect(await damage()).toEqual([])
}, 60_000)

test('live-model.14: kept links follow a relation and a type that are renamed, and wait for one that was removed', async () => {
  const { noteName, tagName, tags, note, tag, tagPath, notePath } = pair('eighth')
  await change({ ...tag(), ...note({ tags }) })
  const id = await made(notePath, { title: 'n', tags: [await made(tagPath, { name: 'one' })] })
  const uid = `api::${noteName}.${noteName}`
  const first = await change(tag(off))
  const renamed = await change(note({ labels: tags }), [{ kind: 'attribute', schema: uid, from: 'tags', to: 'labels' }])
  await undo(first)
  expect(await linked(`${notePath}/${id}`, 'labels')).toEqual([['one'], ['one']])
  await undo(renamed)
  expect(await linked(`${notePath}/${id}`, 'tags')).toEqual([['one'], ['one']])

  const second = await change(tag(off))
  const other = 'eighth-memo'
  const moved = await change({ [uid]: null, ...type(other, { title: text, tags }, on) }, [
    { kind: 'type', from: uid, to: `api::${other}.${other}` },
  ])
  await undo(second)
  expect(await linked(`/api/${other}s/${id}`, 'tags')).toEqual([['one'], ['one']])
  await undo(moved)
  expect(await linked(`${notePath}/${id}`, 'tags')).toEqual([['one'], ['one']])

  const third = await change(tag(off))
  const removed = await change(note({}))
  expect(await refused(third)).toBe(
    `The links of ${uid}.tags that change ${third} (api::${tagName}.${tagName}) archived cannot be restored since change ${removed} (${uid}). Undo change ${removed} first`,
  )
  await undo(removed)
  await undo(third)
  expect(await linked(`${notePath}/${id}`, 'tags')).toEqual([['one'], ['one']])
  expect(await damage()).toEqual([])
}, 60_000)

test('model-plans.4, model-plans.18: kept rows follow a component that is renamed', async () => {
  const list = (components: readonly string[], more: object = on) =>
    type('order-list', { title: text, zone: { type: 'dynamiczone', components: components.map((name) => `order.${name}`) } }, more)
  await change({ ...part('label', { text }), ...part('link', { href: text }), ...list(['label', 'link']) })
  const zone = [
    { __component: 'order.label', text: 'a' },
    { __component: 'order.link', href: 'b' },
  ]
  const id = await made('/api/order-lists', { title: 'l', zone })
  const narrowed = await change(list(['label']))
  const switched = await change(list(['label'], off))
  const renames = [{ kind: 'component', from: 'order.link', to: 'order.url' }]
  const renamed = await change({ 'order.link': null, ...part('url', { href: text }) }, renames)
  await undo(switched)
  expect(await damage()).toEqual([])
  await undo(renamed)
  await undo(narrowed)
  for (const status of ['draft', 'published']) {
    const found = await read(`/api/order-lists/${id}?status=${status}&populate=zone`)
    expect(found.zone.map(({ __component }: { readonly __component: string }) => __component)).toEqual(['order.label', 'order.link'])
  }
  expect(await damage()).toEqual([])
}, 60_000)

test('live-model.14: an undo is undone where the change renamed and converted an attribute and its table at once', async () => {
  const [uid, other] = ['api::order-word.order-word', 'api::order-term.order-term']
  const first = type('order-word', { title: text, gone: text })
  await change(first)
  const id = await made('/api/order-words', { title: 'a', gone: 'g' })
  const renamed = await change({ [uid]: null, ...type('order-term', { head: { type: 'integer' } }) }, [
    { kind: 'type', from: uid, to: other },
    { kind: 'attribute', schema: uid, from: 'title', to: 'head' },
  ])
  const undone = await undo(renamed)
  expect(await read(`/api/order-words/${id}`)).toMatchObject({ title: 'a', gone: 'g' })
  await undo(undone)
  expect(await read(`/api/order-terms/${id}`)).toMatchObject({ head: null })
  await undo()
  expect(await read(`/api/order-words/${id}`)).toMatchObject({ title: 'a', gone: 'g' })
  const same = await change(type('order-word', { head: { type: 'text' }, gone: text }), [
    { kind: 'attribute', schema: uid, from: 'title', to: 'head' },
  ])
  await undo(await undo(same))
  expect(await read(`/api/order-words/${id}`)).toMatchObject({ head: 'a' })
}, 60_000)

test('live-model.14: without an id, the last change that is in force is undone, also where its undo was undone', async () => {
  const schema = (attributes: object) => type('order-cup', attributes)
  await change(schema({ size: text, colour: text }))
  const id = await made('/api/order-cups', { size: 's', colour: 'red' })
  const removed = await change(schema({ size: text }))
  const undone = await undo()
  await saved(`/api/order-cups/${id}`, { colour: 'blue' })
  const again = await undo(undone)
  await undo()
  expect((await changes()).at(-1)).toMatchObject({ undoes: again })
  expect(await read(`/api/order-cups/${id}`)).toMatchObject({ colour: 'blue' })
  // By its own id, a change is undone that its undone undo has put in force again.
  const last = (await changes()).at(-1)!.id
  await undo(last)
  await undo(removed)
  expect(await read(`/api/order-cups/${id}`)).toMatchObject({ colour: 'blue' })
}, 60_000)

test('model-plans.18: restored links are placed after those written in between', async () => {
  const zoneOf = (components: readonly string[]) => ({ type: 'dynamiczone', components: components.map((name) => `order.${name}`) })
  const box = (components: readonly string[]) => type('order-box', { title: text, zone: zoneOf(components) })
  const parts = { ...part('square', { text }), ...part('circle', { text }) }
  const entry = (name: string, value: string) => ({ __component: `order.${name}`, text: value })
  const zone = [entry('square', '1'), entry('circle', '2'), entry('square', '3')]
  const texts = async (id: string) => (await read(`/api/order-boxs/${id}?populate=zone`)).zone.map((each: { text: string }) => each.text)
  await change({ ...parts, ...box(['square', 'circle']) })
  const ids = [await made('/api/order-boxs', { title: 'w', zone }), await made('/api/order-boxs', { title: 'l', zone })]
  const written = { zone: ['N1', 'N2', 'N3'].map((value) => entry('circle', value)) }
  for (const data of [box(['circle']), { ...box(['circle']), 'order.square': null }]) {
    await change(data)
    await saved(`/api/order-boxs/${ids[0]}`, written)
    await undo()
    expect(await texts(ids[0]!)).toEqual(['N1', 'N2', 'N3', '1', '3'])
    expect(await texts(ids[1]!)).toEqual(['1', '2', '3'])
    expect(await damage()).toEqual([])
  }
}, 60_000)

test('live-model.5, model-plans.6: a type that comes back has its permissions, once', async () => {
  const gate = type('order-gate', { title: text })
  await change(gate)
  await made('/api/order-gates', { title: 'open' })
  const action = 'api::order-gate.order-gate.find'
  const moments = { created_at: Date.now(), updated_at: Date.now() }
  const [role] = await served.sql("select id from up_roles where type = 'public'")
  const grant = async (roleId: number) => {
    const permission = await insert(served, 'up_permissions', { document_id: `p${roleId}${Math.random()}`, action, ...moments })
    await insert(served, 'up_permissions_role_lnk', { permission_id: permission, role_id: roleId })
  }
  await grant(Number(role!.id))
  const gone = await insert(served, 'up_roles', { document_id: 'gone', name: 'Gone', type: 'gone', ...moments })
  await grant(gone)
  await addToken(served, 'reads-gates', { type: 'custom', actions: [action] })
  for (const table of ['strapi_api_tokens', 'strapi_api_token_permissions'])
    await served.sql(`update ${table} set document_id = 'gates' where document_id is null`)
  const administrators = await insert(served, 'admin_roles', { document_id: 'gates', name: 'Gates', code: 'gates', ...moments })
  const own = { action: 'plugin::content-manager.explorer.read', subject: 'api::order-gate.order-gate' }
  const permission = await insert(served, 'admin_permissions', { document_id: 'gate', ...own, ...moments })
  await insert(served, 'admin_permissions_role_lnk', { permission_id: permission, role_id: administrators })
  const seen = async () => [
    (await served.request('/api/order-gates')).status,
    (await served.request('/api/order-gates', { token: 'reads-gates' })).status,
  ]
  expect(await seen()).toEqual([200, 200])
  await change({ 'api::order-gate.order-gate': null })
  await served.sql('delete from up_roles where id = ?', gone)
  await undo()
  expect(await seen()).toEqual([200, 200])
  const count = async () => Number((await served.sql('select count(*) as count from up_permissions where action = ?', action))[0]!.count)
  expect(await count()).toBe(1)
  expect(await served.sql('select subject from admin_permissions where id = ?', permission)).toEqual([{ subject: own.subject }])
  expect(await served.sql('select role_id from admin_permissions_role_lnk where permission_id = ?', permission)).toHaveLength(1)
  // Grants given in between are not duplicated.
  await change({ 'api::order-gate.order-gate': null })
  await grant(Number(role!.id))
  await undo()
  expect(await seen()).toEqual([200, 200])
  expect(await count()).toBe(1)
  expect(await damage()).toEqual([])
}, 60_000)
