// The conditions that Strapi has for rights: as filters of the documents for which they hold, and as conditions on a column that names who
// created a row.
import { type RawBuilder, sql } from 'kysely'

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

interface Condition {
  filters(holder: RightsHolder): Filters
  /** `creator`: the column with the row id of who created a row. */
  holds(holder: RightsHolder, creator: RawBuilder<unknown>): RawBuilder<unknown>
}

const known: Readonly<Record<string, Condition>> = {
  'admin::is-creator': {
    filters: ({ id }) => ({ createdBy: { id: { $eq: id } } }),
    holds: ({ id }, creator) => sql`${creator} = ${id}`,
  },
  'admin::has-same-role-as-creator': {
    filters: ({ roles }) => ({ createdBy: { roles: { id: { $in: roles } } } }),
    holds: ({ roles }, creator) =>
      roles.length === 0
        ? sql`1 = 0`
        : sql`${creator} in (select user_id from admin_users_roles_lnk where role_id in (${sql.join([...roles])}))`,
  },
}

/** The names of the conditions that are understood. */
export const conditionNames: readonly string[] = Object.keys(known)

/** The names of conditions of which one must hold; null: there are none; `nothing`: none of them is known, and such a one never holds. */
export function knownConditions(conditions: unknown): readonly string[] | null | 'nothing' {
  if (conditions === null || conditions === undefined) return null
  if (!Array.isArray(conditions)) return 'nothing'
  if (conditions.length === 0) return null
  const some = conditions.filter((name): name is string => typeof name === 'string' && Object.hasOwn(known, name))
  return some.length === 0 ? 'nothing' : some
}

/** The same for several lists, each of them enough by itself. */
export function joinedConditions(lists: readonly unknown[]): readonly string[] | null | 'nothing' {
  const all = lists.map(knownConditions).filter((one) => one !== 'nothing')
  if (all.length === 0) return 'nothing'
  return all.includes(null) ? null : [...new Set(all.flatMap((one) => one ?? []))]
}

/** What a document fulfils for which one of these conditions holds; null: there are none. `nothing`: none can hold. */
export function filtersOf(conditions: unknown, holder: RightsHolder): Filters | null | 'nothing' {
  const some = knownConditions(conditions)
  if (some === null || some === 'nothing') return some
  const filters = some.map((name) => known[name]!.filters(holder))
  return filters.length === 1 ? filters[0]! : { $or: filters }
}

/** What a row fulfils for which one of these known conditions holds. */
export function heldBy(conditions: readonly string[], holder: RightsHolder, creator: RawBuilder<unknown>): RawBuilder<unknown> {
  const parts = conditions.map((name) => known[name]!.holds(holder, creator))
  return sql`(${sql.join(parts, sql` or `)})`
}
