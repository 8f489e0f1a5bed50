// docs/spec/writing.md: creating, changing and removing documents, and what a body may say.
import { afterAll, beforeAll, expect } from 'vitest'
import { isOnMysql, isOnServer } from '../support/databases.js'
import { rule } from '../support/rule.js'
import { addToken, grant } from './callers.js'
import type { WritableProject } from './writable-project.js'
import { servePublisher } from './writable-project.js'

let project: WritableProject
let strapi: WritableProject
beforeAll(async () => {
  project = await servePublisher('specification')
  strapi = await servePublisher('strapi')
  const actions = ['find', 'findOne', 'create', 'update'].map((action) => `api::tag.tag.${action}`)
  await addToken(project.served, 'tags', { type: 'custom', actions })
})
afterAll(async () => {
  await project.served.close()
  await strapi.served.close()
})

const missing = { data: null, error: { status: 404, name: 'NotFoundError', message: 'Not Found', details: {} } }
const status = async (path: string) => (await project.send('GET', path)).status

rule('writing.1', 'POST is 201 with the document, PUT 200, both with an empty meta', async () => {
  const created = await project.send('POST', 'books', { title: 'The first', pages: 5 })
  expect(created.status).toBe(201)
  expect(Object.keys(created.body)).toEqual(['data', 'meta'])
  expect(created.body.meta).toEqual({})
  expect(created.body.data).toMatchObject({
    documentId: expect.stringMatching(/^[a-z0-9]{24}$/),
    title: 'The first',
    pages: 5,
    locale: 'en',
  })
  const path = `books/${created.body.data.documentId}`
  expect(await project.read(path)).toEqual(created.body.data)
  const changed = await project.send('PUT', path, { pages: 6 })
  expect([changed.status, changed.body.meta]).toEqual([200, {}])
  expect(changed.body.data).toMatchObject({ documentId: created.body.data.documentId, title: 'The first', pages: 6 })
})

rule('writing.1', 'the response follows the parameters of the query', async () => {
  const tag = await project.make('tags', { name: 'shown' })
  const data = { title: 'With a query', tags: [tag.documentId], chapters: [{ heading: 'One' }] }
  const book = await project.make('books?fields=title&populate[tags][fields]=name&populate[chapters]=true', data)
  expect(Object.keys(book)).toEqual(['id', 'documentId', 'title', 'tags', 'chapters'])
  expect(book.tags).toMatchObject([{ name: 'shown' }])
  expect(book.chapters).toMatchObject([{ heading: 'One', text: null }])
})

rule('writing.1', 'PUT of a document that does not exist is 404', async () => {
  const { documentId } = await project.make('tags', { name: 'of another type' })
  for (const id of ['nothing', '1', documentId]) {
    const { status, body } = await project.send('PUT', `books/${id}`, { title: 'A title' })
    expect([status, body]).toEqual([404, missing])
  }
})

rule('writing.2', 'DELETE is 204 without a body, also where there is nothing', async () => {
  const { documentId } = await project.make('tags', { name: 'to go' })
  for (const _ of ['there', 'gone']) {
    const answer = await project.send('DELETE', `tags/${documentId}`)
    expect([answer.status, answer.text]).toEqual([204, ''])
    expect(await status(`tags/${documentId}`)).toBe(404)
    expect(await status(`tags/${documentId}?status=draft`)).toBe(404)
  }
})

rule('writing.3', 'PUT changes a single type or creates it, DELETE removes it', async () => {
  expect(await status('front')).toBe(404)
  const first = await project.change('front', { heading: 'Hello', text: 'World' })
  const second = await project.change('front', { heading: 'Again' })
  expect(second).toMatchObject({ documentId: first.documentId, heading: 'Again', text: 'World' })
  expect(await project.read('front')).toEqual(second)
  for (const _ of ['there', 'gone']) expect((await project.send('DELETE', 'front')).status).toBe(204)
  expect(await status('front')).toBe(404)
  expect((await project.send('POST', 'front', { heading: 'No' })).status).toBe(405)
})

