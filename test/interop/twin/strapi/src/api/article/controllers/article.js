// Lists and single documents get minutes to read; the actions of the custom routes.
const { factories } = require('@strapi/strapi')
const { errors, yup, validateYupSchema } = require('@strapi/utils')

const uid = 'api::article.article'
const withMinutes = (article) => ({ ...article, minutes: Math.ceil((article.words ?? 0) / 200) })
const statisticsSchema = yup.object({ minimum: yup.number().integer().min(0) })

module.exports = factories.createCoreController(uid, ({ strapi }) => ({
  async find(ctx) {
    const { data, meta } = await super.find(ctx)
    return { data: data.map(withMinutes), meta: { ...meta, unit: 'minutes' } }
  },
  async findOne(ctx) {
    const response = await super.findOne(ctx)
    return response && { ...response, data: withMinutes(response.data) }
  },
  async featured() {
    const found = await strapi.documents(uid).findMany({
      ...{ filters: { featured: true, audience: 'everyone' }, fields: ['title', 'slug'], sort: 'title', limit: 5, status: 'published' },
    })
    return { data: found }
  },
  async best(ctx) {
    const best = await strapi.documents(uid).findFirst({ filters: { featured: true }, sort: 'words:desc', status: 'published' })
    ctx.set('X-Best', best.slug)
    ctx.redirect(`/api/articles/${best.documentId}`)
  },
  async export(ctx) {
    const found = await strapi.documents(uid).findMany({ fields: ['title', 'slug'], sort: 'title', status: 'published' })
    ctx.type = 'text/csv'
    ctx.body = ['title,slug', ...found.map(({ title, slug }) => `"${title}",${slug}`), ''].join('\n')
  },
  async statistics(ctx) {
    const { minimum = 0 } = await validateYupSchema(statisticsSchema, { strict: false })(ctx.query)
    const count = await strapi.documents(uid).count({ status: 'published', filters: { words: { $gte: minimum } } })
    if (count === 0) throw new errors.NotFoundError('No article is that long', { minimum })
    return { count }
  },
}))
