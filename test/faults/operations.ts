// Every kind of write of the golden project, each on separate documents, with the visible state before and after it.
import { expect } from 'vitest'
import type { RequestOptions, TestResponse } from '../support/serve.js'
import { goldenTokens } from '../support/serve.js'

export type SendRequest = (path: string, asked?: RequestOptions) => Promise<TestResponse>

export interface Operation {
  readonly name: string
  /** Makes what the operation needs, and names it. */
  prepare(request: SendRequest): Promise<string>
  run(request: SendRequest, about: string): Promise<TestResponse>
  /** Paths that show the outcome. */
  looks(about: string): readonly string[]
}

// biome-ignore lint/suspicious/noExplicitAny: responses of every shape
type Body = any

const token = goldenTokens().full!
const json = { 'content-type': 'application/json' }

export function send(request: SendRequest, method: string, path: string, data?: object): Promise<TestResponse> {
  return request(path, data === undefined ? { method, token } : { method, token, headers: json, body: JSON.stringify({ data }) })
}

async function made(request: SendRequest, method: string, path: string, data: object): Promise<string> {
  const answer = await send(request, method, path, data)
  expect([200, 201], answer.text).toContain(answer.status)
  return answer.body.data.documentId
}

/** State of an operation's documents as a reader sees it, without parts that differ between runs. */
export async function shown(request: SendRequest, operation: Operation, about: string): Promise<string> {
  const answers: Body[] = []
  for (const path of operation.looks(about)) {
    const { status, body } = await request(path, { token })
    expect([200, 404]).toContain(status)
    answers.push([status, body?.data ?? (status === 200 ? body : null)])
  }
  return JSON.stringify(answers, (key, value: unknown) => {
    if (key === 'publishedAt') return value !== null
    // New documents get a new documentId in each run; linked ones are recognised by name.
    return ['id', 'documentId', 'createdAt', 'updatedAt', 'password', 'hash', 'url'].includes(key) ? undefined : value
  })
}

const parts = (name: string) => ({
  seo: { metaTitle: `Title ${name}`, shareImage: 1, og: { ogTitle: `Graph ${name}` } },
  sections: [
    { heading: `First section ${name}`, links: [{ label: `Link ${name}` }, { label: `Another link ${name}` }] },
    { heading: `Second section ${name}`, authors: ['h8b16cn6fdt4ira4uipuuffk'] },
  ],
  blocks: [
    { __component: 'blocks.quote', text: `Quote ${name}` },
    { __component: 'blocks.cta', title: `Call ${name}`, link: { label: `Link ${name}` } },
  ],
  cover: 1,
  gallery: [2, 3],
  author: 'h8b16cn6fdt4ira4uipuuffk',
})

const deep =
  'populate[seo][populate]=*&populate[sections][populate]=*&populate[blocks][populate]=*&populate[tags][fields]=name&populate[related][fields]=title&populate[relatedTo][fields]=title&populate[author][fields]=name&populate[cover][fields]=name&populate[gallery][fields]=name&populate[localizations][fields]=title'

const versions = (id: string): readonly string[] =>
  ['en', 'fr'].flatMap((locale) => ['draft', 'published'].map((status) => `/api/articles/${id}?${deep}&locale=${locale}&status=${status}`))

const titled = (title: string): readonly string[] =>
  ['draft', 'published'].map((status) => `/api/articles?filters[title][$startsWith]=${encodeURIComponent(title)}&${deep}&status=${status}`)

/** An article in English with all its parts, two tags and one of the golden articles. */
async function article(request: SendRequest, name: string, status = 'published'): Promise<string> {
  const tags = [
    await made(request, 'POST', '/api/tags', { name: `${name} 1` }),
    await made(request, 'POST', '/api/tags', { name: `${name} 2` }),
  ]
  const related = [await made(request, 'POST', '/api/articles', { title: `Related to ${name}` })]
  return made(request, 'POST', `/api/articles?status=${status}`, { title: `Before ${name}`, ...parts('before'), tags, related })
}

const nothing = async () => ''

