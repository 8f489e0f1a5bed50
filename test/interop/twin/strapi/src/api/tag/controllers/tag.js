// The response of a list is wrapped, without colours.
const { factories } = require('@strapi/strapi')

module.exports = factories.createCoreController('api::tag.tag', () => ({
  async find(ctx) {
    const { data, meta } = await super.find(ctx)
    return { data: data.map(({ color, ...tag }) => ({ ...tag, label: `#${tag.name}` })), meta, legend: 'labels begin with #' }
  },
}))
