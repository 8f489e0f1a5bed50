// Which content coding a response gets: what the client accepts, and which responses are worth compressing.
import { LRUCache } from 'lru-cache'
import Negotiator from 'negotiator'

/** A content coding (RFC 9110, section 8.4) that the service can produce. */
export type Coding = 'br' | 'gzip'

/** Bytes below which a response fits in one packet and stays as it is. */
export const leastCompressed = 1_024

const codings: readonly Coding[] = ['br', 'gzip']
const available = [...codings, 'identity']
/** Media types that shrink. Images, videos, archives and PDF are compressed already; an event stream must not be held back. */
const compressible =
  /^(?:text\/(?!event-stream)|application\/(?:json|javascript|xml|manifest\+json|rtf|wasm)|image\/(?:svg\+xml|bmp|x-icon)|font\/(?:ttf|otf)|\S+\+(?:json|xml)(?:;|$))/

/** True for a `Content-Type` whose bytes shrink. */
export const isCompressible = (contentType: string): boolean => compressible.test(contentType)

/** Characters of a header whose coding is remembered, and how many are. */
const [longestRemembered, mostRemembered] = [200, 100]

/**
 * Opens the choice of a coding by `Accept-Encoding`. The client's q-values decide, then the coding that makes the response smaller; null
 * if it prefers the response as it is, or accepts no coding.
 */
export function openCodings(): (acceptEncoding: string) => Coding | null {
  // `max` would allocate all memory at the start; `maxSize` grows with the entries.
  const remembered = new LRUCache<string, { readonly coding: Coding | null }>({ maxSize: mostRemembered, sizeCalculation: () => 1 })
  return (acceptEncoding) => {
    const known = remembered.get(acceptEncoding)
    if (known !== undefined) return known.coding
    const coding = preferredCoding(acceptEncoding)
    if (acceptEncoding.length <= longestRemembered) remembered.set(acceptEncoding, { coding })
    return coding
  }
}

function preferredCoding(acceptEncoding: string): Coding | null {
  const negotiator: Encodings = new Negotiator({ headers: { 'accept-encoding': acceptEncoding } })
  const [preferred] = negotiator.encodings(available, { preferred: codings })
  return codings.find((coding) => coding === preferred) ?? null
}

/** What the types of the library lack: the codings that are preferred where the client has no preference. */
interface Encodings {
  encodings(available: readonly string[], options: { readonly preferred: readonly string[] }): string[]
}
