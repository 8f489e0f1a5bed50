// docs/spec/pagination.md: pages and ranges of a list.
import { afterAll, beforeAll, expect } from 'vitest'
import { rule } from '../support/rule.js'
import type { Served } from '../support/serve.js'
import { serveProject } from '../support/serve.js'
import { access, contentType, plain, reading, seeded } from './library.js'
import { all, expected, readOnly, versions } from './magazine.js'

const count = 130
const numbers = Array.from({ length: count }, (_, index) => index)
const project = {
  ...contentType('number', { name: { type: 'string' }, size: { type: 'integer' } }),
  ...seeded('number', plain(Object.fromEntries(numbers.map((size) => [`n${size}`, { size }])))),
  ...access(reading('number')),
}

let served: Served
let configured: Served
let magazine: Served
beforeAll(async () => {
  served = await serveProject(project)
  configured = await serveProject(project, { config: { api: { rest: { defaultLimit: 4, maxLimit: 6, withCount: false } } } })
  magazine = await readOnly('specification')
})
afterAll(() => Promise.all([served, configured, magazine].map((each) => each.close())))

/** Response to `pagination[…]` in a query: the first and last number, and the meta. */
async function page(parameters: Readonly<Record<string, string | number>>, from = served) {
  const query = Object.entries(parameters).map(([name, value]) => `pagination[${name}]=${value}`)
  const answer = await from.request(`/api/numbers?${query.join('&')}`)
  if (answer.status !== 200) return [answer.status, answer.body.error.name] as const
  return [all(answer, 'size'), answer.body.meta.pagination] as const
}

const totals = (pageNumber: number, pageSize: number) => ({
  page: pageNumber,
  pageSize,
  pageCount: Math.ceil(count / pageSize),
  total: count,
})

rule('pagination.1', 'a list begins with twenty-five documents', async () => {
  expect(await page({})).toEqual([numbers.slice(0, 25), totals(1, 25)])
})

rule('pagination.2', 'page and pageSize choose a page', async () => {
  expect(await page({ page: 2 })).toEqual([numbers.slice(25, 50), totals(2, 25)])
  expect(await page({ pageSize: 7 })).toEqual([numbers.slice(0, 7), totals(1, 7)])
  expect(await page({ page: 3, pageSize: 10 })).toEqual([numbers.slice(20, 30), totals(3, 10)])
  expect(await page({ page: 2, pageSize: 65 })).toEqual([numbers.slice(65), totals(2, 65)])
  expect(await page({ page: 13, pageSize: 10 })).toEqual([numbers.slice(120), totals(13, 10)])
})

rule('pagination.2', 'pageCount is zero where nothing is found', async () => {
  const { body } = await served.request('/api/numbers?filters[size]=-1')
  expect(body).toEqual({ data: [], meta: { pagination: { page: 1, pageSize: 25, pageCount: 0, total: 0 } } })
})

rule('pagination.3', 'start and limit choose a range', async () => {
  expect(await page({ start: 3 })).toEqual([numbers.slice(3, 28), { start: 3, limit: 25, total: count }])
  expect(await page({ limit: 2 })).toEqual([[0, 1], { start: 0, limit: 2, total: count }])
  expect(await page({ start: 127, limit: 10 })).toEqual([[127, 128, 129], { start: 127, limit: 10, total: count }])
})

rule('pagination.4', 'the styles cannot be mixed', async () => {
  const mixtures: readonly Readonly<Record<string, number>>[] = [
    { page: 1, start: 0 },
    { pageSize: 5, limit: 5 },
    { page: 1, limit: 1 },
    { pageSize: 1, start: 0 },
  ]
  for (const mixed of mixtures) expect(await page(mixed)).toEqual([400, 'PaginationError'])
})

rule('pagination.5', 'too small values are raised', async () => {
  for (const value of [0, -1, -1000, '']) {
    expect(await page({ page: value })).toEqual([numbers.slice(0, 25), totals(1, 25)])
    expect(await page({ pageSize: value })).toEqual([[0], totals(1, 1)])
    expect(await page({ limit: value })).toEqual([[0], { start: 0, limit: 1, total: count }])
    expect(await page({ start: value })).toEqual([numbers.slice(0, 25), { start: 0, limit: 25, total: count }])
  }
})

rule('pagination.6', 'too large sizes are lowered to the maximum', async () => {
  for (const value of [101, 1000, 1e15, 'Infinity']) {
    expect(await page({ pageSize: value })).toEqual([numbers.slice(0, 100), totals(1, 100)])
    expect(await page({ limit: value })).toEqual([numbers.slice(0, 100), { start: 0, limit: 100, total: count }])
  }
  expect(await page({ pageSize: 100, page: 2 })).toEqual([numbers.slice(100), totals(2, 100)])
})

rule('pagination.6', 'the configuration sets the default and the maximum', async () => {
  const meta = (limit: number) => ({ start: 0, limit, total: count })
  expect(await page({ withCount: 'true' }, configured)).toEqual([numbers.slice(0, 4), totals(1, 4)])
  expect(await page({ limit: 7, withCount: 'true' }, configured)).toEqual([numbers.slice(0, 6), meta(6)])
  expect(await page({ pageSize: 5, withCount: 'true' }, configured)).toEqual([numbers.slice(0, 5), totals(1, 5)])
})

