// All actions that can be granted: those of the content-types, of the built-in plugins, and of custom routes.

import type { CustomRoute } from '../../foundation/public/routes.js'
import type { ApiAction, TypeSettings } from '../../foundation/public/type-settings.js'
import { createExcludedRoutes, publicationActions } from '../../model/schema/type-routes.js'
import type { ContentType, Model } from '../../model/schema/types.js'

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
interface Controller {
  readonly scope: string
  readonly controller: string
  readonly actions: readonly string[]
}

const contentActions = ({ singleType }: ContentType): readonly string[] =>
  singleType ? ['find', 'update', 'delete'] : ['find', 'findOne', 'create', 'update', 'delete']

/** The part of a custom route that names its action. */
type WithAction = Pick<CustomRoute, 'action'>

/** Returns all controllers and actions of a model and of custom routes, in Strapi's order. */
export function controllersOf(model: Model, routes: readonly WithAction[]): readonly Controller[] {
  const types = [...model.types.values()].filter(({ exposed }) => exposed)
  const known: readonly Controller[] = [
    ...types.map((type) => ({
      scope: type.uid.slice(0, type.uid.lastIndexOf('.')),
      controller: type.singularName,
      actions: contentActions(type),
    })),
    ...Object.entries(pluginActions).flatMap(([plugin, controllers]) =>
      Object.entries(controllers).map(([controller, actions]) => ({ scope: `plugin::${plugin}`, controller, actions })),
    ),
  ]
  return routes.length === 0 ? known : withActionsOf(routes, known)
}

/** Adds the actions of custom routes to their controllers, and the controllers that only they have. */
function withActionsOf(routes: readonly WithAction[], known: readonly Controller[]): readonly Controller[] {
  const controllers = new Map(known.map((one) => [`${one.scope}.${one.controller}`, one]))
  for (const { action: whole } of routes) {
    if (whole === undefined) continue
    const [scope, controller, action] = whole.split('.') as [string, string, string]
    const { actions } = controllers.get(`${scope}.${controller}`) ?? { actions: [] }
    controllers.set(`${scope}.${controller}`, { scope, controller, actions: [...new Set([...actions, action])] })
  }
  return [...controllers.values()]
}

/** Actions on types with Draft & Publish that Strapi does not have: the publication endpoints, and reading drafts (`draftGrant`). */
const draftActions = ['publish', 'unpublish', 'discard', 'findDraft']

/** Returns the full names of all actions. */
export function actionsOf(model: Model, routes: readonly WithAction[]): ReadonlySet<string> {
  const names = controllersOf(model, routes).flatMap(({ scope, controller, actions }) =>
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

/** Settings of a project for routes. */
interface ProjectRoutes {
  readonly routes: readonly WithAction[]
  readonly types: Readonly<Record<string, TypeSettings>>
}

/**
 * Returns the actions that no route needs, because it is left out. `find` is always used: it shows documents in relations. The
 * routes of a project may do anything for their callers by `documents`, which asks for the same actions.
 */
export function isUseless({ routes, types }: ProjectRoutes): (action: string) => boolean {
  const leftOut = createExcludedRoutes(types)
  if (leftOut === null || routes.length > 0) return () => false
  return (whole) => {
    const at = whole.lastIndexOf('.')
    const action = whole.slice(at + 1)
    return action !== 'find' && leftOut(whole.slice(0, at), publicationActions[action] ?? (action as ApiAction))
  }
}
