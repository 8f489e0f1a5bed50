// Codes that prove something once: a letter's link to a new password or a confirmed address, the end of a sign-in by
// another service. Only their hash is kept.
import { createHash, randomBytes } from 'node:crypto'
import { sql } from 'kysely'
import type { DirectDatabase, Transaction } from '../database/database.js'

export type Purpose = 'reset' | 'confirm' | 'connect'

const hashOf = (code: string): string => createHash('sha256').update(code).digest('hex')

/** Makes a code for a user; what was made for the same purpose before is void. */
export async function makeCode(transaction: Transaction, purpose: Purpose, userId: number, expiresAt: number): Promise<string> {
  const code = randomBytes(32).toString('hex')
  await transaction.run(sql`delete from octavo_codes where purpose = ${purpose} and user_id = ${userId}`)
  await transaction.run(sql`insert into octavo_codes (purpose, hash, user_id, expires_at)
    values (${purpose}, ${hashOf(code)}, ${userId}, ${expiresAt})`)
  return code
}

/** Whose code this is; null for a code that is unknown, used or too old. */
export async function ownerOfCode(
  database: Pick<DirectDatabase, 'rows'>,
  purpose: Purpose,
  code: string,
  now: number,
): Promise<number | null> {
  const [row] = await database.rows<{ user_id: number }>(
    sql`select user_id from octavo_codes where purpose = ${purpose} and hash = ${hashOf(code)} and expires_at > ${now}`,
  )
  return row?.user_id ?? null
}

/** Uses a code up and gives its owner. Of two parallel uses one gets null. */
export async function useCode(transaction: Transaction, purpose: Purpose, code: string, now: number): Promise<number | null> {
  const owner = await ownerOfCode(transaction, purpose, code, now)
  await transaction.run(sql`delete from octavo_codes where expires_at <= ${now} or (purpose = ${purpose} and hash = ${hashOf(code)})`)
  return owner
}
