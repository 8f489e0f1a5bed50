// A route middleware: what a response populates, and its order, unless the request says it.
module.exports = () => async (ctx, next) => {
  const { populate = { tags: { fields: ['name'] }, writer: { fields: ['name'] }, seo: true }, sort = 'title' } = ctx.query
  ctx.query = { ...ctx.query, populate, sort }
  await next()
}
