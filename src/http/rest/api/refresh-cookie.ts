// The refresh token as a cookie, inaccessible to scripts and other sites.

import { ApiError } from '../../../foundation/errors/errors.js'
import type { RefreshToken } from '../../../identity/accounts/context.js'
import { cookieOf, setCookie } from '../../cookies.js'
import type { RequestContext } from '../../request-context.js'

/** The header by which a client requests the cookie; other sites cannot send it without CORS permission. */
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
  const found = cookieOf(request, config.auth.cookie.name)
  if (found === undefined) return undefined
  const { origin } = request.headers
  const isCrossSite =
    request.headers['sec-fetch-site'] === 'cross-site' || (origin !== undefined && origin !== new URL(config.publicUrl).origin)
  const allowed = origin !== undefined && config.corsOrigins !== '*' && config.corsOrigins.includes(origin)
  if (isCrossSite && !allowed) throw new ApiError('ForbiddenError', 'Forbidden')
  return found
}
