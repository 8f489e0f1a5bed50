// Every target of an entry has a separate position, also if a link is created from the other side: when a target is published
// that was linked to the draft, or one that the published entry was waiting for.
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Served } from '../support/serve.js'
import { goldenTokens, serveGolden } from '../support/serve.js'

const token = goldenTokens().full!
let served: Served
beforeAll(async () => {
  served = await serveGolden()
})
afterAll(() => served.close())

async function send(method: string, path: string, data?: object): Promise<string> {
  const answer = await served.request(path, {
    method,
    token,
    ...(data === undefined ? {} : { headers: { 'content-type': 'application/json' }, body: JSON.stringify({ data }) }),
  })
  expect(answer.status, answer.text).toBeLessThan(300)
  return answer.body.data.documentId as string
}

/** The tags that the published article shows, in their order; all have separate positions. */
async function tagsOf(article: string): Promise<readonly string[]> {
  const { body } = await served.request(`/api/articles/${article}?populate[tags]=true`, { token })
  const published = 'select id from articles where document_id = ? and published_at is not null'
  const rows = await served.sql(`select tag_ord from articles_tags_lnk where article_id = (${published})`, article)
  const places = rows.map(({ tag_ord }) => tag_ord)
  expect(new Set(places).size).toBe(places.length)
  return body.data.tags.map(({ name }: { name: string }) => name)
}

test('a target that is published later is positioned after those of the published entry', async () => {
  const [first, second] = [await send('POST', '/api/tags', { name: 'Place A' }), await send('POST', '/api/tags', { name: 'Place B' })]
  const article = await send('POST', '/api/articles', { title: 'Places', tags: [first, second] })
  await send('PUT', `/api/articles/${article}?status=draft`, { tags: [second] })
  const third = await send('POST', '/api/tags?status=draft', { name: 'Place C', articles: [article] })
  await send('POST', `/api/tags/${third}/actions/publish`)
  expect(await tagsOf(article)).toEqual(['Place A', 'Place B', 'Place C'])
})

test('a target that was waited for takes the place that is kept for it', async () => {
  const [first, waited] = [
    await send('POST', '/api/tags', { name: 'Wait A' }),
    await send('POST', '/api/tags?status=draft', { name: 'Wait B' }),
  ]
  const article = await send('POST', '/api/articles', { title: 'Waiting', tags: [first, waited] })
  await send('PUT', `/api/articles/${article}?status=draft`, { tags: [first] })
  await send('POST', '/api/tags', { name: 'Wait C', articles: [article] })
  await send('POST', `/api/tags/${waited}/actions/publish`)
  expect(await tagsOf(article)).toEqual(['Wait A', 'Wait B', 'Wait C'])
})
