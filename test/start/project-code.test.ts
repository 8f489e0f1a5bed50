// Messages of a start about the code of a Strapi project, which it does not run: where each file runs in Strapi, its purpose there, and the
// defaults in its place. The patterns are those of Strapi's documentation and of public projects.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { component, contentType } from '../spec/library.js'
import { project, removeProjects, root } from './command.js'

afterAll(removeProjects)

interface Line {
  readonly level: number
  readonly path: string
  readonly on?: readonly string[]
  readonly does?: readonly string[]
  readonly msg: string
  readonly paths?: readonly string[]
  readonly types?: Readonly<Record<string, { readonly defaults?: unknown; readonly routes?: unknown }>>
  readonly problem?: string
  readonly uid?: string
}

const types = {
  ...contentType('page', {
    title: { type: 'string' },
    secret: { type: 'string' },
    seo: { type: 'component', component: 'a.seo' },
    articles: { type: 'relation', relation: 'oneToMany', target: 'api::article.article' },
  }),
  ...contentType('article', { title: { type: 'string' }, audience: { type: 'string' }, email: { type: 'string' } }),
  ...component('a', 'seo', { text: { type: 'string' } }),
}

/** Starts a project with these files, waits until its code was read, and returns the log lines about it. */
async function read(files: Readonly<Record<string, unknown>>): Promise<readonly Line[]> {
  const folder = project({ 'package.json': { dependencies: { '@strapi/strapi': '5.54.0' } }, ...types, ...files })
  const environment = { PATH: process.env.PATH, NODE_ENV: 'production', HOST: '127.0.0.1', PORT: '0', OCTAVO_DATABASE_READER_THREADS: '1' }
  const child = spawn(process.execPath, [join(root, 'dist', 'main.js'), 'start', folder, '--new'], { env: environment })
  let out = ''
  child.stdout.on('data', (bytes) => {
    const isRead = out.includes('which Octavo does not run"}')
    out += bytes
    // Once only: a second signal would not wait.
    if (!isRead && out.includes('which Octavo does not run"}')) child.kill('SIGINT')
  })
  const timer = setTimeout(() => child.kill('SIGKILL'), 40_000)
  const [status] = await once(child, 'close')
  clearTimeout(timer)
  expect([status, out.includes('Octavo serves')], out).toEqual([0, true])
  // Nothing of it comes before the service listens.
  expect(out.slice(0, out.indexOf('Octavo serves'))).not.toContain('src/')
  return out.split('\n').flatMap((line) => (line.startsWith('{') ? [JSON.parse(line)] : []))
}

/** The router of a type that has these middlewares on its reads. */
const routed = (uid: string, ...middlewares: string[]) => `
  const { createCoreRouter } = require('@strapi/strapi').factories
  const middlewares = ${JSON.stringify(middlewares)}
  module.exports = createCoreRouter('${uid}', { config: { find: { middlewares }, findOne: { middlewares } } })`

/** The lines of a file. */
const linesOf = (lines: readonly Line[], path: string) => lines.filter((line) => line.path === path)
/** The message about the first file of this kind. */
const messageOf = (lines: readonly Line[], kind: string): string =>
  lines.find(({ path, level, msg }) => path !== undefined && level === 40 && msg.startsWith(kind))?.msg ?? ''
/** The defaults that were suggested for a type. */
const suggested = (lines: readonly Line[], uid: string) => lines.find(({ types: given }) => given?.[uid]?.defaults)?.types?.[uid]?.defaults

const one = { articles: { fields: ['title'] } }
const inTypeScript = (body: string) => `
  import type { Core } from '@strapi/strapi'
  const populate = ${JSON.stringify(one)} as const satisfies Record<string, unknown>
  export default (config: unknown, { strapi }: { strapi: Core.Strapi }) => {
    return async (ctx: any, next: () => Promise<void>): Promise<void> => {
      ${body}
      await next()
    }
  }`

