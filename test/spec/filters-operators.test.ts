// docs/spec/filters.md: every operator on every attribute type, checked against the same comparison in TypeScript.
import { afterAll, beforeAll, expect } from 'vitest'
import { isOnMysql } from '../support/databases.js'
import { rule } from '../support/rule.js'
import type { Served } from '../support/serve.js'
import { samples, serveLibrary, words } from './library.js'
import { all } from './magazine.js'

let library: Served
let strapi: Served
beforeAll(async () => {
  library = await serveLibrary('specification')
  strapi = await serveLibrary('strapi')
})
afterAll(() => Promise.all([library, strapi].map((served) => served.close())))

type Comparable = number | bigint | string | boolean

/** Comparison of an attribute's values, and one more value than the samples have. */
const kinds: Readonly<Record<string, { readonly read: (value: string) => Comparable; readonly other: string }>> = {
  string: { read: (value) => value, other: 'M' },
  text: { read: (value) => value, other: 'Ζ' },
  rich: { read: (value) => value, other: '<' },
  mail: { read: (value) => value, other: 'b' },
  code: { read: (value) => value, other: 'first' },
  choice: { read: (value) => value, other: 'east' },
  whole: { read: Number, other: '8' },
  big: { read: BigInt, other: '9007199254740992' },
  rough: { read: Number, other: '0.1000001' },
  exact: { read: Number, other: '12.339' },
  day: { read: (value) => value, other: '2024-02-28' },
  at: { read: (value) => value, other: '08:00:00.001' },
  moment: { read: Date.parse, other: '2024-02-29T12:30:00.001Z' },
  stamp: { read: Date.parse, other: '1969-12-31T23:59:59.999Z' },
}

/** Texts are compared by their bytes. */
const order = (left: Comparable, right: Comparable): number =>
  typeof left === 'string' && typeof right === 'string'
    ? Buffer.compare(Buffer.from(left), Buffer.from(right))
    : left < right
      ? -1
      : left > right
        ? 1
        : 0

type Operators = Readonly<Record<string, (value: Comparable, operand: Comparable) => boolean>>

const equality: Operators = {
  $eq: (value, operand) => value === operand,
  $ne: (value, operand) => value !== operand,
}
const size: Operators = {
  $lt: (value, operand) => order(value, operand) < 0,
  $lte: (value, operand) => order(value, operand) <= 0,
  $gt: (value, operand) => order(value, operand) > 0,
  $gte: (value, operand) => order(value, operand) >= 0,
}

const encode = encodeURIComponent
const request = async (query: string, served = library) => all(await served.request(`/api/samples?${query}`), 'name')

/** The names of the samples whose attribute has a value that meets `holds`. */
function holding(attribute: string, holds: (value: Comparable) => boolean): string[] {
  const { read } = kinds[attribute]!
  return Object.keys(samples).filter((name) => samples[name]![attribute] !== undefined && holds(read(String(samples[name]![attribute]))))
}

const valuesOf = (attribute: string): string[] =>
  Object.values(samples).flatMap((sample) => (sample[attribute] === undefined ? [] : [String(sample[attribute])]))