/** The writes of one document, by name. */
export const operations: readonly Operation[] = [
  {
    name: 'create and publish',
    prepare: (request) => made(request, 'POST', '/api/tags', { name: 'for a creation' }),
    run: (request, tag) => send(request, 'POST', '/api/articles', { title: 'Created whole', ...parts('new'), tags: [tag], related: [] }),
    looks: (tag) => [...titled('Created whole'), `/api/tags/${tag}?populate[articles][fields]=title`],
  },
  {
    name: 'create a draft',
    prepare: nothing,
    run: (request) => send(request, 'POST', '/api/articles?status=draft', { title: 'Created as a draft', ...parts('new') }),
    looks: () => titled('Created as a draft'),
  },
  {
    name: 'change and publish',
    prepare: (request) => article(request, 'change'),
    run: (request, id) =>
      send(request, 'PUT', `/api/articles/${id}`, { title: 'After', ...parts('after'), tags: [], cover: null, related: { connect: [id] } }),
    looks: versions,
  },
  {
    name: 'change the draft',
    prepare: (request) => article(request, 'draft'),
    run: (request, id) =>
      send(request, 'PUT', `/api/articles/${id}?status=draft`, { title: 'After', ...parts('after'), tags: [], gallery: [] }),
    looks: versions,
  },
  {
    name: 'publish',
    prepare: async (request) => {
      const id = await article(request, 'publish', 'draft')
      // An earlier publication waits for this one.
      await made(request, 'POST', '/api/articles', { title: 'Waits for a publication', related: [id] })
      return id
    },
    run: (request, id) => send(request, 'POST', `/api/articles/${id}/actions/publish`),
    looks: (id) => [...versions(id), ...titled('Waits for a publication')],
  },
  {
    name: 'unpublish',
    prepare: async (request) => {
      const id = await article(request, 'unpublish')
      await made(request, 'POST', '/api/articles', { title: 'Relates to what is unpublished', related: [id] })
      return id
    },
    run: (request, id) => send(request, 'POST', `/api/articles/${id}/actions/unpublish`),
    looks: (id) => [...versions(id), ...titled('Relates to what is unpublished')],
  },
  {
    name: 'discard',
    prepare: async (request) => {
      const id = await article(request, 'discard')
      await made(request, 'PUT', `/api/articles/${id}?status=draft`, { title: 'To be discarded', ...parts('draft'), tags: [] })
      return id
    },
    run: (request, id) => send(request, 'POST', `/api/articles/${id}/actions/discard`),
    looks: versions,
  },
  {
    name: 'delete one locale',
    prepare: async (request) => {
      const id = await article(request, 'one locale')
      return made(request, 'PUT', `/api/articles/${id}?locale=fr`, { title: 'En français', ...parts('fr') })
    },
    run: (request, id) => send(request, 'DELETE', `/api/articles/${id}?locale=fr`),
    looks: versions,
  },
  {
    name: 'delete all locales',
    prepare: async (request) => {
      const id = await article(request, 'all locales')
      await made(request, 'POST', '/api/articles', { title: 'Relates to what is deleted', related: [id] })
      return made(request, 'PUT', `/api/articles/${id}?locale=fr`, { title: 'En français', ...parts('fr') })
    },
    run: (request, id) => send(request, 'DELETE', `/api/articles/${id}?locale=*`),
    looks: (id) => [...versions(id), ...titled('Relates to what is deleted')],
  },
  {
    name: 'add a locale',
    prepare: (request) => article(request, 'added locale'),
    run: (request, id) => send(request, 'PUT', `/api/articles/${id}?locale=fr`, { title: 'En français', rank: 7, ...parts('fr') }),
    looks: versions,
  },
  {
    name: 'reorder relations',
    prepare: async (request) => {
      const tags: string[] = []
      for (const name of ['a', 'b', 'c', 'd']) tags.push(await made(request, 'POST', '/api/tags', { name: `reordered ${name}` }))
      const id = await made(request, 'POST', '/api/articles', { title: 'With an order', tags })
      return [id, ...tags].join(' ')
    },
    run: (request, about) => {
      const [id, first, second, third, fourth] = about.split(' ')
      const connect = [
        { documentId: fourth, position: { before: first } },
        { documentId: second, position: { end: true } },
      ]
      return send(request, 'PUT', `/api/articles/${id}`, { tags: { disconnect: [third], connect } })
    },
    looks: (about) => versions(about.split(' ')[0]!),
  },
  {
    name: 'change a single type',
    prepare: nothing,
    run: (request) =>
      send(request, 'PUT', '/api/homepage', { title: 'A new homepage', seo: parts('home').seo, blocks: parts('home').blocks }),
    looks: () =>
      ['draft', 'published'].map((status) => `/api/homepage?populate[seo][populate]=*&populate[blocks][populate]=*&status=${status}`),
  },
  {
    name: 'create a single type',
    prepare: nothing,
    run: (request) => send(request, 'PUT', '/api/manifesto', { text: 'A beginning' }),
    looks: () => ['/api/manifesto', '/api/manifesto?status=draft'],
  },
  {
    name: 'delete a single type',
    prepare: nothing,
    run: (request) => send(request, 'DELETE', '/api/manifesto'),
    looks: () => ['/api/manifesto', '/api/manifesto?status=draft'],
  },
  {
    name: 'change what has no drafts',
    prepare: async (request) => {
      const articles = [await article(request, 'owned')]
      return made(request, 'POST', '/api/authors', { name: 'An author before', address: { city: 'Before' }, articles })
    },
    run: (request, id) => {
      const data = {
        name: 'An author after',
        address: { city: 'After' },
        links: [{ label: 'One' }, { label: 'Two' }],
        articles: [],
        pin: '12345',
      }
      return send(request, 'PUT', `/api/authors/${id}`, data)
    },
    looks: (id) => [`/api/authors/${id}?populate[address]=true&populate[links]=true&populate[articles][fields]=title`],
  },
  {
    name: 'sign up',
    prepare: nothing,
    run: (request) => {
      const body = JSON.stringify({ username: 'newcomer', email: 'newcomer@example.org', password: 'Newcomer-1' })
      return request('/api/auth/local/register', { method: 'POST', headers: json, body })
    },
    looks: () => ['/api/users?filters[username]=newcomer&populate=role'],
  },
  {
    name: 'upload a file to a document',
    prepare: async (request) => {
      const { body } = await send(request, 'POST', '/api/authors', { name: 'With a portrait' })
      return `${body.data.documentId} ${body.data.id}`
    },
    run: (request, about) => {
      const form = new FormData()
      form.append('files', new Blob(['some text']), 'notes.txt')
      for (const [key, value] of Object.entries({ ref: 'api::author.author', refId: about.split(' ')[1]!, field: 'avatar' }))
        form.append(key, value)
      return request('/api/upload', { method: 'POST', token, body: form })
    },
    looks: (about) => [`/api/authors/${about.split(' ')[0]}?populate=avatar`, '/api/upload/files?filters[name]=notes.txt'],
  },
]
