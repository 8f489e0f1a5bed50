// The file that `octavo types` generates: its text, its agreement with real documents, and its cost for the compiler.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect } from 'vitest'
import { loadModel } from '../../src/model/schema/load.js'
import { isNullable } from '../../src/project/description/view.js'
import { publicFields } from '../../src/query/rest/populate.js'
import { octavo, project, removeProjects, root } from '../start/command.js'
import { rule } from '../support/rule.js'
import { goldenProject, goldenTokens, serveGolden } from '../support/serve.js'
import { compile, typesOf } from './compile.js'

afterAll(removeProjects)

const schema = (name: string, attributes: object, more: object = {}) => ({
  [`src/api/${name}/content-types/${name}/schema.json`]: {
    kind: 'collectionType',
    collectionName: `${name}s`,
    info: { singularName: name, pluralName: `${name}s`, displayName: name },
    attributes,
    ...more,
  },
})
const text = { type: 'string' }

describe('the command', () => {
  rule('types.1', 'the same schemas give the same text, which --out writes and --check compares', async () => {
    const folder = project(schema('note', { title: text }))
    const file = join(folder, 'types', 'octavo.d.ts')
    const printed = await octavo(['types', folder])
    expect([printed.status, printed.err]).toEqual([0, ''])
    expect(typesOf(folder)).toBe(printed.out)
    const missing = await octavo(['types', folder, '--check', '--out', file])
    expect([missing.status, missing.err]).toEqual([
      1,
      expect.stringContaining(`There is no file ${file}. Write it: node ${join(root, 'dist', 'main.js')} types ${folder} --out ${file}`),
    ])
    expect((await octavo(['types', folder, '--out', file])).status).toBe(0)
    expect(readFileSync(file, 'utf8')).toBe(printed.out)
    expect((await octavo(['types', folder, '--check', '--out', file])).status).toBe(0)
    const path = join(folder, 'src/api/note/content-types/note/schema.json')
    writeFileSync(path, readFileSync(path, 'utf8').replace('"title"', '"heading"'))
    const changed = await octavo(['types', folder, '--check', '--out', file])
    expect([changed.status, changed.err]).toEqual([1, expect.stringContaining('is out of date')])
    expect(existsSync(join(folder, '.tmp'))).toBe(false)
    expect(existsSync(join(folder, '.env'))).toBe(false)
  })

  rule('types.1', 'the file compiles with any names of schemas', () => {
    const odd = project({
      ...schema(
        '2-column',
        { class: text, two_words: text, constructor0: text },
        { info: { singularName: '2-column', pluralName: '2-columns', displayName: "*/ export {} /* '`\\" } },
      ),
      ...schema('types', { own: text }),
      ...schema('octavo', { own: { type: 'enumeration', enum: ["it's", 'a"b', 'c\\d', 'line\nbreak'] } }),
      ...schema('article', { own: text }),
      ...schema('article-filters', { own: text }),
      ...schema('shared-seo', { own: { type: 'component', component: 'shared.seo' } }),
      'src/components/shared/seo.json': { collectionName: 'seos', info: { displayName: 'seo' }, attributes: { title: text } },
    })
    for (const folder of [odd, join(root, 'test/database/awkward'), join(root, 'examples/magazine'), goldenProject]) {
      const { mistakes } = compile({ 'octavo.ts': typesOf(folder) })
      expect(mistakes).toEqual([])
    }
  })

  rule('types.10', 'with --client octavo-client it imports the types from that package', async () => {
    const folder = project(schema('note', { title: text }))
    const withClient = await octavo(['types', folder, '--client', 'octavo-client'])
    expect(withClient.out.match(/.*octavo-client.*/g)).toEqual([
      "import type * as Octavo from 'octavo-client'",
      "declare module 'octavo-client' {",
    ])
    expect(withClient.out.replaceAll('octavo-client', 'octavo/client')).toBe(typesOf(folder))
    const check = await octavo(['types', folder, '--client', 'octavo-client', '--check', '--out', join(folder, 'none.d.ts')])
    expect([check.status, check.err]).toEqual([1, expect.stringContaining(`types ${folder} --client octavo-client --out`)])
    expect((await octavo(['types', folder, '--client', 'another'])).err).toContain('octavo/client, octavo-client')
    expect((await octavo(['types', folder, '--client', 'octavo-client', '--standalone'])).status).toBe(1)
  })

  rule('types.10', 'with --standalone it compiles where the package is not installed', () => {
    const folder = project({
      ...schema('note', { title: { ...text, required: true }, body: { type: 'blocks' } }, { options: { draftAndPublish: true } }),
    })
    const generated = typesOf(folder, '--standalone')
    expect(generated).not.toMatch(/\bimport\b.*from|declare module/)
    expect(generated).toMatch(/^\/\/ .+\n\/\/ This file does not type clients by itself: pass its types, createClient<Types>/)
    const use = `
      import { createClient } from 'octavo/client'
      import type { Octavo, Types } from './octavo.js'
      declare const client: Octavo.TypedStrapiClient<{ collection(name: string): unknown; single(name: string): unknown; files: string }, Types>
      const { data } = await client.collection('notes').find({ filters: { title: { $contains: 'x' } }, fields: ['title'] })
      const title: string | undefined = data[0]?.title
      type Note = Octavo.Result<'api::note.note'>
      createClient<Types>({ url: '' }).collection('notez')
      export const note = (one: Note): [string, Octavo.BlocksContent | null, string] => [one.title, one.body, title ?? client.files]
      client.collection('notse')`
    const { mistakes } = compile({ 'octavo.ts': generated, 'use.ts': use })
    expect(mistakes.map(({ file, message }) => [file, message])).toEqual(
      ['"notez"', '"notse"'].map((name) => ['use.ts', expect.stringContaining(name)]),
    )
  })
})

