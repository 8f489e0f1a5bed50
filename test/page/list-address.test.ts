// Filters of a list: from the address to conditions and back, and to requests.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  type Condition,
  type ConditionGroup,
  readConditions,
  resolveFilters,
  writeConditions,
} from '../../admin/screens/list/conditions.js'
import { type QueryData, readQuery, writeQuery } from '../../admin/server/query-string.js'
import { wordsOf } from '../../admin/words/format.js'

const condition = (path: string, operator: Condition['operator'], value = ''): Condition => ({
  kind: 'condition',
  path: path.split('.'),
  operator,
  value,
})

const and = (...items: ConditionGroup['items']): ConditionGroup => ({ kind: 'group', join: 'and', items })

test('conditions are written in the notation of the API', () => {
  expect(writeConditions(and())).toBeNull()
  expect(writeConditions(and(condition('title', 'contains', 'tea')))).toEqual({ title: { $containsi: 'tea' } })
  expect(
    writeConditions(
      and(condition('author.name', 'is', 'Ana'), {
        kind: 'group',
        join: 'or',
        items: [condition('updatedBy', 'me'), condition('kicker', 'empty')],
      }),
    ),
  ).toEqual({
    $and: [{ author: { name: { $eq: 'Ana' } } }, { $or: [{ updatedBy: { id: { $eq: 'me' } } }, { kicker: { $null: 'true' } }] }],
  })
})

test('a condition on the state takes the state itself', () => {
  const group = and(condition('$state', 'is', 'changed'))
  expect(writeConditions(group)).toEqual({ $state: 'changed' })
  expect(readConditions({ $state: 'changed' })).toEqual(group)
})

const text = fc.string({ minLength: 1 }).filter((value) => !/^-\d{1,4}d$/.test(value) && value !== 'me')
const name = fc.constantFrom('title', 'kicker', 'readingMinutes')
const anyCondition: fc.Arbitrary<Condition> = fc.oneof(
  fc
    .tuple(name, fc.constantFrom('contains', 'notContains', 'startsWith', 'is', 'isNot', 'less', 'atMost', 'more', 'atLeast'), text)
    .map(([path, operator, value]) => condition(path, operator as Condition['operator'], value)),
  fc.tuple(fc.constantFrom('author.name', 'category.slug'), text).map(([path, value]) => condition(path, 'contains', value)),
  fc.tuple(name, fc.constantFrom('empty', 'filled')).map(([path, operator]) => condition(path, operator as Condition['operator'])),
  fc
    .tuple(fc.constantFrom('author', 'tags'), fc.array(fc.stringMatching(/^[a-z0-9]{3,24}$/), { minLength: 1, maxLength: 4 }))
    .map(([path, ids]) => condition(path, 'oneOf', ids.join(','))),
  fc.constantFrom(condition('createdBy', 'me'), condition('updatedBy', 'notMe'), condition('$state', 'is', 'draft')),
  fc.integer({ min: 1, max: 9999 }).map((days) => condition('updatedAt', 'last', String(days))),
)
const group = (least: number): fc.Arbitrary<ConditionGroup> =>
  fc.record({
    kind: fc.constant('group' as const),
    join: fc.constantFrom('and' as const, 'or' as const),
    items: fc.array(anyCondition, { minLength: least, maxLength: 4 }),
  })

test('every condition comes back from its address', () => {
  fc.assert(
    fc.property(fc.array(fc.oneof(anyCondition, group(2)), { minLength: 2, maxLength: 5 }), (items) => {
      const search = writeQuery({ filters: writeConditions(and(...items)) })
      expect(readConditions(readQuery(search).filters ?? null)).toEqual(and(...items))
    }),
    { seed: 29, numRuns: 300 },
  )
})

test('a condition on links lists the ids of their documents', () => {
  const filters: QueryData = { author: { documentId: { $in: ['abc', 'def'] } } }
  expect(readConditions(filters)).toEqual(and(condition('author', 'oneOf', 'abc,def')))
  expect(writeConditions(and(condition('author', 'oneOf', 'abc,def')))).toEqual(filters)
  expect(readConditions({ author: { documentId: { $in: ['a,b'] } } }).items).toMatchObject([{ kind: 'raw' }])
})

test('filters that the form cannot edit stay in the address', () => {
  const filters: QueryData = { $and: [{ title: { $in: ['a', 'b'] } }, { $not: { slug: { $eq: 'c' } } }, { kicker: { $containsi: 'd' } }] }
  expect(writeConditions(readConditions(filters))).toEqual(filters)
})

test('every address can be read, and its state can be written again', () => {
  fc.assert(
    fc.property(fc.string(), fc.object({ values: [fc.string()], maxDepth: 4 }), (search, object) => {
      for (const filters of [readQuery(`filters${search}`).filters ?? null, object as never]) writeConditions(readConditions(filters))
    }),
    { seed: 29, numRuns: 300 },
  )
})

test('a request has the reader and dates instead of "me" and "7 days ago"', () => {
  const filters = writeConditions(and(condition('createdBy', 'me'), condition('updatedAt', 'last', '7'), condition('title', 'is', 'me')))!
  expect(resolveFilters(filters, { me: 12, today: new Date(2026, 2, 3, 23, 30) })).toEqual({
    $and: [{ createdBy: { id: { $eq: '12' } } }, { updatedAt: { $gte: '2026-02-24' } }, { title: { $eq: 'me' } }],
  })
})

test('names in code become words', () => {
  expect(['readingMinutes', 'meta_title', 'slug'].map(wordsOf)).toEqual(['Reading minutes', 'Meta title', 'Slug'])
})
