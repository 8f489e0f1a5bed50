// Changes of the model by which Strapi 5.54 silently loses content, or which it accepts and then does not start: here nothing is lost,
// and the response names the remedy.
import { afterAll, beforeAll, expect } from 'vitest'
import { addToken, secrets } from '../spec/callers.js'
import { rule } from '../support/rule.js'
import { type Served, serveProject, type TestResponse } from '../support/serve.js'

type Attributes = Readonly<Record<string, object>>
type Schemas = Readonly<Record<string, object | null>>

const token = 'changes-the-model'
const text = { type: 'string' }
const perLocale = { pluginOptions: { i18n: { localized: true } } }
const relation = (kind: string, target: string, more: object = {}) => ({ type: 'relation', relation: kind, target, ...more })
const component = (uid: string, more: object = {}) => ({ type: 'component', component: uid, ...more })

const writerAttributes: Attributes = {
  name: { ...text, required: true },
  notes: relation('oneToMany', 'api::note.note', { mappedBy: 'writer' }),
}
const noteAttributes: Attributes = {
  title: { ...text, ...perLocale },
  size: text,
  writer: relation('manyToOne', 'api::writer.writer', { inversedBy: 'notes' }),
  friends: relation('manyToMany', 'api::writer.writer'),
  seo: component('shared.seo', perLocale),
  parts: { type: 'dynamiczone', components: ['shared.seo', 'shared.tag'], ...perLocale },
}

const writer = (attributes: Attributes = writerAttributes, more: object = {}) => ({
  kind: 'collectionType',
  collectionName: 'writers',
  info: { singularName: 'writer', pluralName: 'writers', displayName: 'Writer' },
  options: { draftAndPublish: false },
  attributes,
  ...more,
})
const note = (attributes: Attributes = noteAttributes, more: object = {}) => ({
  kind: 'collectionType',
  collectionName: 'notes',
  info: { singularName: 'note', pluralName: 'notes', displayName: 'Note' },
  options: { draftAndPublish: true },
  pluginOptions: { i18n: { localized: true } },
  attributes,
  ...more,
})
const ofComponent = (table: string, attributes: Attributes = { name: text }) => ({
  collectionName: table,
  info: { displayName: table },
  attributes,
})
const first: Schemas = {
  'shared.seo': ofComponent('components_shared_seos'),
  'shared.tag': ofComponent('components_shared_tags'),
  'api::writer.writer': writer(),
  'api::note.note': note(),
}

/** The attributes without some, and with others. */
const but = (attributes: Attributes, without: readonly string[], more: Attributes = {}): Attributes => ({
  ...Object.fromEntries(Object.entries(attributes).filter(([name]) => !without.includes(name))),
  ...more,
})

let served: Served
beforeAll(async () => {
  served = await serveProject({}, { environment: secrets, config: { admin: { model: 'always' } } })
  await addToken(served, token, { type: 'full-access' })
  await served.sql("insert into i18n_locale (document_id, code, name) values ('german', 'de', 'German')")
  expect((await put(first)).status).toBe(200)
  const [ada, ben] = await Promise.all(['Ada', 'Ben'].map(async (name) => (await write('/api/writers', { name })).body.data.documentId))
  const whole = { size: '12', writer: ada, friends: [ben, ada], seo: { name: 'seo' } }
  const parts = [
    { __component: 'shared.tag', name: 'tag' },
    { __component: 'shared.seo', name: 'part' },
  ]
  const published = (await write('/api/notes', { title: 'published', ...whole, parts })).body.data.documentId
  expect((await write(`/api/notes/${published}?status=draft`, { title: 'changed', size: 'wide' }, 'PUT')).status).toBe(200)
  expect((await write(`/api/notes/${published}?locale=de`, { title: 'deutsch' }, 'PUT')).status).toBe(200)
  expect((await write('/api/notes?status=draft', { title: 'draft', friends: [ada] })).status).toBe(201)
  expect((await write('/api/notes?locale=de', { title: 'nur deutsch' })).status).toBe(201)
})
afterAll(() => served?.close())

const send = (path: string, method: string, body: unknown, agree = ''): Promise<TestResponse> =>
  served.request(path, {
    method,
    token,
    body: JSON.stringify(body),
    headers: { 'content-type': 'application/json', ...(agree === '' ? {} : { 'octavo-agree': agree }) },
  })
const write = (path: string, data: object, method = 'POST'): Promise<TestResponse> => send(path, method, { data })
const put = (data: Schemas, more: object = {}, agree = ''): Promise<TestResponse> =>
  send('/api/content-type-builder/schemas', 'PUT', { data, ...more }, agree)
