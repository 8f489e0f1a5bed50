module.exports = require('@strapi/strapi').factories.createCoreRouter('api::payment.payment', { only: ['find'] })
