// Small requests that cause much work: each is answered or refused soon, while others are
// served.
import { describe, expect, test } from 'vitest'
import type { TestResponse } from '../support/serve.js'
import { attackFixture } from './fixture.js'

const { request: sendRequest } = attackFixture('strapi', { config: { limits: { responseBytes: 20_000_000 } } })

/** `author.articles.author…`, to a given depth. */
const cycle = (levels: number): readonly string[] => Array.from({ length: levels }, (_, level) => (level % 2 === 0 ? 'author' : 'articles'))
const bracketed = (names: readonly string[]): string => names.map((name) => `[${name}]`).join('')

/** Answered, or refused as too much: never a failure. */
function expectBounded({ status, body }: TestResponse, what: string): void {
  expect([200, 400, 503], `${what} is ${status}`).toContain(status)
  if (status !== 200) expect(body.error.status, what).toBe(status)
}

describe('populate', () => {
  test.each([5, 10, 20, 30, 100, 1000])('S121 a cycle of %i levels is answered or refused', async (levels) => {
    expectBounded(await sendRequest(`/articles?populate=${cycle(levels).join('.')}`), `a dot path of ${levels} levels`)
    const nested = cycle(Math.min(levels, 9)).join('][populate][')
    expectBounded(await sendRequest(`/articles?populate[${nested}]=true`), `objects of ${levels} levels`)
  })

  test('S121 a chain of 30 levels that does not branch is answered or refused', async () => {
    expectBounded(await sendRequest(`/authors?populate=${Array(30).fill('mentor').join('.')}`), '30 mentors')
    expectBounded(await sendRequest(`/categories?populate=${Array(30).fill('parent').join('.')}`), '30 parents')
  })

  test('S121 fifty names on five levels are answered or refused', async () => {
    const names =
      'author,reviewer,tags,related,relatedTo,category,pick,references,comments,spotlight,seo,sections,blocks,cover,gallery,localizations'
    const wide = names.split(',').flatMap((name) => [name, `author.articles.${name}`, `related.related.related.${name}`])
    expect(wide.length).toBeGreaterThan(45)
    expectBounded(
      await sendRequest(`/articles?${wide.map((path) => `populate[]=${path}`).join('&')}&pagination[pageSize]=5`),
      'a wide populate',
    )
  })
})

describe('answers of writes', () => {
  const send = (method: string, path: string, data: object): Promise<TestResponse> =>
    sendRequest(path, { as: 'full', method, headers: { 'content-type': 'application/json' }, body: JSON.stringify({ data }) })
  const tooLarge = 'The answer is too large, ask for fewer entries or fewer populated levels'

  test('O32 one that would be too large is refused, nothing is written, and other writes go on', async () => {
    const [{ documentId, rank }] = (await sendRequest('/articles?filters[tags][id][$notNull]=true&pagination[pageSize]=1')).body.data
    const total = async () =>
      (await sendRequest('/articles?status=draft&pagination[pageSize]=1', { as: 'full' })).body.meta.pagination.total
    const before = await total()
    for (const levels of [8, 12, 20, 60]) {
      const path = Array.from({ length: levels }, (_, level) => (level % 2 === 0 ? 'tags' : 'articles')).join('.')
      const deep = send('PUT', `/articles/${documentId}?populate=${path}`, { rank: rank + 1 })
      const other = send('POST', '/comments', { body: 'meanwhile' })
      expect((await other).status).toBe(201)
      const { status, body } = await deep
      expect([levels, status, body.error?.message]).toEqual([levels, 400, tooLarge])
      const made = await send('POST', `/articles?populate=${path}`, { title: 'Deep', tags: { connect: [1, 2, 3] } })
      expect([levels, made.status]).toEqual([levels, 400])
    }
    expect((await sendRequest(`/articles/${documentId}`)).body.data.rank).toBe(rank)
    expect(await total()).toBe(before)
    expect((await send('PUT', `/articles/${documentId}?populate=tags.articles`, { rank })).status).toBe(200)
  })
})