const [always, ifNone] = ['sets populate', 'sets populate where a request has none']
/** A middleware, its message, and its value; the last is false if it is not a constant that could be a default. */
const middlewares: readonly (readonly [string, string, unknown])[] = [
  ['ctx.query.populate = populate', always, one],
  ['ctx.query = { ...ctx.query, populate }', always, one],
  ['ctx.query = { populate, ...ctx.query }', ifNone, one],
  ['if (!ctx.query.populate) { ctx.query.populate = populate }', ifNone, one],
  ['if (ctx.query.populate) return next(); ctx.query.populate = populate', ifNone, one],
  ['if (ctx.query.populate === undefined) ctx.query.populate = populate', ifNone, one],
  ["ctx.query['populate'] = ctx.query.populate || populate", ifNone, one],
  ['ctx.query.populate ??= populate', ifNone, one],
  ['ctx.query.populate = ctx.query.populate ? ctx.query.populate : populate', ifNone, one],
  ['Object.assign(ctx.query, { populate })', always, one],
  ['ctx.query = Object.assign({}, { populate }, ctx.query)', ifNone, one],
  ['const { query } = ctx; query.populate = populate', always, one],
  ['const query = ctx.request.query; query.populate = populate', always, one],
  ["_.set(ctx, 'query.populate', populate)", always, one],
  ["ctx.query.populate = ['articles']", always, ['articles']],
  ["ctx.query.populate = ['art', 'icles'].join('')", always, 'articles'],
  ['if (Object.keys(ctx.query).length === 0) ctx.query = { populate }', ifNone, one],
  ['if (ctx.state.user) ctx.query.populate = populate', `${always}, under a condition`, undefined],
  ["ctx.query.populate = strapi.config.get('populate')", `${always}, computed`, undefined],
  ['const chosen = {}; chosen[config] = true; ctx.query.populate = chosen', `${always}, computed`, undefined],
  ['ctx.query.populate = { ...ctx.query.populate, seo: true }', 'adds to populate', undefined],
  [
    'const chosen = { ...ctx.query.populate, seo: ctx.state.user.id }; ctx.query = { ...ctx.query, populate: chosen }',
    'adds to populate, computed',
    undefined,
  ],
  ['const chosen = ctx.query.populate ?? populate; ctx.query.populate = chosen', ifNone, one],
  ['const query = await this.sanitizeQuery(ctx); query.populate = populate', always, one],
  ['let chosen = populate; if (config) chosen = {}; ctx.query.populate = chosen', `${always}, computed`, undefined],
  ['delete ctx.query.populate', 'removes populate', undefined],
  ['delete (ctx.query.populate as any)', 'removes populate', undefined],
  // Types in assignments have no effect.
  ['(ctx.query as any) = { ...ctx.query, populate }', always, one],
  ['let chosen; [(chosen satisfies unknown)] = [populate]; (<any>ctx.query)!.populate = chosen', always, one],
  // A loop may have no entry.
  ['for (const each of strapi.list) ctx.query.populate = populate', `${always}, under a condition`, undefined],
  ['for (const each in strapi.list) { ctx.query.populate = populate }', `${always}, under a condition`, undefined],
  // Names of blocks hide others there alone; `var` belongs to the function.
  ["if (ctx.state.user) { const populate = '*' }; ctx.query.populate = populate", always, one],
  ['for (const populate of strapi.list) strapi.log.info(populate); ctx.query.populate = populate', always, one],
  ["try { strapi.start() } catch (populate) { const one = '*' }; ctx.query.populate = populate", always, one],
  ['{ function populate() {} class one {} } ctx.query.populate = populate', always, one],
  ["if (true) { var chosen = ['articles'] } var chosen; ctx.query.populate = chosen", always, ['articles']],
  // Functions that are not in the text, for each entry of a list.
  ["['a-b'].map(camelCase); ['a'].flatMap(String); ['a'].forEach(strapi.log.info); ctx.query.populate = populate", always, one],
  ["ctx.query.populate = ['articles'].map(String)", `${always}, computed`, undefined],
  // Values that JSON does not have, or only as endless text.
  ['ctx.query.populate ??= { by: () => 1 }', `${ifNone}, computed`, undefined],
  ["ctx.query.populate = factories.createCoreService('a')", `${always}, computed`, undefined],
  [`let deep = {}; ${'deep = { deep }; '.repeat(6_000)} ctx.query.populate = deep`, `${always}, computed`, undefined],
  ['const cycle = {}; cycle.self = cycle; ctx.query.populate = cycle', `${always}, computed`, undefined],
  [`let twice = {}; ${'twice = { l: twice, r: twice }; '.repeat(60)} ctx.query.populate = twice`, `${always}, computed`, undefined],
  [`let lists = ['a']; ${'lists = [lists, lists]; '.repeat(60)} ctx.query.populate = lists.join()`, `${always}, computed`, undefined],
  ["ctx.query.populate = 'deep'", always, undefined],
]