rule('writing.4', 'a body is an object in data', async () => {
  const post = (body: string) =>
    project.served.request('/api/tags', { method: 'POST', token: 'full', headers: { 'content-type': 'application/json' }, body })
  for (const body of ['{}', '{"data":null}', '{"data":"x"}', '{"data":5}', '{"name":"x"}', '[]'])
    expect([body, (await post(body)).body.error.message]).toEqual([body, 'Missing "data" payload in the request body'])
  for (const body of ['{"data":[]}', '{"data":[{"name":"x"}]}']) expect([body, (await post(body)).status]).toEqual([body, 400])
  const { status, body } = await post('{"data":{"name":"with others"},"name":"beside","status":"draft","locale":"de"}')
  expect([status, body.data.name]).toEqual([201, 'with others'])
  expect(body.data.publishedAt).not.toBeNull()
})

rule('writing.5', 'absent values stay, null clears', async () => {
  const whole = { title: 'Before', pages: 7, mood: 'wild', imprint: { place: 'Here' }, chapters: [{ heading: 'One' }] }
  const { documentId } = await project.make('books', whole)
  const path = `books/${documentId}?populate=imprint,chapters`
  const changed = await project.change(path, { title: 'After' })
  expect(changed).toMatchObject({ ...whole, title: 'After' })
  expect(await project.change(path, { pages: null, mood: null, imprint: null })).toMatchObject({
    title: 'After',
    pages: null,
    mood: null,
    imprint: null,
    chapters: [{ heading: 'One' }],
  })
  expect(await project.read(`${path}&status=draft`)).toMatchObject({ title: 'After', pages: null, mood: null, imprint: null })
  expect(await project.change(path, { chapters: [] })).toMatchObject({ chapters: [] })
})

rule('writing.6', 'names that are not there, and those of the service, are refused', async () => {
  for (const key of [
    'nope',
    'Title',
    '',
    'imprint.place',
    'status',
    '__component',
    'id',
    'documentId',
    'createdAt',
    'updatedAt',
    'createdBy',
    'updatedBy',
  ]) {
    for (const [method, path] of [
      ['POST', 'books'] as const,
      ['PUT', `books/${(await project.make('books', { title: 'Named' })).documentId}`] as const,
    ]) {
      const { status, body } = await project.send(method, path, { title: 'A title', [key]: 1 })
      expect([status, body.error.name, body.error.message]).toEqual([400, 'ValidationError', `Invalid key ${key}`])
      expect(body.error.details).toMatchObject({ key, source: 'body' })
    }
  }
  expect(await project.refusal('POST', 'books', { title: 'A title', imprint: { place: 'x', nope: 1 } })).toBe('Invalid key nope at imprint')
  expect(await project.refusal('POST', 'books', { title: 'A title', matter: [{ __component: 'parts.quote', nope: 1 }] })).toBe(
    'Invalid key nope at matter',
  )
})

rule('writing.7', 'values that break the schema are listed with path and message', async () => {
  const { status, body } = await project.send('POST', 'books', { title: 'x'.repeat(41), pages: 1000, format: 'leather', mail: 5 })
  expect(status).toBe(400)
  expect(body.error).toMatchObject({ name: 'ValidationError', message: '4 errors occurred' })
  const errors = body.error.details.errors as { path: string[]; message: string; name: string }[]
  expect(errors.map(({ path }) => path[0]).sort()).toEqual(['format', 'mail', 'pages', 'title'])
  for (const { name, message } of errors) expect([name, message.length > 5]).toEqual(['ValidationError', true])
  const nested = await project.send('POST', 'books', { title: 'A title', chapters: [{ heading: 'One' }, { heading: 5 }] })
  expect(nested.body.error.details.errors).toMatchObject([{ path: ['chapters', '1', 'heading'] }])
})

