// All actions that can be granted: those of the content-types and of the built-in plugins.
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

/** The actions of one controller. `scope` and `controller` are the first parts of the full action name. */
export interface Controller {
  readonly scope: string
  readonly controller: string
  readonly actions: readonly string[]
}

const contentActions = ({ singleType }: ContentType): readonly string[] =>
  singleType ? ['find', 'update', 'delete'] : ['find', 'findOne', 'create', 'update', 'delete']

/** Returns all controllers and actions of a model, in the order in which Strapi shows them. */
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

/** Actions on types with Draft & Publish that Strapi does not have: the publication endpoints, and reading drafts (`draftGrant`). */
const draftActions = ['publish', 'unpublish', 'discard', 'findDraft']

/** Returns the full names of all actions. */
export function actionsOf(model: Model): ReadonlySet<string> {
  const names = controllersOf(model).flatMap(({ scope, controller, actions }) =>
    actions.map((action) => `${scope}.${controller}.${action}`),
  )
  const drafts = typesOf(model)
    .filter(({ draftAndPublish }) => draftAndPublish)
    .flatMap(octavoActions)
  return new Set([...names, ...drafts])
}

const typesOf = ({ types }: Model): readonly ContentType[] => [...types.values()].filter(({ exposed }) => exposed)

const octavoActions = ({ uid }: ContentType): readonly string[] => draftActions.map((action) => `${uid}.${action}`)

/** Returns the full names of the actions that Strapi does not have, whether or not their types have Draft & Publish now. */
export const actionsOfOctavo = (model: Model): readonly string[] => typesOf(model).flatMap(octavoActions)
