// Archived data of model changes is not damage, and later writes and deletions do not turn it into damage.
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { addToken, insert, secrets } from '../spec/callers.js'
import { removeProject, type Served, serveProject, type TestResponse } from '../support/serve.js'
import { agreed, send as request, token } from './changing-project.js'

const main = join(import.meta.dirname, '..', '..', 'dist', 'main.js')
const text = { type: 'string' }
const relation = (kind: string, target: string, more: object = {}) => ({
  type: 'relation',
  relation: kind,
  target: `api::${target}.${target}`,
  ...more,
})
const type = (name: string, draftAndPublish: boolean, attributes: object) => ({
  [`api::${name}.${name}`]: {
    ...{
      kind: 'collectionType',
      collectionName: `${name}s`,
      info: { singularName: name, pluralName: `${name}s`, displayName: name },
      options: { draftAndPublish },
    },
    attributes,
  },
})
const pageAttributes = {
  title: text,
  tags: relation('manyToMany', 'tag', { inversedBy: 'pages' }),
  parts: { type: 'component', component: 'doctor.part', repeatable: true },
  aside: { type: 'component', component: 'doctor.part' },
  cover: { type: 'media', multiple: false, allowedTypes: ['images'] },
}
const tagAttributes = { name: text, pages: relation('manyToMany', 'page', { mappedBy: 'tags' }), shown: relation('oneToMany', 'page') }
const part = { 'doctor.part': { info: { displayName: 'Part' }, attributes: { name: text, picture: pageAttributes.cover } } }

let served: Served
beforeAll(async () => {
  served = await serveProject({}, { environment: secrets, config: { admin: { model: 'always' } } })
  await addToken(served, token, { type: 'full-access' })
  await served.sql("update strapi_api_tokens set document_id = 'token'")
  await insert(served, 'files', {
    document_id: 'picture',
    name: 'picture.png',
    url: 'https://files.example/picture.png',
    provider: 'elsewhere',
  })
})
afterAll(async () => {
  await served.service.close()
  await removeProject(served.folder)
})

const send = (path: string, method: string, body?: unknown): Promise<TestResponse> => request(served, { path, method, body })

/** Sends a change, and agrees to hide content. */
async function change(data: object, path = 'schemas', method = 'PUT'): Promise<void> {
  const answer = await agreed(served, { path: `/api/content-type-builder/${path}`, method, body: { data } })
  expect(answer.status, answer.text).toBe(200)
}
const undo = (): Promise<void> => change({}, 'undo', 'POST')

async function made(path: string, data: object): Promise<string> {
  const { status, body, text: said } = await send(path, 'POST', { data })
  expect(status, said).toBe(201)
  return body.data.documentId
}
async function read(path: string) {
  const found = await served.request(path, { token })
  expect(found.status, found.text).toBe(200)
  return found.body.data
}

/** The checks of the doctor that have found something, with their verdicts. */
async function findings(): Promise<Readonly<Record<string, string>>> {
  const env = { ...process.env, ...secrets, ...served.sameDatabase, UPLOADS_DIR: 'uploads' }
  const ended = promisify(execFile)(process.execPath, [main, 'doctor', served.folder, '--json'], { env })
  const { stdout } = await ended.catch((error: { readonly stdout: string }) => error)
  const { checks } = JSON.parse(stdout) as {
    readonly checks: readonly { readonly name: string; readonly verdict: string; readonly count: number }[]
  }
  const told = checks.filter(({ name, count }) => count > 0 && !name.startsWith('every column') && !name.startsWith('every table'))
  return Object.fromEntries(told.map(({ name, verdict }) => [name, verdict]))
}

const whole = (tags: readonly string[], name: string) => ({
  ...{ title: name, tags, cover: 1, aside: { name: `${name} aside`, picture: 1 } },
  parts: [{ name: `${name} 1`, picture: 1 }, { name: `${name} 2` }],
})

test('model-plans.11: links and entries beyond the first stay, are a note, and come back with the former kind', async () => {
  await change({ ...part, ...type('tag', false, tagAttributes), ...type('page', true, pageAttributes) })
  const tags = [await made('/api/tags', { name: 'red' }), await made('/api/tags', { name: 'blue' })]
  const page = await made('/api/pages', whole(tags, 'first'))
  const narrow = { ...pageAttributes, tags: relation('manyToOne', 'tag', { inversedBy: 'pages' }), parts: pageAttributes.aside }
  const before = await read('/api/pages?populate=*')
  await change({
    ...type('tag', false, { ...tagAttributes, pages: relation('oneToMany', 'page', { mappedBy: 'tags' }) }),
    ...type('page', true, narrow),
  })
  const [one] = await read('/api/pages?populate=*')
  expect([one.tags.name, one.parts.name]).toEqual(['red', 'first 1'])
  expect(await findings()).toEqual({
    'relations that a change of the model made to-one have at most one target': 'note',
    'components that a change of the model made single have at most one entry': 'note',
  })
  await change({ ...type('tag', false, tagAttributes), ...type('page', true, pageAttributes) })
  const [again] = await read('/api/pages?populate=*')
  expect([again.tags.length, again.parts.length]).toEqual([before[0].tags.length, before[0].parts.length])
  await change({
    ...type('tag', false, { ...tagAttributes, pages: relation('oneToMany', 'page', { mappedBy: 'tags' }) }),
    ...type('page', true, narrow),
  })
  const written = await send(`/api/pages/${page}`, 'PUT', { data: { tags: tags[1], parts: { name: 'only' } } })
  expect(written.status, written.text).toBe(200)
  expect(await findings()).toEqual({})
  await undo()
  expect(await findings()).toEqual({})
})

