// Every action that can be granted: those of the content-types, and those of the plugins that an installation has.
import type { ContentType, Model } from '../model/types.js'

/** The actions of plugins: plugin → controller → action. */
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

/** Actions of one controller. `scope` and `controller` are the parts of the action's name before it. */
export interface Controller {
  readonly scope: string
  readonly controller: string
  readonly actions: readonly string[]
}

const contentActions = ({ singleType }: ContentType): readonly string[] =>
  singleType ? ['find', 'update', 'delete'] : ['find', 'findOne', 'create', 'update', 'delete']

/** Everything that can be granted in an installation with this model, in the order in which Strapi shows it. */
export function controllersOf(model: Model): readonly Controller[] {
  const types = [...model.types.values()].filter(({ exposed }) => exposed)
  return [
    ...types.map((type) => ({
      scope: type.uid.slice(0, type.uid.lastIndexOf('.')),
      controller: type.singularName,
      actions: contentActions(type),
    })),
    ...Object.entries(pluginActions).flatMap(([plugin, controllers]) =>
      Object.entries(controllers).map(([controller, actions]) => ({ scope: `plugin::${plugin}`, controller, actions })),
    ),
  ]
}

/** Actions on types with Draft & Publish that Strapi has no permission for: a road of their own, and reading drafts where that is granted separately. */
const draftActions = ['publish', 'unpublish', 'discard', 'findDraft']

/** The full names of all actions. */
export function actionsOf(model: Model): ReadonlySet<string> {
  const names = controllersOf(model).flatMap(({ scope, controller, actions }) =>
    actions.map((action) => `${scope}.${controller}.${action}`),
  )
  const drafts = [...model.types.values()]
    .filter(({ exposed, draftAndPublish }) => exposed && draftAndPublish)
    .flatMap(({ uid }) => draftActions.map((action) => `${uid}.${action}`))
  return new Set([...names, ...drafts])
}
