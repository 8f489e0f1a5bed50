// docs/spec/populate.md: relations, components and media in a response. Zones and relations to many types have a separate file.
import { afterAll, beforeAll, expect } from 'vitest'
import { rule } from '../support/rule.js'
import type { Served } from '../support/serve.js'
import { all, expected, file, readOnly, target, type Version, versions } from './magazine.js'

let magazine: Served
beforeAll(async () => {
  magazine = await readOnly('specification')
})
afterAll(() => magazine.close())

const articles = versions('article')
const seeded = (key: string): Version => articles.find((article) => article.key === key)!
const mill = seeded('tidal-mills')
const names = (references: readonly string[]) => references.map((reference) => target(reference).name)

/** The article about tidal mills, with its slug and populated relations. */
async function one(query: string, slug = mill.slug): Promise<Version> {
  const { status, body } = await magazine.request(`/api/articles?fields=slug&filters[slug]=${slug}&${query}`)
  if (status !== 200) throw new Error(`${query}: ${JSON.stringify(body)}`)
  return body.data[0]
}

const list = async (path: string): Promise<readonly Version[]> => (await magazine.request(`/api/${path}`)).body.data
const refusal = async (query: string) => {
  const { status, body } = await magazine.request(`/api/articles?${query}`)
  return [query, status, body.error?.message]
}
const populated = (document: Version) => Object.keys(document).filter((name) => !['id', 'documentId', 'slug'].includes(name))

rule('populate.1', 'the star shows everything that is not forbidden, one level deep', async () => {
  const article = await one('populate=*')
  expect(populated(article).sort()).toEqual(
    'author category cover editorialOf extras gallery issue letters localizations photographer related relatedTo seo tags'.split(' '),
  )
  expect(article.author).toMatchObject({ name: 'Teodor Brask', role: 'Editor for science', onStaff: true })
  expect(article.seo.metaTitle).toBe(mill.seo.metaTitle)
  for (const name of ['portrait', 'links', 'articles', 'events']) expect(article.author).not.toHaveProperty(name)
  expect(article.seo).not.toHaveProperty('social')
  for (const related of article.related) expect(related).not.toHaveProperty('author')
})

rule('populate.2', 'every writing of a list shows the same', async () => {
  const wanted = await one('populate[0]=author&populate[1]=tags')
  expect(populated(wanted)).toEqual(['author', 'tags'])
  expect(wanted.author.name).toBe('Teodor Brask')
  for (const query of [
    'populate[]=author&populate[]=tags',
    'populate=author,tags',
    'populate=author&populate=tags',
    'populate[author]=true&populate[tags]=true',
  ])
    expect([query, await one(query)]).toEqual([query, wanted])
  expect(await one('populate[0]=author,tags')).toEqual(wanted)
  expect(await one('populate[author]=1&populate[tags]=1')).toEqual(wanted)
})

rule('populate.2', 'false leaves an attribute out', async () => {
  expect(populated(await one('populate[author]=false&populate[tags]=true'))).toEqual(['tags'])
  expect(populated(await one('populate[author]=0&populate[seo]=0'))).toEqual([])
})

rule('populate.2', 'the star may be the only entry of a list', async () => {
  expect(await one('populate[0]=*')).toEqual(await one('populate=*'))
})

rule('populate.3', 'a dot path shows every level on its way', async () => {
  const article = await one('populate[0]=category.parent&populate[1]=author.portrait')
  expect(article.category).toMatchObject({ name: 'Waterfronts', parent: { name: 'Cities' } })
  expect(article.author).toMatchObject({ name: 'Teodor Brask', portrait: { name: file('@file:portrait-brask').name } })
  expect(await one('populate=category.parent,author.portrait')).toEqual(article)
  expect((await one('populate=category,category.parent')).category.parent.name).toBe('Cities')
})

