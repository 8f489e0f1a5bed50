// docs/spec/endpoints.md: paths, methods and how a query string is read.
import { afterAll, beforeAll, expect } from 'vitest'
import { rule } from '../support/rule.js'
import type { Served } from '../support/serve.js'
import { serveMagazine, serveProject } from '../support/serve.js'
import { access, contentType, plain, reading, seeded, serveLibrary } from './library.js'
import { all, expected, readOnly, versions } from './magazine.js'

let magazine: Served
let strict: Served
let library: Served
/** A single type without a document, one with a draft only, and more documents than an index of a list may count. */
let shelf: Served
beforeAll(async () => {
  magazine = await readOnly('specification')
  strict = await serveMagazine({ config: { api: { rest: { strictParams: true, prefix: '/content/v2' } } } })
  library = await serveLibrary('specification')
  const numbers = Object.fromEntries(Array.from({ length: 110 }, (_, index) => [`n${index}`, { size: index }]))
  shelf = await serveProject({
    ...contentType('number', { name: { type: 'string' }, size: { type: 'integer' } }),
    ...contentType('vacancy', { name: { type: 'string' } }, { kind: 'singleType', plural: 'vacancies' }),
    ...contentType('plan', { name: { type: 'string' } }, { kind: 'singleType', draftAndPublish: true }),
    ...seeded('number', plain(numbers)),
    ...seeded('plan', [{ key: 'plan', locales: { '-': { draft: { name: 'Someday' } } } }]),
    ...access(reading('number', 'vacancy', 'plan')),
  })
})
afterAll(() => Promise.all([magazine, strict, library, shelf].map((served) => served.close())))

const status = async (path: string, method = 'GET', served = magazine) => (await served.request(path, { method })).status

rule('endpoints.1', 'the plural name lists documents with their page', async () => {
  const { status, body } = await magazine.request('/api/authors')
  expect(status).toBe(200)
  expect(body.data.map(({ slug }: { slug: string }) => slug)).toEqual(expected(versions('author')))
  expect(body.meta).toEqual({ pagination: { page: 1, pageSize: 25, pageCount: 1, total: versions('author').length } })
})

rule('endpoints.2', 'a documentId returns its document', async () => {
  const [, second] = (await magazine.request('/api/authors')).body.data
  expect((await magazine.request(`/api/authors/${second.documentId}`)).body.data).toEqual(second)
})

rule('endpoints.2', 'an unknown documentId is 404', async () => {
  const { id } = (await magazine.request('/api/authors')).body.data[0]
  const { documentId } = (await magazine.request('/api/tags')).body.data[0]
  for (const name of [id, documentId, 'nobody', '%F0%9F%A6%89', "'", 'a'.repeat(400)])
    expect(await status(`/api/authors/${name}`)).toBe(404)
})

rule('endpoints.3', 'the singular name returns the document of a single type', async () => {
  const { status, body } = await magazine.request('/api/homepage?locale=de')
  expect(status).toBe(200)
  expect(body.data.intro).toBe(versions('homepage', { locale: 'de' })[0]!.intro)
})

rule('endpoints.3', 'a single type without a document in the wanted status is 404', async () => {
  expect(await status('/api/vacancy', 'GET', shelf)).toBe(404)
  expect(await status('/api/plan', 'GET', shelf)).toBe(404)
  expect((await shelf.request('/api/plan?status=draft')).body.data.name).toBe('Someday')
  expect(await status('/api/homepage?locale=fr')).toBe(404)
})

rule('endpoints.4', 'other names of types, and components, have no endpoints', async () => {
  for (const path of [
    'article',
    'homepages',
    'settings',
    'homepage/x',
    'shared.seo',
    'seo',
    'shared/seo',
    'files',
    'components_shared_seos',
  ])
    expect(await status(`/api/${path}`)).toBe(404)
})

rule('endpoints.5', 'filters, fields and populate work on one document', async () => {
  const [, author] = (await magazine.request('/api/authors')).body.data
  const path = `/api/authors/${author.documentId}`
  expect(await status(`${path}?filters[onStaff]=true`)).toBe(200)
  expect(await status(`${path}?filters[onStaff]=false`)).toBe(404)
  expect(await status('/api/setting?filters[theme]=night')).toBe(404)
  const { data } = (await magazine.request(`${path}?fields=name&populate[events][fields]=slug&sort=name:desc&pagination[page]=5`)).body
  expect(data).toMatchObject({ name: 'Jonas Attermeyer', events: [{ slug: 'dry-stone-week' }, { slug: 'a-night-at-the-kiln' }] })
  expect(data).not.toHaveProperty('slug')
})

