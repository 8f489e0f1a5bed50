// `octavo roles`: lists, creates and deletes roles, and grants and revokes actions. A running service sees changes at its next request.

import { act } from '../../admin/manage/operation.js'
import { roles } from '../../admin/manage/roles.js'
import { ConfigError } from '../../foundation/errors/errors.js'
import { addActions, listRoles, typeOf } from '../../identity/access/roles.js'
import { findRole, parseNames, readActions, standsFor } from './actions.js'
import { commandContext, runOperation } from './changes.js'
import { orExplain } from './explain-error.js'
import { type ListOptions, print, printJson, printTable } from './output.js'
import { lookIntoProject, withProject } from './project.js'

export const listRolesCommand = orExplain(
  async (folder: string, { actions: shown, json = false }: ListOptions & { readonly actions?: boolean }) => {
    const listed = await lookIntoProject(folder, ({ database }) => listRoles(database))
    if (json) return printJson(listed)
    printTable(
      ['id', 'name', 'type', 'users', 'actions'],
      listed.map(({ id, name, type, users, actions }) => [String(id), name, type, String(users), String(actions.length)]),
    )
    if (shown !== true) return
    for (const { type, actions } of listed) print(`\n${type}:\n${actions.map((action) => `  ${action}`).join('\n')}`)
  },
)

export const createRoleCommand = orExplain(
  async (name: string, folder: string, options: { readonly description?: string; readonly permissions?: string }) => {
    if (name.trim() === '') throw new ConfigError('A role needs a name.')
    await withProject(folder, async (project) => {
      const actions = readActions(project.model, project.config, options.permissions)
      const same = (await listRoles(project.database)).find((role) => role.name === name || role.type === typeOf(name))
      if (same !== undefined) throw new ConfigError(`A role "${same.name}" of type ${same.type} already exists.`)
      await runOperation(roles.create, project, { name, description: options.description, actions: [...actions] })
    })
    print(`Created role "${name}".`)
  },
)

export const deleteRoleCommand = orExplain(async (nameOrId: string, folder: string) => {
  const role = await withProject(folder, async (project) => {
    const found = await findRole(project, nameOrId)
    await runOperation(roles.delete, project, found)
    return found
  })
  print(`Deleted role "${role.name}".${role.users === 0 ? '' : ` Its users (${role.users}) now have the public role.`}`)
})

export const grantCommand = orExplain(async (nameOrId: string, list: string, folder: string) => {
  const added = await withProject(folder, async (project) => {
    const role = await findRole(project, nameOrId)
    const wanted = readActions(project.model, project.config, list)
    if (wanted.length === 0) throw new ConfigError('Name at least one action.')
    const missing = wanted.filter((action) => !role.actions.includes(action))
    await act(commandContext(project, roles.update.audit!), async (transaction, now) => {
      await addActions(transaction, project.model, role.id, missing, now)
      return missing.length === 0 ? null : { id: String(role.id), name: role.name, fields: ['actions'] }
    })
    return missing
  })
  print(added.length === 0 ? `The role "${nameOrId}" already allows that.` : `The role "${nameOrId}" now allows ${added.join(', ')}.`)
})

export const revokeCommand = orExplain(async (nameOrId: string, list: string, folder: string) => {
  const taken = await withProject(folder, async (project) => {
    const role = await findRole(project, nameOrId)
    const unwanted = parseNames(list)
    const isUnwanted = (action: string): boolean => unwanted.some((name) => standsFor(name, action))
    const actions = role.actions.filter((action) => !isUnwanted(action))
    if (actions.length < role.actions.length) await runOperation(roles.update, project, { id: role.id, actions })
    return role.actions.filter(isUnwanted)
  })
  print(taken.length === 0 ? `The role "${nameOrId}" did not allow that.` : `The role "${nameOrId}" no longer allows ${taken.join(', ')}.`)
})
