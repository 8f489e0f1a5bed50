// Single notes are for their owners.
const { factories } = require('@strapi/strapi')

const own = { policies: ['is-owner'] }

module.exports = factories.createCoreRouter('api::note.note', { config: { findOne: own, update: own, delete: own } })
