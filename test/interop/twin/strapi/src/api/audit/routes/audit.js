// Notes are read only.
module.exports = require('@strapi/strapi').factories.createCoreRouter('api::audit.audit', { only: ['find', 'findOne'] })
