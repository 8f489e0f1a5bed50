// Restricts users with `user.create` and `user.update`: they cannot raise their own rights or take over other accounts. API tokens are
// created by the operator and are not restricted.
import { sql } from 'kysely'
import { forbidden } from '../../foundation/errors/errors.js'
import type { Caller } from '../access/identify.js'
import type { AccountContext } from './context.js'
import { bodyMembers, rolesNamed } from './input.js'
import { roleByType, roleNamed } from './users.js'

/** Attributes other than the role that control a user's rights, and attributes that authenticate a user. */
const rights = ['provider', 'confirmed', 'blocked'] as const
const credentials = ['email', 'password'] as const

/** True if the caller may set a name that is another user's address, or an address that is another user's name. */
export const mayTakeIdentifiers = (accounts: AccountContext, caller: Caller): boolean =>
  caller.kind === 'token' || accounts.signIn.userWrites === 'as-strapi'

/**
 * Checks that a caller may write these attributes of a user.
 * @param target the user to change; null for a new user
 * @throws ApiError 403 for rights of any user, for credentials of other users, and for a role that is neither the default nor the caller's
 */
export async function checkAuthority(accounts: AccountContext, caller: Caller, target: number | null, body: unknown): Promise<void> {
  if (caller.kind !== 'user' || accounts.signIn.userWrites === 'as-strapi') return
  const given = bodyMembers(body)
  const has = (names: readonly string[]) => names.some((name) => given[name] !== undefined)
  if (target !== null && (has(rights) || (target === caller.id ? has(['role']) : has(credentials)))) throw forbidden()
  // Validation refuses a new user without a role; an update without one leaves it unchanged.
  if (has(['role']) && !(await mayAssign(accounts, caller.id, given.role))) throw forbidden()
}

/** Users may assign the default role and their own role. */
async function mayAssign(accounts: AccountContext, userId: number, role: unknown): Promise<boolean> {
  const { defaultRole } = await accounts.settings()
  const own = await accounts.database.rows<{ role_id: number }>(sql`select role_id from up_users_role_lnk where user_id = ${userId}`)
  const allowed = [await roleByType(accounts.database, defaultRole), ...own.map(({ role_id }) => role_id)]
  for (const one of rolesNamed(role)) {
    const id = one === null ? null : await roleNamed(accounts.database, one)
    if (id === null || !allowed.includes(id)) return false
  }
  return true
}
