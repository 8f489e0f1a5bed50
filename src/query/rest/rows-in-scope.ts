// Which rows of a type are in the scope of a caller, as a request.
import { fullAccess, type Grants } from '../../foundation/grants.js'
import type { ContentType, Relation, Scalar } from '../../model/schema/types.js'
import type { ReadRequest } from '../request.js'
import { pageValues } from '../request.js'
import type { ReadContext } from './read.js'
import { bind, openResolver } from './resolve.js'
import { readScopes } from './scopes.js'

/** Rows that one request names at most: databases bound the values of a statement. */
export const rowsAtOnce = 1_024

/** Of these rows of a type, those in the scope of the caller, in every version and locale, as a request that shows their ids. */
export function readRowsInScope(context: ReadContext, grants: Grants, type: ContentType, ids: readonly number[]): ReadRequest {
  const { model, contract, limits } = context
  const reading = openResolver(model, grants, contract, limits, type)
  const id = type.attributes.get('id') as Scalar
  // Numbers of rows that are powers of two share their plans.
  const padded = Array.from({ length: 2 ** Math.ceil(Math.log2(ids.length)) }, (_, index) => ids[index] ?? ids[0]!)
  const values = padded.map((each) => bind(reading, each))
  reading.values[pageValues.start] = 0
  reading.values[pageValues.limit] = ids.length
  return {
    type,
    mode: 'many',
    status: 'any',
    locale: { kind: 'any' },
    targetLocale: null,
    filter: { kind: 'compare', attribute: id, operator: '$in', values },
    publication: [],
    closedDrafts: [],
    scopes: readScopes(reading, grants.scopes),
    sort: [],
    page: { style: 'offset', start: 0, limit: ids.length, withCount: false },
    selection: { shape: type, fields: [id], populate: [] },
    format: 'flat',
    identityAt: -1,
    values: reading.values,
  }
}

/** Versions of one document: some in each of its locales. */
const mostVersions = 10_000

/** All versions of the document that a row belongs to, as a request that shows their ids and its documentId. */
export function readVersions(context: ReadContext, type: ContentType, id: number): ReadRequest {
  const request = readRowsInScope(context, fullAccess, type, [id])
  const path = type.attributes.get('localizations') as Relation
  const values = [...request.values]
  values[pageValues.limit] = mostVersions
  const fields = [...request.selection.fields, type.attributes.get('documentId') as Scalar]
  const selection = { ...request.selection, fields }
  return { ...request, selection, filter: { kind: 'related', path, target: type, where: request.filter! }, values }
}
