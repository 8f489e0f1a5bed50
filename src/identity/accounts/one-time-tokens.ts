// One-time codes: for password resets, confirmations and invitations by e-mail, and for the end of an OAuth sign-in. Only their hash is
// stored, and a code becomes invalid when its owner's e-mail address, password or blocked state changes.
import { createHash, createHmac, randomBytes } from 'node:crypto'
import { sql } from 'kysely'
import type { RowReader, Transaction } from '../../database/database.js'

/** The purpose of a code and the table of its owner: users or administrators. */
const owners = {
  reset: 'up_users',
  confirm: 'up_users',
  /** A code that has confirmed an address: its link leads to the same page until it ends. */
  confirmed: 'up_users',
  connect: 'up_users',
  'admin-reset': 'admin_users',
  'admin-invitation': 'admin_users',
} as const

export type Purpose = keyof typeof owners

const hashOf = (code: string): string => createHash('sha256').update(code).digest('hex')

/** The columns of a user or administrator that a code is bound to: a change of any of them invalidates the code. */
interface TokenOwner {
  readonly id: number
  readonly email: string | null
  readonly password: string | null
  readonly blocked: number | null
}

/** The second half of a code: a keyed hash of its owner's columns. */
const markOf = (random: string, { id, email, password, blocked }: TokenOwner): string =>
  createHmac('sha256', random)
    .update(JSON.stringify([id, email, password, blocked === 1]))
    .digest('hex')
    .slice(0, 32)

/** The owner of codes for unknown addresses, which take as long to create as others. */
const noOwner: TokenOwner = { id: 0, email: null, password: null, blocked: null }

/** Creates a code for its owner, or for null. Invalidates earlier codes for the same purpose. */
export async function createOneTimeToken(
  transaction: Transaction,
  purpose: Purpose,
  user: TokenOwner | null,
  expiresAt: number,
): Promise<string> {
  const owner = user ?? noOwner
  const random = randomBytes(16).toString('hex')
  const code = random + markOf(random, owner)
  await transaction.run(sql`delete from octavo_one_time_tokens where purpose = ${purpose} and user_id = ${owner.id}`)
  await transaction.run(sql`insert into octavo_one_time_tokens (purpose, hash, user_id, expires_at)
    values (${purpose}, ${hashOf(code)}, ${owner.id}, ${expiresAt})`)
  return code
}

/** Returns the owner of a code; null if it is unknown, used or expired, or if the owner has changed since. */
export async function ownerOfToken(database: RowReader, purpose: Purpose, code: string, now: number): Promise<number | null> {
  const [owner] = await database.rows<TokenOwner>(
    sql`select u.id, u.email, u.password, u.blocked from octavo_one_time_tokens c join ${sql.table(owners[purpose])} u on u.id = c.user_id
      where c.purpose = ${purpose} and c.hash = ${hashOf(code)} and c.expires_at > ${now}`,
  )
  return owner !== undefined && markOf(code.slice(0, 32), owner) === code.slice(32) ? owner.id : null
}

/** Consumes a code and returns its owner. Of two parallel calls one returns null. `usedAs`: the code is kept for this purpose. */
export async function consumeOneTimeToken(
  transaction: Transaction,
  purpose: Purpose,
  code: string,
  now: number,
  usedAs: Purpose | null = null,
): Promise<number | null> {
  const owner = await ownerOfToken(transaction, purpose, code, now)
  if (usedAs !== null && owner !== null)
    await transaction.run(sql`update octavo_one_time_tokens set purpose = ${usedAs} where purpose = ${purpose} and hash = ${hashOf(code)}`)
  await transaction.run(
    sql`delete from octavo_one_time_tokens where expires_at <= ${now} or (purpose = ${purpose} and hash = ${hashOf(code)})`,
  )
  return owner
}

/** Invalidates all codes of a user or administrator. */
export async function revokeOneTimeTokens(
  transaction: Transaction,
  id: number,
  table: (typeof owners)[Purpose] = 'up_users',
): Promise<void> {
  const purposes = Object.entries(owners).flatMap(([purpose, owner]) => (owner === table ? [purpose] : []))
  await transaction.run(sql`delete from octavo_one_time_tokens where user_id = ${id} and purpose in (${sql.join(purposes)})`)
}