rule('writing.8', 'defaults fill absent values of a new document, null stays null', async () => {
  expect(await project.make('books', { title: 'By default' })).toMatchObject({ mood: 'calm', inPrint: true, pages: null })
  const none = await project.make('books', { title: 'By choice', mood: null, inPrint: null })
  expect(none).toMatchObject({ mood: null, inPrint: null })
  expect(await project.change(`books/${none.documentId}`, { pages: 3 })).toMatchObject({ mood: null, inPrint: null })
})

rule('writing.9', 'drafts need not be complete, but nothing is too long, too large or of another type', async () => {
  await project.make('books', { title: 'The one with the number', isbn: '1111' })
  const unfinished = { pages: 0, mail: 'no address', isbn: '1111', imprint: {} }
  const draft = await project.make('books?status=draft', unfinished)
  expect(draft).toMatchObject({ title: null, pages: 0, mail: 'no address', isbn: '1111', publishedAt: null })
  const refused = await project.send('POST', 'books', unfinished)
  const paths = (refused.body.error.details.errors as { path: string[] }[]).map(({ path }) => path.join('.')).sort()
  expect([refused.status, paths]).toEqual([400, ['imprint.place', 'isbn', 'mail', 'pages', 'title']])
  const twice = { title: 'A title', isbn: '1111' }
  expect(await project.refusal('POST', 'books', twice)).toBe('This attribute must be unique')
  // A stored password is a hash, which a publication cannot validate.
  expect(await project.refusal('POST', 'books?status=draft', { secret: 'short' })).toBe('secret must be at least 6 characters')
  for (const wrong of [
    { title: 'x'.repeat(41) },
    { pages: 1000 },
    { pages: 'many' },
    { format: 'leather' },
    { chapters: 'One' },
    { inPrint: 'maybe' },
  ])
    expect((await project.send('POST', 'books?status=draft', wrong)).status).toBe(400)
})

rule('writing.9', 'a publication is held to the whole draft', async () => {
  const { documentId } = await project.make('books?status=draft', { title: 'ab', pages: 0 })
  expect(await project.refusal('PUT', `books/${documentId}`, { mood: 'x' })).toBe('2 errors occurred')
  expect(await project.read(`books/${documentId}?status=draft`)).toMatchObject({ mood: 'calm' })
  expect(await project.change(`books/${documentId}`, { title: 'abc', pages: 1 })).toMatchObject({ title: 'abc', pages: 1 })
})

rule('writing.10', 'POST and PUT publish, with status=draft they do not, and the published row keeps its id', async () => {
  const published = await project.make('books', { title: 'Published' })
  expect(published.publishedAt).not.toBeNull()
  const path = `books/${published.documentId}`
  const draft = await project.change(`${path}?status=draft`, { title: 'Drafted' })
  expect([draft.title, draft.publishedAt]).toEqual(['Drafted', null])
  expect(draft.id).not.toBe(published.id)
  expect((await project.read(path)).title).toBe('Published')
  const again = await project.change(path, { pages: 9 })
  expect(again).toMatchObject({ id: published.id, title: 'Drafted', pages: 9 })
  const hidden = await project.make('books?status=draft', { title: 'Not yet' })
  expect(hidden.publishedAt).toBeNull()
  expect(await status(`books/${hidden.documentId}`)).toBe(404)
})

rule('writing.11', 'DELETE removes one locale, and with locale=* all', async () => {
  const { documentId } = await project.make('books', { title: 'In English' })
  const path = `books/${documentId}`
  await project.change(`${path}?locale=de`, { title: 'Auf Deutsch' })
  expect((await project.send('DELETE', path)).status).toBe(204)
  expect([await status(path), await status(`${path}?status=draft`), await status(`${path}?locale=de`)]).toEqual([404, 404, 200])
  await project.change(path, { title: 'In English again' })
  expect((await project.send('DELETE', `${path}?locale=de`)).status).toBe(204)
  expect([await status(path), await status(`${path}?locale=de`)]).toEqual([200, 404])
  await project.change(`${path}?locale=de`, { title: 'Wieder auf Deutsch' })
  expect((await project.send('DELETE', `${path}?locale=*`)).status).toBe(204)
  expect([await status(path), await status(`${path}?locale=de`), await status(`${path}?locale=de&status=draft`)]).toEqual([404, 404, 404])
})

