// docs/spec/status.md: drafts and published versions.
import { afterAll, beforeAll, expect } from 'vitest'
import { rule } from '../support/rule.js'
import type { Served } from '../support/serve.js'
import { serveProject } from '../support/serve.js'
import { access, contentType, reading, type Seeded, seeded } from './library.js'
import { all, expected, readOnly, type Version, versions } from './magazine.js'

let magazine: Served
let strapi: Served
let notes: Served
beforeAll(async () => {
  magazine = await readOnly('specification')
  strapi = await readOnly('strapi')
  notes = await serveProject(noteProject)
})
afterAll(() => Promise.all([magazine, strapi, notes].map((served) => served.close())))

const slugs = async (query: string, served = magazine) => all(await served.request(`/api/articles?pagination[pageSize]=100&${query}`))

/** Documents whose versions differ in every way that a publication filter distinguishes: name by locale and state. */
const noteLocales: Readonly<Record<string, Seeded['locales']>> = {
  fresh: { en: { draft: { name: 'fresh' } } },
  same: { en: { published: { name: 'same' } } },
  edited: { en: { published: { name: 'edited' }, draft: { name: 'edited later' } } },
  abroad: { en: { draft: { name: 'abroad' } }, de: { published: { name: 'auswärts' } } },
  orphan: { en: { published: { name: 'orphan' } } },
}
const noteProject = {
  ...contentType(
    'note',
    { name: { type: 'string', pluginOptions: { i18n: { localized: true } } } },
    { draftAndPublish: true, localized: true },
  ),
  ...seeded(
    'note',
    Object.entries(noteLocales).map(([key, locales]) => ({ key, locales })),
  ),
  ...access(reading('note'), [{ code: 'en', default: true }, { code: 'de' }]),
}

rule('status.1', 'published versions are read by default', async () => {
  const published = expected(versions('article'))
  expect(await slugs('')).toEqual(published)
  expect(await slugs('status=published')).toEqual(published)
  for (const { publishedAt } of (await magazine.request('/api/articles?fields=publishedAt')).body.data)
    expect(Date.parse(publishedAt)).toBeGreaterThan(0)
  expect((await magazine.request('/api/homepage')).body.data.publishedAt).toBe('2026-10-16T05:30:00.000Z')
})

rule('status.2', 'drafts have no publishedAt, and every document has one', async () => {
  const { data } = (await magazine.request('/api/articles?status=draft')).body
  const drafts = versions('article', { status: 'draft' })
  expect(expected(data)).toEqual(expected(drafts))
  expect(new Set(expected(data, 'publishedAt'))).toEqual(new Set([null]))
  expect(data.length).toBe(versions('article').length + 2)
})

rule('status.2', 'a changed draft shows its change, the published version does not', async () => {
  const [draft, published] = [{ status: 'draft' as const }, {}].map(
    (which) => versions('article', which).find(({ key }) => key === 'shade-map')!,
  )
  expect(draft!.title).not.toBe(published!.title)
  const title = async (status: string) =>
    (await magazine.request(`/api/articles?filters[slug]=${published!.slug}&status=${status}`)).body.data[0].title
  expect([await title('draft'), await title('published')]).toEqual([draft!.title, published!.title])
})

for (const value of ['modified', 'PUBLISHED', '', 'all']) {
  rule('status.3', `specification: status=${value} is refused`, async () => {
    for (const path of ['/api/articles', '/api/homepage', '/api/articles/x']) {
      const { status, body } = await magazine.request(`${path}?status=${value}`)
      expect([path, status, body.error.name]).toEqual([path, 400, 'ValidationError'])
    }
  })

  rule('status.3', `strapi: status=${value} means draft`, async () => {
    expect(await slugs(`status=${value}`, strapi)).toEqual(expected(versions('article', { status: 'draft' })))
  })
}

rule('status.3', 'a list is not a status either', async () => {
  expect((await magazine.request('/api/articles?status[]=published')).status).toBe(400)
  expect((await magazine.request('/api/articles?status=published&status=draft')).status).toBe(400)
  expect(await slugs('status[]=published', strapi)).toEqual(expected(versions('article', { status: 'draft' })))
})

rule('status.4', 'types without Draft & Publish show the same for both', async () => {
  const { text } = await magazine.request('/api/tags')
  expect((await magazine.request('/api/tags?status=draft')).text).toBe(text)
  expect((await magazine.request('/api/tags?status=published')).text).toBe(text)
  expect((await magazine.request('/api/setting?status=draft')).status).toBe(200)
})

