// docs/spec/headers.md: content types, the nested response format, origins and request ids.
import { afterAll, beforeAll, expect } from 'vitest'
import { rule } from '../support/rule.js'
import type { Served } from '../support/serve.js'
import { serveMagazine } from '../support/serve.js'
import { readOnly, type Version } from './magazine.js'

let magazine: Served
let listed: Served
beforeAll(async () => {
  magazine = await readOnly('specification')
  listed = await serveMagazine({ config: { cors: { origins: ['https://reader.example'] } } })
})
afterAll(() => Promise.all([magazine, listed].map((served) => served.close())))

const nested = { 'strapi-response-format': 'v4' }

rule('headers.1', 'responses and errors are JSON for every Accept header', async () => {
  for (const path of ['tags', 'setting', 'nothing', 'pitches', 'tags?sort=nope', 'i18n/locales']) {
    for (const accept of ['*/*', 'text/html', 'application/xml']) {
      const { headers } = await magazine.request(`/api/${path}`, { headers: { accept } })
      expect([path, headers.get('content-type')]).toEqual([path, 'application/json; charset=utf-8'])
    }
  }
})

rule('headers.2', 'the header nests documents as in Strapi 4', async () => {
  const query = '/api/articles?fields=title&filters[slug]=the-mill-that-waits-for-the-moon'
  const [flat] = (await magazine.request(query)).body.data
  const { data, meta } = (await magazine.request(query, { headers: nested })).body
  expect(data).toEqual([{ id: flat.id, documentId: flat.documentId, attributes: { title: flat.title } }])
  expect(meta.pagination.total).toBe(1)
})

rule('headers.2', 'relations and media are in data, components are flat', async () => {
  const query =
    'fields=slug&populate[author][populate]=portrait&populate[tags][fields]=name&populate[seo]=true&populate[extras][populate]=*&populate[photographer]=true&populate[letters]=true'
  const path = `/api/articles?filters[slug]=card-by-card&${query}`
  const [flat] = (await magazine.request(path)).body.data
  const [document] = (await magazine.request(path, { headers: nested })).body.data
  const wrapped = ({ id, documentId, ...attributes }: Version) => ({ id, documentId, attributes })
  const { author, tags, seo, extras, photographer, letters } = document.attributes
  const { portrait, ...writer } = flat.author
  expect(author.data).toMatchObject(wrapped(writer))
  expect(author.data.attributes.portrait).toEqual({ data: portrait === null ? null : wrapped(portrait) })
  expect(tags.data).toEqual(flat.tags.map(wrapped))
  expect(photographer).toEqual({ data: null })
  expect(letters).toEqual({ data: [] })
  expect(seo).toEqual(flat.seo)
  const image = extras.find(({ __component }: Version) => __component === 'block.image')
  expect(image.caption).toBe(flat.extras[0].caption)
  expect(image.picture.data).toEqual(wrapped(flat.extras[0].picture))
})

rule('headers.2', 'one document and a single type are nested too, other values change nothing', async () => {
  const { body } = await magazine.request('/api/setting?fields=siteName', { headers: nested })
  expect(body.data.attributes).toEqual({ siteName: 'Tidewright' })
  const { text } = await magazine.request('/api/tags')
  for (const value of ['v5', 'V4', ''])
    expect((await magazine.request('/api/tags', { headers: { 'strapi-response-format': value } })).text).toBe(text)
})

rule('headers.3', 'every response varies by origin, caller, format and source maps', async () => {
  for (const path of ['/api/tags', '/api/nothing', '/api/pitches', '/', '/_health', '/uploads/tidewright_logo_11bd3cce54.svg'])
    expect([path, (await magazine.request(path)).headers.get('vary')]).toEqual([
      path,
      'Origin, Authorization, Strapi-Response-Format, Strapi-Encode-Source-Maps, Accept-Encoding',
    ])
})

rule('headers.4', 'any origin may read, without credentials', async () => {
  for (const path of ['/api/tags', '/api/nothing', '/api/pitches']) {
    const { headers } = await magazine.request(path, { headers: { origin: 'https://anyone.example' } })
    expect(headers.get('access-control-allow-origin')).toBe('*')
    expect(headers.get('access-control-allow-credentials')).toBeNull()
  }
})

rule('headers.5', 'with a list only its origins may', async () => {
  const asked = async (origin: string) => (await listed.request('/api/tags', { headers: { origin } })).headers
  const known = await asked('https://reader.example')
  expect([known.get('access-control-allow-origin'), known.get('access-control-allow-credentials')]).toEqual([
    'https://reader.example',
    'true',
  ])
  for (const origin of ['https://anyone.example', 'https://reader.example.evil.example', 'http://reader.example', 'null']) {
    const headers = await asked(origin)
    expect([origin, headers.get('access-control-allow-origin'), headers.get('access-control-allow-credentials')]).toEqual([
      origin,
      null,
      null,
    ])
  }
})

rule('headers.6', 'every path handles preflights', async () => {
  for (const path of ['/api/tags', '/api/tags/x', '/api/nothing', '/api/upload']) {
    const headers = { origin: 'https://anyone.example', 'access-control-request-method': 'PUT' }
    const answer = await magazine.request(path, { method: 'OPTIONS', headers })
    expect([path, answer.status, answer.text]).toEqual([path, 204, ''])
    expect(answer.headers.get('access-control-allow-origin')).toBe('*')
    expect(answer.headers.get('access-control-allow-methods')).toBe('GET,POST,PUT,PATCH,DELETE,HEAD,OPTIONS')
    // Strapi's four, and what only this API's own headers need: a preview in a browser sends them.
    expect(answer.headers.get('access-control-allow-headers')).toBe(
      'Content-Type,Authorization,Origin,Accept,Strapi-Response-Format,Strapi-Encode-Source-Maps,Idempotency-Key',
    )
  }
})

rule('headers.7', 'a request keeps its id, or gets one', async () => {
  const id = async (given?: string) =>
    (await magazine.request('/api/tags', given === undefined ? {} : { headers: { 'x-request-id': given } })).headers.get('x-request-id')
  expect(await id('check-12_AB')).toBe('check-12_AB')
  for (const given of ['short', 'a'.repeat(65), 'with space', 'dots.are.not', 'quote"quote"'])
    expect(await id(given)).toMatch(/^[0-9a-f]{8}-[0-9a-f-]{27}$/)
  expect(await id()).not.toBe(await id())
})

rule('headers.8', 'responses forbid sniffing and do not name the server', async () => {
  for (const path of ['/api/tags', '/api/nothing', '/', '/uploads/mill_954c4cb065.jpg']) {
    const { headers } = await magazine.request(path)
    expect([path, headers.get('x-content-type-options')]).toEqual([path, 'nosniff'])
    expect([headers.get('x-powered-by'), headers.get('server')]).toEqual([null, null])
  }
})
