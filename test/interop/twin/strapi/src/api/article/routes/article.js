// The routes of articles, with policies and middlewares.
const { factories } = require('@strapi/strapi')

const middlewares = ['api::article.members', 'api::article.populate']

module.exports = factories.createCoreRouter('api::article.article', {
  config: {
    find: { middlewares, policies: ['global::no-public-search'] },
    findOne: { middlewares },
    create: { policies: ['may-feature'] },
    update: { policies: ['may-feature'] },
  },
})
