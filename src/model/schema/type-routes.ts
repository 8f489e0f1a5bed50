// Routes of content-types, restricted by `types.<uid>.routes` of octavo.config.

import type { ApiAction, TypeSettings } from '../../foundation/public/type-settings.js'
import type { ContentType, Model } from './types.js'

/** True if the configuration excludes the route of an action. */
export type ExcludedRoutes = (uid: string, action: ApiAction) => boolean

/** Null if no route is excluded, so that requests pay nothing. */
export function createExcludedRoutes(types: Readonly<Record<string, TypeSettings>>): ExcludedRoutes | null {
  const known = new Map(Object.entries(types).flatMap(([uid, { routes }]) => (routes === undefined ? [] : [[uid, routes] as const])))
  if (known.size === 0) return null
  return (uid, action) => {
    const routes = known.get(uid)
    if (routes === undefined) return false
    return routes.only === undefined ? routes.except.includes(action) : !routes.only.includes(action)
  }
}

type ActionsByMethod = Readonly<Record<string, ApiAction>>

/** Actions by method at the path of a collection, of a document, and of a single type. */
const actionsOfList: ActionsByMethod = { HEAD: 'find', GET: 'find', POST: 'create' }
const actionsOfDocument: ActionsByMethod = { HEAD: 'findOne', GET: 'findOne', PUT: 'update', DELETE: 'delete' }
const actionsOfSingleType: ActionsByMethod = { HEAD: 'find', GET: 'find', PUT: 'update', DELETE: 'delete' }

/** The actions of a content-type by the method, at its path or at that of one of its documents. */
export const actionsAt = ({ singleType }: { readonly singleType: boolean }, withDocument: boolean): ActionsByMethod =>
  singleType ? actionsOfSingleType : withDocument ? actionsOfDocument : actionsOfList

/** For the path `…/actions/:name`. */
export const publicationActions: Readonly<Record<string, ApiAction & ('publish' | 'unpublish' | 'discardDraft')>> = {
  publish: 'publish',
  unpublish: 'unpublish',
  discard: 'discardDraft',
}

/**
 * The content-type with a route of this method and path below the prefix, or null. As in Strapi it takes precedence over built-in routes
 * such as `/users`, even if it is excluded, so that no other content is shown in its place.
 */
export function typeWithRoute({ paths }: Pick<Model, 'paths'>, method: string, path: string): ContentType | null {
  const [name = '', id, ...others] = path.slice(1).split('/')
  const type = others.length > 0 ? undefined : paths.get(name.toLowerCase())
  if (type === undefined || (type.singleType && id !== undefined)) return null
  return actionsAt(type, id !== undefined)[method] === undefined ? null : type
}
