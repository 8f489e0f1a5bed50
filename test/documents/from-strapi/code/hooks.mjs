// In place of lifecycles, document middlewares, and a global middleware that refuses writes.
import { settings } from './settings.mjs'

const owned = { 'api::note.note': 'ownerId', 'api::order.order': 'customerId' }

export const hooks = [
  {
    name: 'closed', // for every type and every action
    before: ({ caller }) => {
      if (settings.isClosed() && caller !== null) throw Object.assign(new Error('Closed for an hour'), { name: 'ServiceUnavailableError' })
    },
  },
  {
    name: 'owner',
    types: Object.keys(owned),
    actions: ['create'],
    before: ({ uid, data, caller }) => {
      if (caller?.kind === 'user') data[owned[uid]] = caller.id
    },
  },
  {
    name: 'slug of an article',
    types: ['api::article.article'],
    actions: ['create', 'update'],
    before: ({ data }) => {
      if (typeof data.title === 'string') data.slug = data.title.toLowerCase().replace(/[^a-z0-9]+/g, '-')
    },
  },
  {
    name: 'a paid order',
    types: ['api::order.order'],
    actions: ['update'],
    after: ({ data, documentId, log }) => {
      if (data.state === 'paid') log.info('an order was paid', { documentId })
    },
  },
]
