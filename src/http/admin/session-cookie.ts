// The refresh token of an administrator as a cookie, and the checks of requests that set or send it: only a page of this origin may do so.
import type { IncomingMessage } from 'node:http'
import type { AdministratorTokens } from '../../admin/identity/sign-in.js'
import type { Config } from '../../foundation/config/config.js'
import { ApiError } from '../../foundation/errors/errors.js'
import { publicPath } from '../../identity/accounts/email.js'
import { readCookie, setCookie } from '../cookies.js'

const cookieName = 'octavo_admin'
/** Below the path of PUBLIC_URL. */
const cookiePath = '/admin/api/session'

/** Neither forms nor links can send this header. */
const header = 'octavo-admin'

/** Returns the `Set-Cookie` header for the refresh token of a sign-in; null deletes the cookie. */
export function refreshCookie(
  { production, publicUrl }: Pick<Config, 'production' | 'publicUrl'>,
  tokens: AdministratorTokens | null,
  now: number,
): string {
  const form = { name: cookieName, path: publicPath(publicUrl) + cookiePath, sameSite: 'strict', secure: production } as const
  if (tokens === null) return setCookie(form, '', 0)
  return setCookie(form, tokens.refreshToken, tokens.isRemembered ? Math.max(0, Math.floor((tokens.refreshEndsAt - now) / 1000)) : null)
}

/** Returns the refresh token that a request sent; undefined if there is none. */
export const readRefreshToken = (request: IncomingMessage): string | undefined => readCookie(request, cookieName)

/**
 * Checks that a request comes from a page of this origin: by `Origin`, by `Sec-Fetch-Site` where the browser sends it, and by a header of
 * our own. Our origin is the public URL of the service, or the host that the request was sent to.
 * @throws ApiError 403
 */
export function checkOwnPage({ headers }: IncomingMessage, { publicUrl }: Pick<Config, 'publicUrl'>): void {
  const { origin, host } = headers
  const site = headers['sec-fetch-site']
  const isOwn = origin !== undefined && URL.canParse(origin) && (origin === new URL(publicUrl).origin || new URL(origin).host === host)
  if (!isOwn || (site !== undefined && site !== 'same-origin') || headers[header] !== '1')
    throw new ApiError(
      'ForbiddenError',
      'Only a page of this origin may sign in: the request needs its Origin and the header Octavo-Admin: 1',
    )
}
