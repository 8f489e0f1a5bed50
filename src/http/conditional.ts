// Conditional requests (RFC 9110, section 13): whether the client has a version already, or means this very version.
import type { IncomingHttpHeaders } from 'node:http'

/** A version of what is sent: its strong ETag with quotes, and when it was changed, in whole seconds. */
export interface SentVersion {
  readonly tag: string
  readonly changed: Date
}

/** Whether the client already has the version with this strong ETag; null if it does not say. */
export function hasVersion(headers: IncomingHttpHeaders, tag: string): boolean | null {
  const tags = headers['if-none-match']
  return tags === undefined ? null : tags === '*' || tags.split(',').some((one) => one.trim().replace(/^W\//, '') === tag)
}

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
