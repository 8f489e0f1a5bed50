// The credential version of a user (column `epoch`): it grows when the password changes or the user is blocked or deleted. Tokens of an
// earlier version are refused, even if the row was deleted and another one was created with the same id.
import { createHmac } from 'node:crypto'
import { sql } from 'kysely'
import type { RowReader, Transaction } from '../../database/database.js'
import { upsert } from '../../database/portable-sql.js'

/** The columns that determine whether a token was issued for this user and credential version. */
export interface CredentialRow {
  readonly document_id: string | null
  readonly password: string | null
  readonly created_at: number | string | null
  readonly epoch: number | null
  readonly changed_at: number | null
}

/** Reads a user's credential columns; null if there is no such user. */
export async function credentialsOf(database: RowReader, userId: number): Promise<CredentialRow | null> {
  const [row = null] = await database.rows<CredentialRow>(
    sql`select u.document_id, u.password, u.created_at, e.epoch, e.changed_at
      from up_users u left join octavo_credential_versions e on e.user_id = u.id where u.id = ${userId}`,
  )
  return row
}

/** Invalidates all tokens and sessions of a user. */
export async function revokeCredentials(transaction: Transaction, userId: number, now: number): Promise<void> {
  const row = { user_id: userId, epoch: 1, changed_at: now }
  const next = sql`epoch = octavo_credential_versions.epoch + 1, changed_at = ${now}`
  await transaction.run(upsert('octavo_credential_versions', row, ['user_id'], next))
  await transaction.run(sql`delete from strapi_sessions where user_id = ${String(userId)} and origin = 'users-permissions'`)
}

/**
 * Returns the value that our tokens contain for one user, password and credential version. A password change by Strapi on the same
 * database therefore invalidates them too. The value reveals nothing without the key.
 */
export function credentialMark(key: string, { document_id, password, epoch }: Omit<CredentialRow, 'created_at' | 'changed_at'>): string {
  return createHmac('sha256', key)
    .update(`epoch ${document_id} ${epoch ?? 0} ${password ?? ''}`)
    .digest('base64url')
    .slice(0, 20)
}

/** True if a token without a mark, issued by Strapi, is valid. Without a time of issue, it is valid until the version first changes. */
export function isValidUnmarked(
  { created_at, changed_at }: Pick<CredentialRow, 'created_at' | 'changed_at'>,
  issuedAt: number | null,
): boolean {
  if (issuedAt === null) return changed_at === null
  const created = created_at === null ? 0 : Math.floor(new Date(created_at).getTime() / 1000) || 0
  const changed = changed_at === null ? 0 : Math.floor(changed_at / 1000) + 1
  return issuedAt >= created && issuedAt >= changed
}