rule('populate.4', 'a level takes every form of populate', async () => {
  const forms = ['[category][populate][0]=parent', '[category][populate]=parent', '[category][populate][parent]=true']
  for (const form of forms) expect([form, (await one(`populate${form}`)).category.parent?.name]).toEqual([form, 'Cities'])
  const all = (await one('populate[category][populate]=*')).category
  expect(all).toMatchObject({ name: 'Waterfronts', parent: { name: 'Cities' }, children: [] })
  expect(expected(all.articles)).toEqual(expected(articles.filter(({ category }) => category === '@category:waterfronts')))
})

rule('populate.4', 'the number of levels is unlimited', async () => {
  const levels = 7
  const query = Array.from({ length: levels }, (_, index) => (index % 2 === 0 ? '[author]' : '[articles]')).join('[populate]')
  let at: Version = await one(`populate${query}[fields]=slug`)
  for (let level = 0; level < levels; level++) {
    const below: Version = level % 2 === 0 ? at.author : at.articles.find(({ slug }: Version) => slug === mill.slug)
    expect([level, below.slug]).toEqual([level, level % 2 === 0 ? 'teodor-brask' : mill.slug])
    at = below
  }
  expect(at).not.toHaveProperty('articles')
})

rule('populate.5', 'a level chooses its fields, ids always come', async () => {
  const article = await one('populate[author][fields][0]=name&populate[tags][fields]=id&populate[cover][fields]=url,width')
  expect(Object.keys(article.author)).toEqual(['id', 'documentId', 'name'])
  for (const tag of article.tags) expect(Object.keys(tag)).toEqual(['id', 'documentId'])
  expect(article.cover).toEqual({ id: article.cover.id, documentId: article.cover.documentId, url: file('@file:mill').url, width: 1200 })
})

rule('populate.6', 'a level chooses among the related documents only', async () => {
  const answer = await list(
    'articles?fields=slug&populate[tags][fields]=name&populate[tags][filters][name][$gt]=R&pagination[pageSize]=100',
  )
  expect(expected(answer)).toEqual(expected(articles))
  for (const [index, { tags }] of answer.entries())
    expect(expected(tags, 'name')).toEqual(names(articles[index]!.tags).filter((name) => name > 'R'))
  const { author } = await one('populate[author][filters][name]=Nobody')
  expect(author).toBeNull()
  const deep = await one('populate[related][filters][author][slug]=emil-sarovic&populate[related][fields]=slug')
  expect(expected(deep.related)).toEqual(['forty-years-of-rain-in-pencil'])
})

rule('populate.6', 'components are chosen as well', async () => {
  const [issue] = await list('issues?populate[specification][populate][inks][filters][name]=Ochre&filters[number]=4')
  expect(expected(issue!.specification.inks, 'name')).toEqual(['Ochre'])
})

rule('populate.7', 'a level is ordered by its own sort', async () => {
  const sorted = names(mill.tags).sort()
  for (const sort of ['[sort]=name', '[sort][0]=name:asc', '[sort][name]=asc', '[sort][0][name]=asc'])
    expect([sort, expected((await one(`populate[tags]${sort}`)).tags, 'name')]).toEqual([sort, sorted])
  expect(expected((await one('populate[tags][sort][0]=name:desc')).tags, 'name')).toEqual([...sorted].reverse())
  const [author] = await list(
    'authors?filters[slug]=teodor-brask&populate[articles][sort]=format,readingMinutes:desc&populate[articles][fields]=slug',
  )
  const written = articles.filter(({ author }) => author === '@author:teodor-brask')
  const wanted = [...written].sort((a, b) => (a.format < b.format ? -1 : a.format > b.format ? 1 : b.readingMinutes - a.readingMinutes))
  expect(expected(author!.articles)).toEqual(expected(wanted))
})

