// Credentials that are sent in another way than the service reads them, and refused ones.
import { commandLine } from '../../foundation/runtime/command-line.js'
import type { Hint } from './exchange.js'
import { quoted } from './sentences.js'

/** Headers in which other services expect keys. */
const keyHeaders = ['x-api-key', 'api-key', 'apikey', 'x-auth-token', 'x-access-token', 'x-api-token', 'token', 'jwt']

/** Requests that count as public although they have credentials. */
export const unreadCredentials: Hint = ({ headers, asked, error }) => {
  if (asked === null || asked.caller.kind !== 'public' || (error !== null && error.status !== 403 && error.status !== 401)) return null
  const given = headers.authorization
  const ending = 'so the request counts as public. Send the header Authorization: Bearer <token>'
  if (given !== undefined) {
    const [scheme = '', ...rest] = given.trim().split(/\s+/)
    if (scheme.toLowerCase() === 'bearer' && rest.length === 0)
      return `The header Authorization has no token after "Bearer" (a variable without a value?), ${ending}`
    if (rest.length === 0) return `The header Authorization has no "Bearer" in front of the token, ${ending}`
    if (scheme.toLowerCase() === 'bearer') return `The header Authorization has more than one token, ${ending}`
    return `Authorization: ${quoted(scheme)} is not read, ${ending}`
  }
  const header = keyHeaders.find((name) => headers[name] !== undefined)
  return header === undefined ? null : `The header ${header} is not read, ${ending}`
}

/** 401: why a token is refused. */
export const refusedCredentials: Hint = ({ error, headers, path, config, asked }) => {
  if (error?.status !== 401 || path.startsWith(`${config.rest.prefix}/auth/`)) return null
  const token = /^bearer\s+(\S+)$/i.exec(headers.authorization?.trim() ?? '')?.[1]
  if (token === undefined)
    return 'This needs a signed-in user: POST {prefix}/auth/local, then Authorization: Bearer <jwt>'.replace('{prefix}', config.rest.prefix)
  if (/^(?:undefined|null|NaN|\[object|\$.*|<.*)$/.test(token))
    return `The token is the text ${quoted(token)}: a variable has no value, or was not replaced. Send the header Authorization: Bearer <token>`
  if (/^["'<]/.test(token)) return 'The token has quotes or brackets around it. Send it without: Authorization: Bearer <token>'
  if (!token.includes('.')) {
    if (asked?.caller.kind === 'token')
      return `This is an API token, which belongs to no user. This path needs the JWT of a user: POST ${config.rest.prefix}/auth/local`
    return `No API token of this database has this key under its API_TOKEN_SALT, or it has expired. ${commandLine('tokens list', config.folder)} shows the tokens, ${commandLine('tokens regenerate <token>', config.folder)} gives one a new key.`
  }
  const kind =
    config.auth.jwtManagement === 'refresh' ? ' Access tokens live for some minutes: POST {prefix}/auth/refresh gives another.' : ''
  return `The JWT is not (or no longer) valid: it has expired, was signed with another JWT_SECRET, or its user was blocked, deleted or has a new password.${kind} Sign in again: POST {prefix}/auth/local`.replaceAll(
    '{prefix}',
    config.rest.prefix,
  )
}

/** 429 of sign-in and its kin. */
export const rateLimited: Hint = ({ error, config }) =>
  error?.status === 429
    ? `An account may be tried ${config.limits.authRateLimit} times a minute from one address (limits.authRateLimit), all accounts together ${config.limits.authAddressRateLimit} times (limits.authAddressRateLimit). Behind a proxy or a server that renders pages, all visitors have one address: see docs/guide/preview.md, trustProxy.`
    : null

/** Requests from pages of origins that `cors.origins` does not list: a browser keeps the response from them. */
export const closedOrigin: Hint = ({ headers, config }) => {
  const { origin } = headers
  if (origin === undefined || config.corsOrigins === '*' || config.corsOrigins.includes(origin)) return null
  if (URL.canParse(origin) && new URL(origin).host === headers.host) return null
  return `Browsers keep this response from the page: cors.origins in octavo.config does not list ${quoted(origin)}.`
}

/** Preflights for headers that `cors.headers` does not list. */
export const closedHeaders: Hint = ({ headers, config, method }) => {
  const asked = headers['access-control-request-headers']
  if (method !== 'OPTIONS' || asked === undefined) return null
  const allowed = config.corsHeaders.map((name) => name.toLowerCase())
  const closed = String(asked)
    .split(',')
    .map((name) => name.trim().toLowerCase())
    .filter((name) => name !== '' && !allowed.includes(name))
  return closed.length === 0
    ? null
    : `Browsers will not send the request: cors.headers in octavo.config does not list ${closed.join(', ')}.`
}
