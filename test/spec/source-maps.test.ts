// docs/spec/headers.md: sources of texts in invisible characters. Recorded from Strapi 5.54; decoded here with
// a separate decoder.
import { afterAll, beforeAll, describe, expect } from 'vitest'
import { isOnServer } from '../support/databases.js'
import { rule } from '../support/rule.js'
import type { RequestOptions, Served } from '../support/serve.js'
import { serveMagazine } from '../support/serve.js'
import { addToken, secrets } from './callers.js'
import { serveLibrary } from './library.js'
import { serve } from './magazine.js'

const asking = { 'strapi-encode-source-maps': 'true' }
const signs = '\u200b\u200c\u200d\ufeff'
const mark = /\u200b{4}((?:\u200b|\u200c|\u200d|\ufeff)+)/
const marks = new RegExp(mark, 'g')

/** The text encoded in the signs: two bits each, the highest first. */
function said(text: string): string {
  const bits = [...text].map((sign) => signs.indexOf(sign))
  const bytes = Array.from({ length: bits.length / 4 }, (_, at) => bits.slice(at * 4, at * 4 + 4).reduce((sum, two) => sum * 4 + two, 0))
  return Buffer.from(bytes).toString('utf8')
}

/** The marks of a response as the text of their parameters, by position in `data`. */
function marksOf(value: unknown, at = ''): Record<string, string> {
  if (typeof value === 'string') {
    const found = [...value.matchAll(marks)].map(([, found]) => JSON.parse(said(found!)) as { strapiSource: string })
    expect(found.length, at).toBeLessThan(2)
    if (found.length === 0) return {}
    expect(Object.keys(found[0]!)).toEqual(['strapiSource'])
    return { [at]: decodeURIComponent(found[0]!.strapiSource) }
  }
  if (typeof value !== 'object' || value === null) return {}
  const inside = Object.entries(value).map(([name, one]) => marksOf(one, at === '' ? name : `${at}.${name}`))
  return Object.assign({}, ...inside)
}

const bare = (text: string): unknown => JSON.parse(text.replace(marks, ''))

