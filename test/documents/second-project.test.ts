// Writing on a content model that the golden project has nothing of: unique attributes in components, what locales share,
// files, polymorphic relations, relations written from the other side. All are responses of Strapi 5.54.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { access } from '../spec/library.js'
import { type Served, serveProject } from '../support/serve.js'

const localized = { pluginOptions: { i18n: { localized: true } } }
const type = (name: string, drafts: boolean, i18n: boolean, attributes: object) => ({
  [`src/api/${name}/content-types/${name}/schema.json`]: {
    kind: 'collectionType',
    collectionName: `${name}s`,
    info: { singularName: name, pluralName: `${name}s`, displayName: name },
    options: { draftAndPublish: drafts },
    pluginOptions: i18n ? localized.pluginOptions : {},
    attributes,
  },
})
const component = (name: string, attributes: object) => ({
  [`src/components/parts/${name}.json`]: { collectionName: `components_${name}`, info: { displayName: name }, attributes },
})
const list = (uid: string, rest: object = {}) => ({ type: 'component', component: uid, repeatable: true, ...rest })
const one = (uid: string, rest: object = {}) => ({ type: 'component', component: uid, repeatable: false, ...rest })
const relation = (kind: string, target: string, rest: object = {}) => ({
  type: 'relation',
  relation: kind,
  target: `api::${target}.${target}`,
  ...rest,
})

const actions = ['sheet', 'page', 'port', 'bolt', 'badge'].flatMap((name) =>
  ['find', 'findOne', 'create', 'update', 'delete'].map((action) => `api::${name}.${name}.${action}`),
)

let served: Served
beforeAll(async () => {
  served = await serveProject(
    {
      ...component('bare', { code: { type: 'string', unique: true }, when: { type: 'date' } }),
      ...component('deep', { bare: one('parts.bare'), bares: list('parts.bare'), ports: relation('oneToMany', 'port') }),
      ...type('page', true, false, {
        title: { type: 'string', minLength: 3 },
        key: { type: 'string', unique: true },
        bare: one('parts.bare'),
        bares: list('parts.bare', { max: 2 }),
        deep: one('parts.deep'),
        deeps: list('parts.deep', { max: 1 }),
        zone: { type: 'dynamiczone', components: ['parts.bare', 'parts.deep'] },
        cover: { type: 'media', multiple: false },
      }),
      ...type('sheet', true, true, {
        title: { type: 'string', ...localized },
        shared: { type: 'string', default: 'none' },
        list: list('parts.bare', { required: true }),
      }),
      ...type('port', true, false, {
        name: { type: 'string' },
        next: relation('manyToMany', 'port', { inversedBy: 'previous' }),
        previous: relation('manyToMany', 'port', { mappedBy: 'next' }),
        slot: relation('oneToOne', 'port', { inversedBy: 'slotOf' }),
        slotOf: relation('oneToOne', 'port', { mappedBy: 'slot' }),
      }),
      ...type('bolt', false, false, { deep: one('parts.deep'), port: relation('oneToOne', 'port') }),
      ...type('badge', true, false, { to: { type: 'relation', relation: 'morphToMany' } }),
      ...access(actions, [{ code: 'en', default: true }, { code: 'fr' }, { code: 'de' }]),
    },
    { config: { api: { rest: { contract: 'strapi' } } } },
  )
})
afterAll(() => served.close())

async function send(method: string, path: string, data?: object) {
  const { status, body } = await served.request(`/api/${path}`, {
    method,
    headers: { 'content-type': 'application/json' },
    ...(data === undefined ? {} : { body: JSON.stringify({ data }) }),
  })
  return { status, data: body?.data, error: body?.error }
}
const made = async (path: string, data: object) => (await send('POST', path, data)).data.documentId as string
const paths = ({ error }: { error?: { details: { errors: { path: string[] }[] } } }) =>
  error?.details.errors.map(({ path }) => path.join('.'))

