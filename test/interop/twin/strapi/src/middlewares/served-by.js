// A global middleware: a header of every response.
module.exports = () => async (ctx, next) => {
  await next()
  ctx.set('X-Served-By', 'twin')
}
