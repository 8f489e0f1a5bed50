// Errors of the administration API say where they are: in the data of documents, in schemas, in users and roles.
import { afterAll, beforeAll, describe, expect } from 'vitest'
import { rule } from '../support/rule.js'
import { type Served, serveProject, type TestResponse } from '../support/serve.js'
import { addToken, secrets } from './callers.js'
import { type AdminClient, giveRights, newsroomRoles, serveNewsroom, signInClient, story } from './newsroom.js'

const uid = 'api::note.note'
const note = (attributes: object) => ({
  kind: 'collectionType',
  collectionName: 'notes',
  info: { singularName: 'note', pluralName: 'notes', displayName: 'Note' },
  options: { draftAndPublish: false },
  attributes,
})
const ofNote = {
  title: { type: 'string', required: true, minLength: 3, maxLength: 10 },
  kind: { type: 'enumeration', enum: ['long', 'short'] },
  score: { type: 'integer', min: 1, max: 5 },
  size: { type: 'biginteger', max: 9 },
  slug: { type: 'uid' },
  code: { type: 'string', regex: '^[a-z]+$', unique: true },
  mail: { type: 'email' },
  day: { type: 'date' },
  text: { type: 'blocks' },
  isOpen: { type: 'boolean' },
  sealed: { type: 'string', writable: false },
  pair: { type: 'component', component: 'text.part', repeatable: true, min: 2, max: 3 },
  cover: { type: 'media', allowedTypes: ['images'] },
  next: { type: 'relation', relation: 'oneToOne', target: uid },
  many: { type: 'relation', relation: 'oneToMany', target: uid },
  parts: { type: 'component', component: 'text.part', repeatable: true },
  zone: { type: 'dynamiczone', components: ['text.part'] },
}
const files = {
  'src/api/note/content-types/note/schema.json': note(ofNote),
  'src/components/text/part.json': {
    collectionName: 'components_text_parts',
    info: { displayName: 'Part' },
    attributes: {
      text: { type: 'string', maxLength: 5 },
      day: { type: 'date' },
      link: { type: 'relation', relation: 'oneToOne', target: uid },
    },
  },
}

const page = 'api::page.page'
const pageFiles = {
  'src/api/page/content-types/page/schema.json': {
    kind: 'collectionType',
    collectionName: 'pages',
    info: { singularName: 'page', pluralName: 'pages', displayName: 'Page' },
    options: { draftAndPublish: true },
    pluginOptions: { i18n: { localized: true } },
    attributes: {
      title: { type: 'string', required: true, pluginOptions: { i18n: { localized: true } } },
      intro: { type: 'string', required: true, pluginOptions: { i18n: { localized: true } } },
      blocks: { type: 'dynamiczone', components: ['block.image'], pluginOptions: { i18n: { localized: true } } },
    },
  },
  'src/components/block/image.json': {
    collectionName: 'components_block_images',
    info: { displayName: 'Image' },
    attributes: {
      caption: { type: 'string' },
      picture: { type: 'media', multiple: false, required: true, allowedTypes: ['images'] },
      note: { type: 'relation', relation: 'oneToOne', target: uid, required: true },
    },
  },
}

