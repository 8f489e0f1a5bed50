// Passwords as Strapi stores them: bcrypt at cost 10. The work is done on threads, never in the event loop.
import { hash, verify } from '@node-rs/bcrypt'
import { openQueue } from '../runtime/queue.js'

/** bcrypt looks at no byte beyond these. */
export const longestPassword = 72

const cost = 10
/** The hash of a password that was thrown away: checking against it takes as long as any check. */
const nobodys = '$2a$10$X7b0uS0LSkVQvSqGTdDqhO7m0YkpS7yUzGQbeS8Rk5lWwzWyqzK6S'

/** The hash under which a password is kept. */
export const hashPassword = (password: string): Promise<string> => hash(password, { cost, version: '2a' })

/** Hashing and checking for everyone who asks over the network: a few at once, the others in line. */
export interface Passwords {
  /** @throws ApiError 503 where too many wait */
  hash(password: string): Promise<string>
  /**
   * True if `password` is the one behind `stored`. Takes the same time where there is no such account (`null`), and for
   * a password that is too long to be anybody's: its first 72 bytes are not enough.
   * @throws ApiError 503 where too many wait
   */
  fits(password: string, stored: string | null): Promise<boolean>
}

/**
 * bcrypt runs on the threads that read files too: `passwordConcurrency` leaves them some, and `passwordQueue` bounds how long the last in
 * line waits.
 */
export function openPasswords({ passwordConcurrency, passwordQueue }: PasswordLimits): Passwords {
  const { run } = openQueue(passwordConcurrency, passwordQueue, 'Too many are signing in')
  return {
    hash: (password) => run(() => hashPassword(password)),
    fits: (password, stored) => run(() => passwordFits(password, stored)),
  }
}

export interface PasswordLimits {
  readonly passwordConcurrency: number
  readonly passwordQueue: number
}

async function passwordFits(password: string, stored: string | null): Promise<boolean> {
  const possible = stored !== null && Buffer.byteLength(password) <= longestPassword
  const fits = await verify(possible ? password : '', possible ? stored : nobodys)
  return possible && fits
}
