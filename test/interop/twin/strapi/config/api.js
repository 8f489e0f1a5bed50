// Both services read this file.
module.exports = { rest: { defaultLimit: 5, maxLimit: 7, withCount: true } }
