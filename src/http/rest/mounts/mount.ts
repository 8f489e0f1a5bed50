// A mount: a part of the HTTP server with all paths below a prefix, and with rules of its own for them.
import type { FastifyInstance } from 'fastify'

/** A part of the server. */
export interface Mount {
  /** The paths begin with this and a slash; empty for the paths that no other mount has. */
  readonly prefix: string
  /** Beginnings of routes below the prefix whose responses no cache may keep, and which are not compressed. */
  readonly secret: readonly string[]
  /** Routes below the prefix whose requests are not logged. */
  readonly unlogged: readonly string[]
  /** Registers its routes. */
  addTo(app: FastifyInstance): void
  /** Returns the methods of a path of its own, for the `Allow` header of a request that no route takes. */
  methodsAt(path: string): readonly string[]
}

/** The methods of a path that has no route. */
export const readMethods: readonly string[] = ['HEAD', 'GET']

/** Every method that a route has to answer, if only with 405. */
export const everyMethod = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']

/** Returns the mount of a path or URL, of those that are in this order. The last one has the prefix ''. */
export function mountOf(mounts: readonly Mount[], url: string): Mount {
  for (const mount of mounts) if (url.startsWith(`${mount.prefix}/`)) return mount
  return mounts.at(-1)!
}
