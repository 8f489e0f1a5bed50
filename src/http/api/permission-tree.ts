// The tree of all actions that a role can be granted, in the format of /api/users-permissions: type → controller → action.
import { controllersOf } from '../../access/actions.js'
import type { Grants } from '../../grants.js'
import type { Model } from '../../model/types.js'
import type { CustomRoute } from '../../public/routes.js'

type Tree = Record<string, { controllers: Record<string, Record<string, { enabled: boolean; policy: string }>> }>

/** Returns the tree of all actions, with those enabled that `grants` allow. */
export function permissionTree(model: Model, routes: readonly CustomRoute[], grants: Grants | null): Tree {
  const tree: Tree = {}
  for (const { scope, controller, actions } of controllersOf(model, routes)) {
    tree[scope] ??= { controllers: {} }
    const entry = (action: string) => [action, { enabled: grants?.may(`${scope}.${controller}.${action}`) === true, policy: '' }]
    tree[scope].controllers[controller] = Object.fromEntries(actions.map(entry))
  }
  return tree
}
