// Controllers, policies, route middlewares, services and document middlewares around reads, by type.
import { apiError } from './errors.mjs'

const minutes = (article) => {
  article.minutes = Math.ceil((article.words ?? 0) / 200)
}

function mayFeature({ data, caller }) {
  if ([undefined, null, false].includes(data.featured) || caller.kind === 'token') return true
  throw apiError('PolicyError', 'Only editors feature articles', { policy: 'may-feature' })
}

const onlyForEveryone = ({ query, caller }) => {
  if (caller.kind === 'public') query.filters = { $and: [query.filters ?? {}, { audience: 'everyone' }] }
}

const article = {
  defaults: { populate: { tags: { fields: ['name'] }, writer: { fields: ['name'] }, seo: true }, sort: 'title' },
  policies: {
    find: ({ query, caller }) => caller.kind !== 'public' || query._q === undefined,
    create: mayFeature,
    update: mayFeature,
  },
  reads: {
    before: onlyForEveryone,
    after: ({ action, response: { body } }) => {
      for (const one of [body.data].flat()) minutes(one)
      if (action === 'find') body.meta.unit = 'minutes'
    },
  },
}

const home = {
  defaults: {
    populate: {
      sections: {
        on: { 'section.teaser': { populate: { article: { fields: ['title', 'slug'] } } }, 'section.quote': true },
      },
    },
  },
}

const ownNote = async ({ caller, documentId, documents }) =>
  caller.kind !== 'user' || (await documents('api::note.note').count({ filters: { documentId, ownerId: caller.id } })) > 0

const note = {
  scope: ({ caller }) => caller.kind !== 'user' || { ownerId: { $eq: caller.id } },
  // A scope alone would be 404 where the policy in Strapi is 403.
  policies: { findOne: ownNote, update: ownNote, delete: ownNote },
}

const ownLetter = async ({ caller, documentId, documents }) =>
  (await documents('api::letter.letter').count({ filters: { documentId, owner: { id: caller.id } } })) > 0

const letter = {
  scope: ({ caller }) => caller.kind === 'user' && { owner: { id: { $eq: caller.id } } },
  policies: { findOne: ownLetter, update: () => false, delete: ownLetter },
}

const order = {
  scope: ({ caller }) => caller.kind !== 'user' || { customerId: { $eq: caller.id } },
  policies: { delete: () => false },
}

const tag = {
  policies: { delete: () => false },
  reads: {
    after: ({ action, response }) => {
      if (action !== 'find') return
      const { data, meta } = response.body
      const labelled = data.map(({ color, ...one }) => ({ ...one, label: `#${one.name}` }))
      response.body = { data: labelled, meta, legend: 'labels begin with #' }
    },
  },
}

const writer = {
  defaults: { sort: 'name:desc' },
  reads: {
    before: ({ action, query }) => {
      if (action === 'find') query.filters = { $and: [query.filters ?? {}, { retired: { $ne: true } }] }
    },
  },
}

const readOnly = { policies: { create: () => false, update: () => false, delete: () => false } }

export const types = {
  'api::article.article': article,
  'api::audit.audit': readOnly,
  'api::beat.beat': readOnly,
  'api::home.home': home,
  'api::letter.letter': letter,
  'api::note.note': note,
  'api::order.order': order,
  'api::payment.payment': readOnly,
  'api::tag.tag': tag,
  'api::writer.writer': writer,
}
