// A mount: a part of the HTTP server with all paths below a prefix, and its own rules for them.
import type { FastifyInstance } from 'fastify'

export interface Mount {
  /** Its paths begin with this and a slash; empty for paths without another mount. */
  readonly prefix: string
  /** Beginnings of routes below the prefix whose responses no cache may keep, and which are not compressed. */
  readonly secret: readonly string[]
  /** Routes below the prefix whose requests are not logged. */
  readonly unlogged: readonly string[]
  addTo(app: FastifyInstance): void
  /** Returns the methods of one of its paths, for the `Allow` header of a request without a route. */
  methodsAt(path: string): readonly string[]
}

/** The methods of a path that has no route. */
export const readMethods: readonly string[] = ['HEAD', 'GET']

/** Every method that a route has to handle, at least with 405. */
export const everyMethod = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']

/** Returns the mount of a path or URL, of those that are in this order. The last one has the prefix ''. */
export function findMount(mounts: readonly Mount[], url: string): Mount {
  for (const mount of mounts) if (url.startsWith(`${mount.prefix}/`)) return mount
  return mounts.at(-1)!
}