const read = async (path: string) => {
  const found = await served.request(path, { token })
  expect(found.status, found.text).toBe(200)
  return found.body.data
}

/** Everything that the API returns, except ids and times, which undoing a change need not restore. */
async function content(): Promise<unknown[][]> {
  const lists = await Promise.all(
    ['/api/writers?populate=*', '/api/notes?populate=*&locale=*', '/api/notes?populate=*&locale=*&status=draft'].map((path) =>
      read(`${path}&sort[0]=documentId${path.includes('locale') ? '&sort[1]=locale' : ''}&pagination[pageSize]=100`),
    ),
  )
  const passing = new Set(['id', 'createdAt', 'updatedAt', 'publishedAt'])
  return JSON.parse(JSON.stringify(lists, (key, value) => (passing.has(key) ? undefined : value)))
}

const model = async () => [await read('/api/content-type-builder/content-types'), await read('/api/content-type-builder/components')]

interface Lost {
  readonly what: string
  readonly data: Schemas
  readonly more?: object
  /** The losses to agree to, with their counts; empty: the content stays. */
  readonly losses: Readonly<Record<string, number>>
  /** True if it publishes documents, which an undo does not revert. */
  readonly publishes?: boolean
}

const renamed = (schema: string, from: string, to: string) => ({ kind: 'attribute', schema, from, to })
const { name: _displayed, ...withoutName } = { name: 0, ...writerAttributes }