rule('writing.12', 'the query chooses the locale; a locale of an existing version cannot be changed', async () => {
  const german = await project.make('books?locale=de', { title: 'Nur deutsch', locale: 'en' })
  expect(german.locale).toBe('de')
  expect(await status(`books/${german.documentId}`)).toBe(404)
  const english = await project.change(`books/${german.documentId}`, { title: 'English too' })
  expect(english).toMatchObject({ documentId: german.documentId, locale: 'en' })
  expect((await project.read(`books/${german.documentId}?locale=de`)).title).toBe('Nur deutsch')
  expect((await project.change(`books/${german.documentId}?locale=de`, { locale: 'en' })).locale).toBe('de')
})

rule('writing.6', 'locale next to the attributes of a type without locales is ignored if it is a text', async () => {
  for (const locale of ['de', '', null]) await project.make('tags', { name: 'Everywhere', locale })
  const { documentId } = await project.make('tags', { name: 'Nowhere' })
  for (const locale of [12, false, [], {}]) {
    const says = `locale must be a \`string\` type, but the final value was: \`${typeof locale === 'object' ? JSON.stringify(locale) : locale}\`.`
    expect(await project.refusal('PUT', `tags/${documentId}`, { locale })).toBe(says)
    expect(await project.refusal('POST', 'tags?status=draft', { name: 'Nowhere', locale })).toBe(says)
  }
  expect(await project.refusal('POST', 'tags', { name: {}, locale: 5 })).toBe('2 errors occurred')
  expect(await project.refusal('POST', 'tags', { name: 'Long', locale: 'a'.repeat(256) })).toBe('locale must be at most 255 characters')
  await project.make('books', { title: 'With locales', locale: 5 })
})

rule('writing.12', 'an unknown locale is 400, or accepted in the contract strapi', async () => {
  const { documentId } = await project.make('books', { title: 'Here' })
  expect(await project.refusal('POST', 'books?locale=xx', { title: 'Nowhere' })).toBe('The locale "xx" does not exist')
  expect(await project.refusal('PUT', `books/${documentId}?locale=xx`, { title: 'Nowhere' })).toBe('The locale "xx" does not exist')
  expect(await strapi.make('books?locale=xx', { title: 'Somewhere' })).toMatchObject({ locale: 'xx' })
  for (const locale of ['*', ['de', 'en']]) {
    const query = typeof locale === 'string' ? `locale=${locale}` : 'locale[]=de&locale[]=en'
    expect((await project.send('POST', `books?${query}`, { title: 'Everywhere' })).status).toBe(400)
  }
})

rule('writing.13', 'shared attributes are written to all locales of the same publication state', async () => {
  const { documentId } = await project.make('books', { title: 'Shared', pages: 1, mood: 'dark' })
  const path = `books/${documentId}`
  const german = await project.change(`${path}?locale=de`, { title: 'Geteilt' })
  expect(german).toMatchObject({ pages: 1, mood: 'calm' })
  await project.change(`${path}?locale=de`, { pages: 2, mood: 'bright' })
  expect(await project.read(path)).toMatchObject({ title: 'Shared', pages: 2, mood: 'dark' })
  await project.change(`${path}?status=draft`, { pages: 3 })
  expect((await project.read(`${path}?locale=de&status=draft`)).pages).toBe(3)
  expect((await project.read(`${path}?locale=de`)).pages).toBe(2)
})

