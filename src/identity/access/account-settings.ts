// Settings for users: those that Strapi's admin panel shows under "Users & Permissions".

import { storedSetting, writeSetting } from '../../content/documents/store/settings.js'
import type { RowReader, Transaction } from '../../database/database.js'

/** Settings for users, with defaults. */
export interface AccountSettings {
  readonly allowRegister: boolean
  /** Users must confirm their e-mail address before they can sign in. */
  readonly emailConfirmation: boolean
  readonly uniqueEmail: boolean
  /** The type of the role that new users get. */
  readonly defaultRole: string
  /** The page of the site where users choose a new password; e-mails link to it. */
  readonly resetUrl: string | null
  /** Redirection after the confirmation of an e-mail address. */
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

/** Changes some account settings; they take effect at the next request. */
export async function changeAccountSettings(transaction: Transaction, changes: StoredSettings): Promise<void> {
  const stored = (await storedSetting(transaction, advanced)) ?? {}
  await writeSetting(transaction, advanced, { ...(stored as StoredSettings), ...changes })
}

/** Reads the current account settings. */
export const readAccountSettings = async (database: RowReader): Promise<AccountSettings> =>
  accountSettings(await storedSetting(database, advanced))

/** Parses the stored value of `plugin_users-permissions_advanced`; missing permissions default to refusal. */
export function accountSettings(stored: unknown): AccountSettings {
  const given = (typeof stored === 'object' && stored !== null ? stored : {}) as StoredSettings
  return {
    allowRegister: given.allow_register === true,
    emailConfirmation: given.email_confirmation === true,
    uniqueEmail: given.unique_email !== false,
    defaultRole: given.default_role ?? 'authenticated',
    resetUrl: httpUrl(given.email_reset_password),
    confirmationRedirection: httpUrl(given.email_confirmation_redirection),
  }
}

/** Returns the text if it is an http or https URL, which e-mails and redirects may lead to; otherwise null. */
export function httpUrl(text: unknown): string | null {
  if (typeof text !== 'string' || !URL.canParse(text)) return null
  return /^https?:$/.test(new URL(text).protocol) ? text : null
}
