// The grants of administrators, made anew when something was committed or the model has changed.

import type { RowReader } from '../../database/database.js'
import type { Grants } from '../../foundation/grants.js'
import type { Identification } from '../../identity/access/identify.js'
import type { Model } from '../../model/schema/types.js'
import type { Administrator } from '../identity/identify.js'
import { grantsOfAdministrator } from './grants.js'
import { type PermissionRow, readPermissions } from './rows.js'

/** Returns the grants of an administrator by the rows that are committed. @throws ApiError 503 if the database is not available */
export type FindGrants = (administrator: Pick<Administrator, 'id' | 'roles' | 'isSuperAdmin'>, model: Model) => Promise<Grants>

/** Opens the grants of administrators. A request has been identified before, so that what is kept is no older than it. */
export function openFindGrants(database: RowReader, { cacheRows }: Pick<Identification, 'cacheRows'>): FindGrants {
  const rows = cacheRows((roles: string) => readPermissions(database, JSON.parse(roles) as readonly number[]))
  const made = new WeakMap<readonly PermissionRow[], WeakMap<Model, Map<number, Grants>>>()
  return async ({ id, roles, isSuperAdmin }, model) => {
    const holder = { id, isSuperAdmin, roles: roles.map((role) => role.id).sort((a, b) => a - b) }
    const ofRoles = isSuperAdmin ? none : await rows.get(JSON.stringify(holder.roles))
    const ofModels = made.get(ofRoles) ?? new WeakMap<Model, Map<number, Grants>>()
    made.set(ofRoles, ofModels)
    const known = ofModels.get(model) ?? new Map<number, Grants>()
    ofModels.set(model, known)
    const grants = known.get(id) ?? grantsOfAdministrator(ofRoles, model, holder)
    if (known.size < mostKept) known.set(id, grants)
    return grants
  }
}

const none: readonly PermissionRow[] = []

/** Administrators with the same roles whose grants are kept. */
const mostKept = 1_000
