// The conditions that Strapi has for rights, as filters of the documents for which they hold.

/** Of an administrator, what rights depend on. */
export interface RightsHolder {
  /** The row id in admin_users. */
  readonly id: number
  /** The row ids of the roles. */
  readonly roles: readonly number[]
  /** Has the role `strapi-super-admin`, which may do everything, whatever its rows say. */
  readonly isSuperAdmin: boolean
}

type Filters = Readonly<Record<string, unknown>>

const known: Readonly<Record<string, (holder: RightsHolder) => Filters>> = {
  'admin::is-creator': ({ id }) => ({ createdBy: { id: { $eq: id } } }),
  'admin::has-same-role-as-creator': ({ roles }) => ({ createdBy: { roles: { id: { $in: roles } } } }),
}

/** The names of the conditions that are understood. */
export const conditionNames: readonly string[] = Object.keys(known)

/**
 * What a document fulfils for which one of these conditions holds; null: there are none. A condition that is not known never holds.
 * `nothing`: none can hold.
 */
export function filtersOf(conditions: unknown, holder: RightsHolder): Filters | null | 'nothing' {
  if (conditions === null || conditions === undefined) return null
  if (!Array.isArray(conditions)) return 'nothing'
  if (conditions.length === 0) return null
  const some = conditions.flatMap((name) => (typeof name === 'string' && Object.hasOwn(known, name) ? [known[name]!(holder)] : []))
  if (some.length === 0) return 'nothing'
  return some.length === 1 ? some[0]! : { $or: some }
}
