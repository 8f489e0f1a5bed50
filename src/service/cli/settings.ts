// `octavo settings`: settings for users, which Strapi's admin panel shows in "Users & Permissions".

import { act } from '../../admin/manage/operation.js'
import type { MainConnection } from '../../database/database.js'
import { ConfigError } from '../../foundation/errors/errors.js'
import {
  type AccountSettings,
  changeAccountSettings,
  httpUrl,
  readAccountSettings,
  type StoredSettings,
} from '../../identity/access/account-settings.js'
import { roleByType } from '../../identity/accounts/users.js'
import { commandContext } from './changes.js'
import { orExplain } from './explain-error.js'
import { type ListOptions, print, printJson, printTable } from './output.js'
import { lookIntoProject, withProject } from './project.js'

interface Setting {
  readonly about: string
  /** The value in JSON. */
  value(settings: AccountSettings): boolean | string | null
  /** Parses a word to stored values. @throws ConfigError if it is invalid */
  read(word: string, database: MainConnection): Promise<StoredSettings>
}

/** A value as the command prints and reads it. */
const shown = (value: boolean | string | null): string => (typeof value === 'boolean' ? (value ? 'yes' : 'no') : (value ?? 'none'))

function readYesOrNo(word: string): boolean {
  if (['yes', 'true', 'on'].includes(word)) return true
  if (['no', 'false', 'off'].includes(word)) return false
  throw new ConfigError(`"${word}" is not valid; use yes or no.`)
}

function readPage(word: string): string | null {
  if (word === 'none') return null
  if (httpUrl(word) === null) throw new ConfigError(`"${word}" is not valid; use a URL that begins with https:// or http://, or none.`)
  return word
}

const settings: Readonly<Record<string, Setting>> = {
  'allow-register': {
    about: 'anyone may sign up',
    value: ({ allowRegister }) => allowRegister,
    read: async (word) => ({ allow_register: readYesOrNo(word) }),
  },
  'email-confirmation': {
    about: 'users must confirm their e-mail address before they can sign in',
    value: ({ emailConfirmation }) => emailConfirmation,
    read: async (word) => ({ email_confirmation: readYesOrNo(word) }),
  },
  'unique-email': {
    about: 'an e-mail address belongs to one user only',
    value: ({ uniqueEmail }) => uniqueEmail,
    read: async (word) => ({ unique_email: readYesOrNo(word) }),
  },
  'default-role': {
    about: 'type of the role that new users get',
    value: ({ defaultRole }) => defaultRole,
    read: async (word, database) => {
      if ((await roleByType(database, word)) === null) {
        throw new ConfigError(`There is no role of type "${word}". List the roles with: npx octavo roles list`)
      }
      return { default_role: word }
    },
  },
  'reset-page': {
    about: 'URL of the page where users choose a new password, or none: that of the service',
    value: ({ resetUrl }) => resetUrl,
    read: async (word) => ({ email_reset_password: readPage(word) }),
  },
  'confirmation-page': {
    about: 'URL that users are redirected to after confirming their e-mail address, or none: a page of the service',
    value: ({ confirmationRedirection }) => confirmationRedirection,
    read: async (word) => ({ email_confirmation_redirection: readPage(word) }),
  },
}

export const listSettingsCommand = orExplain(async (folder: string, { json = false }: ListOptions) => {
  const stored = await lookIntoProject(folder, ({ database }) => readAccountSettings(database))
  if (json) return printJson(Object.fromEntries(Object.entries(settings).map(([name, { value }]) => [name, value(stored)])))
  printTable(
    ['setting', 'value', ''],
    Object.entries(settings).map(([name, { about, value }]) => [name, shown(value(stored)), about]),
  )
})

export const setSettingCommand = orExplain(async (name: string, word: string, folder: string) => {
  const setting = Object.hasOwn(settings, name) ? settings[name] : undefined
  if (setting === undefined) throw new ConfigError(`There is no setting "${name}". Settings: ${Object.keys(settings).join(', ')}.`)
  const stored = await withProject(folder, async (project) => {
    const { database } = project
    const changes = await setting.read(word, database)
    await act(commandContext(project, { action: 'update', subject: 'settings' }), async (transaction) => {
      await changeAccountSettings(transaction, changes)
      return { id: 'users', fields: Object.keys(changes) }
    })
    return readAccountSettings(database)
  })
  print(`${name} is now ${shown(setting.value(stored))}.`)
})