let served: Served
let ada: AdminClient
beforeAll(async () => {
  served = await serveProject(
    { ...files, ...pageFiles },
    { environment: secrets, config: { admin: { model: 'always' }, limits: { authRateLimit: 0 } } },
  )
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

interface InputError {
  readonly path: readonly string[]
  readonly code: string
  readonly params: object
  readonly message: string
  readonly name: string
}

/** `title minLength {"min":3,"actual":2}` for each error; every member is checked. */
function codesOf({ status, body, text }: TestResponse): readonly string[] {
  if (status !== 400) return [`${status} ${text}`]
  return (body.error.details.errors as InputError[]).map(codeOf)
}

function codeOf({ path, code, params, message, name, ...others }: InputError): string {
  expect([typeof message, name, others]).toEqual(['string', 'ValidationError', {}])
  return [path.join('/'), code, ...(Object.keys(params).length === 0 ? [] : [JSON.stringify(params)])].join(' ')
}

const create = (data: object) => post(`/content/${uid}`, { data: { title: 'Title', ...data } })

rule('administration.41', 'values have the code of their error, with the numbers and texts of a sentence', async () => {
  const wrong: readonly (readonly [object, readonly string[]])[] = [
    [{ title: undefined }, ['title required']],
    [{ title: null }, ['title required']],
    [{ title: 'ab' }, ['title minLength {"min":3,"actual":2}']],
    [{ title: 'abcdefghijkl' }, ['title maxLength {"max":10,"actual":12}']],
    [{ title: 5 }, ['title type {"expected":"string"}']],
    [{ kind: 'wide' }, ['kind enum {"allowed":["long","short"]}']],
    [{ score: 0 }, ['score min {"min":1,"actual":0}']],
    [{ score: 9 }, ['score max {"max":5,"actual":9}']],
    [{ score: 1.5 }, ['score type {"expected":"integer"}']],
    [{ score: 'x' }, ['score type {"expected":"number"}']],
    [{ size: '12' }, ['size max {"max":9,"actual":12}']],
    [{ slug: 'a b' }, ['slug pattern {"pattern":"^[A-Za-z0-9-_.~]*$"}']],
    [{ code: 'A1' }, ['code pattern {"pattern":"^[a-z]+$"}']],
    [{ mail: 'x' }, ['mail format {"expected":"email"}']],
    [{ day: 'tomorrow' }, ['day format {"expected":"date"}']],
    [{ isOpen: 'maybe' }, ['isOpen type {"expected":"boolean"}']],
    [{ text: [{ type: 'zip' }] }, ['text/0 enum {"allowed":["paragraph","heading","quote","code","list","image"]}']],
    [{ pair: [{ text: 'a' }] }, ['pair minItems {"min":2,"actual":1}']],
    [{ pair: [{}, {}, {}, {}] }, ['pair maxItems {"max":3,"actual":4}']],
    [{ parts: [{ text: 'a' }, { text: 'abcdef' }] }, ['parts/1/text maxLength {"max":5,"actual":6}']],
    [{ parts: [{}, { day: 'x' }] }, ['parts/1/day format {"expected":"date"}']],
    [{ zone: [{ __component: 'text.part', day: 'x' }] }, ['zone/0/day format {"expected":"date"}']],
    [{ zone: [{ __component: 'block.image' }] }, ['zone/0/__component enum {"allowed":["text.part"]}']],
    [{ zone: 5 }, ['zone type {"expected":"array"}']],
    [{ next: nobody }, ['next notFound']],
    [{ cover: 777 }, ['cover notFound']],
    [{ nothing: 1 }, ['nothing unknown {"name":"nothing"}']],
    [{ parts: [{ zip: 1 }] }, ['parts/0/zip unknown {"name":"zip"}']],
    [{ id: 4 }, ['id forbidden {"name":"id"}']],
    [{ sealed: 'x' }, ['sealed forbidden {"name":"sealed"}']],
    [{ locale: 'en' }, ['locale forbidden']],
    [{ title: 'ab', kind: 'wide' }, ['kind enum {"allowed":["long","short"]}', 'title minLength {"min":3,"actual":2}']],
  ]
  for (const [data, codes] of wrong) expect([data, codesOf(await create(data)).toSorted()]).toEqual([data, codes])
  const first = await create({ code: 'taken' })
  expect(first.status, first.text).toBe(201)
  expect(codesOf(await create({ code: 'taken' }))).toEqual(['code unique'])
  // PATCH and copies have the same errors.
  const { documentId } = first.body.data
  const etag = first.headers.get('etag')!
  const change = (changes: object) => ada.send('PATCH', `/content/${uid}/${documentId}`, { changes }, { 'if-match': etag })
  expect(codesOf(await change({ title: 'ab' }))).toEqual(['title minLength {"min":3,"actual":2}'])
  expect(codesOf(await change({ day: 'x' }))).toEqual(['day format {"expected":"date"}'])
  expect(codesOf(await change({ title: null }))).toEqual(['title required'])
  expect(codesOf(await change({ 'zone/0/text': 'x' }))).toEqual(['zone/0 unknown'])
  expect(codesOf(await change({ parts: [], 'parts/0/text': 'x' }))).toEqual(['parts/0/text conflict'])
  expect(codesOf(await post(`/content/${uid}/${documentId}/clone`, { data: { title: 'ab', code: 'other' } }))).toEqual([
    'title minLength {"min":3,"actual":2}',
  ])
  expect(codesOf(await post(`/uid/${uid}/slug`, { text: ' ' }))).toEqual(['text required'])
})

rule('administration.42', 'errors in a query begin with its parameter', async () => {
  const wrong: readonly (readonly [string, readonly string[]])[] = [
    ['filters[title][$foo]=a', ['filters/title/$foo unknown {"name":"$foo"}']],
    ['filters[nothing]=a', ['filters/nothing unknown {"name":"nothing"}']],
    ['filters[next][nothing]=a', ['filters/next/nothing unknown {"name":"nothing"}']],
    ['filters[zone]=a', ['filters/zone unsupported {"name":"zone"}']],
    ['filters[score]=x', ['filters/score type {"expected":"number"}']],
    ['filters[$and][0][next][score][$gt]=x', ['filters/next/score type {"expected":"number"}']],
    ['filters[day][$gt]=x', ['filters/day format {"expected":"date"}']],
    ['filters[score][$between]=1', ['filters/score/$between format {"expected":"filter"}']],
    ['filters[title][$eq][x]=1', ['filters/title/$eq format {"expected":"filter"}']],
    ['filters=a', ['filters type {"expected":"object"}']],
    ['sort=nothing', ['sort/nothing unknown {"name":"nothing"}']],
    ['sort=title:up', ['sort/title enum {"allowed":["asc","desc"]}']],
    ['sort=next', ['sort/next cannotSort {"name":"next"}']],
    ['sort=zone', ['sort/zone cannotSort {"name":"zone"}']],
    ['sort=text', ['sort/text cannotSort']],
    ['sort=many.title', ['sort/many/title cannotSort']],
    ['sort=parts.text', ['sort/parts/text cannotSort']],
    ['fields=nothing', ['fields/nothing unknown {"name":"nothing"}']],
    ['populate=nothing', ['populate/nothing unknown {"name":"nothing"}']],
    ['populate[next][fields]=nothing', ['populate/nothing unknown {"name":"nothing"}']],
    ['limit=0', ['limit min {"min":1,"actual":0}']],
    ['limit=x', ['limit type {"expected":"integer"}']],
    ['page=1', ['page unknown {"name":"page"}']],
    ['after=x', ['after cursor']],
    ['after=a&before=b', ['before conflict']],
    ['locale=zz', ['locale notFound']],
    ['status=zip', ['status enum {"allowed":["draft","published"]}']],
    ['publicationFilter=modified', ['publicationFilter unsupported']],
    ['hasPublishedVersion=true', ['hasPublishedVersion unsupported']],
  ]
  for (const [query, codes] of wrong) expect([query, codesOf(await ada.get(`/content/${uid}?${query}`))]).toEqual([query, codes])
  // A key of a to-one relation has an order.
  expect((await ada.get(`/content/${uid}?sort=next.title`)).status).toBe(200)
  expect((await ada.get(`/content/${page}?publicationFilter=modified&hasPublishedVersion=true`)).status).toBe(200)
  expect(codesOf(await ada.get(`/content/${page}?locale=en,de`))).toEqual(['locale maxItems {"max":1}'])
  expect(codesOf(await ada.get(`/choices/${uid}/nothing`))).toEqual(['path unknown {"name":"nothing"}'])
  expect(codesOf(await ada.get(`/choices/${uid}/next?after=x`))).toEqual(['after cursor'])
  expect(codesOf(await ada.get('/activity?after=x'))).toEqual(['after cursor'])
  const bulk = (body: object) => post('/bulk', { action: 'delete', type: uid, ...body })
  expect(codesOf(await bulk({ where: { filters: { title: { $foo: 1 } } } }))).toEqual(['where/filters/title/$foo unknown {"name":"$foo"}'])
  expect(codesOf(await bulk({ where: { publicationFilter: 'modified' } }))).toEqual(['where/publicationFilter unsupported'])
  expect(codesOf(await bulk({ where: { filters: { title: null } } }))).toEqual(['where/filters/title required'])
  expect(codesOf(await bulk({ where: { locale: 'zz' } }))).toEqual(['where/locale notFound'])
})

rule('administration.41', 'members of a body have codes, and the OpenAPI document lists all codes', async () => {
  const wrong: readonly (readonly [string, object, readonly string[]])[] = [
    [
      '/bulk',
      { action: 'zip', type: uid, more: 1 },
      ['action enum {"allowed":["publish","unpublish","discard","delete"]}', 'more unknown {"name":"more"}'],
    ],
    ['/bulk', { type: uid, action: 'delete', documents: [] }, ['documents minItems {"min":1,"actual":0}']],
    ['/folders', {}, ['name required {"expected":"string"}']],
    ['/folders', { name: 5 }, ['name type {"expected":"string"}']],
    ['/folders', { name: '' }, ['name minLength {"min":1,"actual":0}']],
    ['/admins', { email: 'x', firstname: 'Una', roles: [1] }, ['email format {"expected":"email"}']],
    ['/users', { username: 'una2', email: 'una2@users.example', password: 'Secret-horse-7', role: 9_999 }, ['role notFound']],
    ['/tokens', { name: 'no actions', type: 'custom' }, ['actions required']],
  ]
  for (const [path, body, codes] of wrong) expect([path, codesOf(await post(path, body))]).toEqual([path, codes])
  const { schemas } = (await ada.get('/openapi.json')).body.components
  expect(schemas.InputErrorCode.enum).toEqual(
    expect.arrayContaining(['required', 'minLength', 'unique', 'type', 'notFound', 'cannotSort', 'cursor']),
  )
  expect(schemas.InputError.properties.code).toEqual({ $ref: '#/components/schemas/InputErrorCode' })
  expect(schemas.Error.properties.error.properties.details).toEqual({ $ref: '#/components/schemas/ErrorDetails' })
})

const createPage = async (data: object) => {
  const made = await post(`/content/${page}`, { data })
  expect(made.status, made.text).toBe(201)
  return { id: made.body.data.documentId as string, etag: made.headers.get('etag')! }
}

rule('administration-editing.7', 'required links and texts that are empty and would not refuse a publication are hints', async () => {
  const blocks = [{ __component: 'block.image', caption: 'c' }]
  const { id, etag } = await createPage({ title: 'Page', intro: '', blocks })
  const checkOf = async () => (await ada.get(`/content/${page}/${id}/check`)).body.data[0]
  const { errors, hints } = await checkOf()
  expect(errors).toEqual([])
  expect(hints.map(codeOf)).toEqual(['intro required', 'blocks/0/picture required', 'blocks/0/note required'])
  const changed = await ada.send('PATCH', `/content/${page}/${id}`, { changes: { title: null } }, { 'if-match': etag })
  expect(changed.status, changed.text).toBe(200)
  const after = await checkOf()
  expect([after.errors.map(codeOf), after.hints.length]).toEqual([['title required'], 3])
  const published = await ada.send('POST', `/content/${page}/${id}/publish`, undefined, { 'if-match': changed.headers.get('etag')! })
  expect(codesOf(published)).toEqual(['title required'])
})

rule('administration-bulk.16', 'a refused document has its name, and its errors have codes and their locale', async () => {
  const { id } = await createPage({ title: null, intro: 'Intro' })
  const named = await createPage({ title: 'Named', intro: null })
  expect((await post('/locales', { code: 'de', name: 'German' })).status).toBe(201)
  const publish = async (locale: string) => {
    const { body } = await post('/bulk', { action: 'publish', type: page, documents: [id, named.id], locale })
    return body.data.results as { name: string | null; error: { locale: string | null; errors: InputError[] } | null }[]
  }
  for (const locale of ['en', 'en,de', '*']) {
    const results = await publish(locale)
    expect(results.map(({ name, error }) => [name, error?.locale, error?.errors.map(codeOf)])).toEqual([
      [null, 'en', ['title required']],
      ['Named', 'en', ['intro required']],
    ])
  }
})

describe('rights', () => {
  let office: Served
  let limited: AdminClient
  let made: TestResponse
  beforeAll(async () => {
    office = await serveNewsroom()
    const editor = await signInClient(office, 'ada@office.example')
    await giveRights(office, 'fields', newsroomRoles.fields!)
    limited = await signInClient(office, 'fields@office.example', ['fields'])
    made = await editor.send('POST', `/content/${story}`, { data: { title: 'Title', summary: 'Summary', secret: 'hush' } })
    expect(made.status, made.text).toBe(201)
  })
  afterAll(() => office?.close())

  rule('administration.41', 'an attribute that is hidden has the code of one that does not exist', async () => {
    const { documentId } = made.body.data
    const seen = await limited.get(`/content/${story}/${documentId}`)
    const change = (changes: object) =>
      limited.send('PATCH', `/content/${story}/${documentId}`, { changes }, { 'if-match': seen.headers.get('etag')! })
    expect(codesOf(await change({ summary: 'x' }))).toEqual(['summary forbidden {"name":"summary"}'])
    for (const name of ['secret', 'code', 'writer', 'nothing'])
      expect(codesOf(await change({ [name]: 'x' }))).toEqual([`${name} unknown {"name":"${name}"}`])
    const ofPart = { metaTitle: 'm', metaSecret: 's' }
    expect(codesOf(await change({ seo: ofPart }))).toEqual(['seo/metaSecret unknown {"name":"metaSecret"}'])
    const textFor = async (name: string) => (await change({ seo: { [name]: 's' } })).text.replaceAll(name, 'NAME')
    expect(await textFor('metaSecret')).toBe(await textFor('metaNothing'))
    const list = (query: string) => limited.get(`/content/${story}?${query}`)
    for (const name of ['secret', 'related', 'sections', 'nothing']) {
      const unknown = `${name} unknown {"name":"${name}"}`
      expect(codesOf(await list(`sort=${name}`))).toEqual([`sort/${unknown}`])
      expect(codesOf(await list(`fields=${name}`))).toEqual([`fields/${unknown}`])
      expect(codesOf(await list(`filters[${name}]=x`))).toEqual([`filters/${unknown}`])
    }
    const refused = await limited.send('POST', `/content/${story}`, { data: { title: 'x', secret: 'y' } })
    expect(codesOf(refused)).toEqual(['secret unknown {"name":"secret"}'])
  })
})