test('route middlewares that set populate: the kind of change, the actions, and the defaults that replace them', async () => {
  const lines = await read(
    Object.assign(
      {},
      ...middlewares.map(([body], index) => ({
        ...contentType(`kind-${index}`, { articles: { type: 'relation', relation: 'oneToMany', target: 'api::article.article' } }),
        [`src/api/kind-${index}/middlewares/populate.ts`]: inTypeScript(body),
        [`src/api/kind-${index}/routes/kind-${index}.js`]: routed(`api::kind-${index}.kind-${index}`, `api::kind-${index}.populate`),
      })),
    ),
  )
  for (const [index, [body, does, populate]] of middlewares.entries()) {
    const uid = `api::kind-${index}.kind-${index}`
    const [line] = linesOf(lines, `src/api/kind-${index}/middlewares/populate.ts`)
    expect(line, body).toMatchObject({ level: 40, on: [`find of ${uid}`, `findOne of ${uid}`], does: expect.arrayContaining([does]) })
    expect(line!.msg, body).toContain('types.<uid>.defaults')
    expect(suggested(lines, uid), body).toEqual(populate === undefined ? undefined : { populate })
  }
  // `populate=deep` belongs to a plugin.
  expect(lines.find(({ problem }) => problem !== undefined)).toMatchObject({
    uid: `api::kind-${middlewares.length - 1}.kind-${middlewares.length - 1}`,
    problem: 'Invalid key deep',
  })
})

test('code that takes too long or cannot be followed is named, and does not hide the rest', async () => {
  const doubled = `let all = { a: 1 }; ${'all = { l: all, r: all }; '.repeat(60)}`
  const endless = `${doubled}
    const long = ['a', 'b'].flatMap(() => ${JSON.stringify(Array(2_000).fill('a'))}).flatMap((each, index, list) => list)
    const spread = { ...strapi.a }; ${'Object.assign(spread, { ...spread }); '.repeat(60)}
    _.omit({}, ${'['.repeat(3)}all${']'.repeat(3)})
    strapi.documents('api::page.page').findMany({ filters: all }); ${doubled.replace('let ', '')}
    strapi.documents('api::page.page').findMany({ filters: all })
    _.merge({}, all, all)`
  const lines = await read({
    ...contentType('thing', {
      tone: { type: 'customField', customField: 'global::tone' },
      mood: { type: 'customField', customField: 'plugin::moods.mood' },
    }),
    'src/index.js': `module.exports = { register({ strapi }) { [{ name: 'tone', type: 'json' }].forEach(strapi.customFields.register) } }`,
    'src/plugins/moods/strapi-server.js': `${endless}; module.exports = { register({ strapi }) { ${endless} } }`,
    'src/plugins/other/server.js': `module.exports = { register({ strapi }) { strapi.customFields.register({ name: 'mood', plugin: 'moods', type: 'json' }) } }`,
    'src/middlewares/endless.js': `module.exports = () => (ctx, next) => { ctx.query.sort = 'title'; ${endless}; return next() }`,
    'src/middlewares/own.js': 'module.exports = () => (ctx, next) => { ctx.query[{ toString: 1 }] = 1; return next() }',
    'src/middlewares/start.js': `${endless}; module.exports = () => (ctx, next) => next()`,
    'src/middlewares/last.ts': "const own = () => (ctx: any, next: any) => { ctx.query.locale = 'de'; return next() }\nexport = own",
    'config/middlewares.js': "module.exports = ['global::endless', 'global::own', 'global::start', 'global::last']",
    'src/api/page/routes/page.js': `${endless}; module.exports = createCoreRouter('api::page.page', { prefix: () => 1, only: all })`,
    'src/api/page/controllers/page.js': `module.exports = createCoreController('api::page.page', () => { ${endless} })`,
  })
  const does = (path: string) => linesOf(lines, path).flatMap((line) => line.does ?? [])
  expect(does('src/middlewares/endless.js')).toContain('cannot be followed')
  expect(does('src/middlewares/own.js')).toEqual(['cannot be followed'])
  expect(does('src/middlewares/start.js')).toEqual(['cannot be followed'])
  expect(does('src/middlewares/last.ts')).toEqual(['sets locale'])
  expect(does('src/api/page/routes/page.js')).toContain('cannot be followed')
  expect(does('src/api/page/controllers/page.js')).toContain('cannot be followed')
  expect(lines.filter(({ msg }) => msg.includes('whose type is not known'))).toEqual([])
})

