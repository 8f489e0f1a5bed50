// Editing helpers read no more of a document than limits allow, at every depth of its components.
import { afterAll, beforeAll, expect } from 'vitest'
import { rule } from '../support/rule.js'
import { type Served, serveProject, type TestResponse } from '../support/serve.js'
import { secrets } from './callers.js'
import { type AdminClient, signInClient } from './newsroom.js'

const page = 'api::page.page'
const localized = { pluginOptions: { i18n: { localized: true } } }
/** More types than are searched. */
const kinds = Array.from(
  { length: 55 },
  (_, index) => `kind-${String.fromCharCode(97 + (index % 26))}${index < 26 ? '' : index < 52 ? 'b' : 'c'}`,
)
const files = {
  'src/components/part/item.json': {
    collectionName: 'components_part_items',
    info: { displayName: 'Item' },
    attributes: { label: { type: 'string' }, pages: { type: 'relation', relation: 'oneToMany', target: page } },
  },
  'src/components/part/list.json': {
    collectionName: 'components_part_lists',
    info: { displayName: 'List' },
    attributes: { items: { type: 'component', component: 'part.item', repeatable: true }, extra: { type: 'json' } },
  },
  'src/api/page/content-types/page/schema.json': {
    kind: 'collectionType',
    collectionName: 'pages',
    info: { singularName: 'page', pluralName: 'pages', displayName: 'Page' },
    options: { draftAndPublish: true },
    ...localized,
    attributes: {
      title: { type: 'string', ...localized },
      parts: { type: 'dynamiczone', components: ['part.list', 'part.item'], ...localized },
      list: { type: 'component', component: 'part.list', ...localized },
      extra: { type: 'json', ...localized },
      related: { type: 'relation', relation: 'manyToMany', target: page },
    },
  },
  ...Object.fromEntries(
    kinds.map((kind) => [
      `src/api/${kind}/content-types/${kind}/schema.json`,
      {
        kind: 'collectionType',
        collectionName: `${kind}_rows`,
        info: { singularName: kind, pluralName: `${kind}s`, displayName: kind },
        options: { draftAndPublish: false },
        attributes: { title: { type: 'string' } },
      },
    ]),
  ),
}

const limits = {
  authRateLimit: 1_000,
  copiedLinks: 200,
}

let served: Served
let ada: AdminClient
let pages: readonly string[] = []
beforeAll(async () => {
  served = await serveProject(files, { environment: secrets, config: { limits } })
  ada = await signInClient(served, 'ada@office.example')
  await ok(ada.send('POST', '/locales', { code: 'de', name: 'German (de)' }))
  const made: string[] = []
  for (let index = 0; index < 6; index++) made.push(await create({ title: `Target ${index}` }))
  pages = made
})
afterAll(() => served?.close())

async function ok(asked: Promise<TestResponse>): Promise<TestResponse> {
  const answer = await asked
  if (answer.status >= 300) throw new Error(answer.text)
  return answer
}

const create = async (data: object): Promise<string> => (await ok(ada.send('POST', `/content/${page}`, { data }))).body.data.documentId
const check = async (id: string) => {
  const [{ waiting, more }] = (await ok(ada.get(`/content/${page}/${id}/check`))).body.data
  return { more, paths: waiting.map(({ path }: { path: string[] }) => path.join('/')) }
}
const times = (length: number, value = 0): readonly number[] => Array<number>(length).fill(value)
/** Zones with `counts` links in their items. */
const lists = (...counts: readonly number[]) => [
  { __component: 'part.list', items: counts.map((count, index) => ({ label: `${index}`, pages: pages.slice(0, count) })) },
]

rule('administration-editing.2', 'links inside of components are looked at up to the bound, those at one place together', async () => {
  expect(await check(await create({ title: 'few', parts: lists(...times(10, 2)) }))).toEqual({
    more: false,
    paths: times(10).flatMap((_, item) => [0, 1].map((link) => `parts/0/items/${item}/pages/${link}`)),
  })
  const many = await check(await create({ title: 'many', parts: lists(...times(11, 2)) }))
  expect([many.more, many.paths.length]).toEqual([true, 20])
  // Entries without links count where they are more than are read.
  expect(await check(await create({ title: 'entries', parts: lists(...times(20)) }))).toEqual({ more: false, paths: [] })
  expect(await check(await create({ title: 'entries', parts: lists(...times(21)) }))).toEqual({ more: true, paths: [] })
  expect(
    await check(await create({ title: 'zone', parts: Array.from({ length: 21 }, () => ({ __component: 'part.item' })) })),
  ).toMatchObject({
    more: true,
  })
  expect(await check(await create({ title: 'own', related: pages.slice(0, 2) }))).toMatchObject({ more: false })
  expect(await check(await create({ title: 'own', related: pages.slice(0, 3) }))).toMatchObject({ more: true })
  // JSON is one value.
  expect(await check(await create({ title: 'json', extra: Array.from({ length: 29 }, () => ({})) }))).toMatchObject({ more: false })
})

rule('administration-editing.3', 'filling from another locale stays within the bound', async () => {
  const tries: readonly (readonly [object, number])[] = [
    [{ list: lists(...times(200, 1))[0] }, 200],
    [{ list: lists(...times(201, 1))[0] }, 400],
    [{ list: lists(...times(67, 3))[0] }, 400],
    [{ parts: Array.from({ length: 201 }, () => ({ __component: 'part.item' })) }, 400],
    [{ extra: Array.from({ length: 209 }, () => ({})) }, 200],
  ]
  for (const [data, status] of tries) {
    const own = Object.fromEntries(
      Object.entries(data).map(([name, { __component, ...value }]) => [name, name === 'list' ? value : (data as never)[name]]),
    )
    const id = await create({ title: 'English', ...own })
    const fields = [...Object.keys(data), 'title']
    const filled = await ada.send('POST', `/content/${page}/${id}/fill?locale=de`, { from: 'en', fields }, { 'if-none-match': '*' })
    expect([data, filled.status]).toEqual([data, status])
    if (status === 200) continue
    expect(filled.body.error.message).toContain('limits.copiedLinks')
    // Unselected lists are not counted.
    const other = { from: 'en', fields: ['title'] }
    expect((await ada.send('POST', `/content/${page}/${id}/fill?locale=de`, other, { 'if-none-match': '*' })).status).toBe(200)
  }
})

rule('administration-editing.6', 'search results are bounded in types, documents of a type and results', async () => {
  const add = (kind: string, title: string) => ok(ada.send('POST', `/content/api::${kind}.${kind}`, { data: { title } }))
  const find = async (text: string) => (await ok(ada.get(`/find?q=${text}`))).body.data
  for (let index = 0; index < 6; index++) await add(kinds[0]!, 'Many')
  expect((await find('many')).documents).toHaveLength(5)
  for (const kind of kinds) await add(kind, 'Rare')
  const rare = await find('rare')
  expect([rare.documents.length, rare.isComplete]).toEqual([30, false])
  const searched = new Set(rare.documents.map(({ type }: { type: string }) => type))
  for (const kind of kinds.filter((each) => !searched.has(`api::${each}.${each}`))) await add(kind, 'Late')
  const late = await find('late')
  expect(late.isComplete).toBe(false)
  expect(late.documents.length).toBeLessThan(kinds.length - searched.size)
})
