// Private attributes of components (security: S020): in a component, in a component of a component, and in a zone.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Served } from '../support/serve.js'
import { serveProject } from '../support/serve.js'
import type { Parameter } from './fixture.js'
import { expectInvalidKey } from './fixture.js'

const leak = 'kanarieinnen'
const inner = { word: 'small', hidden: `${leak}1`, pin: `${leak}2` }
const box = { label: 'large', hidden: `${leak}3`, inner, rows: [inner, inner] }
const page = {
  title: 'one',
  box,
  boxes: [box, box],
  zone: [
    { __component: 'parts.box', ...box },
    { __component: 'parts.inner', ...inner },
  ],
}

const project = {
  'src/api/page/content-types/page/schema.json': {
    kind: 'collectionType',
    info: { singularName: 'page', pluralName: 'pages', displayName: 'Page' },
    attributes: {
      title: { type: 'string' },
      box: { type: 'component', component: 'parts.box' },
      boxes: { type: 'component', component: 'parts.box', repeatable: true },
      zone: { type: 'dynamiczone', components: ['parts.box', 'parts.inner'] },
      shut: { type: 'component', component: 'parts.inner', private: true },
    },
  },
  'src/components/parts/box.json': {
    info: { displayName: 'Box' },
    attributes: {
      label: { type: 'string' },
      hidden: { type: 'string', private: true },
      inner: { type: 'component', component: 'parts.inner' },
      rows: { type: 'component', component: 'parts.inner', repeatable: true },
    },
  },
  'src/components/parts/inner.json': {
    info: { displayName: 'Inner' },
    attributes: { word: { type: 'string' }, hidden: { type: 'string', private: true }, pin: { type: 'password' } },
  },
  'seed/access.json': { roles: { public: ['api::page.page.find', 'api::page.page.findOne'] } },
  'seed/content/page.json': {
    uid: 'api::page.page',
    documents: [{ key: 'one', locales: { '-': { published: { ...page, shut: { word: `${leak}4` } } } } }],
  },
}

describe.each(['strapi', 'specification'] as const)('with the contract %s', (contract) => {
  let served: Served
  beforeAll(async () => {
    served = await serveProject(project, { config: { api: { rest: { contract } } } })
  })
  afterAll(() => served.close())
  const request = async (query: string) => served.request(`/api/pages?${query}`)

  test('S020 no populate shows a private attribute of a component, at any depth', async () => {
    const ways = [
      'populate=*',
      'populate[box][populate]=*',
      'populate[boxes][populate]=*',
      'populate=box.inner,box.rows,boxes.inner',
      'populate[zone][populate]=*',
      'populate[zone][on][parts.box][populate]=*&populate[zone][on][parts.inner]=true',
      'populate=zone.inner,zone.rows',
      'populate[box][fields][0]=*',
    ]
    for (const way of ways) {
      const { status, text } = await request(way)
      expect(status, way).toBe(200)
      expect(text, way).toMatch(/large|small/)
      expect(text, way).not.toContain(leak)
      expect(text, way).not.toMatch(/"(hidden|pin|shut)"/)
    }
  })

  test('S020 a private component cannot be populated, compared or sorted by', async () => {
    expectInvalidKey(await request('populate=shut'), 'populate', 'shut', 'shut')
    expectInvalidKey(await request('populate[shut][fields]=word'), 'populate', 'shut', 'shut')
    expectInvalidKey(await request('filters[shut][word]=x'), 'filters', 'shut', 'shut')
    expectInvalidKey(await request('sort=shut.word'), 'sort', 'shut', 'shut')
  })

  test('S020 a private attribute of a component cannot be compared, sorted by or selected', async () => {
    const refused: readonly (readonly [string, Parameter, string, string])[] = [
      [`filters[box][hidden][$startsWith]=${leak}`, 'filters', 'hidden', 'box.hidden'],
      [`filters[boxes][inner][hidden][$contains]=a`, 'filters', 'hidden', 'boxes.inner.hidden'],
      ['filters[box][inner][pin][$notNull]=true', 'filters', 'pin', 'box.inner.pin'],
      ['filters[$not][box][rows][pin]=x', 'filters', 'pin', 'box.rows.pin'],
      ['sort=box.hidden', 'sort', 'hidden', 'box.hidden'],
      ['sort[box][inner][pin]=asc', 'sort', 'pin', 'box.inner.pin'],
      ['populate[box][fields][0]=hidden', 'populate', 'hidden', 'hidden'],
      ['populate[box][populate][inner][fields][0]=pin', 'populate', 'pin', 'pin'],
      ['populate[box][filters][hidden]=x', 'populate', 'hidden', 'hidden'],
      ['populate[boxes][sort]=hidden', 'populate', 'hidden', 'hidden'],
      ['populate[zone][on][parts.inner][fields][0]=pin', 'populate', 'pin', 'pin'],
      ['populate[zone][on][parts.box][filters][hidden]=x', 'populate', 'hidden', 'hidden'],
    ]
    for (const [query, ...refusal] of refused) expectInvalidKey(await request(query), ...refusal)
  })

  test('S020 the search does not look into components', async () => {
    expect((await request(`_q=${leak}`)).body.meta.pagination.total).toBe(0)
    expect(served.log.join('\n')).not.toContain(leak)
  })
})
