// docs/spec/search.md: `_q`.
import { afterAll, beforeAll, expect } from 'vitest'
import { isOnMysql, isOnServer } from '../support/databases.js'
import { rule } from '../support/rule.js'
import type { Served } from '../support/serve.js'
import { serveLibrary } from './library.js'
import { all, expected, readOnly, type Version, versions } from './magazine.js'

let magazine: Served
let strapiMagazine: Served
let library: Served
let strapi: Served
beforeAll(async () => {
  magazine = await readOnly('specification')
  strapiMagazine = await readOnly('strapi')
  library = await serveLibrary('specification')
  strapi = await serveLibrary('strapi')
})
afterAll(() => Promise.all([magazine, strapiMagazine, library, strapi].map((served) => served.close())))

const found = async (text: string, served = library) => all(await served.request(`/api/words?_q=${encodeURIComponent(text)}`), 'name')
const texts = ['title', 'slug', 'kicker', 'summary', 'background', 'format']
const mentions = (version: Version, text: string) => texts.some((name) => version[name]?.toLowerCase().includes(text))

rule('search.1', 'any text attribute may contain the text', async () => {
  for (const text of ['mill', 'portrait', 'velmond', 'slow science']) {
    const wanted = expected(versions('article').filter((article) => mentions(article, text)))
    expect(wanted.length).toBeGreaterThan(0)
    for (const written of [text, text.toUpperCase()])
      expect(all(await magazine.request(`/api/articles?_q=${encodeURIComponent(written)}`))).toEqual(wanted)
  }
  expect(all(await magazine.request('/api/articles?_q=xylophone'))).toEqual([])
})

rule('search.1', 'every kind of text is looked into', async () => {
  const names = async (text: string) => all(await library.request(`/api/samples?_q=${encodeURIComponent(text)}`), 'name')
  for (const text of ['line "two" \\', 'жизнь', '# heading', 'someone@', 'first-co'])
    expect([text, await names(text)]).toEqual([text, ['first']])
  expect(await names('south')).toEqual(['second'])
})

rule('search.1', 'characters of patterns are literal', async () => {
  for (const served of [library, strapi]) {
    expect(await found('%', served)).toEqual(['percent'])
    expect(await found('_', served)).toEqual(['underscore'])
    expect(await found('\\', served)).toEqual(['backslash'])
    expect(await found(`'s "`, served)).toEqual(['quotes'])
  }
})

rule('search.1', 'specification: case is ignored in every script', async () => {
  expect(await found('ÄPFEL')).toEqual(['umlaut', 'lowered'])
  expect(await found('οδος')).toEqual(['greek'])
  expect(await found('hArB')).toEqual(['small', 'capital', 'mixed'])
})

rule('search.1', 'strapi: case is ignored in ASCII, on a server in every script', async () => {
  const inAllScripts = ['umlaut', 'lowered']
  expect(await found('ÄPFEL', strapi)).toEqual(isOnServer ? inAllScripts : ['umlaut'])
  expect(await found('äPFEL', strapi)).toEqual(isOnServer ? inAllScripts : ['lowered'])
  // The final sigma has a separate form, which the collation of MariaDB knows, and PostgreSQL does not.
  expect(await found('οδος', strapi)).toEqual(isOnMysql ? ['greek'] : [])
  expect(await found('οδοσ', strapi)).toEqual(isOnServer ? ['greek'] : [])
  expect(await found('hArB', strapi)).toEqual(['small', 'capital', 'mixed'])
})

rule('search.2', 'it narrows what filters leave, in the wanted order', async () => {
  const reports = versions('article').filter((article) => article.format === 'report' && mentions(article, 'velmond'))
  const query = '_q=velmond&filters[format]=report&sort=slug'
  expect(all(await magazine.request(`/api/articles?${query}`))).toEqual(expected(reports).sort())
  const { data, meta } = (await magazine.request(`/api/articles?${query}&pagination[pageSize]=1`)).body
  expect([data.length, meta.pagination.total]).toEqual([1, reports.length])
})

rule('search.2', 'it keeps to the locale and the status', async () => {
  expect(all(await magazine.request('/api/articles?_q=salt%20road&status=draft'))).toContain('the-salt-road-walked-twice')
  expect(all(await magazine.request('/api/articles?_q=salt%20road'))).not.toContain('the-salt-road-walked-twice')
  const german = versions('article', { locale: 'de' }).filter((article) => mentions(article, 'mond'))
  expect(all(await magazine.request('/api/articles?_q=mond&locale=de'))).toEqual(expected(german))
})

rule('search.2', 'without a text it has no effect', async () => {
  for (const query of ['_q=', '_q']) expect(all(await magazine.request(`/api/articles?${query}`))).toEqual(expected(versions('article')))
})

rule('search.3', 'numbers are found by their digits', async () => {
  const names = async (text: string) => all(await library.request(`/api/samples?_q=${encodeURIComponent(text)}`), 'name')
  expect(await names('12.34')).toEqual(['first'])
  expect(await names('-2147483648')).toEqual(['second'])
  expect(await names('9007199254740993')).toEqual(['third'])
  expect(await names('9223372036854775807')).toEqual(['first'])
  expect(await names('720368547758')).toEqual(['first', 'second'])
})

rule('search.4', 'private attributes and passwords are not looked into', async () => {
  for (const served of [library, strapi]) {
    expect(all(await served.request('/api/samples?_q=whisper'), 'name')).toEqual([])
    expect(all(await served.request(`/api/samples?_q=${encodeURIComponent('$2')}`), 'name')).toEqual([])
  }
  for (const served of [magazine, strapiMagazine]) expect(all(await served.request('/api/articles?_q=surname'))).toEqual([])
  expect(all(await magazine.request('/api/letters?_q=larder.example'))).toEqual([])
})

rule('search.5', 'a list or an object is not a text', async () => {
  for (const query of ['_q[]=a', '_q[a]=b', '_q=a&_q=b']) {
    const { status, body } = await magazine.request(`/api/articles?${query}`)
    expect([query, status, body.error.name]).toEqual([query, 400, 'ValidationError'])
  }
})