describe('sort and filters', () => {
  test.each([10, 30, 60, 100, 300, 1000])('S121 a sort key of %i steps is answered or refused', async (steps) => {
    expectBounded(await sendRequest(`/authors?sort=${Array(steps).fill('mentor').join('.')}.name`), `${steps} steps`)
  })

  test('S121 many sort keys are answered or refused', async () => {
    expectBounded(
      await sendRequest(`/articles?${Array.from({ length: 99 }, (_, index) => `sort[${index}]=author.articles.author.name`).join('&')}`),
      '99 sort keys',
    )
  })

  test.each([2, 4, 6])('S121 a filter over a cycle of %i relations is answered or refused', async (levels) => {
    for (const condition of ['[id][$null]=true', '[id][$containsi]=zzz', '[$not][id]=1', '[id]=-1']) {
      expectBounded(await sendRequest(`/articles?filters${bracketed(cycle(levels))}${condition}`), `${levels} levels ${condition}`)
    }
  })

  test('S121 keys that are nested deeper than the parser goes are refused', async () => {
    expect((await sendRequest(`/articles?filters${'[$not]'.repeat(60)}[id]=1`)).status).toBe(400)
    expect((await sendRequest(`/articles?filters${'[$and][0]'.repeat(60)}[id]=1`)).status).toBe(400)
    expectBounded(await sendRequest(`/articles?filters${'['.repeat(500)}id${']'.repeat(500)}=1`), 'brackets')
    expectBounded(await sendRequest(`/articles?${'[]'.repeat(2000)}=1`), 'brackets without a name')
    expectBounded(await sendRequest(`/articles?${'&'.repeat(8000)}`), 'ampersands')
    expectBounded(await sendRequest(`/articles?${'fields[]=id&'.repeat(1200)}`), 'the same field 1200 times')
    expectBounded(await sendRequest(`/articles?fields=${'id,'.repeat(4000)}`), 'the same field 4000 times')
    expectBounded(await sendRequest(`/articles?sort=${'id,'.repeat(4000)}`), 'the same key 4000 times')
    expectBounded(await sendRequest(`/articles?populate=${'tags,'.repeat(3000)}`), 'the same relation 3000 times')
  })

  test('S121 a request line beyond the limit ends with 431', async () => {
    expect((await sendRequest(`/articles?_q=${'a'.repeat(17_000)}`)).status).toBe(431)
  })
})

describe('the budget of a plan', () => {
  const small = attackFixture('strapi', { config: { limits: { queryComplexity: 40 } } })
  const times = (count: number, part: (index: number) => string, between = '&') =>
    Array.from({ length: count }, (_, index) => part(index)).join(between)

  test('S121 a query with more names than the budget is refused, one with fewer succeeds', async () => {
    const queries: readonly ((count: number) => string)[] = [
      (count) => times(count, (index) => `filters[$or][${index}][id]=${index}`),
      (count) => times(count, (index) => `filters[$and][${index}][author][id][$ne]=${index}`),
      (count) => times(count, (index) => `sort[${index}]=author.name`),
      (count) => `sort=${times(count, () => 'mentor', '.')}.name`.replace('mentor', 'author'),
      (count) => `populate=author.${times(count, () => 'mentor', '.')}`,
      (count) => times(count, (index) => `populate[tags][filters][$or][${index}][name]=x`),
    ]
    for (const query of queries) {
      expect((await small.request(`/articles?${query(10)}`)).status, query(10)).toBe(200)
      const { status, body } = await small.request(`/articles?${query(60)}`)
      expect(status, query(60)).toBe(400)
      expect(body.error).toEqual({ status: 400, name: 'ValidationError', message: 'The query is too complex', details: {} })
    }
  })
})

