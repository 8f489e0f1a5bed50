// Sign-in through OAuth providers: redirect to the provider, return from it, and exchange of the code.
import { exchangeCode, finishOAuth, startOAuth, stateLifespan } from '../../identity/accounts/oauth.js'
import { type CookieForm, readCookie, setCookie } from '../cookies.js'
import type { Reply, RequestContext, Route } from '../request-context.js'
import { authAction, createSignInReply } from './authentication.js'

const parameters = ({ query }: RequestContext): Readonly<Record<string, string>> => Object.fromEntries(new URLSearchParams(query))

/** The cookie with the state of a sign-in; sent with links of other sites, because the browser returns from one. */
const stateCookie = ({ config }: RequestContext): CookieForm => ({
  name: 'octavo_connect',
  path: `${config.rest.prefix}/connect`,
  sameSite: 'lax',
  secure: config.production,
})

/** Rate-limits attempts by the IP address, and by the code that they try; null: they try none. */
const withRateLimit = (
  { accounts, address }: RequestContext,
  route: string,
  counted: 'failures' | 'all',
  code: string | null,
  work: () => Promise<Reply>,
): Promise<Reply> =>
  code === null
    ? accounts.limiter.perAddress(route, address, counted, work)
    : accounts.limiter.perIdentity({ route, address, counted }, async () => code, work)

/** The routes for OAuth. */
export const oauthRoutes: readonly Route[] = [
  {
    method: 'GET',
    path: '/connect/:provider',
    action: authAction('connect'),
    isContentless: true,
    changes: true,
    handle: (context) =>
      withRateLimit(context, 'connect', 'all', null, async () => {
        const { callback = null } = parameters(context)
        const started = await startOAuth(context.accounts, context.params.provider!, callback)
        return {
          status: 302,
          headers: { location: started.location, 'set-cookie': setCookie(stateCookie(context), started.stateCookie, stateLifespan) },
        }
      }),
  },
  {
    method: 'GET',
    path: '/connect/:provider/callback',
    action: authAction('connect'),
    isContentless: true,
    changes: true,
    handle: async (context) => {
      const state = readCookie(context.request, stateCookie(context).name)
      const location = await finishOAuth(context.accounts, context.params.provider!, parameters(context), state)
      return { status: 302, headers: { location, 'set-cookie': setCookie(stateCookie(context), '', 0) } }
    },
  },
  {
    method: 'GET',
    path: '/auth/:provider/callback',
    action: authAction('callback'),
    isContentless: true,
    changes: true,
    handle: (context) =>
      withRateLimit(context, 'callback', 'failures', parameters(context).access_token ?? '', async () =>
        createSignInReply(context, await exchangeCode(context.accounts, context.params.provider!, parameters(context).access_token)),
      ),
  },
]
