// Random operations over HTTP on documents, and on a model of them in memory: every version, every list and its order, totals and
// publicationFilter agree after each. `MODEL_SEEDS=20 MODEL_OPERATIONS=1200
// MODEL_EVERY=10` for more than a few seeds, compared after every tenth operation; `MODEL_FIRST` for the first seed.
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Served } from '../support/serve.js'
import { chances } from './chances.js'
import { type GoldenSender, serveSender } from './golden-sender.js'
import { type Change, type Data, Documents, defaultLocale, type Pair } from './model.js'

/** A product or a tag in a response. */
interface Row {
  readonly documentId: string
  readonly locale: string
  readonly name: string
  readonly color: string
  readonly price: number
  readonly stock: number
  readonly images: readonly { readonly id: number }[]
  readonly variants: readonly { readonly name: string }[]
  readonly dimensions: { readonly width: number } | null
  readonly tags: readonly { readonly documentId: string }[]
  readonly crossSell: readonly { readonly documentId: string }[]
  readonly products: readonly { readonly documentId: string }[]
}

const seeds = Number(process.env.MODEL_SEEDS ?? 2)
const operations = Number(process.env.MODEL_OPERATIONS ?? 60)
const first = Number(process.env.MODEL_FIRST ?? 1)
/** After how many operations all is compared. */
const every = Number(process.env.MODEL_EVERY ?? 1)
const locales = ['en', 'fr', 'de']
const [mostProducts, mostTags] = [6, 6]

let served: Served
let send: GoldenSender['send']
beforeAll(async () => {
  ;({ served, send } = await serveSender())
})
afterAll(() => served.close())

type Chances = ReturnType<typeof chances>

function change({ pick, some, is }: Chances, all: readonly string[], present: readonly string[]): Change {
  if (is(0.4)) return { set: some(all) }
  const disconnect = some(present).slice(0, 1)
  const [documentId] = some(all)
  if (documentId === undefined) return { disconnect }
  const others = present.filter((id) => id !== documentId && !disconnect.includes(id))
  const positions = [
    { start: true as const },
    { end: true as const },
    ...(others.length === 0 ? [] : [{ before: pick(others) }, { after: pick(others) }]),
  ]
  return {
    connect: [is(0.6) ? { documentId, position: pick(positions) } : { documentId }],
    disconnect: disconnect.filter((id) => id !== documentId),
  }
}

function dataOf(by: Chances, model: Documents, prefix: string, id: string | null, locale: string): Data {
  const { below, is, some } = by
  const tags = [...model.tags.keys()]
  const present = id === null ? [] : (model.pair(id, locale)?.draft.tags ?? [])
  const mates = [...model.products].filter(([other, pairs]) => other !== id && pairs.has(locale)).map(([other]) => other)
  return {
    ...(is(0.3) && { price: below(9) }),
    ...(is(0.3) && { stock: below(9) }),
    ...(is(0.2) && { images: some([3, 6, 9]) }),
    ...(is(0.2) && { variants: some(['a', 'b', 'c']) }),
    ...(is(0.2) && { width: is(0.3) ? null : below(9) }),
    ...(is(0.4) && { tags: change(by, tags, present) }),
    ...(is(0.2) && { crossSell: some(mates) }),
    ...(is(0.2) && { name: `${prefix} ${below(1000)}` }),
  }
}

const bodyOf = ({ variants, width, ...rest }: Data): object => ({
  ...rest,
  ...(variants !== undefined && { variants: variants.map((name) => ({ name })) }),
  ...(width !== undefined && { dimensions: width === null ? null : { width } }),
})

