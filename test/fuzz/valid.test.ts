// Random valid filters, sort keys and pages find the rows that the rules require: compared with an evaluator in memory. FUZZ_RUNS
// is the number of runs; a failure prints its seed.
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Served } from '../support/serve.js'
import { evaluate } from './evaluator.js'
import { serveFuzzed } from './project.js'
import type { ShapeName } from './requests.js'
import { conditions, sortKeys, writeFilter, writeSort } from './requests.js'
import type { Status, World } from './world.js'
import { readWorld } from './world.js'

const numRuns = Number(process.env.FUZZ_RUNS ?? 400)
const statuses: readonly Status[] = ['published', 'draft']
const types: readonly (readonly [path: string, shape: 'thing' | 'person' | 'tag'])[] = [
  ['things', 'thing'],
  ['people', 'person'],
  ['tags', 'tag'],
]

let served: Served
let worlds: Readonly<Record<Status, World>>
beforeAll(async () => {
  served = await serveFuzzed({ config: { api: { rest: { contract: 'specification', maxLimit: 1000 } } } })
  worlds = { published: readWorld(served.database, 'published'), draft: readWorld(served.database, 'draft') }
})
afterAll(() => served.close())

async function sendRequest(path: string, parts: readonly string[]) {
  const { status, body } = await served.request(`/api/${path}?${parts.join('&')}`)
  expect(status, JSON.stringify(body).slice(0, 500)).toBe(200)
  return { ids: body.data.map(({ id }: { id: number }) => id) as readonly number[], pagination: body.meta.pagination }
}

const request = fc.constantFrom(...types).chain(([path, shape]) =>
  fc.record({
    path: fc.constant(path),
    shape: fc.constant(shape),
    filter: fc.option(
      fc.integer({ min: 0, max: 3 }).chain((depth) => conditions(shape as ShapeName, depth)),
      { freq: 8 },
    ),
    sort: sortKeys(shape),
    spelling: fc.constantFrom('text' as const, 'list' as const, 'objects' as const),
    status: fc.constantFrom(...statuses),
  }),
)

test('filters, sort keys and totals agree with the evaluator', async () => {
  await fc.assert(
    fc.asyncProperty(request, async ({ path, shape, filter, sort, spelling, status }) => {
      const parts = [
        ...(filter === null ? [] : writeFilter(filter)),
        ...writeSort(sort, spelling),
        `status=${status}`,
        'pagination[pageSize]=1000',
        'fields=id',
      ]
      const { ids, pagination } = await sendRequest(path, parts)
      const expected = evaluate(worlds[status][shape], filter, sort)
      expect(ids).toEqual(expected)
      expect(pagination.total).toBe(expected.length)
    }),
    { numRuns: numRuns * 3 },
  )
})

test('pages in both styles are slices of the whole', async () => {
  const place = fc.record({
    first: fc.integer({ min: 0, max: 50 }),
    size: fc.integer({ min: 1, max: 60 }),
    paged: fc.boolean(),
    withCount: fc.boolean(),
  })
  await fc.assert(
    fc.asyncProperty(request, place, async ({ path, shape, filter, sort, spelling, status }, { first, size, paged, withCount }) => {
      const expected = evaluate(worlds[status][shape], filter, sort)
      const start = paged ? first * size : first
      const page = paged
        ? [`pagination[page]=${first + 1}`, `pagination[pageSize]=${size}`]
        : [`pagination[start]=${first}`, `pagination[limit]=${size}`]
      const parts = [
        ...(filter === null ? [] : writeFilter(filter)),
        ...writeSort(sort, spelling),
        `status=${status}`,
        ...page,
        `pagination[withCount]=${withCount}`,
      ]
      const { ids, pagination } = await sendRequest(path, parts)
      expect(ids).toEqual(expected.slice(start, start + size))
      const total = withCount ? { total: expected.length } : {}
      const pageCount = withCount ? { pageCount: Math.ceil(expected.length / size) } : {}
      expect(pagination).toEqual(
        paged ? { page: first + 1, pageSize: size, ...pageCount, ...total } : { start: first, limit: size, ...total },
      )
    }),
    { numRuns },
  )
})

test('a single document is found exactly if its list finds it', async () => {
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...statuses), conditions('thing', 2), fc.nat(1000), async (status, filter, drawn) => {
      // The path names the document: a condition on its documentId has no effect.
      fc.pre(!writeFilter(filter).some((text) => text.startsWith('filters[documentId]')))
      const rows = worlds[status].thing
      const row = rows[drawn % rows.length]!
      const answer = await served.request(
        `/api/things/${row.values.get('documentId')}?${[...writeFilter(filter), `status=${status}`].join('&')}`,
      )
      const found = evaluate([row], filter, []).length === 1
      expect(answer.status).toBe(found ? 200 : 404)
      if (found) expect(answer.body.data.id).toBe(row.id)
    }),
    { numRuns },
  )
})

test('operators that look into texts find the same in a number with and without regard to case', async () => {
  const operators = fc.constantFrom('$contains', '$startsWith', '$endsWith', '$notContains')
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom('ratio', 'price', 'count', 'big', 'yes'),
      operators,
      fc.constantFrom('.0', '0', '2', '.', '-', '1', '9.99', '.5', '000', '807', '993', '80'),
      async (attribute, operator, piece) => {
        const find = (name: string) => sendRequest('things', [`filters[${attribute}][${name}]=${piece}`, 'pagination[pageSize]=1000'])
        expect((await find(`${operator}i`)).ids).toEqual((await find(operator)).ids)
      },
    ),
    { numRuns: Math.min(numRuns, 200) },
  )
})
