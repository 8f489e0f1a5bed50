// A draft is in sync with its publication according to content, never to times; and publishing, unpublishing and
// discarding leave the lists of other documents in their order. Times never go back.
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { rule } from '../support/rule.js'
import type { Served } from '../support/serve.js'
import { goldenTokens, serveGolden } from '../support/serve.js'
import { sending } from './callers.js'

const token = goldenTokens().full!
let served: Served
beforeAll(async () => {
  served = await serveGolden({ config: { api: { rest: { contract: 'specification' } } } })
})
afterAll(() => served.close())
afterEach(() => void vi.useRealTimers())

const send = sending(() => served, token)
const make = async (path: string, data: object): Promise<string> => (await send('POST', path, data)).documentId
let made = 0
const tag = (data: object = {}, query = '') => make(`tags${query}`, { name: `Tag ${++made} ${Date.now()}`, ...data })
const product = (data: object = {}, query = '') => make(`products${query}`, { name: `Product ${++made}`, price: 1, ...data })
const act = (path: string, action: string) => send('POST', `${path}/actions/${action}`)

/** As if draft and publication were written in the same millisecond. */
const level = (table: string, documentId: string) =>
  served.sql(`update ${table} set updated_at = ? where document_id = ?`, 1_700_000_000_000, documentId)

/** True if lists report the document as modified; both states and both filters have to agree. */
async function isModified(plural: string, documentId: string): Promise<boolean> {
  const found = async (query: string) => (await send('GET', `${plural}?filters[documentId]=${documentId}&${query}`)).length === 1
  const modified = await found('publicationFilter=modified')
  expect(await found('publicationFilter=modified&status=draft')).toBe(modified)
  expect(await found('publicationFilter=unmodified')).toBe(!modified)
  expect(await found('publicationFilter=unmodified&status=draft')).toBe(!modified)
  return modified
}

