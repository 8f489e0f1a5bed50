// A project to write to: books in two languages with drafts, tags, people, a front page.
import type { Served, TestResponse } from '../support/serve.js'
import { serveProject } from '../support/serve.js'
import { addToken, secrets } from './callers.js'
import { access, component, contentType, reading } from './library.js'

const localized = (attribute: object) => ({ ...attribute, pluginOptions: { i18n: { localized: true } } })
const shared = (attribute: object) => ({ ...attribute, pluginOptions: { i18n: { localized: false } } })
const relation = (kind: string, target: string, more: object = {}) => ({
  type: 'relation',
  relation: kind,
  target: `api::${target}.${target}`,
  ...more,
})

const book = {
  title: localized({ type: 'string', required: true, minLength: 3, maxLength: 40 }),
  slug: localized({ type: 'uid', targetField: 'title' }),
  mood: localized({ type: 'string', default: 'calm' }),
  pages: shared({ type: 'integer', min: 1, max: 999 }),
  isbn: shared({ type: 'string', unique: true, regex: '^\\d{4}$' }),
  mail: shared({ type: 'email' }),
  copies: shared({ type: 'biginteger' }),
  facts: shared({ type: 'json' }),
  inPrint: shared({ type: 'boolean', default: true }),
  format: shared({ type: 'enumeration', enum: ['paper', 'cloth'] }),
  secret: shared({ type: 'password', minLength: 6 }),
  imprint: localized({ type: 'component', component: 'parts.imprint' }),
  chapters: localized({ type: 'component', component: 'parts.chapter', repeatable: true, max: 3 }),
  matter: localized({ type: 'dynamiczone', components: ['parts.chapter', 'parts.quote'] }),
  cover: shared({ type: 'media', multiple: false }),
  pictures: shared({ type: 'media', multiple: true }),
  tags: relation('manyToMany', 'tag', { inversedBy: 'books' }),
  author: relation('manyToOne', 'person', { inversedBy: 'books' }),
  editor: relation('oneToOne', 'person', { inversedBy: 'edits' }),
  sequel: relation('oneToOne', 'book'),
  contract: relation('oneToOne', 'contract'),
}

const project = {
  ...contentType('book', book, { draftAndPublish: true, localized: true }),
  ...contentType(
    'tag',
    { name: { type: 'string', required: true }, books: relation('manyToMany', 'book', { mappedBy: 'tags' }) },
    { draftAndPublish: true },
  ),
  ...contentType(
    'person',
    {
      name: { type: 'string', required: true },
      slug: { type: 'uid', targetField: 'name' },
      books: relation('oneToMany', 'book', { mappedBy: 'author' }),
      edits: relation('oneToOne', 'book', { mappedBy: 'editor' }),
    },
    { plural: 'people' },
  ),
  ...contentType('contract', { text: { type: 'text' } }),
  ...contentType(
    'notice',
    {
      text: localized({ type: 'string' }),
      menu: shared({ type: 'json' }),
      parts: shared({ type: 'component', component: 'parts.chapter', repeatable: true }),
    },
    { localized: true },
  ),
  ...contentType('front', { heading: { type: 'string', required: true }, text: { type: 'text' } }, { kind: 'singleType' }),
  ...contentType('poster', { marks: { type: 'component', component: 'parts.mark', repeatable: true } }, { draftAndPublish: true }),
  ...component('parts', 'mark', { code: { type: 'string', unique: true }, note: { type: 'string' } }),
  ...component('parts', 'imprint', { place: { type: 'string', required: true }, year: { type: 'integer' } }),
  ...component('parts', 'chapter', { heading: { type: 'string', required: true }, text: { type: 'text' } }),
  ...component('parts', 'quote', { text: { type: 'string' } }),
  ...access(reading('book', 'tag', 'person', 'contract'), [
    { code: 'en', name: 'English', default: true },
    { code: 'de', name: 'German' },
  ]),
}

// biome-ignore lint/suspicious/noExplicitAny: documents of every type
export type Document = any

export interface WritableProject {
  readonly served: Served
  send(method: string, path: string, data?: unknown, token?: string): Promise<TestResponse>
  /** Creates a document and returns it from the response. */
  make(path: string, data: object): Promise<Document>
  /** Changes a document and returns it from the response. */
  change(path: string, data: object): Promise<Document>
  /** The document that a read returns. */
  read(path: string): Promise<Document>
  /** The message of a write that is refused with 400. */
  refusal(method: string, path: string, data: unknown): Promise<string>
}

/** Serves the project with a token `full` that may do everything. */
export const servePublisher = (contract: 'specification' | 'strapi'): Promise<WritableProject> => serveWritable(project, contract)

/** The same over a project of the test's own. */
export async function serveWritable(
  files: Readonly<Record<string, unknown>>,
  contract: 'specification' | 'strapi',
): Promise<WritableProject> {
  const served = await serveProject(files, { config: { api: { rest: { contract } } }, environment: secrets })
  await addToken(served, 'full', { type: 'full-access' })
  const send: WritableProject['send'] = (method, path, data, token = 'full') => {
    const body = data === undefined ? {} : { headers: { 'content-type': 'application/json' }, body: JSON.stringify({ data }) }
    return served.request(`/api/${path}`, { method, ...body, ...(token === 'nobody' ? {} : { token }) })
  }
  const expectStatus = async (answer: Promise<TestResponse>, wanted: number): Promise<TestResponse> => {
    const { status, text } = await answer
    if (status !== wanted) throw new Error(`${status} in place of ${wanted}: ${text}`)
    return answer
  }
  return {
    served,
    send,
    make: async (path, data) => (await expectStatus(send('POST', path, data), 201)).body.data,
    change: async (path, data) => (await expectStatus(send('PUT', path, data), 200)).body.data,
    read: async (path) => (await expectStatus(send('GET', path), 200)).body.data,
    refusal: async (method, path, data) => (await expectStatus(send(method, path, data), 400)).body.error.message,
  }
}
