// docs/spec/filters.md: `$not` around conditions on several targets, in both contracts on one project, and lists of many members.
import { afterAll, beforeAll, expect } from 'vitest'
import { rule } from '../support/rule.js'
import { serveProject } from '../support/serve.js'
import { addToken, secrets } from './callers.js'
import { component, contentType } from './library.js'
import { serveWritable, type WritableProject } from './writable-project.js'

const relation = (kind: string, target: string, more: object = {}) => ({
  type: 'relation',
  relation: kind,
  target: `api::${target}.${target}`,
  ...more,
})
const named = { name: { type: 'string' } }
const files = {
  ...contentType('tag', { ...named, posts: relation('manyToMany', 'post', { mappedBy: 'tags' }), group: relation('manyToOne', 'group') }),
  ...contentType('group', named),
  ...contentType('writer', { ...named, posts: relation('oneToMany', 'post', { mappedBy: 'writer' }) }, { draftAndPublish: true }),
  ...contentType('post', {
    ...named,
    tags: relation('manyToMany', 'tag', { inversedBy: 'posts' }),
    writer: relation('manyToOne', 'writer', { inversedBy: 'posts' }),
    // Without a table of links: its own column, and that of the others.
    parent: relation('manyToOne', 'post', { inversedBy: 'parts', useJoinTable: false }),
    parts: relation('oneToMany', 'post', { mappedBy: 'parent', useJoinTable: false }),
    items: { type: 'component', component: 'parts.item', repeatable: true },
    single: { type: 'component', component: 'parts.item' },
  }),
  ...component('parts', 'item', { ...named, tags: relation('oneToMany', 'tag') }),
}

const projects: Record<'specification' | 'strapi', WritableProject> = {} as never
beforeAll(async () => {
  for (const contract of ['specification', 'strapi'] as const) {
    const project = await serveWritable(files, contract)
    projects[contract] = project
    const make = async (path: string, data: object) => (await project.make(path, data)).documentId
    const group = await make('groups', { name: 'g' })
    const [a, b, c] = [await make('tags', { name: 'ta', group }), await make('tags', { name: 'tb' }), await make('tags', { name: null })]
    const writer = await make('writers', { name: 'w' })
    await make('writers', { name: 'idle' })
    const parent = await make('posts', { name: 'a+b', tags: [a, b], items: [{ name: 'i1' }, { name: 'i2', tags: [a] }], writer })
    await make('posts', { name: 'b', tags: [b], items: [{ name: 'i2' }], writer, parent })
    await make('posts', { name: 'none' })
    await make('posts', { name: 'a', tags: [a], items: [{ name: 'i1' }], single: { name: 's' } })
    await make('posts', { name: 'null', tags: [c] })
  }
})
afterAll(() => Promise.all(Object.values(projects).map(({ served }) => served.close())))

const names = async (path: string, contract: 'specification' | 'strapi' = 'specification') =>
  (await projects[contract].read(path)).map(({ name }: { name: string }) => name).sort()
const posts = (filters: string, contract?: 'strapi') => names(`posts?${filters}`, contract)

rule('filters.30', '$not around a relation to many finds documents without such a target', async () => {
  expect(await posts('filters[tags][name]=ta')).toEqual(['a', 'a+b'])
  expect(await posts('filters[$not][tags][name]=ta')).toEqual(['b', 'none', 'null'])
  expect(await posts('filters[$not][$or][0][tags][name]=ta')).toEqual(['b', 'none', 'null'])
  expect(await posts('filters[$not][$or][0][tags][name]=ta&filters[$not][$or][1][name]=b')).toEqual(['none', 'null'])
  expect(await posts('filters[$and][0][$not][tags][name]=ta&filters[$and][1][name][$ne]=null')).toEqual(['b', 'none'])
  expect(await posts('filters[$not][$not][tags][name]=ta')).toEqual(['a', 'a+b'])
  expect(await posts('filters[$not][tags][group][name]=g')).toEqual(['b', 'none', 'null'])
  expect(await posts('filters[$not][items][name]=i1')).toEqual(['b', 'none', 'null'])
  expect(await posts('filters[$not][items][tags][name]=ta')).toEqual(['a', 'b', 'none', 'null'])
  expect(await posts('filters[$not][parts][name]=b')).toEqual(['a', 'b', 'none', 'null'])
  expect(await names('writers?filters[$not][posts][name]=b')).toEqual(['idle'])
  expect(await names('writers?filters[$not][posts][tags][name]=none')).toEqual(['idle', 'w'])
  expect(await names('tags?filters[$not][posts][name]=b&filters[name][$notNull]=true')).toEqual(['ta'])
  // Documents all of whose targets match; a missing target does not differ.
  expect(await posts('filters[$not][tags][$not][name]=ta')).toEqual(['a', 'none', 'null'])
  expect(await posts('filters[$not][tags][id][$notNull]=true')).toEqual(['none'])
  expect(await posts('filters[$not][tags][name][$null]=true')).toEqual(['a', 'a+b', 'b'])
})

