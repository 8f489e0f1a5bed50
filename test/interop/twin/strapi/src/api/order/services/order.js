// Takes what was ordered from the stock, and notes the payment: all of it or nothing.
const { factories } = require('@strapi/strapi')
const { errors } = require('@strapi/utils')

const uid = 'api::order.order'

module.exports = factories.createCoreService(uid, ({ strapi }) => ({
  async checkOut(documentId, number) {
    const order = await strapi.documents(uid).findOne({ documentId, populate: ['product'] })
    if (order === null) throw new errors.NotFoundError('No such order')
    if (order.state !== 'open') throw new errors.ApplicationError('The order is not open', { state: order.state })
    const { product, amount } = order
    if (product.stock < amount) throw new errors.ApplicationError('Out of stock', { left: product.stock })
    return strapi.db.transaction(async () => {
      const stock = product.stock - amount
      await strapi.documents('api::product.product').update({ documentId: product.documentId, data: { stock } })
      const data = { state: 'paid', total: product.price * amount }
      const paid = await strapi.documents(uid).update({ documentId, data })
      // The number is unique: a payment that is known takes back what was written above.
      await strapi.documents('api::payment.payment').create({ data: { number, order: documentId } })
      return paid
    })
  },
}))