rule('types.11', 'the collections and single types of Strapi’s client are typed, at its own declarations', () => {
  const use = `
    import { strapi } from '@strapi/client'
    import { typed } from 'octavo/client'
    const client = typed(strapi({ baseURL: 'http://localhost:1337/api' }))
    const { data, meta } = await client.collection('articles').find({ populate: { author: true }, fields: ['title'], sort: 'rank:desc' })
    export const names: (string | undefined)[] = data.map(({ author }) => author?.name)
    export const total: number = meta.pagination.total
    const home = await client.single('homepage').find({ status: 'draft' })
    export const tagline: string | null = home.data.tagline
    await client.collection('articles').create({ title: 'x' })
    export const files = client.files.find()
    client.collection('articles').find({ fields: ['titel'] })`
  const { mistakes } = compile({ 'octavo.d.ts': typesOf(goldenProject), 'use.ts': use })
  expect(mistakes.map(({ start }) => use.slice(start, start + 7))).toEqual(["'titel'"])
})

rule('types.2', 'required attributes have values in every published version of the golden project', async () => {
  const served = await serveGolden()
  const model = await loadModel({ folder: goldenProject })
  const token = goldenTokens().full!
  let looked = 0
  for (const [path, type] of model.paths) {
    const always = publicFields(type)
      .filter((attribute) => !isNullable(attribute))
      .map(({ name }) => name)
    const { status, body } = await served.request(
      `/api/${path}?pagination[pageSize]=100&locale=${type.localized && !type.singleType ? '*' : ''}`,
      { token },
    )
    if (status === 404) continue
    for (const document of [body.data].flat()) {
      looked++
      expect([document.documentId, always.filter((name) => document[name] === null || document[name] === undefined)]).toEqual([
        document.documentId,
        [],
      ])
    }
  }
  expect(looked).toBeGreaterThan(100)
  await served.close()
})

describe('the work of the compiler', () => {
  const relation = (target: number) => ({ type: 'relation', relation: 'manyToMany', target: `api::thing-${target}.thing-${target}` })
  const many = (count: number) =>
    project(
      Object.assign(
        {},
        ...Array.from({ length: count }, (_, index) => {
          const scalars = Array.from({ length: 15 }, (_one, number) => [
            `text${number}`,
            number % 3 === 0 ? { ...text, required: true } : { type: 'integer' },
          ])
          const relations = [1, 3, 7, 9].map((step) => [`to${step}`, relation((index + step) % count)])
          return schema(`thing-${index}`, Object.fromEntries([...scalars, ...relations]), { options: { draftAndPublish: index % 2 === 0 } })
        }),
      ),
    )
  const use = `
    import { createClient } from 'octavo/client'
    const things = createClient({ url: 'x' }).collection('thing-0s')
    export const { data } = await things.find({ populate: { to1: { populate: ['to3.to7'], fields: ['text0'] }, to9: true }, filters: { to3: { text0: 'x' } }, sort: ['to1.text0:desc'] })`

  rule('types.5', 'a query costs the same in a project of a hundred content-types', () => {
    const [few, hundred] = [10, 100].map((count) => {
      const generated = typesOf(many(count))
      const [without, whole] = ['export {}', use].map((code) => compile({ 'octavo.d.ts': generated, 'use.ts': code }))
      expect(whole!.mistakes).toEqual([])
      return whole!.instantiations - without!.instantiations
    })
    // Every content-type is looked at once, for its name in URLs.
    expect(hundred! - few!).toBeLessThan(90 * 30)
    expect(few!).toBeLessThan(30_000)
  })
})
