// docs/spec/filters.md: conditions on relations, components and media.
import { afterAll, beforeAll, expect } from 'vitest'
import { rule } from '../support/rule.js'
import type { Served } from '../support/serve.js'
import { serveProject } from '../support/serve.js'
import { insert } from './callers.js'
import { access, contentType, plain, reading, seeded } from './library.js'
import { all, expected, file, readOnly, target, type Version, versions } from './magazine.js'

let magazine: Served
let strapi: Served
let shelves: Readonly<Record<'specification' | 'strapi', Served>>
beforeAll(async () => {
  magazine = await readOnly('specification')
  strapi = await readOnly('strapi')
  shelves = { specification: await serveShelves('specification'), strapi: await serveShelves('strapi') }
})
afterAll(() => Promise.all([magazine, strapi, ...Object.values(shelves)].map((served) => served.close())))

/** A shelf without versions, linked to both versions in both locales of a book. */
async function serveShelves(contract: 'specification' | 'strapi'): Promise<Served> {
  const title = { type: 'string', pluginOptions: { i18n: { localized: true } } }
  const books = { type: 'relation', relation: 'manyToMany', target: 'api::book.book' }
  const versions = (locale: string) => ({ published: { title: `${locale} printed` }, draft: { title: `${locale} written` } })
  const served = await serveProject(
    {
      ...contentType('shelf', { name: { type: 'string' }, books }, { plural: 'shelves' }),
      ...contentType('book', { title }, { draftAndPublish: true, localized: true }),
      ...seeded('shelf', plain({ oak: {}, empty: {} })),
      ...seeded('book', [{ key: 'book', locales: { en: versions('en'), de: versions('de') } }]),
      ...access(reading('shelf', 'book'), [{ code: 'en', default: true }, { code: 'de' }]),
    },
    { config: { api: { rest: { contract } } } },
  )
  const rows = await served.sql('SELECT id FROM books ORDER BY id')
  for (const [index, { id }] of rows.entries()) await insert(served, 'shelves_books_lnk', { shelf_id: 1, book_id: id, book_ord: index + 1 })
  return served
}

const articles = versions('article')
const where = (holds: (article: Version) => boolean) => expected(articles.filter(holds))
const slugs = async (query: string, type = 'articles', served = magazine) => all(await served.request(`/api/${type}?${query}`))
const tagNames = ({ tags }: Version): string[] => tags.map((tag: string) => target(tag).name)

rule('filters.17', 'a condition leads through one relation', async () => {
  expect(await slugs('filters[author][name]=Emil%20Sarovic')).toEqual(where(({ author }) => author === '@author:emil-sarovic'))
  expect(await slugs('filters[author][since][$lt]=2025-01-01')).toEqual(where(({ author }) => target(author).since < '2025-01-01'))
})

rule('filters.17', 'and through several', async () => {
  const parent = ({ category }: Version) => (target(category).parent === undefined ? null : target(target(category).parent).slug)
  expect(await slugs('filters[category][parent][slug][$eq]=cities')).toEqual(where((article) => parent(article) === 'cities'))
  const issues = where(({ issue }) => issue !== undefined && target(issue).season === 'spring' && target(issue).number > 1)
  expect(await slugs('filters[issue][season]=spring&filters[issue][number][$gt]=1')).toEqual(issues)
  const authors = versions('author').filter(({ key }) =>
    articles.some((article) => article.author === `@author:${key}` && article.category === '@category:crafts'),
  )
  expect(await slugs('filters[articles][category][slug]=crafts', 'authors')).toEqual(expected(authors))
})

rule('filters.17', 'one of several related documents is enough, and finds the document once', async () => {
  const wanted = where((article) => tagNames(article).some((name) => name > 'R'))
  const answer = await magazine.request('/api/articles?filters[tags][name][$gt]=R')
  expect(all(answer)).toEqual(wanted)
  expect(answer.body.meta.pagination.total).toBe(wanted.length)
  expect(wanted.length).toBeGreaterThan(5)
})

rule('filters.18', 'conditions in one object are about the same related document', async () => {
  const both = (article: Version) => tagNames(article).includes('Measure') && tagNames(article).includes('Stone')
  const one = 'filters[tags][name][$eq]=Measure&filters[tags][slug][$eq]=stone'
  expect(await slugs(one)).toEqual([])
  const separate = 'filters[$and][0][tags][name]=Measure&filters[$and][1][tags][slug]=stone'
  expect(await slugs(separate)).toEqual(where(both))
  expect(where(both).length).toBe(2)
  expect(await slugs('filters[tags][name]=Stone&filters[tags][slug]=stone')).toEqual(
    where((article) => tagNames(article).includes('Stone')),
  )
})

