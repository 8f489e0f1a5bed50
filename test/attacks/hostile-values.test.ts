// Hostile texts in every value (security: S109): a response is never 5xx and never other than an
// exact comparison in memory says, and no statement's text depends on a value.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { sqliteDialect } from '../../src/database/sqlite/dialect.js'
import { fullAccess } from '../../src/foundation/grants.js'
import { compileRead } from '../../src/query/compile/compile.js'
import { contracts } from '../../src/query/contract.js'
import { parseParameters } from '../../src/query/request.js'
import { readRequest } from '../../src/query/rest/read.js'
import { isOnMysql, isOnPostgres } from '../support/databases.js'
import { testSqlite } from '../support/sqlite-only.js'
import { attackFixture, model } from './fixture.js'

const runs = Number(process.env.FUZZ_RUNS ?? 150)
const pieces = [
  ...'\'"\\;`%_$?:@(){}[]<>&|!^~#,.*+-= \t\n/',
  '--',
  '/*',
  '*/',
  '$1',
  '%%',
  '__',
  "''",
  '\0',
  '\u202e',
  'ß',
  'İ',
  'é',
  'e\u0301',
  '😀',
  '\ud7ff',
]
const words = [
  "' or 1=1--",
  '") or (1=1',
  'or',
  'null',
  'select',
  'true',
  'NaN',
  '0',
  '1',
  '-1',
  '1e9',
  '[object Object]',
  'Willow',
  'a',
  'A',
  'story',
  '%25',
  '%00',
]

/** Halves of a character cannot be sent in a query string. */
const wellFormed = (text: string): string => text.replace(/\p{Surrogate}/gu, '?')

const hostile = fc
  .array(fc.oneof(fc.constantFrom(...pieces), fc.constantFrom(...words), fc.string({ unit: 'grapheme', maxLength: 3 })), {
    minLength: 1,
    maxLength: 6,
  })
  .map((parts) => wellFormed(parts.join('')))
const encoded = encodeURIComponent

/** Equality of a database that folds ASCII only. */
/** PostgreSQL lowers each letter alone. */
const eachLower = (text: string): string => [...text].map((letter) => letter.toLowerCase()).join('')
/** Case depends on the database in this contract. */
const asStrapi: readonly [Fold, Fold] = isOnPostgres ? [(text) => text, eachLower] : [asciiLower, asciiLower]
function asciiLower(text: string): string {
  return text.replace(/[A-Z]/g, (letter) => letter.toLowerCase())
}

type Test = (stored: string, value: string) => boolean
const bytes = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b))
const not =
  (test: Test): Test =>
  (stored, value) =>
    !test(stored, value)

/** The operators on text that is not null; `fold` is what the contract folds where case counts, `foldi` where it does not. */
type Fold = (text: string) => string

function textTests(fold: Fold, foldi: Fold): Readonly<Record<string, Test>> {
  const contains: Test = (stored, value) => fold(stored).includes(fold(value))
  const containsi: Test = (stored, value) => foldi(stored).includes(foldi(value))
  const equali: Test = (stored, value) => foldi(stored) === foldi(value)
  return {
    $eq: (stored, value) => stored === value,
    $ne: (stored, value) => stored !== value,
    $in: (stored, value) => stored === value,
    $notIn: (stored, value) => stored !== value,
    $lt: (stored, value) => bytes(stored, value) < 0,
    $lte: (stored, value) => bytes(stored, value) <= 0,
    $gt: (stored, value) => bytes(stored, value) > 0,
    $gte: (stored, value) => bytes(stored, value) >= 0,
    $eqi: equali,
    $nei: not(equali),
    $contains: contains,
    $notContains: not(contains),
    $containsi: containsi,
    $notContainsi: not(containsi),
    $startsWith: (stored, value) => fold(stored).startsWith(fold(value)),
    $startsWithi: (stored, value) => foldi(stored).startsWith(foldi(value)),
    $endsWith: (stored, value) => fold(stored).endsWith(fold(value)),
    $endsWithi: (stored, value) => foldi(stored).endsWith(foldi(value)),
  }
}

