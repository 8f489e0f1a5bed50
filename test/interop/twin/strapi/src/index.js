// `register` adds document middlewares, `bootstrap` the tags that the project needs.
module.exports = {
  register({ strapi }) {
    // Whoever creates a note or an order owns it.
    strapi.documents.use(async ({ uid, action, params }, next) => {
      const owned = { 'api::note.note': 'ownerId', 'api::order.order': 'customerId' }
      const user = strapi.requestContext.get()?.state.user
      if (action === 'create' && uid in owned && user) params.data[owned[uid]] = user.id
      return next()
    })
    // What is paid is noted.
    strapi.documents.use(async ({ uid, action, params }, next) => {
      const result = await next()
      if (uid === 'api::order.order' && action === 'update' && params.data.state === 'paid')
        await strapi.documents('api::audit.audit').create({ data: { what: 'paid', subject: params.documentId } })
      return result
    })
    // Lists of writers leave out those who are retired.
    strapi.documents.use(async ({ uid, action, params }, next) => {
      if (uid === 'api::writer.writer' && ['findMany', 'count'].includes(action))
        params.filters = { $and: [params.filters ?? {}, { retired: { $ne: true } }] }
      return next()
    })
  },
  async bootstrap({ strapi }) {
    const tags = strapi.documents('api::tag.tag')
    for (const name of ['Mountains', 'Rivers'])
      if ((await tags.count({ filters: { name } })) === 0) await tags.create({ data: { name, color: 'grey' } })
  },
}
