// Random operations on articles: a publication equals its draft, a discarded draft equals its publication, and only the
// document that a request names changes, including the order of other documents' lists. `INVARIANT_SEEDS=10 INVARIANT_OPERATIONS=400
// INVARIANT_FIRST=1` for more.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { isOnServer } from '../support/databases.js'
import type { Served } from '../support/serve.js'
import { chances } from './chances.js'
import { type GoldenSender, serveSender } from './golden-sender.js'

const seeds = Number(process.env.INVARIANT_SEEDS ?? 2)
const operations = Number(process.env.INVARIANT_OPERATIONS ?? 50)
const first = Number(process.env.INVARIANT_FIRST ?? 1)
const locales = ['en', 'fr']
const [mostArticles, mostTags, mostProducts] = [5, 4, 3]
/** The relations of an article: targets of the draft may be hidden in the publication, or be ordered differently there. */
const lists = ['tags', 'related', 'relatedTo', 'references', 'comments'] as const
const ones = ['pick', 'spotlight'] as const
const values = [
  'title',
  'summary',
  'rank',
  'featured',
  'metadata',
  'day',
  'tone',
  'author',
  'seo',
  'sections',
  'blocks',
  'gallery',
  'cover',
]

let served: Served
let send: GoldenSender['send']
beforeAll(async () => {
  ;({ served, send } = await serveSender())
})
afterAll(() => served.close())

/** A JSON value that is a text: PostgreSQL columns cannot store invalid JSON. */
const aText = isOnServer ? '"text"' : 'text'

type Chances = ReturnType<typeof chances>
// biome-ignore lint/suspicious/noExplicitAny: versions of every shape
type Version = Record<string, any>
/** Versions by `documentId locale`. */
type Versions = ReadonlyMap<string, Version>
interface State {
  readonly draft: Versions
  readonly published: Versions
}
type World = Readonly<Record<'articles' | 'tags' | 'products', State>>
type Plural = keyof World

const populates: Record<Plural, string> = {
  articles: [
    ...[...lists, ...ones, 'author', 'gallery', 'cover'].map((name) => `populate[${name}]=true`),
    'populate[seo][populate]=*',
    ...['links', 'product', 'authors', 'tags'].map((name) => `populate[sections][populate][${name}]=true`),
    'populate[blocks][on][blocks.quote][populate]=*&populate[blocks][on][blocks.image][populate]=*&populate[blocks][on][blocks.cta][populate]=*',
    'populate[blocks][on][blocks.rich][populate]=*',
  ].join('&'),
  tags: 'populate[articles]=true&populate[products]=true',
  products: 'populate[tags]=true&populate[comments]=true',
}

const components = new Set(['seo', 'og', 'sections', 'links', 'link', 'more', 'blocks'])

/** Removes values in which a copy may differ: row ids, times, and all but the names of related documents. */
function essence(value: unknown, key = ''): unknown {
  if (Array.isArray(value)) return value.map((each) => essence(each, key))
  if (typeof value !== 'object' || value === null) return value
  const { documentId, mime, id, ...rest } = value as Version
  if (mime !== undefined) return id
  if (documentId !== undefined && key !== '' && !components.has(key)) return documentId
  const { createdAt: _c, updatedAt: _u, publishedAt: _p, ...shown } = rest
  return Object.fromEntries(Object.entries(shown).map(([name, each]) => [name, essence(each, name)]))
}

async function versionsOf(plural: Plural, status: string, prefix: string): Promise<Versions> {
  const name = plural === 'articles' ? 'title' : 'name'
  const own = `filters[${name}][$startsWith]=${encodeURIComponent(prefix)}&pagination[pageSize]=100&sort=id`
  const { data } = await send('GET', `${plural}?${own}&locale=*&status=${status}&${populates[plural]}`)
  return new Map(data.map((row: Version) => [`${row.documentId} ${row.locale ?? ''}`, essence(row) as Version]))
}

async function look(prefix: string): Promise<World> {
  const state = async (plural: Plural): Promise<State> => ({
    draft: await versionsOf(plural, 'draft', prefix),
    published: await versionsOf(plural, 'published', prefix),
  })
  return { articles: await state('articles'), tags: await state('tags'), products: await state('products') }
}

/** A version without the document `id`, wherever it is named. */
function without(value: unknown, id: string): unknown {
  if (Array.isArray(value)) return value.filter((each) => each !== id).map((each) => without(each, id))
  if (value === id) return null
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, without(each, id)]))
}

/** Nothing changed but the document `id`, and where others name it. */
function expectOnly(before: World, after: World, id: string, what: string): void {
  for (const plural of ['articles', 'tags', 'products'] as const) {
    for (const status of ['draft', 'published'] as const) {
      const rest = (versions: Versions) => {
        const others = [...versions].filter(([key]) => !key.startsWith(id))
        return Object.fromEntries(others.map(([key, version]) => [key, without(version, id)]))
      }
      expect(rest(after[plural][status]), `${what}: ${plural} ${status}`).toEqual(rest(before[plural][status]))
    }
  }
}

