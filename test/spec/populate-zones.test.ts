// docs/spec/populate.md: dynamic zones, and relations to many types.
import { afterAll, beforeAll, expect } from 'vitest'
import { rule } from '../support/rule.js'
import type { Served } from '../support/serve.js'
import { addToken } from './callers.js'
import { expected, file, serve, target, type Version, versions } from './magazine.js'

let magazine: Served
let strapi: Served
beforeAll(async () => {
  magazine = await serve('specification')
  strapi = await serve('strapi')
  for (const served of [magazine, strapi])
    await addToken(served, 'letters-and-articles', { type: 'custom', actions: ['api::letter.letter.find', 'api::article.article.find'] })
})
afterAll(() => Promise.all([magazine, strapi].map((served) => served.close())))

const wall = versions('article').find(({ key }) => key === 'dry-stone')!

/** The zone of an article. */
async function extras(query: string, article = wall): Promise<readonly Version[]> {
  const { status, body } = await magazine.request(`/api/articles?fields=slug&filters[slug]=${article.slug}&populate[extras]${query}`)
  if (status !== 200) throw new Error(`${query}: ${JSON.stringify(body)}`)
  return body.data[0].extras
}

const refusal = async (query: string) => {
  const { status, body } = await magazine.request(`/api/articles?${query}`)
  return [query, status, body.error?.name]
}

const own = ({ id, documentId, __component, ...attributes }: Version) => Object.keys(attributes)
const entry = (entries: readonly Version[], component: string) => entries.find(({ __component }) => __component === component)!
const components = expected(wall.extras, '__component')

rule('populate.13', 'a zone shows all entries in their order, with their scalars', async () => {
  for (const query of ['=true', '=1']) {
    const entries = await extras(query)
    expect(expected(entries, '__component')).toEqual(components)
    expect(entry(entries, 'block.fact-box').title).toBe(entry(wall.extras, 'block.fact-box').title)
    expect(own(entry(entries, 'block.fact-box'))).toEqual(['title', 'intro'])
    expect(own(entry(entries, 'block.text'))).toEqual(['heading', 'body'])
    expect(own(entry(entries, 'block.quote'))).toEqual(['text', 'speaker'])
    expect(own(entry(entries, 'block.image'))).toEqual(['caption', 'width'])
  }
  const { body } = await magazine.request(`/api/articles?fields=slug&filters[slug]=${wall.slug}&populate[0]=extras`)
  expect(body.data[0].extras).toEqual(await extras('=true'))
})

rule('populate.14', 'the shared strategy populates one level in every entry', async () => {
  const entries = await extras('[populate]=*')
  expect(expected(entries, '__component')).toEqual(components)
  const { facts } = entry(wall.extras, 'block.fact-box')
  expect(entry(entries, 'block.fact-box').facts).toMatchObject(facts)
  expect(entry(entries, 'block.quote').person.name).toBe(target(entry(wall.extras, 'block.quote').person).name)
  expect(entry(entries, 'block.image').picture.url).toBe(file(entry(wall.extras, 'block.image').picture).url)
  expect(entry(entries, 'block.call-to-action').link).toMatchObject(entry(wall.extras, 'block.call-to-action').link)
  expect(entry(entries, 'block.quote').person).not.toHaveProperty('portrait')
})

rule('populate.14', 'other inner keys are refused', async () => {
  for (const query of [
    '[fields]=title',
    '[filters][title]=a',
    '[sort]=id',
    '[populate]=facts',
    '[populate][0]=facts',
    '[limit]=1',
    '=block.quote',
    '[block.quote]=true',
  ])
    expect(await refusal(`populate[extras]${query}`)).toEqual([`populate[extras]${query}`, 400, 'ValidationError'])
})

rule('populate.15', 'the detailed strategy has a level for each component', async () => {
  const query =
    '[on][block.quote][populate]=person&L[on][block.fact-box][fields]=title&L[on][block.fact-box][populate][facts][sort]=label:desc'
  const entries = await extras(query.replaceAll('L', 'populate[extras]'))
  expect(expected(entries, '__component')).toEqual(components.filter((uid) => uid === 'block.quote' || uid === 'block.fact-box'))
  const box = entry(entries, 'block.fact-box')
  expect(own(box)).toEqual(['title', 'facts'])
  const labels = expected(entry(wall.extras, 'block.fact-box').facts, 'label') as string[]
  expect(expected(box.facts, 'label')).toEqual([...labels].sort().reverse())
  expect(entry(entries, 'block.quote').person.slug).toBe(target(entry(wall.extras, 'block.quote').person).slug)
})

rule('populate.15', 'components that are not listed are left out', async () => {
  const entries = await extras('[on][block.text]=true')
  expect(expected(entries, '__component')).toEqual(['block.text'])
  expect(entry(entries, 'block.text').heading).toBe(entry(wall.extras, 'block.text').heading)
  expect(await extras('[on][block.timeline]=true')).toEqual([])
  expect((await extras('[on][block.image][populate][picture][fields]=url'))[0]!.picture.url).toBe(
    file(entry(wall.extras, 'block.image').picture).url,
  )
})

rule('populate.15', 'deep levels and permissions hold inside a zone', async () => {
  const [quote] = await extras('[on][block.quote][populate][person][populate]=*')
  expect(quote!.person).toHaveProperty('portrait')
  expect(quote!.person).not.toHaveProperty('pitches')
  const homepage = async (query: string) =>
    (await magazine.request(`/api/homepage?populate[sections]${query}`)).body.data.sections as readonly Version[]
  const [row] = await homepage('[on][page.teaser-row][populate][articles][fields]=slug')
  const seeded = versions('homepage')[0]!.sections.find(({ __component }: Version) => __component === 'page.teaser-row')
  expect(expected(row!.articles)).toEqual(seeded.articles.map((reference: string) => target(reference).slug))
  const [hero] = await homepage('[on][page.hero][populate][0]=action&populate[sections][on][page.hero][populate][1]=image')
  expect(hero).toMatchObject({
    action: expect.objectContaining({ label: expect.any(String) }),
    image: { mime: expect.stringMatching(/^image/) },
  })
})

