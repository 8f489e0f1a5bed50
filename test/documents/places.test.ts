// Every target of an entry has a separate position, also if a link is created from the other side: when a target is published
// that was linked to the draft, or one that the published entry was waiting for.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { processCpuMs } from '../support/cpu-time.js'
import { isOnServer } from '../support/databases.js'
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

/** 10,000 numbers from 1, as a table. */
const digits = Array.from({ length: 10 }, (_, digit) => `select ${digit} as d`).join(' union all ')
const numbers = `(select a.d + 10 * b.d + 100 * c.d + 1000 * d.d + 1 as n from (${digits}) a, (${digits}) b, (${digits}) c, (${digits}) d) numbers`
const firstId = 1_000_000

test.each([
  {
    attribute: 'tags',
    kind: 'tag',
    rows: "insert into tags (id, document_id, name) select ? + n, concat('tag', n), 'Many'",
    links: 'insert into articles_tags_lnk (article_id, tag_id, tag_ord, article_ord) select ?, ? + n, n, 1',
  },
  {
    attribute: 'comments',
    kind: 'comment',
    rows: "insert into comments (id, document_id, body) select ? + n, concat('comment', n), 'Many'",
    links: `insert into comments_subjects_mph (subjects_id, comment_id, "order", subjects_type, field)
      select ?, ? + n, n, 'api::article.article', 'comments'`,
  },
])('moving one of 10,000 $attribute takes about four times the work of moving one of 2,500', async ({ attribute, kind, rows, links }) => {
  // SQLite plans by statistics from before the links.
  if (!isOnServer) await served.sql('analyze')
  await served.sql(`${rows} from ${numbers}`, firstId)
  const workOf = async (count: number) => {
    const article = await send('POST', '/api/articles?status=draft', { title: `Many ${count}` })
    const [row] = await served.sql('select id from articles where document_id = ?', article)
    await served.sql(`${links} from ${numbers} where n <= ${count}`, Number(row!.id), firstId)
    const move = (number: number) =>
      send('PUT', `/api/articles/${article}?status=draft`, {
        [attribute]: { connect: [{ documentId: `${kind}${number}`, position: { start: true } }] },
      })
    await move(count)
    const before = processCpuMs()
    for (const number of [count / 2, count - 1, 3]) await move(number)
    const { body } = await served.request(`/api/articles/${article}?status=draft&populate[${attribute}][fields]=id`, { token })
    const order = body.data[attribute].map(({ documentId }: { documentId: string }) => Number(documentId.slice(kind.length)))
    expect(order.slice(0, 5)).toEqual([3, count - 1, count / 2, count, 1])
    expect(new Set(order).size).toBe(count)
    return processCpuMs() - before
  }
  const small = await workOf(2500)
  expect((await workOf(10_000)) / small).toBeLessThan(8)
})
