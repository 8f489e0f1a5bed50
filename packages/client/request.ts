// One request to the API: URL, headers, body, and the response or error as data.

import type { ChangeOptions } from './content-types.js'
import { ApiError } from './errors.js'
import type { ClientOptions } from './options.js'
import { stringifyQuery } from './query.js'

/** What a request sends. */
export interface Sent {
  readonly query?: object | undefined
  /** Sent as JSON; a form is sent as it is. */
  readonly body?: unknown
}

/** Sends a request and returns the body of its response. @throws ApiError for an error status */
export type Send = (method: string, path: string, sent?: Sent, options?: ChangeOptions) => Promise<unknown>

/** Numbers that JSON cannot hold are sent as text. */
const asJson = (value: unknown): string => JSON.stringify(value, (_, inner) => (typeof inner === 'bigint' ? String(inner) : inner))

export function openRequests({ url, token, fetch: send = (input, init) => fetch(input, init), headers: always }: ClientOptions): Send {
  const base = url.replace(/\/+$/, '')
  return async (method, path, { query, body } = {}, { headers: own, idempotencyKey, ...init } = {}) => {
    const search = query === undefined ? '' : stringifyQuery(query)
    const headers = new Headers(always)
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
      ...(body === undefined ? {} : { body: isForm ? body : asJson(body) }),
    })
    const text = await response.text()
    const isJson = response.headers.get('content-type')?.includes('json') === true
    const value = text === '' ? undefined : isJson ? (JSON.parse(text) as unknown) : text
    if (!response.ok) throw new ApiError(response, value)
    return value
  }
}
