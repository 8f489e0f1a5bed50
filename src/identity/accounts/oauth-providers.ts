// The OAuth providers: their endpoints for authorization, tokens and profiles.

import { createRemoteJWKSet, jwtVerify } from 'jose'
import { storedSetting } from '../../content/documents/store/settings.js'
import type { RowReader } from '../../database/database.js'
import { withoutSlashes } from '../../foundation/config/checks.js'
import { ApiError } from '../../foundation/errors/errors.js'
import type { ProviderSettings, SignInSettings } from './context.js'

/** A user's profile at a provider. */
export interface Profile {
  /** The provider's stable id of the user; names and addresses can change. */
  readonly subject: string
  readonly username: string
  /** The e-mail address if the provider has verified it. */
  readonly email: string | null
}

/** The response of a token endpoint. */
interface TokenResponse {
  readonly access_token?: string
  readonly id_token?: string
}

/** The endpoints of a provider. */
interface Provider {
  readonly authorizeUrl: string
  readonly tokenUrl: string
  readonly scope: readonly string[]
  profile(tokens: TokenResponse, nonce: string): Promise<Profile>
}

type Plain = Readonly<Record<string, unknown>>

/** In milliseconds and bytes: the limits for a response of a provider. */
const responseTimeout = 10_000
const maxResponseBytes = 1_000_000

/** Sends a request to a provider. The URL comes from the configuration, never from a caller; redirects are refused. @throws ApiError 400 */
export async function ask(url: string, init: RequestInit = {}): Promise<unknown> {
  const response = await fetch(url, { ...init, redirect: 'error', signal: AbortSignal.timeout(responseTimeout) }).catch(() => null)
  if (response === null || !response.ok) throw failed()
  try {
    return JSON.parse(await textOf(response)) as unknown
  } catch {
    throw failed()
  }
}

/** Reads the text of a response up to the limit, regardless of its Content-Length. */
async function textOf(response: Response): Promise<string> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length
    if (bytes > maxResponseBytes) throw failed()
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString()
}

const failed = (): ApiError => new ApiError('ApplicationError', 'Unexpected response from the provider')
const plain = (value: unknown): Plain => (typeof value === 'object' && value !== null ? (value as Plain) : {})
const text = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null)
const withToken = (token: string | undefined): RequestInit => ({
  headers: { authorization: `Bearer ${token}`, accept: 'application/json' },
})

/** Built-in providers that do not use OpenID Connect. */
const builtIn: Readonly<Record<string, Provider>> = {
  github: {
    authorizeUrl: 'https://github.com/login/oauth/authorize',
    tokenUrl: 'https://github.com/login/oauth/access_token',
    scope: ['user:email'],
    profile: async ({ access_token }) => {
      const { id, login } = plain(await ask('https://api.github.com/user', withToken(access_token)))
      const emails = await ask('https://api.github.com/user/emails', withToken(access_token))
      const primary = (Array.isArray(emails) ? emails : []).map(plain).find((one) => one.primary === true && one.verified === true)
      return checked(id, login, primary?.email)
    },
  },
  discord: {
    authorizeUrl: 'https://discord.com/oauth2/authorize',
    tokenUrl: 'https://discord.com/api/oauth2/token',
    scope: ['identify', 'email'],
    profile: async ({ access_token }) => {
      const { id, username, discriminator, email, verified } = plain(
        await ask('https://discord.com/api/users/@me', withToken(access_token)),
      )
      // User names from before 2023 are only unique together with their number.
      const number = text(discriminator) ?? '0'
      return checked(id, number === '0' ? username : `${String(username)}#${number}`, verified === true ? email : null)
    },
  },
}

/** Built-in OpenID Connect providers with their issuer. */
const issuers: Readonly<Record<string, string>> = { google: 'https://accounts.google.com' }

