// The ETags of responses: what a write means by `If-Match`, and by what a read says that the client has the response already.
import { createHash } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import type { DocumentView } from '../../admin/content/document-view.js'
import { ApiError } from '../../foundation/errors/errors.js'
import { getUnchangedTag, hasVersion } from '../caching.js'
import { type Answered, answer, type Resource } from './resource.js'

const hashOf = (value: unknown): string => createHash('sha256').update(JSON.stringify(value)).digest('base64url').slice(0, 22)

/** The ETag of a document: its revision, and behind a point what tells the whole response from others of the same draft. */
export const tagOf = (view: DocumentView): string => `"${view.revision ?? 'none'}.${hashOf(view).slice(0, 16)}"`

/** A value as a response that clients may keep, and ask again whether it is the same. */
export const kept = <Value>(data: Value): Answered<{ data: Value }> => answer({ data }, { 'cache-control': 'private, no-cache' })

/** Whether a resource responds with an ETag. */
export const isTagged = ({ method, answer: content, headers, isTagged: isToo }: Resource): boolean =>
  content !== null && (method === 'GET' || headers.state !== undefined || isToo === true)

/** The response to a read with its ETag, of all of it unless it has one of its own; 304 for a client that has it. */
export function tagged({ method }: Resource, given: IncomingHttpHeaders, answered: Answered<unknown>): Answered<unknown> {
  const { value, headers = {} } = answered
  if (method !== 'GET' || value === undefined) return answered
  const { etag = `"${hashOf(value)}"` } = headers
  if (hasVersion(given, String(etag)) !== true) return { ...answered, headers: { ...headers, etag } }
  return { status: 304, headers: { ...headers, etag: getUnchangedTag(given, String(etag)) } }
}

/**
 * Does a write and responds with the value that is then in force; where it expects another revision, 412 with that value in `details`, for
 * whoever `mayRead` it.
 */
export async function orPresent<Data>(
  mayRead: boolean,
  write: () => Promise<void>,
  present: () => Promise<Answered<{ data: Data }>>,
): Promise<Answered<{ data: Data }>> {
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
