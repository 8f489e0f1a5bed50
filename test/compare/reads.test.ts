// `octavo compare` on two services with the same content, of which the one in the role of Strapi has project code: each kind of difference
// is found, and named with its likely cause.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { project, removeProjects } from '../start/command.js'
import { goldenTokens, type Served, serveGolden } from '../support/serve.js'
import { compare, type Report, report } from './compared.js'

const tokens = goldenTokens() as { readonly full: string; readonly alice: string }
const asFull = ['--as', `full=${tokens.full}`]
const populate = {
  category: { fields: ['name'] },
  cover: true,
  seo: { populate: { og: { populate: '*' } } },
  blocks: {
    on: { 'blocks.quote': true, 'blocks.image': { populate: '*' }, 'blocks.cta': { populate: '*' }, 'blocks.rich': { populate: '*' } },
  },
}

let [theirs, ours] = [] as unknown as [Served, Served]
beforeAll(async () => {
  ours = await serveGolden()
  theirs = await serveGolden({
    code: {
      types: {
        'api::article.article': { defaults: { populate } },
        'api::tag.tag': { defaults: { sort: 'weight:desc' } },
        'api::author.author': { scope: () => ({ active: { $eq: true } }) },
        'api::supplier.supplier': { policies: { find: () => false } },
        'api::product.product': { defaults: { pageSize: 2 } },
        'api::category.category': {
          reads: {
            after: ({ response }) => {
              for (const document of response.body.data as Record<string, unknown>[]) {
                delete document.name
                document.label = 'computed'
              }
            },
          },
        },
      },
    },
  })
})
afterAll(async () => {
  await theirs.close()
  await ours.close()
  removeProjects()
})

const between = (requests: readonly (string | object)[], ...words: string[]): Promise<Report> =>
  report(theirs.origin, ours.origin, requests, ...asFull, ...words)
const groupsOf = ({ groups }: Report) => groups.map(({ cause, subject, requests }) => [cause, subject, requests])

test('equal services have no differences, and the exit status is 0; requests are generated from the model that a caller may read', async () => {
  const { out, status } = await compare(ours.origin, ours.origin, ...asFull, '--limit', '60')
  expect(Number(/^(\d+) requests compared: \1 the same, 0 different as documented, 0 different\.\n/.exec(out)?.[1])).toBe(60)
  expect(out).toContain('Left out: the rest, beyond --limit 60.')
  expect(out).toMatch(/Strapi +[\d.]+ ms +[\d.]+ ms\nOctavo +[\d.]+ ms +[\d.]+ ms\n$/)
  expect(status).toBe(0)
})

test('for a caller who may not read the model, requests are generated from the schemas of the project', async () => {
  const { out } = await compare(ours.origin, ours.origin, '--json', '--as', 'public=', '--project', ours.folder, '--limit', '40')
  expect((JSON.parse(out) as Report).same).toBe(40)
  const none = await compare(ours.origin, ours.origin, '--as', 'public=', '--project', '/tmp')
  expect(none).toMatchObject({ status: 2, out: '' })
  expect(none.err).toMatch(/^octavo: There are no requests: --requests or --log names a file of them\. [^\n]+\n$/)
})

test('populate set by project code: missing parts, with defaults to paste that make the responses equal', async () => {
  const found = await between(['/api/articles', '/api/articles?locale=de', '/api/articles?status=draft', '/api/articles?populate=*'])
  // The authors that a scope hides are hidden wherever they are populated.
  expect(groupsOf(found)).toEqual([
    ['targets shown', 'api::article.article', 1],
    ['populate', 'api::article.article', 3],
  ])
  const [, group] = found.groups
  expect(group!.verified).toBe('equal')
  expect(group!.config).toMatchObject({
    types: { 'api::article.article': { defaults: { populate: { category: { fields: ['name'] }, cover: true } } } },
  })
  expect(group!.examples[0]!.differences.map(({ path, octavo }) => [path, octavo])).toContainEqual(['data[0].category', 'missing'])
  const checked = await serveGolden({ code: { types: (group!.config as { types: Record<string, object> }).types } })
  try {
    const again = await report(theirs.origin, checked.origin, ['/api/articles', '/api/articles?status=draft'], ...asFull)
    expect(again).toMatchObject({ different: 0, status: 0 })
  } finally {
    await checked.close()
  }
})

test('documents that code of the project hides come first, and are marked as exposed', async () => {
  const found = await between(['/api/articles', '/api/authors'])
  expect(groupsOf(found)[0]).toEqual(['documents shown', 'api::author.author', 1])
  expect(found.groups[0]).toMatchObject({ exposes: true })
  expect(found.groups[0]!.advice).toContain('types["api::author.author"].scope')
})

test('attributes that code removes or adds, refusals of a policy, an order and a page size of the project', async () => {
  const found = await between(['/api/categories', '/api/suppliers', '/api/tags', '/api/products'])
  expect(groupsOf(found).sort()).toEqual([
    ['allowed', 'api::supplier.supplier', 1],
    ['attributes missing', 'api::category.category', 1],
    ['attributes shown', 'api::category.category', 1],
    ['default order', 'api::tag.tag', 1],
    ['page size', 'api::product.product', 1],
  ])
})

test('files of the project whose code may be the cause are named', async () => {
  const folder = project({
    'src/api/article/middlewares/deep.js': "module.exports = () => (ctx, next) => { ctx.query.populate = '*'; return next() }",
    'src/api/article/routes/article.js':
      "module.exports = createCoreRouter('api::article.article', { config: { find: { middlewares: ['api::article.deep'] } } })",
    'src/api/author/policies/owner.js': 'module.exports = () => false',
  })
  const { groups } = await between(['/api/articles', '/api/authors'], '--project', folder)
  expect(groups.map(({ subject, files }) => [subject, files])).toEqual([
    ['api::author.author', []],
    ['api::article.article', ['src/api/article/middlewares/deep.js (find): sets populate']],
  ])
})
