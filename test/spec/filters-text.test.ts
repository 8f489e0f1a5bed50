// docs/spec/filters.md: text operators, in both contracts, with texts that LIKE would misread.
import { afterAll, beforeAll, expect } from 'vitest'
import { isOnMysql, isOnPostgres } from '../support/databases.js'
import { rule } from '../support/rule.js'
import type { Served } from '../support/serve.js'
import { serveLibrary, words } from './library.js'
import { all, expected, readOnly, versions } from './magazine.js'

let specification: Served
let strapi: Served
let magazine: Served
beforeAll(async () => {
  specification = await serveLibrary('specification')
  strapi = await serveLibrary('strapi')
  magazine = await readOnly('specification')
})
afterAll(() => Promise.all([specification, strapi, magazine].map((served) => served.close())))

const kept = (text: string) => text
/** ASCII letters only, as SQLite's LIKE does it. */
const ascii = (text: string) => text.replace(/[A-Z]/g, (letter) => letter.toLowerCase())
const unicode = (text: string) => text.toLowerCase()
/** Lower case as in PostgreSQL: each letter alone, the last one of a word too. */
const eachLetter = (text: string) => [...text].map((letter) => letter.toLowerCase()).join('')
/** As the collation utf8mb4_general_ci of MariaDB compares: without accents. */
const collated = (text: string) => text.normalize('NFD').replace(/\p{M}/gu, '').toUpperCase()
/** In the contract `strapi`, case depends on the database: SQLite knows ASCII letters only, and ignores their case everywhere. */
const [asStrapi, asStrapiI] = isOnPostgres ? [kept, eachLetter] : isOnMysql ? [collated, collated] : [ascii, ascii]
const [cased, uncased] = isOnPostgres
  ? ['looks at the text as it is', 'all letters']
  : isOnMysql
    ? ['looks at the text as the collation does', 'all letters, and accents']
    : ['ignores the case of ASCII letters', 'ASCII letters']

type Fold = (text: string) => string
type Holds = (text: string, part: string) => boolean

const positive: Readonly<Record<string, Holds>> = {
  $contains: (text, part) => text.includes(part),
  $startsWith: (text, part) => text.startsWith(part),
  $endsWith: (text, part) => text.endsWith(part),
}
const whole: Readonly<Record<string, Holds>> = { $eqi: (text, part) => text === part }
/** Collations of MariaDB ignore spaces at the end. */
const padded: Holds = (text, part) => text.trimEnd() === part.trimEnd()

/** Every operator with its negation, by the name of the positive one. */
const negations: Readonly<Record<string, string>> = { $contains: '$notContains', $containsi: '$notContainsi', $eqi: '$nei' }

const operands = [
  ...['harbour', 'HARBOUR', 'Harbour', 'BATH', 'bath', 'äpfel', 'Äpfel', 'ÄPFEL', 'Über', 'über', 'οδος', 'ΟΔΟΣ'],
  ...['%', '_', '\\', '%%', 'a_b', 'a%b', '0%', '100%', '\\s', "'", '"', `it's "`, ' ', '', 'zzz'],
]

async function found(served: Served, operator: string, operand: string) {
  return all(await served.request(`/api/words?filters[text][${operator}]=${encodeURIComponent(operand)}`), 'name')
}

const holding = (test: (text: string) => boolean): string[] =>
  Object.keys(words).filter((name) => words[name] !== null && test(words[name]!))

/** Compares an operator, and its negation where it has one, with the same comparison of the seed's words. */
async function check(served: Served, operator: string, holds: Holds, fold: Fold) {
  for (const operand of operands) {
    const test = (text: string) => holds(fold(text), fold(operand))
    expect([operator, operand, await found(served, operator, operand)]).toEqual([operator, operand, holding(test)])
    const negated = negations[operator]
    if (negated === undefined) continue
    const wanted = holding((text) => !test(text))
    expect([negated, operand, await found(served, negated, operand)]).toEqual([negated, operand, wanted])
  }
}

for (const [operator, holds] of Object.entries(positive)) {
  rule('filters.6', `specification: ${operator} looks at the text as it is`, () => check(specification, operator, holds, kept))
  rule('filters.6', `strapi: ${operator} ${cased}`, () => check(strapi, operator, holds, asStrapi))
  rule('filters.7', `specification: ${operator}i ignores the case of all letters`, () =>
    check(specification, `${operator}i`, holds, unicode),
  )
  rule('filters.7', `strapi: ${operator}i ignores the case of ${uncased}`, () => check(strapi, `${operator}i`, holds, asStrapiI))
}

