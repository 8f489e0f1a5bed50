// Passwords in Strapi's format, bcrypt with cost 10. Hashing runs on threads, never in the event loop.
import { hash, verify } from '@node-rs/bcrypt'
import { openTurns } from '../../foundation/runtime/queues.js'

/** bcrypt ignores all bytes beyond these. */
export const longestPassword = 72

const cost = 10
/** The hash of a discarded password; comparing with it takes as long as any comparison. */
const dummyHash = '$2a$10$X7b0uS0LSkVQvSqGTdDqhO7m0YkpS7yUzGQbeS8Rk5lWwzWyqzK6S'

/** A bcrypt hash. */
const isHash = /^\$2[aby]\$(0[4-9]|[12]\d|3[01])\$[./A-Za-z\d]{53}$/

/** Hashes a password. Strapi writes the prefix $2a$; the algorithm of $2y$ is the same. */
export const hashPassword = async (password: string): Promise<string> => (await hash(password, cost)).replace('$2y$', '$2a$')

/** Hashing and checking of passwords for requests, a few at a time. */
export interface Passwords {
  /** Hashes a password. @throws ApiError 503 if too many wait */
  hash(password: string): Promise<string>
  /**
   * True if `password` matches the hash `stored`. Takes the same time if there is no such account (`null`), for an invalid hash, and for a
   * password of more than 72 bytes, which never matches.
   * @throws ApiError 503 if too many wait
   */
  matches(password: string, stored: string | null): Promise<boolean>
  /** The same for a caller. Callers take turns. */
  of(caller: string): Passwords
}

/** bcrypt runs on the same four threads as file reads, so some of them stay free. */
const maxConcurrent = 2
const maxQueue = 100

/** Opens the turns. */
export function openPasswords(): Passwords {
  const { run } = openTurns(maxConcurrent, maxQueue, 'Too many sign-ins in progress')
  const of = (caller: string): Passwords => ({
    hash: (password) => run(caller, () => hashPassword(password)),
    matches: (password, stored) => run(caller, () => passwordMatches(password, stored)),
    of,
  })
  return of('')
}

async function passwordMatches(password: string, stored: string | null): Promise<boolean> {
  // Another stored form would be refused before any work.
  const possible = stored !== null && isHash.test(stored) && Buffer.byteLength(password) <= longestPassword
  const matches = await verify(possible ? password : '', possible ? stored : dummyHash)
  return possible && matches
}
