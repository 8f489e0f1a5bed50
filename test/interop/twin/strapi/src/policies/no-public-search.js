// A global policy: nobody searches without an account.
module.exports = ({ state, request }) => Boolean(state.auth?.credentials) || request.query._q === undefined
