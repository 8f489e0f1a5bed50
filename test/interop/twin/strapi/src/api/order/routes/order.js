// Orders are never deleted.
module.exports = require('@strapi/strapi').factories.createCoreRouter('api::order.order', { except: ['delete'] })
