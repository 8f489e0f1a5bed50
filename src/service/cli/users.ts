// `octavo users`: creates, lists, blocks and deletes users, and sets passwords. Blocking a user invalidates the user's tokens.

import { act } from '../../admin/manage/operation.js'
import type { MainConnection, Transaction } from '../../database/database.js'
import { ConfigError } from '../../foundation/errors/errors.js'
import { noScopes } from '../../foundation/grants.js'
import { commandLine } from '../../foundation/runtime/terminal.js'
import { checkLengths, readFields } from '../../identity/accounts/input.js'
import { hashPassword } from '../../identity/accounts/passwords.js'
import {
  addUser,
  changeUser,
  listUsers,
  removeUser,
  roleByType,
  setRole,
  type User,
  userByEmail,
  userById,
  userByName,
} from '../../identity/accounts/users.js'
import type { Model } from '../../model/schema/types.js'
import { findRole } from './actions.js'
import { commandContext } from './changes.js'
import { orExplain } from './explain-error.js'
import { type ListOptions, print, printJson, printTable } from './output.js'
import { lookIntoProject, type Project, withProject } from './project.js'
import { readPassword } from './prompt.js'

interface UserChange {
  /** Names of the changed fields; absent: the user is deleted. */
  readonly fields?: readonly string[]
  work(transaction: Transaction, now: number): Promise<void>
}

/** Changes or deletes a user in one transaction, with an audit entry, and returns the user. */
const changeOne = (folder: string, nameOrId: string, prepare: (project: Project, user: User) => Promise<UserChange>): Promise<User> =>
  withProject(folder, async (project) => {
    const user = await findUser(project.database, nameOrId)
    const { fields, work } = await prepare(project, user)
    const audit = { action: fields === undefined ? 'delete' : 'update', subject: 'user' }
    await act(commandContext(project, audit), async (transaction, now) => {
      await work(transaction, now)
      return { id: String(user.id), name: user.username ?? '', fields }
    })
    return user
  })

interface UserOptions {
  readonly username: string
  readonly email: string
  readonly password?: string
  readonly role: string
}

const typeOfUsers = (model: Model) => model.types.get('plugin::users-permissions.user')!

export const createUserCommand = orExplain(async (folder: string, { username, email, role, password: given }: UserOptions) => {
  const { password, made } = await readPassword(given)
  await withProject(folder, async (project) => {
    const { database, model } = project
    readFields({ username, email }, [{ name: 'email', email: true }, { name: 'username' }])
    checkPassword(model, password)
    checkLengths(typeOfUsers(model), { username, email })
    const roleId = await roleByType(database, role)
    if (roleId === null)
      throw new ConfigError(`There is no role of type "${role}". List the roles with: ${commandLine('roles list', folder)}`)
    const hashed = await hashPassword(password)
    await act(commandContext(project, { action: 'create', subject: 'user' }), async (transaction, now) => {
      const address = email.toLowerCase()
      if ((await userByEmail(transaction, address)) ?? (await userByName(transaction, username))) {
        throw new ConfigError('Email or username are already taken.')
      }
      const values = { username, email: address, provider: 'local', password: hashed, confirmed: 1, blocked: 0 }
      return { id: String(await addUser(transaction, typeOfUsers(model), values, roleId, now)), name: username }
    })
  })
  print(made ? `Created user "${username}". Password: ${password}` : `Created user "${username}".`)
})

export const listUsersCommand = orExplain(async (folder: string, { json = false }: ListOptions) => {
  const users = await lookIntoProject(folder, ({ database }) => listUsers(database))
  if (json)
    return printJson(
      users.map(({ id, username, email, role, confirmed, blocked }) => ({
        id,
        username,
        email,
        role,
        confirmed: confirmed === 1,
        blocked: blocked === 1,
      })),
    )
  const state = (user: User) => (user.blocked === 1 ? 'blocked' : user.confirmed === 1 ? 'confirmed' : 'not confirmed')
  const rows = users.map((user) => [String(user.id), user.username ?? '-', user.email ?? '-', user.role ?? '-', state(user)])
  printTable(['id', 'username', 'email', 'role', 'state'], rows)
})

export const blockUserCommand = (blocked: boolean) =>
  orExplain(async (nameOrId: string, folder: string) => {
    const user = await changeOne(folder, nameOrId, async (_project, { id }) => ({
      fields: ['blocked'],
      work: (transaction, now) => changeUser(transaction, id, { blocked: Number(blocked) }, now, blocked),
    }))
    print(`${blocked ? 'Blocked' : 'Unblocked'} user "${user.username}".`)
  })

export const confirmUserCommand = orExplain(async (nameOrId: string, folder: string) => {
  const user = await changeOne(folder, nameOrId, async (_project, { id }) => ({
    fields: ['confirmed'],
    work: (transaction, now) => changeUser(transaction, id, { confirmed: 1 }, now),
  }))
  print(`Confirmed the e-mail address of "${user.username}".`)
})

export const roleOfUserCommand = orExplain(async (nameOrId: string, role: string, folder: string) => {
  let given = ''
  const user = await changeOne(folder, nameOrId, async (project, { id }) => {
    const wanted = await findRole(project, role)
    given = wanted.name
    return { fields: ['role'], work: (transaction) => setRole(transaction, typeOfUsers(project.model), id, wanted.id) }
  })
  print(`The user "${user.username}" now has the role "${given}".`)
})

export const deleteUserCommand = orExplain(async (nameOrId: string, folder: string) => {
  const user = await changeOne(folder, nameOrId, async ({ model }, { id }) => ({
    // Deleting writes nothing in other locales, so the default locale is not used.
    work: (transaction, now) =>
      removeUser({ transaction, model, hashPassword, defaultLocale: 'en', scopes: noScopes }, typeOfUsers(model), id, now),
  }))
  print(`Deleted user "${user.username}".`)
})

export const passwordCommand = orExplain(async (nameOrId: string, folder: string, options: { readonly password?: string }) => {
  const { password, made } = await readPassword(options.password)
  const user = await changeOne(folder, nameOrId, async ({ model }, { id }) => {
    checkPassword(model, password)
    const hashed = await hashPassword(password)
    return { fields: ['password'], work: (transaction, now) => changeUser(transaction, id, { password: hashed }, now, true) }
  })
  print(`Set the password of "${user.username}"${made ? `: ${password}` : '.'}`)
})

/** Finds a user by id, e-mail address or name. @throws ConfigError unless exactly one matches */
async function findUser(database: MainConnection, nameOrId: string): Promise<User> {
  const byId = /^\d{1,15}$/.test(nameOrId) ? await userById(database, Number(nameOrId)) : null
  const all = [byId, await userByEmail(database, nameOrId.toLowerCase()), await userByName(database, nameOrId)]
  const found = new Map(all.flatMap((user) => (user === null ? [] : [[user.id, user]])))
  const [user] = found.values()
  if (user === undefined) throw new ConfigError(`There is no user "${nameOrId}".`)
  if (found.size === 1) return user
  const candidates = [...found.values()].map(({ id, username, email }) => `${id} (${username ?? '-'}, ${email ?? '-'})`)
  throw new ConfigError(
    `"${nameOrId}" is ambiguous: it could be ${candidates.join(' or ')}. Use an id, name or address that only one of them has.`,
  )
}

function checkPassword(model: Model, password: string): void {
  readFields({ password }, [{ name: 'password', password: true }])
  checkLengths(typeOfUsers(model), { password })
}
