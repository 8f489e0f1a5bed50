// Custom routes: one for customers, one for the payment service, which signs what it sends.
module.exports = {
  routes: [
    { method: 'POST', path: '/orders/:documentId/checkout', handler: 'order.checkout' },
    { method: 'POST', path: '/hooks/payments', handler: 'order.payment', config: { auth: false } },
  ],
}