const keyOf = (id: string, locale: string) => `${id} ${locale}`

/** The published state of these documents in `locale`; authors and comments have no drafts. */
function shownIn(world: World, locale: string) {
  const isThere = (id: string) =>
    world.articles.published.has(keyOf(id, locale)) || world.products.published.has(keyOf(id, locale)) || world.tags.published.has(`${id} `)
  const ours = new Set(
    [...world.articles.draft.keys(), ...world.products.draft.keys(), ...world.tags.draft.keys()].map((key) => key.split(' ')[0]),
  )
  const isShown = (id: string) => !ours.has(id) || isThere(id)
  const shown = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.filter((each) => typeof each !== 'string' || isShown(each)).map(shown)
    if (typeof value === 'string') return isShown(value) ? value : null
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, shown(each)]))
  }
  return shown
}

/** The publication of an article equals its draft, apart from unpublished targets. */
function expectPublished(world: World, key: string, what: string, isFirst: boolean): void {
  const [draft, published] = [world.articles.draft.get(key), world.articles.published.get(key)]
  const shown = shownIn(world, key.split(' ')[1]!)
  for (const name of [...values, ...ones, 'tags', 'related', 'references']) {
    expect(published?.[name], `${what}: ${name} of ${key}`).toEqual(shown(draft?.[name]))
  }
  // Lists of the other side have an independent order; and publications that waited for this one name it, even if their drafts no longer do.
  for (const name of isFirst ? ['comments'] : ['relatedTo', 'comments'])
    expect(published?.[name].toSorted(), `${what}: ${name} of ${key}`).toEqual((shown(draft?.[name]) as string[]).toSorted())
}

function sectionsOf({ below, some, is, pick }: Chances, tags: readonly string[], products: readonly string[]): object[] {
  return Array.from({ length: below(3) }, (_, index) => ({
    heading: `Section ${index} ${below(100)}`,
    ...(is(0.5) && { links: [{ label: `Link ${below(9)}`, url: '/' }] }),
    ...(is(0.5) && { tags: some(tags) }),
    ...(is(0.3) && products.length > 0 && { product: pick(products) }),
  }))
}

function blocksOf({ below, is, pick }: Chances): object[] {
  const kinds = [
    () => ({ __component: 'blocks.quote', text: `Quote ${below(100)}`, ...(is(0.5) && { person: 1 + below(3) }) }),
    () => ({ __component: 'blocks.image', alt: `Alt ${below(9)}`, picture: 3, pictures: is(0.5) ? [6, 3] : [9] }),
    () => ({ __component: 'blocks.cta', title: `Title ${below(9)}`, link: { label: 'l', url: '/' }, more: [{ label: `m${below(9)}` }] }),
    () => ({ __component: 'blocks.rich', title: `Rich ${below(9)}`, data: { deep: [below(9)] }, number: below(9) }),
  ]
  return Array.from({ length: below(4) }, () => pick(kinds)())
}

/** A list that is set, or changed at places. */
function relationOf({ some, is, pick, below }: Chances, all: readonly string[]): object {
  if (is(0.5) || all.length === 0) return { set: some(all) }
  const documentId = pick(all)
  return is(0.3)
    ? { disconnect: [{ documentId }] }
    : { connect: [{ documentId, ...(is(0.4) && { position: below(2) === 0 ? { start: true } : { end: true } }) }] }
}

const idsOf = (versions: Versions) => [...new Set([...versions.keys()].map((key) => key.split(' ')[0]!))]

function articleOf(by: Chances, world: World, prefix: string, locale: string): object {
  const { below, is, pick, some } = by
  const [tags, products] = [idsOf(world.tags.draft), locale === 'en' ? idsOf(world.products.draft) : []]
  const inLocale = idsOf(new Map([...world.articles.draft].filter(([key]) => key.endsWith(` ${locale}`))))
  return {
    ...(is(0.3) && { title: `${prefix} ${below(1000)}` }),
    ...(is(0.3) && { summary: `Summary ${below(100)}` }),
    ...(is(0.3) && { rank: below(100) }),
    ...(is(0.2) && { metadata: pick([null, { a: [1, { b: below(9) }] }, aText]) }),
    ...(is(0.2) && { day: `2026-0${1 + below(9)}-01`, tone: pick(['dry', 'warm', 'loud']) }),
    ...(is(0.2) && { author: pick([null, 1, 2, 3]) }),
    ...(is(0.2) && { seo: pick([null, { metaTitle: `Meta ${below(9)}`, og: { ogTitle: `og ${below(9)}`, ogImage: 3 } }]) }),
    ...(is(0.4) && { sections: sectionsOf(by, tags, products) }),
    ...(is(0.4) && { blocks: blocksOf(by) }),
    ...(is(0.2) && { gallery: some([3, 6, 9]), cover: pick([null, 3, 6]) }),
    ...(is(0.4) && { tags: relationOf(by, tags) }),
    ...(is(0.4) && { related: relationOf(by, inLocale) }),
    ...(is(0.2) && { relatedTo: relationOf(by, inLocale) }),
    ...(is(0.2) && products.length > 0 && { pick: pick([null, ...products]) }),
  }
}

