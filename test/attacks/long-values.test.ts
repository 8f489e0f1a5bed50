// Operators on texts with long values: they find what a plain search finds, in time that grows with the length of the text alone.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { addToken, secrets } from '../spec/callers.js'
import { access, contentType, reading } from '../spec/library.js'
import { processCpuMs } from '../support/cpu-time.js'
import type { Served } from '../support/serve.js'
import { serveProject } from '../support/serve.js'

const project = { ...contentType('note', { text: { type: 'text' } }), ...access(reading('note')) }
const texts = [
  `${'ab'.repeat(40)}c`,
  `${'Ab'.repeat(40)}C%_\\`,
  'x'.repeat(60),
  `needle ${'in a haystack '.repeat(5)}`,
  `ÄÖÜ${'äöü'.repeat(20)}`,
  'short',
  null,
]
const values = [
  'abababababababababc',
  'ABABABABABABABABABC',
  'x'.repeat(61),
  'x'.repeat(17),
  'in a haystack in a haystack ',
  'bababababababababc%_\\',
  'äöüäöüäöüäöüäöüäöüäöü',
  'ÄÖÜÄÖÜäöüäöüäöüäöüäöü',
  'c',
  'short',
  'a%b_a%b_a%b_a%b_a%b_',
]

const lower = (text: string) => text.replace(/[A-Z]/g, (letter) => letter.toLowerCase())
const fold = (text: string) => text.toLowerCase()
const same = (text: string) => text
const searches: Readonly<Record<string, (text: string, value: string) => boolean>> = {
  $contains: (text, value) => text.includes(value),
  $startsWith: (text, value) => text.startsWith(value),
  $endsWith: (text, value) => text.endsWith(value),
}

let served: Record<'specification' | 'strapi', Served>
beforeAll(async () => {
  const serve = async (contract: 'specification' | 'strapi') => {
    const one = await serveProject(project, { config: { api: { rest: { contract } } }, environment: secrets })
    await addToken(one, 'full', { type: 'full-access' })
    for (const text of [...texts, 'a'.repeat(1_000_000), `${'a'.repeat(500_000)}b${'a'.repeat(400_000)}`]) {
      const body = JSON.stringify({ data: { text } })
      const { status } = await one.request('/api/notes', {
        method: 'POST',
        token: 'full',
        headers: { 'content-type': 'application/json' },
        body,
      })
      expect(status).toBe(201)
    }
    return one
  }
  served = { specification: await serve('specification'), strapi: await serve('strapi') }
})
afterAll(async () => {
  await served.specification.close()
  await served.strapi.close()
})

test.each(['specification', 'strapi'] as const)('long values are found as short ones are: %s', async (contract) => {
  for (const [operator, finds] of Object.entries(searches)) {
    for (const [name, form] of [
      [operator, contract === 'strapi' ? lower : same],
      [`${operator}i`, contract === 'strapi' ? lower : fold],
    ] as const) {
      for (const value of values) {
        const query = `filters[text][${name}]=${encodeURIComponent(value)}&filters[id][$lte]=${texts.length}&sort=id&fields=id`
        const { body } = await served[contract].request(`/api/notes?${query}`)
        const wanted = texts.flatMap((text, index) => (text !== null && finds(form(text), form(value)) ? [index + 1] : []))
        expect(
          body.data.map(({ id }: { id: number }) => id),
          `${contract} ${name} ${value}`,
        ).toEqual(wanted)
      }
    }
  }
})

test.each(['specification', 'strapi'] as const)(
  'the longest values that almost fit take as long as those that do not: %s',
  async (contract) => {
    const long = (letter: string) => letter.repeat(14_000)
    const half = (letter: string) => letter.repeat(7_000)
    const timeOf = async (letter: string) => {
      const before = processCpuMs()
      for (const operator of [
        '$contains',
        '$containsi',
        '$notContains',
        '$endsWith',
        '$endsWithi',
        '$startsWith',
        '$startsWithi',
        '$eqi',
      ]) {
        for (const value of [`${long(letter)}b`, `b${long(letter)}`, `${half(letter)}b${half(letter)}`, `${letter}%`.repeat(3_000)]) {
          const { status } = await served[contract].request(`/api/notes?filters[text][${operator}]=${encodeURIComponent(value)}&fields=id`)
          expect([status, operator]).toEqual([200, operator])
        }
      }
      expect((await served[contract].request(`/api/notes?_q=${long(letter)}b&fields=id`)).status).toBe(200)
      return processCpuMs() - before
    }
    const none = await timeOf('z')
    expect((await timeOf('a')) / none).toBeLessThan(20)
  },
)