describe('pagination', () => {
  test('S122 no page is larger than the limit', async () => {
    const sizes = [
      '100000',
      '1e9',
      '1e18',
      '1e300',
      '101',
      '0x7fffffff',
      'abc',
      '-5',
      '-1',
      '0',
      '',
      'Infinity',
      '-Infinity',
      'NaN',
      '9007199254740993',
    ]
    for (const size of sizes) {
      for (const pagination of [
        `pagination[pageSize]=${size}`,
        `pagination[limit]=${size}`,
        `pagination[pageSize]=${size}&pagination[page]=2`,
        `pagination[limit]=${size}&pagination[start]=1`,
      ]) {
        const { status, body } = await sendRequest(`/articles?${pagination}&status=draft&locale=*&fields=id`)
        expect([200, 400], pagination).toContain(status)
        if (status === 400) continue
        expect(body.data.length, pagination).toBeLessThanOrEqual(100)
        expect(body.meta.pagination.pageSize ?? body.meta.pagination.limit, pagination).toBeLessThanOrEqual(100)
        expect(body.meta.pagination.total, pagination).toBeGreaterThan(100)
      }
    }
  })

  test('S122 pages before the first one and beyond the range of numbers are refused', async () => {
    for (const place of [
      '-1',
      '-1e300',
      '0',
      '1e18',
      '1e300',
      '9007199254740993',
      'Infinity',
      '-Infinity',
      'NaN',
      '1.5',
      '1e-3',
      ' 2',
      '+1',
      '0x2',
    ]) {
      for (const key of ['page', 'start']) {
        const { status, body } = await sendRequest(`/articles?pagination[${key}]=${encodeURIComponent(place)}&fields=id`)
        expect([200, 400], `${key}=${place}`).toContain(status)
        if (status === 400) continue
        const { page, start } = body.meta.pagination
        expect(Number.isSafeInteger(page ?? start), `${key}=${place} is ${page ?? start}`).toBe(true)
        expect(page ?? start, `${key}=${place}`).toBeGreaterThanOrEqual(page === undefined ? 0 : 1)
      }
    }
  })

  test('S122 styles cannot be mixed, and other positions of a page do not bypass the limit', async () => {
    expect((await sendRequest('/articles?pagination[page]=1&pagination[start]=0')).status).toBe(400)
    expect((await sendRequest('/articles?pagination[pageSize]=1&pagination[limit]=1000')).status).toBe(400)
    expect((await sendRequest('/articles?page=1&pageSize=1000')).status).toBe(400)
    for (const query of [
      'limit=1000',
      'start=5',
      '_limit=-1',
      'pagination=1000',
      'pagination[]=1000',
      'pagination[pageSize][]=1000',
      'pagination[pageSize][$gt]=1',
      'per_page=1000',
    ]) {
      const { status, body } = await sendRequest(`/articles?${query}`)
      expect([200, 400], query).toContain(status)
      if (status === 200) expect(body.data.length, query).toBeLessThanOrEqual(100)
    }
  })

  test('S122 start and limit must be numbers for a single document and a bare list too', async () => {
    for (const place of ['1e300', '1e19', '9007199254740993', '-1', 'Infinity', 'x', '1.5', '']) {
      for (const path of ['/users/me', '/users', '/users/1', '/upload/files', '/upload/files/1']) {
        for (const key of ['start', 'limit']) {
          const { status } = await sendRequest(`${path}?${key}=${place}`, { as: 'bob' })
          expect([200, 204, 400, 404], `${path}?${key}=${place} is ${status}`).toContain(status)
        }
      }
    }
    for (const place of ['1e300', '1e19']) {
      for (const path of ['/articles/some-document', '/homepage', '/setting']) {
        const { status } = await sendRequest(`${path}?start=${place}`)
        expect([400, 404], `${path}?start=${place} is ${status}`).toContain(status)
      }
    }
  })
})

describe('many requests at once', () => {
  const settle = (answers: readonly TestResponse[]) => {
    for (const { status, headers } of answers) {
      expect([200, 503]).toContain(status)
      if (status === 503) expect(headers.get('retry-after')).toMatch(/^\d+$/)
    }
  }

  test('S124 other requests are served during two hundred scans', async () => {
    const scans = Array.from({ length: 200 }, (_, index) => sendRequest(`/articles?filters[body][$contains]=zz${index}&locale=*`))
    for (let request = 0; request < 40; request++) expect((await sendRequest('/tags?pagination[pageSize]=1')).status).toBe(200)
    settle(await Promise.all(scans))
  })

  test('S131 three hundred equal requests get the same response', async () => {
    const answers = await Promise.all(
      Array.from({ length: 300 }, () =>
        sendRequest('/articles?populate[author][populate]=articles&sort=author.name&pagination[pageSize]=10'),
      ),
    )
    settle(answers)
    expect(new Set(answers.filter(({ status }) => status === 200).map(({ text }) => text)).size).toBe(1)
  })
})