rule('status.5', 'populated relations show the same status as the request', async () => {
  const relatedTo = async (status: string) =>
    (
      await magazine.request(
        `/api/articles?status=${status}&filters[slug]=the-mill-that-waits-for-the-moon&populate[relatedTo][fields]=slug,publishedAt`,
      )
    ).body.data[0].relatedTo as Version[]
  const pointing = (status: 'draft' | 'published') =>
    expected(versions('article', { status }).filter(({ related }) => related?.includes('@article:tidal-mills')))
  const [published, drafts] = [await relatedTo('published'), await relatedTo('draft')]
  expect(expected(published).sort()).toEqual(pointing('published').sort())
  expect(expected(drafts).sort()).toEqual(pointing('draft').sort())
  expect(expected(drafts)).toContain('the-salt-road-walked-twice')
  for (const { publishedAt } of published) expect(publishedAt).not.toBeNull()
  for (const { publishedAt } of drafts) expect(publishedAt).toBeNull()
})

rule('status.5', 'so do relations of types without Draft & Publish', async () => {
  const articles = async (status: string) =>
    expected(
      (await magazine.request(`/api/authors?status=${status}&filters[slug]=emil-sarovic&populate[articles][fields]=slug`)).body.data[0]
        .articles,
    )
  for (const status of ['draft', 'published'] as const) {
    const written = versions('article', { status }).filter(({ author }) => author === '@author:emil-sarovic')
    expect((await articles(status)).sort()).toEqual(expected(written).sort())
  }
})

rule('status.6', 'hasPublishedVersion finds documents that were ever published', async () => {
  const published = new Set(expected(versions('article'), 'key'))
  const [yes, no] = [true, false].map((wanted) =>
    versions('article', { status: 'draft' }).filter(({ key }) => published.has(key) === wanted),
  )
  expect(await slugs('status=draft&hasPublishedVersion=true')).toEqual(expected(yes!))
  expect(await slugs('status=draft&hasPublishedVersion=false')).toEqual(expected(no!))
  expect(await slugs('hasPublishedVersion=false')).toEqual([])
})

rule('status.6', 'a version in another locale counts', async () => {
  const names = async (value: boolean) => all(await notes.request(`/api/notes?status=draft&hasPublishedVersion=${value}`), 'name')
  expect(await names(true)).toEqual(['same', 'edited later', 'abroad', 'orphan'])
  expect(await names(false)).toEqual(['fresh'])
})

rule('status.6', 'other values are refused', async () => {
  for (const value of ['1', 'yes', '', 'TRUE'])
    expect((await magazine.request(`/api/articles?hasPublishedVersion=${value}`)).status).toBe(400)
})

rule('status.7', 'publicationFilter compares the versions of a document', async () => {
  for (const { id, updated_at } of await notes.sql(`SELECT id, updated_at FROM notes WHERE name = 'edited later'`))
    await notes.sql('UPDATE notes SET updated_at = ? WHERE id = ?', updated_at + 60_000, id)
  await notes.sql(`DELETE FROM notes WHERE name = 'orphan' AND published_at IS NULL`)
  const cases = {
    'status=draft&publicationFilter=never-published': ['fresh', 'abroad'],
    'status=draft&publicationFilter=has-published-version': ['same', 'edited later'],
    'status=draft&publicationFilter=modified': ['edited later'],
    'publicationFilter=modified': ['edited'],
    'status=draft&publicationFilter=unmodified': ['same'],
    'publicationFilter=unmodified': ['same'],
    'status=draft&publicationFilter=never-published-document': ['fresh'],
    'status=draft&publicationFilter=has-published-version-document': ['same', 'edited later', 'abroad'],
    'publicationFilter=published-without-draft': ['orphan'],
    'publicationFilter=published-with-draft': ['same', 'edited'],
    'locale=de&publicationFilter=published-with-draft': ['auswärts'],
  }
  for (const [query, names] of Object.entries(cases))
    expect([query, all(await notes.request(`/api/notes?${query}`), 'name')]).toEqual([query, names])
})

rule('status.7', 'the magazine shows drafts changed since their publication', async () => {
  const published = new Map(versions('article').map((version) => [version.key, version.publishedAt]))
  const changed = versions('article', { status: 'draft' }).filter(
    ({ key, updatedAt }) => published.has(key) && updatedAt > published.get(key),
  )
  expect(expected(changed, 'key')).toEqual(['shared-kiln', 'shade-map'])
  expect(await slugs('status=draft&publicationFilter=modified')).toEqual(expected(changed))
})

rule('status.7', 'it works on one document, and refuses other values', async () => {
  const { documentId } = (await magazine.request('/api/articles')).body.data[0]
  expect((await magazine.request(`/api/articles/${documentId}?publicationFilter=published-with-draft`)).status).toBe(200)
  expect((await magazine.request(`/api/articles/${documentId}?publicationFilter=published-without-draft`)).status).toBe(404)
  const { status, body } = await magazine.request('/api/articles?publicationFilter=new')
  expect([status, body.error.name]).toEqual([400, 'ValidationError'])
})
