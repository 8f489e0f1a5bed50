// Keys of administrators' tokens and codes. They depend on ADMIN_JWT_SECRET and on JWT_SECRET, and are neither of them: no token of Strapi's
// panel, and no token of a user, is one of an administrator here.
import { createHmac, hkdfSync } from 'node:crypto'
import type { Secrets } from '../../foundation/config/secrets.js'

/** Keys for the administration, each for one purpose. */
export interface AdministrationKeys {
  /** Signs the tokens of sessions. */
  readonly tokens: string
  /** Keys the marks in these tokens. */
  readonly marks: string
  /** Keys the code of the first administrator. */
  readonly first: string
  /** Keys the fingerprints of requests with an `Idempotency-Key`, whose bodies may have a password. */
  readonly fingerprints: string
  /** Seals what these requests led to, which may have a secret. */
  readonly responses: string
}

/**
 * Derives the keys (HKDF, RFC 5869). JWT_SECRET is the key material and always set; ADMIN_JWT_SECRET is the salt, so a change of either
 * ends all sessions, and a weak or missing ADMIN_JWT_SECRET leaves the keys as strong as JWT_SECRET.
 */
export function administrationKeys({ jwtSecret, adminJwtSecret }: Secrets): AdministrationKeys {
  const derive = (purpose: string) =>
    Buffer.from(hkdfSync('sha256', jwtSecret, adminJwtSecret ?? '', `octavo administration ${purpose}`, 32)).toString('base64url')
  return {
    ...{ tokens: derive('tokens'), marks: derive('marks'), first: derive('first administrator') },
    ...{ fingerprints: derive('fingerprints'), responses: derive('responses') },
  }
}

/** Returns a keyed fingerprint of an administrator's stored password: another password, also one that Strapi sets, is another mark. */
export const passwordMark = (key: string, documentId: string | null, password: string | null): string =>
  createHmac('sha256', key)
    .update(JSON.stringify([documentId, password]))
    .digest('base64url')
    .slice(0, 20)
