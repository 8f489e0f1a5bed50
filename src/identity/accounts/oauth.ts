// Sign-in through an OAuth provider. State and PKCE bind the flow to one browser; the site gets a one-time code of ours, never the tokens
// of the provider. An e-mail address alone never links to an existing account.
import { createHash, randomBytes } from 'node:crypto'
import { sql } from 'kysely'
import type { Transaction } from '../../database/database.js'
import { ApiError, validationError } from '../../foundation/errors/errors.js'
import { httpUrl } from '../access/account-settings.js'
import { type AccountContext, type Issued, issue, type ProviderSettings, userTransaction, userType } from './context.js'
import { ask, disabledService, type Profile, providerOf, servicesOfPanel } from './oauth-providers.js'
import { consumeOneTimeToken, createOneTimeToken } from './one-time-tokens.js'
import { checkMaySignIn } from './sign-in.js'
import { addUser, isIdentifier, roleByType, type User, userByEmail, userById, userByName } from './users.js'

/** In seconds: the lifetime of the state cookie, and of the code that the site exchanges for tokens. */
export const stateLifespan = 600
const exchangeCodeLifespan = 60

const random = (): string => randomBytes(32).toString('base64url')

/** Returns the settings of a provider from the configuration, or else from Strapi's admin panel. @throws ApiError 400 if it is disabled */
async function settingsOf(accounts: AccountContext, name: string): Promise<ProviderSettings> {
  const configured = Object.hasOwn(accounts.signIn.providers, name) ? accounts.signIn.providers[name] : undefined
  const all = (configured === undefined ? await servicesOfPanel(accounts.database) : {}) as Record<
    string,
    (ProviderSettings & { readonly callbackUrl?: string }) | undefined
  >
  const stored = Object.hasOwn(all, name) ? all[name] : undefined
  const settings =
    configured ?? (stored === undefined ? undefined : { ...stored, issuer: undefined, callback: stored.callback ?? stored.callbackUrl })
  if (settings === undefined || !settings.enabled || settings.key === '' || name === 'email' || name === 'local') throw disabledService()
  return settings
}

const redirectUri = ({ publicUrl, prefix }: AccountContext, name: string): string => `${publicUrl}${prefix}/connect/${name}/callback`

/** Returns the callback URL: the provider's own, or exactly one of the allowed ones. @throws ApiError 400 */
function callbackUrl(accounts: AccountContext, name: string, settings: ProviderSettings, wanted: string | null): string {
  const own = httpUrl(settings.callback) ?? `${accounts.publicUrl}${accounts.prefix}/auth/${name}/callback`
  if (wanted === null || wanted === own) return own
  if (!accounts.signIn.allowedCallbacks.includes(wanted)) throw validationError('Invalid callback URL')
  return wanted
}

/** Starts a sign-in: returns the URL of the provider, and the state to store in a cookie. */
export async function startOAuth(
  accounts: AccountContext,
  name: string,
  callback: string | null,
): Promise<{ readonly location: string; readonly stateCookie: string }> {
  const settings = await settingsOf(accounts, name)
  const target = callbackUrl(accounts, name, settings, callback)
  const provider = await providerOf(name, settings)
  const [state, verifier, nonce] = [random(), random(), random()]
  const location = new URL(provider.authorizeUrl)
  const parameters = {
    response_type: 'code',
    client_id: settings.key,
    redirect_uri: redirectUri(accounts, name),
    scope: provider.scope.join(' '),
    state,
    nonce,
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
  }
  for (const [key, value] of Object.entries(parameters)) location.searchParams.set(key, value)
  return { location: location.href, stateCookie: await accounts.jwts.signValues({ name, state, verifier, nonce, target }, stateLifespan) }
}