describe('unique attributes of components', () => {
  test('are unique at their place among documents, not elsewhere and not in drafts', async () => {
    expect((await send('POST', 'pages', { bare: { code: 'a' } })).status).toBe(201)
    expect(paths(await send('POST', 'pages', { bare: { code: 'a' } }))).toEqual(['bare.code'])
    expect((await send('POST', 'pages', { bares: [{ code: 'a' }] })).status).toBe(201)
    expect((await send('POST', 'pages', { zone: [{ __component: 'parts.bare', code: 'a' }] })).status).toBe(201)
    expect(paths(await send('POST', 'pages', { zone: [{ __component: 'parts.bare', code: 'a' }] }))).toEqual(['zone.0.code'])
    expect((await send('POST', 'pages', { deep: { bare: { code: 'a' } } })).status).toBe(201)
    expect(paths(await send('POST', 'pages', { deep: { bare: { code: 'a' } } }))).toEqual(['deep.bare.code'])
    const draft = await made('pages?status=draft', { bare: { code: 'a' } })
    expect(paths(await send('PUT', `pages/${draft}`, {}))).toEqual(['bare.code'])
  })

  test("the document's own lists may not say a value twice, lists in components may", async () => {
    expect(paths(await send('POST', 'pages', { bares: [{ code: 'b' }, { code: 'b' }] }))).toEqual(['bares.0.code', 'bares.1.code'])
    expect((await send('POST', 'pages', { deep: { bares: [{ code: 'b' }, { code: 'b' }] } })).status).toBe(201)
    expect((await send('POST', 'pages', { bares: [{ code: '' }, { code: '' }] })).status).toBe(201)
  })

  test('are reported together with other errors', async () => {
    await made('pages', { key: 'k' })
    expect(paths(await send('POST', 'pages', { title: 'x', key: 'k' }))).toEqual(['title', 'key'])
  })
})

describe('values shared by locales', () => {
  test('a new locale takes it from the published version, before anything is missed or filled in', async () => {
    const id = await made('sheets', { title: 'en', shared: 'A', list: [{ when: '2024-01-01' }] })
    await send('PUT', `sheets/${id}?status=draft`, { shared: 'B' })
    const french = await send('PUT', `sheets/${id}?locale=fr&populate=list`, { title: 'fr', shared: null })
    expect(french.status).toBe(200)
    expect(french.data).toMatchObject({ shared: 'A', list: [{ when: '2024-01-01' }] })
  })

  test('it reaches the other locales where it differs from the draft of the first locale; the answer is from before', async () => {
    const shown = async (id: string) => {
      const rows = async (status: string): Promise<string> =>
        (await send('GET', `sheets?locale=*&status=${status}&filters[documentId]=${id}&sort=locale`)).data
          .map((row: { shared: string }) => row.shared)
          .join('')
      return [await rows('draft'), await rows('published')]
    }
    const id = await made('sheets', { title: 'en', shared: 'A', list: [] })
    await send('PUT', `sheets/${id}?locale=fr`, { title: 'fr', shared: 'B' })
    expect(await shown(id)).toEqual(['AB', 'BB'])
    await send('PUT', `sheets/${id}`, {})
    expect(await shown(id)).toEqual(['AB', 'AB'])
    await send('PUT', `sheets/${id}?status=draft`, { shared: 'A' })
    expect(await shown(id)).toEqual(['AB', 'AB'])
    await send('PUT', `sheets/${id}?locale=fr`, { title: 'again' })
    expect(await shown(id)).toEqual(['AB', 'BB'])
    const answer = await send('PUT', `sheets/${id}?locale=fr&status=draft&populate=localizations`, { title: 'again' })
    expect(answer.data.localizations).toMatchObject([{ shared: 'A' }])
    expect(await shown(id)).toEqual(['BB', 'BB'])
    await send('PUT', `sheets/${id}?status=draft`, { shared: 'C' })
    expect(await shown(id)).toEqual(['CC', 'BB'])
    await send('PUT', `sheets/${id}?locale=fr`, {})
    expect(await shown(id)).toEqual(['CC', 'BC'])
  })
})

