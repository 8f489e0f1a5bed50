// The scopes of a caller in one request: filters of the project's own code, so they may name what no caller may.
import { ApiError } from '../../foundation/errors/errors.js'
import { projectAccess, type Scopes } from '../../foundation/grants.js'
import type { Filter, RowScopes } from '../request.js'
import { readFilters } from './filters.js'
import { inParameter, type Resolver, throwDeferred } from './resolve.js'

/**
 * Reads scopes; their values are bound among those of the request.
 * @throws Error for a scope that names what the model lacks: a bug of the project
 */
export function readScopes(reading: Resolver, scopes: Scopes): RowScopes {
  const read: Record<string, Filter | 'nothing'> = {}
  for (const [uid, filters] of scopes) read[uid] = filters === null ? 'nothing' : readScope(reading, uid, filters)
  return read
}

function readScope(reading: Resolver, uid: string, filters: unknown): Filter {
  const trusted: Resolver = {
    ...reading,
    grants: projectAccess,
    isTrusted: true,
    seen: null,
    budget: { nodes: Infinity },
    late: [],
    forbidden: [],
  }
  try {
    const filter = inParameter(trusted, 'filters', (inside) => readFilters(inside, reading.model.types.get(uid)!, filters))
    throwDeferred(trusted)
    if (filter !== null) return filter
  } catch (error) {
    throw error instanceof ApiError ? new Error(`The scope of ${uid} is not a filter of it: ${error.message}`) : error
  }
  throw new Error(`The scope of ${uid} has no condition`)
}
