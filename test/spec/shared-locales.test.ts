// Shared values are the same in all locales after every kind of write, in drafts and in published versions: values, files, components.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Served } from '../support/serve.js'
import { goldenTokens, serveGolden } from '../support/serve.js'
import { servePublisher } from './writable-project.js'

const token = goldenTokens().full!

describe.each(['specification', 'strapi'] as const)('contract %s', (contract) => {
  let served: Served
  beforeAll(async () => {
    served = await serveGolden({ config: { api: { rest: { contract } } } })
  })
  afterAll(() => served.close())

  async function send(method: string, path: string, data?: object) {
    const answer = await served.request(`/api/products${path}`, {
      method,
      token,
      ...(data === undefined ? {} : { headers: { 'content-type': 'application/json' }, body: JSON.stringify({ data }) }),
    })
    expect(answer.status, answer.text).toBeLessThan(300)
    return answer.body.data
  }

  /** Shared values of a document's locales, each once for every differing state. */
  async function shared(id: string, status: string): Promise<readonly string[]> {
    const rows = await send('GET', `?locale=*&status=${status}&filters[documentId]=${id}&sort=locale&populate=*`)
    const text = (row: Record<string, unknown>) =>
      JSON.stringify(
        ['price', 'stock', 'sku', 'images', 'variants', 'dimensions'].map((name) => row[name]),
        (key, value) => (/^(id|documentId|related|.*At)$/.test(key) ? undefined : value),
      )
    return [...new Set<string>(rows.map(text))]
  }
  const translated = async () => {
    const { documentId } = await send('POST', '?locale=en', { name: 'English', price: 1, variants: [{ name: 'a' }] })
    await send('PUT', `/${documentId}?locale=fr`, { name: 'Français' })
    return documentId as string
  }

  test('files alone reach the published versions of other locales, as in Strapi', async () => {
    const id = await translated()
    for (const [locale, images] of [
      ['en', [6, 3]],
      ['en', [9]],
      ['fr', [3, 6]],
      ['fr', []],
    ] as const) {
      await send('PUT', `/${id}?locale=${locale}`, { images })
      const files = (await send('GET', `/${id}?locale=${locale === 'en' ? 'fr' : 'en'}&populate=images`)).images
      expect(files.map((file: { id: number }) => file.id)).toEqual(images)
      expect(await shared(id, 'published')).toHaveLength(1)
    }
    await send('PUT', `/${id}?locale=fr&status=draft`, { images: [9, 6] })
    expect((await send('GET', `/${id}?locale=en&status=draft&populate=images`)).images).toHaveLength(2)
    expect(await shared(id, 'draft')).toHaveLength(1)
  })

  test.runIf(contract === 'strapi')('an empty list in place of an empty one is no change that reaches others, as in Strapi', async () => {
    const { documentId } = await send('POST', '?status=draft&locale=fr', { name: 'Français' })
    await send('PUT', `/${documentId}?locale=en`, { name: 'English', price: 1, stock: 29 })
    const stock = async () => (await send('GET', `/${documentId}?locale=fr&status=draft`)).stock
    const before = await stock()
    await send('PUT', `/${documentId}?locale=en&status=draft`, { variants: [] })
    expect(await stock()).toBe(before)
    await send('PUT', `/${documentId}?locale=en&status=draft`, { variants: [{ name: 'a' }] })
    expect(await stock()).toBe(29)
  })

  test.runIf(contract === 'strapi')(
    'files are compared as well: a draft that differs in them alone shares them, as in Strapi',
    async () => {
      const { documentId } = await send('POST', '?status=draft&locale=en', { name: 'English', price: 1, images: [] })
      await send('PUT', `/${documentId}?locale=de`, { name: 'Deutsch', images: [6] })
      await send('PUT', `/${documentId}?status=draft&locale=en`, { name: 'In English' })
      expect((await send('GET', `/${documentId}?status=draft&locale=de&populate=images`)).images).toEqual([])
    },
  )

  test.runIf(contract === 'strapi')('without drafts too, components of other locales keep their ids where no value changes', async () => {
    const project = await servePublisher(contract)
    try {
      const made = await project.make('notices?locale=en&populate=parts', { text: 'English', parts: [{ heading: 'one' }] })
      const path = `notices/${made.documentId}`
      await project.change(`${path}?locale=de`, { text: 'Deutsch' })
      await project.change(`${path}?locale=de`, { parts: [{ heading: 'one' }] })
      expect((await project.read(`${path}?locale=en&populate=parts`)).parts).toEqual(made.parts)
      await project.change(`${path}?locale=en`, { menu: [{ id: 1, label: 'a' }] })
      await project.change(`${path}?locale=en`, { menu: [{ id: 2, label: 'a' }] })
      expect((await project.read(`${path}?locale=de`)).menu).toEqual([{ id: 2, label: 'a' }])
      const [part] = (await project.read(`${path}?locale=en&populate=parts`)).parts
      await project.change(`${path}?locale=en`, { parts: [{ id: part.id, text: 'changed' }] })
      expect((await project.read(`${path}?locale=de&populate=parts`)).parts).toMatchObject([{ heading: 'one', text: 'changed' }])
    } finally {
      await project.served.close()
    }
  })

  test.runIf(contract === 'specification')('every kind of write leaves drafts equal, and published versions equal', async () => {
    const id = await translated()
    const steps: readonly (readonly [string, string, object?])[] = [
      ['PUT', '?locale=en', { images: [6, 3], dimensions: { width: 1 } }],
      ['PUT', '?locale=fr', { stock: 5 }],
      ['PUT', '?locale=en&status=draft', { price: 2, variants: [{ name: 'b' }, { name: 'c' }] }],
      ['PUT', '?locale=de&status=draft', { name: 'Deutsch' }],
      ['PUT', '?locale=fr', {}],
      ['PUT', '?locale=de&status=draft', { images: [9], dimensions: null }],
      ['POST', '/actions/discard?locale=fr'],
      ['PUT', '?locale=fr&status=draft', { sku: 'EQUAL-2026', images: [] }],
      ['POST', '/actions/publish?locale=de'],
      ['POST', '/actions/unpublish?locale=fr'],
      ['PUT', '?locale=en&status=draft', { stock: 9 }],
      ['POST', '/actions/publish?locale=fr'],
    ]
    for (const [method, path, data] of steps) {
      await send(method, `/${id}${path}`, data)
      expect(await shared(id, 'draft'), `${method} ${path}`).toHaveLength(1)
      expect(await shared(id, 'published'), `${method} ${path}`).toHaveLength(1)
    }
    expect(await send('GET', `/${id}?locale=en&populate=*`)).toMatchObject({ stock: 9, price: 2, images: [] })
  })
})
