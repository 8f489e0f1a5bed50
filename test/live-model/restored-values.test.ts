// `octavo model restore`: archived values of an attribute come back by name after later changes, while a service serves.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { afterAll, beforeAll, expect } from 'vitest'
import { addToken, insert, secrets } from '../spec/callers.js'
import { rule } from '../support/rule.js'
import { removeProject, type Served, serveProject, type TestResponse } from '../support/serve.js'
import { agreed, send as ask, token } from './changing-project.js'

const main = join(import.meta.dirname, '..', '..', 'dist', 'main.js')
const text = { type: 'string' }
const part = { 'shared.part': { info: { displayName: 'part' }, attributes: { text } } }
const parts = { type: 'component', component: 'shared.part', repeatable: true }
const cover = { type: 'media', multiple: false }
const noteOf = (attributes: object, collectionName = 'notes') => ({
  'api::note.note': {
    kind: 'collectionType',
    collectionName,
    info: { singularName: 'note', pluralName: 'notes', displayName: 'note' },
    options: { draftAndPublish: false },
    attributes: { title: text, ...attributes },
  },
})
const uid = 'api::note.note'
const related = { type: 'relation', relation: 'oneToMany', target: uid }

let served: Served
beforeAll(async () => {
  served = await serveProject({}, { environment: secrets, config: { admin: { model: 'always' } } })
  await addToken(served, token, { type: 'full-access' })
  await served.sql("update strapi_api_tokens set document_id = 'token'")
})
afterAll(async () => {
  await served.service.close()
  await removeProject(served.folder)
})

const send = (method: string, path: string, body?: unknown): Promise<TestResponse> => ask(served, { path, method, body })

async function change(data: object): Promise<void> {
  const made = await agreed(served, { path: '/api/content-type-builder/schemas', method: 'PUT', body: { data } })
  expect(made.status, made.text).toBe(200)
}

/** Runs a command. */
async function octavo(...words: readonly string[]) {
  const env = { ...process.env, ...secrets, ...served.sameDatabase, UPLOADS_DIR: 'uploads', OCTAVO_ADMIN_MODEL: 'always' }
  const child = spawn(process.execPath, [main, ...words], { env })
  let [out, error] = ['', '']
  child.stdout.on('data', (data) => {
    out += data
  })
  child.stderr.on('data', (data) => {
    error += data
  })
  const [status] = await once(child, 'close')
  return { status, out: out.trim(), error: error.trim() }
}

const restore = (name: string) => octavo('model', 'restore', name, served.folder)

async function notes() {
  const found = await send('GET', '/api/notes?sort=title&populate=*')
  expect(found.status, found.text).toBe(200)
  return found.body.data
}

rule('live-model.23', 'archived values come back by name after later changes, where there is nothing newer', async () => {
  await change({ ...part, ...noteOf({ body: text, size: text, empty: text, parts, other: parts, cover, related }) })
  const moments = { created_at: Date.now(), updated_at: Date.now(), published_at: Date.now() }
  const file = await insert(served, 'files', {
    document_id: 'picture',
    name: 'p.png',
    hash: 'p',
    url: '/uploads/p.png',
    mime: 'image/png',
    ...moments,
  })
  const written = [
    { title: 'one', body: 'first', size: '12', parts: [{ text: 'a' }, { text: 'b' }], cover: file },
    { title: 'two', body: 'second', size: 'wide', parts: [{ text: 'c' }], cover: file },
  ]
  const ids: string[] = []
  for (const data of written) ids.push((await send('POST', '/api/notes', { data })).body.data.documentId)
  await send('PUT', `/api/notes/${ids[0]}`, { data: { related: [ids[1]] } })
  await change(noteOf({ other: parts }))
  const removed = (await send('GET', '/api/content-type-builder/changes')).body.data.at(-1).id
  await change(noteOf({ other: parts }, 'papers'))
  await change(noteOf({ body: text, size: { type: 'integer' }, empty: text, parts, cover, related, other: parts }, 'papers'))
  const newer = { body: 'newer', parts: [{ text: 'newer' }] }
  expect((await send('PUT', `/api/notes/${ids[1]}`, { data: newer })).status).toBe(200)
  const refused = await send('POST', '/api/content-type-builder/undo', { data: { change: removed } })
  expect([refused.status, refused.body.error.message]).toEqual([409, expect.stringContaining('octavo model restore')])

  for (const name of ['body', 'size', 'parts', 'cover']) {
    const restored = await restore(`${uid}.${name}`)
    expect(restored, name).toMatchObject({
      status: 0,
      out: expect.stringMatching(/^Archived values of api::note\.note\.\w+ were restored/),
    })
  }
  expect(await notes()).toMatchObject([
    { title: 'one', body: 'first', size: 12, parts: [{ text: 'a' }, { text: 'b' }], cover: { name: 'p.png' } },
    { title: 'two', body: 'newer', size: null, parts: [{ text: 'newer' }], cover: { name: 'p.png' } },
  ])
  // With the last component, the table of entries is archived as a whole.
  await change(noteOf({ body: text, size: { type: 'integer' }, empty: text }, 'papers'))
  await change(noteOf({ body: text, size: { type: 'integer' }, empty: text, parts, cover, related }, 'papers'))
  expect((await send('PUT', `/api/notes/${ids[1]}`, { data: { parts: [{ text: 'latest' }] } })).status).toBe(200)
  for (const name of ['parts', 'cover']) expect((await restore(`${uid}.${name}`)).status).toBe(0)
  expect(await notes()).toMatchObject([
    { parts: [{ text: 'a' }, { text: 'b' }], cover: { name: 'p.png' } },
    { parts: [{ text: 'latest' }], cover: { name: 'p.png' } },
  ])
  // What did not become a number stays archived.
  await change(noteOf({ body: text, size: text, empty: text, parts, cover, related }, 'papers'))
  expect((await restore(`${uid}.size`)).status).toBe(0)
  expect((await notes()).map(({ size }: { readonly size: string }) => size)).toEqual(['12', 'wide'])
  expect((await octavo('doctor', served.folder)).status).toBe(0)
})

rule('live-model.23', 'what has no archived values is refused, and a restoration is not undone', async () => {
  for (const [name, message] of [
    [`${uid}.none`, 'The model has no attribute api::note.note.none'],
    ['nothing', 'The model has no attribute nothing'],
    [`${uid}.title`, 'has no archived values'],
    [`${uid}.related`, 'is a relation'],
  ] as const) {
    const { status, error } = await restore(name)
    expect([status, error]).toEqual([1, expect.stringContaining(message)])
  }
  const undone = await send('POST', '/api/content-type-builder/undo', {})
  expect([undone.status, undone.body.error.message]).toEqual([409, expect.stringContaining('cannot be undone: it changed no files')])
  await change(noteOf({ body: { type: 'password' } }, 'papers'))
  const { error } = await restore(`${uid}.body`)
  expect(error).toContain('Archived values of the type string do not become values of the type password')
})