describe('relations', () => {
  test('a link that the other side has drafted is published with this side', async () => {
    const [one, other] = [await made('ports', { name: 'one' }), await made('ports', { name: 'other' })]
    await send('PUT', `ports/${one}?status=draft`, { next: [other] })
    const published = await send('PUT', `ports/${other}?populate=previous`, {})
    expect(published.data.previous).toMatchObject([{ name: 'one' }])
  })

  test('components of types without drafts show a target once it is published', async () => {
    const port = await made('ports?status=draft', { name: 'late' })
    const bolt = await made('bolts', { deep: { ports: [port] } })
    const shown = async () => (await send('GET', `bolts/${bolt}?populate[deep][populate]=ports`)).data.deep.ports.length
    expect(await shown()).toBe(0)
    await send('PUT', `ports/${port}`, {})
    expect(await shown()).toBe(1)
  })

  test('polymorphic ones lead to published rows when they are published, and to late ones later', async () => {
    const [port, late] = [await made('ports', {}), await made('ports?status=draft', {})]
    const entry = (documentId: string) => ({ documentId, __type: 'api::port.port' })
    const badge = await made('badges', { to: [entry(late), entry(port)] })
    const shown = async () =>
      (await send('GET', `badges/${badge}?populate=to`)).data.to.map((one: { documentId: string; publishedAt: string }) => [
        one.documentId,
        one.publishedAt !== null,
      ])
    expect(await shown()).toEqual([[port, true]])
    await send('PUT', `ports/${late}`, {})
    expect(await shown()).toEqual([
      [late, true],
      [port, true],
    ])
    await send('PUT', `badges/${badge}`, { to: { connect: [{ ...entry(port), position: { start: true } }] } })
    expect((await shown())[0]).toEqual([port, true])
    await send('PUT', `badges/${badge}`, { to: [] })
    expect((await shown()).length).toBe(2)
    expect((await send('PUT', `badges/${badge}`, { to: null })).status).toBe(400)
  })

  test('a published row whose draft is new has what that draft has: polymorphic relations too', async () => {
    const port = await made('ports', {})
    const badge = await made('badges', { to: [{ documentId: port, __type: 'api::port.port' }] })
    // As in imported content.
    await served.sql('delete from badges where document_id = ? and published_at is null', badge)
    const answer = await send('PUT', `badges/${badge}?populate=to`, {})
    expect([answer.status, answer.data.to]).toEqual([200, []])
  })

  test('a new owner of a relation to one gets the oldest of several, an old one the first', async () => {
    const [first, second] = [await made('ports', {}), await made('ports', {})]
    const bolt = await send('POST', 'bolts?populate=port', { port: { connect: [second, first] } })
    expect(bolt.data.port.documentId).toBe(first)
    const again = await send('PUT', `bolts/${bolt.data.documentId}?populate=port`, { port: { connect: [second, first] } })
    expect(again.data.port.documentId).toBe(second)
  })

  test('a missing document is reported first', async () => {
    const body = { title: 'x', deep: { ports: ['nothing'] } }
    for (const answer of [await send('POST', 'pages', body), await send('PUT', 'pages/missing', body)])
      expect(answer.error.message).toBe('Document with id "nothing", locale "null" not found')
  })

  test('in place of a target only its identifiers are accepted', async () => {
    const [owner, port] = [await made('ports', {}), await made('ports', {})]
    for (const beside of [{ status: 'draft' }, { position: { end: true } }, { __type: 'api::port.port' }]) {
      const entry = { documentId: port, ...beside }
      const key = Object.keys(beside)[0]
      for (const next of [entry, [entry]])
        expect((await send('PUT', `ports/${owner}`, { next })).error.message).toBe(`Invalid key ${key} at next`)
      for (const next of [{ set: [entry] }, { connect: [entry] }]) expect((await send('PUT', `ports/${owner}`, { next })).status).toBe(200)
    }
    expect((await send('PUT', `ports/${owner}`, { next: [{ documentId: port, locale: 'en' }] })).status).toBe(200)
  })

  test('missing rows are reported together and first, except disconnected ones', async () => {
    const owner = await made('ports', {})
    const message = async (data: object) => (await send('PUT', `ports/${owner}`, data)).error?.message ?? 'none'
    expect(await message({ next: { disconnect: [999_999] } })).toBe('none')
    const circle = { connect: [{ documentId: owner, position: { after: owner } }] }
    expect(await message({ next: circle, previous: { connect: [999_999, 999_998], disconnect: [999_997] } })).toBe(
      '2 relation(s) of type api::port.port associated with this entity do not exist',
    )
    expect(await message({ next: { connect: ['none'], disconnect: ['other'] } })).toBe('Document with id "other", locale "null" not found')
  })

  test('a draft that another draft took a target from, or gave one, is published as it is', async () => {
    const slot = async (id: string, status: string) =>
      (await send('GET', `ports/${id}?populate=slot&status=${status}`)).data.slot?.documentId
    const [first, second, target] = [await made('ports', {}), await made('ports', {}), await made('ports', {})]
    await send('PUT', `ports/${first}`, { slot: target })
    await send('PUT', `ports/${second}?status=draft`, { slot: target })
    expect([await slot(first, 'draft'), await slot(first, 'published')]).toEqual([undefined, target])
    await send('PUT', `ports/${first}`, { name: 'again' })
    expect(await slot(first, 'published')).toBe(undefined)
    expect((await send('PUT', `ports/${target}?populate=slotOf`, {})).data.slotOf).toMatchObject({ documentId: second })
    expect(await slot(second, 'published')).toBe(target)
  })

  test('errors about components show the published rows that they are related to', async () => {
    const [port, draft] = [await made('ports', {}), await made('ports?status=draft', {})]
    const { id } = (await send('GET', `ports/${port}`)).data
    const { error } = await send('POST', 'pages', { deeps: [{ ports: [port, draft] }, {}] })
    expect(error.details.errors[0].value).toMatchObject([{ ports: { set: [{ id }] } }, { ports: { set: [] } }])
  })
})