test('policies, controllers, global middlewares, routes and other code: hidden and added attributes, refusals', async () => {
  const lines = await read({
    'src/api/page/routes/page.ts': `
      import { factories } from '@strapi/strapi'
      import { owner } from './owner'
      export default factories.createCoreRouter('api::page.page', {
        except: ['delete'],
        config: {
          find: { policies: ['only-members', { name: 'global::is-admin', config: {} }], middlewares: [(ctx, next) => { ctx.query.sort = 'title:asc'; return next() }] },
          findOne: { auth: false, policies: [owner] },
        },
      })`,
    'src/api/page/routes/owner.ts': 'export const owner = (policyContext) => policyContext.state.user?.id === 1',
    'src/api/page/routes/custom.js':
      "module.exports = { routes: [{ method: 'GET', path: '/pages/search', handler: 'page.search', config: { auth: false, middlewares: ['api::page.log'] } }] }",
    'src/api/page/policies/only-members.js': `
      const { PolicyError } = require('@strapi/utils').errors
      module.exports = (policyContext, config, { strapi }) => {
        if (!policyContext.state.user) throw new PolicyError('members only')
        return true
      }`,
    'src/policies/is-admin.js': 'module.exports = ({ state }) => state.user.isAdmin ? true : (() => { return false })()',
    'src/policies/left-over.js': 'module.exports = () => false',
    'src/api/page/middlewares/log.js':
      'module.exports = () => async (ctx, next) => { await next(); ctx.set("X-Page", "1"); ctx.response.body.meta.at = 1 }',
    'src/api/page/controllers/page.js': `
      const { createCoreController } = require('@strapi/strapi').factories
      const filters = require('../filters')
      module.exports = createCoreController('api::page.page', ({ strapi }) => ({
        async find(ctx) {
          ctx.query = { ...ctx.query, filters: { ...ctx.query.filters, ...filters } }
          const { data, meta } = await super.find(ctx)
          return { data: data.map(({ secret, ...page }) => ({ ...page, minutes: page.title.length })), meta }
        },
        async findOne(ctx) {
          const page = await strapi.documents('api::page.page').findOne({ documentId: ctx.params.id, populate: { seo: true } })
          delete page.secret
          return this.transformResponse(await this.sanitizeOutput(page, ctx))
        },
        async search(ctx) { return strapi.documents('api::article.article').findMany({ populate: '*' }) },
      }))`,
    'src/api/page/filters.js': "module.exports = { title: { $ne: 'hidden' } }",
    'src/api/article/controllers/article.ts': `
      import { factories } from '@strapi/strapi'
      export default factories.createCoreController('api::article.article', {
        async find(ctx) {
          ctx.query.filters = { audience: 'everyone' }
          return super.find(ctx)
        },
      })`,
    'src/api/page/controllers/archive.ts': `
      class Archive {
        private readonly since = 2020
        constructor(readonly strapi: unknown) {}
        async find(ctx: Context) { return this.strapi.documents('api::article.article').findMany({ ...ctx.query, populate: '*' }) }
        async years(ctx: Context) { ctx.body = await load(); ctx.body.meta = { since: this.since } }
      }
      export default new Archive(strapi)`,
    'src/middlewares/language.js': "module.exports = () => (ctx, next) => { ctx.query.locale ||= 'de'; return next() }",
    'config/middlewares.js': "module.exports = ({ env }) => ['strapi::errors', { name: 'global::language', config: { a: env('A') } }]",
    'src/api/page/services/page.js':
      "module.exports = createCoreService('api::page.page', () => ({ async find() { return [] }, empty() {} }))",
    'src/api/page/content-types/page/lifecycles.ts': 'export default { async beforeCreate(event) {}, afterUpdate: (event) => {} }',
    'src/index.ts':
      'export default { register(/* { strapi } */) {}, bootstrap({ strapi }) { strapi.documents.use((context, next) => { if (context.action === "findMany") context.params.status = "draft"; return next() }) } }',
    'config/cron-tasks.ts': 'export default {}',
    'config/server.ts':
      "export default ({ env }) => ({ port: 1337, cron: { enabled: true, tasks: { hourly: { task: () => 1, options: { rule: '0 * * * *' } } } } })",
    'src/api/article/routes/broken.js': 'module.exports = {',
  })
  const found = lines.flatMap(({ level, path, on, does }) => (path === undefined ? [] : [[path, level, on, does]]))
  expect(found.sort()).toEqual(
    [
      ['src/middlewares/language.js', 40, ['every request'], ['sets locale where a request has none']],
      ['src/policies/is-admin.js', 40, ['find of api::page.page'], ['may refuse requests', 'looks at the user']],
      ['src/policies/left-over.js', 30, undefined, ['may refuse requests']],
      ['src/api/article/controllers/article.ts', 40, ['find of api::article.article'], ['sets filters']],
      ['src/api/article/routes/broken.js', 40, undefined, ['cannot be read']],
      ['src/api/page/content-types/page/lifecycles.ts', 40, undefined, ['runs at beforeCreate, afterUpdate']],
      [
        'src/api/page/controllers/page.js',
        40,
        ['find of api::page.page'],
        ['adds to filters', 'removes the attributes secret', 'may add minutes'],
      ],
      ['src/api/page/controllers/page.js', 40, ['findOne of api::page.page'], ['sets populate', 'removes the attributes secret']],
      ['src/api/page/controllers/page.js', 40, ['search of api::page.page'], undefined],
      ['src/api/page/controllers/archive.ts', 40, ['find'], undefined],
      ['src/api/page/controllers/archive.ts', 40, ['years'], ['writes the response']],
      ['src/api/page/middlewares/log.js', 40, ['GET /pages/search'], ['writes the response']],
      ['src/api/page/policies/only-members.js', 40, ['find of api::page.page'], ['may refuse requests', 'looks at the user']],
      ['src/api/page/routes/custom.js', 40, undefined, ['has GET /pages/search (auth: false)']],
      ['src/api/page/routes/page.ts', 40, undefined, ['except: ["delete"]']],
      ['src/api/page/routes/page.ts', 40, undefined, ['needs no permission in Strapi: findOne']],
      ['src/api/page/services/page.js', 40, undefined, ['overrides find']],
      ['src/index.ts', 40, undefined, ['sets status, under a condition', 'does something in bootstrap']],
      ['config/cron-tasks.ts', 40, undefined, undefined],
      ['config/server.ts', 40, undefined, ['has hourly']],
      ['src/api/page/routes/page.ts', 40, ['find of api::page.page'], ['sets sort']],
      ['src/api/page/routes/owner.ts', 40, ['findOne of api::page.page'], ['looks at the user']],
    ].sort(),
  )
  const kinds = ['policy', 'middleware', 'custom routes', 'controller', 'service', 'lifecycle hooks', 'register or bootstrap', 'cron tasks']
  for (const kind of kinds) expect(messageOf(lines, kind), kind).toMatch(/: .*octavo\.config/)
  expect(messageOf(lines, 'routes that are left out')).toContain('types.<uid>.routes of octavo.config')
  const leftOut = lines.find(({ types: given }) => given?.['api::page.page']?.routes !== undefined)
  expect(leftOut?.types).toEqual({ 'api::page.page': { routes: { except: ['delete'] } } })
  expect(messageOf(lines, 'custom routes')).toContain('routes of octavo.config')
  expect(messageOf(lines, 'cron tasks')).toContain('schedules of octavo.config')
  expect(suggested(lines, 'api::page.page')).toEqual({ populate: { seo: true }, sort: 'title:asc' })
  expect(suggested(lines, 'api::article.article')).toEqual({ filters: { audience: 'everyone' } })
  const advice = lines.find(({ types: given }) => given?.['api::article.article'])!.msg
  expect(advice).toContain('types.<uid>.scope')
  // Only its `find` sets filters.
  expect(advice).toContain('for lists and single documents')
})

