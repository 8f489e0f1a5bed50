// In place of a service: a function that gets its dependencies.
const [order, product, payment] = ['api::order.order', 'api::product.product', 'api::payment.payment']

/** Takes the ordered items from the stock, and notes the payment: all of it or nothing, once for each payment and each order. */
export async function checkOut({ documents, transaction }, orderId, number) {
  // Payment services report a payment until they know that it was noted.
  if ((await documents(payment).count({ filters: { number } })) > 0) return documents(order).findOne({ documentId: orderId })
  const { amount, product: ordered } = await documents(order).findOne({ documentId: orderId, populate: ['product'] })
  if (ordered === null || ordered.stock < amount)
    throw Object.assign(new Error('Out of stock'), { name: 'ConflictError', details: { left: ordered?.stock ?? 0 } })
  const { documentId, price, stock } = ordered
  const written = await transaction((write) => {
    // The values read above may have changed: then the filters do not match, and nothing is written.
    write(product).update({ documentId, filters: { stock }, data: { stock: stock - amount } })
    write(payment).create({ data: { number, order: orderId } })
    const data = { state: 'paid', total: price * amount }
    return { order: write(order).update({ documentId: orderId, filters: { state: 'open' }, data }) }
  })
  return written.order
}
