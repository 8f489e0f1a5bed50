// Users have their own letters only: the owner is a relation to users, which nobody may find.
const { factories } = require('@strapi/strapi')

const uid = 'api::letter.letter'

module.exports = factories.createCoreController(uid, ({ strapi }) => ({
  async find(ctx) {
    await this.validateQuery(ctx)
    const { filters = {}, ...query } = await this.sanitizeQuery(ctx)
    const own = { owner: { id: ctx.state.user.id } }
    const { results, pagination } = await strapi.service(uid).find({ ...query, filters: { $and: [filters, own] } })
    return this.transformResponse(await this.sanitizeOutput(results, ctx), { pagination })
  },
  async create(ctx) {
    await this.validateInput(ctx.request.body.data, ctx)
    const data = { ...ctx.request.body.data, owner: ctx.state.user.id }
    const letter = await strapi.documents(uid).create({ data, status: 'published' })
    ctx.status = 201
    return this.transformResponse(await this.sanitizeOutput(letter, ctx))
  },
}))