rule('populate.15', 'a component that does not exist is refused', async () => {
  for (const query of [
    'populate[extras][on][block.nope]=true',
    'populate[extras][on]=block.quote',
    'populate[extras][on][block.quote][populate]=nope',
  ])
    expect(await refusal(query)).toEqual([query, 400, 'ValidationError'])
})

rule('populate.16', 'on belongs to zones and to relations to many types', async () => {
  for (const query of [
    'populate[author][on][block.quote]=true',
    'populate[seo][on][shared.seo]=true',
    'populate[cover][on][plugin::upload.file]=true',
  ])
    expect(await refusal(query)).toEqual([query, 400, 'ValidationError'])
})

const letters = versions('letter')
const uid = (reference: string) => reference.replace(/^@(\w+):.*/, 'api::$1.$1')

rule('populate.20', 'a relation to many types shows them with their type', async () => {
  const { data } = (await magazine.request('/api/letters?populate=subjects')).body
  for (const [index, { subjects }] of data.entries()) {
    const wanted = letters[index]!.subjects as string[]
    expect(subjects.map(({ __type, slug }: Version) => [__type, slug])).toEqual(wanted.map((each) => [uid(each), target(each).slug]))
  }
})

rule('populate.20', 'on chooses types and has a level for each', async () => {
  const query = 'populate[subjects][on][api::issue.issue][fields]=number&populate[subjects][on][api::issue.issue][populate]=cover'
  const { data } = (await magazine.request(`/api/letters?${query}`)).body
  for (const [index, { subjects }] of data.entries()) {
    const issues = letters[index]!.subjects.filter((each: string) => each.startsWith('@issue:'))
    expect(expected(subjects, 'number')).toEqual(issues.map((each: string) => target(each).number))
    for (const issue of subjects) expect(Object.keys(issue).sort()).toEqual(['__type', 'cover', 'documentId', 'id', 'number'])
  }
  expect(data.flatMap(({ subjects }: Version) => subjects).length).toBe(2)
  const { status } = await magazine.request('/api/letters?populate[subjects][on][api::nope.nope]=true')
  expect(status).toBe(400)
})

rule('populate.20', 'types that the caller may not find are left out', async () => {
  for (const served of [magazine, strapi]) {
    for (const query of [
      'populate=subjects',
      'populate[subjects][on][api::issue.issue]=true&populate[subjects][on][api::article.article]=true',
    ]) {
      const { data } = (await served.request(`/api/letters?${query}`, { token: 'letters-and-articles' })).body
      for (const [index, { subjects }] of data.entries()) {
        const wanted = letters[index]!.subjects.filter((each: string) => each.startsWith('@article:'))
        expect(expected(subjects)).toEqual(wanted.map((each: string) => target(each).slug))
      }
    }
  }
})

rule('populate.20', 'the inverse side is a relation like others', async () => {
  for (const status of ['published', 'draft'] as const) {
    const articles = versions('article', { status })
    const { data } = (
      await magazine.request(`/api/articles?fields=slug&status=${status}&populate[letters][fields]=heading&pagination[pageSize]=100`)
    ).body
    for (const [index, article] of articles.entries()) {
      const about = versions('letter', { status }).filter(({ subjects }) => subjects.includes(`@article:${article.key}`))
      expect([article.key, expected(data[index].letters, 'heading')]).toEqual([article.key, expected(about, 'heading')])
    }
  }
  const { data } = (
    await magazine.request('/api/issues?populate[letters][filters][town]=Harnholt&populate[letters][fields]=sender&filters[number]=4')
  ).body
  expect(expected(data[0].letters, 'sender')).toEqual(['Edda Rimmington'])
})

rule('populate.19', 'a relation to many types can be counted', async () => {
  const { data } = (await magazine.request('/api/letters?populate[subjects][count]=true')).body
  expect(expected(data, 'subjects')).toEqual(letters.map(({ subjects }) => ({ count: subjects.length })))
})

rule('populate.13', 'the order of entries is the one that is stored, not that of their rows', async () => {
  const path = `/api/articles?filters[slug]=${wall.slug}&populate[extras]=true&populate[tags]=true`
  const before = (await strapi.request(path)).body.data[0]
  await strapi.sql(`UPDATE articles_cmps SET "order" = 100 - "order" WHERE entity_id = ? AND field = 'extras'`, before.id)
  await strapi.sql('UPDATE articles_tags_lnk SET tag_ord = 100 - tag_ord WHERE article_id = ?', before.id)
  const after = (await strapi.request(path)).body.data[0]
  expect(expected(after.extras, '__component')).toEqual([...components].reverse())
  expect(expected(after.tags)).toEqual([...expected(before.tags)].reverse())
})

rule('populate.12', 'nor are repeatable components in the order of their rows', async () => {
  const inks = async () =>
    (await strapi.request('/api/issues?filters[number]=1&populate[specification][populate]=inks')).body.data[0].specification.inks
  const before = expected(await inks(), 'name')
  expect(before.length).toBeGreaterThan(1)
  await strapi.sql(`UPDATE components_print_specifications_cmps SET "order" = 100 - "order"`)
  expect(expected(await inks(), 'name')).toEqual([...before].reverse())
})
