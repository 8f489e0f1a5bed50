// Single letters are for their owners.
module.exports = async ({ state, params }, _config, { strapi }) => {
  const filters = { documentId: params.id, owner: { id: state.user.id } }
  return (await strapi.documents('api::letter.letter').count({ filters })) > 0
}