rule('populate.7', 'equal ones are in the order of their ids', async () => {
  const written = articles.filter(({ author }) => author === '@author:teodor-brask')
  const [no, yes] = [false, true].map((wanted) => expected(written.filter(({ featured }) => featured === wanted)))
  for (const [order, wanted] of [
    ['asc', [...no!, ...yes!]],
    ['desc', [...yes!, ...no!]],
  ]) {
    const query = `populate[articles][sort]=featured:${order}&populate[articles][fields]=slug`
    const [author] = await list(`authors?filters[slug]=teodor-brask&${query}`)
    expect(expected(author!.articles)).toEqual(wanted)
  }
})

rule('populate.7', 'without it the relation has its order', async () => {
  for (const article of await list(
    'articles?fields=slug&populate[tags][fields]=name&populate[gallery][fields]=url&pagination[pageSize]=100',
  )) {
    const { tags, gallery } = articles.find(({ slug }) => slug === article.slug)!
    expect(expected(article.tags, 'name')).toEqual(names(tags))
    expect(expected(article.gallery, 'url')).toEqual((gallery ?? []).map((reference: string) => file(reference).url))
  }
  const [issue] = await list('issues?populate[specification][populate]=inks&filters[number]=1')
  expect(expected(issue!.specification.inks, 'name')).toEqual(expected(versions('issue')[0]!.specification.inks, 'name'))
})

rule('populate.8', 'the list’s own parameters choose the documents', async () => {
  const query = 'fields=slug&filters[format]=report&sort=slug:desc&pagination[page]=2&pagination[pageSize]=3&populate[author][fields]=name'
  const { data, meta } = (await magazine.request(`/api/articles?${query}`)).body
  const reports = expected(articles.filter(({ format }) => format === 'report'))
    .sort()
    .reverse() as string[]
  expect(expected(data)).toEqual(reports.slice(3, 6))
  expect(meta.pagination).toEqual({ page: 2, pageSize: 3, pageCount: Math.ceil(reports.length / 3), total: reports.length })
  for (const { slug, author } of data) expect(author.name).toBe(target(articles.find((article) => article.slug === slug)!.author).name)
})

rule('populate.9', 'a level has no pages, no locale and no status', async () => {
  for (const key of [
    'pagination[limit]',
    'pagination[page]',
    'page',
    'pageSize',
    'start',
    'limit',
    'locale',
    'status',
    'where',
    '_q',
    'withCount',
  ])
    expect(await refusal(`populate[tags][${key.replace(/\[.*/, '')}]${key.includes('[') ? '[limit]' : ''}=1`)).toEqual([
      expect.any(String),
      400,
      expect.stringMatching(/^Invalid key \w+ at tags/),
    ])
  expect((await refusal('populate[author][populate][articles][limit]=1'))[1]).toBe(400)
})

rule('populate.10', 'relations that the caller may not find are missing, without an error', async () => {
  const forms = [
    '=pitch',
    '=*',
    '[0]=pitch',
    '[pitch]=true',
    '[pitch][fields]=title',
    '[pitch][populate]=*',
    '[pitch][filters][title]=x',
    '[pitch][count]=true',
    '=pitch.proposedBy',
  ]
  for (const form of forms) expect([form, 'pitch' in (await one(`populate${form}`, 'a-wall-without-mortar'))]).toEqual([form, false])
  expect(Object.keys(await one('populate[pitch]=true', 'a-wall-without-mortar'))).toEqual(['id', 'documentId', 'slug'])
  const { author } = await one('populate[author][populate]=*')
  expect(Object.keys(author)).not.toContain('pitches')
  expect(Object.keys(author)).toContain('events')
})

rule('populate.10', 'filters and sort keys inside it have no effect', async () => {
  expect((await one('populate[author][filters][pitches][title]=nonsense')).author.name).toBe('Teodor Brask')
  const { related } = await one('populate[related][sort]=pitch.title:desc&populate[related][fields]=slug')
  expect(expected(related)).toEqual(mill.related.map((reference: string) => target(reference).slug))
})