test('code with equal defaults in octavo.config is settled; generated files do not count as code', async () => {
  const lines = await read({
    'src/api/page/middlewares/deep.ts': inTypeScript('ctx.query.populate = populate'),
    'src/api/page/routes/page.js': routed('api::page.page', 'api::page.deep'),
    'octavo.config.json': {
      types: { 'api::page.page': { defaults: { populate: one } }, 'api::article.article': { routes: { only: ['find'] } } },
    },
    'src/api/article/routes/article.ts':
      "import { factories } from '@strapi/strapi';\n\nexport default factories.createCoreRouter('api::article.article', { only: ['find'] });\n",
    'src/api/article/controllers/article.js':
      "'use strict';\n\nconst { createCoreController } = require('@strapi/strapi').factories;\n\nmodule.exports = createCoreController('api::article.article');\n",
    'src/api/article/services/article.js': "module.exports = require('@strapi/strapi').factories.createCoreService('api::article.article')",
    'src/index.js': 'module.exports = { register(/*{ strapi }*/) {}, bootstrap(/*{ strapi }*/) {} }',
  })
  const found = lines.flatMap(({ level, path, msg }) => (path === undefined ? [] : [[path, level, msg.split(':')[0]]]))
  expect(found).toEqual([
    ['src/api/article/routes/article.ts', 30, 'routes that are left out in Strapi and exist here'],
    ['src/api/page/middlewares/deep.ts', 30, 'middleware that is not run'],
  ])
  expect(suggested(lines, 'api::page.page')).toBeUndefined()
})