const lost: readonly Lost[] = [
  {
    what: 'an attribute is renamed without a word',
    data: { 'api::note.note': note(but(noteAttributes, ['size'], { width: text })) },
    losses: { 'api::note.note.size': 4 },
  },
  {
    what: 'an attribute is renamed',
    data: { 'api::note.note': note(but(noteAttributes, ['size'], { width: text })) },
    more: { renames: [renamed('api::note.note', 'size', 'width')] },
    losses: {},
  },
  {
    what: 'an attribute is removed',
    data: { 'api::note.note': note(but(noteAttributes, ['size'])) },
    losses: { 'api::note.note.size': 4 },
  },
  {
    what: 'an attribute becomes a component',
    data: { 'api::note.note': note(but(noteAttributes, [], { size: component('shared.tag') })) },
    losses: { 'api::note.note.size': 4 },
  },
  {
    what: 'an attribute becomes a relation',
    data: { 'api::note.note': note(but(noteAttributes, [], { size: relation('oneToOne', 'api::writer.writer') })) },
    losses: { 'api::note.note.size': 4 },
  },
  {
    what: 'an attribute becomes media',
    data: { 'api::note.note': note(but(noteAttributes, [], { size: { type: 'media', multiple: false } })) },
    losses: { 'api::note.note.size': 4 },
  },
  {
    what: 'an attribute becomes a dynamic zone',
    data: { 'api::note.note': note(but(noteAttributes, [], { size: { type: 'dynamiczone', components: ['shared.tag'] } })) },
    losses: { 'api::note.note.size': 4 },
  },
  {
    what: 'a text becomes an integer: other texts are archived and counted',
    data: { 'api::note.note': note(but(noteAttributes, [], { size: { type: 'integer' } })) },
    losses: { 'api::note.note.size': 4 },
  },
  {
    what: 'the inverse of a new relation takes the name of an attribute',
    data: {
      'api::writer.writer': writer({ ...withoutName, name: relation('oneToMany', 'api::note.note', { mappedBy: 'author' }) }),
      'api::note.note': note(but(noteAttributes, [], { author: relation('manyToOne', 'api::writer.writer', { inversedBy: 'name' }) })),
    },
    losses: { 'api::writer.writer.name': 2 },
  },
  {
    what: 'a relation refers to another type',
    data: { 'api::note.note': note(but(noteAttributes, [], { friends: relation('manyToMany', 'api::note.note') })) },
    losses: { 'api::note.note.friends': 5 },
  },
  {
    what: 'manyToMany becomes oneToMany: the table has another name in Strapi',
    data: { 'api::note.note': note(but(noteAttributes, [], { friends: relation('oneToMany', 'api::writer.writer') })) },
    losses: {},
  },
  {
    what: 'the side that has the links is the other one',
    data: {
      'api::writer.writer': writer(
        but(writerAttributes, ['notes'], { notes: relation('manyToMany', 'api::note.note', { inversedBy: 'writer' }) }),
      ),
      'api::note.note': note(but(noteAttributes, [], { writer: relation('manyToMany', 'api::writer.writer', { mappedBy: 'notes' }) })),
    },
    losses: {},
  },
  {
    what: 'Draft & Publish is switched off',
    data: { 'api::note.note': note(noteAttributes, { options: { draftAndPublish: false } }) },
    losses: { 'api::note.note:changes': 1, 'api::note.note:drafts': 1 },
  },
  {
    what: 'Draft & Publish is switched on',
    data: { 'api::writer.writer': writer(writerAttributes, { options: { draftAndPublish: true } }) },
    losses: {},
  },
  {
    what: 'localization is switched off',
    data: { 'api::note.note': note(noteAttributes, { pluginOptions: {} }) },
    losses: { 'api::note.note:locales': 4, 'api::note.note:onlyElsewhere': 1 },
  },
  {
    what: 'a component gets another category',
    data: {
      'shared.tag': null,
      'marks.tag': ofComponent('components_shared_tags'),
      'api::note.note': note(but(noteAttributes, [], { parts: { ...noteAttributes.parts, components: ['shared.seo', 'marks.tag'] } })),
    },
    more: { renames: [{ kind: 'component', from: 'shared.tag', to: 'marks.tag' }] },
    losses: {},
  },
  {
    what: 'a component is deleted',
    data: {
      'shared.tag': null,
      'api::note.note': note(but(noteAttributes, [], { parts: { ...noteAttributes.parts, components: ['shared.seo'] } })),
    },
    losses: { 'api::note.note.parts:shared.tag': 2, 'shared.tag': 2 },
  },
  {
    what: 'a component is removed from a zone',
    data: { 'api::note.note': note(but(noteAttributes, [], { parts: { ...noteAttributes.parts, components: ['shared.seo'] } })) },
    losses: { 'api::note.note.parts:shared.tag': 2 },
  },
  {
    what: 'an attribute has another component: rows of the other one would be taken for its own',
    data: { 'api::note.note': note(but(noteAttributes, [], { seo: component('shared.tag', perLocale) })) },
    losses: { 'api::note.note.seo': 2 },
  },
  {
    what: 'a type is deleted',
    data: { 'api::note.note': null, 'api::writer.writer': writer(but(writerAttributes, ['notes'])) },
    losses: { 'api::note.note': 3 },
  },
  { what: 'a type has another table', data: { 'api::note.note': note(noteAttributes, { collectionName: 'remarks' }) }, losses: {} },
  { what: 'a type names no table', data: { 'api::note.note': note(noteAttributes, { collectionName: undefined }) }, losses: {} },
  {
    what: 'Draft & Publish is switched off, and what was never published is published',
    data: { 'api::note.note': note(noteAttributes, { options: { draftAndPublish: false } }) },
    more: { neverPublished: 'publish' },
    publishes: true,
    losses: { 'api::note.note:changes': 1 },
  },
]

for (const { what, data, more = {}, losses, publishes = false } of lost)
  rule('live-model.5', `Strapi loses it without a word: ${what}`, async () => {
    const [before, formerModel] = [await content(), await model()]
    if (Object.keys(losses).length > 0) {
      const refused = await put(data, more)
      expect(refused.status, refused.text).toBe(409)
      const named = refused.body.error.details.losses.map(({ name, count }: { name: string; count: number }) => [name, count])
      expect(Object.fromEntries(named)).toEqual(losses)
      expect(refused.body.error.message).toContain('octavo-agree')
      expect([await content(), await model()]).toEqual([before, formerModel])
    }
    const made = await put(data, more, Object.keys(losses).join(','))
    expect(made.status, made.text).toBe(200)
    const undone = await send('/api/content-type-builder/undo', 'POST', {})
    expect(undone.status, undone.text).toBe(200)
    const [after, restored] = [await content(), await model()]
    if (publishes) expect(after).toEqual(before.map((list) => expect.arrayContaining(list)))
    else expect(after).toEqual(before)
    expect(restored).toEqual(formerModel)
  })

/** Content and schemas without what a component's uid decides: its name in zones, and the documentIds of its entries. */
const withoutUids = (found: unknown) =>
  JSON.parse(JSON.stringify(found, (key, value) => (key === 'documentId' ? undefined : value)).replaceAll('common.', 'shared.'))

const listed = (attributes: Attributes) => Object.entries(attributes).map(([name, properties]) => ({ action: 'update', name, properties }))

