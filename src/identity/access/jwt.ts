// The JWTs of users in Strapi's two modes: one long-lived JWT, or a short-lived access token with a refresh token.
import { errors, type JWTPayload, jwtVerify, SignJWT } from 'jose'
import type { Session } from './sessions.js'

/** The claims of a verified JWT. Times are in seconds. */
export type Claims =
  | {
      readonly kind: 'single'
      readonly userId: number
      readonly issuedAt: number | null
      readonly expiresAt: number
      readonly mark: string | null
    }
  | {
      readonly kind: 'access' | 'refresh'
      readonly userId: number
      readonly sessionId: string
      readonly expiresAt: number
      /** Tokens of administrators have one; null otherwise. */
      readonly mark: string | null
    }

/** The tokens of a session. Times are milliseconds since 1970. */
interface SessionTokens {
  readonly accessToken: string
  readonly accessEndsAt: number
  readonly refreshToken: string
}

/** Signs and verifies JWTs with the secret of the project. */
export interface Jwts {
  /** Signs a long-lived JWT. */
  single(userId: number, mark: string, seconds: number): Promise<string>
  /** Signs the tokens of a session. `accessLifespan`: of the access token, which ends with the session at the latest. */
  ofSession(userId: number, session: Session, accessLifespan: number, mark?: string): Promise<SessionTokens>
  /** Signs values that a browser stores and sends back, such as the OAuth state. Not a credential. */
  signValues(values: Readonly<Record<string, string>>, seconds: number): Promise<string>
  /** Verifies and returns signed values; null for anything else. */
  verifyValues(text: string): Promise<Readonly<Record<string, unknown>> | null>
  /** Verifies a JWT and returns its claims; null if it is invalid or expired. */
  verify(token: string): Promise<Claims | null>
}

/** Opens the signing and verification of JWTs. */
export function openJwts(secret: string, now: () => number = Date.now): Jwts {
  const key = new TextEncoder().encode(secret)
  const second = () => Math.floor(now() / 1000)
  const sign = (payload: JWTPayload, expiresAt: number) =>
    new SignJWT(payload).setProtectedHeader({ alg: 'HS256', typ: 'JWT' }).setIssuedAt(second()).setExpirationTime(expiresAt).sign(key)
  async function payloadOf(token: string): Promise<JWTPayload | null> {
    if (token.split('.').length !== 3) return null
    try {
      return (await jwtVerify(token, key, { algorithms: ['HS256'], currentDate: new Date(now()) })).payload
    } catch (error) {
      if (error instanceof errors.JOSEError) return null
      throw error
    }
  }

  return {
    single: (id, mark, seconds) => sign({ id, mark }, second() + seconds),
    ofSession: async (userId, { sessionId, expiresAt }, accessLifespan, mark) => {
      const accessEndsAt = Math.min(expiresAt, now() + accessLifespan)
      const signOne = (type: string, endsAt: number) =>
        sign({ userId: String(userId), sessionId, type, ...(mark === undefined ? {} : { mark }) }, Math.floor(endsAt / 1000))
      const [accessToken, refreshToken] = await Promise.all([signOne('access', accessEndsAt), signOne('refresh', expiresAt)])
      return { accessToken, accessEndsAt, refreshToken }
    },
    signValues: (sealed, seconds) => sign({ type: 'sealed', sealed }, second() + seconds),
    async verifyValues(text) {
      const payload = await payloadOf(text)
      return payload?.type === 'sealed' ? (payload.sealed as Record<string, unknown>) : null
    },
    async verify(token) {
      const payload = await payloadOf(token)
      return payload === null ? null : claimsOf(payload, second())
    },
  }
}

/** In seconds: the tolerated clock difference, and the maximum lifetime of a token. */
const maxClockSkew = 300
const maxLifetime = 200 * 365 * 86_400

/** Returns the claims of a token of Octavo or Strapi; null for other tokens signed with the same secret. */
function claimsOf(payload: JWTPayload, now: number): Claims | null {
  const { id, mark, userId, sessionId, type, sealed, iss, aud, iat = null, exp } = payload
  if (!Number.isSafeInteger(exp) || exp! > now + maxLifetime || (iat !== null && iat > now + maxClockSkew)) return null
  if (iss !== undefined || aud !== undefined || sealed !== undefined) return null
  if (isRowId(id)) {
    if ([userId, sessionId, type].some((claim) => claim !== undefined)) return null
    return { kind: 'single', userId: id, issuedAt: iat, expiresAt: exp!, mark: typeof mark === 'string' ? mark : null }
  }
  if (id !== undefined || (type !== 'access' && type !== 'refresh') || typeof sessionId !== 'string') return null
  const user = Number(userId)
  return isRowId(user) ? { kind: type, userId: user, sessionId, expiresAt: exp!, mark: typeof mark === 'string' ? mark : null } : null
}

const isRowId = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) > 0