for (const [operator, holds] of Object.entries(whole)) {
  rule('filters.7', `specification: ${operator} ignores the case of all letters`, () => check(specification, operator, holds, unicode))
  rule('filters.7', `strapi: ${operator} ignores the case of ${uncased}`, () =>
    check(strapi, operator, isOnMysql ? padded : holds, asStrapiI),
  )
}

rule('filters.7', 'specification: letters fold alone as they fold inside a word', async () => {
  expect(await found(specification, '$containsi', 'δοσ')).toEqual(['greek'])
  expect(await found(specification, '$endsWithi', 'σ')).toEqual(['greek'])
})

rule('filters.8', 'patterns and quotes are literal', async () => {
  for (const served of [specification, strapi]) {
    for (const operator of ['$contains', '$containsi', '$eq', '$eqi', '$startsWith', '$endsWith', '$in']) {
      expect([operator, await found(served, operator, 'a%b')]).toEqual([operator, []])
      expect([operator, await found(served, operator, 'a_b')]).toEqual([operator, ['underscore']])
      expect([operator, await found(served, operator, `it's "quoted"`)]).toEqual([operator, ['quotes']])
      expect([operator, await found(served, operator, 'back\\slash')]).toEqual([operator, ['backslash']])
    }
    expect(await found(served, '$contains', '%')).toEqual(['percent'])
  }
})

rule('filters.8', 'no quote ends a statement', async () => {
  for (const text of [`' OR 1=1 --`, `"; DROP TABLE words; --`, `') UNION SELECT * FROM up_users --`, '\\', `\\'`])
    for (const operator of ['$eq', '$contains', '$in', '$startsWithi'])
      expect(await found(specification, operator, text)).not.toContain('small')
  expect(all(await specification.request('/api/words'), 'name')).toEqual(Object.keys(words))
})

rule('filters.6', 'specification: case decides in every text type', async () => {
  const sample = async (attribute: string, operator: string, text: string) =>
    all(await specification.request(`/api/samples?filters[${attribute}][${operator}]=${encodeURIComponent(text)}`), 'name')
  for (const [attribute, text] of Object.entries({ text: 'ЖИЗНЬ', rich: '# heading', mail: 'SOMEONE@', code: 'First', choice: 'North' })) {
    expect([attribute, await sample(attribute, '$contains', text)]).toEqual([attribute, []])
    expect([attribute, await sample(attribute, '$containsi', text)]).toEqual([
      attribute,
      attribute === 'choice' ? ['first', 'third'] : ['first'],
    ])
  }
})

rule('filters.6', 'numbers are looked at as their digits', async () => {
  const sample = async (query: string) => all(await specification.request(`/api/samples?filters${query}`), 'name')
  expect(await sample('[whole][$contains]=2')).toEqual(['first', 'second'])
  expect(await sample('[whole][$startsWith]=-2147')).toEqual(['second'])
  expect(await sample('[big][$endsWith]=993')).toEqual(['third'])
  expect(await sample('[exact][$contains]=.3')).toEqual(['first'])
  expect(await sample('[day][$startsWith]=2024-')).toEqual(['first', 'third'])
})

rule('filters.7', 'digits have no case, and lose none', async () => {
  const sample = async (query: string) => all(await specification.request(`/api/samples?filters${query}`), 'name')
  expect(await sample('[whole][$containsi]=2')).toEqual(['first', 'second'])
  expect(await sample('[big][$endsWithi]=993')).toEqual(['third'])
  expect(await sample('[big][$eqi]=9223372036854775807')).toEqual(['first'])
})

rule('filters.6', 'specification: the magazine is searched with its case', async () => {
  const titles = (test: (title: string) => boolean) => expected(versions('article').filter(({ title }) => test(title)))
  const slugs = async (query: string) => all(await magazine.request(`/api/articles?filters[title]${query}`))
  expect(await slugs('[$contains]=the')).toEqual(titles((title) => title.includes('the')))
  expect(await slugs('[$contains]=The')).toEqual(titles((title) => title.includes('The')))
  expect(await slugs('[$containsi]=THE')).toEqual(titles((title) => title.toLowerCase().includes('the')))
  expect(await slugs('[$notContains]=The')).toEqual(titles((title) => !title.includes('The')))
})
