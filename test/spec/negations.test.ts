// docs/spec/filters.md: `$not` around conditions on several targets, in both contracts on one project, and lists of many members.
import { afterAll, beforeAll, expect } from 'vitest'
import { rule } from '../support/rule.js'
import { component, contentType } from './library.js'
import { type Press, serveWritable } from './press.js'

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

const presses: Record<'specification' | 'strapi', Press> = {} as never
beforeAll(async () => {
  for (const contract of ['specification', 'strapi'] as const) {
    const press = await serveWritable(files, contract)
    presses[contract] = press
    const make = async (path: string, data: object) => (await press.make(path, data)).documentId
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
afterAll(() => Promise.all(Object.values(presses).map(({ served }) => served.close())))

const names = async (path: string, contract: 'specification' | 'strapi' = 'specification') =>
  (await presses[contract].read(path)).map(({ name }: { name: string }) => name).sort()
const posts = (filters: string, contract?: 'strapi') => names(`posts?${filters}`, contract)

rule('filters.30', '$not around a relation to many asks for documents without such a target', async () => {
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
  // Documents of which all targets are such; no target at all is not another one.
  expect(await posts('filters[$not][tags][$not][name]=ta')).toEqual(['a', 'none', 'null'])
  expect(await posts('filters[$not][tags][id][$notNull]=true')).toEqual(['none'])
  expect(await posts('filters[$not][tags][name][$null]=true')).toEqual(['a', 'a+b', 'b'])
})

rule('filters.30', 'each target is compared by negated operators, and relations to one have a value or none', async () => {
  expect(await posts('filters[tags][name][$ne]=ta')).toEqual(['a+b', 'b'])
  expect(await posts('filters[tags][$not][name]=ta')).toEqual(['a+b', 'b'])
  expect(await posts('filters[$not][single][name]=s')).toEqual([])
  expect(await posts('filters[$not][parent][name]=x')).toEqual(['b'])
  expect(await posts('filters[$not][parent][tags][name]=ta')).toEqual(['a', 'a+b', 'none', 'null'])
})

rule('filters.30', 'in the contract strapi one target that does not meet it is enough', async () => {
  expect(await posts('filters[$not][tags][name]=ta', 'strapi')).toEqual(['a+b', 'b'])
  expect(await posts('filters[$not][items][name]=i1', 'strapi')).toEqual(['a+b', 'b'])
})
