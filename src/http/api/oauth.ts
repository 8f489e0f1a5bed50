// Sign-in through OAuth providers: redirect to the provider, return from it, and exchange of the code.
import { exchangeCode, finishOAuth, startOAuth, stateLifespan } from '../../accounts/oauth.js'
import type { RequestContext, Route } from '../request-context.js'
import { signedIn } from './authentication.js'

const cookie = 'octavo_connect'
const action = (name: string): string => `plugin::users-permissions.auth.${name}`
const parameters = ({ query }: RequestContext): Readonly<Record<string, string>> => Object.fromEntries(new URLSearchParams(query))

/** The cookie with the state of a sign-in; SameSite=Lax, because the browser returns from another site. */
function stateCookie({ config }: RequestContext, state: string, seconds: number): string {
  const secure = config.production ? '; Secure' : ''
  return `${cookie}=${state}; Path=${config.rest.prefix}/connect; Max-Age=${seconds}; HttpOnly; SameSite=Lax${secure}`
}

function readStateCookie({ request }: RequestContext): string | undefined {
  const found = (request.headers.cookie ?? '').split(/;\s*/).find((one) => one.startsWith(`${cookie}=`))
  return found?.slice(cookie.length + 1)
}

/** The routes for OAuth. */
export const oauthRoutes: readonly Route[] = [
  {
    method: 'GET',
    path: '/connect/:provider',
    action: action('connect'),
    handle: (context) =>
      context.accounts.limiter.perAddress('connect', context.address, 'all', async () => {
        const { callback = null } = parameters(context)
        const started = await startOAuth(context.accounts, context.params.provider!, callback)
        return {
          status: 302,
          headers: { location: started.location, 'set-cookie': stateCookie(context, started.stateCookie, stateLifespan) },
        }
      }),
  },
  {
    method: 'GET',
    path: '/connect/:provider/callback',
    action: action('connect'),
    handle: async (context) => {
      const location = await finishOAuth(context.accounts, context.params.provider!, parameters(context), readStateCookie(context))
      return { status: 302, headers: { location, 'set-cookie': stateCookie(context, '', 0) } }
    },
  },
  {
    method: 'GET',
    path: '/auth/:provider/callback',
    action: action('callback'),
    handle: (context) =>
      context.accounts.limiter.perAddress('callback', context.address, 'failures', async () =>
        signedIn(context, await exchangeCode(context.accounts, context.params.provider!, parameters(context).access_token)),
      ),
  },
]