rule('pagination.7', 'numbers may be written in any notation', async () => {
  for (const value of ['1e1', '0xa', '%2010%20', '%2B10', '10.0']) {
    expect(await page({ limit: value })).toEqual([numbers.slice(0, 10), { start: 0, limit: 10, total: count }])
    expect(await page({ start: value, limit: 1 })).toEqual([[10], { start: 10, limit: 1, total: count }])
  }
})

rule('pagination.7', 'page and start must be numbers, and invalid sizes become the maximum', async () => {
  for (const value of ['abc', '1,5', 'NaN']) {
    expect(await page({ page: value })).toEqual([400, 'ValidationError'])
    expect(await page({ start: value })).toEqual([400, 'ValidationError'])
    expect(await page({ pageSize: value })).toEqual([numbers.slice(0, 100), totals(1, 100)])
    expect(await page({ limit: value })).toEqual([numbers.slice(0, 100), { start: 0, limit: 100, total: count }])
  }
})

rule('pagination.7', 'fractions are refused', async () => {
  for (const name of ['page', 'pageSize', 'start', 'limit'])
    expect([name, ...(await page({ [name]: '1.5' }))]).toEqual([name, 400, 'ValidationError'])
})

rule('pagination.8', 'after the end a page is empty and the totals stay', async () => {
  expect(await page({ page: 7 })).toEqual([[], totals(7, 25)])
  expect(await page({ start: count })).toEqual([[], { start: count, limit: 25, total: count }])
  expect(await page({ page: 1_000_000, pageSize: 100 })).toEqual([[], totals(1_000_000, 100)])
})

rule('pagination.8', 'so they do where conditions lead through relations', async () => {
  const written = versions('article').filter(({ author }) => author === '@author:emil-sarovic').length
  for (const sort of ['', '&sort=title', '&sort=author.name:desc']) {
    for (const [number, size] of [
      [1, 2],
      [2, 2],
      [9, 2],
    ]) {
      const query = `filters[author][name]=Emil%20Sarovic${sort}&pagination[page]=${number}&pagination[pageSize]=${size}`
      const { data, meta } = (await magazine.request(`/api/articles?${query}`)).body
      expect([query, data.length]).toEqual([query, Math.max(0, Math.min(size!, written - (number! - 1) * size!))])
      expect(meta.pagination).toEqual({ page: number, pageSize: size, pageCount: Math.ceil(written / size!), total: written })
    }
  }
})

rule('pagination.8', 'the reported page is the requested one, at any distance', async () => {
  for (const value of [1e9, 1e15]) expect((await page({ page: value, pageSize: 1 }))[1]).toEqual(totals(value, 1))
  const { page: told } = (await page({ page: '1e300' }))[1] as { page: number }
  expect(Number.isInteger(told)).toBe(true)
})

rule('pagination.9', 'withCount leaves the totals out', async () => {
  for (const value of ['false', 'f', '0']) {
    expect(await page({ withCount: value })).toEqual([numbers.slice(0, 25), { page: 1, pageSize: 25 }])
    expect(await page({ start: 0, withCount: value })).toEqual([numbers.slice(0, 25), { start: 0, limit: 25 }])
  }
  for (const value of ['true', 't', '1']) expect(await page({ withCount: value })).toEqual([numbers.slice(0, 25), totals(1, 25)])
  for (const value of ['yes', 'TRUE', '', '2']) expect(await page({ withCount: value })).toEqual([400, 'ValidationError'])
})

rule('pagination.9', 'the configuration says what holds without it', async () => {
  expect(await page({}, configured)).toEqual([numbers.slice(0, 4), { page: 1, pageSize: 4 }])
})

rule('pagination.10', 'page and pageSize belong into pagination', async () => {
  for (const query of ['page=2', 'pageSize=3', 'page=1&pageSize=3']) {
    const { status, body } = await served.request(`/api/numbers?${query}`)
    expect([query, status, body.error.name]).toEqual([query, 400, 'PaginationError'])
  }
})

rule('pagination.11', 'the total counts what the whole list holds', async () => {
  const total = async (query: string) =>
    (await magazine.request(`/api/articles?pagination[pageSize]=1&${query}`)).body.meta.pagination.total
  expect(await total('')).toBe(versions('article').length)
  expect(await total('status=draft')).toBe(versions('article', { status: 'draft' }).length)
  expect(await total('locale=de')).toBe(versions('article', { locale: 'de' }).length)
  expect(await total('locale=*')).toBe(versions('article').length + versions('article', { locale: 'de' }).length)
  expect(await total('filters[format]=report')).toBe(versions('article').filter(({ format }) => format === 'report').length)
})

rule('pagination.11', 'relations do not multiply it', async () => {
  const query = 'filters[tags][name][$notNull]=true&sort=tags.name&populate=*&pagination[pageSize]=5'
  const pages = await Promise.all([1, 2, 3, 4].map((number) => magazine.request(`/api/articles?${query}&pagination[page]=${number}`)))
  for (const { body } of pages) expect(body.meta.pagination).toMatchObject({ pageCount: 4, total: versions('article').length })
  expect(pages.flatMap((answer) => all(answer)).sort()).toEqual(expected(versions('article')).sort())
})
