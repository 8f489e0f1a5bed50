// Codes that prove something once: a letter's link to a new password or a confirmed address, the end of a sign-in by
// another service. Only their hash is kept, and they hold only for the user as the user was when they were made.
import { createHash, createHmac, randomBytes } from 'node:crypto'
import { sql } from 'kysely'
import type { MainConnection, Transaction } from '../database/database.js'

export type Purpose = 'reset' | 'confirm' | 'connect'

const hashOf = (code: string): string => createHash('sha256').update(code).digest('hex')

/** What of a user a code is bound to: it dies when any of it changes, whoever changes it. */
export interface TokenOwner {
  readonly id: number
  readonly email: string | null
  readonly password: string | null
  readonly blocked: number | null
}

/** The second half of a code: what its owner was when it was made. */
const markOf = (random: string, { id, email, password, blocked }: TokenOwner): string =>
  createHmac('sha256', random)
    .update(JSON.stringify([id, email, password, blocked === 1]))
    .digest('hex')
    .slice(0, 32)

/** Stands for no user: a code that nobody gets costs what another one costs. */
const nobody: TokenOwner = { id: 0, email: null, password: null, blocked: null }

/** Makes a code for a user, or for nobody; what was made for the same purpose before is void. */
export async function createOneTimeToken(
  transaction: Transaction,
  purpose: Purpose,
  user: TokenOwner | null,
  expiresAt: number,
): Promise<string> {
  const owner = user ?? nobody
  const random = randomBytes(16).toString('hex')
  const code = random + markOf(random, owner)
  await transaction.run(sql`delete from octavo_one_time_tokens where purpose = ${purpose} and user_id = ${owner.id}`)
  await transaction.run(sql`insert into octavo_one_time_tokens (purpose, hash, user_id, expires_at)
    values (${purpose}, ${hashOf(code)}, ${owner.id}, ${expiresAt})`)
  return code
}

/** Whose code this is; null for a code that is unknown, used, too old, or of a user who is not any more as it was made for. */
export async function ownerOfToken(
  database: Pick<MainConnection, 'rows'>,
  purpose: Purpose,
  code: string,
  now: number,
): Promise<number | null> {
  const [owner] = await database.rows<TokenOwner>(
    sql`select u.id, u.email, u.password, u.blocked from octavo_one_time_tokens c join up_users u on u.id = c.user_id
      where c.purpose = ${purpose} and c.hash = ${hashOf(code)} and c.expires_at > ${now}`,
  )
  return owner !== undefined && markOf(code.slice(0, 32), owner) === code.slice(32) ? owner.id : null
}

/** Uses a code up and gives its owner. Of two parallel uses one gets null. */
export async function consumeOneTimeToken(transaction: Transaction, purpose: Purpose, code: string, now: number): Promise<number | null> {
  const owner = await ownerOfToken(transaction, purpose, code, now)
  await transaction.run(
    sql`delete from octavo_one_time_tokens where expires_at <= ${now} or (purpose = ${purpose} and hash = ${hashOf(code)})`,
  )
  return owner
}

/** Everything that was sent or handed out to the user is void. */
export async function revokeOneTimeTokens(transaction: Transaction, userId: number): Promise<void> {
  await transaction.run(sql`delete from octavo_one_time_tokens where user_id = ${userId}`)
}