rule('filters.19', 'all attributes of a missing relation are null', async () => {
  const alone = where(({ photographer }) => photographer === undefined)
  expect(alone.length).toBeGreaterThan(0)
  expect(await slugs('filters[photographer][name][$null]=true')).toEqual(alone)
  expect(await slugs('filters[photographer][name][$notNull]=false')).toEqual(alone)
  expect(await slugs('filters[photographer][name][$ne]=Noor%20Vandersteen')).toEqual(
    where(({ photographer }) => photographer === '@author:ruth-okonjo-pell'),
  )
  expect(await slugs('filters[$not][photographer][name]=Noor%20Vandersteen')).toEqual(
    where(({ photographer }) => photographer === '@author:ruth-okonjo-pell'),
  )
  expect(await slugs('filters[$or][0][photographer][name][$startsWith]=Ruth&filters[$or][1][photographer][slug][$null]=true')).toEqual(
    where(({ photographer }) => photographer !== '@author:noor-vandersteen'),
  )
})

rule('filters.19', 'this includes relations to many and deeper levels', async () => {
  expect(await slugs('filters[articles][title][$null]=true', 'tags')).toEqual(['marginalia'])
  expect(await slugs('filters[articles][author][name][$null]=true', 'tags')).toEqual(['marginalia'])
  expect(await slugs('filters[parent][name][$null]=true', 'categories')).toEqual(
    expected(versions('category').filter(({ parent }) => parent === undefined)),
  )
})

rule('filters.20', 'a relation can be compared itself', async () => {
  const { id, documentId } = (await magazine.request('/api/authors?filters[slug]=teodor-brask')).body.data[0]
  const brask = where(({ author }) => author === '@author:teodor-brask')
  for (const form of [`=${id}`, `[id]=${id}`, `[id][$eq]=${id}`, `[documentId]=${documentId}`, `[$in][0]=${id}`, `[$eq]=${id}`])
    expect([form, await slugs(`filters[author]${form}`)]).toEqual([form, brask])
  expect(await slugs(`filters[author][$ne]=${id}`)).toEqual(where(({ author }) => author !== '@author:teodor-brask'))
  const holt = (await magazine.request('/api/authors?filters[slug]=maria-holt')).body.data[0].id
  expect(await slugs(`filters[author][$in][0]=${id}&filters[author][$in][1]=${holt}`)).toEqual(
    where(({ author }) => author === '@author:teodor-brask' || author === '@author:maria-holt'),
  )
  expect(await slugs(`filters[author]=${documentId}`)).toEqual([])
})

rule('filters.20', 'it can be there or not', async () => {
  const without = where(({ issue }) => issue === undefined)
  for (const form of ['[issue][$null]=true', '[issue][id][$null]=true', '[issue][$notNull]=false', '[$not][issue][$notNull]=true'])
    expect([form, await slugs(`filters${form}`)]).toEqual([form, without])
  expect(await slugs('filters[issue][$notNull]=true')).toEqual(where(({ issue }) => issue !== undefined))
  expect(await slugs('filters[articles][$null]=true', 'tags')).toEqual(['marginalia'])
})

rule('filters.21', 'conditions lead through components', async () => {
  const events = versions('event')
  expect(await slugs('filters[venue][city]=Harnholt', 'events')).toEqual(expected(events.filter(({ venue }) => venue.city === 'Harnholt')))
  expect(await slugs('filters[venue][latitude][$gt]=51.6&filters[venue][city]=Velmond', 'events')).toEqual(
    expected(events.filter(({ venue }) => venue.latitude > 51.6 && venue.city === 'Velmond')),
  )
})

rule('filters.21', 'nested and repeatable components are ways as well', async () => {
  expect(await slugs('filters[seo][social][card]=large-image')).toEqual(where(({ seo }) => seo?.social?.card === 'large-image'))
  expect(await slugs('filters[seo][social][title][$null]=true')).toEqual(where(({ seo }) => seo?.social?.title === undefined))
  const issues = versions('issue').filter(({ specification }) => specification.inks.some(({ name }: Version) => name === 'Ochre'))
  expect(await slugs('filters[specification][inks][name]=Ochre', 'issues')).toEqual(expected(issues))
  const linked = versions('author').filter(({ links }) => links.some(({ newWindow, label }: Version) => newWindow && label === 'Studio'))
  expect(await slugs('filters[links][newWindow]=true&filters[links][label]=Studio', 'authors')).toEqual(expected(linked))
  expect(await slugs('filters[links][$null]=true', 'authors')).toEqual(
    expected(versions('author').filter(({ links }) => links.length === 0)),
  )
})

rule('filters.21', 'inverse sides are ways as well, also of a polymorphic relation', async () => {
  const category = versions('category').filter(({ parent }) => parent === '@category:crafts')
  expect(await slugs('filters[parent][slug]=crafts', 'categories')).toEqual(expected(category))
  expect(await slugs('filters[children][slug]=stone-and-timber', 'categories')).toEqual(['crafts'])
  const letters = versions('letter').filter(({ town }) => town === 'Harnholt')
  const subjects = letters.flatMap((letter) => letter.subjects as string[])
  expect(await slugs('filters[letters][town]=Harnholt')).toEqual(where(({ key }) => subjects.includes(`@article:${key}`)))
  expect(await slugs('filters[letters][town]=Harnholt', 'issues')).toEqual(
    expected(versions('issue').filter(({ key }) => subjects.includes(`@issue:${key}`))),
  )
})

