// The dependencies of account operations (database, keys, settings, mailer, clock), and the tokens that a sign-in returns.
import { randomUUID } from 'node:crypto'
import type { Logger } from 'pino'
import type { InputContext } from '../../content/documents/input/types.js'
import type { AttributeWriting } from '../../content/documents/user-attributes.js'
import type { MainConnection, Transaction, WriteDatabase } from '../../database/database.js'
import { ApiError } from '../../foundation/errors/errors.js'
import type { Scopes } from '../../foundation/grants.js'
import type { ContentType, Model } from '../../model/schema/types.js'
import type { AccountSettings } from '../access/account-settings.js'
import { credentialMark, credentialsOf } from '../access/identify.js'
import type { Jwts } from '../access/jwt.js'
import type { Limiter } from '../access/rate-limit.js'
import { type Session, type SessionOwner, startSession } from '../access/sessions.js'
import type { Mailer } from './email.js'
import { hashPassword, type Passwords } from './passwords.js'

/** The configuration of an OAuth provider. */
export interface ProviderSettings {
  readonly enabled: boolean
  readonly key: string
  readonly secret: string
  readonly issuer?: string | undefined
  readonly scope?: readonly string[] | undefined
  readonly callback?: string | undefined
}

/** The parts of the setting `auth` for accounts. Lifespans are in milliseconds. */
export interface SignInSettings {
  readonly jwtManagement: 'legacy-support' | 'refresh'
  /** For the mode with one JWT. */
  readonly jwtLifespan: number
  readonly accessTokenLifespan: number
  readonly maxRefreshTokenLifespan: number
  readonly idleRefreshTokenLifespan: number
  /** Lifespans of the codes in e-mails. */
  readonly resetLifespan: number
  readonly confirmLifespan: number
  /** Attributes that users may set when they register, in addition to name, e-mail address and password. */
  readonly register: { readonly allowedFields: readonly string[]; readonly names: 'plain' | 'as-strapi' }
  /** `bounded`: users with `user.create` and `user.update` may not change rights, or the e-mail address or password of others. */
  readonly userWrites: 'bounded' | 'as-strapi'
  /** `uniform`: requesting another confirmation e-mail does not reveal whether the address is confirmed or its user blocked. */
  readonly confirmationRequests: 'uniform' | 'as-strapi'
  readonly providers: Readonly<Record<string, ProviderSettings>>
  readonly allowedCallbacks: readonly string[]
}

/** Events of users. */
type UserEvent = 'entry.create' | 'entry.update' | 'entry.delete'

/** Observer of events of users. */
export interface UserWatch {
  /** Called inside the transaction, before a user is deleted and after any other change of one. */
  happened(transaction: Transaction, event: UserEvent, id: number): Promise<void>
  /** Called after the commit. */
  committed(): void
}

/** The dependencies of account operations. */
export interface AccountContext {
  readonly database: MainConnection
  readonly writer: WriteDatabase
  readonly jwts: Jwts
  readonly limiter: Limiter
  readonly passwords: Passwords
  readonly mail: Mailer
  readonly log: Pick<Logger, 'error' | 'info' | 'warn'>
  readonly jwtSecret: string
  readonly signIn: SignInSettings
  /** The public URL of the service and the path of the API, from the configuration and never from a request. */
  readonly publicUrl: string
  readonly prefix: string
  now(): number
  readonly model: Model
  settings(): Promise<AccountSettings>
  /** The context for validating attributes of the model. */
  readonly input: InputContext
  readonly defaultLocale: string
  /** The scopes of the caller. */
  readonly scopes: Scopes
  /** Null if no events are recorded. */
  readonly watch: UserWatch | null
}

/** The parts that all requests to a service share. */
export type AccountParts = Omit<AccountContext, 'model' | 'input' | 'defaultLocale' | 'scopes' | 'watch'>

/** The tokens issued by a sign-in. */
export interface Issued {
  readonly userId: number
  readonly jwt: string
  readonly refresh?: RefreshToken
}

/** A refresh token with its expiry in milliseconds since 1970. */
export interface RefreshToken {
  readonly token: string
  readonly expiresAt: number
}

/** Runs a transaction that may change users, and reports it once it is committed. */
export async function userTransaction<Result>(
  { writer, watch }: Pick<AccountContext, 'writer' | 'watch'>,
  work: (transaction: Transaction) => Promise<Result>,
): Promise<Result> {
  const result = await writer.transaction(work)
  watch?.committed()
  return result
}

/** Creates the context for writing attributes of a user. */
export const attributeWriting = (accounts: AccountContext, transaction: Transaction, defaultLocale: string): AttributeWriting => ({
  transaction,
  model: accounts.model,
  defaultLocale,
  hashPassword,
  scopes: accounts.scopes,
})

/** Sessions of this user. */
export const ofUser = (id: number): SessionOwner => ({ origin: 'users-permissions', id })

/** Returns the content-type of users. */
export const userType = (accounts: AccountContext): ContentType => accounts.model.types.get('plugin::users-permissions.user')!

/** Issues tokens for a user whose credentials were checked; a device without a name gets a generated one. */
export async function issue(accounts: AccountContext, userId: number, deviceId: string | null = randomUUID()): Promise<Issued> {
  const { signIn, jwts, writer } = accounts
  if (signIn.jwtManagement === 'legacy-support') {
    const row = await credentialsOf(accounts.database, userId)
    if (row === null) throw new ApiError('ValidationError', 'Invalid identifier or password')
    return { userId, jwt: await jwts.single(userId, credentialMark(accounts.jwtSecret, row), Math.floor(signIn.jwtLifespan / 1000)) }
  }
  const limits = { longest: signIn.maxRefreshTokenLifespan, idle: signIn.idleRefreshTokenLifespan }
  return issueSession(
    accounts,
    userId,
    await writer.transaction((transaction) =>
      startSession(transaction, ofUser(userId), { deviceId, type: 'refresh', limits }, accounts.now()),
    ),
  )
}

/** Signs the access and refresh token of a session. */
export async function issueSession({ jwts, signIn }: AccountContext, userId: number, session: Session): Promise<Issued> {
  const { accessToken: jwt, refreshToken: token } = await jwts.ofSession(userId, session, signIn.accessTokenLifespan)
  return { userId, jwt, refresh: { token, expiresAt: session.expiresAt } }
}
