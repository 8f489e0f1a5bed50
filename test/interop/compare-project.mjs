// A Strapi project with custom code around the golden schemas: code that projects have and Octavo does not run.

import { cpSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { strapiFolder } from '../../bench/strapi.mjs'

/** The relations that the middleware of articles populates. */
export const populate = {
  author: { fields: ['name'] },
  cover: true,
  seo: { populate: { og: true } },
  blocks: {
    on: {
      'blocks.quote': true,
      'blocks.image': { populate: '*' },
      'blocks.cta': { populate: '*' },
      'blocks.rich': true,
    },
  },
  tags: true,
}

const router = (/** @type {string} */ uid, /** @type {string} */ options) =>
  `module.exports = require('@strapi/strapi').factories.createCoreRouter('${uid}', ${options})\n`
const controller = (/** @type {string} */ uid, /** @type {string} */ methods) =>
  `module.exports = require('@strapi/strapi').factories.createCoreController('${uid}', ({ strapi }) => ({ ${methods} }))\n`

/** @type {Record<string, string>} */
const code = {
  'src/api/article/middlewares/populate.js': `const populate = ${JSON.stringify(populate)}
module.exports = () => async (ctx, next) => { ctx.query.populate = populate; await next() }
`,
  'src/api/article/routes/article.js': router(
    'api::article.article',
    "{ config: { find: { middlewares: ['api::article.populate'] }, findOne: { middlewares: ['api::article.populate'] } } }",
  ),
  'src/api/tag/controllers/tag.js': controller(
    'api::tag.tag',
    `async find(ctx) {
      ctx.query = { ...ctx.query, filters: { ...ctx.query.filters, weight: { $notNull: true } } }
      const { data, meta } = await super.find(ctx)
      return { data: data.map(({ color, ...tag }) => ({ ...tag, label: tag.name + '!' })), meta }
    }`,
  ),
  'src/api/supplier/policies/nobody.js': 'module.exports = () => false\n',
  'src/api/supplier/routes/supplier.js': router('api::supplier.supplier', "{ config: { find: { policies: ['nobody'] } } }"),
  'src/api/category/routes/category.js': router('api::category.category', "{ only: ['findOne'] }"),
  'src/api/author/routes/top.js':
    "module.exports = { routes: [{ method: 'GET', path: '/top-authors', handler: 'author.top', config: { auth: false } }] }\n",
  'src/api/author/controllers/author.js': controller(
    'api::author.author',
    "async top() { return { top: await strapi.documents('api::author.author').count({}) } }",
  ),
  'src/middlewares/sorted.js': `module.exports = () => (ctx, next) => {
  if (ctx.path === '/api/products' && !ctx.query.sort) ctx.query.sort = 'name:desc'
  return next()
}
`,
  'config/middlewares.js': `module.exports = [
  'strapi::logger', 'strapi::errors', 'strapi::security', 'strapi::cors', 'strapi::poweredBy', 'strapi::query', 'strapi::body',
  'strapi::session', 'strapi::favicon', 'strapi::public', 'global::sorted',
]
`,
}

/** Copies the project of the benchmark, which has only generated code, into `folder`, and adds the code. @param {string} folder */
export function writeProjectWithCode(folder) {
  for (const part of ['src', 'config', 'public', 'database', 'package.json', '.env'])
    cpSync(join(strapiFolder, part), join(folder, part), { recursive: true })
  symlinkSync(join(strapiFolder, 'node_modules'), join(folder, 'node_modules'))
  for (const [path, text] of Object.entries(code)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
}