/** Runs one operation on the service and the model, and returns its description. */
async function operate(by: Chances, model: Documents, prefix: string): Promise<string> {
  const { below, pick, is } = by
  const isTag = model.products.size > 0 && is(0.35)
  if (
    isTag
      ? model.tags.size === 0 || (model.tags.size < mostTags && is(0.2))
      : model.products.size === 0 || (model.products.size < mostProducts && is(0.15))
  ) {
    const publishes = is(0.6)
    const query = publishes ? '' : '?status=draft'
    if (isTag) {
      const draft = { name: `${prefix} ${below(1e9)}`, color: '#000000' }
      const { data } = await send('POST', `tags${query}`, draft)
      model.tags.set(data.documentId, { draft, live: null, products: { draft: [], live: [] }, isLoose: false })
      if (publishes) model.publishTag(data.documentId)
      return `POST tags${query} → ${data.documentId}`
    }
    const locale = pick(locales)
    const data = { name: `${prefix} new`, price: 1, stock: 0, ...dataOf(by, model, prefix, null, locale) }
    const path = `products?locale=${locale}${publishes ? '' : '&status=draft'}`
    const { documentId } = (await send('POST', path, { ...bodyOf(data) })).data
    model.write(documentId, locale, data, publishes)
    return `POST ${path} ${JSON.stringify(data)} → ${documentId}`
  }
  if (isTag) return operateTag(by, model)
  const id = pick([...model.products.keys()])
  const pairs = model.products.get(id)!
  if (is(0.55)) {
    const locale = is(0.75) ? pick([...pairs.keys()]) : pick(locales)
    const data = { ...(pairs.has(locale) ? {} : { name: `${prefix} ${locale}` }), ...dataOf(by, model, prefix, id, locale) }
    const publishes = is(0.4)
    const path = `products/${id}?locale=${locale}${publishes ? '' : '&status=draft'}`
    await send('PUT', path, bodyOf(data))
    model.write(id, locale, data, publishes)
    return `PUT ${path} ${JSON.stringify(data)}`
  }
  const locale = pick([...pairs.keys()])
  if (is(0.15)) {
    const all = is(0.3)
    await send('DELETE', `products/${id}?locale=${all ? '*' : locale}`)
    model.remove(id, all ? null : locale)
    return `DELETE products/${id} ${all ? '*' : locale}`
  }
  const action = pairs.get(locale)!.live === null ? 'publish' : pick(['publish', 'unpublish', 'discard'] as const)
  await send('POST', `products/${id}/actions/${action}?locale=${locale}`)
  model[action](id, locale)
  return `${action} products/${id} ${locale}`
}

async function operateTag(by: Chances, model: Documents): Promise<string> {
  const { below, pick, is } = by
  const id = pick([...model.tags.keys()])
  const tag = model.tags.get(id)!
  if (is(0.4)) {
    const inDefault = [...model.products].filter(([, pairs]) => pairs.has(defaultLocale)).map(([each]) => each)
    const present = tag.products.draft.filter((key) => key.endsWith(` ${defaultLocale}`)).map((key) => key.split(' ')[0]!)
    const products: Change | null = is(0.6) ? change(by, inDefault, present) : null
    const plain = products?.connect ? { ...products, connect: products.connect.map(({ documentId }) => ({ documentId })) } : products
    const color = `#${String(below(1e6)).padStart(6, '0')}`
    const publishes = is(0.3)
    await send('PUT', `tags/${id}${publishes ? '' : '?status=draft'}`, { color, ...(plain && { products: plain }) })
    tag.draft.color = color
    if (plain) model.linkTag(id, plain)
    if (publishes) model.publishTag(id, plain !== null)
    return `PUT tags/${id} ${publishes} ${JSON.stringify({ color, products: plain })}`
  }
  if (is(0.1)) {
    await send('DELETE', `tags/${id}`)
    model.removeTag(id)
    return `DELETE tags/${id}`
  }
  const action = tag.live === null ? 'publish' : pick(['publish', 'unpublish', 'discard'] as const)
  await send('POST', `tags/${id}/actions/${action}`)
  if (action === 'publish') model.publishTag(id)
  else if (action === 'unpublish') model.unpublishTag(id)
  else model.discardTag(id)
  return `${action} tags/${id}`
}

const sorted = (entries: readonly string[]) => entries.toSorted()