test('model-plans.15: archived entries and files are deleted with their document', async () => {
  const page = await made('/api/pages', whole([], 'second'))
  const kept = await made('/api/pages', whole([], 'third'))
  await change(type('page', true, { title: text, tags: pageAttributes.tags, parts: pageAttributes.parts }))
  expect(await findings()).toEqual({})
  expect((await send(`/api/pages/${page}`, 'DELETE')).status).toBe(204)
  expect(await findings()).toEqual({})
  await undo()
  expect(await findings()).toEqual({})
  const found = await read(`/api/pages/${kept}?populate[aside][populate]=*&populate[cover]=true`)
  expect([found.aside.name, found.aside.picture.name, found.cover.name]).toEqual(['third aside', 'picture.png', 'picture.png'])
})

test('model-plans.12, model-plans.13: archived drafts keep components and files, and newer links have both versions', async () => {
  const tag = await made('/api/tags', { name: 'green' })
  const draft = (await send('/api/pages?status=draft', 'POST', { data: whole([], 'fourth') })).body.data.documentId
  const page = await made('/api/pages', whole([], 'fifth'))
  expect((await send(`/api/pages/${page}?status=draft`, 'PUT', { data: { title: 'changed', parts: [{ name: 'draft' }] } })).status).toBe(
    200,
  )
  await change(type('page', false, pageAttributes))
  expect(await findings()).toEqual({})
  expect((await send(`/api/tags/${tag}`, 'PUT', { data: { shown: [page] } })).status).toBe(200)
  await undo()
  expect(await findings()).toEqual({})
  for (const status of ['draft', 'published']) {
    const { shown } = await read(`/api/tags/${tag}?populate=shown&status=${status}`)
    expect(
      shown.map(({ documentId }: { readonly documentId: string }) => documentId),
      status,
    ).toEqual([page])
  }
  const back = await read(`/api/pages/${draft}?status=draft&populate[aside][populate]=*&populate[cover]=true`)
  expect([back.aside.name, back.aside.picture.name, back.cover.name]).toEqual(['fourth aside', 'picture.png', 'picture.png'])
  expect((await read(`/api/pages/${page}?status=draft&populate=parts`)).parts.map(({ name }: { readonly name: string }) => name)).toEqual([
    'draft',
  ])
})

test('model-plans.13: drafts of types that refer to each other come back, or give way where they were written since', async () => {
  const types = (drafts: boolean) => ({ ...type('tag', drafts, tagAttributes), ...type('page', drafts, pageAttributes) })
  await change(types(true))
  const tag = await made('/api/tags', { name: 'violet' })
  const [page, other] = [await made('/api/pages', whole([tag], 'eighth')), await made('/api/pages', whole([tag], 'ninth'))]
  for (const [path, data] of [
    [`/api/tags/${tag}`, { name: 'changed' }],
    [`/api/pages/${page}`, { title: 'changed' }],
    [`/api/pages/${other}`, { title: 'changed too' }],
  ] as const)
    expect((await send(`${path}?status=draft`, 'PUT', { data })).status).toBe(200)
  await change(types(false))
  expect((await send(`/api/pages/${page}`, 'PUT', { data: { title: 'written since' } })).status).toBe(200)
  await undo()
  const found = await read(`/api/tags/${tag}?status=draft&populate=pages`)
  expect([found.name, found.pages.map(({ title }: { readonly title: string }) => title).sort()]).toEqual([
    'changed',
    ['changed too', 'written since'],
  ])
  expect((await read(`/api/pages/${page}?populate=tags`)).tags.map(({ name }: { readonly name: string }) => name)).toEqual(['violet'])
  expect(await findings()).toEqual({})
  await change({ ...type('tag', false, tagAttributes), ...type('page', true, pageAttributes) })
})

test('live-model.6: an archived column makes way for renamed content', async () => {
  const page = await made('/api/pages', { title: 'seventh' })
  const { title, ...others } = pageAttributes
  const heading = type('page', true, { heading: title, ...others })['api::page.page']
  const renames = [{ kind: 'attribute', schema: 'api::page.page', from: 'title', to: 'heading' }]
  const renamed = await send('/api/content-type-builder/schemas', 'PUT', { data: { 'api::page.page': heading }, renames })
  expect(renamed.status, renamed.text).toBe(200)
  await served.sql('alter table pages add column title varchar(255)')
  await served.sql("update pages set title = 'left behind'")
  await undo()
  expect((await read(`/api/pages/${page}`)).title).toBe('seventh')
  expect(await findings()).toEqual({})
})

test('model-plans.13: a draft whose document was written while drafts were off gives way to a new one', async () => {
  const page = await made('/api/pages', whole([], 'sixth'))
  expect((await send(`/api/pages/${page}?status=draft`, 'PUT', { data: { title: 'changed', parts: [{ name: 'draft' }] } })).status).toBe(
    200,
  )
  await change(type('page', false, pageAttributes))
  expect((await send(`/api/pages/${page}`, 'PUT', { data: { title: 'written since' } })).status).toBe(200)
  await undo()
  for (const status of ['draft', 'published']) {
    const found = await read(`/api/pages/${page}?status=${status}&populate=parts`)
    expect([found.title, found.parts.length], status).toEqual(['written since', 2])
  }
  expect(await findings()).toEqual({})
})
