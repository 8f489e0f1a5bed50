// Headers for caches: conditional requests (RFC 9110, section 13), Cache-Control, and surrogate keys for purging shared caches.
import type { IncomingHttpHeaders } from 'node:http'
import type { ReadBytes } from '../content/documents/read/find.js'
import type { Config } from '../foundation/config/config.js'
import { contentHash } from '../foundation/runtime/file-operations.js'
import type { Reply, RequestContext } from './request-context.js'

/** The version of a file: its strong ETag with quotes, and the time of its last change in whole seconds. */
interface SentVersion {
  readonly tag: string
  readonly changed: Date
}

/** The tag of `If-None-Match` that means the version with this strong ETag, as the client sent it. */
const findSentTag = (tags: string, tag: string): string | undefined =>
  tags
    .split(',')
    .map((one) => one.trim())
    .find((one) => one.replace(/^W\//, '') === tag)

/** True if the client already has the version with this strong ETag; null without `If-None-Match`. */
export function hasVersion(headers: IncomingHttpHeaders, tag: string): boolean | null {
  const tags = headers['if-none-match']
  return tags === undefined ? null : tags === '*' || findSentTag(tags, tag) !== undefined
}

/**
 * The ETag of a 304 to a client that has the version with this strong one: in the form that the client sent. A cache does not update a
 * response with a weak tag by a strong one (RFC 9111, section 4.3.4).
 */
export const getUnchangedTag = (headers: IncomingHttpHeaders, tag: string): string =>
  findSentTag(headers['if-none-match'] ?? '', tag) ?? tag

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

/** Larger bodies have no ETag: hashing them would block other requests. */
const maxHashedBytes = 4_000_000

/** Caches may store the response to a read and must revalidate it. */
export const getCacheControl = ({ headers }: RequestContext['request']): string =>
  headers.authorization === undefined ? 'public, no-cache' : 'private, no-cache'

/**
 * The reply to a read: 304 where the client has these bytes. Caches may store it and must revalidate it; shared ones may
 * store it only for requests without credentials (RFC 9111, section 5.2.2).
 */
export function okRead({ request, metrics }: Pick<RequestContext, 'request' | 'metrics'>, bytes: ReadBytes): Reply {
  const caching = getCacheControl(request)
  if (bytes.bytes.length > maxHashedBytes) return { status: 200, bytes, headers: { 'cache-control': caching } }
  const tag = `"${bytes.cached?.hash ?? contentHash(bytes.bytes)}"`
  const headers = { 'cache-control': caching, etag: tag }
  if (hasVersion(request.headers, tag) !== true) return { status: 200, bytes, headers }
  bytes.release()
  metrics?.notModified()
  return { status: 304, headers: { ...headers, etag: getUnchangedTag(request.headers, tag) } }
}

/** The key of responses with more keys than a header may have; it is purged with every change. */
const anyType = 't-all'

/** The form of a documentId that a header may contain. */
const plainId = /^[\w-]{1,64}$/

/** The header with the keys of a response. `types`: uids that it was read from; `documentId`: of its only document. */
export function createSurrogateKeys(
  { surrogateKeys, limits }: Pick<Config, 'surrogateKeys' | 'limits'>,
  types: readonly string[],
  documentId: string | undefined,
): Readonly<Record<string, string>> {
  if (surrogateKeys === null) return {}
  const separator = surrogateKeys === 'Cache-Tag' ? ',' : ' '
  const ofDocument = documentId !== undefined && plainId.test(documentId) ? [`d-${documentId}`] : []
  const all = [...types.map((uid) => `t-${uid}`), ...ofDocument].join(separator)
  return { [surrogateKeys.toLowerCase()]: all.length <= limits.surrogateKeyBytes ? all : [anyType, ...ofDocument].join(separator) }
}