describe.each([
  ['at the same moment', true],
  ['and nothing else writes to the database', false],
])('a draft that differs from its publication %s', (_when, sameMoment) => {
  const [picture, another] = [6, 3]
  test.each([
    ['a value', { stock: 7 }, (row: Row) => row.stock, 7],
    ['a password-like large number', { barcode: '9007199254740993' }, (row: Row) => row.barcode, '9007199254740993'],
    ['a component', { dimensions: { width: 3 } }, (row: Row) => row.dimensions.width, 3],
    ['an entry of a list of components', { variants: [{ name: 'b' }] }, (row: Row) => row.variants.map(({ name }) => name), ['b']],
    ['files in another order', { images: [picture, another] }, (row: Row) => row.images.map(({ id }) => id), [picture, another]],
  ])('%s: is found, and published by the next PUT', async (_name, drafted, shown, expected) => {
    const id = await product({
      images: [another, picture],
      variants: [{ name: 'a' }],
      dimensions: { width: 2 },
      barcode: '9007199254740992',
    })
    expect(await isModified('products', id)).toBe(false)
    // Known to be in sync, for as long as nothing writes to it.
    await send('PUT', `products/${id}`, { weight: 1 })
    await send('PUT', `products/${id}?status=draft`, drafted)
    if (sameMoment) await level('products', id)
    expect(await isModified('products', id)).toBe(true)
    await send('PUT', `products/${id}`, { weight: 2.5 })
    expect(shown(await send('GET', `products/${id}?populate=*`))).toEqual(expected)
    expect(await isModified('products', id)).toBe(false)
  })

  interface Row {
    readonly stock: number
    readonly barcode: string
    readonly dimensions: { readonly width: number }
    readonly variants: readonly { readonly name: string }[]
    readonly images: readonly { readonly id: number }[]
  }

  test('relations, from either side', async () => {
    const [one, other, third] = [await tag(), await tag(), await tag()]
    const id = await product({ tags: [one, other] })
    await send('PUT', `products/${id}`, { stock: 0 })
    await send('PUT', `tags/${third}`, { weight: 0 })
    await send('PUT', `products/${id}?status=draft`, { tags: [other, one] })
    if (sameMoment) await level('products', id)
    expect(await isModified('products', id)).toBe(true)
    await send('PUT', `products/${id}`, { stock: 1 })
    expect((await send('GET', `products/${id}?populate=tags`)).tags.map(({ documentId }: { documentId: string }) => documentId)).toEqual([
      other,
      one,
    ])
    await send('PUT', `tags/${third}?status=draft`, { products: [id] })
    if (sameMoment) await level('tags', third)
    expect([await isModified('products', id), await isModified('tags', third)]).toEqual([true, true])
    await send('PUT', `products/${id}`, { stock: 2 })
    expect((await send('GET', `products/${id}?populate=tags`)).tags).toHaveLength(3)
    expect([await isModified('products', id), await isModified('tags', third)]).toEqual([false, false])
  })

  test.each(['put', 'publish'])('a link that waited for a document, and that its draft has no more: %s', async (way) => {
    const lone = await tag()
    const id = await product({ tags: [lone] })
    await send('PUT', `products/${id}`, { stock: 0 })
    await act(`tags/${lone}`, 'unpublish')
    await send('PUT', `tags/${lone}?status=draft`, { products: [] })
    await act(`tags/${lone}`, 'publish')
    const tags = async () => (await send('GET', `products/${id}?populate=tags`)).tags
    expect(await tags()).toHaveLength(1)
    expect([await isModified('products', id), await isModified('tags', lone)]).toEqual([true, true])
    await (way === 'put' ? send('PUT', `tags/${lone}`, { weight: 1 }) : act(`tags/${lone}`, 'publish'))
    expect(await tags()).toEqual([])
    expect([await isModified('products', id), await isModified('tags', lone)]).toEqual([false, false])
  })

  test('a link that waited, from a draft in sync that has lost it by a PUT that publishes the other side', async () => {
    const lone = await tag()
    const id = await product()
    await act(`tags/${lone}`, 'unpublish')
    await send('PUT', `products/${id}`, { tags: [lone] })
    await send('PUT', `tags/${lone}`, { products: [] })
    expect((await send('GET', `products/${id}?populate=tags`)).tags).toEqual([])
    expect(await isModified('products', id)).toBe(false)
    await send('PUT', `products/${id}`, { stock: 1 })
    expect(await isModified('products', id)).toBe(false)
  })

  test('a link that waited, from a draft that has lost it by the draft of the other side, which is published afterwards', async () => {
    const lone = await tag()
    const id = await product()
    await act(`tags/${lone}`, 'unpublish')
    await send('PUT', `products/${id}`, { tags: [lone] })
    await send('PUT', `tags/${lone}?status=draft`, { products: [] })
    await send('PUT', `tags/${lone}`, { weight: 1 })
    expect(await isModified('products', id)).toBe(true)
    await send('PUT', `products/${id}`, { stock: 1 })
    expect((await send('GET', `products/${id}?populate=tags`)).tags).toEqual([])
    expect(await isModified('products', id)).toBe(false)
  })

  test('a row that another program has written without a trace', async () => {
    const id = await tag({ color: '#000000' })
    for (const weight of [1, 2]) await send('PUT', `tags/${id}`, { weight })
    await served.sql("update tags set color = '#ffffff' where document_id = ? and published_at is null", id)
    expect(await isModified('tags', id)).toBe(true)
    await send('PUT', `tags/${id}`, { weight: 5 })
    expect((await send('GET', `tags/${id}`)).color).toBe('#ffffff')
    // And the reverse: a draft that was saved with its former value.
    await send('PUT', `tags/${id}?status=draft`, { color: '#ffffff' })
    expect(await isModified('tags', id)).toBe(false)
  })

  test('under writes side by side nothing that was drafted is left out', async () => {
    const ids = [await tag(), await tag(), await tag()]
    for (let round = 1; round <= 12; round++) {
      await Promise.all(
        ids.flatMap((id) => [
          send('PUT', `tags/${id}`, { weight: round }),
          send('PUT', `tags/${id}?status=draft`, { color: `#${String(round).padStart(6, '0')}` }),
        ]),
      )
      for (const id of ids) {
        await send('PUT', `tags/${id}`, { weight: -round })
        expect(await send('GET', `tags/${id}`)).toMatchObject({ weight: -round, color: `#${String(round).padStart(6, '0')}` })
        expect(await isModified('tags', id)).toBe(false)
      }
    }
  })
})

