// Lifecycle hooks: a slug and the number of words are computed, new articles are noted.
const { errors } = require('@strapi/utils')

function compute({ params: { data } }) {
  if (typeof data.title === 'string') {
    if (data.title.length > 60) throw new errors.ApplicationError('The title is too long', { length: data.title.length })
    data.slug = data.title.toLowerCase().replace(/[^a-z0-9]+/g, '-')
  }
  if (typeof data.text === 'string') data.words = data.text.split(/\s+/).filter(Boolean).length
}

module.exports = {
  beforeCreate: compute,
  beforeUpdate: compute,
  async afterCreate({ result }) {
    // A draft and its published version are two rows.
    if (result.publishedAt !== null) return
    await strapi.documents('api::audit.audit').create({ data: { what: 'created', subject: result.title } })
  },
  async beforeDelete({ params: { where } }) {
    const row = await strapi.db.query('api::article.article').findOne({ where })
    if (row?.featured) throw new errors.ApplicationError('Featured articles stay', { title: row.title })
  },
  async afterDelete({ result }) {
    if (result.publishedAt !== null) return
    await strapi.documents('api::audit.audit').create({ data: { what: 'deleted', subject: result.title } })
  },
}