rule('endpoints.6', 'case and a slash at the end do not matter, two slashes at the start do', async () => {
  const { text } = await magazine.request('/api/tags')
  for (const path of ['/api/Tags', '/API/TAGS', '/api/tags/', '/api/tags/?']) expect((await magazine.request(path)).text).toBe(text)
  const { status, body } = await magazine.request('//api/tags')
  expect([status, body.error.name, body.error.message]).toEqual([400, 'BadRequestError', 'Malicious Path'])
})

rule('endpoints.7', 'GET of an unknown path is 404, other methods are 405', async () => {
  for (const path of ['/api/nothing', '/api', '/nothing', '/api/tags/a/b', '/api/users/me/more']) {
    expect((await magazine.request(path)).body.error).toMatchObject({ status: 404, name: 'NotFoundError' })
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
      const { status, headers } = await magazine.request(path, { method })
      expect([path, status, headers.get('allow')]).toEqual([path, 405, 'HEAD, GET'])
    }
  }
})

rule('endpoints.8', 'an unsupported method is 405, and Allow lists the others', async () => {
  const cases = [
    ['/api/tags', 'PUT', 'HEAD, GET, POST'],
    ['/api/tags', 'DELETE', 'HEAD, GET, POST'],
    ['/api/tags/x', 'POST', 'HEAD, GET, PUT, DELETE'],
    ['/api/tags/x', 'PATCH', 'HEAD, GET, PUT, DELETE'],
    ['/api/setting', 'POST', 'HEAD, GET, PUT, DELETE'],
    ['/api/i18n/locales', 'POST', 'HEAD, GET'],
    ['/api/upload/files', 'PUT', 'HEAD, GET'],
  ] as const
  for (const [path, method, allow] of cases) {
    const { status, headers, text } = await magazine.request(path, { method })
    expect([path, method, status, headers.get('allow'), text]).toEqual([path, method, 405, allow, 'Method Not Allowed'])
    expect(headers.get('content-type')).toContain('text/plain')
  }
})

rule('endpoints.8', '405 comes before credentials', async () => {
  expect((await magazine.request('/api/pitches', { method: 'PUT' })).status).toBe(405)
  expect((await magazine.request('/api/tags', { method: 'PUT', token: 'nonsense' })).status).toBe(405)
})

rule('endpoints.8', 'unknown methods are 405 as well', async () => {
  const { status, headers } = await magazine.request('/api/tags', { method: 'PROPFIND' })
  expect([status, headers.get('allow')]).toEqual([405, 'HEAD, GET, POST'])
})

rule('endpoints.9', 'HEAD is GET without the body', async () => {
  for (const path of ['/api/tags', '/api/setting', '/api/nothing', '/api/pitches', '/api/tags?sort=nope', '/api/i18n/locales', '/']) {
    const [head, get] = [await magazine.request(path, { method: 'HEAD' }), await magazine.request(path)]
    expect(head.text).toBe('')
    for (const name of ['content-type', 'content-length']) expect([path, head.headers.get(name)]).toEqual([path, get.headers.get(name)])
    expect([path, head.status]).toEqual([path, get.status])
  }
})

rule('endpoints.10', 'OPTIONS lists the methods', async () => {
  const cases = [
    ['/api/tags', 'HEAD, GET, POST'],
    ['/api/tags/x', 'HEAD, GET, PUT, DELETE'],
    ['/api/setting', 'HEAD, GET, PUT, DELETE'],
    ['/api/users/me', 'HEAD, GET'],
    ['/api/nothing', 'HEAD, GET'],
  ]
  for (const [path, allow] of cases) {
    const { status, headers, text } = await magazine.request(path!, { method: 'OPTIONS' })
    expect([path, status, headers.get('allow'), text]).toEqual([path, 200, allow, ''])
  }
})

rule('endpoints.11', 'health is 204 for every method', async () => {
  for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
    const { status, text } = await magazine.request('/_health', { method })
    expect([method, status, text]).toEqual([method, 204, ''])
  }
})

