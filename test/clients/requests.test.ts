// Requests as other clients send them: gatsby-source-strapi reads whole types page by page, @nuxtjs/strapi leaves brackets as
// they are.
import qs from 'qs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Served } from '../support/serve.js'
import { goldenTokens, serveGolden } from '../support/serve.js'

const token = goldenTokens().full!
let served: Served
beforeAll(async () => {
  served = await serveGolden()
})
afterAll(() => served.close())

const asGatsby = (path: string, parameters: object) =>
  served.request(`${path}?${qs.stringify(parameters, { encodeValuesOnly: true })}`, { token })

test('gatsby-source-strapi: the types, then all pages of each, then the changes', async () => {
  const [types, components] = await Promise.all(
    ['content-types', 'components'].map((what) => served.request(`/api/content-type-builder/${what}`, { token })),
  )
  const article = types!.body.data.find(({ uid }: { uid: string }) => uid === 'api::article.article')
  expect(article.schema).toMatchObject({ pluralName: 'articles', kind: 'collectionType', attributes: { title: { type: 'string' } } })
  expect(components!.body.data.length).toBeGreaterThan(0)
  const parameters = { pagination: { pageSize: 100, page: 1 }, populate: '*' }
  const first = await asGatsby('/api/articles', parameters)
  const { pageCount, total } = first.body.meta.pagination
  const rest = await Promise.all(
    Array.from({ length: pageCount - 1 }, (_, index) =>
      asGatsby('/api/articles', { ...parameters, pagination: { pageSize: 100, page: index + 2 } }),
    ),
  )
  const ids = [first, ...rest].flatMap(({ body }) => body.data.map(({ documentId }: { documentId: string }) => documentId))
  expect([pageCount > 1, ids.length, new Set(ids).size]).toEqual([true, total, total])
  const since = (milliseconds: number) => asGatsby('/api/articles', { ...parameters, filters: { updatedAt: { $gt: milliseconds } } })
  expect((await since(0)).body.meta.pagination.total).toBe(total)
  expect((await since(Date.now())).body.meta.pagination.total).toBe(0)
})

test('@nuxtjs/strapi: unencoded brackets and indexed lists', async () => {
  const path =
    '/api/articles?populate[0]=author&populate[1]=tags&sort[0]=title:desc&filters[title][$in][0]=Amber 30&filters[title][$in][1]=Saddle 40'
  const { status, body } = await served.request(path)
  expect(status).toBe(200)
  expect(body.data.map(({ title }: { title: string }) => title)).toEqual(['Saddle 40', 'Amber 30'])
  for (const article of body.data) expect(Object.keys(article)).toEqual(expect.arrayContaining(['author', 'tags']))
})