for (const [attribute, { read, other }] of Object.entries(kinds)) {
  const operands = [...new Set([...valuesOf(attribute), other])]

  for (const [id, operators] of [
    ['filters.3', equality],
    ['filters.4', size],
  ] as const) {
    rule(id, `${attribute}: ${Object.keys(operators).join(' ')}`, async () => {
      for (const [operator, holds] of Object.entries(operators)) {
        for (const operand of operands) {
          const wanted = holding(attribute, (value) => holds(value, read(operand)))
          const found = await request(`filters[${attribute}][${operator}]=${encode(operand)}`)
          expect([operator, operand, found]).toEqual([operator, operand, wanted])
        }
      }
    })
  }

  rule('filters.5', `${attribute}: $in $notIn`, async () => {
    const [first, , third] = valuesOf(attribute)
    for (const list of [[first!, third!], [other], [other, first!], operands]) {
      const listed = (value: Comparable) => list.some((each) => read(each) === value)
      const parameters = (operator: string) =>
        list.map((each, index) => `filters[${attribute}][${operator}][${index}]=${encode(each)}`).join('&')
      expect([list, await request(parameters('$in'))]).toEqual([list, holding(attribute, listed)])
      expect([list, await request(parameters('$notIn'))]).toEqual([list, holding(attribute, (value) => !listed(value))])
    }
  })

  rule('filters.9', `${attribute}: $null $notNull`, async () => {
    const withValue = holding(attribute, () => true)
    for (const value of ['true', '1', 'anything']) {
      expect(await request(`filters[${attribute}][$null]=${value}`)).toEqual(['nothing'])
      expect(await request(`filters[${attribute}][$notNull]=${value}`)).toEqual(withValue)
    }
    for (const value of ['false', '0', 'f', '']) {
      expect(await request(`filters[${attribute}][$null]=${value}`)).toEqual(withValue)
      expect(await request(`filters[${attribute}][$notNull]=${value}`)).toEqual(['nothing'])
    }
  })

  rule('filters.10', `${attribute}: $between`, async () => {
    const [low, high] = [...operands].sort((a, b) => order(read(a), read(b))).slice(0, 2)
    const between = (a: string, b: string) =>
      request(`filters[${attribute}][$between][0]=${encode(a)}&filters[${attribute}][$between][1]=${encode(b)}`)
    const within = (value: Comparable) => order(value, read(low!)) >= 0 && order(value, read(high!)) <= 0
    expect(await between(low!, high!)).toEqual(holding(attribute, within))
    expect(await between(low!, low!)).toEqual(holding(attribute, (value) => value === read(low!)))
    if (order(read(low!), read(high!)) !== 0) expect(await between(high!, low!)).toEqual([])
  })

  rule('filters.11', `${attribute}: null meets no comparison, negated or not`, async () => {
    const one = encode(operands[0]!)
    for (const form of [
      `[$ne]=${one}`,
      `[$notIn]=${one}`,
      `[$nei]=${one}`,
      `[$notContains]=zzz`,
      `[$notContainsi]=zzz`,
      `[$not][$eq]=${one}`,
      `[$not][$contains]=zzz`,
    ])
      expect([form, await request(`filters[${attribute}]${form}`)]).toEqual([form, expect.not.arrayContaining(['nothing'])])
    expect(await request(`filters[$not][${attribute}]=${one}`)).not.toContain('nothing')
    expect(await request(`filters[$not][${attribute}][$null]=true`)).not.toContain('nothing')
    expect(await request(`filters[$not][${attribute}][$notNull]=true`)).toEqual(['nothing'])
  })
}

rule('filters.3', 'booleans can be compared', async () => {
  expect(await request('filters[flag][$eq]=true')).toEqual(['first'])
  expect(await request('filters[flag][$ne]=true')).toEqual(['second', 'third'])
  expect(await request('filters[flag][$notNull]=true')).toEqual(['first', 'second', 'third'])
})

rule('filters.3', 'the case of a text matters, but for the collation of MariaDB', async () => {
  for (const served of [library, strapi]) {
    const [small, capital] = isOnMysql
      ? [
          ['small', 'capital'],
          ['small', 'capital'],
        ]
      : [['small'], ['capital']]
    expect(all(await served.request('/api/words?filters[text][$eq]=harbour'), 'name')).toEqual(small)
    expect(all(await served.request('/api/words?filters[text][$in]=HARBOUR'), 'name')).toEqual(capital)
    const others = all(await served.request('/api/words?filters[text][$ne]=harbour'), 'name')
    expect(others.includes('capital')).toBe(!isOnMysql)
  }
})

rule('filters.9', 'the empty text is a value', async () => {
  expect(all(await library.request('/api/words?filters[text]='), 'name')).toEqual(['empty'])
  expect(all(await library.request('/api/words?filters[text][$null]=true'), 'name')).toEqual(['missing'])
  expect(all(await library.request('/api/words?filters[text][$ne]='), 'name')).toEqual(
    Object.keys(words).filter((name) => name !== 'empty' && name !== 'missing'),
  )
})

rule('filters.10', '$between needs two values', async () => {
  for (const form of ['=1', '[0]=1', '[0]=1&filters[whole][$between][1]=2&filters[whole][$between][2]=3']) {
    const { status, body } = await library.request(`/api/samples?filters[whole][$between]${form}`)
    expect([form, status, body.error?.name]).toEqual([form, 400, 'ValidationError'])
  }
})

rule('filters.11', 'in a junction no value is neither met nor not met', async () => {
  expect(await request('filters[$not][$and][0][whole]=42&filters[$not][$and][1][flag]=true')).toEqual(['second', 'third'])
  expect(await request('filters[$not][$or][0][whole]=42&filters[$not][$or][1][name]=zzz')).toEqual(['second', 'third'])
  expect(await request('filters[$or][0][whole][$ne]=42&filters[$or][1][whole][$null]=true')).toEqual(['second', 'third', 'nothing'])
})
