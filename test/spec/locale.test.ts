// docs/spec/locale.md: which of a document's locales a read is about.
import { afterAll, beforeAll, expect } from 'vitest'
import { isOnMysql } from '../support/databases.js'
import { rule } from '../support/rule.js'
import type { Served } from '../support/serve.js'
import { serveProject } from '../support/serve.js'
import { access, contentType, plain, reading, seeded } from './library.js'
import { all, expected, readOnly, target, type Version, versions } from './magazine.js'

let magazine: Served
/** Localized notes of a place that has no locales. */
let places: Served
beforeAll(async () => {
  magazine = await readOnly('specification')
  const place = { type: 'relation', relation: 'manyToOne', target: 'api::place.place', inversedBy: 'notes' }
  const notes = { type: 'relation', relation: 'oneToMany', target: 'api::note.note', mappedBy: 'place' }
  const name = { type: 'string', pluginOptions: { i18n: { localized: true } } }
  const published = (text: string) => ({ published: { name: text, place: '@place:velmond' } })
  places = await serveProject({
    ...contentType('place', { name: { type: 'string' }, notes }),
    ...contentType('note', { name, place }, { localized: true }),
    ...seeded('place', plain({ velmond: { name: 'Velmond' } })),
    ...seeded('note', [{ key: 'notes', locales: { en: published('Notes'), de: published('Notizen') } }]),
    ...access(reading('place', 'note'), [{ code: 'en', default: true }, { code: 'de' }]),
  })
})
afterAll(() => Promise.all([magazine, places].map((served) => served.close())))

const slugs = async (query: string) => all(await magazine.request(`/api/${query}`))
const documentIdOf = async (slug: string): Promise<string> =>
  (await magazine.request(`/api/articles?locale=*&status=draft&filters[slug]=${slug}`)).body.data[0].documentId

rule('locale.1', 'without locale the default locale is read', async () => {
  const english = expected(versions('article'))
  for (const query of ['articles', 'articles?locale=', 'articles?locale']) expect(await slugs(query)).toEqual(english)
  expect((await magazine.request('/api/homepage')).body.data.locale).toBe('en')
})

rule('locale.2', 'a code selects the versions in that locale', async () => {
  expect(await slugs('articles?locale=de')).toEqual(expected(versions('article', { locale: 'de' })))
  expect((await magazine.request('/api/homepage?locale=de')).body.data.intro).toBe(versions('homepage', { locale: 'de' })[0]!.intro)
  const id = await documentIdOf('last-tram-to-orla-hill')
  expect((await magazine.request(`/api/articles/${id}?locale=de`)).body.data.title).toBe('Letzte Tram nach Orla Hill')
  expect((await magazine.request(`/api/articles/${id}`)).body.data.title).toBe('Last Tram to Orla Hill')
})

rule('locale.3', 'there is no fallback to another locale', async () => {
  const id = await documentIdOf('card-by-card')
  expect((await magazine.request(`/api/articles/${id}`)).status).toBe(200)
  expect((await magazine.request(`/api/articles/${id}?locale=de`)).status).toBe(404)
  // The collation of MariaDB ignores case.
  for (const locale of ['fr', ...(isOnMysql ? [] : ['EN']), 'en-GB', '%25', "'"]) {
    expect(await slugs(`articles?locale=${locale}`)).toEqual([])
    expect((await magazine.request(`/api/homepage?locale=${locale}`)).status).toBe(404)
  }
})

rule('locale.4', 'types without locales ignore the parameter', async () => {
  const headings = expected(versions('letter'), 'heading')
  for (const locale of ['de', 'fr', '*']) expect(all(await magazine.request(`/api/letters?locale=${locale}`), 'heading')).toEqual(headings)
  expect((await magazine.request('/api/setting?locale=fr')).status).toBe(200)
})

