// Links in components that all locales share: each locale has its own, and a write in another one takes none away. Drafts link to drafts.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { chances } from '../documents/chances.js'
import { rule } from '../support/rule.js'
import { access, component, contentType, reading } from './library.js'
import { type Document, serveWritable, type WritableProject } from './writable-project.js'

const localized = (attribute: object) => ({ ...attribute, pluginOptions: { i18n: { localized: true } } })
const holding = (attribute: object) => ({ ...attribute, pluginOptions: { i18n: { localized: false } } })
const relation = (kind: string, name: string, more: object = {}) => ({
  type: 'relation',
  relation: kind,
  target: `api::${name}.${name}`,
  ...more,
})
const text = { type: 'string' }
const links = {
  menus: relation('oneToMany', 'menu'),
  page: relation('oneToOne', 'page'),
  topic: relation('oneToOne', 'topic'),
  topics: relation('manyToMany', 'topic'),
}
const one = (name: string) => ({ type: 'component', component: `parts.${name}` })
const page = {
  title: localized(text),
  rank: holding({ type: 'integer' }),
  hero: holding(one('link')),
  items: holding({ ...one('link'), repeatable: true }),
  zone: holding({ type: 'dynamiczone', components: ['parts.link', 'parts.leaf'] }),
  plain: relation('manyToMany', 'menu'),
}
const both = { draftAndPublish: true, localized: true }
const project = {
  ...contentType('menu', { name: localized(text) }, { localized: true }),
  ...contentType('topic', { name: text }, { draftAndPublish: true }),
  ...contentType('page', page, both),
  ...contentType('sheet', page, { localized: true }),
  ...contentType('home', page, { ...both, kind: 'singleType', plural: 'homes' }),
  ...component('parts', 'link', { label: text, ...links, leaf: one('leaf') }),
  ...component('parts', 'leaf', { label: text, ...links, end: { ...one('end'), repeatable: true } }),
  ...component('parts', 'end', { label: text, ...links }),
  ...access(reading(), [
    { code: 'en', name: 'English', default: true },
    { code: 'de', name: 'German' },
    { code: 'fr', name: 'French' },
  ]),
}

const linked = ['menus', 'page', 'topic', 'topics'].map((name, at) => `[populate][${at}]=${name}`)
const withLinks = (path: string) => linked.map((each) => `${path}${each}`).join('&')
const deep = (path: string) => {
  const named = (at: string, inner: string) =>
    Object.keys(links)
      .map((name) => `${at}[populate][${name}]=true`)
      .join('&') + inner
  const end = named(`${path}[populate][leaf][populate][end]`, '')
  const leaf = named(`${path}[populate][leaf]`, `&${end}`)
  return named(path, `&${leaf}`)
}
const leafInZone = `${withLinks('populate[zone][on][parts.leaf]')}&populate[zone][on][parts.leaf][populate][4]=end`
const populated = [
  ...['populate[hero]', 'populate[items]', 'populate[zone][on][parts.link]'].map(deep),
  leafInZone,
  'populate[plain]=true',
].join('&')

/** The links of a document, with names in place of ids. */
function shown(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(shown)
  if (typeof value !== 'object' || value === null) return value
  const { name, title, documentId, ...rest } = value as Record<string, unknown>
  if ((name ?? title) !== undefined && rest.hero === undefined) return documentId
  const entries = Object.entries(rest).filter(([key]) =>
    /^(label|menus|page|topics?|leaf|end|hero|items|zone|plain|__component)$/.test(key),
  )
  return Object.fromEntries(entries.map(([key, inner]) => [key, shown(inner)]))
}

