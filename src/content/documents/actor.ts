// For whom code of a project reads and writes documents.
import { type Grants, projectAccess } from '../../foundation/grants.js'
import type { OperationCaller } from '../../foundation/public/documents.js'

/** Whose documents a document service reads and writes. */
export interface Actor {
  /** A caller of the API, for whom policies hold; null: the project itself. */
  readonly caller: OperationCaller | null
  /** Resolves to its permissions. Those of a caller depend on scopes, which are asked when something is read or written. */
  readonly grants: () => Promise<Grants>
  /** The request for which it acts; null: none. */
  readonly requestId: string | null
  /** How many hooks started each other to come here. */
  readonly depth: number
}

/** An actor whose permissions are known. */
export interface ReadyActor extends Omit<Actor, 'grants'> {
  readonly grants: Grants
}

/** The project itself, which may do everything. */
export const theProject = (depth: number, requestId: string | null): Actor => ({
  ...{ caller: null, requestId, depth },
  grants: () => Promise.resolve(projectAccess),
})

/**
 * The actor with other grants, which code of the project may choose freely when it acts for itself.
 * @throws TypeError for a caller of the API, whose grants are given
 */
export function withGrants(actor: Actor, grants: Grants | undefined): Actor {
  if (grants === undefined) return actor
  if (actor.caller !== null) throw new TypeError('The grants of a caller cannot be replaced: `unrestricted` has no restrictions')
  return { ...actor, grants: () => Promise.resolve(grants) }
}

/** Finds out what the actor may do. @throws what its scopes fail with */
export const ready = async (actor: Actor): Promise<ReadyActor> => ({ ...actor, grants: await actor.grants() })
