// docs/spec/writing.md: required relations and files where config/api has them enforced, and null in place of a list.
import { afterAll, beforeAll, expect } from 'vitest'
import { rule } from '../support/rule.js'
import { serveProject } from '../support/serve.js'
import { addToken, secrets } from './callers.js'
import { component, contentType } from './library.js'
import { serveWritable, type WritableProject } from './writable-project.js'

const relation = (kind: string) => ({ type: 'relation', relation: kind, target: 'api::topic.topic', required: true })
const pic = { type: 'media', multiple: false, required: true }
const note = { type: 'component', component: 'parts.note' }
const plain = { type: 'component', component: 'parts.plain', repeatable: true }
const zone = { type: 'dynamiczone', components: ['parts.plain'] }
const attributes = {
  name: { type: 'string' },
  topic: relation('oneToOne'),
  topics: relation('manyToMany'),
  pic,
  pics: { ...pic, multiple: true },
  one: note,
  list: { ...note, repeatable: true },
}
const lists = {
  items: plain,
  zone,
  needed: { ...plain, required: true },
  box: { type: 'component', component: 'parts.box' },
  boxes: { type: 'dynamiczone', components: ['parts.box'] },
}
const files = {
  ...contentType('topic', { name: { type: 'string' } }, { draftAndPublish: true }),
  ...contentType('page', attributes, { draftAndPublish: true }),
  ...contentType('item', attributes),
  ...contentType('card', {
    kind: { type: 'string' },
    topic: { ...relation('oneToOne'), conditions: { visible: { '==': [{ var: 'kind' }, 'full'] } } },
    one: { ...note, conditions: { visible: { '==': [{ var: 'kind' }, 'full'] } } },
  }),
  ...contentType('shelf', lists, { draftAndPublish: true, plural: 'shelves' }),
  ...contentType('front', { ...lists, needed: plain }, { kind: 'singleType' }),
  ...component('parts', 'note', { topic: relation('oneToOne'), pic }),
  ...component('parts', 'plain', { text: { type: 'string' } }),
  ...component('parts', 'box', { items: plain }),
  'config/api.js': 'module.exports = { documents: { strictRelations: true } }',
}

let project: WritableProject
let topics: readonly string[]
let file: number
beforeAll(async () => {
  project = await serveWritable(files, 'strapi')
  const made = [await project.make('topics', { name: 'a' }), await project.make('topics', { name: 'b' })]
  topics = made.map(({ documentId }) => documentId)
  const form = new FormData()
  form.append('files', new Blob(['text'], { type: 'text/plain' }), 'a.txt')
  file = (await project.served.request('/api/upload', { method: 'POST', token: 'full', body: form })).body[0].id
})
afterAll(() => project.served.close())

const whole = (more: object = {}) => ({ topic: topics[0], topics, pic: file, pics: [file], ...more })
const missing = async (method: string, path: string, data: object): Promise<readonly string[]> => {
  const { status, body } = await project.send(method, path, data)
  if (status < 300) return []
  if (status !== 400) throw new Error(JSON.stringify(body))
  return body.error.details.errors.map(({ path: at, message }: { path: string[]; message: string }) => `${at.join('.')}: ${message}`).sort()
}
const all = ['pic', 'pics', 'topic', 'topics'].map((name) => `${name}: ${name} must be defined.`)

