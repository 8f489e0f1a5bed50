module.exports = require('@strapi/strapi').factories.createCoreRouter('api::beat.beat', { only: ['find'] })
