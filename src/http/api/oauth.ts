// Signing in by other services: to the service, back from it, and the site picking up the result.
import { finishConnect, journey, pickUpConnect, startConnect } from '../../accounts/oauth.js'
import type { Exchange, Route } from '../request-context.js'
import { signedIn } from './authentication.js'

const cookie = 'octavo_connect'
const action = (name: string): string => `plugin::users-permissions.auth.${name}`
const parameters = ({ query }: Exchange): Readonly<Record<string, string>> => Object.fromEntries(new URLSearchParams(query))

/** What the browser keeps on its way; Lax, because it comes back from another site. */
function keep({ config }: Exchange, kept: string, seconds: number): string {
  const secure = config.production ? '; Secure' : ''
  return `${cookie}=${kept}; Path=${config.rest.prefix}/connect; Max-Age=${seconds}; HttpOnly; SameSite=Lax${secure}`
}

function kept({ request }: Exchange): string | undefined {
  const found = (request.headers.cookie ?? '').split(/;\s*/).find((one) => one.startsWith(`${cookie}=`))
  return found?.slice(cookie.length + 1)
}

export const connectRoutes: readonly Route[] = [
  {
    method: 'GET',
    path: '/connect/:provider',
    action: action('connect'),
    handle: (exchange) =>
      exchange.house.limiter.perAddress('connect', exchange.address, 'all', async () => {
        const { callback = null } = parameters(exchange)
        const started = await startConnect(exchange.house, exchange.params.provider!, callback)
        return { status: 302, headers: { location: started.location, 'set-cookie': keep(exchange, started.kept, journey) } }
      }),
  },
  {
    method: 'GET',
    path: '/connect/:provider/callback',
    action: action('connect'),
    handle: async (exchange) => {
      const location = await finishConnect(exchange.house, exchange.params.provider!, parameters(exchange), kept(exchange))
      return { status: 302, headers: { location, 'set-cookie': keep(exchange, '', 0) } }
    },
  },
  {
    method: 'GET',
    path: '/auth/:provider/callback',
    action: action('callback'),
    handle: (exchange) =>
      exchange.house.limiter.perAddress('callback', exchange.address, 'failures', async () =>
        signedIn(exchange, await pickUpConnect(exchange.house, exchange.params.provider!, parameters(exchange).access_token)),
      ),
  },
]