/** Runs one operation, and returns its document and the expectation. */
async function operate(by: Chances, world: World, prefix: string) {
  const { is, below, pick } = by
  if (is(0.3)) return operateOther(by, world, prefix, is(0.6) ? 'tags' : 'products')
  const ids = idsOf(world.articles.draft)
  if (ids.length === 0 || (ids.length < mostArticles && is(0.3))) {
    const locale = pick(locales)
    const publishes = is(0.6)
    const data = { title: `${prefix} new`, ...articleOf(by, world, prefix, locale) }
    const { documentId } = (await send('POST', `articles?locale=${locale}${publishes ? '' : '&status=draft'}`, data)).data
    return {
      id: documentId,
      what: `POST ${JSON.stringify(data)}`,
      published: publishes ? keyOf(documentId, locale) : null,
      discarded: null,
    }
  }
  const id = pick(ids)
  const own = locales.filter((each) => world.articles.draft.has(keyOf(id, each)))
  if (is(0.6)) {
    const locale = is(0.8) ? pick(own) : pick(locales)
    const publishes = is(0.5)
    const data = { ...(own.includes(locale) ? {} : { title: `${prefix} ${locale}` }), ...articleOf(by, world, prefix, locale) }
    await send('PUT', `articles/${id}?locale=${locale}${publishes ? '' : '&status=draft'}`, data)
    return {
      ...{ id, what: `PUT ${locale} ${publishes} ${JSON.stringify(data)}`, discarded: null },
      published: publishes ? keyOf(id, locale) : null,
    }
  }
  const locale = pick(own)
  const key = keyOf(id, locale)
  if (is(0.2)) {
    await send('DELETE', `articles/${id}?locale=${below(3) === 0 ? '*' : locale}`)
    return { id, what: `DELETE ${locale}`, published: null, discarded: null }
  }
  const action = world.articles.published.has(key) ? pick(['publish', 'unpublish', 'discard']) : 'publish'
  await send('POST', `articles/${id}/actions/${action}?locale=${locale}`)
  return { id, what: `${action} ${key}`, published: action === 'publish' ? key : null, discarded: action === 'discard' ? key : null }
}

/** The same for the documents that articles are related to. */
async function operateOther(by: Chances, world: World, prefix: string, plural: 'tags' | 'products') {
  const { is, below, pick } = by
  const nothing = { published: null, discarded: null }
  const ids = idsOf(world[plural].draft)
  if (ids.length === 0 || (ids.length < (plural === 'tags' ? mostTags : mostProducts) && is(0.4))) {
    const data = { name: `${prefix} ${below(1e9)}`, ...(plural === 'products' && { price: 1 }) }
    const { documentId } = (await send('POST', `${plural}${is(0.6) ? '' : '?status=draft'}`, data)).data
    return { id: documentId as string, what: `POST ${plural}`, ...nothing }
  }
  const id = pick(ids)
  if (is(0.15)) {
    await send('DELETE', `${plural}/${id}`)
    return { id, what: `DELETE ${plural} ${id}`, ...nothing }
  }
  const isPublished = world[plural].published.has(keyOf(id, plural === 'tags' ? '' : 'en'))
  const action = isPublished ? pick(['publish', 'unpublish', 'discard']) : 'publish'
  await send('POST', `${plural}/${id}/actions/${action}`)
  return { id, what: `${action} ${plural} ${id}`, ...nothing }
}

test.each(Array.from({ length: seeds }, (_, index) => first + index))(
  'whatever is done, publications show their drafts and nothing else changes: seed %i',
  async (seed) => {
    const by = chances(seed)
    const prefix = `Inv ${seed} `
    const done: string[] = []
    let world = await look(prefix)
    for (let operation = 0; operation < operations; operation++) {
      const { id, what, published, discarded } = await operate(by, world, prefix)
      done.push(what)
      const after = await look(prefix)
      const said = `${what}\nafter\n${done.slice(-15, -1).join('\n')}`
      expectOnly(world, after, id, said)
      if (published !== null) {
        const isFirst = !world.articles.published.has(published)
        expectPublished(after, published, said, isFirst)
        const [documentId, locale] = published.split(' ')
        const { data } = await send(
          'GET',
          `articles?filters[documentId]=${documentId}&locale=${locale}&publicationFilter=modified&status=draft`,
        )
        if (!isFirst) expect(data, `${said}: still modified`).toEqual([])
      }
      if (discarded !== null) {
        const [draft, before] = [after.articles.draft.get(discarded)!, world.articles.published.get(discarded)!]
        for (const name of values) expect(shownIn(after, discarded.split(' ')[1]!)(draft[name]), `${said}: ${name}`).toEqual(before[name])
        expectPublished(after, discarded, said, false)
      }
      world = after
    }
  },
)
