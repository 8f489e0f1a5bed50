// The routes of /api/auth: sign-in and sign-out, registration, passwords, sessions. Bodies have no envelope; attempts are rate-limited.
import { unauthorized } from '../../foundation/errors/errors.js'
import type { Caller } from '../../identity/access/identify.js'
import type { Issued } from '../../identity/accounts/context.js'
import { bodyMembers } from '../../identity/accounts/input.js'
import { changePassword, confirmEmail, forgotPassword, requestConfirmation, resetPassword } from '../../identity/accounts/recovery.js'
import { endSession, listSessions, refresh, register, signIn, signOut } from '../../identity/accounts/sign-in.js'
import { refuseUnread } from '../body.js'
import { readRefreshCookie, refreshCookie, wantsCookie } from '../cookies.js'
import { refuseConfirmation } from '../pages/account-pages.js'
import { ok, type Reply, type RequestContext, type Route, withTurns } from '../request-context.js'

export const authAction = (name: string): string => `plugin::users-permissions.auth.${name}`
const userType = 'plugin::users-permissions.user'

/** Reads a user without private attributes and relations. */
function readUser({ documents }: RequestContext, id: number): Promise<unknown> {
  const type = documents.context.model.types.get(userType)!
  const identity = { attribute: 'id' as const, value: id }
  return documents.findAsService({ type, mode: 'first', paged: false, identity, query: '', envelope: 'bare' })
}

/** Reads a newly registered user, with the role if the caller may read roles. */
async function readRegisteredUser({ documents, caller }: RequestContext, id: number): Promise<unknown> {
  const type = documents.context.model.types.get(userType)!
  const wanted = { type, action: authAction('register'), mode: 'first', paged: false, query: 'populate=role', envelope: 'bare' } as const
  const found = await documents.find(caller.grants, { ...wanted, identity: { attribute: 'id', value: id } })
  try {
    return JSON.parse(Buffer.from(found!.bytes).toString('utf8'))
  } finally {
    found!.release()
  }
}

/** Creates the reply to a sign-in: tokens and the user. The refresh token goes into a cookie if the client wants that. */
export async function createSignInReply(context: RequestContext, issued: Issued): Promise<Reply> {
  return createTokenReply(context, issued, { user: await readUser(context, issued.userId) })
}

function createTokenReply(context: RequestContext, { jwt, refresh: token }: Issued, rest: Readonly<Record<string, unknown>>): Reply {
  if (token === undefined) return ok({ jwt, ...rest })
  if (!wantsCookie(context)) return ok({ jwt, refreshToken: token.token, ...rest })
  return { ...ok({ jwt, ...rest }), headers: { 'set-cookie': refreshCookie(context, token) } }
}

/** Returns the account or secret that an attempt tries. */
type IdentifyAttempt = (context: RequestContext) => Promise<unknown>

const inBody =
  (name: string): IdentifyAttempt =>
  async ({ body }) =>
    bodyMembers(await body())[name]

/** The signed-in user. */
const caller: IdentifyAttempt = async (context) => (context.caller.kind === 'user' ? String(context.caller.id) : '')

/** Rate-limits a handler by its route, the caller's IP address, and the account or secret. */
const withRateLimit =
  (name: string, counted: 'failures' | 'all', identify: IdentifyAttempt, handle: Route['handle']): Route['handle'] =>
  (context) => {
    let read: Promise<unknown> | undefined
    const once = { ...context, accounts: withTurns(context), body: () => (read ??= context.body()) }
    const identity = async () => {
      const found = await identify(once)
      return typeof found === 'string' ? found : ''
    }
    return context.accounts.limiter.perIdentity({ route: name, address: context.address, counted }, identity, () => handle(once))
  }

const refreshTokenOf: IdentifyAttempt = async (context) => bodyMembers(await context.body()).refreshToken ?? readRefreshCookie(context)

