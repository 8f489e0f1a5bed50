// `createClient`: the client of the API, on `fetch` alone. Its methods are thin; their types say what they return.
import type { ContentTypes } from '../../src/foundation/public/content/content-types.js'
import type { OctavoClient } from './client-types.js'
import type { ChangeOptions, ListResponse, RequestOptions } from './content-types.js'
import { openFiles } from './files.js'
import type { ClientOptions } from './options.js'
import { openRequests, type Send } from './request.js'

type GivenQuery = Readonly<Record<string, unknown>>

/** Documents on a page of a list that is read as a whole. */
const pageSize = 100

const actions = ['publish', 'unpublish', 'discard'] as const

/** Methods that post to `path(subject)/actions/…`. */
const publication = (send: Send, path: string) =>
  Object.fromEntries(
    actions.map((action) => [
      action,
      (query?: GivenQuery, options?: ChangeOptions) => send('POST', `${path}/actions/${action}`, { query }, options),
    ]),
  )

function collection(send: Send, name: string) {
  const at = (documentId: string) => `${name}/${encodeURIComponent(documentId)}`
  const find = (query?: GivenQuery, options?: RequestOptions) => send('GET', name, { query }, options) as Promise<ListResponse<unknown>>
  async function* pages(query: GivenQuery = {}, options?: RequestOptions) {
    const pagination = query.pagination as { readonly page?: number } | undefined
    for (let page = pagination?.page ?? 1; ; page++) {
      const response = await find({ ...query, pagination: { pageSize, ...pagination, page, withCount: true } }, options)
      yield response
      if (page >= response.meta.pagination.pageCount) return
    }
  }
  async function* all(query?: GivenQuery, options?: RequestOptions) {
    for await (const { data } of pages(query, options)) yield* data
  }
  return {
    find,
    pages,
    all,
    findOne: (id: string, query?: GivenQuery, options?: RequestOptions) => send('GET', at(id), { query }, options),
    create: (data: unknown, query?: GivenQuery, options?: ChangeOptions) => send('POST', name, { query, body: { data } }, options),
    update: (id: string, data: unknown, query?: GivenQuery, options?: ChangeOptions) =>
      send('PUT', at(id), { query, body: { data } }, options),
    delete: (id: string, query?: GivenQuery, options?: ChangeOptions) => send('DELETE', at(id), { query }, options),
    ...Object.fromEntries(
      actions.map((action) => [
        action,
        (id: string, ...rest: [GivenQuery?, ChangeOptions?]) => publication(send, at(id))[action]!(...rest),
      ]),
    ),
  }
}

const single = (send: Send, name: string) => ({
  find: (query?: GivenQuery, options?: RequestOptions) => send('GET', name, { query }, options),
  update: (data: unknown, query?: GivenQuery, options?: ChangeOptions) => send('PUT', name, { query, body: { data } }, options),
  delete: (query?: GivenQuery, options?: ChangeOptions) => send('DELETE', name, { query }, options),
  ...publication(send, name),
})

const posted =
  (send: Send, path: string) =>
  (body: unknown = {}, options?: RequestOptions) =>
    send('POST', `auth/${path}`, { body }, options)

const auth = (send: Send) => ({
  signIn: posted(send, 'local'),
  register: posted(send, 'local/register'),
  refresh: posted(send, 'refresh'),
  signOut: posted(send, 'logout'),
  forgotPassword: posted(send, 'forgot-password'),
  resetPassword: posted(send, 'reset-password'),
  changePassword: posted(send, 'change-password'),
  sendEmailConfirmation: posted(send, 'send-email-confirmation'),
})

const users = (send: Send) => ({
  me: (query?: GivenQuery, options?: RequestOptions) => send('GET', 'users/me', { query }, options),
  find: (query?: GivenQuery, options?: RequestOptions) => send('GET', 'users', { query }, options),
  findOne: (id: number, query?: GivenQuery, options?: RequestOptions) => send('GET', `users/${id}`, { query }, options),
  count: (query?: GivenQuery, options?: RequestOptions) => send('GET', 'users/count', { query }, options),
  create: (body: unknown, options?: RequestOptions) => send('POST', 'users', { body }, options),
  update: (id: number, body: unknown, options?: RequestOptions) => send('PUT', `users/${id}`, { body }, options),
  delete: (id: number, options?: RequestOptions) => send('DELETE', `users/${id}`, {}, options),
})

/** Creates a client of the API at `url`. `Types` default to those that `octavo types` has written for the project. */
export function createClient<Types extends object = ContentTypes>(options: ClientOptions): OctavoClient<Types> {
  const send = openRequests(options)
  const client = {
    collection: (name: string) => collection(send, name),
    single: (name: string) => single(send, name),
    files: openFiles(send),
    auth: auth(send),
    users: users(send),
    locales: (given?: RequestOptions) => send('GET', 'i18n/locales', {}, given),
    request: send,
    with: (changes: Partial<ClientOptions>) => createClient<Types>({ ...options, ...changes }),
  }
  return client as unknown as OctavoClient<Types>
}