rule('writing.14', 'an absent uid is generated from its target field, or null in the contract strapi', async () => {
  const slugs = []
  for (const _ of [1, 2, 3]) slugs.push((await project.make('books', { title: 'Über alle Berge' })).slug)
  expect(new Set(slugs).size).toBe(3)
  expect(slugs[0]).toBe('ueber-alle-berge')
  for (const slug of slugs) expect(slug).toMatch(/^ueber-alle-berge(-\d+)?$/)
  expect((await project.make('books', { title: 'Named', slug: 'by-hand' })).slug).toBe('by-hand')
  expect((await strapi.make('books', { title: 'Unnamed' })).slug).toBeNull()
})

rule('writing.15', 'unique holds in a locale and a publication state; null and the empty text never collide', async () => {
  const { documentId } = await project.make('books', { title: 'A book', isbn: '2222', slug: 'one' })
  for (const [more, path] of [
    [{ isbn: '2222' }, ['isbn']],
    [{ slug: 'one' }, ['slug']],
  ] as const) {
    const { status, body } = await project.send('POST', 'books', { title: 'Another', ...more })
    expect([status, body.error.details.errors]).toEqual([
      400,
      [expect.objectContaining({ path, message: 'This attribute must be unique' })],
    ])
  }
  expect(await project.change(`books/${documentId}`, { isbn: '2222', slug: 'one' })).toMatchObject({ isbn: '2222' })
  expect(await project.make('books?locale=de', { title: 'Ein Buch', slug: 'one' })).toMatchObject({ slug: 'one' })
  expect(await project.make('books?status=draft', { title: 'A draft', isbn: '2222' })).toMatchObject({ isbn: '2222' })
  for (const isbn of [null, null]) expect(await project.make('books', { title: 'None', isbn })).toMatchObject({ isbn })
  for (const slug of ['', '']) expect(await project.make('books', { title: 'Empty', slug })).toMatchObject({ slug })
})

rule('writing.15', 'an entry identified by its id keeps its unique value: no other entry may have it', async () => {
  const { documentId, marks } = await project.make('posters?status=draft&populate=marks', { marks: [{ code: 'one' }, { code: 'two' }] })
  const path = `posters/${documentId}`
  const kept = { id: marks[0].id, note: 'kept' }
  expect(await project.refusal('PUT', path, { marks: [kept, { code: 'one' }] })).toBe('2 errors occurred')
  await project.change(path, { marks: [kept, { code: 'three' }] })
  const [first] = (await project.read(`${path}?populate=marks&status=draft`)).marks
  expect(await project.refusal('PUT', path, { marks: [{ id: first.id }, { code: 'one' }] })).toBe('2 errors occurred')
})

rule('writing.16', 'components are added, changed by the id of the draft’s own, or refused', async () => {
  const { documentId } = await project.make('books?status=draft', {
    title: 'In parts',
    imprint: { place: 'Here', year: 1 },
    chapters: [{ heading: 'One', text: 'a' }, { heading: 'Two' }],
  })
  const path = `books/${documentId}?status=draft&populate=imprint,chapters`
  const { imprint, chapters } = await project.read(path)
  const changed = await project.change(path, {
    imprint: { id: imprint.id, year: 2, documentId: 'anything' },
    chapters: [{ heading: 'New' }, { id: chapters[0].id, text: 'b' }],
  })
  expect(changed.imprint).toEqual({ ...imprint, year: 2 })
  expect(changed.chapters).toMatchObject([
    { heading: 'New', text: null },
    { id: chapters[0].id, heading: 'One', text: 'b' },
  ])
  expect(changed.chapters[0].id).not.toBe(chapters[0].id)
  const replaced = await project.change(path, { imprint: { place: 'There' } })
  expect(replaced.imprint).toMatchObject({ place: 'There', year: null })
  const other = await project.make('books?populate=imprint', { title: 'Another', imprint: { place: 'Elsewhere' } })
  for (const id of [other.imprint.id, imprint.id, 999_999, null])
    expect(await project.refusal('PUT', path, { imprint: { id, place: 'Mine' } })).toMatch(/not related to the entity/)
  expect((await project.read(`books/${other.documentId}?populate=imprint`)).imprint.place).toBe('Elsewhere')
})

