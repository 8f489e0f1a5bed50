// docs/spec/resources.md: the envelope, the document, and the value of every attribute type.
import { afterAll, beforeAll, expect } from 'vitest'
import { isOnPostgres } from '../support/databases.js'
import { rule } from '../support/rule.js'
import type { Served } from '../support/serve.js'
import { firstStamp, samples, serveLibrary } from './library.js'
import { all, expected, file, readOnly, type Version, versions } from './magazine.js'

let magazine: Served
let strapi: Served
let library: Served
let strapiLibrary: Served
beforeAll(async () => {
  magazine = await readOnly('specification')
  strapi = await readOnly('strapi')
  library = await serveLibrary('specification')
  strapiLibrary = await serveLibrary('strapi')
})
afterAll(() => Promise.all([magazine, strapi, library, strapiLibrary].map((served) => served.close())))

const documentIdForm = /^[a-z][a-z0-9]{23}$/
const momentForm = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

/** The samples by name. */
async function sampled(served: Served, query = ''): Promise<Readonly<Record<string, Version>>> {
  const { body } = await served.request(`/api/samples${query}`)
  return Object.fromEntries(body.data.map((sample: Version) => [sample.name, sample]))
}

/** The attribute of every sample, as the seed has it. */
const given = (attribute: string) => Object.fromEntries(Object.entries(samples).map(([name, values]) => [name, values[attribute] ?? null]))

async function answered(attribute: string, served = library) {
  return Object.fromEntries(Object.entries(await sampled(served)).map(([name, sample]) => [name, sample[attribute]]))
}

async function article(slug: string, query: string, served = magazine): Promise<Version> {
  const { body } = await served.request(`/api/articles?filters[slug]=${slug}&fields=slug&${query}`)
  return body.data[0]
}

rule('resources.1', 'a list is data and meta, one document has an empty meta', async () => {
  const list = (await magazine.request('/api/tags')).body
  expect(Object.keys(list)).toEqual(['data', 'meta'])
  expect(Array.isArray(list.data)).toBe(true)
  const one = (await magazine.request(`/api/tags/${list.data[0].documentId}`)).body
  expect(one).toEqual({ data: list.data[0], meta: {} })
  const single = (await magazine.request('/api/setting')).body
  expect(single.meta).toEqual({})
  expect(single.data.siteName).toBe('Tidewright')
})

rule('resources.1', 'a list without documents is an empty array', async () => {
  const { status, body } = await magazine.request('/api/tags?filters[name]=nobody')
  expect(status).toBe(200)
  expect(body.data).toEqual([])
})

rule('resources.2', 'attributes are members of the document', async () => {
  const [first] = (await magazine.request('/api/tags')).body.data
  expect(first).toMatchObject({ name: 'Water', slug: 'water', colour: '#4f9494' })
  expect(first).not.toHaveProperty('attributes')
})

rule('resources.3', 'versions and locales share the documentId and have separate ids', async () => {
  const query = '/api/articles?fields=slug&pagination[pageSize]=1'
  const rows = await Promise.all(
    ['', '&status=draft', '&locale=de'].map(async (more) => (await magazine.request(query + more)).body.data[0]),
  )
  for (const { id } of rows) expect(Number.isInteger(id)).toBe(true)
  expect(new Set(rows.map(({ id }) => id)).size).toBe(3)
  expect(new Set(rows.map(({ documentId }) => documentId)).size).toBe(1)
  expect(rows[0].documentId).toMatch(documentIdForm)
})

rule('resources.4', 'times are ISO 8601 with milliseconds, a draft has no publishedAt', async () => {
  const [, jars] = versions('article')
  const [, answer] = (await magazine.request('/api/articles')).body.data
  for (const name of ['createdAt', 'updatedAt', 'publishedAt']) expect(answer[name]).toBe(jars![name])
  expect(answer.createdAt).toMatch(momentForm)
  const [, draft] = (await magazine.request('/api/articles?status=draft')).body.data
  expect(draft.publishedAt).toBeNull()
  expect(draft.createdAt).toBe(jars!.createdAt)
})

rule('resources.5', 'only documents of localized types have a locale', async () => {
  expect(new Set(all(await magazine.request('/api/tags'), 'locale'))).toEqual(new Set(['en']))
  expect(new Set(all(await magazine.request('/api/tags?locale=de'), 'locale'))).toEqual(new Set(['de']))
  for (const letter of (await magazine.request('/api/letters')).body.data) expect(letter).not.toHaveProperty('locale')
  const { letters } = await article('a-wall-without-mortar', 'populate=letters')
  expect(letters[0].locale).toBeNull()
})

