// Users reach only their own notes, tokens all of them.
module.exports = async ({ state, params }, _config, { strapi }) => {
  if (!state.user) return true
  const ownerId = state.user.id
  return (await strapi.documents('api::note.note').findFirst({ filters: { documentId: params.id, ownerId } })) !== null
}