/** Compares every version in lists of the service with the model. */
async function compare(model: Documents, prefix: string): Promise<void> {
  const own = `filters[name][$startsWith]=${encodeURIComponent(prefix)}&pagination[pageSize]=100`
  const ids = (rows: readonly { documentId: string }[]) => rows.map(({ documentId }) => documentId)
  const populate = 'populate[images]=true&populate[variants]=true&populate[dimensions]=true&populate[tags]=true&populate[crossSell]=true'
  for (const state of ['draft', 'live'] as const) {
    const status = state === 'draft' ? 'draft' : 'published'
    const { data, meta } = await send('GET', `products?${own}&locale=*&status=${status}&${populate}`)
    const shown = data.map((row: Row) =>
      JSON.stringify([
        row.documentId,
        row.locale,
        row.name,
        row.price,
        row.stock,
        fileIds(row.images),
        row.variants.map(({ name }) => name),
        row.dimensions?.width ?? null,
        ids(row.tags),
        ids(row.crossSell),
      ]),
    )
    const expected: string[] = []
    for (const [id, pairs] of model.products) {
      for (const [locale, pair] of pairs) {
        const version = pair[state]
        if (version === null) continue
        const { name, price, stock, images, variants, width } = version
        const lists =
          state === 'draft'
            ? [version.tags, version.crossSell]
            : [model.seen.tags(version.tags), model.seen.products(version.crossSell, locale)]
        expected.push(JSON.stringify([id, locale, name, price, stock, images, variants, width, ...lists]))
      }
    }
    expect(sorted(shown), status).toEqual(sorted(expected))
    expect(meta.pagination.total).toBe(expected.length)
    for (const filter of ['modified', 'unmodified']) {
      const found = (await send('GET', `products?${own}&locale=*&status=${status}&publicationFilter=${filter}`)).data
      const wanted = versions(model).filter(([, , pair]) => pair.live !== null && model.isModified(pair) === (filter === 'modified'))
      expect(sorted(found.map((row: Row) => `${row.documentId} ${row.locale}`)), `${status} ${filter}`).toEqual(
        sorted(wanted.map(([id, locale]) => `${id} ${locale}`)),
      )
    }
    const [sure, unsure] = [new Set<string>(), new Set<string>()]
    for (const [id, tag] of model.tags) {
      const is = model.isTagModified(tag)
      if (is !== false) (is ? sure : unsure).add(id)
    }
    const changedTags = ids((await send('GET', `tags?${own}&status=${status}&publicationFilter=modified`)).data)
    expect(sorted(changedTags.filter((id) => !unsure.has(id))), `${status} modified tags`).toEqual(sorted([...sure]))
    const tags = (await send('GET', `tags?${own}&status=${status}&populate[products]=true`)).data
    expect(sorted(ids(tags))).toEqual(sorted([...model.tags].filter(([, tag]) => tag[state] !== null).map(([id]) => id)))
    for (const row of tags) {
      const tag = model.tags.get(row.documentId)!
      expect(row.color).toBe(tag[state]!.color)
      const inDefault = tag.products[state].filter((key) => key.endsWith(` ${defaultLocale}`)).map((key) => key.split(' ')[0]!)
      const asIs = tag.isLoose ? sorted : (list: readonly string[]) => list
      expect(asIs(ids(row.products)), `products of tag ${row.documentId} ${status}`).toEqual(asIs(inDefault))
    }
  }
}

const fileIds = (files: readonly { id: number }[]) => files.map(({ id }) => id)
const versions = (model: Documents): readonly (readonly [string, string, Pair])[] =>
  [...model.products].flatMap(([id, pairs]) => [...pairs].map(([locale, pair]) => [id, locale, pair] as const))

test.each(Array.from({ length: seeds }, (_, index) => first + index))(
  'seed %i',
  async (seed) => {
    const [by, model, prefix] = [chances(seed), new Documents(), `Model ${seed} ${Date.now()}`]
    const trail: string[] = []
    for (let count = 0; count < operations; count++) {
      try {
        trail.push(await operate(by, model, prefix))
        if ((count + 1) % every === 0) await compare(model, prefix)
      } catch (error) {
        throw new Error(`Seed ${seed}, operation ${count + 1}:\n${trail.slice(-25).join('\n')}\n${(error as Error).message}`, {
          cause: error,
        })
      }
    }
  },
  30_000 + operations * 1_000,
)
