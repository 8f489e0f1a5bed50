// In place of policies, route middlewares, and controllers that call super.find.
const [article, note, order] = ['api::article.article', 'api::note.note', 'api::order.order']
const mayFeature = ({ data, may }) => [undefined, null, false].includes(data.featured) || may(`${article}.publish`)
const own =
  (attribute) =>
  ({ caller }) =>
    caller.kind === 'token' || (caller.kind === 'user' && { [attribute]: { $eq: caller.id } })

export const types = {
  [article]: {
    defaults: { populate: { tags: { fields: ['name'] } }, sort: 'title' },
    policies: {
      // Featuring an article needs permission to publish.
      create: mayFeature,
      update: mayFeature,
    },
    reads: {
      before: ({ query, caller }) => {
        if (caller.kind === 'public') query.filters = { $and: [query.filters ?? {}, { audience: 'everyone' }] }
      },
      after: ({ response }) => {
        for (const one of [response.body.data].flat()) one.minutes = Math.ceil((one.text ?? '').split(/\s+/).length / 200)
      },
    },
  },
  // Everybody sees only their own. `ownerId` and `customerId` are integers, private: no response shows them.
  [note]: { scope: own('ownerId') },
  [order]: { scope: own('customerId') },
}
