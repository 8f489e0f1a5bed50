// Passwords as Strapi stores them: bcrypt at cost 10. The work is done on threads, never in the event loop.
import { hash, verify } from '@node-rs/bcrypt'

/** bcrypt looks at no byte beyond these. */
export const longestPassword = 72

const cost = 10
/** The hash of a password that was thrown away: checking against it takes as long as any check. */
const nobodys = '$2a$10$X7b0uS0LSkVQvSqGTdDqhO7m0YkpS7yUzGQbeS8Rk5lWwzWyqzK6S'

/** The hash under which a password is kept. */
export const hashPassword = (password: string): Promise<string> => hash(password, { cost, version: '2a' })

/**
 * True if `password` is the one behind `stored`. Takes the same time where there is no such account (`null`), and for
 * a password that is too long to be anybody's: its first 72 bytes are not enough.
 */
export async function passwordFits(password: string, stored: string | null): Promise<boolean> {
  const possible = stored !== null && Buffer.byteLength(password) <= longestPassword
  const fits = await verify(possible ? password : '', possible ? stored : nobodys)
  return possible && fits
}
