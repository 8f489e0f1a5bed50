// Conditional requests (RFC 9110, section 13): whether the client has a version already, or means this very version.
import type { IncomingHttpHeaders } from 'node:http'
import type { ReadBytes } from '../content/documents/read/find.js'
import { contentHash } from '../foundation/runtime/content-hash.js'
import type { Reply, RequestContext } from './request-context.js'

/** A version of what is sent: its strong ETag with quotes, and when it was changed, in whole seconds. */
export interface SentVersion {
  readonly tag: string
  readonly changed: Date
}

/** The tag of `If-None-Match` that means the version with this strong ETag, as the client sent it. */
const sentTag = (tags: string, tag: string): string | undefined =>
  tags
    .split(',')
    .map((one) => one.trim())
    .find((one) => one.replace(/^W\//, '') === tag)

/** Whether the client already has the version with this strong ETag; null if it does not say. */
export function hasVersion(headers: IncomingHttpHeaders, tag: string): boolean | null {
  const tags = headers['if-none-match']
  return tags === undefined ? null : tags === '*' || sentTag(tags, tag) !== undefined
}

/**
 * The ETag of a 304 to a client that has the version with this strong one: in the form that the client sent. A cache does not update a
 * response with a weak tag by a strong one (RFC 9111, section 4.3.4).
 */
export const tagOfUnchanged = (headers: IncomingHttpHeaders, tag: string): string => sentTag(headers['if-none-match'] ?? '', tag) ?? tag

/** True if the client already has this version: the response is 304. */
export function isUnchanged(headers: IncomingHttpHeaders, { tag, changed }: SentVersion): boolean {
  const isKnown = hasVersion(headers, tag)
  if (isKnown !== null) return isKnown
  const since = Date.parse(headers['if-modified-since'] ?? '')
  return changed.getTime() <= since
}

/** True if a requested range refers to this version. */
export function rangeApplies(headers: IncomingHttpHeaders, { tag, changed }: SentVersion): boolean {
  const condition = headers['if-range']
  return condition === undefined || condition === tag || Date.parse(String(condition)) === changed.getTime()
}

/** Bytes of a body that has an ETag: hashing more holds up other requests for too long. */
const mostHashed = 4_000_000

/** Caches may keep the response to a read, and ask each time whether it still holds. */
export const cachingOf = ({ headers }: RequestContext['request']): string =>
  headers.authorization === undefined ? 'public, no-cache' : 'private, no-cache'

/**
 * The reply to a read: 304 where the client has these bytes. Caches may keep it, and ask each time whether it is still the one: those of
 * everybody where the request has no credentials (RFC 9111, section 5.2.2).
 */
export function okRead({ request, metrics }: Pick<RequestContext, 'request' | 'metrics'>, bytes: ReadBytes): Reply {
  const caching = cachingOf(request)
  if (bytes.bytes.length > mostHashed) return { status: 200, bytes, headers: { 'cache-control': caching } }
  const tag = `"${bytes.kept?.hash ?? contentHash(bytes.bytes)}"`
  const headers = { 'cache-control': caching, etag: tag }
  if (hasVersion(request.headers, tag) !== true) return { status: 200, bytes, headers }
  bytes.release()
  metrics?.notModified()
  return { status: 304, headers: { ...headers, etag: tagOfUnchanged(request.headers, tag) } }
}