rule('populate.11', 'missing relations are null or an empty list', async () => {
  const article = await one('populate=*', 'card-by-card')
  for (const name of ['photographer', 'editorialOf']) expect([name, article[name]]).toEqual([name, null])
  const editorial = await one('populate=*', 'editorial-between-two-tides')
  for (const name of ['letters', 'extras', 'gallery']) expect([name, editorial[name]]).toEqual([name, []])
  const [draft] = await list('articles?status=draft&filters[slug]=the-salt-road-walked-twice&populate=*')
  for (const name of ['seo', 'cover']) expect([name, draft![name]]).toEqual([name, null])
  const [author] = await list('authors?filters[slug]=emil-sarovic&populate=links,portrait')
  expect([author!.links, author!.portrait]).toEqual([[], null])
})

rule('populate.12', 'a component shows its scalars, nested ones are populated in turn', async () => {
  const plain = (await one('populate=seo')).seo
  expect(Object.keys(plain)).toEqual(['id', 'documentId', 'metaTitle', 'metaDescription', 'noIndex'])
  const { image: picture, ...card } = mill.seo.social
  for (const query of [
    'populate=seo.social',
    'populate[0]=seo&populate[1]=seo.social',
    'populate[seo][populate][0]=social',
    'populate[seo][populate]=*',
  ]) {
    const { social } = (await one(query)).seo
    expect([query, social]).toEqual([query, { id: expect.any(Number), documentId: expect.any(String), ...card }])
  }
  expect((await one('populate=seo.social.image')).seo.social.image.url).toBe(file(picture).url)
  expect((await one('populate[seo][fields]=metaTitle')).seo).toEqual({
    id: plain.id,
    documentId: plain.documentId,
    metaTitle: mill.seo.metaTitle,
  })
})

rule('populate.17', 'media are one file or a list of files', async () => {
  const { cover, gallery } = await one('populate[cover]=true&populate[gallery][fields]=name')
  expect(cover).toMatchObject({ url: file('@file:mill').url, mime: 'image/jpeg' })
  expect(expected(gallery, 'name')).toEqual([file('@file:mill').name, file('@file:tide-diagram').name])
  const { gallery: sorted } = await one('populate[gallery][sort]=name:desc&populate[gallery][filters][ext]=.svg')
  expect(expected(sorted, 'ext')).toEqual(['.svg'])
})

rule('populate.18', 'localizations are the other locales in the same state', async () => {
  const { localizations } = await one('populate[localizations]=true')
  const german = versions('article', { locale: 'de' }).find(({ key }) => key === 'tidal-mills')!
  expect(localizations).toMatchObject([{ slug: german.slug, title: german.title, locale: 'de' }])
  expect((await one('populate=localizations', 'card-by-card')).localizations).toEqual([])
  expect((await one('populate[localizations][fields]=slug', 'blue-takes-three-days')).localizations).toEqual([])
  const [draft] = await list('articles?status=draft&filters[slug]=blue-takes-three-days&populate[localizations][fields]=slug')
  expect(expected(draft!.localizations)).toEqual(['blau-braucht-drei-tage'])
  const [english] = await list(`articles?locale=de&filters[slug]=${german.slug}&populate=localizations`)
  expect(expected(english!.localizations)).toEqual([mill.slug])
})

rule('populate.19', 'count takes the place of the documents', async () => {
  const article = await one(
    'populate[tags][count]=true&populate[author][count]=true&populate[seo][count]=1&populate[photographer][count]=true',
    'card-by-card',
  )
  const { tags, author, seo, photographer } = article
  expect({ tags, author, seo, photographer }).toEqual({
    tags: { count: 2 },
    author: { count: 1 },
    seo: { count: 1 },
    photographer: { count: 0 },
  })
  expect((await one('populate[tags][count]=false')).tags.length).toBe(3)
  const { gallery, extras } = await one('populate[gallery][count]=true&populate[extras][count]=true')
  expect([gallery.length, extras.length]).toEqual([mill.gallery.length, mill.extras.length])
})

