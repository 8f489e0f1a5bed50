// The service of orders: takes the ordered items from the stock, and notes the payment, all of it or nothing.
import { apiError } from './errors.mjs'

const [order, product, payment] = ['api::order.order', 'api::product.product', 'api::payment.payment']

/** @param {import('octavo').ContentService} content @param {string} documentId @param {string} number of the payment */
export async function checkOut({ documents, transaction }, documentId, number) {
  const found = await documents(order).findOne({ documentId, populate: ['product'] })
  if (found === null) throw apiError('NotFoundError', 'No such order')
  if (found.state !== 'open') throw apiError('ApplicationError', 'The order is not open', { state: found.state })
  const { product: ordered, amount } = found
  if (ordered.stock < amount) throw apiError('ApplicationError', 'Out of stock', { left: ordered.stock })
  const { paid } = await transaction((write) => {
    const { stock, price } = ordered
    write(product).update({ documentId: ordered.documentId, filters: { stock }, data: { stock: stock - amount } })
    const result = write(order).update({ documentId, filters: { state: 'open' }, data: { state: 'paid', total: price * amount } })
    write(payment).create({ data: { number, order: documentId } })
    return { paid: result }
  })
  return paid
}