/** Finishes a sign-in: finds or creates the user, and returns the callback URL with a one-time code. */
export async function finishOAuth(
  accounts: AccountContext,
  name: string,
  given: Readonly<Record<string, string>>,
  stateCookie: string | undefined,
): Promise<string> {
  const settings = await settingsOf(accounts, name)
  const values = stateCookie === undefined ? null : await accounts.jwts.verifyValues(stateCookie)
  if (values === null || values.name !== name || values.state !== given.state)
    throw validationError('Invalid or expired sign-in state; start the sign-in again')
  if (given.code === undefined) throw new ApiError('ApplicationError', 'The provider did not complete the sign-in')
  const provider = await providerOf(name, settings)
  const tokens = (await ask(provider.tokenUrl, {
    method: 'POST',
    headers: { accept: 'application/json' },
    body: new URLSearchParams({
      grant_type: 'authorization_code',
      code: given.code,
      redirect_uri: redirectUri(accounts, name),
      client_id: settings.key,
      client_secret: settings.secret,
      code_verifier: String(values.verifier),
    }),
  })) as { readonly access_token?: string; readonly id_token?: string }
  const profile = await provider.profile(tokens, String(values.nonce))
  const { defaultRole, allowRegister } = await accounts.settings()
  const role = await roleByType(accounts.database, defaultRole)
  const now = accounts.now()
  const code = await userTransaction(accounts, async (transaction) => {
    const user =
      (await linkedUser(transaction, name, profile)) ?? (await newUser(accounts, transaction, name, profile, allowRegister, role))
    return createOneTimeToken(transaction, 'connect', await userById(transaction, user), now + exchangeCodeLifespan * 1000)
  })
  const target = new URL(String(values.target))
  target.searchParams.set('access_token', code)
  return target.href
}

/** Returns the user linked to this profile; null for a new user. @throws ApiError 400 if the address belongs to another account. */
async function linkedUser(transaction: Transaction, provider: string, { subject, email }: Profile): Promise<number | null> {
  const [linked] = await transaction.rows<{ user_id: number }>(
    sql`select user_id from octavo_identities where provider = ${provider} and subject = ${subject}`,
  )
  if (linked !== undefined && (await userById(transaction, linked.user_id)) !== null) return linked.user_id
  if (email === null) throw new ApiError('ApplicationError', 'Email was not available.')
  const user = await userByEmail(transaction, email)
  if (user === null) return null
  // An account with a password or of another provider may have been created by someone who does not own the address.
  if (user.provider !== provider || (await isLinked(transaction, user))) throw new ApiError('ApplicationError', 'Email is already taken.')
  await link(transaction, provider, subject, user.id)
  return user.id
}

const isLinked = async (transaction: Transaction, { id }: User): Promise<boolean> =>
  (await transaction.rows(sql`select id from octavo_identities where user_id = ${id}`)).length > 0

/** Links a profile to a user, instead of one that is gone. The former link is deleted: a database may have lost the unique index of links. */
async function link(transaction: Transaction, provider: string, subject: string, user: number): Promise<void> {
  await transaction.run(sql`delete from octavo_identities where provider = ${provider} and subject = ${subject}`)
  await transaction.run(sql`insert into octavo_identities (provider, subject, user_id) values (${provider}, ${subject}, ${user})`)
}

async function newUser(
  accounts: AccountContext,
  transaction: Transaction,
  provider: string,
  { subject, username, email }: Profile,
  allowed: boolean,
  role: number | null,
): Promise<number> {
  if (!allowed) throw new ApiError('ApplicationError', 'Register action is currently disabled')
  if (role === null) throw new ApiError('ApplicationError', 'Impossible to find the default role')
  if (email !== null && (await userByName(transaction, email)) !== null) throw new ApiError('ApplicationError', 'Email is already taken.')
  const taken = await isIdentifier(transaction, username)
  const name = taken ? `${username}-${randomBytes(4).toString('hex')}` : username
  const values = { username: name, email, provider, password: null, confirmed: 1, blocked: 0 }
  const id = await addUser(transaction, userType(accounts), values, role, accounts.now())
  await link(transaction, provider, subject, id)
  await accounts.watch?.happened(transaction, 'entry.create', id)
  return id
}

/** Exchanges a one-time code for tokens. @throws ApiError 400 */
export async function exchangeCode(accounts: AccountContext, name: string, code: string | undefined): Promise<Issued> {
  await settingsOf(accounts, name)
  if (code === undefined) throw validationError('No access_token.')
  const id = await accounts.writer.transaction((transaction) => consumeOneTimeToken(transaction, 'connect', code, accounts.now()))
  const user = id === null ? null : await userById(accounts.database, id)
  if (user === null || user.provider !== name) throw validationError('Invalid access_token.')
  await checkMaySignIn(accounts, user)
  return issue(accounts, user.id)
}
