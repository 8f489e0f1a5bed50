// Random query strings of every form, most of them nonsense: the service never fails and always responds in the contract's
// shape. FUZZ_RUNS says how many are tried; a failure prints its seed.
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Served, TestResponse } from '../support/serve.js'
import { fullAccess, oddTexts, serveFuzzed } from './project.js'

const numRuns = Number(process.env.FUZZ_RUNS ?? 400) * 3

const top = 'filters sort fields populate pagination locale status _q publicationFilter hasPublishedVersion start limit strange'.split(' ')
const attributes =
  'id documentId word story count big ratio yes day hour moment stamp data body pin hidden owner tags part parts things friend name age weight createdAt publishedAt createdBy locale localizations'
const operators =
  '$eq $eqi $ne $nei $lt $lte $gt $gte $in $notIn $contains $notContains $containsi $notContainsi $startsWith $startsWithi $endsWith $endsWithi $null $notNull $between $and $or $not $foo $'
const keys = 'page pageSize start limit withCount populate fields filters sort count on'
const segment = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(...attributes.split(' ')) },
  { weight: 6, arbitrary: fc.constantFrom(...operators.split(' ')) },
  { weight: 4, arbitrary: fc.constantFrom(...keys.split(' ')) },
  { weight: 3, arbitrary: fc.constantFrom('', '0', '1', '2', '99', '100', '-1', '1e3', '*', 'api::thing.thing', 'parts.part') },
  {
    weight: 1,
    arbitrary: fc.constantFrom('__proto__', 'constructor', 'toString', 'hasOwnProperty', 'length', ']', '[', '%5B', '.', 'a.b'),
  },
  { weight: 1, arbitrary: fc.constantFrom(...oddTexts) },
)
const value = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...oddTexts) },
  { weight: 3, arbitrary: fc.constantFrom(...attributes.split(' ')) },
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      '*',
      'true',
      'false',
      'asc',
      'desc',
      'word:desc',
      'owner.name:asc',
      'owner.friend.things',
      'tags.name,word',
      'draft',
      'published',
      'en',
    ),
  },
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      '1e308',
      '1e309',
      '-1e308',
      '1e19',
      '9223372036854775808',
      '-9223372036854775809',
      '9007199254740993',
      'NaN',
      'Infinity',
      '-0',
      '0x10',
      '1_000',
      '٣',
    ),
  },
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      '2024-02-30',
      '2024-13-01',
      '24:00:00',
      '12:30',
      '99999-01-01',
      '+275760-09-13T00:00:00.001Z',
      '2024-02-29T25:00:00Z',
      '-271821-04-19',
    ),
  },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 20 }) },
  { weight: 1, arbitrary: fc.constantFrom('\0', 'a\0b', '\ufeff', '\u202e', 'x'.repeat(3_000), '%', '((((', '../..', '${7*7}', '{{7*7}}') },
)
/** Texts as browsers, careless programs and attackers write them. */
const written = fc.oneof(
  { weight: 5, arbitrary: value.map((text) => encodeURIComponent(text.replace(/\p{Surrogate}/gu, '?'))) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      '%zz',
      '%',
      '%2',
      '%ED%A0%80',
      '%C0%AF',
      '%FF%FE',
      '%u0041',
      '%00',
      '%25%32%35',
      '+',
      '%2B',
      '=',
      '==',
      '[',
      ']',
      '%5B0%5D',
      ';',
      '%0d%0a',
    ),
  },
)
const path = fc
  .tuple(fc.constantFrom(...top), fc.array(segment, { maxLength: 5 }))
  .map(([name, segments]) => name + segments.map((one) => `[${encodeURIComponent(one)}]`).join(''))
