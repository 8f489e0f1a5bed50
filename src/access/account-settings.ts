// What an installation allows its users: the settings that Strapi's admin keeps under "Users & Permissions".
import { sql } from 'kysely'
import type { MainConnection, Transaction } from '../database/database.js'

export interface AccountSettings {
  readonly allowRegister: boolean
  /** Users must have confirmed their address before they are let in. */
  readonly emailConfirmation: boolean
  readonly uniqueEmail: boolean
  /** The type of the role that new users get. */
  readonly defaultRole: string
  /** The page of the site where a new password is chosen; letters link to it. */
  readonly resetUrl: string | null
  /** Where a browser goes after an address was confirmed. */
  readonly confirmationRedirection: string | null
}

/** Account settings as they are stored. */
export interface StoredSettings {
  readonly allow_register?: boolean
  readonly email_confirmation?: boolean
  readonly unique_email?: boolean
  readonly default_role?: string
  readonly email_reset_password?: string | null
  readonly email_confirmation_redirection?: string | null
}

const advanced = 'plugin_users-permissions_advanced'

/** Changes some of the account settings; they hold for the next request. */
export async function changeAccountSettings(transaction: Transaction, changes: StoredSettings): Promise<void> {
  const stored = (await storedSetting(transaction, advanced)) ?? {}
  const value = JSON.stringify({ ...(stored as StoredSettings), ...changes })
  const { rows } = await transaction.run(sql`update strapi_core_store_settings set value = ${value} where ${sql.ref('key')} = ${advanced}`)
  if (rows === 0) {
    await transaction.run(
      sql`insert into strapi_core_store_settings (${sql.ref('key')}, value, type) values (${advanced}, ${value}, 'object')`,
    )
  }
}

/** The account settings in force. */
export const readAccountSettings = async (database: Pick<MainConnection, 'rows'>): Promise<AccountSettings> =>
  accountSettings(await storedSetting(database, advanced))

/** Reads `plugin_users-permissions_advanced` as it is stored; what is missing is refused rather than allowed. */
export function accountSettings(stored: unknown): AccountSettings {
  const given = (typeof stored === 'object' && stored !== null ? stored : {}) as StoredSettings
  return {
    allowRegister: given.allow_register === true,
    emailConfirmation: given.email_confirmation === true,
    uniqueEmail: given.unique_email !== false,
    defaultRole: given.default_role ?? 'authenticated',
    resetUrl: webAddress(given.email_reset_password),
    confirmationRedirection: webAddress(given.email_confirmation_redirection),
  }
}

/** An address that a letter or a redirect may lead to: http or https, nothing else. */
export function webAddress(text: unknown): string | null {
  if (typeof text !== 'string' || !URL.canParse(text)) return null
  return /^https?:$/.test(new URL(text).protocol) ? text : null
}

/** A setting of Strapi's by its key; undefined where there is none. */
export async function storedSetting(database: Pick<MainConnection, 'rows'>, key: string): Promise<unknown> {
  const [row] = await database.rows<{ value: string }>(
    sql`select value from strapi_core_store_settings where ${sql.ref('key')} = ${key} order by id desc limit 1`,
  )
  return row === undefined ? undefined : JSON.parse(row.value)
}
