// The actor of project code; converts its reads and writes to the form of HTTP requests.
import { type Grants, projectAccess } from '../../../foundation/grants.js'
import type { Data, HookAction, ListParameters, OperationCaller } from '../../../foundation/public/documents.js'
import type { ContentType } from '../../../model/schema/types.js'
import type { Parameters } from '../../../query/request.js'
import type { DocumentBatch } from '../batch.js'
import type { WriteResult, WriteStart } from '../operation.js'
import type { DocumentReads as Reads } from '../read/find.js'
import type { DocumentWrites } from '../write.js'

/** The identity that a document service acts for. */
export interface Actor {
  /** A caller of the API, subject to policies; null: the project itself. */
  readonly caller: OperationCaller | null
  /** Resolves to the actor's permissions. A caller's scopes are evaluated on each read or write. */
  readonly grants: () => Promise<Grants>
  /** Id of the originating request; null: none. */
  readonly requestId: string | null
  /** Hook nesting depth. */
  readonly depth: number
}

/** An actor with resolved permissions. */
export interface ReadyActor extends Omit<Actor, 'grants'> {
  readonly grants: Grants
}

/** The project itself, with full access. */
export const projectActor = (depth: number, requestId: string | null): Actor => ({
  caller: null,
  requestId,
  depth,
  grants: () => Promise.resolve(projectAccess),
})

/**
 * Replaces the grants of an actor, which project code may choose when it acts for itself.
 * @throws TypeError for a caller of the API
 */
export function withGrants(actor: Actor, grants: Grants | undefined): Actor {
  if (grants === undefined) return actor
  if (actor.caller !== null) throw new TypeError('The grants of a caller cannot be replaced: `unrestricted` has no restrictions')
  return { ...actor, grants: () => Promise.resolve(grants) }
}

/** Resolves the grants of an actor. @throws the error of a scope */
export const resolveActor = async (actor: Actor): Promise<ReadyActor> => ({ ...actor, grants: await actor.grants() })

/** Reads and writes of one installation. */
export interface Parts {
  readonly documents: Reads
  readonly writes: DocumentWrites
  readonly batch: DocumentBatch
}

/** Runs work with the current installation, which stays open until the work has ended. */
export type WithParts = <Result>(work: (parts: Parts) => Promise<Result>) => Promise<Result>

/** All parameters that methods accept. */
export type GivenParameters = ListParameters & { readonly documentId?: string; readonly data?: Data }

/** @throws TypeError for an unknown type */
export function getType({ context }: Reads, uid: string): ContentType {
  const type = context.model.types.get(uid)
  if (type === undefined) throw new TypeError(`There is no type ${uid}`)
  return type
}

/** Converts a write of an actor. `createdId`: documentId for a create; null: generated. @throws TypeError */
export function toWrite(
  documents: Reads,
  { caller, grants, requestId, depth }: ReadyActor,
  uid: string,
  action: HookAction,
  given: GivenParameters,
  createdId: string | null = null,
): WriteStart {
  const type = writableType(documents, uid)
  const documentId = action === 'create' ? null : toDocumentId(type, action, given)
  const body = action === 'create' || action === 'update' ? async () => ({ data: toPlainData(given.data) }) : null
  const write = { type, query: toParameters(given), format: 'flat' as const, answers: 'entries' as const, caller, requestId, depth }
  return { action, grants, documentId, body, write, createdId }
}

/** Users, roles and files have other code for writes. */
function writableType(documents: Reads, uid: string): ContentType {
  const type = getType(documents, uid)
  if (!uid.startsWith('api::')) throw new TypeError(`${uid} cannot be written as a document`)
  return type
}

/** The documentId; null for the document of a single type. @throws TypeError if it is missing */
export function toDocumentId(type: ContentType, method: string, { documentId }: GivenParameters): string | null {
  if (typeof documentId === 'string' && documentId !== '') return documentId
  if (type.singleType && documentId === undefined) return null
  throw new TypeError(`documents('${type.uid}').${method} needs a documentId`)
}

/** The written versions. */
export const parseEntries = <Shape>(outcome: WriteResult | null): readonly Shape[] =>
  (outcome?.entries ?? []).map(({ asked }) => JSON.parse(asked!) as Shape)

/** Plain data as HTTP could have sent it: dates as strings, no functions, no shared objects. */
export function toPlainData(value: unknown): unknown {
  if (value === undefined) return undefined
  return JSON.parse(JSON.stringify(value, (_key, inner) => (typeof inner === 'bigint' ? String(inner) : (inner as unknown))))
}

/** Parameters as in a query string: drafts by default, and only the requested page. */
export function toParameters({ start, limit, pagination, ...given }: GivenParameters): Parameters {
  const { filters, sort, fields, populate, locale, status = 'draft', _q } = given
  const page = pagination === undefined ? { start, limit } : offsets(pagination)
  return toPlainData({ filters, sort, fields, populate, locale, status, _q, ...page }) as Parameters
}

function offsets(pagination: NonNullable<ListParameters['pagination']>): { readonly start?: number; readonly limit?: number } {
  if ('start' in pagination || 'limit' in pagination) return pagination
  const { page = 1, pageSize = 25 } = pagination as { readonly page?: number; readonly pageSize?: number }
  return { start: (page - 1) * pageSize, limit: pageSize }
}