rule('resources.6', 'members come in the order of the schema, populated ones last', async () => {
  const [sample] = (await library.request('/api/samples')).body.data
  const attributes = ['name', 'string', 'text', 'rich', 'mail', 'code', 'choice', 'whole', 'big', 'rough', 'exact', 'flag']
  const rest = ['day', 'at', 'moment', 'stamp', 'data', 'story', 'createdAt', 'updatedAt', 'publishedAt']
  expect(Object.keys(sample)).toEqual(['id', 'documentId', ...attributes, ...rest])
  const [tag] = (await magazine.request('/api/tags?populate=articles&fields=slug,name,locale,createdAt')).body.data
  expect(Object.keys(tag)).toEqual(['id', 'documentId', 'name', 'slug', 'createdAt', 'locale', 'articles'])
})

for (const attribute of ['string', 'text', 'rich', 'mail', 'code', 'choice']) {
  rule('resources.7', `${attribute} is answered as it was stored`, async () => {
    expect(await answered(attribute)).toEqual(given(attribute))
  })
}

for (const attribute of ['whole', 'rough', 'exact']) {
  rule('resources.8', `${attribute} is a number`, async () => {
    expect(await answered(attribute)).toEqual(given(attribute))
  })
}

rule('resources.8', 'a biginteger is a string of all its digits', async () => {
  expect(await answered('big')).toEqual(given('big'))
  expect((await library.request('/api/samples?fields=big')).text).toContain('"big":"9223372036854775807"')
})

rule('resources.9', 'a boolean is true or false', async () => {
  expect(await answered('flag')).toEqual({ first: true, second: false, third: false, nothing: null })
})

for (const attribute of ['day', 'moment']) {
  rule('resources.10', `${attribute} has its one form`, async () => {
    expect(await answered(attribute)).toEqual(given(attribute))
  })
}

rule('resources.10', 'at has the form of its database', async () => {
  // PostgreSQL drops trailing zeros of fractions, and empty fractions.
  const shortest = { first: '23:59:59.999', second: '00:00:00', third: '08:00:00', nothing: null }
  expect(await answered('at')).toEqual(isOnPostgres ? shortest : given('at'))
})

rule('resources.11', 'specification: a timestamp is an ISO time', async () => {
  expect(await answered('stamp')).toEqual(given('stamp'))
})

rule('resources.11', 'strapi: a timestamp is a string of milliseconds', async () => {
  const milliseconds = Object.entries(given('stamp')).map(([name, text]) => [
    name,
    text === null ? null : String(Date.parse(text as string)),
  ])
  expect(await answered('stamp', strapiLibrary)).toEqual(Object.fromEntries(milliseconds))
  expect((await answered('stamp', strapiLibrary)).second).toBe(String(Date.parse(firstStamp)))
})

for (const attribute of ['data', 'story']) {
  rule('resources.12', `${attribute} keeps its structure`, async () => {
    expect(await answered(attribute)).toEqual(given(attribute))
  })
}

rule('resources.12', 'blocks have a type and children', async () => {
  const [mill] = versions('article').filter(({ key }) => key === 'tidal-mills')
  const answer = (await magazine.request(`/api/articles?filters[slug]=${mill!.slug}`)).body.data[0]
  expect(answer.body).toEqual(mill!.body)
  expect(answer.body[0]).toMatchObject({ type: 'paragraph', children: [{ type: 'text', text: expect.any(String) }] })
})

rule('resources.13', 'missing values are null', async () => {
  const { nothing } = await sampled(library)
  const { id, documentId, name, createdAt, updatedAt, publishedAt, ...empty } = nothing!
  expect(Object.keys(empty).length).toBe(17)
  expect(new Set(Object.values(empty))).toEqual(new Set([null]))
})

rule('resources.14', 'responses have no passwords and private attributes', async () => {
  for (const served of [library, strapiLibrary]) {
    const { text } = await served.request('/api/samples?fields=*')
    expect(text).not.toMatch(/secret|hidden|whisper|\$2[aby]\$/)
  }
  const { text } = await magazine.request('/api/articles?populate=*&status=draft&pagination[pageSize]=100')
  expect(text).not.toContain('editorNote')
  expect(text).not.toContain('Title still open.')
  for (const letter of (await magazine.request('/api/letters?populate=*')).body.data)
    for (const name of ['email', 'account']) expect(letter).not.toHaveProperty(name)
})

