// Signing in and out, signing up, new passwords, sessions: /api/auth. Bare bodies; attempts are limited by route and address.

import type { Caller } from '../../access/identify.js'
import type { Issued } from '../../accounts/context.js'
import { changePassword, confirmEmail, forgotPassword, requestConfirmation, resetPassword } from '../../accounts/recovery.js'
import { endSession, listSessions, refresh, register, signIn, signOut } from '../../accounts/sign-in.js'
import { unauthorized } from '../../errors/errors.js'
import type { Exchange, Reply, Route } from '../request-context.js'
import { ok } from '../request-context.js'
import { readRefreshCookie, refreshCookie, wantsCookie } from './refresh-cookie.js'

const action = (name: string): string => `plugin::users-permissions.auth.${name}`
const userType = 'plugin::users-permissions.user'

/** A user as everyone may see it: no private attribute, nothing populated. */
export function userOf({ documents }: Exchange, id: number): Promise<unknown> {
  const type = documents.context.model.types.get(userType)!
  const identity = { attribute: 'id' as const, value: id }
  return documents.findAsService({ type, mode: 'first', paged: false, identity, query: '', envelope: 'bare' })
}

/** A user who was just registered: with the role, for callers that may find roles. */
async function registeredUser({ documents, caller }: Exchange, id: number): Promise<unknown> {
  const type = documents.context.model.types.get(userType)!
  const wanted = { type, action: action('register'), mode: 'first', paged: false, query: 'populate=role', envelope: 'bare' } as const
  const found = await documents.find(caller.grants, { ...wanted, identity: { attribute: 'id', value: id } })
  try {
    return JSON.parse(Buffer.from(found!.bytes).toString('utf8'))
  } finally {
    found!.release()
  }
}

/** The answer to whoever signed in: tokens and the user. The refresh token goes into a cookie where that is wanted. */
export async function signedIn(exchange: Exchange, issued: Issued): Promise<Reply> {
  return tokens(exchange, issued, { user: await userOf(exchange, issued.userId) })
}

function tokens(exchange: Exchange, { jwt, refresh: token }: Issued, rest: Readonly<Record<string, unknown>>): Reply {
  if (token === undefined) return ok({ jwt, ...rest })
  if (!wantsCookie(exchange)) return ok({ jwt, refreshToken: token.token, ...rest })
  return { ...ok({ jwt, ...rest }), headers: { 'set-cookie': refreshCookie(exchange, token) } }
}

/** Limits a handler by its route and the caller's address. */
const limited =
  (name: string, counted: 'failures' | 'all', handle: Route['handle']): Route['handle'] =>
  (exchange) =>
    exchange.house.limiter.perAddress(name, exchange.address, counted, () => handle(exchange))

const post = (path: string, name: string, handle: Route['handle']): Route => ({ method: 'POST', path, action: action(name), handle })

/** The signed-in user; other callers have no sessions. */
function signedInUser({ caller }: Exchange): Extract<Caller, { kind: 'user' }> {
  if (caller.kind !== 'user') throw unauthorized('Missing authentication')
  return caller
}

export const authenticationRoutes: readonly Route[] = [
  post(
    '/auth/local',
    'callback',
    limited('local', 'failures', async (exchange) => signedIn(exchange, await signIn(exchange.house, await exchange.body()))),
  ),
  post(
    '/auth/local/register',
    'register',
    limited('register', 'all', async (exchange) => {
      const registered = await register(exchange.house, await exchange.body())
      const user = await registeredUser(exchange, registered.userId)
      return 'jwt' in registered ? tokens(exchange, registered, { user }) : ok({ user })
    }),
  ),
  post(
    '/auth/forgot-password',
    'forgotPassword',
    limited('forgot-password', 'all', async (exchange) => {
      forgotPassword(exchange.house, await exchange.body())
      return ok({ ok: true })
    }),
  ),
  post(
    '/auth/reset-password',
    'resetPassword',
    limited('reset-password', 'failures', async (exchange) =>
      signedIn(exchange, await resetPassword(exchange.house, await exchange.body())),
    ),
  ),
  post(
    '/auth/change-password',
    'changePassword',
    limited('change-password', 'failures', async (exchange) => {
      const user = exchange.caller.kind === 'user' ? exchange.caller.id : null
      return signedIn(exchange, await changePassword(exchange.house, user, await exchange.body()))
    }),
  ),
  {
    method: 'GET',
    path: '/auth/email-confirmation',
    action: action('emailConfirmation'),
    handle: limited('email-confirmation', 'failures', async (exchange) => {
      const location = await confirmEmail(exchange.house, Object.fromEntries(new URLSearchParams(exchange.query)))
      return { status: 302, headers: { location } }
    }),
  },
  post(
    '/auth/send-email-confirmation',
    'sendEmailConfirmation',
    limited('send-email-confirmation', 'all', async (exchange) => ok(await requestConfirmation(exchange.house, await exchange.body()))),
  ),
  post(
    '/auth/refresh',
    'refresh',
    limited('refresh', 'failures', async (exchange) => {
      const body = (await exchange.body()) as { refreshToken?: unknown } | undefined
      return tokens(exchange, await refresh(exchange.house, body?.refreshToken ?? readRefreshCookie(exchange)), {})
    }),
  ),
  post('/auth/logout', 'logout', async (exchange) => {
    const { id, sessionId } = signedInUser(exchange)
    await signOut(exchange.house, id, sessionId, await exchange.body())
    return { ...ok({ ok: true }), headers: { 'set-cookie': refreshCookie(exchange, null) } }
  }),
  {
    method: 'GET',
    path: '/auth/sessions',
    action: action('getSessions'),
    handle: async (exchange) => {
      const { id, sessionId } = signedInUser(exchange)
      return ok({ data: await listSessions(exchange.house, id, sessionId) })
    },
  },
  {
    method: 'DELETE',
    path: '/auth/sessions/:sessionId',
    action: action('revokeSession'),
    handle: async (exchange) => {
      await endSession(exchange.house, signedInUser(exchange).id, exchange.params.sessionId!)
      return ok({ data: {} })
    },
  },
]
