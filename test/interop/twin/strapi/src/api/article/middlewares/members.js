// A route middleware: the public finds only what is for everyone.
module.exports = () => async (ctx, next) => {
  const { filters = {} } = ctx.query
  if (!ctx.state.auth?.credentials) ctx.query = { ...ctx.query, filters: { $and: [filters, { audience: 'everyone' }] } }
  await next()
}
