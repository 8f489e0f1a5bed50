// Tags are never deleted.
module.exports = require('@strapi/strapi').factories.createCoreRouter('api::tag.tag', { except: ['delete'] })