rule('filters.30', 'each target is compared by negated operators, and relations to one have a value or none', async () => {
  expect(await posts('filters[tags][name][$ne]=ta')).toEqual(['a+b', 'b'])
  expect(await posts('filters[tags][$not][name]=ta')).toEqual(['a+b', 'b'])
  // A document without targets has none with such tags either.
  expect(await posts('filters[parts][$not][tags][name]=ta')).toEqual(['a+b'])
  expect(await posts('filters[$not][parts][$not][tags][name]=ta')).toEqual(['a', 'b', 'none', 'null'])
  expect(await posts('filters[parent][$not][tags][name]=tb')).toEqual([])
  expect(await posts('filters[$not][single][tags][name]=ta')).toEqual(['a', 'a+b', 'b', 'none', 'null'])
  expect(await posts('filters[$not][single][name]=s')).toEqual([])
  expect(await posts('filters[$not][parent][name]=x')).toEqual(['b'])
  expect(await posts('filters[$not][parent][tags][name]=ta')).toEqual(['a', 'a+b', 'none', 'null'])
})

rule('filters.30', 'in the contract strapi one target that does not meet it is enough', async () => {
  expect(await posts('filters[$not][tags][name]=ta', 'strapi')).toEqual(['a+b', 'b'])
  expect(await posts('filters[$not][items][name]=i1', 'strapi')).toEqual(['a+b', 'b'])
})

/** `name[0]=value&name[1]=value …`, and the same without indexes. */
const indexed = (name: string, members: number, value: string) =>
  Array.from({ length: members }, (_, at) => `${name}[${at}]${value}`).join('&')

rule('endpoints.20', 'a list of more than 100 members is refused by its name and its length', async () => {
  const project = projects.specification
  const generic = (place: string) =>
    `Too many members in ${place} (101). A list in a query string has at most 100 members (api.rest.arrayLimit).`
  const populate = (members: number) =>
    `Too many populate entries (${members}). The maximum number of populate entries when using array notation is 100. Consider using object notation (populate[field]=true), nested population, or reducing the number of fields.`
  const cases: readonly (readonly [string, string, string])[] = [
    [indexed('populate', 101, '=tags'), populate(101), 'populate'],
    [Array.from({ length: 102 }, () => 'populate[]=tags').join('&'), populate(102), 'populate'],
    [indexed('populate[tags][populate]', 101, '=posts'), populate(101), 'populate'],
    [indexed('populate[tags][fields]', 101, '=name'), generic('populate[tags][fields]'), 'populate'],
    [indexed('filters[$or]', 101, '[name]=a'), generic('filters[$or]'), 'filters'],
    [indexed('filters[$and]', 101, '[name]=a'), generic('filters[$and]'), 'filters'],
    [indexed('filters[tags][name][$in]', 101, '=a'), generic('filters[tags][name][$in]'), 'filters'],
    [indexed('sort', 101, '=name'), generic('sort'), 'sort'],
    [indexed('fields', 101, '=name'), generic('fields'), 'fields'],
  ]
  for (const [query, message, param] of cases) {
    const { status, body } = await project.send('GET', `posts?${query}`)
    expect([status, body.error.message, body.error.details]).toEqual([400, message, { source: 'query', param }])
  }
  expect(await project.refusal('POST', `posts?${indexed('populate', 101, '=tags')}`, { name: 'x' })).toBe(populate(101))
  expect(await posts(indexed('filters[$or]', 100, '[name]=a'))).toEqual(['a'])
  expect(await posts(`filters[name]=a&${indexed('others', 101, '=a')}`)).toEqual(['a'])
})

rule('endpoints.20', 'api.rest.arrayLimit and arrayLimit of strapi::query raise it, and the start says what does not apply', async () => {
  const middlewares = (arrayLimit: unknown) =>
    `module.exports = ({ env }) => ['strapi::errors', { name: 'strapi::query', config: { arrayLimit: ${JSON.stringify(arrayLimit)} } }]`
  const statuses = async (files: Readonly<Record<string, unknown>>, config: object = {}) => {
    const served = await serveProject({ ...contentType('post', named), ...files }, { config, environment: secrets })
    await addToken(served, 'full', { type: 'full-access' })
    const asked = [100, 150, 151].map((members) => served.request(`/api/posts?${indexed('fields', members, '=name')}`, { token: 'full' }))
    const found = (await Promise.all(asked)).map(({ status }) => status)
    await served.close()
    return { found, log: served.log.join('\n') }
  }
  const limited = { limits: { headerBytes: 60_000 } }
  expect((await statuses({ 'config/middlewares.js': middlewares(150) }, limited)).found).toEqual([200, 200, 400])
  const own = await statuses({ 'config/middlewares.js': middlewares(120) }, { ...limited, api: { rest: { arrayLimit: 150 } } })
  expect(own.found).toEqual([200, 200, 400])
  const wrong = await statuses({ 'config/middlewares.js': middlewares('many') }, limited)
  expect(wrong.found).toEqual([200, 400, 400])
  expect(wrong.log).toContain('is not applied (it is \\"many\\", not a positive integer)')
  const most = await statuses({ 'config/middlewares.js': middlewares(5000) }, limited)
  expect(most.found).toEqual([200, 200, 200])
  expect(most.log).toContain('a query string has at most 1000 parameters')
})