rule(
  'content-type-builder.17',
  'update-schema makes a collection with several documents a single type only if that is agreed to',
  async () => {
    const attributes = listed({ ...writerAttributes, notes: relation('oneToMany', 'api::note.note', { targetAttribute: 'writer' }) })
    const names = { displayName: 'Writer', kind: 'singleType' }
    const type = { action: 'update', uid: 'api::writer.writer', draftAndPublish: false, ...names, attributes }
    const { body } = await send('/content-type-builder/update-schema', 'POST', { data: { contentTypes: [type], components: [] } })
    expect(body.error).toMatchObject({ status: 409, details: { losses: [{ name: 'api::writer.writer:single', count: 1 }] } })
  },
)

rule('content-type-builder.18', 'a component that moves to another category keeps its content', async () => {
  const attributes = listed({ name: text })
  const component = { action: 'update', uid: 'shared.tag', displayName: 'Tag', category: 'common', attributes }
  const before = await content()
  const formerModel = await model()
  const response = await send('/content-type-builder/update-schema', 'POST', { data: { contentTypes: [], components: [component] } })
  expect(response.status, response.text).toBe(200)
  const after = await content()
  expect(JSON.stringify(after)).toContain('"common.tag"')
  expect(withoutUids(after)).toEqual(withoutUids(before))
  expect((await send('/api/content-type-builder/undo', 'POST', {})).status).toBe(200)
  expect([await content(), await model()]).toEqual([before, formerModel])
})

rule('content-type-builder.5', 'a relation to another type leaves the links of its other side', async () => {
  const before = await content()
  const attributes = listed({ ...writerAttributes, notes: relation('oneToMany', 'api::writer.writer', { targetAttribute: 'mentor' }) })
  const type = { action: 'update', uid: 'api::writer.writer', draftAndPublish: false, displayName: 'Writer', attributes }
  const made = await send(
    '/content-type-builder/update-schema',
    'POST',
    { data: { contentTypes: [type], components: [] } },
    'api::note.note.writer:inverseOrder',
  )
  expect(made.status, made.text).toBe(200)
  const [writers, ...notes] = await content()
  expect(notes).toEqual(before.slice(1))
  expect(writers).toMatchObject([{ notes: [] }, { notes: [] }])
  const [{ documentId }] = await read('/api/notes')
  const [, other] = await read('/api/writers?sort=name')
  const written = await write(`/api/notes/${documentId}?populate=writer`, { writer: other.documentId }, 'PUT')
  expect(written.body.data.writer).toMatchObject({ documentId: other.documentId })
  expect((await send('/api/content-type-builder/undo', 'POST', {})).status).toBe(200)
})

rule('content-type-builder.1', 'an attribute named createdat is not createdAt', async () => {
  const info = { singularName: 'diary', pluralName: 'diaries', displayName: 'Diary' }
  expect((await put({ 'api::diary.diary': { ...writer({ createdat: text }), collectionName: 'diaries', info } })).status).toBe(200)
  const { body } = await write('/api/diaries', { createdat: 'May' })
  expect([body.data.createdat, Date.parse(body.data.createdAt)]).toEqual(['May', expect.any(Number)])
  expect(await read('/api/diaries?filters[createdat]=May&filters[createdAt][$notNull]=true&sort=createdat')).toHaveLength(1)
})

