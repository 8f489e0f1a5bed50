// Lifecycles, document middlewares and the global middleware around writes.
import { apiError } from './errors.mjs'

const owned = { 'api::letter.letter': 'owner', 'api::note.note': 'ownerId', 'api::order.order': 'customerId' }

export const hooks = [
  {
    name: 'no spam',
    actions: ['create', 'update'],
    before: ({ data, caller }) => {
      const texts = Object.values(data).filter((value) => typeof value === 'string')
      if (caller !== null && texts.some((text) => /lottery/i.test(text)))
        throw apiError('ForbiddenError', 'No lotteries', { policy: 'no-spam' })
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
    name: 'slug and words of an article',
    types: ['api::article.article'],
    actions: ['create', 'update'],
    before: ({ data }) => {
      if (typeof data.title === 'string') {
        if (data.title.length > 60) throw apiError('ApplicationError', 'The title is too long', { length: data.title.length })
        data.slug = data.title.toLowerCase().replace(/[^a-z0-9]+/g, '-')
      }
      if (typeof data.text === 'string') data.words = data.text.split(/\s+/).filter(Boolean).length
    },
  },
  {
    name: 'new articles are noted',
    types: ['api::article.article'],
    actions: ['create'],
    after: ({ entries, documents }) => documents('api::audit.audit').create({ data: { what: 'created', subject: entries[0].title } }),
  },
  {
    name: 'featured articles stay',
    types: ['api::article.article'],
    actions: ['delete'],
    before: async ({ documentId, documents }) => {
      const article = await documents('api::article.article').findOne({ documentId })
      if (article?.featured) throw apiError('ApplicationError', 'Featured articles stay', { title: article.title })
    },
    after: ({ entries, documents }) => documents('api::audit.audit').create({ data: { what: 'deleted', subject: entries[0].title } }),
  },
  {
    name: 'paid orders are noted',
    types: ['api::order.order'],
    actions: ['update'],
    after: async ({ data, documentId, documents }) => {
      if (data.state === 'paid') await documents('api::audit.audit').create({ data: { what: 'paid', subject: documentId } })
    },
  },
]
