// Errors of the administration API say where they are: in the data of documents, in schemas, in users and roles.
import { afterAll, beforeAll, expect } from 'vitest'
import { rule } from '../support/rule.js'
import { type Served, serveProject, type TestResponse } from '../support/serve.js'
import { addToken, secrets } from './callers.js'
import { type AdminClient, signInClient } from './newsroom.js'

const uid = 'api::note.note'
const note = (attributes: object) => ({
  kind: 'collectionType',
  collectionName: 'notes',
  info: { singularName: 'note', pluralName: 'notes', displayName: 'Note' },
  options: { draftAndPublish: false },
  attributes,
})
const ofNote = {
  title: { type: 'string' },
  cover: { type: 'media', allowedTypes: ['images'] },
  next: { type: 'relation', relation: 'oneToOne', target: uid },
  parts: { type: 'component', component: 'text.part', repeatable: true },
  zone: { type: 'dynamiczone', components: ['text.part'] },
}
const files = {
  'src/api/note/content-types/note/schema.json': note(ofNote),
  'src/components/text/part.json': {
    collectionName: 'components_text_parts',
    info: { displayName: 'Part' },
    attributes: { text: { type: 'string' }, link: { type: 'relation', relation: 'oneToOne', target: uid } },
  },
}

let served: Served
let ada: AdminClient
beforeAll(async () => {
  served = await serveProject(files, { environment: secrets, config: { admin: { model: 'always' }, limits: { authRateLimit: 0 } } })
  ada = await signInClient(served, 'ada@errors.example')
  await addToken(served, 'everything', { type: 'full-access' })
})
afterAll(() => served?.close())

const pathsOf = ({ status, body, text }: TestResponse) => {
  expect(status, text).toBe(400)
  return (body.error.details.errors as { path: string[] }[]).map(({ path }) => path.join('/'))
}
const post = (path: string, body: unknown) => ada.send('POST', path, body)
const nobody = 'a'.repeat(24)

rule('administration-content.17', 'missing and forbidden targets are reported with every position and without the data', async () => {
  const create = (data: object) => post(`/content/${uid}`, { data: { title: 'told', ...data } })
  const missing = [
    [{ next: nobody }, ['next']],
    [{ next: 777 }, ['next']],
    [{ next: { connect: [{ documentId: nobody }] } }, ['next']],
    [{ cover: 777 }, ['cover']],
    [{ cover: { id: 777 } }, ['cover']],
    [{ parts: [{ text: 'a' }, { link: nobody }], zone: [{ __component: 'text.part', link: nobody }] }, ['parts/1/link', 'zone/0/link']],
  ] as const
  for (const [data, paths] of missing) {
    const asked = await create(data)
    expect(pathsOf(asked), asked.text).toEqual(paths)
    expect(asked.text).not.toContain('told')
  }
  const wrong = await create({ id: 4, nothing: 1, other: 2, parts: [{ text: 'a' }, { zip: 1 }, { zip: 2 }], createdAt: 'x' })
  expect(pathsOf(wrong)).toEqual(['id', 'createdAt', 'nothing', 'other', 'parts/1/zip', 'parts/2/zip'])
  const made = await create({})
  const change = (changes: object) =>
    ada.send('PATCH', `/content/${uid}/${made.body.data.documentId}`, { changes }, { 'if-match': made.headers.get('etag')! })
  expect(pathsOf(await change({ next: nobody, cover: 777 }))).toEqual(['next'])
  expect(pathsOf(await change({ nothing: 1, parts: [{ zip: 1 }] }))).toEqual(['nothing', 'parts/0/zip'])
  expect(pathsOf(await change({ 'parts/3/text': 'x' }))).toEqual(['parts/3'])
  // The content API says what Strapi says.
  const headers = { 'content-type': 'application/json' }
  const body = JSON.stringify({ data: { title: 'told', next: nobody, nothing: 1 } })
  const asked = await served.request('/api/notes', { method: 'POST', token: 'everything', headers, body })
  expect(asked.body.error.details).toEqual({ key: 'nothing', path: null, source: 'body' })
})

rule('administration-model.8', 'an error in a schema has its position in the body', async () => {
  const at = (...path: string[]) => ['data', uid, 'attributes', 'x', ...path].join('/')
  const wrong = [
    [{ type: 'strng' }, [at('type')]],
    [{ type: 'relation', relation: 'oneToOne', target: 'api::no.no' }, [at('target')]],
    [{ type: 'relation', relation: 'zip', target: uid }, [at('relation')]],
    [{ type: 'component', component: 'no.no' }, [at()]],
    [{ type: 'uid', targetField: 'nothing' }, [at('targetField')]],
    [{ type: 'enumeration' }, [at('enum')]],
    [{ type: 'enumeration', enum: 5 }, [at('enum'), at('enum')]],
    [{ type: 'dynamiczone' }, [at('components')]],
    [{ type: 'dynamiczone', components: 'text.part' }, [at('components'), at('components')]],
  ] as const
  for (const [x, paths] of wrong) {
    const asked = await post('/model/plan', { data: { [uid]: note({ ...ofNote, x }) } })
    expect(pathsOf(asked), asked.text).toEqual(paths)
  }
  const book = { ...note({ x: { type: 'strng' } }), collectionName: 'books' }
  const made = { ...book, info: { singularName: 'book', pluralName: 'books', displayName: 'Book' } }
  const asked = await post('/model/plan', { data: { 'api::book.book': made } })
  expect(pathsOf(asked)).toEqual(['data/api::book.book/attributes/x/type'])
  expect(asked.body.error.message).toMatch(/^data\.api::book\.book\.attributes\.x\.type "strng" is not an attribute type/)
})

rule('administration.27', 'a taken value is reported by the field', async () => {
  const [role] = await served.sql('SELECT id FROM up_roles ORDER BY id')
  const user = { username: 'una', email: 'una@users.example', password: 'Secret-horse-7', role: Number(role!.id) }
  expect((await post('/users', user)).status).toBe(201)
  const wrong = [
    [{ email: 'other@users.example' }, ['username']],
    [{ username: 'another' }, ['email']],
    [{ username: 'another', email: 'another@users.example', role: 9_999 }, ['role']],
    [{ username: 'ab', email: 'another@users.example' }, ['username']],
  ] as const
  for (const [values, paths] of wrong) {
    const asked = await post('/users', { ...user, ...values })
    expect(pathsOf(asked), asked.text).toEqual(paths)
    expect(asked.text).not.toContain('Secret')
  }
  const named: readonly (readonly [string, object])[] = [
    ['/api-roles', { name: 'Twice', actions: [] }],
    ['/roles', { name: 'Twice' }],
    ['/tokens', { name: 'Twice', type: 'read-only' }],
    ['/webhooks', { name: 'Twice', url: 'https://example.com/', events: [] }],
    ['/folders', { name: 'Twice' }],
  ]
  for (const [path, body] of named) {
    expect((await post(path, body)).status).toBe(201)
    expect(pathsOf(await post(path, body)), path).toEqual(['name'])
  }
})
