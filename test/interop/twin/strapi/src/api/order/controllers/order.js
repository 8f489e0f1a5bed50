// The actions of the custom routes; customers see their own orders only.
const { createHmac } = require('node:crypto')
const { factories } = require('@strapi/strapi')
const { yup, validateYupSchema } = require('@strapi/utils')

const uid = 'api::order.order'
const checkoutSchema = yup.object({ number: yup.string().min(2).required(), gift: yup.boolean() }).noUnknown()

module.exports = factories.createCoreController(uid, ({ strapi }) => {
  const findOwn = (ctx, documentId) => {
    const own = ctx.state.user ? { customerId: ctx.state.user.id } : {}
    return strapi.documents(uid).findFirst({ filters: { documentId, ...own } })
  }
  return {
    async find(ctx) {
      await this.validateQuery(ctx)
      const { filters = {}, ...query } = await this.sanitizeQuery(ctx)
      const own = ctx.state.user ? { customerId: ctx.state.user.id } : {}
      const { results, pagination } = await strapi.service(uid).find({ ...query, filters: { $and: [filters, own] } })
      return this.transformResponse(await this.sanitizeOutput(results, ctx), { pagination })
    },
    async findOne(ctx) {
      if ((await findOwn(ctx, ctx.params.id)) === null) return ctx.notFound()
      return super.findOne(ctx)
    },
    async update(ctx) {
      if ((await findOwn(ctx, ctx.params.id)) === null) return ctx.notFound()
      return super.update(ctx)
    },
    async checkout(ctx) {
      const { documentId } = ctx.params
      const { number } = await validateYupSchema(checkoutSchema)(ctx.request.body)
      if ((await findOwn(ctx, documentId)) === null) return ctx.notFound()
      const order = await strapi.service(uid).checkOut(documentId, number)
      return { data: await this.sanitizeOutput(order, ctx) }
    },
    async payment(ctx) {
      const bytes = ctx.request.body[Symbol.for('unparsedBody')]
      const signature = createHmac('sha256', 'payments').update(bytes).digest('hex')
      if (ctx.get('x-signature') !== signature) return ctx.unauthorized('Wrong signature')
      const { order, number } = ctx.request.body
      await strapi.service(uid).checkOut(order, number)
      ctx.status = 204
    },
  }
})
