// `octavo admins`: creates, lists, blocks and unblocks administrators, and sets passwords. Changes are recorded in the activity log.

import {
  type AdministratorRow,
  addAdministrator,
  administratorByEmail,
  administratorById,
  changeAdministrator,
  checkNotLast,
  missingTables,
  passwordError,
  setPassword,
} from '../../admin/identity/administrators.js'
import { addDefaultRoles, findRoles } from '../../admin/manage/administrator-roles.js'
import { readAdministrators } from '../../admin/manage/administrators.js'
import { act, type Done } from '../../admin/manage/operation.js'
import type { RowReader, Transaction } from '../../database/database.js'
import { ConfigError } from '../../foundation/errors/errors.js'
import { isEmailAddress } from '../../identity/accounts/input.js'
import { hashPassword } from '../../identity/accounts/passwords.js'
import { commandContext } from './changes.js'
import { orExplain } from './explain-error.js'
import { type ListOptions, print, printJson, printTable } from './output.js'
import { lookIntoProject, withProject } from './project.js'
import { readPassword } from './prompt.js'

interface AdminOptions {
  readonly email: string
  readonly firstname: string
  readonly lastname?: string
  readonly password?: string
  /** Comma-separated codes of roles. */
  readonly role: string
}

/** Creates an active administrator. */
export const createAdminCommand = orExplain(async (folder: string, { email, firstname, lastname, role, password: given }: AdminOptions) => {
  const { password, made } = await newPassword(given)
  if (!isEmailAddress(email)) throw new ConfigError(`--email: "${email}" is not a valid e-mail address.`)
  const hashed = await hashPassword(password)
  await change(folder, 'create', async (transaction, now) => {
    await addDefaultRoles(transaction, now)
    const codes = role.split(',').map((code) => code.trim())
    const roles = (await findRoles(transaction, codes)).map((found, index) => {
      if (found === null) throw new ConfigError(`There is no role of administrators with the code "${codes[index]}".`)
      return found.id
    })
    const id = await addAdministrator(transaction, { email, firstname, lastname: lastname ?? null, password: hashed, roles }, now)
    return { id: String(id), name: email.toLowerCase() }
  })
  print(made ? `Created administrator "${email}". Password: ${password}` : `Created administrator "${email}".`)
})

export const listAdminsCommand = orExplain(async (folder: string, { json = false }: ListOptions) => {
  const all = await lookIntoProject(folder, async ({ database }) => {
    await checkTables(database)
    return readAdministrators(database)
  })
  if (json)
    return printJson(
      all.map(({ id, email, firstname, lastname, isActive, isBlocked, roles }) => ({
        id,
        email: email || null,
        firstname,
        lastname,
        isActive,
        isBlocked,
        roles: roles.map(({ code }) => code),
      })),
    )
  const rows = all.map(({ id, email, firstname, lastname, isActive, isBlocked, roles }) => {
    const name = [firstname, lastname].filter((part) => part !== null).join(' ')
    const state = isBlocked ? 'blocked' : isActive ? 'active' : 'invited'
    return [String(id), email || '-', name === '' ? '-' : name, roles.map(({ code }) => code).join(', ') || '-', state]
  })
  printTable(['id', 'e-mail', 'name', 'roles', 'state'], rows)
})

export const blockAdminCommand = (blocked: boolean) =>
  orExplain(async (emailOrId: string, folder: string) => {
    await change(folder, 'update', async (transaction, now) => {
      const { id, email } = await find(transaction, emailOrId)
      if (blocked) await checkNotLast(transaction, id)
      await changeAdministrator(transaction, id, { blocked: Number(blocked) }, now, blocked)
      return { id: String(id), name: email ?? '', fields: ['blocked'] }
    })
    print(`${blocked ? 'Blocked' : 'Unblocked'} administrator "${emailOrId}".`)
  })

/** Sets the password of an administrator, activates the account, and ends all sessions. */
export const resetAdminPasswordCommand = orExplain(async (emailOrId: string, folder: string, options: { readonly password?: string }) => {
  const { password, made } = await newPassword(options.password)
  const hashed = await hashPassword(password)
  await change(folder, 'update', async (transaction, now) => {
    const { id, email } = await find(transaction, emailOrId)
    await setPassword(transaction, id, hashed, now)
    return { id: String(id), name: email ?? '', fields: ['password'] }
  })
  print(`Set the password of "${emailOrId}"${made ? `: ${password}` : '.'}`)
})

/** Changes an administrator in one transaction, with an entry in the activity log. */
const change = (
  folder: string,
  action: 'create' | 'update',
  work: (transaction: Transaction, now: number) => Promise<Done>,
): Promise<Done> =>
  withProject(folder, async (project) => {
    await checkTables(project.database)
    return act(commandContext(project, { action, subject: 'administrator' }), work)
  })

/** @throws ConfigError that names missing tables */
async function checkTables(database: RowReader): Promise<void> {
  const missing = await missingTables(database)
  if (missing.length > 0)
    throw new ConfigError(
      `The database has no administrators: it lacks ${missing.join(', ')}. Start the current version of Strapi 5 on it once.`,
    )
}

/** Finds an administrator by e-mail address or id. @throws ConfigError if it does not exist */
async function find(database: RowReader, emailOrId: string): Promise<AdministratorRow> {
  const byId = /^\d{1,15}$/.test(emailOrId) ? await administratorById(database, Number(emailOrId)) : null
  const found = byId ?? (await administratorByEmail(database, emailOrId))
  if (found === null) throw new ConfigError(`There is no administrator "${emailOrId}".`)
  return found
}

/** Returns the given or a generated password. @throws ConfigError for one that violates the rules */
async function newPassword(given: string | undefined) {
  const read = await readPassword(given)
  // The suffix makes a generated password satisfy the rules.
  const password = read.made ? `${read.password}aA1` : read.password
  const problem = passwordError(password)
  if (problem !== null) throw new ConfigError(`${problem.message}.`)
  return { ...read, password }
}