rule('writing.17', 'passwords are hashed when written and copied when published', async () => {
  const { documentId } = await project.make('books', { title: 'Locked', secret: 'open sesame' })
  await project.change(`books/${documentId}`, { pages: 4 })
  const stored = (await project.served.sql('select secret from books where document_id = ?', documentId)).map(({ secret }) => secret)
  expect(stored).toHaveLength(2)
  expect(stored[0]).toMatch(/^\$2[aby]\$/)
  expect(stored[1]).toBe(stored[0])
})

rule('writing.18', 'large integers and JSON are stored exactly', async () => {
  const facts = { a: [true, false, null, 1.5, 'ü', { deep: [[]] }], '': 0 }
  const book = await project.make('books', { title: 'Exact', copies: '9223372036854775807', facts })
  expect(book).toMatchObject({ copies: '9223372036854775807', facts })
  for (const value of [true, false, 0, 12, [], {}, null])
    expect([value, (await project.change(`books/${book.documentId}`, { facts: value })).facts]).toEqual([value, value])
  for (const [text, value] of [
    ['{"a":1}', { a: 1 }],
    ['[1]', [1]],
    ['true', true],
    ['"quoted"', isOnMysql ? 'quoted' : '"quoted"'],
  ] as const)
    expect([text, (await project.change(`books/${book.documentId}`, { facts: text })).facts]).toEqual([text, value])
  // A text that is not JSON is stored unchanged; a column of a server cannot store it.
  for (const text of ['text', '{broken', '']) {
    const change = () => project.change(`books/${book.documentId}`, { facts: text })
    if (isOnServer) await expect(change()).rejects.toThrow('400 in place of 200')
    else expect([text, (await change()).facts]).toEqual([text, text])
  }
  for (const [text, value] of [
    [' 5 ', '5'],
    ['+5', '5'],
    ['-5\n', '-5'],
  ])
    expect([text, (await project.change(`books/${book.documentId}`, { copies: text })).copies]).toEqual([text, value])
  for (const text of ['', ' ', '5 5', '0x5', '1e3', '5.0'])
    expect(await project.refusal('PUT', `books/${book.documentId}`, { copies: text })).toBe('copies must be a valid integer')
  expect((await project.change(`books/${book.documentId}`, { copies: '-9223372036854775808' })).copies).toBe('-9223372036854775808')
})

rule('writing.19', 'errors are reported in the order of checks', async () => {
  const send = async (method: string, path: string, body: string, token?: string) => {
    const answer = await project.served.request(`/api/${path}`, {
      method,
      headers: { 'content-type': 'application/json' },
      body,
      ...(token === undefined ? {} : { token }),
    })
    return [answer.status, answer.body?.error?.message ?? answer.text]
  }
  const { documentId } = await project.make('tags', { name: 'checked' })
  const wrong = '{"data":{"nope":1,"name":5}}'
  expect(await send('PATCH', 'tags', wrong, 'unknown')).toEqual([405, 'Method Not Allowed'])
  expect(await send('POST', 'books?filters[nope]=1', wrong, 'unknown')).toEqual([401, 'Missing or invalid credentials'])
  expect(await send('POST', 'books?filters[nope]=1', '{', 'tags')).toEqual([403, 'Forbidden'])
  expect(await send('POST', 'tags?filters[nope]=1', '{}', 'tags')).toEqual([400, 'Invalid key nope'])
  expect(await send('POST', 'tags', '{}', 'tags')).toEqual([400, 'Missing "data" payload in the request body'])
  expect(await send('PUT', `tags/${documentId}`, wrong, 'tags')).toEqual([400, 'Invalid key nope'])
  const named = '{"data":{"name":5,"nope":1,"books":["nothing"]}}'
  expect(await send('POST', 'tags', named, 'full')).toEqual([400, 'Invalid key nope'])
  const values = '{"data":{"name":5,"books":["nothing"]}}'
  expect((await send('POST', 'tags', values, 'full'))[1]).toMatch(/^Document with id "nothing"/)
  await project.make('books', { title: 'A title', isbn: '3333' })
  const rows = '{"data":{"title":"A title","isbn":"3333","tags":[999999]}}'
  expect((await send('POST', 'books', rows, 'full'))[1]).toMatch(/^1 relation\(s\) of type api::tag.tag/)
  expect((await send('POST', 'books', rows.replace('999999', ''), 'full'))[1]).toBe('This attribute must be unique')
})

