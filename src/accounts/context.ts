// What every act on accounts needs: the database, the keys, the settings in force, the mail, the clock.
import { randomUUID } from 'node:crypto'
import type { Logger } from 'pino'
import type { AccountSettings } from '../access/account-settings.js'
import { credentialMark, credentialsOf } from '../access/credential-versions.js'
import type { Jwts } from '../access/jwt.js'
import type { Limiter } from '../access/rate-limit.js'
import { type Session, startSession } from '../access/sessions.js'
import type { MainConnection, Transaction, WriteDatabase } from '../database/database.js'
import type { InputContext } from '../documents/input/input.js'
import type { AttributeWriting } from '../documents/user-attributes.js'
import { ApiError } from '../errors/errors.js'
import type { ContentType, Model } from '../model/types.js'
import type { Mailer } from './email.js'
import { hashPassword, type Passwords } from './passwords.js'

/** Another service that signs users in, as configured. */
export interface ProviderSettings {
  readonly enabled: boolean
  readonly key: string
  readonly secret: string
  readonly issuer?: string | undefined
  readonly scope?: readonly string[] | undefined
  readonly callback?: string | undefined
}

/** How users are signed in, and how long that lasts; milliseconds. */
export interface SignInSettings {
  readonly jwtManagement: 'legacy-support' | 'refresh'
  /** One JWT for everything. */
  readonly jwtLifespan: number
  readonly accessTokenLifespan: number
  readonly maxRefreshTokenLifespan: number
  readonly idleRefreshTokenLifespan: number
  /** How long the codes in letters hold. */
  readonly resetLifespan: number
  readonly confirmLifespan: number
  /** Attributes that may be given when signing up, beside name, address and password. */
  readonly register: { readonly allowedFields: readonly string[]; readonly names: 'plain' | 'as-strapi' }
  /** Whether users who were granted `user.create` and `user.update` may set rights, and proofs of others. */
  readonly userWrites: 'bounded' | 'as-strapi'
  /** Whether somebody who asks for another letter of confirmation learns that the address is confirmed, or its user blocked. */
  readonly confirmationRequests: 'uniform' | 'as-strapi'
  readonly providers: Readonly<Record<string, ProviderSettings>>
  readonly allowedCallbacks: readonly string[]
}

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
  /** The service's own address and the API's below it, from the configuration: never from a request. */
  readonly publicUrl: string
  readonly prefix: string
  now(): number
  readonly model: Model
  settings(): Promise<AccountSettings>
  /** What bodies with attributes of the model are read by. */
  readonly input: InputContext
  readonly defaultLocale: string
}

/** What someone who signed in gets. */
export interface Issued {
  readonly userId: number
  readonly jwt: string
  readonly refresh?: RefreshToken
}

export interface RefreshToken {
  readonly token: string
  readonly expiresAt: number
}

/** What attributes of a user are written with. */
export const attributeWriting = (accounts: AccountContext, transaction: Transaction, defaultLocale: string): AttributeWriting => ({
  transaction,
  model: accounts.model,
  defaultLocale,
  hashPassword,
})

export const userType = (accounts: AccountContext): ContentType => accounts.model.types.get('plugin::users-permissions.user')!

/** Credentials for a user whose proof has been checked; a device that nobody named gets a name. */
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
    await writer.transaction((transaction) => startSession(transaction, userId, deviceId, limits, accounts.now())),
  )
}

/** The two tokens of a session. */
export async function issueSession({ jwts, signIn, now }: AccountContext, userId: number, session: Session): Promise<Issued> {
  const accessEnd = Math.min(session.expiresAt, now() + signIn.accessTokenLifespan)
  const [jwt, token] = await Promise.all([
    jwts.ofSession('access', userId, session.sessionId, Math.floor(accessEnd / 1000)),
    jwts.ofSession('refresh', userId, session.sessionId, Math.floor(session.expiresAt / 1000)),
  ])
  return { userId, jwt, refresh: { token, expiresAt: session.expiresAt } }
}
