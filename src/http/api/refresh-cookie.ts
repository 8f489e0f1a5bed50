// The refresh token as a cookie: out of reach of scripts, and of other sites.
import type { RefreshToken } from '../../accounts/context.js'
import { ApiError } from '../../errors/errors.js'
import type { RequestContext } from '../request-context.js'

/** A caller that wants the cookie says so in a header, which other sites cannot send without being allowed to. */
const header = 'x-strapi-refresh-cookie'

const asked = ({ request }: RequestContext): boolean => request.headers[header] === 'httpOnly'

export const wantsCookie = (context: RequestContext): boolean => context.config.auth.cookie.always || asked(context)

/** The `Set-Cookie` header for a token; null takes the cookie away. */
export function refreshCookie(context: RequestContext, token: RefreshToken | null): string {
  const { config } = context
  const { name, sameSite, domain } = config.auth.cookie
  const seconds = token === null ? 0 : Math.max(0, Math.floor((token.expiresAt - Date.now()) / 1000))
  const parts = [
    `${name}=${token?.token ?? ''}`,
    `Path=${config.rest.prefix}/auth`,
    `Max-Age=${seconds}`,
    'HttpOnly',
    `SameSite=${sameSite === 'lax' ? 'Lax' : 'Strict'}`,
    ...(config.production ? ['Secure'] : []),
    ...(domain === undefined ? [] : [`Domain=${domain}`]),
  ]
  return parts.join('; ')
}

/**
 * The token of the cookie; undefined where there is none.
 * @throws ApiError 403 for a request that another site made the browser send.
 */
export function readRefreshCookie(context: RequestContext): string | undefined {
  const { request, config } = context
  const start = `${config.auth.cookie.name}=`
  const found = (request.headers.cookie ?? '').split(/;\s*/).find((one) => one.startsWith(start))
  if (found === undefined) return undefined
  const { origin } = request.headers
  const foreign =
    request.headers['sec-fetch-site'] === 'cross-site' || (origin !== undefined && origin !== new URL(config.publicUrl).origin)
  const allowed = origin !== undefined && config.corsOrigins !== '*' && config.corsOrigins.includes(origin)
  if (foreign && !allowed) throw new ApiError('ForbiddenError', 'Forbidden')
  return found.slice(start.length)
}
