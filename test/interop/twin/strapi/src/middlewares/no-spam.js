// A global middleware: no write of any type may offer a lottery.
const { errors } = require('@strapi/utils')

module.exports = () => async (ctx, next) => {
  const texts = Object.values(ctx.request.body?.data ?? {}).filter((value) => typeof value === 'string')
  if (['POST', 'PUT'].includes(ctx.method) && texts.some((text) => /lottery/i.test(text)))
    throw new errors.ForbiddenError('No lotteries', { policy: 'no-spam' })
  await next()
}