describe.each(['strapi', 'specification'] as const)('with the contract %s', (contract) => {
  const { request: sendRequest, change, look } = attackFixture(contract)
  const tests =
    contract === 'strapi'
      ? textTests(...asStrapi)
      : textTests(
          (text) => text,
          (text) => text.toLowerCase(),
        )

  test.skipIf(isOnMysql)('S109 every operator compares a hostile text exactly, unless a collation decides (MariaDB)', async () => {
    const ids = (await look("select id from articles where published_at is not null and locale = 'en' order by id")) as number[]
    const stored = fc.sample(hostile, { numRuns: 120, seed: 109 }).map((text) => text.replaceAll('\0', ''))
    for (const [index, text] of stored.entries()) await change('update articles set title = ? where id = ?', text, ids[index]!)
    const titles = await look('select title from articles where id = ?', ids[0]!)
    expect(titles).toEqual([stored[0]])
    const titleOf = async (id: number): Promise<string | null> => (await look('select title from articles where id = ?', id))[0]
    const rows = await Promise.all(ids.map(async (id) => ({ id, title: await titleOf(id) })))
    const piece = fc
      .tuple(fc.constantFrom(...stored), fc.nat(9), fc.nat(9))
      .map(([text, from, length]) => wellFormed(text.slice(from, from + 1 + length)))
    const value = fc
      .oneof(hostile, piece, fc.constantFrom(...stored))
      .map((text) => text.replaceAll('\0', ' '))
      .filter((text) => text !== '')
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...Object.keys(tests)), value, async (operator, text) => {
        const query = `filters[title][${operator}]=${encoded(text)}&fields[0]=title&pagination[pageSize]=100`
        const { status, body } = await sendRequest(`/articles?${query}`)
        expect(status, JSON.stringify(body)).toBe(200)
        const right = rows.filter(({ title }) => title !== null && tests[operator]!(title, text)).map(({ id }) => id)
        expect(body.meta.pagination.total).toBe(right.length)
        expect(body.data.map(({ id }: { id: number }) => id)).toEqual(right.slice(0, 100))
      }),
      { numRuns: runs * 4 },
    )
  })

  test.runIf(isOnPostgres)('S109 a NUL, which no text of PostgreSQL has, is refused', async () => {
    for (const query of ['filters[title]=%00', 'filters[title][$containsi]=a%00', 'filters[title][$in]=%00', '_q=%00', 'locale=%00'])
      expect([query, (await sendRequest(`/articles?${query}`)).status]).toEqual([query, 400])
  })

  testSqlite(
    'S109 a NUL is a character like others: it does not end the text that is looked for',
    'no text of PostgreSQL has one',
    async () => {
      const [id] = await look("select id from articles where published_at is not null and locale = 'en' order by id")
      const [title] = (await look('select title from articles where id = ?', id)) as string[]
      for (const text of ['\0', `${title}\0x`, `${title!.slice(0, 2)}\0`, `\0${title}`]) {
        for (const operator of Object.keys(tests)) {
          if (['$lt', '$lte', '$gt', '$gte'].includes(operator)) continue
          const found = (await sendRequest(`/articles?filters[title][${operator}]=${encoded(text)}&filters[id]=${id}`)).body.meta.pagination
            .total
          expect(found > 0, `${operator} ${JSON.stringify(text)}`).toBe(tests[operator]!(title!, text))
        }
        expect(
          (await sendRequest(`/articles?_q=${encoded(text)}`)).body.meta.pagination.total,
          `a search for ${JSON.stringify(text)}`,
        ).toBe(0)
      }
    },
  )

  test('S109 a hostile text names no attribute, order, locale, status, document or page', async () => {
    const base = await sendRequest('/articles')
    const drafts = await sendRequest('/articles?status=draft')
    const blank = /^[\s,.]*$/
    const outcomes: Readonly<Record<string, (text: string, answer: typeof base) => void>> = {
      'sort=': (text, { status, text: body }) =>
        blank.test(text.split(':')[0]!) && status === 200 ? expect(body).toBe(base.text) : expect(status).toBe(400),
      'sort=title:': (text, { status }) => (/^\s*(asc|desc)\s*(:|,|$)/i.test(text) ? undefined : expect(status).toBe(400)),
      'fields=': (_text, { status }) => expect(status).toBe(400),
      'fields[0]=': (_text, { status }) => expect(status).toBe(400),
      'populate=': (text, { status, text: body }) =>
        blank.test(text) && status === 200 ? expect(body).toBe(base.text) : expect(status).toBe(400),
      'populate[0]=': (text, { status, text: body }) =>
        blank.test(text) && status === 200 ? expect(body).toBe(base.text) : expect(status).toBe(400),
      'locale=': (text, { status, body }) =>
        isOnPostgres && text.includes('\0') ? expect(status).toBe(400) : expect(body.meta.pagination.total).toBe(0),
      'status=': (_text, { status, text: body }) => (contract === 'strapi' ? expect(body).toBe(drafts.text) : expect(status).toBe(400)),
      'publicationFilter=': (_text, { status }) => expect(status).toBe(400),
      'hasPublishedVersion=': (text, { status }) => (['true', 'false'].includes(text) ? undefined : expect(status).toBe(400)),
      'pagination[withCount]=': (text, { status }) =>
        ['0', '1', 't', 'f', 'true', 'false'].includes(text) ? undefined : expect(status).toBe(400),
      'pagination[pageSize]=': (_text, { status, body }) =>
        status === 400 ? undefined : expect(body.data.length).toBeLessThanOrEqual(100),
      'pagination[page]=': (text, { status }) => (Number.isInteger(Number(text)) ? expect(status).toBe(200) : expect(status).toBe(400)),
      'pagination[start]=': (text, { status }) =>
        Number.isInteger(Number(text)) || Number(text) < 0 ? expect(status).toBe(200) : expect(status).toBe(400),
      'filters[rank]=': (text, { status }) => expect(status).toBe(text.trim() !== '' && Number.isFinite(Number(text)) ? 200 : 400),
      'filters[day]=': (_text, { status }) => expect(status).toBe(400),
      'filters[starts]=': (text, { status }) => (/^\s*-?\d+\s*$/.test(text) ? undefined : expect(status).toBe(400)),
      'filters[author]=': (text, { status, body }) => {
        expect(status).toBe(200)
        // MariaDB compares a text with a number by its first digits, in Strapi too.
        // The others take a text that is a number as a whole, with spaces around it.
        const isId = isOnMysql ? /^\s*[-+]?\.?\d/ : /^\s*[-+]?[\d.]+(e[-+]?\d+)?\s*$/i
        if (!isId.test(text)) expect(body.meta.pagination.total).toBe(0)
      },
    }
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...Object.keys(outcomes)),
        // The star alone means everything; spaces around a name mean nothing (fields.1).
        hostile.filter((text) => !/^[\s*,]*$/.test(text) || blank.test(text)).filter((text) => text !== ''),
        async (parameter, text) => {
          const answer = await sendRequest(`/articles?${parameter}${encoded(text)}`)
          expect(answer.status, answer.text.slice(0, 300)).toBeLessThan(500)
          outcomes[parameter]!(text, answer)
        },
      ),
      { numRuns: runs * 4 },
    )
  })

  test('S109 a hostile text is not a document or a type', async () => {
    const segment = hostile.filter((text) => !/^\.{1,2}$/.test(text) && !/[\s.]/.test(text) && !/^[%\w]*$/.test(text))
    await fc.assert(
      fc.asyncProperty(segment, fc.constantFrom('/articles/', '/users/', '/upload/files/', '/'), async (text, path) => {
        const { status, body } = await sendRequest(`${path}${encoded(text)}`, { as: 'full' })
        expect([204, 400, 404], `${path}${text} is ${status}`).toContain(status)
        if (status !== 204) expect(body.error.status).toBe(status)
      }),
      { numRuns: runs },
    )
  })

  test('S109 no statement holds a byte of a value', () => {
    const type = model.paths.get('articles')!
    const context = {
      model,
      contract: contracts[contract],
      defaultLocale: 'en',
      pages: { defaultLimit: 25, maxLimit: 100, withCount: true },
      limits: { queryComplexity: 1000, filterRelations: 8 },
      strictParams: false,
    }
    const statements = (query: string): string => {
      const request = readRequest(context, fullAccess, { type, mode: 'many' }, parseParameters(query))
      return JSON.stringify(compileRead(request, sqliteDialect, context.contract, 'data'))
    }
    const places = [
      ...Object.keys(tests).map((operator) => (value: string) => `filters[title][${operator}]=${value}`),
      (value: string) => `filters[title][$between][]=${value}&filters[title][$between][]=${value}`,
      (value: string) => `filters[author][name][$containsi]=${value}&sort=author.name`,
      (value: string) => `filters[author]=${value}`,
      (value: string) => `populate[author][filters][name]=${value}`,
      (value: string) => `locale=${value}`,
      (value: string) => `_q=${value}`,
      (value: string) => `filters[$or][0][title]=${value}&filters[$or][1][$not][tags][name][$in][]=${value}`,
    ]
    fc.assert(
      fc.property(
        fc.constantFrom(...places),
        hostile.filter((text) => text !== '*' && Number.isNaN(Number(text))),
        (place, text) => {
          expect(statements(place(encoded(text)))).toBe(statements(place('x')))
        },
      ),
      { numRuns: runs * 2 },
    )
  })
})
