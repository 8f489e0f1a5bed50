// A list has one's own notes only.
const { factories } = require('@strapi/strapi')

const uid = 'api::note.note'

module.exports = factories.createCoreController(uid, ({ strapi }) => ({
  async find(ctx) {
    await this.validateQuery(ctx)
    const { filters = {}, ...query } = await this.sanitizeQuery(ctx)
    const own = ctx.state.user ? { ownerId: ctx.state.user.id } : {}
    const { results, pagination } = await strapi.service(uid).find({ ...query, filters: { $and: [filters, own] } })
    return this.transformResponse(await this.sanitizeOutput(results, ctx), { pagination })
  },
}))
