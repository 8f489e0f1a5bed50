// Cookies of the service itself: sent to its own paths only, and out of reach of scripts.
import type { IncomingMessage } from 'node:http'
import { parseCookie, stringifySetCookie } from 'cookie'

/** What a cookie is, apart from its value. */
export interface CookieForm {
  readonly name: string
  readonly path: string
  /** Whether other sites' links send it. */
  readonly sameSite: 'lax' | 'strict'
  /** Only sent over HTTPS. */
  readonly secure: boolean
  readonly domain?: string | undefined
}

/** Returns the `Set-Cookie` header that gives a cookie a value for so many seconds; with 0 it is deleted, with null it ends with the browser. */
export const setCookie = ({ name, path, sameSite, secure, domain }: CookieForm, value: string, seconds: number | null): string =>
  stringifySetCookie(name, value, {
    ...{ path, httpOnly: true, sameSite, secure },
    ...(seconds === null ? {} : { maxAge: seconds }),
    ...(domain === undefined ? {} : { domain }),
  })

/** Returns the value that the client sent; undefined if there is none. */
export const cookieOf = ({ headers }: IncomingMessage, name: string): string | undefined => parseCookie(headers.cookie ?? '')[name]
