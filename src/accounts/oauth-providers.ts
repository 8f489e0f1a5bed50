// Other services that sign users in, as one table: where they ask the user, give tokens, and tell who it is.
import { createRemoteJWKSet, jwtVerify } from 'jose'
import { withoutSlashes } from '../config/checks.js'
import { ApiError } from '../errors/errors.js'
import type { ProviderSettings } from './context.js'

/** Who someone is to another service. */
export interface Profile {
  /** Never changes there, unlike names and addresses. */
  readonly subject: string
  readonly username: string
  /** Only an address that the service has verified. */
  readonly email: string | null
}

/** What the service gives for a code. */
interface TokenAnswer {
  readonly access_token?: string
  readonly id_token?: string
}

export interface Provider {
  readonly authorizeUrl: string
  readonly tokenUrl: string
  readonly scope: readonly string[]
  profile(tokens: TokenAnswer, nonce: string): Promise<Profile>
}

type Plain = Readonly<Record<string, unknown>>

/** Milliseconds that another service may take, and bytes that it may answer. */
const patience = 10_000
const longestAnswer = 1_000_000

/** Talks to another service. It is configured, not chosen by a caller; it leads nowhere else. */
export async function ask(url: string, init: RequestInit = {}): Promise<unknown> {
  const answer = await fetch(url, { ...init, redirect: 'error', signal: AbortSignal.timeout(patience) }).catch(() => null)
  if (answer === null || !answer.ok) throw failed()
  try {
    return JSON.parse(await textOf(answer)) as unknown
  } catch {
    throw failed()
  }
}

/** The text of an answer, as long as it keeps to its limit, whatever it says of its length. */
async function textOf(answer: Response): Promise<string> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of answer.body ?? []) {
    bytes += chunk.length
    if (bytes > longestAnswer) throw failed()
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString()
}

const failed = (): ApiError => new ApiError('ApplicationError', 'The provider did not answer as expected')
const plain = (value: unknown): Plain => (typeof value === 'object' && value !== null ? (value as Plain) : {})
const text = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null)
const withToken = (token: string | undefined): RequestInit => ({
  headers: { authorization: `Bearer ${token}`, accept: 'application/json' },
})

/** Services with a protocol of their own. */
const known: Readonly<Record<string, Provider>> = {
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
      // Names from before 2023 are unique only together with their number.
      const number = text(discriminator) ?? '0'
      return checked(id, number === '0' ? username : `${String(username)}#${number}`, verified === true ? email : null)
    },
  },
}

/** Services that speak OpenID Connect, by the address that describes them. */
const issuers: Readonly<Record<string, string>> = { google: 'https://accounts.google.com' }

function checked(subject: unknown, username: unknown, email: unknown): Profile {
  const id = typeof subject === 'number' ? String(subject) : text(subject)
  if (id === null) throw failed()
  const address = text(email)?.toLowerCase() ?? null
  return { subject: id, username: text(username) ?? address?.split('@')[0] ?? id, email: address }
}

/** The provider of a name. @throws ApiError 400 for one that is not known. */
export async function providerOf(name: string, { issuer, key, scope }: ProviderSettings): Promise<Provider> {
  const own = Object.hasOwn(known, name) && issuer === undefined ? known[name] : undefined
  const described = issuer ?? (Object.hasOwn(issuers, name) ? issuers[name] : undefined)
  if (own === undefined && described === undefined) throw new ApiError('ApplicationError', 'This provider is disabled')
  const provider = own ?? (await discover(described!, key))
  return scope === undefined ? provider : { ...provider, scope }
}

/** Reads how a service that speaks OpenID Connect wants to be asked. */
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