rule('locale.5', 'the star lists the versions of all locales', async () => {
  const list = (await magazine.request('/api/tags?locale=*&pagination[pageSize]=100')).body
  const both = [...versions('tag'), ...versions('tag', { locale: 'de' })]
  expect(list.data.map(({ slug }: Version) => slug).sort()).toEqual(expected(both).sort())
  expect(list.meta.pagination.total).toBe(both.length)
})

rule('locale.5', 'one document has no star', async () => {
  const id = await documentIdOf('last-tram-to-orla-hill')
  expect((await magazine.request(`/api/articles/${id}?locale=*`)).status).toBe(404)
  expect((await magazine.request('/api/homepage?locale=*')).status).toBe(404)
})

rule('locale.5', 'lists and operators select several', async () => {
  const both = [...versions('tag'), ...versions('tag', { locale: 'de' })]
  for (const query of [
    'locale[]=en&locale[]=de',
    'locale[0]=de&locale[1]=en',
    'locale[$in][0]=en&locale[$in][1]=de',
    'locale[$notNull]=true',
  ])
    expect((await slugs(`tags?${query}&pagination[pageSize]=100`)).sort()).toEqual(expected(both).sort())
  expect(await slugs('tags?locale[$ne]=en')).toEqual(expected(versions('tag', { locale: 'de' })))
  expect(await slugs('tags?locale[]=de')).toEqual(expected(versions('tag', { locale: 'de' })))
})

rule('locale.6', 'a condition on locale replaces the default', async () => {
  const german = expected(versions('tag', { locale: 'de' }))
  expect(await slugs('tags?filters[locale]=de')).toEqual(german)
  expect(await slugs('tags?filters[locale][$eq]=de&locale=de')).toEqual(german)
  expect(await slugs('tags?filters[locale]=de&locale=en')).toEqual(german)
})

rule('locale.7', 'populated documents are in the locale of the request', async () => {
  const list = (await magazine.request('/api/articles?locale=de&populate[tags]=true&populate[author]=true&populate[related][fields]=slug'))
    .body.data
  for (const [index, article] of versions('article', { locale: 'de' }).entries()) {
    expect(list[index].tags.map(({ name }: Version) => name)).toEqual(article.tags.map((tag: string) => target(tag, { locale: 'de' }).name))
    expect(list[index].author.role).toBe(target(article.author, { locale: 'de' }).role)
    const known = new Set(expected(versions('article', { locale: 'de' }), 'key'))
    const related = article.related.filter((each: string) => known.has(each.replace('@article:', '')))
    expect(expected(list[index].related)).toEqual(related.map((each: string) => target(each, { locale: 'de' }).slug))
  }
})

rule('locale.7', 'a type without locales is populated in any locale', async () => {
  for (const [locale, name] of [
    ['en', 'Notes'],
    ['de', 'Notizen'],
  ]) {
    const { data } = (await places.request(`/api/notes?locale=${locale}&populate=place`)).body
    expect(data).toMatchObject([{ name, place: { name: 'Velmond' } }])
  }
})

rule('locale.7', 'and its own relations follow the request', async () => {
  const notes = async (query: string) => (await places.request(`/api/places?populate[notes][fields]=name${query}`)).body.data[0].notes
  expect(expected(await notes(''), 'name')).toEqual(['Notes'])
  expect(expected(await notes('&locale=de'), 'name')).toEqual(['Notizen'])
  expect(await notes('&locale=fr')).toEqual([])
})

rule('locale.8', 'attributes that are not localized are equal in all locales', async () => {
  const shared = ['seats', 'fee', 'starts', 'doors', 'kind', 'stepFree', 'contact']
  const [english, german] = await Promise.all(
    ['en', 'de'].map(async (code) => (await magazine.request(`/api/events?locale=${code}`)).body.data),
  )
  expect(german.length).toBe(4)
  for (const event of german) {
    const other = english.find(({ documentId }: Version) => documentId === event.documentId)
    expect(other.title).not.toBe(event.title)
    for (const name of shared) expect(event[name]).toEqual(other[name])
  }
})
