// The reads and writes that code of a project asks for, in the form of those that come over HTTP.

import type { Data, HookAction, ListParameters } from '../../foundation/public/documents.js'
import type { ContentType } from '../../model/schema/types.js'
import type { Parameters } from '../../query/rest/parameters.js'
import type { ReadyActor } from './actor.js'
import type { BegunWrite, WriteResult } from './operation.js'
import type { DocumentReads as Reads } from './read/find.js'

/** All that a method may be given. */
export type GivenParameters = ListParameters & { readonly documentId?: string; readonly data?: Data }

/** @throws TypeError for a type that the model lacks */
export function typeOf({ context }: Reads, uid: string): ContentType {
  const type = context.model.types.get(uid)
  if (type === undefined) throw new TypeError(`There is no type ${uid}`)
  return type
}

/** A write of an actor; `createdId`: the documentId of a document that it creates, null for a new one. @throws TypeError */
export function writeOf(
  documents: Reads,
  { caller, grants, requestId, depth }: ReadyActor,
  uid: string,
  action: HookAction,
  given: GivenParameters,
  createdId: string | null = null,
): BegunWrite {
  const type = writableType(documents, uid)
  const documentId = action === 'create' ? null : documentOf(type, action, given)
  const body = action === 'create' || action === 'update' ? async () => ({ data: plain(given.data) }) : null
  const write = { type, query: parametersOf(given), format: 'flat' as const, answers: 'entries' as const, caller, requestId, depth }
  return { action, grants, documentId, body, write, createdId }
}

/** Users, roles and files are more than their rows: they are written where their rules are. */
function writableType(documents: Reads, uid: string): ContentType {
  const type = typeOf(documents, uid)
  if (!uid.startsWith('api::')) throw new TypeError(`${uid} cannot be written as a document`)
  return type
}

/** The document that is named; null for the one of a single type. @throws TypeError if none is named */
export function documentOf(type: ContentType, method: string, { documentId }: GivenParameters): string | null {
  if (typeof documentId === 'string' && documentId !== '') return documentId
  if (type.singleType && documentId === undefined) return null
  throw new TypeError(`documents('${type.uid}').${method} needs a documentId`)
}

/** The versions that a write was about. */
export const entriesOf = <Shape>(outcome: WriteResult | null): readonly Shape[] =>
  (outcome?.entries ?? []).map(({ asked }) => JSON.parse(asked!) as Shape)

/** What could have come over HTTP: dates as texts, no functions, nothing that others still change. */
export function plain(value: unknown): unknown {
  if (value === undefined) return undefined
  return JSON.parse(JSON.stringify(value, (_key, inner) => (typeof inner === 'bigint' ? String(inner) : (inner as unknown))))
}

/** The parameters as a query string would have them: drafts unless said otherwise, and no page but the one asked for. */
export function parametersOf({ start, limit, pagination, ...given }: GivenParameters): Parameters {
  const { filters, sort, fields, populate, locale, status = 'draft', _q } = given
  const page = pagination === undefined ? { start, limit } : offsets(pagination)
  return plain({ filters, sort, fields, populate, locale, status, _q, ...page }) as Parameters
}

function offsets(pagination: NonNullable<ListParameters['pagination']>): { readonly start?: number; readonly limit?: number } {
  if ('start' in pagination || 'limit' in pagination) return pagination
  const { page = 1, pageSize = 25 } = pagination as { readonly page?: number; readonly pageSize?: number }
  return { start: (page - 1) * pageSize, limit: pageSize }
}
