// Users write letters, and do not change them.
const { factories } = require('@strapi/strapi')

const config = { findOne: { policies: ['is-owner'] }, delete: { policies: ['is-owner'] } }

module.exports = factories.createCoreRouter('api::letter.letter', { only: ['find', 'findOne', 'create', 'delete'], config })