rule('resources.15', 'relations, media, components and zones are not there unasked', async () => {
  const [first] = (await magazine.request('/api/articles')).body.data
  for (const name of ['cover', 'gallery', 'author', 'tags', 'seo', 'extras', 'localizations', 'createdBy', 'updatedBy'])
    expect(first).not.toHaveProperty(name)
})

rule('resources.16', 'a related document has its own shape', async () => {
  const tram = await article('last-tram-to-orla-hill', 'populate[author]=true&populate[tags]=true')
  expect(tram.author).toMatchObject({ id: expect.any(Number), documentId: expect.stringMatching(documentIdForm), name: 'Ines Calloway' })
  expect(tram.author).not.toHaveProperty('data')
  expect(expected(tram.tags)).toEqual(['transport', 'night'])
})

rule('resources.17', 'specification: every entry of a component has a documentId that stays', async () => {
  const request = async () => (await magazine.request('/api/issues?populate[specification][populate]=inks')).body.data
  const issues = await request()
  const inks = issues.flatMap(({ specification }: Version) => specification.inks)
  const seeded = versions('issue').flatMap(({ specification }) => specification.inks)
  expect(inks.map(({ name, hex }: Version) => ({ name, hex }))).toEqual(seeded)
  const ids = [...inks, ...issues.map(({ specification }: Version) => specification)].map(({ documentId }: Version) => documentId)
  for (const id of ids) expect(id).toMatch(documentIdForm)
  expect(new Set(ids).size).toBe(ids.length)
  expect(await request()).toEqual(issues)
})

rule('resources.17', 'strapi: components have no documentId', async () => {
  const { specification } = (await strapi.request('/api/issues?populate[specification][populate]=inks')).body.data[0]
  expect(Object.keys(specification)).toEqual(['id', 'paper', 'pages', 'width', 'height', 'binding', 'inks'])
  expect(Object.keys(specification.inks[0])).toEqual(['id', 'name', 'hex'])
})

rule('resources.18', 'an entry of a zone names its component', async () => {
  const [wall] = versions('article').filter(({ key }) => key === 'dry-stone')
  const answer = await article(wall!.slug, 'populate[extras]=true')
  expect(expected(answer.extras, '__component')).toEqual(expected(wall!.extras, '__component'))
  for (const entry of answer.extras)
    expect(entry).toMatchObject({ id: expect.any(Number), documentId: expect.stringMatching(documentIdForm) })
  const [recorded] = (await article(wall!.slug, 'populate[extras]=true', strapi)).extras
  expect(Object.keys(recorded).sort()).toEqual(['__component', 'id', 'intro', 'title'])
})

rule('resources.19', 'a file has the members of the media library', async () => {
  const { cover } = await article('the-mill-that-waits-for-the-moon', 'populate=cover')
  const { name, alternativeText, caption, width, height, hash, ext, mime, size, url } = file('@file:mill')
  expect(cover).toMatchObject({ name, alternativeText, caption, width, height, hash, ext, mime, size, url })
  expect(cover).toMatchObject({
    id: expect.any(Number),
    documentId: expect.stringMatching(documentIdForm),
    previewUrl: null,
    provider: 'local',
  })
  expect(cover.provider_metadata).toBeNull()
  expect(cover.createdAt).toMatch(momentForm)
  expect(cover.updatedAt).toMatch(momentForm)
  expect(cover.url.startsWith('/uploads/')).toBe(true)
})

rule('resources.20', 'formats of an image are described, a file without has null', async () => {
  const { cover } = await article('the-mill-that-waits-for-the-moon', 'populate=cover')
  expect(cover.formats).toEqual(file('@file:mill').formats)
  expect(Object.keys(cover.formats).sort()).toEqual(['large', 'medium', 'small', 'thumbnail'])
  const { cover: drawing } = await article('card-by-card', 'populate=cover')
  // jsonb sorts its keys.
  const names = (formats: object) => (isOnPostgres ? Object.keys(formats).sort() : Object.keys(formats))
  expect(names(drawing.formats)).toEqual(names(file('@file:loom').formats))
  const { sample } = (await magazine.request('/api/issues?populate=sample&filters[number]=4')).body.data[0]
  expect(sample.mime).toBe('application/pdf')
  expect(sample.formats).toBeNull()
})