function checked(subject: unknown, username: unknown, email: unknown): Profile {
  const id = typeof subject === 'number' ? String(subject) : text(subject)
  if (id === null) throw failed()
  const address = text(email)?.toLowerCase() ?? null
  return { subject: id, username: text(username) ?? address?.split('@')[0] ?? id, email: address }
}

const hasProvider = (name: string): boolean => Object.hasOwn(builtIn, name) || Object.hasOwn(issuers, name)

/** Returns the provider with a name. @throws ApiError 400 if it is unknown. */
export async function providerOf(name: string, { issuer, key, scope }: ProviderSettings): Promise<Provider> {
  const own = Object.hasOwn(builtIn, name) && issuer === undefined ? builtIn[name] : undefined
  const described = issuer ?? (Object.hasOwn(issuers, name) ? issuers[name] : undefined)
  if (own === undefined && described === undefined) throw new ApiError('ApplicationError', 'This provider is disabled')
  const provider = own ?? (await discover(described!, key))
  return scope === undefined ? provider : { ...provider, scope }
}

/** Discovers the endpoints of an OpenID Connect provider. */
async function discover(issuer: string, key: string): Promise<Provider> {
  const described = plain(await ask(`${withoutSlashes(issuer)}/.well-known/openid-configuration`))
  const [authorizeUrl, tokenUrl, keys] = [described.authorization_endpoint, described.token_endpoint, described.jwks_uri].map(text)
  if (!authorizeUrl || !tokenUrl || !keys || described.issuer !== issuer) throw failed()
  return {
    authorizeUrl,
    tokenUrl,
    scope: ['openid', 'email', 'profile'],
    profile: async ({ id_token, access_token }, nonce) => {
      const verified = await jwtVerify(id_token ?? '', createRemoteJWKSet(new URL(keys)), { issuer, audience: key }).catch(() => null)
      if (verified === null || verified.payload.nonce !== nonce) throw failed()
      const userinfo = text(described.userinfo_endpoint)
      const missing = verified.payload.email === undefined && userinfo !== null
      const more = missing ? plain(await ask(userinfo, withToken(access_token))) : {}
      if (missing && more.sub !== verified.payload.sub) throw failed()
      const { sub, preferred_username, name, email, email_verified } = { ...more, ...verified.payload } as Plain
      return checked(sub, preferred_username ?? name, email_verified === true ? email : null)
    },
  }
}

/** A service as the panel stores it. */
interface StoredService {
  readonly enabled?: boolean
  readonly key?: string
}

/** Reads the services that the panel has stored, by name; `email` is the sign-in with a password. */
export async function servicesOfPanel(database: RowReader): Promise<Readonly<Record<string, StoredService | undefined>>> {
  const stored = await storedSetting(database, 'plugin_users-permissions_grant')
  return typeof stored === 'object' && stored !== null ? (stored as Readonly<Record<string, StoredService>>) : {}
}

/** The error of a sign-in through a disabled service. */
export const disabledService = (): ApiError => new ApiError('ApplicationError', 'This provider is disabled')

/** @throws ApiError 400 if the panel has switched signing in with a password off */
export async function checkPasswordService(database: RowReader): Promise<void> {
  const { email } = await servicesOfPanel(database)
  if (email !== undefined && email?.enabled !== true) throw disabledService()
}

/** The services that the panel enabled without complete settings, as sentences for the log. */
export async function unusableServices(database: RowReader, { providers }: SignInSettings): Promise<readonly string[]> {
  const services = Object.entries(await servicesOfPanel(database))
  return services.flatMap(([name, service]) => {
    const isOn = name !== 'email' && service?.enabled === true && (service.key ?? '') !== ''
    if (!isOn || Object.hasOwn(providers, name) || hasProvider(name)) return []
    return [
      `signing in through ${name} is on in Strapi's admin panel, but cannot work: set auth.providers.${name} with the issuer of its OpenID Connect, or switch it off`,
    ]
  })
}
