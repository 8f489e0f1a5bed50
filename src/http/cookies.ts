// Cookies of the service, inaccessible to scripts and sent only to its paths; the refresh token as a cookie.
import type { IncomingMessage } from 'node:http'
import { parseCookie, stringifySetCookie } from 'cookie'
import { ApiError } from '../foundation/errors/errors.js'
import type { RefreshToken } from '../identity/accounts/context.js'
import type { RequestContext } from './request-context.js'

export interface CookieForm {
  readonly name: string
  readonly path: string
  /** `lax`: sent with links from other sites. */
  readonly sameSite: 'lax' | 'strict'
  /** Only sent over HTTPS. */
  readonly secure: boolean
  readonly domain?: string | undefined
}

/** Returns the `Set-Cookie` header for a value and its lifetime; 0 deletes the cookie, null ends it with the browser. */
export const setCookie = ({ name, path, sameSite, secure, domain }: CookieForm, value: string, seconds: number | null): string =>
  stringifySetCookie(name, value, {
    path,
    httpOnly: true,
    sameSite,
    secure,
    ...(seconds === null ? {} : { maxAge: seconds }),
    ...(domain === undefined ? {} : { domain }),
  })

/** Returns the value that the client sent; undefined if there is none. */
export const readCookie = ({ headers }: IncomingMessage, name: string): string | undefined => parseCookie(headers.cookie ?? '')[name]

/** A client requests the cookie with this header, which other sites cannot send without CORS permission. */
const header = 'x-strapi-refresh-cookie'

const requestsCookie = ({ request }: RequestContext): boolean => request.headers[header] === 'httpOnly'

/** True if the refresh token goes into a cookie. */
export const wantsCookie = (context: RequestContext): boolean => context.config.auth.cookie.always || requestsCookie(context)

/** Returns the `Set-Cookie` header for a token; null deletes the cookie. */
export function refreshCookie(context: RequestContext, token: RefreshToken | null): string {
  const { config } = context
  const { name, sameSite, domain } = config.auth.cookie
  const seconds = token === null ? 0 : Math.max(0, Math.floor((token.expiresAt - Date.now()) / 1000))
  const form = { name, path: `${config.rest.prefix}/auth`, sameSite, secure: config.production, domain }
  return setCookie(form, token?.token ?? '', seconds)
}

/**
 * Returns the token of the cookie; undefined if there is none.
 * @throws ApiError 403 for a cross-site request.
 */
export function readRefreshCookie(context: RequestContext): string | undefined {
  const { request, config } = context
  const found = readCookie(request, config.auth.cookie.name)
  if (found === undefined) return undefined
  const { origin } = request.headers
  const isCrossSite =
    request.headers['sec-fetch-site'] === 'cross-site' || (origin !== undefined && origin !== new URL(config.publicUrl).origin)
  const allowed = origin !== undefined && config.corsOrigins !== '*' && config.corsOrigins.includes(origin)
  if (isCrossSite && !allowed) throw new ApiError('ForbiddenError', 'Forbidden')
  return found
}
