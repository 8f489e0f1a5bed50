// The requests that are compared: what they are, which of them are reads, and how a path is written on the wire.

/** A request to both services. */
export interface ComparedRequest {
  readonly method: string
  /** Path and query string as they are sent. */
  readonly path: string
  /** Header names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  /** The caller who asks; null: each caller of the run. */
  readonly as: string | null
  /** The body of a write; null: none. */
  readonly body: string | null
  /** The name by which later writes refer to the response, as in `{{name.data.documentId}}`; null: none. */
  readonly name: string | null
  /** How often a log contains the request. */
  readonly count: number
}

/** Creates a GET request. */
export const get = (path: string, as: string | null = null): ComparedRequest => ({
  ...{ method: 'GET', path, headers: {}, as, body: null, name: null, count: 1 },
})

/** GET requests that change something: links in e-mails, and the two ends of signing in through another service. */
const withEffect = [/\/auth\/email-confirmation\b/i, /\/auth\/[^/]+\/callback\b/i, /\/connect\//i]

/** Whether a request only reads: GET and HEAD, but for those that confirm or sign in. */
export function isRead({ method, path }: Pick<ComparedRequest, 'method' | 'path'>): boolean {
  if (method !== 'GET' && method !== 'HEAD') return false
  const name = decoded(pathOf(path))
  return !withEffect.some((form) => form.test(name))
}

/** The path without its query string. */
export const pathOf = (path: string): string => /^[^?#]*/.exec(path)![0]

/** The query string, without the question mark; empty without one. */
export const queryOf = (path: string): string => /^[^?#]*\??([^#]*)/.exec(path)![1]!

/**
 * The path and query of a path or URL as a request line can have them: without the origin and the fragment, other characters than those
 * of ASCII encoded. Null if it is neither a path nor a URL.
 */
export function pathOfTarget(target: string): string | null {
  const path = target.replace(/^https?:\/\/[^/?#]*/i, '').replace(/#.*$/s, '')
  const whole = path.startsWith('?') || (path === '' && target !== '') ? `/${path}` : path
  if (!whole.startsWith('/')) return null
  try {
    return whole.replace(/[^\x21-\x7e]+/gu, encodeURIComponent)
  } catch {
    // Half of a surrogate pair has no encoding.
    return null
  }
}

/** Whether a path is the prefix or below it. Letters of either case are the same. */
export const isBelow = (path: string, prefix: string): boolean => {
  const name = pathOf(path).toLowerCase()
  return name === prefix.toLowerCase() || name.startsWith(`${prefix.toLowerCase()}/`)
}

/** A path with its escapes decoded; as it is if they are not valid. */
export function decoded(path: string): string {
  try {
    return decodeURIComponent(path)
  } catch {
    return path
  }
}
