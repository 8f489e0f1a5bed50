// The JWTs of users in Strapi's two forms: one that lives for weeks, or a short access token beside a refresh token.
import { errors, type JWTPayload, jwtVerify, SignJWT } from 'jose'

/** What a verified JWT says. Times in seconds. */
export type Claims =
  | {
      readonly kind: 'single'
      readonly userId: number
      readonly issuedAt: number | null
      readonly expiresAt: number
      readonly mark: string | null
    }
  | { readonly kind: 'access' | 'refresh'; readonly userId: number; readonly sessionId: string; readonly expiresAt: number }

export interface Jwts {
  single(userId: number, mark: string, seconds: number): Promise<string>
  ofSession(kind: 'access' | 'refresh', userId: number, sessionId: string, expiresAt: number): Promise<string>
  /** Values for a browser to keep and give back; no credential. */
  seal(values: Readonly<Record<string, string>>, seconds: number): Promise<string>
  /** What was sealed; null for anything else. */
  unseal(text: string): Promise<Readonly<Record<string, unknown>> | null>
  /** Null for what is no JWT of ours, or one that has expired. */
  verify(token: string): Promise<Claims | null>
}

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
    ofSession: (type, userId, sessionId, expiresAt) => sign({ userId: String(userId), sessionId, type }, expiresAt),
    seal: (sealed, seconds) => sign({ type: 'sealed', sealed }, second() + seconds),
    async unseal(text) {
      const payload = await payloadOf(text)
      return payload?.type === 'sealed' ? (payload.sealed as Record<string, unknown>) : null
    },
    async verify(token) {
      const payload = await payloadOf(token)
      return payload === null ? null : claimsOf(payload, second())
    },
  }
}

/** Seconds: how far clocks may differ, and how long a token may be good at most. */
const skew = 300
const longest = 200 * 365 * 86_400

/** The claims of a token that is made as we and Strapi make them. The secret may sign other things too: those are none of ours. */
function claimsOf(payload: JWTPayload, now: number): Claims | null {
  const { id, mark, userId, sessionId, type, sealed, iss, aud, iat = null, exp } = payload
  if (!Number.isSafeInteger(exp) || exp! > now + longest || (iat !== null && iat > now + skew)) return null
  if (iss !== undefined || aud !== undefined || sealed !== undefined) return null
  if (isRowId(id)) {
    if ([userId, sessionId, type].some((claim) => claim !== undefined)) return null
    return { kind: 'single', userId: id, issuedAt: iat, expiresAt: exp!, mark: typeof mark === 'string' ? mark : null }
  }
  if (id !== undefined || (type !== 'access' && type !== 'refresh') || typeof sessionId !== 'string') return null
  const user = Number(userId)
  return isRowId(user) ? { kind: type, userId: user, sessionId, expiresAt: exp! } : null
}

const isRowId = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) > 0
