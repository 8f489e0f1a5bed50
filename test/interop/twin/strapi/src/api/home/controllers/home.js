// The home page always comes with all of its sections.
const { factories } = require('@strapi/strapi')

const populate = {
  sections: {
    on: { 'section.teaser': { populate: { article: { fields: ['title', 'slug'] } } }, 'section.quote': true },
  },
}

module.exports = factories.createCoreController('api::home.home', () => ({
  async find(ctx) {
    ctx.query = { ...ctx.query, populate }
    return super.find(ctx)
  },
}))
