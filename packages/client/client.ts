// `createClient`: a client of the API that needs only `fetch`.
import type { ContentTypes } from '../../src/foundation/public/content/content-types.js'
import type { ClientOptions, FileProperties, Files, FileUploadOptions, OctavoClient } from './client-types.js'
import type { ChangeOptions, ListResponse, RequestOptions } from './document-methods.js'
import { ApiError } from './errors.js'

/** The service ignores further parameters, which could be conditions. */
const maxParameters = 1000

/** Parameters whose empty list has no effect. An empty list of values matches no document. */
const ignoredIfEmpty = /^(?:populate|sort|\$and|\$or|\$not)$/

const encode = (text: string): string => encodeURIComponent(text).replaceAll('%24', '$')

/**
 * Returns a query string without the question mark. `undefined` is omitted, null has no value, dates become ISO 8601.
 * @throws RangeError for more than 1000 parameters
 */
export function stringifyQuery(parameters: object): string {
  const pairs: string[] = []
  const add = (name: string, key: string, value: unknown): void => {
    if (value === undefined) return
    if (value === null) pairs.push(name)
    else if (value instanceof Date) pairs.push(`${name}=${encode(value.toISOString())}`)
    else if (typeof value !== 'object') pairs.push(`${name}=${encode(String(value))}`)
    else if (Array.isArray(value) && value.length === 0) pairs.push(...(ignoredIfEmpty.test(key) ? [] : [`${name}[]`]))
    else for (const [inner, one] of Object.entries(value)) add(`${name}[${encode(inner)}]`, inner, one)
  }
  for (const [key, value] of Object.entries(parameters)) add(encode(key), key, value)
  if (pairs.length > maxParameters) throw new RangeError(`A query has at most ${maxParameters} parameters, not ${pairs.length}`)
  return pairs.join('&')
}

interface RequestContent {
  readonly query?: object | undefined
  /** A form is sent unchanged, anything else as JSON. */
  readonly body?: unknown
}

/** Sends a request and returns the body of its response. @throws ApiError for an error status */
type Send = (method: string, path: string, content?: RequestContent, options?: ChangeOptions) => Promise<unknown>

/** BigInts are sent as text. */
const toJson = (value: unknown): string => JSON.stringify(value, (_, inner) => (typeof inner === 'bigint' ? String(inner) : inner))

function createSend({ url, token, fetch: send = (input, init) => fetch(input, init), headers: common }: ClientOptions): Send {
  const base = url.replace(/\/+$/, '')
  return async (method, path, { query, body } = {}, { headers: own, idempotencyKey, ...init } = {}) => {
    const search = query === undefined ? '' : stringifyQuery(query)
    const headers = new Headers(common)
    new Headers(own).forEach((value, name) => {
      headers.set(name, value)
    })
    const bearer = typeof token === 'function' ? await token() : token
    if (bearer && !headers.has('authorization')) headers.set('authorization', `Bearer ${bearer}`)
    if (idempotencyKey !== undefined) headers.set('idempotency-key', idempotencyKey)
    const isForm = body instanceof FormData
    if (body !== undefined && !isForm) headers.set('content-type', 'application/json')
    const response = await send(`${base}/${path.replace(/^\/+/, '')}${search === '' ? '' : `?${search}`}`, {
      ...init,
      method,
      headers,
      ...(body === undefined ? {} : { body: isForm ? body : toJson(body) }),
    })
    const text = await response.text()
    const isJson = response.headers.get('content-type')?.includes('json') === true
    const value = text === '' ? undefined : isJson ? (JSON.parse(text) as unknown) : text
    if (!response.ok) throw new ApiError(response, value)
    return value
  }
}

type QueryParameters = Readonly<Record<string, unknown>>

/** Page size of `pages` and `all`. */
const pageSize = 100

const publicationActions = ['publish', 'unpublish', 'discard'] as const

const publicationMethods = (send: Send, path: string) =>
  Object.fromEntries(
    publicationActions.map((action) => [
      action,
      (query?: QueryParameters, options?: ChangeOptions) => send('POST', `${path}/actions/${action}`, { query }, options),
    ]),
  )

function collection(send: Send, name: string) {
  const path = (documentId: string) => `${name}/${encodeURIComponent(documentId)}`
  const find = (query?: QueryParameters, options?: RequestOptions) =>
    send('GET', name, { query }, options) as Promise<ListResponse<unknown>>
  async function* pages(query: QueryParameters = {}, options?: RequestOptions) {
    const pagination = query.pagination as { readonly page?: number } | undefined
    for (let page = pagination?.page ?? 1; ; page++) {
      const response = await find({ ...query, pagination: { pageSize, ...pagination, page, withCount: true } }, options)
      yield response
      if (page >= response.meta.pagination.pageCount) return
    }
  }
  async function* all(query?: QueryParameters, options?: RequestOptions) {
    for await (const { data } of pages(query, options)) yield* data
  }
  return {
    find,
    pages,
    all,
    findOne: (id: string, query?: QueryParameters, options?: RequestOptions) => send('GET', path(id), { query }, options),
    create: (data: unknown, query?: QueryParameters, options?: ChangeOptions) => send('POST', name, { query, body: { data } }, options),
    update: (id: string, data: unknown, query?: QueryParameters, options?: ChangeOptions) =>
      send('PUT', path(id), { query, body: { data } }, options),
    delete: (id: string, query?: QueryParameters, options?: ChangeOptions) => send('DELETE', path(id), { query }, options),
    ...Object.fromEntries(
      publicationActions.map((action) => [
        action,
        (id: string, ...rest: [QueryParameters?, ChangeOptions?]) => publicationMethods(send, path(id))[action]!(...rest),
      ]),
    ),
  }
}

