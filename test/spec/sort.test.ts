// docs/spec/sort.md: the order of a list, checked against the seed sorted here.
import { afterAll, beforeAll, expect } from 'vitest'
import { isOnMysql } from '../support/databases.js'
import { rule } from '../support/rule.js'
import type { Served } from '../support/serve.js'
import { samples, serveLibrary, words } from './library.js'
import { all, expected, file, readOnly, target, type Version, versions } from './magazine.js'

let magazine: Served
let library: Served
beforeAll(async () => {
  magazine = await readOnly('specification')
  library = await serveLibrary('specification')
})
afterAll(() => Promise.all([magazine, library].map((served) => served.close())))

type Key = string | number | bigint | boolean | null | undefined

/** Bytes decide about texts; no value is the smallest. */
function compare(left: Key, right: Key): number {
  if (left === right) return 0
  if (left === null || left === undefined) return -1
  if (right === null || right === undefined) return 1
  if (typeof left === 'string' && typeof right === 'string') return Buffer.compare(Buffer.from(left), Buffer.from(right))
  return left < right ? -1 : 1
}

/** Sorts stably, so that equal ones stay in the order of their ids. */
const sorted = <Each>(list: readonly Each[], key: (each: Each) => Key, descending = false): Each[] =>
  [...list].sort((a, b) => (descending ? -1 : 1) * compare(key(a), key(b)))

const slugs = async (query: string, type = 'articles') => all(await magazine.request(`/api/${type}?${query}`))
const articles = versions('article')
const byMinutes = expected(sorted(articles, (article) => article.readingMinutes))

rule('sort.1', 'one key sorts upwards or downwards', async () => {
  const up = expected(sorted(articles, ({ title }) => title))
  const down = expected(sorted(articles, ({ title }) => title, true))
  for (const query of ['sort=title', 'sort=title:asc', 'sort=title:ASC', 'sort=%20title%20:%20asc%20'])
    expect(await slugs(query)).toEqual(up)
  for (const query of ['sort=title:desc', 'sort=title:DESC', 'sort=title:Desc', 'sort=title%3Adesc'])
    expect(await slugs(query)).toEqual(down)
})

rule('sort.2', 'later keys decide where earlier ones are equal', async () => {
  const wanted = expected(
    sorted(
      sorted(articles, ({ title }) => title, true),
      ({ format }) => format,
    ),
  )
  for (const query of [
    'sort=format,title:desc',
    'sort[0]=format&sort[1]=title:desc',
    'sort[]=format:asc&sort[]=title:desc',
    'sort=format&sort=title:desc',
  ])
    expect(await slugs(query)).toEqual(wanted)
  expect(await slugs('sort[0]=format,title:desc&sort[1]=slug')).toEqual(wanted)
})

rule('sort.2', 'empty entries are skipped', async () => {
  for (const query of ['sort=readingMinutes,', 'sort=,readingMinutes', 'sort[0]=&sort[1]=readingMinutes'])
    expect(await slugs(query)).toEqual(byMinutes)
  for (const query of ['sort=', 'sort', 'sort=,']) expect(await slugs(query)).toEqual(expected(articles))
})

rule('sort.3', 'objects say the same', async () => {
  expect(await slugs('sort[readingMinutes]=asc')).toEqual(byMinutes)
  expect(await slugs('sort[0][readingMinutes]=asc')).toEqual(byMinutes)
  const wanted = expected(
    sorted(
      sorted(articles, ({ title }) => title, true),
      ({ format }) => format,
    ),
  )
  for (const query of ['sort[format]=asc&sort[title]=desc', 'sort[0][format]=asc&sort[1][title]=desc'])
    expect(await slugs(query)).toEqual(wanted)
  expect((await magazine.request('/api/articles?sort[0][format]=asc&sort[1]=title:desc')).status).toBe(400)
})