test('custom routes that octavo.config also has cause no warning, and those that it lacks are named', async () => {
  const lines = await read({
    'src/api/page/routes/own.js': `module.exports = { routes: [
      { method: 'GET', path: '/pages/now/:id', handler: 'page.now' },
      { method: 'POST', path: '/pages/later', handler: 'page.later' },
    ] }`,
    'src/api/article/routes/own.js': `module.exports = { routes: [{ method: 'GET', path: '/articles/now', handler: 'article.now', config: { auth: false } }] }`,
    'src/api/article/routes/place.js': `module.exports = { routes: [
      { method: 'GET', path: '/articles', handler: 'article.mine', config: { auth: false, policies: ['own'] } },
      { method: 'PUT', path: '/articles/:key', handler: 'article.change' },
      { method: 'PATCH', path: '/articles/:key', handler: 'article.change' },
    ] }`,
    'octavo.config.mjs': `export default { routes: [
      { method: 'GET', path: '/pages/now/:documentId', action: 'api::page.page.now', handle: () => 1 },
      { method: 'GET', path: '/articles/now', auth: false, handle: () => 1 },
    ] }`,
  })
  const of = (path: string) => lines.filter((line) => line.path === path).map(({ level, does, msg }) => [level, does, msg])
  expect(of('src/api/page/routes/own.js')).toEqual([
    [40, ['has POST /pages/later'], expect.stringContaining('custom routes that do not exist')],
  ])
  expect(of('src/api/article/routes/own.js')).toEqual([
    [30, ['has GET /articles/now (auth: false)'], 'custom routes that octavo.config has as well'],
  ])
  // Octavo has a route there, without what protects it in Strapi.
  const inPlace = expect.stringContaining('custom route in the place of one of api::article.article, which Octavo serves there, without')
  expect(of('src/api/article/routes/place.js')).toEqual([
    [40, ['has GET /articles (auth: false)'], inPlace],
    [40, ['has PUT /articles/:key'], inPlace],
    [40, ['has PATCH /articles/:key'], expect.stringContaining('custom routes that do not exist')],
  ])
})