rule('writing.20', 'a large body is 413, broken JSON 400', async () => {
  const post = (body: string) =>
    project.served.request('/api/tags', { method: 'POST', token: 'full', headers: { 'content-type': 'application/json' }, body })
  const large = await post(JSON.stringify({ data: { name: 'x'.repeat(1024 * 1024) } }))
  expect([large.status, large.body.error.name]).toEqual([413, 'PayloadTooLargeError'])
  for (const body of ['{"data":', '{data:{}}', "{'data':{}}", '"text"', '5']) {
    const { status, body: said } = await post(body)
    expect([body, status, said.error.name]).toEqual([body, 400, 'SyntaxError'])
  }
})

rule('writing.21', 'a wrong password and an unknown user get the same response', async () => {
  const signIn = (body: object) =>
    project.served.request('/api/auth/local', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
  const user = { username: 'reader', email: 'reader@press.example', password: 'a-long-password' }
  const created = await project.served.request('/api/users', {
    method: 'POST',
    token: 'full',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ ...user, role: 1, confirmed: true }),
  })
  expect(created.status, created.text).toBe(201)
  await grant(project.served, 'public', 'plugin::users-permissions.auth.callback')
  const wrong = await signIn({ identifier: 'reader', password: 'another-password' })
  const unknown = await signIn({ identifier: 'nobody', password: 'another-password' })
  expect([wrong.status, wrong.body.error.message]).toEqual([400, 'Invalid identifier or password'])
  expect(unknown.text).toBe(wrong.text)
  for (const identifier of ['reader', 'reader@press.example', 'READER@press.example']) {
    const { status, body } = await signIn({ identifier, password: user.password })
    expect([status, body.user.username]).toEqual([200, 'reader'])
    expect(body.jwt).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+$/)
    expect(JSON.stringify(body)).not.toContain('password')
  }
})

rule('writing.22', 'publishing, unpublishing and discarding are separate actions', async () => {
  const act = (path: string, action: string, token?: string) => project.send('POST', `${path}/actions/${action}`, undefined, token)
  const { documentId } = await project.make('books?status=draft', { title: 'To be published' })
  const path = `books/${documentId}`
  expect([(await act(path, 'publish', 'nobody')).status, (await act(path, 'publish', 'tags')).status]).toEqual([403, 403])
  expect((await act(path, 'discard')).status).toBe(404)
  const published = await act(path, 'publish')
  expect([published.status, published.body.data.title, published.body.data.publishedAt === null]).toEqual([200, 'To be published', false])
  await project.change(`${path}?status=draft`, { title: 'Changed since' })
  const discarded = await act(path, 'discard')
  expect([discarded.status, discarded.body.data.title, discarded.body.data.publishedAt]).toEqual([200, 'To be published', null])
  const unpublished = await act(path, 'unpublish')
  expect([unpublished.status, unpublished.body.data.publishedAt, await status(path)]).toEqual([200, null, 404])
  const unfinished = await project.make('books?status=draft', { title: 'ab' })
  expect((await act(`books/${unfinished.documentId}`, 'publish')).status).toBe(400)
  expect((await act('books/nothing', 'publish')).status).toBe(404)
  const { documentId: person } = await project.make('people', { name: 'Without drafts' })
  expect((await act(`people/${person}`, 'publish')).status).toBe(400)
})
