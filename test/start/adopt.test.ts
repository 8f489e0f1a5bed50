// `octavo adopt` on projects of Strapi: the defaults in octavo.config, the responses of a service with them, and what the command leaves.
import { chmodSync, existsSync, linkSync, readFileSync, renameSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { addToken, secrets } from '../spec/callers.js'
import { contentType } from '../spec/library.js'
import { rule } from '../support/rule.js'
import { type Served, serveExisting, serveProject } from '../support/serve.js'
import { octavo, project, removeProjects } from './command.js'

let served: Served
let again: Served | undefined
afterAll(async () => {
  await again?.close()
  await served.close()
  removeProjects()
})

const uid = 'api::page.page'
const middleware = (body: string) =>
  `const populate = { author: { fields: ['name'] } }
  module.exports = () => async (ctx, next) => { ${body}; await next() }`
const files = {
  'package.json': { dependencies: { '@strapi/strapi': '5.54.0' } },
  ...contentType('page', {
    title: { type: 'string' },
    author: { type: 'relation', relation: 'manyToOne', target: 'api::author.author' },
  }),
  ...contentType('author', { name: { type: 'string' } }),
  'src/api/page/middlewares/own.js': middleware(`
    require('node:fs').writeFileSync(require('node:path').join(process.cwd(), 'was-run'), '')
    ctx.query.populate = populate; ctx.query.sort ??= 'title:desc'`),
  'src/api/page/routes/page.js': `module.exports = require('@strapi/strapi').factories.createCoreRouter('${uid}', {
    config: { find: { middlewares: ['api::page.own', 'api::page.user'] }, findOne: { middlewares: ['api::page.own'] } },
  })`,
  // Reading it needs neither endless time nor endless memory.
  'src/api/page/policies/endless.js': `const list = ['text']
    const grow = () => { list.push(...list, list.join('')); grow(); while (true) grow() }
    module.exports = () => { grow(); return true }`,
  'src/api/page/middlewares/user.js': middleware('if (ctx.state.user) ctx.query.locale = ctx.state.user.locale'),
}
const defaults = { populate: { author: { fields: ['name'] } }, sort: 'title:desc' }
const configOf = (folder: string, name = 'octavo.config.json'): string => readFileSync(join(folder, name), 'utf8')

rule('defaults.4', 'the service that is started after the command responds as with the middleware of the project', async () => {
  served = await serveProject(files, { environment: secrets })
  await addToken(served, 'full', { type: 'full-access' })
  const create = (path: string, data: object) =>
    served.request(path, { method: 'POST', token: 'full', body: JSON.stringify({ data }), headers: { 'content-type': 'application/json' } })
  const { body } = await create('/api/authors', { name: 'Ada' })
  for (const title of ['a', 'b']) await create('/api/pages', { title, author: body.data.documentId })
  const plain = (await served.request('/api/pages', { token: 'full' })).body.data
  expect(plain.map(({ title, author }: { title: string; author?: object }) => [title, author])).toEqual([
    ['a', undefined],
    ['b', undefined],
  ])
  const shown = await octavo(['adopt', served.folder, '--dry-run'])
  expect([shown.status, shown.err]).toEqual([0, ''])
  expect(shown.out).toContain(`To add to octavo.config.json:\n${JSON.stringify({ types: { [uid]: { defaults } } }, null, 2)}\n`)
  expect(existsSync(join(served.folder, 'octavo.config.json'))).toBe(false)
  const { status, out } = await octavo(['adopt', served.folder])
  expect(status).toBe(0)
  expect(out.split('\n')).toEqual([
    'Added to octavo.config.json:',
    `  types["${uid}"].defaults = ${JSON.stringify(defaults)}`,
    expect.stringMatching(/^Not adopted; /),
    `  src/api/page/middlewares/user.js (find of ${uid}): sets locale, computed, under a condition`,
    '',
  ])
  expect(JSON.parse(configOf(served.folder))).toEqual({ types: { [uid]: { defaults } } })
  again = await serveExisting(served, secrets)
  const { data } = (await again.request('/api/pages', { token: 'full' })).body
  expect(data).toMatchObject([
    { title: 'b', author: { name: 'Ada' } },
    { title: 'a', author: { name: 'Ada' } },
  ])
  const unchanged = configOf(served.folder)
  expect((await octavo(['adopt', served.folder])).out).toMatch(/^The code sets no constant defaults that octavo\.config lacks\.\n/)
  expect(configOf(served.folder)).toBe(unchanged)
  expect([served.folder, process.cwd()].some((folder) => existsSync(join(folder, 'was-run')))).toBe(false)
})

rule('defaults.4', 'settings of octavo.config remain, and other values are printed; filters come with a warning', async () => {
  const config = { port: 1400, types: { [uid]: { defaults: { sort: 'title' }, routes: { except: ['delete'] } } } }
  const folder = project({
    ...files,
    'octavo.config.json': JSON.stringify(config, null, 4),
    'src/api/author/controllers/author.js': `module.exports = require('@strapi/strapi').factories.createCoreController('api::author.author', {
      async find(ctx) { ctx.query.filters = { name: { $notNull: true } }; return super.find(ctx) },
      async findOne(ctx) { ctx.query.filters = { name: { $notNull: true } }; return super.findOne(ctx) },
    })`,
  })
  // Through a link; readers of the former file, such as backups, never see half of the new one.
  renameSync(join(folder, 'octavo.config.json'), join(folder, 'own.json'))
  symlinkSync('own.json', join(folder, 'octavo.config.json'))
  linkSync(join(folder, 'own.json'), join(folder, 'former.json'))
  chmodSync(join(folder, 'own.json'), 0o664)
  const { status, out } = await octavo(['adopt', folder])
  expect(status).toBe(0)
  expect(configOf(folder)).toBe(
    `${JSON.stringify(
      {
        port: 1400,
        types: {
          [uid]: { defaults: { sort: 'title', populate: defaults.populate }, routes: { except: ['delete'] } },
          'api::author.author': { defaults: { filters: { name: { $notNull: true } } } },
        },
      },
      null,
      4,
    )}\n`,
  )
  expect(configOf(folder, 'own.json')).toBe(configOf(folder))
  expect(configOf(folder, 'former.json')).toBe(JSON.stringify(config, null, 4))
  expect(statSync(join(folder, 'own.json')).mode & 0o777).toBe(0o664)
  expect(out).toContain(
    `Not changed in octavo.config.json:\n  types["${uid}"].defaults = {"sort":"title:desc"} in src/api/page/middlewares/own.js\n`,
  )
  expect(out).toMatch(/Filters that clients can replace; .*types\.<uid>\.scope:\n {2}api::author\.author\n/)
})

rule('defaults.4', 'what only one of find and findOne sets is not written, except for single types', async () => {
  const controller = (type: string, body: string) =>
    `module.exports = require('@strapi/strapi').factories.createCoreController('${type}', { ${body} })`
  const folder = project({
    ...files,
    ...contentType('about', { title: { type: 'string' } }, { kind: 'singleType' }),
    'src/api/about/controllers/about.js': controller('api::about.about', "find(ctx) { ctx.query.fields = ['title'] }"),
    'src/api/author/controllers/author.js': controller(
      'api::author.author',
      `find(ctx) { ctx.query.filters = { name: 'Ada' }; ctx.query.fields = ['name'] },
      findOne(ctx) { ctx.query.populate = '*'; ctx.query.fields = ['name'] }`,
    ),
  })
  const { out } = await octavo(['adopt', folder])
  expect(JSON.parse(configOf(folder)).types).toEqual({
    [uid]: { defaults },
    'api::about.about': { defaults: { fields: ['title'] } },
    'api::author.author': { defaults: { fields: ['name'] } },
  })
  const path = 'src/api/author/controllers/author.js'
  expect(out.split('Not adopted; ')[1]!.split('\n').slice(1)).toEqual([
    `  types["api::author.author"].defaults = {"filters":{"name":"Ada"}} in ${path}: only find sets it; defaults apply to single documents too`,
    `  types["api::author.author"].defaults = {"populate":"*"} in ${path}: only findOne sets it; defaults apply to lists too`,
    expect.stringContaining('user.js'),
    '',
  ])
})

rule('defaults.4', 'a configuration that is code is not changed, and defaults that no request could have are not written', async () => {
  const text = 'export default {}\n'
  const folder = project({
    ...files,
    'octavo.config.mjs': text,
    'src/api/author/middlewares/deep.js': middleware("ctx.query.populate = 'deep'"),
    'src/api/author/routes/author.js':
      "module.exports = createCoreRouter('api::author.author', { config: { find: { middlewares: ['deep'] }, findOne: { middlewares: ['deep'] } } })",
  })
  const { status, out, err } = await octavo(['adopt', folder])
  expect([status, err]).toEqual([
    1,
    'octavo: octavo.config.mjs is code, which this command does not change. Add the printed settings to it.\n',
  ])
  expect(out).toContain(`To add to octavo.config.mjs:\n${JSON.stringify({ types: { [uid]: { defaults } } }, null, 2)}\n`)
  expect(out).toMatch(
    /Not possible as defaults:\n {2}types\["api::author\.author"\].defaults = \{"populate":"deep"\} in .*Invalid key deep/,
  )
  expect([configOf(folder, 'octavo.config.mjs'), existsSync(join(folder, 'octavo.config.json'))]).toEqual([text, false])
})

test('folders without code of Strapi, and without a project', async () => {
  const folder = project(contentType('page', { title: { type: 'string' } }))
  expect(await octavo(['adopt', folder])).toEqual({
    status: 1,
    out: '',
    err: expect.stringMatching(/^octavo: .* has no code of Strapi: no package\.json that depends on @strapi\/strapi, .*\n$/),
  })
  const none = await octavo(['adopt', project({ 'a.txt': '' })])
  expect([none.status, none.err]).toEqual([1, expect.stringContaining('is not a content project')])
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ dependencies: { '@strapi/strapi': '5.54.0' } }))
  expect(await octavo(['adopt', folder])).toEqual({
    status: 0,
    out: 'The code sets no constant defaults that octavo.config lacks.\n',
    err: '',
  })
})