describe('lists of other documents keep their order', () => {
  const listed = async (id: string, status: string, attribute = 'tags', plural = 'products') =>
    (await send('GET', `${plural}/${id}?populate=${attribute}&status=${status}`))[attribute].map(
      ({ documentId }: { documentId: string }) => documentId,
    )

  rule('writing.26', 'when a document that they name is published, discarded, unpublished and published again', async () => {
    const [a, b, c] = [await tag(), await tag(), await tag()]
    const id = await product({ tags: [a, b, c] })
    await send('PUT', `products/${id}?status=draft`, { tags: [c, b, a] })
    for (const action of ['publish', 'discard', 'publish']) {
      for (const each of [a, b, c]) await act(`tags/${each}`, action)
      expect([await listed(id, 'published'), await listed(id, 'draft')], action).toEqual([
        [a, b, c],
        [c, b, a],
      ])
    }
    for (const each of [b, a]) {
      await act(`tags/${each}`, 'unpublish')
      await act(`tags/${each}`, 'publish')
    }
    expect([await listed(id, 'published'), await listed(id, 'draft')]).toEqual([
      [a, b, c],
      [c, b, a],
    ])
  })

  rule('writing.26', 'also from the side that owns the links, and where documents of a type are related to each other', async () => {
    const lone = await tag()
    const ids = [await product({ tags: [lone] }), await product({ tags: [lone] }), await product({ tags: [lone] })]
    const reversed = ids.toReversed()
    await send('PUT', `tags/${lone}?status=draft`, { products: reversed })
    for (const action of ['publish', 'discard']) {
      for (const id of ids) await act(`products/${id}`, action)
      expect([await listed(lone, 'published', 'products', 'tags'), await listed(lone, 'draft', 'products', 'tags')]).toEqual([
        ids,
        reversed,
      ])
    }
    const articles = []
    for (const title of ['One', 'Two', 'Three']) articles.push(await make('articles', { title: `${title} ${made}` }))
    const hub = await make('articles', { title: `Hub ${made}`, related: articles })
    await send('PUT', `articles/${hub}?status=draft`, { related: articles.toReversed() })
    for (const action of ['publish', 'discard', 'unpublish', 'publish']) {
      for (const id of articles) await act(`articles/${id}`, action)
      const now = action === 'unpublish' ? [] : articles
      expect([await listed(hub, 'published', 'related', 'articles'), await listed(hub, 'draft', 'related', 'articles')], action).toEqual([
        now,
        articles.toReversed(),
      ])
    }
  })

  rule('writing.26', 'a document new to a list takes its position in the draft', async () => {
    const [a, x, b] = [await tag(), await tag({}, '?status=draft'), await tag()]
    const id = await product({ tags: [a, x, b] })
    expect(await listed(id, 'published')).toEqual([a, b])
    await act(`tags/${x}`, 'publish')
    expect(await listed(id, 'published')).toEqual([a, x, b])
    const between = await tag({}, '?status=draft')
    await send('PUT', `products/${id}?status=draft`, { tags: { connect: [{ documentId: between, position: { after: a } }] } })
    await act(`tags/${between}`, 'publish')
    expect(await listed(id, 'published')).toEqual([a, between, x, b])
  })

  rule('writing.26', 'a document that is discarded comes back to its place, also between documents that are not published', async () => {
    const [a, b, c] = [await tag(), await tag(), await tag()]
    const id = await product({ tags: [a, b, c] })
    for (const each of [a, c]) await act(`tags/${each}`, 'unpublish')
    await send('PUT', `tags/${b}?status=draft`, { products: [] })
    expect(await listed(id, 'draft')).toEqual([a, c])
    await act(`tags/${b}`, 'discard')
    expect(await listed(id, 'draft')).toEqual([a, b, c])
    expect(await isModified('products', id)).toBe(false)
  })

  rule('writing.26', 'discarding a document takes no links away from drafts that were never published', async () => {
    const lone = await tag()
    const drafted = await product({ tags: [lone] }, '?status=draft')
    await act(`tags/${lone}`, 'discard')
    expect(await listed(drafted, 'draft')).toEqual([lone])
  })
})