rule('sort.4', 'without a key the ids decide', async () => {
  const ids = all(await magazine.request('/api/articles?status=draft'), 'id') as number[]
  expect(ids).toEqual([...ids].sort((a, b) => a - b))
  expect(await slugs('')).toEqual(expected(articles))
})

rule('sort.4', 'ties are in the order of ids, upwards and downwards', async () => {
  expect(await slugs('sort=format')).toEqual(expected(sorted(articles, ({ format }) => format)))
  expect(await slugs('sort=format:desc')).toEqual(expected(sorted(articles, ({ format }) => format, true)))
  expect(await slugs('sort=featured:desc')).toEqual(expected(sorted(articles, ({ featured }) => featured, true)))
})

rule('sort.4', 'so pages of a sorted list never overlap', async () => {
  const pages = await Promise.all([1, 2, 3, 4].map((page) => slugs(`sort=featured&pagination[page]=${page}&pagination[pageSize]=5`)))
  expect(pages.flat()).toEqual(expected(sorted(articles, ({ featured }) => featured)))
})

const names = Object.keys(samples)
const typed: Readonly<Record<string, (value: unknown) => Key>> = {
  whole: (value) => value as number,
  big: (value) => BigInt(value as string),
  rough: (value) => value as number,
  exact: (value) => value as number,
  flag: (value) => value as boolean,
  day: (value) => value as string,
  at: (value) => value as string,
  moment: (value) => Date.parse(value as string),
  stamp: (value) => Date.parse(value as string),
  string: (value) => value as string,
  choice: (value) => value as string,
}
for (const [attribute, read] of Object.entries(typed)) {
  rule('sort.5', `${attribute} is sorted by its kind of value`, async () => {
    const key = (name: string) => (samples[name]![attribute] === undefined ? null : read(samples[name]![attribute]))
    for (const descending of [false, true]) {
      const answer = await library.request(`/api/samples?sort=${attribute}:${descending ? 'desc' : 'asc'}`)
      expect(all(answer, 'name')).toEqual(sorted(names, key, descending))
    }
  })
}

rule('sort.5', 'texts are sorted by bytes, on MariaDB by its collation', async () => {
  if (isOnMysql) {
    const collated = (name: string) => words[name]?.normalize('NFD').replace(/\p{M}/gu, '').toUpperCase()
    const found = all(await library.request('/api/words?sort=text'), 'name')
    expect(found).toEqual(sorted(Object.keys(words), collated))
    return
  }
  const wanted = sorted(Object.keys(words), (name) => words[name])
  expect(all(await library.request('/api/words?sort=text'), 'name')).toEqual(wanted)
  expect(wanted.indexOf('capital')).toBeLessThan(wanted.indexOf('small'))
  expect(wanted.indexOf('small')).toBeLessThan(wanted.indexOf('umlaut'))
})

rule('sort.6', 'no value comes first upwards and last downwards', async () => {
  expect(all(await library.request('/api/samples?sort=whole'), 'name')).toEqual(['nothing', 'second', 'third', 'first'])
  expect(all(await library.request('/api/samples?sort=whole:desc'), 'name')).toEqual(['first', 'third', 'second', 'nothing'])
  expect(all(await library.request('/api/words?sort=text&pagination[limit]=2'), 'name')).toEqual(['missing', 'empty'])
})

rule('sort.7', 'a key leads through a relation', async () => {
  const name = ({ author }: Version) => target(author).name
  for (const query of ['sort=author.name', 'sort[author][name]=asc', 'sort[0][author][name]=asc', 'sort[0]=author.name:asc'])
    expect(await slugs(query)).toEqual(expected(sorted(articles, name)))
  expect(await slugs('sort=author.name:desc,title')).toEqual(
    expected(
      sorted(
        sorted(articles, ({ title }) => title),
        name,
        true,
      ),
    ),
  )
})

