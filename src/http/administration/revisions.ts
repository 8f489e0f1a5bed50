// The headers by which a request says which state of a document it means, and by which a response tells it.

import { createHash } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import type { DocumentView } from '../../administration/content/document-view.js'
import { ApiError } from '../../errors/errors.js'
import { hasVersion } from '../conditional.js'
import { type Answered, answer } from './resource.js'

/** Revisions that one request names at most. */
const mostRevisions = 100

/**
 * A tag: the revision of the draft, and behind a point what tells the whole response from others of the same draft. Compressed responses
 * have its weak form, which names the same revision.
 */
const tag = /^(?:W\/)?"([\w-]{1,64})(?:\.[\w-]{1,64})?"$/

/**
 * The revisions that a write expects; none where it says that the document is not there (`If-None-Match: *`).
 * @throws ApiError 428 for a request that says neither
 */
export function expectedOf(headers: IncomingHttpHeaders): readonly string[] {
  const given = headers['if-match']
  if (given === undefined) {
    if (headers['if-none-match'] === '*') return []
    throw required()
  }
  const tags = given.split(',').slice(0, mostRevisions)
  const revisions = tags.flatMap((one) => tag.exec(one.trim())?.[1] ?? [])
  // What is no tag of ours can be that of no document.
  return revisions.length === 0 ? [given.trim() === '*' ? refuse() : 'none'] : revisions
}

const required = (): ApiError =>
  new ApiError(
    'PreconditionRequiredError',
    'Say which state you mean: If-Match with the ETag of the document, or If-None-Match: * for a new locale',
  )
const refuse = (): never => {
  throw required()
}

/** The ETag of a document. */
export function tagOf(view: DocumentView): string {
  const whole = createHash('sha256').update(JSON.stringify(view)).digest('base64url').slice(0, 16)
  return `"${view.revision ?? 'none'}.${whole}"`
}

/** Whether the client has this response already. */
export const isKnown = (headers: IncomingHttpHeaders, view: DocumentView): boolean => hasVersion(headers, tagOf(view)) === true

/** A value as a response with an ETag of all of it; 304 for a client that has it. */
export function versioned<Value>(headers: IncomingHttpHeaders, data: Value): Answered<{ data: Value }> {
  const etag = `"${createHash('sha256').update(JSON.stringify(data)).digest('base64url').slice(0, 22)}"`
  const sent = { etag, 'cache-control': 'private, no-cache' }
  return hasVersion(headers, etag) === true ? { status: 304, headers: sent } : answer({ data }, sent)
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
