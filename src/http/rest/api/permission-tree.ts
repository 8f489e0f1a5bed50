// The tree of all actions that a role can be granted, in the format of /api/users-permissions: type → controller → action.

import type { Config } from '../../../foundation/config/config.js'
import type { Grants } from '../../../foundation/grants.js'
import { controllersOf, isUseless } from '../../../identity/access/actions.js'
import type { Model } from '../../../model/schema/types.js'

type Tree = Record<string, { controllers: Record<string, Record<string, { enabled: boolean; policy: string }>> }>

/** Returns the tree of all actions that something needs, with those enabled that `grants` allow. */
export function permissionTree(model: Model, config: Pick<Config, 'routes' | 'types'>, grants: Grants | null): Tree {
  const tree: Tree = {}
  const isHidden = isUseless(config)
  for (const { scope, controller, actions: all } of controllersOf(model, config.routes)) {
    const actions = all.filter((action) => !isHidden(`${scope}.${controller}.${action}`))
    if (actions.length === 0) continue
    tree[scope] ??= { controllers: {} }
    const entry = (action: string) => [action, { enabled: grants?.may(`${scope}.${controller}.${action}`) === true, policy: '' }]
    tree[scope].controllers[controller] = Object.fromEntries(actions.map(entry))
  }
  return tree
}