const torn = fc.oneof(
  path,
  path.map((text) => text.slice(0, -1)),
  path.map((text) => `${text}[`),
  path.map((text) => text.replaceAll('[', '.').replaceAll(']', '')),
  fc.constantFrom('', '[]', '[0]', ']', '&', '=', '[filters][word]'),
)
const parameter = fc.oneof(
  { weight: 8, arbitrary: fc.tuple(path, written).map(([name, text]) => `${name}=${text}`) },
  { weight: 2, arbitrary: fc.tuple(torn, written).map(([name, text]) => `${name}=${text}`) },
  { weight: 1, arbitrary: torn },
  {
    weight: 1,
    arbitrary: fc
      .tuple(fc.constantFrom(...top), fc.integer({ min: 2, max: 300 }), segment)
      .map(([name, depth, one]) => `${name}${`[${encodeURIComponent(one)}]`.repeat(depth)}=1`.slice(0, 4_000)),
  },
)
const query = fc.array(parameter, { minLength: 1, maxLength: 6 }).map((parts) => parts.join('&').slice(0, 12_000))
const paths = fc.constantFrom('things', 'people', 'tags', 'things/some-document', 'users', 'upload/files', 'i18n/locales')

/** The required body of a response with this status. */
function expectShape({ status, headers, body, text }: TestResponse): void {
  expect(status, text.slice(0, 300)).toBeLessThan(500)
  if (status === 204 || status === 304) {
    expect(text).toBe('')
    return
  }
  expect(headers.get('content-type')).toBe('application/json; charset=utf-8')
  if (status >= 400) {
    expect(Object.keys(body)).toEqual(['data', 'error'])
    expect(body).toMatchObject({
      data: null,
      error: { status, name: expect.stringMatching(/^[A-Z]\w+Error$/), message: expect.stringMatching(/./) },
    })
    expect(Object.keys(body.error).filter((key) => !['status', 'name', 'message', 'details'].includes(key))).toEqual([])
    return
  }
  expect(status).toBe(200)
  // Users, files and locales have no envelope.
  if (Array.isArray(body)) return
  expect(Object.keys(body)).toEqual(['data', 'meta'])
  if (!Array.isArray(body.data)) return
  const { page, pageSize, start, limit, total, pageCount } = body.meta.pagination
  for (const number of [page, pageSize, start, limit, total, pageCount])
    if (number !== undefined) expect(Number.isSafeInteger(number), JSON.stringify(body.meta)).toBe(true)
  expect(body.data.length).toBeLessThanOrEqual(pageSize ?? limit)
}

describe.each(['specification', 'strapi'] as const)('with the contract %s', (contract) => {
  const salt = 'a salt long enough for production'
  let served: Served
  let token: string
  beforeAll(async () => {
    served = await serveFuzzed({ config: { api: { rest: { contract } } }, environment: { API_TOKEN_SALT: salt } })
    token = fullAccess(served, salt)
  })
  afterAll(() => served.close())

  test('no query string makes the service fail', async () => {
    await fc.assert(
      fc.asyncProperty(paths, query, fc.boolean(), async (path, text, isPublic) => {
        expectShape(await served.request(`/api/${path}?${text}`, isPublic ? {} : { token }))
      }),
      { numRuns },
    )
    expect((await served.request('/api/things')).body.data.length).toBeGreaterThan(0)
  })

  test('no header makes the service fail', async () => {
    const names = fc.constantFrom(
      'authorization',
      'strapi-response-format',
      'x-request-id',
      'origin',
      'accept',
      'accept-language',
      'content-type',
      'if-none-match',
      'range',
      'cookie',
      'x-forwarded-for',
    )
    const content = fc.oneof(
      fc.constantFrom(
        '',
        'v4',
        'v5',
        'Bearer',
        'Bearer x',
        'Bearer a.b.c',
        'Bearer eyJhbGciOiJIUzI1NiJ9..',
        'null',
        '*',
        'bytes=0-1',
        '"',
        'application/json',
      ),
      fc.string({ maxLength: 30 }).map((text) => text.replace(/[^\x20-\x7e]/g, '')),
    )
    await fc.assert(
      fc.asyncProperty(paths, fc.dictionary(names, content, { maxKeys: 4 }), async (path, headers) => {
        expectShape(await served.request(`/api/${path}`, { headers }))
      }),
      { numRuns: Math.ceil(numRuns / 4) },
    )
  })
})
