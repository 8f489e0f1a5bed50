// Defaults of the project for the queries of a type.
import { afterAll, beforeAll, expect } from 'vitest'
import { rule } from '../support/rule.js'
import type { Served } from '../support/serve.js'
import { goldenTokens, serveGolden } from '../support/serve.js'
import { addToken, secrets } from './callers.js'

const { full } = goldenTokens() as { full: string }
const article = 'api::article.article'
const homepage = 'api::homepage.homepage'

let served: Served
beforeAll(async () => {
  served = await serveGolden({
    code: {
      types: {
        [article]: {
          defaults: {
            populate: { author: { fields: ['name'] } },
            fields: ['title'],
            sort: 'title:desc',
            filters: { rank: { $notNull: true } },
            pageSize: 3,
          },
        },
        [homepage]: { defaults: { populate: ['hero'] } },
      },
    },
  })
})
afterAll(() => served.close())

const get = async (query: string, token = full) => (await served.request(`/api/${query}`, { token })).body

rule('defaults.1', 'omitted parameters come from the defaults, given ones win', async () => {
  const asked =
    'articles?populate[author][fields][0]=name&fields[0]=title&sort=title:desc&filters[rank][$notNull]=true&pagination[pageSize]=3'
  expect(await get('articles')).toEqual(await get(asked))
  expect((await get('articles')).meta.pagination.pageSize).toBe(3)
  expect((await get('articles?pagination[page]=2')).meta.pagination).toMatchObject({ page: 2, pageSize: 3 })
  expect((await get('articles?pagination[limit]=5')).data).toHaveLength(5)
  const [first] = (await get('articles?populate=tags&fields[0]=slug')).data
  expect(Object.keys(first)).toEqual(['id', 'documentId', 'slug', 'tags'])
  const { documentId } = first
  expect(Object.keys((await get(`articles/${documentId}`)).data)).toEqual(['id', 'documentId', 'title', 'author'])
  expect((await get('homepage')).data).toHaveProperty('hero')
  expect((await get('homepage?populate=seo')).data).not.toHaveProperty('hero')
})

rule('defaults.2', 'permissions apply to defaults; writes and scripts have none', async () => {
  const [{ documentId }] = (await get('articles')).data
  const put = await served.request(`/api/articles/${documentId}`, {
    method: 'PUT',
    token: full,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ data: {} }),
  })
  expect(put.body.data).toHaveProperty('slug')
  expect(put.body.data).not.toHaveProperty('author')
  expect(await served.service.documents(article).findFirst()).toHaveProperty('slug')
  const beside = await serveGolden({ environment: secrets, code: { types: { [article]: { defaults: { populate: ['author', 'tags'] } } } } })
  try {
    await addToken(beside, 'articles-only', { type: 'custom', actions: [`${article}.find`, 'api::tag.tag.find'] })
    const [shown] = (await beside.request('/api/articles', { token: 'articles-only' })).body.data
    expect(shown).toHaveProperty('tags')
    expect(shown).not.toHaveProperty('author')
  } finally {
    await beside.close()
  }
})

rule('defaults.3', 'defaults that no request could have are refused at the start', async () => {
  const start = (defaults: object, uid = article) => serveGolden({ code: { types: { [uid]: { defaults } } } })
  await expect(start({ populate: ['autor'] })).rejects.toThrow(`types: the defaults of ${article}: Invalid key autor`)
  await expect(start({ sort: 'title:down' })).rejects.toThrow(`types: the defaults of ${article}: `)
  await expect(start({ fields: ['title'] }, 'api::nothing.nothing')).rejects.toThrow('there is no type api::nothing.nothing')
  await expect(start({ fields: ['name'] }, 'plugin::upload.file')).rejects.toThrow('plugin::upload.file cannot have settings')
})
