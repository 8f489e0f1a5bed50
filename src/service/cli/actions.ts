// Roles and actions in command arguments. Actions are comma-separated names, with `*` for all actions of a type or controller.

import type { RowReader } from '../../database/database.js'
import type { Config } from '../../foundation/config/config.js'
import { didYouMean } from '../../foundation/errors/did-you-mean.js'
import { ConfigError } from '../../foundation/errors/errors.js'
import { actionsOf, isUseless } from '../../identity/access/actions.js'
import { listRoles, type Role } from '../../identity/access/roles.js'
import type { Model } from '../../model/schema/types.js'

/** Splits a list, without spaces and duplicates. */
export const parseNames = (list: string): readonly string[] =>
  [...new Set(list.split(',').map((name) => name.trim()))].filter((name) => name !== '')

/** True if a name (`api::tag.tag.find`, `api::tag.tag.*`) matches an action. */
export const standsFor = (name: string, action: string): boolean =>
  name === action || (isWildcard(name) && getController(name) === getController(action))

const isWildcard = (name: string): boolean => name.endsWith('.*')

const getController = (action: string): string => action.slice(0, Math.max(0, action.lastIndexOf('.')))

/** Expands a list of actions. @throws ConfigError for an unknown action, with those of its type, and for one without a route */
export function readActions(model: Model, config: Pick<Config, 'routes' | 'types'>, list: string | undefined): readonly string[] {
  const known = [...actionsOf(model, config.routes)]
  const useless = isUseless(config)
  const found = parseNames(list ?? '').flatMap((name) => {
    const actions = known.filter((action) => standsFor(name, action))
    if (actions.length === 0) throw new ConfigError(`Unknown action ${name}${whatThereIs(name, known)}`)
    const useful = actions.filter((action) => !useless(action))
    if (useful.length === 0) throw new ConfigError(uselessAction(name))
    return useful
  })
  return [...new Set(found)]
}

const uselessAction = (name: string): string =>
  `${name} cannot be granted, because octavo.config leaves out its route: types['${getController(name)}'].routes.`

/** Suggestions for an unknown action. */
function whatThereIs(name: string, known: readonly string[]): string {
  const controller = getController(name)
  const last = (action: string): string => action.slice(getController(action).length + 1)
  const siblings = known.filter((action) => getController(action) === controller).map(last)
  if (siblings.length > 0) return `${endSentence(didYouMean(last(name), siblings))} ${controller} has ${siblings.join(', ')}.`
  return `${endSentence(didYouMean(name, known))} An action looks like ${known[0] ?? 'api::article.article.find'}.`
}

const endSentence = (sentence: string): string => (sentence.endsWith('?') ? sentence : `${sentence}.`)

/** Finds a role by type, name or id. @throws ConfigError if it does not exist */
export async function findRole({ database }: { readonly database: RowReader }, nameOrId: string): Promise<Role> {
  const roles = await listRoles(database)
  const found =
    roles.find(({ type }) => type === nameOrId) ??
    roles.find(({ name }) => name === nameOrId) ??
    roles.find(({ id }) => String(id) === nameOrId)
  if (found === undefined)
    throw new ConfigError(`There is no role "${nameOrId}". Existing roles: ${roles.map(({ type }) => type).join(', ')}.`)
  return found
}