const refused: readonly [what: string, data: Schemas, message: string][] = [
  ['the table of another type', { 'api::note.note': note(noteAttributes, { collectionName: 'writers' }) }, 'writers'],
  ['a table of the system', { 'api::note.note': note(noteAttributes, { collectionName: 'strapi_migrations' }) }, 'reserved'],
  ['a table of administrators', { 'api::note.note': note(noteAttributes, { collectionName: 'admin_users' }) }, 'admin_users'],
  [
    'a plural name that is taken',
    {
      'api::other.other': {
        ...writer(),
        collectionName: 'others',
        info: { singularName: 'other', pluralName: 'notes', displayName: 'o' },
        attributes: { text },
      },
    },
    'notes',
  ],
  [
    'a component that does not exist',
    { 'api::writer.writer': writer(but(writerAttributes, [], { seo: component('shared.none') })) },
    'shared.none',
  ],
  [
    'a zone with a component that does not exist',
    { 'api::writer.writer': writer(but(writerAttributes, [], { parts: { type: 'dynamiczone', components: ['shared.none'] } })) },
    'shared.none',
  ],
  [
    'a custom field that nobody has registered',
    { 'api::writer.writer': writer(but(writerAttributes, [], { colour: { type: 'customField', customField: 'plugin::x.y' } })) },
    'is not registered',
  ],
  [
    'an enumeration without values',
    { 'api::writer.writer': writer(but(writerAttributes, [], { kind: { type: 'enumeration', enum: [] } })) },
    'enum',
  ],
  [
    'an enumeration with an empty value',
    { 'api::writer.writer': writer(but(writerAttributes, [], { kind: { type: 'enumeration', enum: [''] } })) },
    'has "", an empty value',
  ],
  [
    'values of an enumeration that are one',
    { 'api::writer.writer': writer(but(writerAttributes, [], { kind: { type: 'enumeration', enum: ['a', 'b', 'a'] } })) },
    'has "a" twice',
  ],
  [
    'an inverse named locale',
    {
      'api::writer.writer': writer(but(writerAttributes, [], { locale: relation('oneToMany', 'api::note.note', { mappedBy: 'author' }) })),
      'api::note.note': note(but(noteAttributes, [], { author: relation('manyToOne', 'api::writer.writer', { inversedBy: 'locale' }) })),
    },
    'locale',
  ],
  [
    'a relation to itself whose inverse is not there',
    {
      'api::writer.writer': writer(
        but(writerAttributes, [], { boss: relation('manyToOne', 'api::writer.writer', { inversedBy: 'team' }) }),
      ),
    },
    'team',
  ],
  [
    'a new type whose inverse another one lacks',
    {
      'api::other.other': {
        ...writer(),
        collectionName: 'others',
        info: { singularName: 'other', pluralName: 'others', displayName: 'o' },
        attributes: { note: relation('manyToOne', 'api::note.note', { inversedBy: 'others' }) },
      },
    },
    'others',
  ],
  [
    'an inverse that is no relation',
    { 'api::note.note': note(but(noteAttributes, [], { author: relation('manyToOne', 'api::writer.writer', { inversedBy: 'name' }) })) },
    'name',
  ],
  ['an unknown type of an attribute', { 'api::note.note': note(but(noteAttributes, ['size'], { size: { type: 'unknown' } })) }, 'unknown'],
  [
    'an unknown kind of a relation',
    { 'api::writer.writer': writer(but(writerAttributes, [], { other: relation('someToSome', 'api::note.note') })) },
    'relation',
  ],
  [
    'a relation to what does not exist',
    { 'api::writer.writer': writer(but(writerAttributes, [], { other: relation('oneToOne', 'api::none.none') })) },
    'api::none.none',
  ],
  ['an attribute named id', { 'api::writer.writer': writer(but(writerAttributes, [], { id: text })) }, 'id'],
  [
    'an attribute named createdAt',
    { 'api::writer.writer': writer(but(writerAttributes, [], { createdAt: { type: 'datetime' } })) },
    'createdAt',
  ],
  [
    'two attributes of one column',
    { 'api::writer.writer': writer(but(writerAttributes, [], { fullName: text, full_name: text })) },
    'full_name',
  ],
  [
    'a regular expression that is none',
    { 'api::writer.writer': writer(but(writerAttributes, [], { code: { ...text, regex: '(' } })) },
    'regex',
  ],
  [
    'a default of another type',
    { 'api::writer.writer': writer(but(writerAttributes, [], { age: { type: 'integer', default: 'old' } })) },
    'default',
  ],
  [
    'a component in itself',
    { 'shared.seo': ofComponent('components_shared_seos', { name: text, inner: component('shared.seo') }) },
    'shared.seo',
  ],
  [
    'components in a circle',
    {
      'shared.seo': ofComponent('components_shared_seos', { name: text, inner: component('shared.tag') }),
      'shared.tag': ofComponent('components_shared_tags', { name: text, inner: component('shared.seo') }),
    },
    'shared.',
  ],
  [
    'a type without a display name',
    { 'api::writer.writer': { ...writer(), info: { singularName: 'writer', pluralName: 'writers' } } },
    'displayName',
  ],
  ['a type without attributes', { 'api::writer.writer': { ...writer(), attributes: undefined } as never }, 'attributes'],
]

for (const [what, data, message] of refused)
  rule('live-model.4', `Strapi takes it and does not start, or fails later: ${what}`, async () => {
    const [before, formerModel] = [await content(), await model()]
    const answer = await put(data)
    expect(answer.status, answer.text).toBe(400)
    expect(answer.body.error.message).toContain(message)
    expect([await content(), await model()]).toEqual([before, formerModel])
  })
