// The paths that a content-type of the project and the service both have, for the log of a start.
import { typeWithRoute } from '../../../model/schema/type-routes.js'
import type { Model } from '../../../model/schema/types.js'
import { routes } from './routes.js'

/** One sentence for each content-type whose routes come before routes of the service. */
export function sharedPaths(model: Model, prefix: string): readonly string[] {
  const taken = new Map<string, string[]>()
  for (const { method, path } of routes) {
    const type = typeWithRoute(model, method, path)
    if (type !== null) taken.set(type.uid, [...(taken.get(type.uid) ?? []), `${method} ${prefix}${path}`])
  }
  return [...taken].map(
    ([uid, names]) =>
      `${uid} has the path of routes of the service; as in Strapi, the content-type comes first, with its own permissions. Not reached: ${names.join(', ')}`,
  )
}