for (const contract of ['specification', 'strapi'] as const) {
  describe(`the contract ${contract}`, () => {
    let magazine: Served
    let library: Served
    beforeAll(async () => {
      magazine = await serve(contract)
      library = await serveLibrary(contract, { environment: secrets })
      for (const served of [magazine, library]) await addToken(served, 'full', { type: 'full-access' })
    })
    afterAll(() => Promise.all([magazine, library].map((served) => served.close())))

    const request = (served: Served, path: string, { headers, ...asked }: RequestOptions = {}) =>
      served.request(`/api/${path}`, { token: 'full', ...asked, headers: { ...asking, ...headers } })

    const send = (path: string, method: string, data: object) =>
      request(library, path, { method, headers: { 'content-type': 'application/json' }, body: JSON.stringify({ data }) })

    rule('headers.9', 'marks name the document, the path in it, and the attribute', async () => {
      const query =
        'populate[author][populate][portrait][fields]=name&populate[author][fields]=name&populate[tags][fields]=name&populate[gallery][fields]=name' +
        '&populate[seo][populate]=*&populate[extras][populate]=*'
      const path = `articles?filters[slug]=card-by-card&fields=title,kicker,locale,slug&${query}`
      const { body, text } = await request(magazine, path)
      const [{ documentId }] = body.data
      const found = marksOf(body.data[0])
      const expectMark = (at: string, type: string, where: string, model: string) =>
        expect([at, found[at]]).toEqual([at, `documentId=${documentId}&type=${type}&path=${where}&model=${model}&locale=en`])
      expectMark('title', 'string', 'title', 'api::article.article&kind=collectionType')
      expectMark('author.name', 'string', 'author.name', 'api::author.author&kind=collectionType')
      expectMark('tags.1.name', 'string', 'tags.1.name', 'api::tag.tag&kind=collectionType')
      expectMark('seo.metaTitle', 'string', 'seo.metaTitle', 'shared.seo')
      expectMark('extras.0.caption', 'string', 'extras.0.caption', 'block.image')
      expectMark('extras.0.picture.alternativeText', 'text', 'extras.0.picture.alternativeText', 'plugin::upload.file&kind=collectionType')
      expect(found.slug ?? found.documentId ?? found.locale ?? found['extras.0.__component']).toBeUndefined()
      expect(bare(text)).toEqual((await magazine.request(`/api/${path}`, { token: 'full' })).body)
    })

    rule('headers.9', 'entries of lists have their place in the path, files of a list have none', async () => {
      const { body } = await request(magazine, 'articles?fields=locale&populate[gallery][fields]=name&populate[relatedTo][fields]=title')
      const found = Object.entries(marksOf(body.data))
      const paths = (list: string) =>
        found.filter(([at]) => at.includes(`.${list}.`)).map(([at, one]) => [at, /&path=([^&]*)/.exec(one)![1]])
      expect(paths('gallery').length).toBeGreaterThan(1)
      for (const [, path] of paths('gallery')) expect(path).toBe('gallery.name')
      expect(paths('relatedTo').length).toBeGreaterThan(1)
      for (const [at, path] of paths('relatedTo')) expect(path).toBe(at!.replace(/^\d+\./, ''))
    })

    rule('headers.9', 'single types, drafts and other locales differ; a hidden locale is not revealed', async () => {
      const setting = marksOf((await request(magazine, 'setting?fields=siteName')).body.data)
      expect(setting.siteName).toMatch(/&path=siteName&model=api::setting\.setting&kind=singleType$/)
      const [draft] = (await request(magazine, 'articles?fields=title,locale&locale=de&status=draft')).body.data
      expect(marksOf(draft)).toEqual({
        title: `documentId=${draft.documentId}&type=string&path=title&model=api::article.article&kind=collectionType&locale=de`,
      })
      const [unsaid] = (await request(magazine, 'articles?fields=title&locale=de')).body.data
      expect(marksOf(unsaid).title).not.toMatch(/locale/)
      const [shown] = (await request(magazine, 'articles?fields=title,locale&populate[localizations][fields]=title,locale')).body.data
      expect(marksOf(shown)['localizations.0.title']).toMatch(/&path=localizations\.0\.title&model=api::article\.article&.*&locale=en$/)
    })

    rule('headers.9', 'responses to writes are marked', async () => {
      const created = await send('words?fields=text', 'POST', { name: 'new', text: 'written' })
      expect([created.status, marksOf(created.body.data).text]).toEqual([
        201,
        expect.stringMatching(/&type=string&path=text&model=api::word/),
      ])
      const changed = await send(`words/${created.body.data.documentId}?fields=text`, 'PUT', { text: '' })
      expect([changed.status, bare(changed.text)]).toMatchObject([200, { data: { text: '' } }])
      expect(Object.keys(marksOf(changed.body.data))).toEqual(['text'])
      const nothing = await send('words?filters[name]=nobody', 'POST', { name: 'unseen' })
      expect(nothing.status).toBe(201)
    })

    rule('headers.10', 'every attribute that is a string is marked, but names that are compared', async () => {
      const { data } = (await request(library, 'samples?filters[name]=first')).body
      const { documentId, ...found } = marksOf(data[0])
      const types = Object.entries(found).map(([at, one]) => [at, /&type=([^&]*)/.exec(one)![1]])
      expect(documentId).toBeUndefined()
      expect(Object.fromEntries(types)).toEqual({
        name: 'string',
        string: 'string',
        text: 'text',
        rich: 'richtext',
        mail: 'email',
        choice: 'enumeration',
        big: 'biginteger',
        day: 'date',
        at: 'time',
        moment: 'datetime',
        stamp: 'timestamp',
        createdAt: 'datetime',
        updatedAt: 'datetime',
        'story.0.children.0.text': 'blocks',
        'story.1.children.0.text': 'blocks',
      })
      const second = (await request(library, 'samples?filters[name]=second')).body.data[0]
      expect(marksOf(second)).toMatchObject({ string: expect.any(String), text: expect.any(String) })
      const missing = (await request(library, 'samples?filters[name]=nothing')).body.data[0]
      expect([missing.string, Object.keys(marksOf(missing))]).toEqual([null, ['name', 'createdAt', 'updatedAt']])
    })

    rule('headers.10', 'the first text of a block or an item is marked, pictures by their description, code not', async () => {
      const text = (words: string, more: object = {}) => ({ type: 'text', text: words, ...more })
      const link = (...children: object[]) => ({ type: 'link', url: 'https://library.example', children })
      const item = (...children: object[]) => ({ type: 'list-item', children })
      const list = (...children: object[]) => ({ type: 'list', format: 'ordered', children })
      const moment = '2024-01-01T00:00:00.000Z'
      const picture = (alternativeText: string | null) => ({
        type: 'image',
        image: {
          ...{ name: 'a.png', alternativeText, caption: 'caption', url: 'https://library.example/a.png', hash: 'a', ext: '.png' },
          ...{ mime: 'image/png', size: 1, width: 1, height: 1, provider: 'local', previewUrl: null, createdAt: moment, updatedAt: moment },
        },
        children: [text('')],
      })
      const story = [
        { type: 'paragraph', children: [text('one', { bold: true }), text('two')] },
        { type: 'paragraph', children: [text('')] },
        { type: 'heading', level: 2, children: [link(text('linked'), text('more')), text('behind')] },
        { type: 'paragraph', children: [link(), text('behind no link')] },
        { type: 'quote', children: [text('quoted')] },
        { type: 'code', children: [text('x = 1')] },
        list(item(text('first'), text('more')), list(item(text('inner'))), item(text('last'))),
        picture('described'),
        picture(null),
        picture(''),
      ]
      const { status, body, text: answered } = await send('samples?fields=story', 'POST', { story })
      expect([status, bare(answered)]).toMatchObject([201, { data: { story } }])
      const found = marksOf(body.data.story)
      expect(Object.keys(found)).toEqual([
        '0.children.0.text',
        '1.children.0.text',
        '2.children.0.children.0.text',
        '3.children.1.text',
        '4.children.0.text',
        '6.children.0.children.0.text',
        '6.children.1.children.0.children.0.text',
        '6.children.2.children.0.text',
        '7.image.alternativeText',
      ])
      const all = `documentId=${body.data.documentId}&type=blocks&path=story&model=api::sample.sample&kind=collectionType&fieldPath=story`
      expect(new Set(Object.values(found))).toEqual(new Set([all]))
    })

    rule('headers.10', 'JSON is marked where it is a text, never inside', async () => {
      const { body } = await send('samples?fields=data', 'POST', { data: isOnServer ? '"text"' : 'text' })
      expect(marksOf(body.data).data).toMatch(/&type=json&path=data&/)
      const inside = await send('samples?fields=data', 'POST', { data: { a: ['text'], __type: 'x' } })
      expect([inside.status, marksOf(inside.body.data)]).toEqual([201, {}])
    })

    rule('headers.10', 'a polymorphic relation is marked from its own side alone', async () => {
      const { data } = (await request(magazine, 'letters?fields=sender&populate[subjects]=true')).body
      const at = data.findIndex(({ subjects }: { subjects: unknown[] }) => subjects.length > 0)
      const { __type, title } = data[at].subjects[0]
      expect(title).toMatch(mark)
      expect(marksOf(data[at])['subjects.0.title']).toContain(`&path=subjects.0.title&model=${__type}&kind=collectionType`)
      const others = (await request(magazine, 'articles?fields=title&populate[letters]=true&pagination[pageSize]=100')).body.data
      expect(others.some(({ letters }: { letters: unknown[] }) => letters.length > 0)).toBe(true)
      expect(Object.keys(marksOf(others)).filter((place) => place.includes('letters'))).toEqual([])
    })

    rule('headers.11', 'other values of the header and the nested format have no marks', async () => {
      const { text } = await magazine.request('/api/tags')
      for (const value of ['TRUE', 'True', '1', 'yes', 'false', '', 'true, true'])
        expect((await magazine.request('/api/tags', { headers: { 'strapi-encode-source-maps': value } })).text, value).toBe(text)
      const nested = { 'strapi-response-format': 'v4' }
      expect((await request(magazine, 'articles?populate=*', { headers: nested })).text).toBe(
        (await magazine.request('/api/articles?populate=*', { token: 'full', headers: nested })).text,
      )
    })

    rule('headers.11', 'users, files, locales and errors have no marks', async () => {
      const paths = [
        'users?populate=role',
        'upload/files',
        'upload/files/page',
        'i18n/locales',
        'users-permissions/roles',
        'articles/nothing',
      ]
      for (const path of [...paths, 'articles?sort=nope']) {
        const { text } = await request(magazine, path)
        expect([path, text]).toEqual([path, (await magazine.request(`/api/${path}`, { token: 'full' })).text])
      }
    })
  })
}

describe('a limit', () => {
  let small: Served
  beforeAll(async () => {
    small = await serveMagazine({ config: { limits: { maxBufferedResponseBytes: 166_667 } } })
  })
  afterAll(() => small.close())

  rule('headers.11', 'a response that would exceed the limit stays unchanged', async () => {
    for (const path of ['/api/articles?fields=title', '/api/homepage?populate=*']) {
      const { status, text } = await small.request(path, { headers: asking })
      expect([path, status, text]).toEqual([path, 200, (await small.request(path)).text])
    }
    const few = await small.request('/api/articles?fields=title&pagination[pageSize]=2', { headers: asking })
    expect(Object.keys(marksOf(few.body.data))).toEqual(['0.title', '1.title'])
  })

  rule('headers.11', 'marked responses take no room from later ones', async () => {
    for (let round = 0; round < 20; round++) {
      const { text } = await small.request('/api/articles?fields=title&pagination[pageSize]=4', { headers: asking })
      expect(text).toMatch(mark)
    }
  })
})