const single = (send: Send, name: string) => ({
  find: (query?: QueryParameters, options?: RequestOptions) => send('GET', name, { query }, options),
  update: (data: unknown, query?: QueryParameters, options?: ChangeOptions) => send('PUT', name, { query, body: { data } }, options),
  delete: (query?: QueryParameters, options?: ChangeOptions) => send('DELETE', name, { query }, options),
  ...publicationMethods(send, name),
})

const authPost =
  (send: Send, path: string) =>
  (body: unknown = {}, options?: RequestOptions) =>
    send('POST', `auth/${path}`, { body }, options)

const auth = (send: Send) => ({
  signIn: authPost(send, 'local'),
  register: authPost(send, 'local/register'),
  refresh: authPost(send, 'refresh'),
  signOut: authPost(send, 'logout'),
  forgotPassword: authPost(send, 'forgot-password'),
  resetPassword: authPost(send, 'reset-password'),
  changePassword: authPost(send, 'change-password'),
  sendEmailConfirmation: authPost(send, 'send-email-confirmation'),
})

const users = (send: Send) => ({
  me: (query?: QueryParameters, options?: RequestOptions) => send('GET', 'users/me', { query }, options),
  find: (query?: QueryParameters, options?: RequestOptions) => send('GET', 'users', { query }, options),
  findOne: (id: number, query?: QueryParameters, options?: RequestOptions) => send('GET', `users/${id}`, { query }, options),
  count: (query?: QueryParameters, options?: RequestOptions) => send('GET', 'users/count', { query }, options),
  create: (body: unknown, options?: RequestOptions) => send('POST', 'users', { body }, options),
  update: (id: number, body: unknown, options?: RequestOptions) => send('PUT', `users/${id}`, { body }, options),
  delete: (id: number, options?: RequestOptions) => send('DELETE', `users/${id}`, {}, options),
})

/** Returns a form with the files and the properties of each. */
function toForm(files: readonly Blob[], infos: readonly (FileProperties | undefined)[], link: object = {}): FormData {
  const form = new FormData()
  for (const [index, file] of files.entries()) {
    form.append('files', file, (file as Partial<File>).name ?? infos[index]?.name ?? 'file')
    if (infos.length > 0) form.append('fileInfo', JSON.stringify(infos[index] ?? {}))
  }
  for (const [name, value] of Object.entries(link)) form.append(name, String(value))
  return form
}

function files(send: Send): Files<never> {
  const toList = <Value>(value: Value | readonly Value[] | undefined): readonly Value[] =>
    value === undefined ? [] : Array.isArray(value) ? value : [value as Value]
  const methods = {
    find: (query?: object, options?: RequestOptions) => send('GET', 'upload/files', { query }, options),
    findOne: (id: number, options?: RequestOptions) => send('GET', `upload/files/${id}`, {}, options),
    upload: (blobs: Blob | readonly Blob[], { info, link, ...options }: FileUploadOptions = {}) =>
      send('POST', 'upload', { body: toForm(toList(blobs), toList(info), link) }, options),
    update: (id: number, fileInfo: FileProperties, options?: RequestOptions) =>
      send('POST', 'upload', { query: { id }, body: { fileInfo } }, options),
    replace: (id: number, file: Blob, { info, ...options }: RequestOptions & { readonly info?: FileProperties } = {}) =>
      send('POST', 'upload', { query: { id }, body: toForm([file], toList(info)) }, options),
    delete: (id: number, options?: RequestOptions) => send('DELETE', `upload/files/${id}`, {}, options),
  }
  return methods as unknown as Files<never>
}

/** Creates a client of the API at `url`. `Types` default to those of the file that `octavo types` writes. */
export function createClient<Types extends object = ContentTypes>(options: ClientOptions): OctavoClient<Types> {
  const send = createSend(options)
  const client = {
    collection: (name: string) => collection(send, name),
    single: (name: string) => single(send, name),
    files: files(send),
    auth: auth(send),
    users: users(send),
    locales: (requestOptions?: RequestOptions) => send('GET', 'i18n/locales', {}, requestOptions),
    request: send,
    with: (changes: Partial<ClientOptions>) => createClient<Types>({ ...options, ...changes }),
  }
  return client as unknown as OctavoClient<Types>
}
