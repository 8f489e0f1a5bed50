// Hints about callers: missing permissions, credentials in other forms, and origins.
import { commandLine } from '../../foundation/runtime/terminal.js'
import { actionsOf } from '../../identity/access/actions.js'
import { type Exchange, findRows, type Hint, list, quote, type RouteCall } from './vocabulary.js'

/** Maximum number of actions in a command that creates a token. */
const maxActions = 8
const users = 'plugin::users-permissions'
/** Actions on the account of the caller: granting them to the public does not help. */
const ownAccount = ['user.me', 'auth.logout', 'auth.changePassword'].map((action) => `${users}.${action}`)

/** Names the role or token that lacks these actions, and the command that grants them. */
export async function lacks({ model, config }: Exchange, route: RouteCall, actions: readonly string[]): Promise<string> {
  const { caller, access, documents } = route
  const command = (text: string) => commandLine(text, config.folder)
  if (caller.kind === 'token') {
    const name = [...access.tokens.values()].find(({ id }) => id === caller.id)?.name ?? String(caller.id)
    const isReadOnly = caller.grants.key === 'read-only'
    const granted = isReadOnly ? [] : [...actionsOf(model, config.routes)].filter(caller.grants.may)
    const type = isReadOnly || granted.length > maxActions ? 'full-access' : `custom --permissions ${[...granted, ...actions].join(',')}`
    return `The API token "${name}" is ${isReadOnly ? 'read-only' : 'a custom one'} and lacks ${list(actions)}. Create a token that has it: ${command(`tokens create --name <name> --type ${type}`)}`
  }
  const userType = documents.context.model.types.get(`${users}.user`)!
  const [user] =
    caller.kind === 'public'
      ? [{ role: { type: 'public' } }]
      : await findRows<{ readonly role?: { readonly type: string } | null }>(route, userType, `filters[id]=${caller.id}&populate=role`)
  const role = user?.role?.type
  if (role === undefined) return `The user has no role, so it may do nothing. Assign one: ${command('users role <user> authenticated')}`
  const grant = command(`roles grant ${role} ${actions.join(',')}`)
  // With this permission they can list all users, which is seldom intended.
  if (actions.includes(`${users}.user.find`))
    return `The role "${role}" lacks ${list(actions)}. It shows all users to the role, so do not grant it for a user's own documents: a hook sets the relation, and a scope compares it (docs/guide/code.md, Scopes). Otherwise: ${grant}`
  return `The role "${role}" lacks ${list(actions)}. Grant it: ${grant}`
}

/** 403: an action that the caller is not granted. */
export const missingPermission: Hint = (exchange) => {
  const { error, route, parameters, config } = exchange
  if (error?.situation?.kind !== 'permission' || route === null) return null
  const { action } = error.situation
  if (ownAccount.includes(action) && route.caller.kind === 'public')
    return `The request is anonymous. Send the JWT of a user, Authorization: Bearer <jwt>, from POST ${config.rest.prefix}/auth/local`
  if (action.endsWith('.findDraft') && parameters.status !== 'draft')
    return `status=${quote(parameters.status)} does not exist. It is "published" (the default) or "draft".`
  return lacks(exchange, route, [action])
}

/** 403 of the project's code, and of files with signed URLs. */
export const refusedByProject: Hint = ({ error, type, path, config }) => {
  if (error === null || error.situation !== null) return null
  if (path.startsWith('/uploads/'))
    return 'Files are private (uploads.storage.private): they are served at signed URLs, which expire. Take the url from a fresh response.'
  if (type === null) return null
  if (error.name === 'PolicyError') return `A policy of ${type.uid} in octavo.config (types, policies) refused the request.`
  const isScoped = config.types[type.uid]?.scope !== undefined
  return isScoped ? `The document would be outside of the caller's scope of ${type.uid} in octavo.config (types, scope).` : null
}

/** Headers of other services for keys. */
const keyHeaders = ['x-api-key', 'api-key', 'apikey', 'x-auth-token', 'x-access-token', 'x-api-token', 'token', 'jwt']