describe.each(['specification', 'strapi'] as const)('contract %s', (contract) => {
  let writable: WritableProject
  /** Menus: in all languages, in English and French, in English alone. Pages, topics: published; in English alone, a draft. */
  let known: Record<'all' | 'two' | 'en' | 'page' | 'pageEn' | 'topic' | 'topicDraft', string>
  beforeAll(async () => {
    writable = await serveWritable(project, contract)
    const make = async (path: string, data: object, locales: readonly string[] = []) => {
      const { documentId } = await writable.make(path, data)
      for (const locale of locales) await writable.change(`${path.split('?')[0]}/${documentId}?locale=${locale}`, data)
      return documentId as string
    }
    known = {
      all: await make('menus', { name: 'all' }, ['de', 'fr']),
      two: await make('menus', { name: 'two' }, ['fr']),
      en: await make('menus', { name: 'en' }),
      page: await make('pages', { title: 'page' }, ['de', 'fr']),
      pageEn: await make('pages', { title: 'page in English' }),
      topic: await make('topics', { name: 'topic' }),
      topicDraft: await make('topics?status=draft', { name: 'draft' }),
    }
  })
  afterAll(() => writable.served.close())

  const versions = (path: string, locales: readonly string[]) =>
    Promise.all(
      locales.flatMap((locale) =>
        ['draft', 'published'].map(async (status) => {
          const { body } = await writable.send('GET', `${path}?locale=${locale}&status=${status}&${populated}`)
          return { locale, status, ...((shown(body.data) as object) ?? {}) }
        }),
      ),
    )
  const link = () => ({
    menus: [known.en, known.all, known.two],
    page: known.pageEn,
    topic: known.topic,
    topics: [known.topicDraft, known.topic],
  })
  const tree = () => ({ label: 'link', ...link(), leaf: { label: 'leaf', ...link(), end: [{ label: 'end', ...link() }] } })
  const content = () => ({
    title: 'English',
    hero: tree(),
    items: [
      { label: 'first', menus: [known.en] },
      { ...tree(), page: known.page },
    ],
    zone: [
      { __component: 'parts.link', ...tree() },
      { __component: 'parts.leaf', label: 'zone', ...link() },
    ],
    plain: [known.en, known.all],
  })
  /** A document of each kind. Gives its path. */
  const made = async (plural: string) => {
    if (plural === 'home') {
      await writable.send('DELETE', 'home?locale=*')
      await writable.change('home', content())
      return 'home'
    }
    return `${plural}/${(await writable.make(plural, content())).documentId}`
  }

  /** The part of a draft that its published version shows. */
  const unpublished = (value: unknown): unknown =>
    JSON.parse(JSON.stringify(value ?? null), (key, inner) =>
      key === 'topics' ? inner.filter((topic: unknown) => topic !== null) : inner === known.topicDraft ? null : inner,
    )

  rule('writing.33', 'a write in one locale takes no link from another, even if it lacks the link', async () => {
    for (const plural of ['pages', 'sheets', 'home']) {
      const path = await made(plural)
      const english = await versions(path, ['en'])
      const keepsEnglish = async (step: string) => expect(await versions(path, ['en']), `${plural}: ${step}`).toEqual(english)
      await writable.change(`${path}?locale=fr`, { title: 'Français' })
      await keepsEnglish('a new locale')
      await writable.change(`${path}?locale=fr`, { title: 'Français 2' })
      await writable.change(`${path}?locale=fr&status=draft`, { title: 'Français 3' })
      await keepsEnglish('another write')
      const french = await versions(path, ['fr'])
      await writable.change(`${path}?locale=de`, { title: 'Deutsch' })
      await writable.change(`${path}?locale=de&status=draft`, { title: 'Deutsch 2' })
      await keepsEnglish('a third locale')
      if (plural !== 'sheets') {
        for (const action of ['publish', 'discard', 'unpublish', 'publish'])
          await writable.send('POST', `${path}/actions/${action}?locale=de`)
        await keepsEnglish('publication of the third')
      }
      expect(await versions(path, ['fr'])).toEqual(french)
      await writable.change(path, content())
      await writable.change(`${path}?locale=fr`, { title: 'Français 4' })
      await writable.change(`${path}?locale=de`, { title: 'Deutsch 3', rank: 3 })
      await keepsEnglish('a repair')
    }
  })

  rule('writing.31', 'a write that names shared components removes from other locales only the links that it removes itself', async () => {
    const path = await made('pages')
    await writable.change(`${path}?locale=fr`, { title: 'Français' })
    const { items } = await writable.read(`${path}?locale=fr&status=draft&populate[items][populate]=*`)
    expect(items[1].menus.map((menu: Document) => menu.documentId)).toEqual([known.all, known.two])
    // Turned round, with a change, without a target that both have.
    await writable.change(`${path}?locale=fr`, { items: [{ id: items[1].id, label: 'changed', menus: [known.two] }, { id: items[0].id }] })
    const [draft, published] = (await versions(path, ['en'])) as Document[]
    const expected = [
      { label: 'changed', menus: [known.en, known.two], page: known.page },
      { label: 'first', menus: [known.en] },
    ]
    expect(published.items).toMatchObject(expected)
    if (contract === 'specification') expect(draft.items).toMatchObject(expected)
    expect(published.items[0].leaf).toMatchObject(unpublished(tree().leaf) as object)
    // The same without ids, and one more in front.
    await writable.change(`${path}?locale=fr`, { items: [{ label: 'new' }, { label: 'changed', menus: [known.all] }, { label: 'first' }] })
    const [, later] = (await versions(path, ['en'])) as Document[]
    expect(later.items).toMatchObject([
      { label: 'new', menus: [] },
      { label: 'changed', menus: [known.en, known.all] },
      { label: 'first', menus: [known.en] },
    ])
    // One that is removed goes everywhere.
    await writable.change(`${path}?locale=fr`, { items: [], hero: null })
    const [, last] = (await versions(path, ['en'])) as Document[]
    expect(last).toMatchObject({ items: [], hero: null })
  })

  describe('a link that a draft takes away before it is published', () => {
    const item = (label: string, topics: readonly string[], menus: readonly string[] = []) => ({ label, topics, menus })
    const found = async (path: string, locale: string) => {
      const [draft, published] = (await versions(path, [locale])) as Document[]
      const itemsOf = ({ items }: Document) => items.map(({ label, menus, topics }: Document) => ({ label, menus, topics }))
      return { draft: itemsOf(draft), published: itemsOf(published) }
    }
    /** Published in both languages. */
    const both = async (...items: object[]) => {
      const path = `pages/${(await writable.make('pages', { title: 'English', items })).documentId}`
      await writable.change(`${path}?locale=de`, { title: 'Deutsch' })
      return path
    }
    const idsOf = async (path: string, locale: string): Promise<number[]> =>
      (await writable.read(`${path}?locale=${locale}&status=draft&populate[items]=true`)).items.map(({ id }: Document) => id)
    const publications: [string, (path: string, locale: string, data: object) => Promise<unknown>][] = [
      ['publish action', (path, locale) => writable.send('POST', `${path}/actions/publish?locale=${locale}`)],
      ['PUT', (path, locale, data) => writable.change(`${path}?locale=${locale}`, data)],
      ['PUT of another attribute', (path, locale) => writable.change(`${path}?locale=${locale}`, { title: 'later' })],
    ]
    let s1: string
    let s2: string
    beforeAll(async () => {
      s1 = known.topic
      s2 = (await writable.make('topics', { name: 'second' })).documentId
    })

    rule('writing.33', 'goes from the published versions of other locales, with each kind of publication', async () => {
      for (const [name, publish] of publications) {
        const path = await both(item('h', [s1, s2]))
        const data = { items: [{ id: (await idsOf(path, 'en'))[0], label: 'h', topics: [s1] }] }
        await writable.change(`${path}?status=draft`, data)
        expect(await found(path, 'de'), name).toEqual({ draft: [item('h', [s1])], published: [item('h', [s1, s2])] })
        await publish(path, 'en', data)
        expect(await found(path, 'de'), name).toEqual({ draft: [item('h', [s1])], published: [item('h', [s1])] })
      }
    })

    rule('writing.33', 'goes with a component that another one takes the place of', async () => {
      for (const [name, publish] of publications) {
        const path = await both(item('old', [s1, s2]))
        const data = { items: [{ label: 'new' }] }
        await writable.change(`${path}?status=draft`, data)
        await publish(path, 'en', data)
        expect(await found(path, 'de'), name).toEqual({ draft: [item('new', [])], published: [item('new', [])] })
      }
    })

    rule('writing.33', 'goes alone: the links stay that other locales alone have', async () => {
      for (const [name, publish] of publications) {
        const path = await both(item('a', [s1, s2], [known.en, known.all]), {
          ...item('b', [s2]),
          leaf: item('leaf', [s1, s2], [known.en]),
        })
        const [a, b] = await idsOf(path, 'de')
        const { items } = await writable.read(`${path}?locale=de&status=draft&populate[items][populate]=leaf`)
        const leaf = { id: items[1].leaf.id, label: 'changed', topics: [s2] }
        const data = { items: [{ id: b, leaf }, { id: a, label: 'renamed', topics: [s1], menus: [] }, { label: 'new' }] }
        await writable.change(`${path}?locale=de&status=draft`, data)
        await writable.change(`${path}?locale=de&status=draft`, { title: 'Noch nicht' })
        await publish(path, 'de', data)
        const expected = [item('b', [s2]), item('renamed', [s1], [known.en]), item('new', [])]
        expect(await found(path, 'en'), name).toEqual({ draft: expected, published: expected })
        for (const version of (await versions(path, ['en'])) as Document[])
          expect(version.items[0].leaf, name).toMatchObject(item('changed', [s2], [known.en]))
      }
    })

    rule('writing.33', 'goes as well where the publication is the first, or the first after the end of another one', async () => {
      const beginnings: [string, (path: string) => Promise<unknown>][] = [
        ['unpublished', (path) => writable.send('POST', `${path}/actions/unpublish?locale=de`)],
        [
          'a draft again',
          (path) => writable.send('DELETE', `${path}?locale=de`).then(() => writable.change(`${path}?locale=de&status=draft`, {})),
        ],
      ]
      const given = () => ({ ...item('h', [s1, s2], [known.en, known.two, known.all]), leaf: item('leaf', [s1, s2], [known.en]) })
      for (const [beginning, begin] of beginnings) {
        for (const [name, publish] of publications) {
          const path = await both(given())
          if (name === 'PUT') {
            // Linked in English alone, and by now in German too.
            const { documentId: late } = await writable.make('menus', { name: 'late' })
            const [own] = await idsOf(path, 'en')
            await writable.change(path, { items: [{ id: own, menus: [known.en, known.all, late] }] })
            await writable.change(`menus/${late}?locale=de`, { name: 'late' })
          }
          await begin(path)
          const { items } = await writable.read(`${path}?locale=de&status=draft&populate[items][populate]=leaf`)
          const data = { items: [{ id: items[0].id, topics: [s1], menus: [], leaf: { id: items[0].leaf.id, topics: [s2] } }] }
          await writable.change(`${path}?locale=de&status=draft`, data)
          const drafted = (await found(path, 'en')).draft
          await publish(path, 'de', { items: [{ id: items[0].id, topics: [s1], menus: [], leaf: { id: items[0].leaf.id } }] })
          const stays = name !== 'PUT' ? [known.two] : beginning === 'unpublished' ? [expect.any(String)] : []
          expect(await found(path, 'en'), `${beginning}, ${name}`).toEqual({ draft: drafted, published: drafted })
          expect(drafted, `${beginning}, ${name}`).toMatchObject([{ topics: [s1], menus: [known.en, ...stays] }])
          const [, published] = (await versions(path, ['en'])) as Document[]
          expect(published.items[0].leaf, `${beginning}, ${name}`).toMatchObject(item('leaf', [s2], [known.en]))
        }
      }
    })

    rule('writing.33', 'goes where drafts differ in other links, and components with it', async () => {
      for (const [name, publish] of publications) {
        const path = await both(item('h', [s1, s2]))
        // Linked in English alone, and by now in German too.
        const { documentId: late } = await writable.make('menus', { name: 'late' })
        const [own] = await idsOf(path, 'en')
        await writable.change(path, { items: [{ id: own, menus: [known.en, late] }] })
        await writable.change(`menus/${late}?locale=de`, { name: 'late' })
        const data = { items: [{ id: (await idsOf(path, 'de'))[0], label: 'changed', topics: [s1] }] }
        await writable.change(`${path}?locale=de&status=draft`, data)
        const { draft } = await found(path, 'en')
        expect(draft, name).toEqual([item('changed', [s1], [known.en, late])])
        await publish(path, 'de', data)
        const published = contract === 'specification' || name === 'PUT' ? draft : [item('h', [s1, s2], [known.en, late])]
        expect(await found(path, 'en'), name).toEqual({ draft, published })
      }
    })

    rule('writing.33', 'leaves what another locale has changed in its draft alone unpublished there', async () => {
      const path = await both(item('h', [s1, s2], [known.en]))
      const own = await idsOf(path, 'en')
      await writable.change(`${path}?status=draft`, { items: [{ id: own[0], menus: [known.two] }] })
      const data = { items: [{ id: (await idsOf(path, 'de'))[0], topics: [s1] }] }
      await writable.change(`${path}?locale=de&status=draft`, data)
      await writable.change(`${path}?locale=de`, data)
      expect(await found(path, 'en')).toEqual({ draft: [item('h', [s1], [known.two])], published: [item('h', [s1], [known.en])] })
    })
  })

  rule('writing.33', 'links that wait for a publication wait on in every locale', async () => {
    const { documentId: topic } = await writable.make('topics?status=draft', { name: 'later' })
    const { documentId: target } = await writable.make('pages?status=draft', { title: 'later' })
    const hero = { label: 'waits', topic, page: target, topics: [topic] }
    const { documentId } = await writable.make('pages', { title: 'English', hero, items: [hero] })
    const path = `pages/${documentId}`
    await writable.change(`${path}?locale=fr`, { title: 'Français' })
    await writable.change(`${path}?locale=fr`, { title: 'Français 2', items: [{ label: 'waits', topic, topics: [topic] }] })
    await writable.send('POST', `topics/${topic}/actions/publish`)
    await writable.send('POST', `pages/${target}/actions/publish`)
    const waited = { topic, page: target, topics: [topic] }
    for (const version of (await versions(path, ['en'])) as Document[]) expect(version).toMatchObject({ hero: waited, items: [waited] })
    for (const version of (await versions(path, ['fr'])) as Document[])
      expect(version).toMatchObject({ hero: { topic, page: null, topics: [topic] }, items: [{ topic, page: null, topics: [topic] }] })
  })

  rule('writing.34', 'the draft of a new locale links to drafts, at every depth', async () => {
    for (const plural of ['pages', 'home']) {
      for (const status of ['published', 'draft']) {
        const path = await made(plural)
        await writable.change(`${path}?status=draft`, { title: 'English, changed' })
        const english = await versions(path, ['en'])
        await writable.change(`${path}?locale=fr&status=${status}`, { title: 'Français' })
        expect(await versions(path, ['en'])).toEqual(english)
        const there = { menus: [known.all, known.two], page: null, topic: known.topic, topics: [known.topicDraft, known.topic] }
        const expected = { ...there, leaf: { ...there, end: [there] } }
        const [draft] = await versions(path, ['fr'])
        expect(draft, `${plural} ${status}`).toMatchObject({
          hero: expected,
          items: [{}, { ...expected, page: known.page }],
          zone: [expected, there],
        })
      }
    }
  })

  rule('writing.33', 'a link stays when its target gets or loses a locale', async () => {
    const { documentId: menu } = await writable.make('menus', { name: 'later' })
    const { documentId: gone } = await writable.make('menus', { name: 'goes' })
    await writable.change(`menus/${gone}?locale=fr`, { name: 'goes' })
    const menus = [menu, known.all, gone]
    const path = `pages/${(await writable.make('pages', { title: 'English', hero: { label: 'hero', menus }, items: [{ label: 'item', menus }] })).documentId}`
    await writable.change(`${path}?locale=fr`, { title: 'Français' })
    const english = await versions(path, ['en'])
    await writable.change(`menus/${menu}?locale=fr`, { name: 'later' })
    await writable.send('DELETE', `menus/${gone}?locale=fr`)
    await writable.change(`${path}?locale=fr`, { title: 'Français 2' })
    await writable.change(`${path}?locale=fr`, { hero: { label: 'hero', menus: [known.all] } })
    await writable.send('POST', `${path}/actions/publish?locale=fr`)
    await writable.send('POST', `${path}/actions/discard?locale=fr`)
    expect(await versions(path, ['en'])).toEqual(english)
  })

  test('random writes take no link from another locale', async () => {
    const random = chances(7)
    const locales = ['en', 'de', 'fr']
    const menusOf = (locale: string) =>
      locale === 'en' ? [known.all, known.two, known.en] : locale === 'fr' ? [known.all, known.two] : [known.all]
    const someLink = (locale: string, label: string) => ({
      ...{ label, menus: random.some(menusOf(locale)), page: random.pick([null, known.page, ...(locale === 'en' ? [known.pageEn] : [])]) },
      ...{ topic: random.pick([null, known.topic, known.topicDraft]), topics: random.some([known.topic, known.topicDraft]) },
    })
    const someContent = (locale: string) => ({
      ...{ hero: someLink(locale, 'hero'), items: random.some(['a', 'b', 'c']).map((label) => someLink(locale, label)) },
      zone: random.some(['x', 'y']).map((label) => ({ __component: 'parts.link', ...someLink(locale, label) })),
    })
    for (let document = 0; document < 2; document += 1) {
      const path = `pages/${(await writable.make('pages', { title: 'English', ...someContent('en') })).documentId}`
      const steps: string[] = []
      for (let step = 0; step < 12; step += 1) {
        const locale = random.pick(locales)
        const others = locales.filter((each) => each !== locale)
        const before = await versions(path, others)
        const kind = random.below(6)
        const status = random.is(0.4) ? 'draft' : 'published'
        steps.push(`${locale} ${status} ${kind}`)
        if (kind === 0) await writable.change(`${path}?locale=${locale}&status=${status}`, someContent(locale))
        else if (kind === 1) await writable.send('POST', `${path}/actions/publish?locale=${locale}`)
        else await writable.change(`${path}?locale=${locale}&status=${status}`, { title: `title ${step}`, rank: random.below(9) })
        const after = await versions(path, others)
        // Shared values of a draft may be published.
        const steady = (after as Document[]).map((version, at) =>
          ['hero', 'items', 'zone'].map((name) => {
            const was = (before[at] as Document)[name] ?? null
            const drafted = version.status === 'published' && status === 'published' ? unpublished((before[at - 1] as Document)[name]) : was
            return JSON.stringify(version[name] ?? null) === JSON.stringify(drafted) ? drafted : was
          }),
        )
        const found = (after as Document[]).map(({ hero = null, items = null, zone = null }) => [hero, items, zone])
        if (kind > 1) expect(found, steps.join(', ')).toEqual(steady)
        if (kind > 0) continue
        // Named: what the written locale cannot have stays where the component does.
        for (const [at, version] of (before as Document[]).entries()) {
          const hero = (after as Document[])[at].hero
          if (!version.hero || !hero) continue
          const unseen = version.hero.menus.filter((menu: string) => !menusOf(locale).includes(menu))
          expect(hero.menus, steps.join(', ')).toEqual(expect.arrayContaining(unseen))
        }
      }
    }
  })
})