rule('writing.25', 'timestamps never go back, even if the clock does', async () => {
  const id = await product({ stock: 1 })
  const moments = async () => {
    const rows = await Promise.all(['draft', 'published'].map((status) => send('GET', `products/${id}?status=${status}`)))
    for (const { createdAt, updatedAt } of rows) expect(Date.parse(updatedAt)).toBeGreaterThanOrEqual(Date.parse(createdAt))
    return rows.map(({ updatedAt }) => Date.parse(updatedAt))
  }
  let before = await moments()
  vi.useFakeTimers({ toFake: ['Date'] })
  for (const [step, run] of [
    [-3_600_000, () => send('PUT', `products/${id}?status=draft`, { stock: 2 })],
    [-7_200_000, () => send('PUT', `products/${id}`, { stock: 3 })],
    [-1_800_000, () => send('PUT', `products/${id}?locale=fr`, { name: 'Produit' })],
    [60_000, () => send('PUT', `products/${id}?status=draft`, { stock: 4 })],
    [-60_000, () => act(`products/${id}`, 'discard')],
    [-90_000, () => act(`products/${id}`, 'publish')],
  ] as const) {
    vi.setSystemTime(Date.now() + step)
    await run()
    const after = await moments()
    after.forEach((moment, index) => {
      expect(moment).toBeGreaterThanOrEqual(before[index]!)
    })
    before = after
  }
})

rule('writing.25', 'other locales change with shared values, and each write publishes types without drafts', async () => {
  const moments = async (path: string) => {
    const { updatedAt, publishedAt } = await send('GET', path)
    return { updated: Date.parse(updatedAt), published: Date.parse(publishedAt) }
  }
  const later = () => new Promise((resolve) => setTimeout(resolve, 5))
  const id = await product({ stock: 1 })
  await send('PUT', `products/${id}?locale=fr`, { name: 'Produit' })
  const french = await moments(`products/${id}?locale=fr`)
  const drafted = await moments(`products/${id}?locale=fr&status=draft`)
  await later()
  await send('PUT', `products/${id}`, { stock: 2 })
  const shared = await moments(`products/${id}?locale=fr`)
  expect(shared.updated).toBeGreaterThan(french.updated)
  expect(shared.published).toBe(french.published)
  await later()
  await send('PUT', `products/${id}?status=draft`, { stock: 3 })
  expect((await moments(`products/${id}?locale=fr`)).updated).toBe(shared.updated)
  expect((await moments(`products/${id}?locale=fr&status=draft`)).updated).toBeGreaterThan(drafted.updated)

  const author = await make('authors', { name: `Author ${Date.now()}` })
  const written = await moments(`authors/${author}`)
  await later()
  await send('PUT', `authors/${author}`, { bio: 'x' })
  const again = await moments(`authors/${author}`)
  expect(again.published).toBeGreaterThan(written.published)
  expect(again.published).toBe(again.updated)
})

rule('status.7', 'a write returns its document, regardless of conditions on its versions', async () => {
  for (const query of ['publicationFilter=modified', 'publicationFilter=new', 'hasPublishedVersion=false', 'hasPublishedVersion=x']) {
    const name = `Tag ${query} ${Date.now()}`
    expect((await send('POST', `tags?${query}`, { name })).name).toBe(name)
  }
})
