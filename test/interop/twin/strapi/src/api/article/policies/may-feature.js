// A policy with an error of its own: only API tokens make an article featured.
const { errors } = require('@strapi/utils')

module.exports = ({ state, request }) => {
  const { featured } = request.body?.data ?? {}
  if (featured === undefined || featured === null || featured === false) return true
  if (!state.user && state.auth?.credentials) return true
  throw new errors.PolicyError('Only editors feature articles', { policy: 'may-feature' })
}