rule('endpoints.12', 'the start page requests public types, and in production names no others', async () => {
  const { status, headers, text } = await magazine.request('/')
  expect(status).toBe(200)
  expect(headers.get('content-type')).toContain('text/html')
  for (const name of ['Article', 'Homepage']) expect(text).toContain(`<b>${name}</b>`)
  expect(text).not.toContain('Pitch')
  const tried = [...text.matchAll(/<a class="request" data-request href="([^"]+)"/g)].map(([, address]) =>
    address!.replaceAll('&#38;', '&'),
  )
  expect(tried.length).toBeGreaterThan(3)
  for (const address of tried) expect([address, (await magazine.request(address)).status]).toEqual([address, 200])
  expect(tried.some((address) => address.includes('pitches'))).toBe(false)
})

rule('endpoints.13', 'unknown parameters have no effect', async () => {
  const { text } = await magazine.request('/api/tags')
  for (const query of [
    'foo=1',
    'where[name]=x',
    'start=3',
    'limit=1',
    'publicationState=preview',
    '_locale=de',
    'plugins[i18n][locale]=de',
    'count=true',
  ])
    expect((await magazine.request(`/api/tags?${query}`)).text).toBe(text)
})

rule('endpoints.13', 'lookup is refused', async () => {
  const { status, body } = await magazine.request('/api/tags?lookup[name]=x')
  expect([status, body.error.message]).toEqual([400, "Invalid params: 'lookup'"])
})

rule('endpoints.13', 'strictParams refuses unknown parameters', async () => {
  const { status, body } = await strict.request('/content/v2/tags?foo=1')
  const details = { key: 'foo', path: null, source: 'query', param: 'foo' }
  expect([status, body.error]).toEqual([400, { status: 400, name: 'ValidationError', message: 'Invalid key foo', details }])
  expect((await strict.request('/content/v2/tags?where[name]=x')).status).toBe(400)
  for (const query of ['start=3', 'limit=1', 'filters[name]=Water&fields=name&sort=name&populate=articles&locale=en&status=published&_q=w'])
    expect((await strict.request(`/content/v2/tags?${query}`)).status).toBe(200)
})

rule('endpoints.14', 'lists are written with indexes, empty brackets or by repeating', async () => {
  const wanted = ['100 wool', 'a_b']
  for (const list of [
    '[0]=100 wool&L[1]=a_b',
    '[]=100 wool&L[]=a_b',
    '=100 wool&L=a_b',
    '[7]=100 wool&L[99]=a_b',
    '%5B0%5D=100 wool&L%5B1%5D=a_b',
  ]) {
    const query = `L${list}`.replaceAll('L', 'filters[text][$in]')
    expect([list, all(await library.request(`/api/words?${query}`), 'text')]).toEqual([list, wanted])
  }
})

rule('endpoints.14', 'a plus is a space, a lone percent sign is itself', async () => {
  expect(all(await library.request('/api/words?filters[text]=The+Harbour%20Bath'), 'name')).toEqual(['mixed'])
  expect(all(await library.request('/api/words?filters[text]=100%+wool'), 'name')).toEqual(['percent'])
  expect(all(await library.request('/api/words?filters[text]=a%5fb'), 'name')).toEqual(['underscore'])
})

rule('endpoints.14', 'an index above 99 does not create a list', async () => {
  const { body } = await library.request('/api/words?sort[100]=name')
  expect(body.error.message).toBe('Invalid key 100')
  expect(all(await library.request('/api/words?sort[99]=name:desc&pagination[limit]=1'), 'name')).toEqual(['wool'])
})

rule('endpoints.14', 'parameters after the thousandth are dropped', async () => {
  const padded = (before: number) => `/api/numbers?${'x=1&'.repeat(before)}filters[size]=5`
  expect(all(await shelf.request(padded(999)), 'size')).toEqual([5])
  expect(all(await shelf.request(padded(1000)), 'size').length).toBe(25)
})

rule('endpoints.14', 'names deeper than twenty levels are ignored', async () => {
  const nested = (depth: number) => `/api/numbers?filters${'[$not]'.repeat(depth)}[size]=5`
  expect(all(await shelf.request(nested(18)), 'size')).toEqual([5])
  expect((await shelf.request(nested(30))).status).toBe(400)
})

rule('endpoints.15', 'the prefix moves the API', async () => {
  expect((await strict.request('/content/v2/tags')).status).toBe(200)
  expect((await strict.request('/content/v2/i18n/locales')).status).toBe(200)
  expect((await strict.request('/api/tags')).status).toBe(404)
})
