// The three measured writes, and their values from the golden database.

import { isOnPostgres } from './servers.mjs'
import { get } from './timing.mjs'

/** Two authors and two tags with both versions, found by asking, so that the golden database may change. */
const known = {
  authors: '/api/authors?fields[0]=name&sort=id',
  tags: '/api/tags?fields[0]=name&sort=id',
  articles: '/api/articles?fields[0]=title&sort=id&pagination[pageSize]=100',
}

/** Articles that are updated in turn. */
const updated = 16

/**
 * @typedef {object} Write
 * @property {string} name
 * @property {number} timesStrapi how many times Strapi's rate is the target
 * @property {readonly { method: string, path: string, body: object }[]} requests sent in turn; `{n}` in a body is a unique number
 */

/**
 * @param {import('./launch.mjs').Server} server
 * @returns {Promise<readonly Write[]>}
 */
export async function writesOf(server) {
  const [authors, tags, articles] = await Promise.all([
    idsAt(server, known.authors),
    idsAt(server, known.tags),
    idsAt(server, known.articles),
  ])
  return [
    {
      name: 'create a tag',
      timesStrapi: 10,
      requests: [{ method: 'POST', path: '/api/tags', body: { data: { name: 'tag {n}', slug: 'tag-{n}', color: '#0a0b0c', weight: 3 } } }],
    },
    {
      name: 'create an article',
      timesStrapi: isOnPostgres() ? 10 : 15,
      requests: [
        {
          method: 'POST',
          path: '/api/articles',
          body: {
            data: {
              title: 'Article {n}',
              slug: 'article-{n}',
              summary: 'What stands in it, in short.',
              rank: 7,
              author: authors[0],
              tags: tags.slice(0, 2),
              seo: { metaTitle: 'Article {n}', metaDescription: 'What search engines show.' },
              sections: [{ heading: 'First', body: 'Text.', links: [{ label: 'Home', url: '/' }] }],
            },
          },
        },
      ],
    },
    {
      name: 'update an article',
      timesStrapi: isOnPostgres() ? 40 : 60,
      requests: articles
        .slice(0, updated)
        .map((documentId) => ({ method: 'PUT', path: `/api/articles/${documentId}`, body: { data: { title: 'Title {n}' } } })),
    },
  ]
}

/**
 * @param {import('./launch.mjs').Server} server
 * @param {string} path
 */
async function idsAt({ origin }, path) {
  const { body } = await get(origin + path)
  return /** @type {{ documentId: string }[]} */ (JSON.parse(body.toString()).data).map(({ documentId }) => documentId)
}
