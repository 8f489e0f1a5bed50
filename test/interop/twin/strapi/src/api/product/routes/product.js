// Everybody may see the products, whatever the permissions say.
const { factories } = require('@strapi/strapi')

module.exports = factories.createCoreRouter('api::product.product', { config: { find: { auth: false }, findOne: { auth: false } } })