rule('writing.31', 'a document without required relations and files is refused, a draft is not', async () => {
  for (const path of ['items', 'pages']) {
    const none = { topic: { set: [] }, topics: { connect: [] }, pic: { set: [] }, pics: [] }
    const away = { topic: { disconnect: [topics[0]] }, topics: { disconnect: topics }, pic: null, pics: [] }
    for (const data of [{ name: 'x' }, { topic: null, topics: null, pic: null, pics: null }, none, away])
      expect(await missing('POST', path, data)).toEqual(all)
    const inside = ['pic', 'topic'].map((name) => `one.${name}: ${name} must be defined.`)
    expect(await missing('POST', path, whole({ one: {} }))).toEqual(inside)
    expect(await missing('POST', path, whole({ list: [{ pic: file, topic: topics[0] }, { pic: file }] }))).toEqual([
      'list.1.topic: topic must be defined.',
    ])
    expect(await missing('POST', path, whole({ one: { topic: topics[1], pic: file } }))).toEqual([])
  }
  const { documentId } = await project.make('pages?status=draft', { name: 'draft' })
  expect(await missing('PUT', `pages/${documentId}?status=draft`, { topics: [] })).toEqual([])
  expect(await missing('POST', `pages/${documentId}/actions/publish`, {})).toEqual(all)
  expect(await missing('PUT', `pages/${documentId}`, { name: 'more' })).toEqual(all)
  expect(await missing('PUT', `pages/${documentId}?status=draft`, whole())).toEqual([])
  expect(await missing('POST', `pages/${documentId}/actions/publish`, {})).toEqual([])
})

rule('writing.31', 'files that a new document connects are not linked (relations.10), so they are missing', async () => {
  const connected = { connect: [{ id: file }] }
  for (const path of ['items', 'pages']) {
    expect(await missing('POST', path, whole({ pic: connected, pics: connected }))).toEqual(all.slice(0, 2))
    const inside = await missing('POST', path, whole({ one: { topic: topics[0], pic: connected } }))
    expect(inside).toEqual(['one.pic: pic must be defined.'])
    const made = await project.make(path, whole())
    expect(await missing('PUT', `${path}/${made.documentId}`, { pic: connected, pics: connected })).toEqual([])
  }
})

rule('writing.31', 'an update must not remove the last link, stored or new', async () => {
  for (const path of ['items', 'pages']) {
    const made = await project.make(`${path}?populate=one`, whole({ one: { topic: topics[0], pic: file } }))
    const at = `${path}/${made.documentId}`
    const draft = path === 'items' ? made : await project.read(`${at}?status=draft&populate=one`)
    expect(await missing('PUT', at, { name: 'another' })).toEqual([])
    expect(await missing('PUT', at, { topics: { disconnect: [topics[0]] } })).toEqual([])
    for (const topicsLeft of [{ disconnect: [topics[1]] }, [], { set: [] }, null])
      expect(await missing('PUT', at, { topics: topicsLeft })).toEqual(['topics: topics must be defined.'])
    expect(await missing('PUT', at, { topics: { disconnect: [topics[1]], connect: [topics[0]] } })).toEqual([])
    expect(await missing('PUT', at, { topics: { connect: [] }, topic: {} })).toEqual([])
    for (const gone of [{ disconnect: [topics[0]] }, null, { set: [] }])
      expect(await missing('PUT', at, { topic: gone })).toEqual(['topic: topic must be defined.'])
    expect(await missing('PUT', at, { pic: null, pics: { disconnect: [file] } })).toEqual(
      expect.arrayContaining(['pic: pic must be defined.']),
    )
    expect(await missing('PUT', at, { pics: { disconnect: [file] } })).toEqual(['pics: pics must be defined.'])
    const inner = { id: draft.one.id, topic: { disconnect: [topics[0]] } }
    expect(await missing('PUT', at, { one: inner })).toEqual(['one.topic: topic must be defined.'])
    expect(await missing('PUT', at, { one: { id: draft.one.id, topic: topics[1] } })).toEqual([])
  }
})

