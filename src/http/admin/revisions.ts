// ETags of responses, and the check of If-None-Match.
import { createHash } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import type { DocumentView } from '../../admin/content/document-view.js'
import { ApiError } from '../../foundation/errors/errors.js'
import { getUnchangedTag, hasVersion } from '../respond.js'
import { type Resource, type ResourceResponse, respond } from './resource.js'

const hashOf = (value: unknown): string => createHash('sha256').update(JSON.stringify(value)).digest('base64url').slice(0, 22)

/** The ETag of a document: its revision, and after a point a hash of the whole response. */
export const documentTag = (view: DocumentView): string => `"${view.revision ?? 'none'}.${hashOf(view).slice(0, 16)}"`

/** A response that clients may store and revalidate. */
export const cacheable = <Value>(data: Value): ResourceResponse<{ data: Value }> => respond({ data }, revalidated)

const revalidated = { 'cache-control': 'private, no-cache' }

export const isTagged = ({ method, response: content, headers, isTagged: isToo }: Resource): boolean =>
  content !== null && (method === 'GET' || headers.state !== undefined || isToo === true)

/** Content and files, which clients may store and revalidate. */
const isContent = ({ who, isSecret }: Resource): boolean =>
  isSecret !== true && (who === 'byRoles' || (typeof who === 'object' && who.onFiles === true))

/** Adds the ETag to the response of a read; 304 if the client has it. */
export function withTag(resource: Resource, given: IncomingHttpHeaders, answered: ResourceResponse<unknown>): ResourceResponse<unknown> {
  const { value } = answered
  const { method } = resource
  const headers = { ...(isContent(resource) ? revalidated : {}), ...answered.headers }
  if (method !== 'GET' || value === undefined) return answered
  const { etag = `"${hashOf(value)}"` } = answered.headers ?? {}
  if (hasVersion(given, String(etag)) !== true) return { ...answered, headers: { ...headers, etag } }
  return { status: 304, headers: { ...headers, etag: getUnchangedTag(given, String(etag)) } }
}

/** Runs a write and responds with the current value; with an outdated revision 412, with the current value in `details` if `mayRead`. */
export async function orCurrent<Value extends { readonly data: unknown }>(
  mayRead: boolean,
  write: () => Promise<unknown>,
  present: () => Promise<ResourceResponse<Value>>,
): Promise<ResourceResponse<Value>> {
  try {
    await write()
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 412 || !mayRead) throw error
    const { value, headers = {} } = await present()
    const { status, name, message } = error
    return { status, headers, value: { data: null, error: { status, name, message, details: value!.data } } as never }
  }
  return present()
}