/** Requests that count as public although they have credentials. */
export const unreadCredentials: Hint = ({ headers, route, error }) => {
  if (route?.caller.kind !== 'public' || (error !== null && error.status !== 403 && error.status !== 401)) return null
  const ending = 'so the request counts as public. Send the header Authorization: Bearer <token>'
  const header = keyHeaders.find((name) => headers[name] !== undefined)
  if (headers.authorization === undefined) return header === undefined ? null : `The header ${header} is not read, ${ending}`
  const [scheme = '', ...rest] = headers.authorization.trim().split(/\s+/)
  const isBearer = scheme.toLowerCase() === 'bearer'
  if (!isBearer && rest.length > 0) return `Authorization: ${quote(scheme)} is not read, ${ending}`
  const has = !isBearer
    ? 'no "Bearer" in front of the token'
    : rest.length === 0
      ? 'no token after "Bearer" (a variable without a value?)'
      : 'more than one token'
  return `The header Authorization has ${has}, ${ending}`
}

/** 401: the reason why a token is refused. */
export const refusedCredentials: Hint = ({ headers, path, config, route }) => {
  const { prefix } = config.rest
  if (path.startsWith(`${prefix}/auth/`)) return null
  const token = /^bearer\s+(\S+)$/i.exec(headers.authorization?.trim() ?? '')?.[1]
  if (token === undefined) return `This needs a signed-in user: POST ${prefix}/auth/local, then Authorization: Bearer <jwt>`
  if (/^(?:undefined|null|NaN|\[object|\$.*|<.*)$/.test(token))
    return `The token is the text ${quote(token)}: a variable has no value, or was not replaced. Send the header Authorization: Bearer <token>`
  if (/^["'<]/.test(token)) return 'The token has quotes or brackets around it. Send it without: Authorization: Bearer <token>'
  if (!token.includes('.') && route?.caller.kind === 'token')
    return `This is an API token, which belongs to no user. This path needs the JWT of a user: POST ${prefix}/auth/local`
  if (!token.includes('.'))
    return `No API token of this database has this key under its API_TOKEN_SALT, or it has expired. ${commandLine('tokens list', config.folder)} shows the tokens, ${commandLine('tokens regenerate <token>', config.folder)} gives one a new key.`
  const refresh =
    config.auth.jwtManagement === 'refresh' ? ` Access tokens live for some minutes: POST ${prefix}/auth/refresh returns another.` : ''
  return `The JWT is not valid: it has expired, was signed with another JWT_SECRET, or its user was blocked, deleted or has a new password.${refresh} Sign in again: POST ${prefix}/auth/local`
}

/** 429 of sign-in. */
export const rateLimited: Hint = ({ config: { limits } }) =>
  `An account may be tried ${limits.authRateLimit} times a minute from one address (limits.authRateLimit), all accounts together ${limits.authAddressRateLimit} times (limits.authAddressRateLimit). With a proxy or a server that renders pages in front, all visitors have one address: see docs/guide/websites.md, Visitors who sign in.`

/** Requests from pages whose origins are not listed: browsers discard the response. */
export const closedOrigin: Hint = ({ headers: { origin, host }, config }) => {
  if (origin === undefined || config.corsOrigins === '*' || config.corsOrigins.includes(origin)) return null
  if (URL.canParse(origin) && new URL(origin).host === host) return null
  return `Browsers withhold this response from the page: cors.origins in octavo.config does not list ${quote(origin)}.`
}

/** Preflights for headers that are not listed. */
export const closedHeaders: Hint = ({ headers, config, method }) => {
  const requested = method === 'OPTIONS' ? headers['access-control-request-headers'] : undefined
  const allowed = ['', ...config.corsHeaders.map((name) => name.toLowerCase())]
  const closed = String(requested ?? '')
    .split(',')
    .map((name) => name.trim().toLowerCase())
    .filter((name) => !allowed.includes(name))
  return closed.length === 0
    ? null
    : `Browsers will not send the request: cors.headers in octavo.config does not list ${closed.join(', ')}.`
}