rule('sort.7', 'and through several', async () => {
  const parent = ({ category }: Version) => {
    const above = target(category).parent
    return above === undefined ? null : target(above).name
  }
  expect(await slugs('sort=category.parent.name')).toEqual(expected(sorted(articles, parent)))
  expect(await slugs('sort[category][parent][name]=desc')).toEqual(expected(sorted(articles, parent, true)))
})

rule('sort.7', 'in several locales at once as well', async () => {
  const query = 'locale=*&fields=locale&populate[author][fields]=name&pagination[pageSize]=100'
  for (const order of ['asc', 'desc']) {
    const { data } = (await magazine.request(`/api/articles?${query}&sort=author.name:${order}`)).body
    const authors = data.map(({ author }: Version) => author.name) as string[]
    expect(new Set(expected(data, 'locale'))).toEqual(new Set(['en', 'de']))
    expect(authors).toEqual(sorted(authors, (name) => name, order === 'desc'))
  }
})

rule('sort.7', 'a document without a target has no value', async () => {
  const name = ({ photographer }: Version) => (photographer === undefined ? null : target(photographer).name)
  expect(await slugs('sort=photographer.name')).toEqual(expected(sorted(articles, name)))
  expect(await slugs('sort=photographer.name:desc')).toEqual(expected(sorted(articles, name, true)))
})

rule('sort.7', 'keys lead through components and media', async () => {
  const events = versions('event')
  expect(await slugs('sort=venue.city,venue.postcode:desc', 'events')).toEqual(
    expected(
      sorted(
        sorted(events, ({ venue }) => venue.postcode, true),
        ({ venue }) => venue.city,
      ),
    ),
  )
  const image = ({ seo }: Version) => seo?.social?.title
  expect(await slugs('sort=seo.social.title')).toEqual(expected(sorted(articles, image)))
  const cover = ({ cover }: Version) => (cover === undefined ? null : file(cover).name)
  expect(await slugs('sort=cover.name')).toEqual(expected(sorted(articles, cover)))
})

rule('sort.8', 'through a relation to many a document appears once, at its least or greatest', async () => {
  const tags = ({ tags }: Version) => tags.map((tag: string) => target(tag).name).sort() as string[]
  expect(await slugs('sort=tags.name')).toEqual(expected(sorted(articles, (article) => tags(article)[0])))
  expect(await slugs('sort=tags.name:desc')).toEqual(expected(sorted(articles, (article) => tags(article).at(-1), true)))
  expect((await magazine.request('/api/articles?sort=tags.name')).body.meta.pagination.total).toBe(articles.length)
})

rule('sort.9', 'other orders are refused', async () => {
  for (const query of ['sort=title:up', 'sort=title:', 'sort[title]=down', 'sort[title][$eq]=x', 'sort=author.name:x']) {
    const { status, body } = await magazine.request(`/api/articles?${query}`)
    expect([query, status, body.error?.name]).toEqual([query, 400, 'ValidationError'])
  }
})

rule('sort.10', 'names that cannot be sorted by are refused', async () => {
  const cases: Readonly<Record<string, string>> = {
    nope: 'Invalid key nope',
    editorNote: 'Invalid key editorNote',
    extras: 'Invalid key extras',
    createdBy: 'Invalid key createdBy',
    author: 'Invalid key author',
    'author:desc': 'Invalid key desc at author',
    'author.nope': 'Invalid key nope at author',
    'title.x': 'Invalid key x at title',
    'pitch.title': 'Invalid key pitch',
    'author.pitches.title': 'Invalid key pitches at author.pitches',
  }
  for (const [key, message] of Object.entries(cases)) {
    const { status, body } = await magazine.request(`/api/articles?sort=${key}`)
    expect([key, status, body.error?.message]).toEqual([key, 400, message])
  }
  expect((await magazine.request('/api/events?sort=streamPassword')).body.error.message).toBe('Invalid key streamPassword')
  expect((await magazine.request('/api/letters?sort=subjects')).status).toBe(400)
})
