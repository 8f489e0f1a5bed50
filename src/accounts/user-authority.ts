// What users may do to users through the API, beyond being granted `user.create` and `user.update`: nobody raises himself or takes
// another's place. Tokens are made by whoever runs the service, and may do what they are granted.
import { sql } from 'kysely'
import { bodyMembers } from '../access/body.js'
import type { Caller } from '../access/identify.js'
import { forbidden } from '../errors/errors.js'
import type { AccountContext } from './context.js'
import { roleByType } from './users.js'

/** What decides how far a user may go beside the role, and what proves who a user is. */
const rights = ['provider', 'confirmed', 'blocked'] as const
const proofs = ['email', 'password'] as const

/** Whether the caller may set names that are somebody's addresses, and addresses that are somebody's names: tokens may. */
export const mayTakePlaces = (accounts: AccountContext, caller: Caller): boolean =>
  caller.kind === 'token' || accounts.signIn.userWrites === 'as-strapi'

/**
 * @param target the user whose row is changed; null: a user is added
 * @throws ApiError 403 for rights of one's own, for rights and proofs of others, and for a role that is neither the default one nor the caller's
 */
export async function checkAuthority(accounts: AccountContext, caller: Caller, target: number | null, body: unknown): Promise<void> {
  if (caller.kind !== 'user' || accounts.signIn.userWrites === 'as-strapi') return
  const given = bodyMembers(body)
  const has = (names: readonly string[]) => names.some((name) => given[name] !== undefined)
  if (target !== null && (has(rights) || (target === caller.id ? has(['role']) : has(proofs)))) throw forbidden()
  // A body without a role is refused by its form, or changes none.
  if (has(['role']) && !(await mayGive(accounts, caller.id, given.role))) throw forbidden()
}

/** A role may be given by users who have it; the default one by everyone. */
async function mayGive(accounts: AccountContext, userId: number, role: unknown): Promise<boolean> {
  const { defaultRole } = await accounts.settings()
  const own = await accounts.database.rows<{ role_id: number }>(sql`select role_id from up_users_role_lnk where user_id = ${userId}`)
  const allowed = [await roleByType(accounts.database, defaultRole), ...own.map(({ role_id }) => role_id)]
  const { connect } = bodyMembers(role)
  const named = Array.isArray(connect) ? connect.map((one) => bodyMembers(one).id) : [role]
  return named.every((one) => allowed.includes(Number(one)))
}
