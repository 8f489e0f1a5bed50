// Every action that a role can be granted, as /api/users-permissions shows them: type → controller → action.
import type { Grants } from '../grants.js'
import type { Model } from '../model/types.js'

type Tree = Record<string, { controllers: Record<string, Record<string, { enabled: boolean; policy: string }>> }>

/** The actions of the plugins that an installation has. */
const pluginActions: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  'content-type-builder': {
    components: ['getComponents', 'getComponent'],
    'content-types': ['getContentTypes', 'getContentType'],
  },
  email: { email: ['send'] },
  upload: { 'content-api': ['find', 'findPage', 'findOne', 'destroy', 'upload'] },
  i18n: { locales: ['listLocales'] },
  'users-permissions': {
    auth: [
      'callback',
      'changePassword',
      'resetPassword',
      'refresh',
      'logout',
      'getSessions',
      'revokeSession',
      'connect',
      'forgotPassword',
      'register',
      'emailConfirmation',
      'sendEmailConfirmation',
    ],
    user: ['create', 'update', 'find', 'findOne', 'count', 'destroy', 'me'],
    role: ['createRole', 'findOne', 'find', 'updateRole', 'deleteRole'],
    permissions: ['getPermissions'],
  },
}

/** The tree of all actions; those that `grants` allow are enabled, none without grants. */
export function permissionTree(model: Model, grants: Grants | null): Tree {
  const tree: Tree = {}
  const enable = (scope: string, controller: string, actions: readonly string[]) => {
    tree[scope] ??= { controllers: {} }
    const entry = (action: string) => [action, { enabled: grants?.may(`${scope}.${controller}.${action}`) === true, policy: '' }]
    tree[scope].controllers[controller] = Object.fromEntries(actions.map(entry))
  }
  for (const type of model.types.values()) {
    if (!type.exposed) continue
    const scope = type.uid.slice(0, type.uid.lastIndexOf('.'))
    enable(scope, type.singularName, type.singleType ? ['find', 'update', 'delete'] : ['find', 'findOne', 'create', 'update', 'delete'])
  }
  for (const [plugin, controllers] of Object.entries(pluginActions)) {
    for (const [controller, actions] of Object.entries(controllers)) enable(`plugin::${plugin}`, controller, actions)
  }
  return tree
}
