// The service sorts lists by name unless the request says otherwise.
const { factories } = require('@strapi/strapi')

module.exports = factories.createCoreService('api::writer.writer', () => ({
  find(params) {
    return super.find({ ...params, sort: params.sort ?? 'name:desc' })
  },
}))