for (const contract of ['specification', 'strapi'] as const) {
  rule('filters.22', `${contract}: which versions are seen from a type without Draft & Publish`, async () => {
    const cases = [
      ['en printed', ''],
      ['en written', '&status=draft'],
      ['de printed', '&locale=de'],
      ['de written', '&locale=de&status=draft'],
    ] as const
    for (const [title] of cases) {
      for (const [seen, parameters] of cases) {
        const found = all(await shelves[contract].request(`/api/shelves?filters[books][title]=${title}${parameters}`), 'name')
        const wanted = contract === 'strapi' || seen === title ? ['oak'] : []
        expect([contract, title, parameters, found]).toEqual([contract, title, parameters, wanted])
      }
    }
  })
}

rule('filters.22', 'a request about several locales sees the targets in each of them', async () => {
  const written = (locale: string) => expected(versions('article', { locale }).filter(({ author }) => author === '@author:emil-sarovic'))
  const query = 'filters[author][name]=Emil%20Sarovic'
  for (const served of [magazine, strapi]) {
    for (const locale of ['locale=de', 'locale[]=de', 'locale[$in][0]=de', 'filters[locale]=de'])
      expect([locale, await slugs(`${query}&${locale}`, 'articles', served)]).toEqual([locale, written('de')])
    for (const locale of ['locale=*', 'locale[]=en&locale[]=de'])
      expect([locale, (await slugs(`${query}&${locale}`, 'articles', served)).sort()]).toEqual([
        locale,
        [...written('en'), ...written('de')].sort(),
      ])
  }
})

rule('filters.17', 'the other locales of a document can be filtered through', async () => {
  for (const served of [magazine, strapi])
    expect(await slugs('filters[localizations][slug]=letzte-tram-nach-orla-hill', 'articles', served)).toEqual(['last-tram-to-orla-hill'])
})

rule('filters.22', 'the magazine’s drafts are seen from its authors as the contract says', async () => {
  const query = 'filters[articles][slug]=the-salt-road-walked-twice'
  expect(await slugs(query, 'authors')).toEqual([])
  expect(await slugs(`${query}&status=draft`, 'authors')).toEqual(['emil-sarovic'])
  expect(await slugs(query, 'authors', strapi)).toEqual(['emil-sarovic'])
})

rule('filters.22', 'specification: what no wanted version is related counts as nothing', async () => {
  const names = async (parameters: string) =>
    all(await shelves.specification.request(`/api/shelves?filters[books][title][$null]=true${parameters}`), 'name')
  expect(await names('')).toEqual(['empty'])
  expect(await names('&locale=fr')).toEqual(['oak', 'empty'])
})

rule('filters.23', 'specification: media cannot be filtered, at any level', async () => {
  const cases = [
    'articles?filters[cover][name]=mill.jpg',
    'articles?filters[cover]=1',
    'articles?filters[gallery][$null]=true',
    'articles?filters[author][portrait][ext]=.png',
    'articles?filters[seo][social][image][width][$gt]=1',
    'authors?filters[$or][0][$not][portrait][id]=1',
    'authors?filters[articles][cover][$notNull]=true',
    'articles?populate[author][filters][portrait][$null]=true',
    'authors?populate[articles][filters][cover][name]=mill.jpg',
  ]
  for (const path of cases) {
    const { status, body } = await magazine.request(`/api/${path}`)
    expect([path, status, body.error?.name]).toEqual([path, 400, 'ValidationError'])
  }
})

rule('filters.23', 'strapi: media are filtered like relations', async () => {
  expect(await slugs('filters[cover][name]=mill.jpg', 'articles', strapi)).toEqual(
    where(({ cover }) => cover !== undefined && file(cover).name === 'mill.jpg'),
  )
  expect(await slugs('filters[cover][$null]=true', 'articles', strapi)).toEqual(where(({ cover }) => cover === undefined))
  const portraits = where(({ author }) => target(author).portrait !== undefined)
  expect(await slugs('filters[author][portrait][width][$gt]=0', 'articles', strapi)).toEqual(portraits)
})

rule('filters.24', 'zones and relations to many types cannot be filtered', async () => {
  const cases: Readonly<Record<string, string>> = {
    'articles?filters[extras][$null]=true': 'Invalid key extras',
    'articles?filters[extras][title]=a': 'Invalid key extras',
    'articles?filters[related][extras]=1': 'Invalid key extras at related.extras',
    'letters?filters[subjects][id]=1': 'Invalid key subjects',
    'articles?filters[letters][subjects][$null]=true': 'Invalid key subjects at letters.subjects',
  }
  for (const served of [magazine, strapi]) {
    for (const [path, message] of Object.entries(cases)) {
      const { status, body } = await served.request(`/api/${path}`)
      expect([path, status, body.error?.message]).toEqual([path, 400, message])
    }
  }
})