const parameters = (query: string): Readonly<Record<string, string>> => Object.fromEntries(new URLSearchParams(query))

const post = (path: string, name: string, handle: Route['handle']): Route => ({
  method: 'POST',
  path,
  action: authAction(name),
  handle,
  // A registration may set relations to content.
  isContentless: name !== 'register',
})

/** Returns the signed-in user. @throws ApiError 401 for other callers, which have no sessions */
function requireUser({ caller }: RequestContext): Extract<Caller, { kind: 'user' }> {
  if (caller.kind !== 'user') throw unauthorized('Missing authentication')
  return caller
}

/** The routes of /api/auth. */
export const authenticationRoutes: readonly Route[] = [
  post(
    '/auth/local',
    'callback',
    withRateLimit('local', 'failures', inBody('identifier'), async (context) =>
      createSignInReply(context, await signIn(context.accounts, await context.body(), context.address)),
    ),
  ),
  post(
    '/auth/local/register',
    'register',
    withRateLimit('register', 'all', inBody('email'), async (context) => {
      const registered = await register(context.accounts, await context.body())
      const user = await readRegisteredUser(context, registered.userId)
      return 'jwt' in registered ? createTokenReply(context, registered, { user }) : ok({ user })
    }),
  ),
  post(
    '/auth/forgot-password',
    'forgotPassword',
    withRateLimit('forgot-password', 'all', inBody('email'), async (context) => {
      forgotPassword(context.accounts, await context.body())
      return ok({ ok: true })
    }),
  ),
  post(
    '/auth/reset-password',
    'resetPassword',
    withRateLimit('reset-password', 'failures', inBody('code'), async (context) =>
      createSignInReply(context, await resetPassword(context.accounts, await context.body())),
    ),
  ),
  post(
    '/auth/change-password',
    'changePassword',
    withRateLimit('change-password', 'failures', caller, async (context) => {
      const user = context.caller.kind === 'user' ? context.caller.id : null
      return createSignInReply(context, await changePassword(context.accounts, user, await context.body()))
    }),
  ),
  {
    method: 'GET',
    path: '/auth/email-confirmation',
    action: authAction('emailConfirmation'),
    isContentless: true,
    changes: true,
    refuse: refuseConfirmation,
    handle: withRateLimit(
      'email-confirmation',
      'failures',
      async ({ query }) => parameters(query).confirmation,
      async (context) => {
        const location = await confirmEmail(context.accounts, parameters(context.query))
        return { status: 302, headers: { location } }
      },
    ),
  },
  post(
    '/auth/send-email-confirmation',
    'sendEmailConfirmation',
    withRateLimit('send-email-confirmation', 'all', inBody('email'), async (context) =>
      ok(await requestConfirmation(context.accounts, await context.body())),
    ),
  ),
  post(
    '/auth/refresh',
    'refresh',
    withRateLimit('refresh', 'failures', refreshTokenOf, async (context) =>
      createTokenReply(context, await refresh(context.accounts, await refreshTokenOf(context)), {}),
    ),
  ),
  post('/auth/logout', 'logout', async (context) => {
    const { id, sessionId } = requireUser(context)
    const body = await context.body()
    refuseUnread(context.request, body)
    await signOut(context.accounts, id, sessionId, body)
    return { ...ok({ ok: true }), headers: { 'set-cookie': refreshCookie(context, null) } }
  }),
  {
    method: 'GET',
    path: '/auth/sessions',
    action: authAction('getSessions'),
    isContentless: true,
    handle: async (context) => {
      const { id, sessionId } = requireUser(context)
      return ok({ data: await listSessions(context.accounts, id, sessionId) })
    },
  },
  {
    method: 'DELETE',
    path: '/auth/sessions/:sessionId',
    action: authAction('revokeSession'),
    isContentless: true,
    handle: async (context) => {
      await endSession(context.accounts, requireUser(context).id, context.params.sessionId!)
      return ok({ data: {} })
    },
  },
]