rule('populate.19', 'it counts what would be shown', async () => {
  expect((await one('populate[tags][count]=true&populate[tags][filters][name]=Water')).tags).toEqual({ count: 1 })
  for (const status of ['published', 'draft'] as const) {
    const authors = await list(`authors?status=${status}&populate[articles][count]=true`)
    const written = (key: string) => versions('article', { status }).filter(({ author }) => author === `@author:${key}`).length
    expect(expected(authors, 'articles')).toEqual(versions('author').map(({ key }) => ({ count: written(key) })))
  }
})

rule('populate.21', 'both sides of a relation can be shown, and a document below itself', async () => {
  const [author] = await list('authors?filters[slug]=teodor-brask&populate[articles][fields]=slug')
  expect(expected(author!.articles)).toEqual(expected(articles.filter(({ author }) => author === '@author:teodor-brask')))
  const article = await one('populate[related][fields]=slug&populate[related][populate][relatedTo][fields]=slug')
  for (const related of article.related) expect(expected(related.relatedTo)).toContain(mill.slug)
  const [issue] = await list('issues?filters[number]=3&populate[editorial][populate]=editorialOf')
  expect(issue!.editorial.editorialOf.number).toBe(3)
})

rule('populate.22', 'names that lead nowhere are refused', async () => {
  const cases: Readonly<Record<string, string>> = {
    'populate=nope': 'Invalid key nope',
    'populate=title': 'Invalid key title',
    'populate=editorNote': 'Invalid key editorNote',
    'populate=createdBy': 'Invalid key createdBy',
    'populate[updatedBy]=true': 'Invalid key updatedBy',
    'populate=author.nope': 'Invalid key nope at author.nope',
    'populate[author][populate][nope]=true': 'Invalid key nope at author',
    'populate[author][fields]=nope': 'Invalid key nope',
    'populate[author][filters][nope]=1': 'Invalid key nope',
    'populate[author][sort]=nope': 'Invalid key nope',
  }
  for (const [query, message] of Object.entries(cases)) expect(await refusal(query)).toEqual([query, 400, message])
  expect((await magazine.request('/api/letters?populate=account')).body.error.message).toBe('Invalid key account')
})

rule('populate.23', 'forms that say nothing clear are refused', async () => {
  for (const query of [
    'populate=true',
    'populate=1',
    'populate[0]=*&populate[1]=author',
    'populate=author,*',
    'populate[author]=',
    'populate[author][0]=articles',
  ])
    expect(await refusal(query)).toEqual([query, 400, expect.any(String)])
  for (const query of ['populate[author]=*', 'populate[tags]=*', 'populate[0][a]=b', 'populate[author]=articles'])
    expect(await refusal(query)).toEqual([query, 400, expect.any(String)])
  expect(all(await magazine.request('/api/articles?populate='))).toEqual(expected(articles))
  expect(populated(await one('populate='))).toEqual([])
})

rule('populate.24', 'entries of a list next to names do not count', async () => {
  const shown = async (query: string) => {
    const { body } = await magazine.request(`/api/articles?pagination[pageSize]=1&fields[0]=title&${query}`)
    return Object.keys(body.data[0]).filter((name) => !['id', 'documentId', 'title'].includes(name))
  }
  expect(await shown('populate[0]=author&populate[tags]=true')).toEqual(['tags'])
  expect(await shown('populate[tags]=true&populate[]=author')).toEqual(['tags'])
  expect(await shown('populate[0]=author&populate[1]=nope&populate[tags]=true')).toEqual(['tags'])
  expect(await shown('populate[author][populate][true]=photo')).toEqual(['author'])
  expect(await refusal('populate[0]=author&populate[1]=tags&populate[2]=cover&populate[tags]=true')).toEqual([
    'populate[0]=author&populate[1]=tags&populate[2]=cover&populate[tags]=true',
    400,
    'Invalid key 2',
  ])
  expect(await refusal('populate[yes]=author')).toEqual(['populate[yes]=author', 400, 'Invalid key yes'])
})
