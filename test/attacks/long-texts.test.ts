// Searches for long values in long texts (O33): every operator takes time that grows with their lengths and not with their product, and
// has the same results as in short texts.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { serveFuzzed } from '../fuzz/project.js'
import { insert } from '../spec/callers.js'
import { cpuTimeOf } from '../support/cpu-time.js'
import { isOnPostgres } from '../support/databases.js'
import type { Served } from '../support/serve.js'

const megabyte = 1_000_000
const asciiLower = (text: string): string => text.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase())
const lower = (text: string): string => text.toLowerCase().replaceAll('ς', 'σ')
const upToNul = (text: string): string => text.split('\0')[0]!

type Test = (text: string, value: string) => boolean
const places: Readonly<Record<string, Test>> = {
  contains: (text, value) => text.includes(value),
  startsWith: (text, value) => text.startsWith(value),
  // SQLite ends a text at a NUL.
  endsWith: (text, value) => upToNul(text).endsWith(value),
}

/** Result of an operator according to the specification. */
function finds(contract: string, operator: string, text: string, value: string): boolean {
  const [, negated = '', name = '', folds = ''] = /^\$(not)?(.*?)(i?)$/.exec(operator)!
  const place = `${name[0]!.toLowerCase()}${name.slice(1)}`
  const is = places[place] ?? ((one: string, other: string) => one === other)
  let found: boolean
  if (contract === 'strapi') {
    const isMatch = place in places
    found = isMatch ? !value.includes('\0') && is(asciiLower(upToNul(text)), asciiLower(value)) : is(asciiLower(text), asciiLower(value))
  } else found = folds === 'i' ? is(lower(text), lower(value)) : is(text, value)
  return negated === '' ? found : !found
}

const operators = [
  '$contains',
  '$containsi',
  '$notContains',
  '$notContainsi',
  '$startsWith',
  '$startsWithi',
  '$endsWith',
  '$endsWithi',
  '$eqi',
]

/** The same numbers in every run. */
function numbers(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff
    return Math.floor((state / 0x80000000) * below)
  }
}

const next = numbers(7)
const letters = ['a', 'a', 'a', 'A', 'b', 'B', '%', '_', '\\', 'é', 'É', 'σ']
const word = (length: number): string => Array.from({ length }, () => letters[next(letters.length)]!).join('')
const swapped = (text: string): string =>
  text.replaceAll(/[ab]/gi, (letter) => (next(2) === 0 ? letter.toLowerCase() : letter.toUpperCase()))

const texts: readonly string[] = [
  ...Array.from({ length: 30 }, () => word(50 + next(6_000))),
  ...Array.from({ length: 4 }, () => 'a'.repeat(3_000 + next(3_000))),
  `${'ab'.repeat(2_000)}\0${'ba'.repeat(2_000)}`,
]
const values: readonly string[] = [
  ...texts.flatMap((text) => {
    const from = next(Math.max(1, text.length - 40))
    const middle = text.slice(from, from + 17 + next(400))
    return [middle, swapped(middle), text.slice(0, 60), text.slice(-60), `${text.slice(-60)}b`]
  }),
  ...['ab', 'ba', 'aab'].map((part) => part.repeat(30)),
  `${'a'.repeat(300)}b`,
  `b${'a'.repeat(300)}`,
  `${'ab'.repeat(20)}\0ba`,
]

describe.each(['specification', 'strapi'] as const)('the contract %s', (contract) => {
  let served: Served
  const stored = new Map<number, string>()
  beforeAll(async () => {
    served = await serveFuzzed({ config: { api: { rest: { contract, maxLimit: 1000 } }, limits: { readTimeout: 60_000 } } })
    for (const text of [...texts, 'a'.repeat(megabyte), `${'a'.repeat(megabyte / 2)}b${'A'.repeat(megabyte / 2)}`]) {
      // A text of PostgreSQL has no NUL.
      if (isOnPostgres && text.includes('\0')) continue
      const id = await insert(served, 'thing', { document_id: `long${stored.size}`, story: text, published_at: 1, created_at: 1 })
      stored.set(id, text)
    }
  })
  afterAll(() => served.close())

  async function idsOf(operator: string, value: string): Promise<readonly number[]> {
    const query = `filters[documentId][$startsWith]=long&filters[story][${operator}]=${encodeURIComponent(value)}&fields=id&pagination[pageSize]=1000`
    const { status, body } = await served.request(`/api/things?${query}`)
    expect(status, operator).toBe(200)
    return body.data.map(({ id }: { id: number }) => id)
  }

  test.each(operators)('%s has the same results in long texts as in short ones', async (operator) => {
    for (const value of values.filter((_, index) => index % 3 === operators.indexOf(operator) % 3)) {
      const expected = [...stored].filter(([, text]) => finds(contract, operator, text, value)).map(([id]) => id)
      expect(
        [...(await idsOf(operator, value))].sort((a, b) => a - b),
        `${operator} ${value}`,
      ).toEqual(expected)
    }
  })

  test.each(operators)('%s takes little longer where every character could be a beginning', async (operator) => {
    const timeOf = (letter: string) => {
      const [long, half, mixed] = [letter.repeat(14_000), letter.repeat(7_000), (letter + letter.toUpperCase()).repeat(4_000)]
      return cpuTimeOf(async () => {
        for (const value of [`${long}c`, `c${long}`, `${half}c${half}`, `${mixed}c`, `${letter.repeat(15)}c`]) await idsOf(operator, value)
      })
    }
    await idsOf(operator, 'once')
    const none = await timeOf('z')
    expect((await timeOf('a')) / none).toBeLessThan(20)
  })

  test('so does a search', async () => {
    const timeOf = (letter: string) =>
      cpuTimeOf(async () => expect((await served.request(`/api/things?_q=${letter.repeat(14_000)}c`)).status).toBe(200))
    await timeOf('y')
    const none = await timeOf('z')
    expect((await timeOf('a')) / none).toBeLessThan(20)
  })
})