rule('writing.31', 'publications need published targets', async () => {
  const { documentId: draft } = await project.make('topics?status=draft', { name: 'draft' })
  const inside = { topic: draft, pic: file }
  const drafts = whole({ topic: draft, topics: [draft], one: inside, list: [inside] })
  const wanted = ['list.0.topic: topic', 'one.topic: topic', 'topic: topic', 'topics: topics'].map((each) => `${each} must be defined.`)
  expect(await missing('POST', 'pages', drafts)).toEqual(wanted)
  expect(await missing('POST', 'pages', whole({ topics: [draft, topics[0]] }))).toEqual([])
  // Without drafts the link itself is required.
  expect(await missing('POST', 'items', drafts)).toEqual([])
  const { documentId } = await project.make('pages?status=draft', drafts)
  expect(await missing('POST', `pages/${documentId}/actions/publish`, {})).toEqual(wanted)
  await project.send('POST', `topics/${draft}/actions/publish`)
  expect(await missing('POST', `pages/${documentId}/actions/publish`, {})).toEqual([])
  expect(await missing('PUT', `pages/${documentId}`, { name: 'later' })).toEqual([])
})

rule('writing.31', 'an update may not reveal that a required link is missing', async () => {
  const { documentId } = await project.make('cards?populate=one', { kind: 'short', one: {} })
  const at = `cards/${documentId}`
  expect(await missing('PUT', at, { kind: 'other' })).toEqual([])
  const inside = ['one.pic: pic must be defined.', 'one.topic: topic must be defined.']
  expect(await missing('PUT', at, { kind: 'full' })).toEqual([...inside, 'topic: topic must be defined.'])
  expect(await missing('PUT', at, { kind: 'full', topic: topics[0] })).toEqual(inside)
  expect(await missing('PUT', at, { kind: 'full', topic: topics[0], one: null })).toEqual([])
  expect(await missing('PUT', at, { kind: 'short', topic: null })).toEqual([])
})

rule('writing.31', 'octavo.config overrides config/api', async () => {
  const config = { api: { rest: { contract: 'strapi' as const }, documents: { strictRelations: false } } }
  const served = await serveProject(files, { environment: secrets, config })
  await addToken(served, 'full', { type: 'full-access' })
  const headers = { 'content-type': 'application/json' }
  expect((await served.request('/api/items', { method: 'POST', token: 'full', headers, body: '{"data":{}}' })).status).toBe(201)
  await served.close()
})

rule('writing.32', 'null empties lists that are not required in the contract specification', async () => {
  const spec = await serveWritable(files, 'specification')
  const entry = { text: 'x' }
  const full = {
    ...{ items: [entry], needed: [entry], zone: [{ __component: 'parts.plain', ...entry }], box: { items: [entry] } },
    boxes: [{ __component: 'parts.box', items: [entry] }],
  }
  const populate =
    'populate[items]=*&populate[zone]=true&populate[needed]=*&populate[box][populate]=items&populate[boxes][on][parts.box][populate]=items'
  const { documentId } = await spec.make('shelves', full)
  const path = `shelves/${documentId}`
  const emptied = { items: null, zone: null, box: { items: null }, boxes: [{ __component: 'parts.box', items: null }] }
  const found = { items: [], zone: [], box: { items: [] }, boxes: [{ items: [] }] }
  expect(await spec.change(`${path}?status=draft&${populate}`, { ...emptied, needed: null })).toMatchObject({ ...found, needed: [] })
  expect(await spec.read(`${path}?${populate}`)).toMatchObject({ items: [entry], needed: [entry] })
  expect(await spec.refusal('PUT', path, { needed: null })).toMatch(/^needed must be a `array` type/)
  expect(await spec.change(`${path}?${populate}`, { ...emptied, needed: [entry] })).toMatchObject(found)
  expect(await spec.make(`shelves?${populate}`, { ...emptied, needed: [entry] })).toMatchObject(found)
  expect(await spec.refusal('POST', 'shelves', { needed: null })).toMatch(/^needed must be a `array` type/)
  expect(await spec.change(`front?${populate}`, full)).toMatchObject({ items: [entry] })
  expect(await spec.change(`front?${populate}`, { ...emptied, needed: null })).toMatchObject({ ...found, needed: [] })
  await spec.served.close()
  expect(await project.refusal('POST', 'shelves', { items: null, needed: [entry] })).toMatch(/^items must be a `array` type/)
})
