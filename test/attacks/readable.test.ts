// Content of responses: no private value at any depth, nothing of a type that the caller may not
// find, nothing of drafts.
import { describe, expect, test } from 'vitest'
import type { Attribute } from '../../src/model/schema/types.js'
import { attackFixture, callers, model } from './fixture.js'

const shapes = [...model.types.values(), ...model.components.values()]
const isHidden = (attribute: Attribute): boolean => attribute.private || (attribute.kind === 'scalar' && attribute.type === 'password')
const readableNames = new Set(
  shapes.flatMap((shape) => [...shape.attributes.values()].filter((one) => !isHidden(one)).map(({ name }) => name)),
)
/** Names that only hidden attributes have. */
const hiddenNames = new Set(
  shapes
    .flatMap((shape) => [...shape.attributes.values()].filter(isHidden).map(({ name }) => name))
    .filter((name) => !readableNames.has(name)),
)

/** Every key of every object of a response. */
function keysOf(value: unknown, into = new Set<string>()): ReadonlySet<string> {
  if (typeof value !== 'object' || value === null) return into
  for (const [key, inner] of Object.entries(value)) {
    if (!Array.isArray(value)) into.add(key)
    keysOf(inner, into)
  }
  return into
}

const hiddenKeys = (body: unknown): readonly string[] => [...keysOf(body)].filter((key) => hiddenNames.has(key))

const populates = [
  'populate=*',
  'populate[author]=true',
  'populate[author][populate]=*',
  'populate[blocks][populate]=*',
  'populate[localizations]=true',
  'populate[localizations][populate]=*',
  'populate[owner][populate]=*',
  'populate[cover][populate]=*',
  'populate[comments][populate]=*',
  'populate[blocks][on][blocks.rich]=true',
  'populate=author.articles.author,tags.articles,seo.og,category.parent',
]

describe.each(['strapi', 'specification'] as const)('with the contract %s', (contract) => {
  const { request, look } = attackFixture(contract)
  const allowed = callers.filter((caller) => !['carol', 'dan', 'expired', 'wrong'].includes(caller))

  test('S019 the names that must not be seen are those that this test looks for', () => {
    for (const name of 'internalNote secretCode salary pin hidden createdBy updatedBy resetPasswordToken'.split(' '))
      expect(hiddenNames).toContain(name)
  })

  test('S019 no populate of an article shows a hidden attribute to anybody', async () => {
    for (const as of allowed) {
      for (const populate of populates) {
        for (const headers of [{}, { 'strapi-response-format': 'v4' }] as Record<string, string>[]) {
          const { status, body } = await request(`/articles?${populate}&status=draft&locale=*&pagination[pageSize]=25`, { as, headers })
          expect(status, `${as}: ${populate}`).toBe(200)
          expect(hiddenKeys(body), `${as}: ${populate}`).toEqual([])
        }
      }
    }
  })

  test('S019 no list of any type shows a hidden attribute, with everything populated two levels deep', async () => {
    for (const [path, type] of model.paths) {
      const ways = [...type.attributes.values()]
        .filter(({ kind }) => kind !== 'scalar' && kind !== 'morphTo')
        .filter((attribute) => !isHidden(attribute))
      const queries = ['', 'populate=*', ...ways.map(({ name }) => `populate[${name}][populate]=*`)]
      for (const as of ['public', 'full'] as const) {
        for (const query of queries) {
          const { body } = await request(`/${path}?${query}&pagination[pageSize]=10`, { as })
          expect(hiddenKeys(body), `${as}: ${path}?${query}`).toEqual([])
        }
      }
    }
  })

  test('S022 relations to what the caller may not find are left out, however they are populated', async () => {
    const ways = [
      'populate=note',
      'populate[note][fields][0]=text',
      'populate[note][populate]=*',
      'populate[note][count]=true',
      'populate=*',
      'populate[0]=note',
    ]
    for (const way of ways) {
      const { status, body } = await request(`/articles?${way}&pagination[pageSize]=100`)
      expect(status, way).toBe(200)
      for (const article of body.data) expect(Object.keys(article), way).not.toContain('note')
    }
    for (const way of [
      'populate[author][populate][profile][populate]=secret',
      'populate[0]=author.profile.secret',
      'populate=author.profile.secret,author',
    ]) {
      const { status, body } = await request(`/articles?${way}&pagination[pageSize]=100`)
      expect(status, way).toBe(200)
      expect([...keysOf(body)], way).not.toContain('secret')
    }
    for (const way of ['populate[blocks][populate]=*', 'populate[blocks][on][blocks.quote][populate]=note']) {
      const quotes = (await request(`/articles?${way}&pagination[pageSize]=100`)).body.data.flatMap(
        ({ blocks }: { blocks: object[] }) => blocks,
      )
      expect(quotes.length, way).toBeGreaterThan(0)
      expect([...keysOf(quotes)], way).not.toContain('note')
    }
  })

  test('S022 callers with permission for secret notes do see them', async () => {
    const { text } = await request('/articles?populate=note&pagination[pageSize]=100&filters[note][id][$notNull]=true', { as: 'bob' })
    expect(text).toMatch(/verborgen[0-9a-f]{12}/)
  })

  test('S023 conditions inside populate cannot go through what the caller may not find', async () => {
    const plain = await request('/articles?populate[author][populate][profile]=true')
    for (const condition of [
      '[secret][level][$gt]=0',
      '[secret][text][$startsWith]=verborgen',
      '[$not][secret][id][$null]=true',
      '[secret][id]=1',
      '[secret][$null]=true',
    ]) {
      const answer = await request(`/articles?populate[author][populate][profile][filters]${condition}`)
      if (answer.status === 400) continue
      expect(answer.text, condition).toBe(plain.text)
    }
    const sorted = await request('/articles?populate[author][populate][profile][sort]=secret.text')
    if (sorted.status !== 400) expect(sorted.text).toBe(plain.text)
  })

  test('S028 a document that has only a draft looks like a missing one', async () => {
    const [draftOnly] = await look('select document_id from articles group by document_id having max(published_at) is null limit 1')
    const [existing, missing] = await Promise.all([request(`/articles/${draftOnly}`), request('/articles/zzzzzzzzzzzzzzzzzzzzzzzz')])
    expect(existing.status).toBe(404)
    expect(existing.text).toBe(missing.text)
    const headers = ({ headers }: typeof missing) => [...headers].filter(([name]) => !['x-request-id', 'date'].includes(name))
    expect(headers(existing)).toEqual(headers(missing))
    expect((await request(`/articles/${draftOnly}?status=draft`)).status).toBe(200)
  })

  test('S029 drafts are shown to those who may find, and keep their private values', async () => {
    const { status, body } = await request('/articles?status=draft&populate=*&pagination[pageSize]=100')
    expect(status).toBe(200)
    expect(body.data.length).toBeGreaterThan(0)
    expect(hiddenKeys(body)).toEqual([])
    expect((await request('/secret-notes?status=draft')).status).toBe(403)
  })
})
