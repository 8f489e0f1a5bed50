// Permissions of administrators: rows of admin_permissions, their conditions, and the rights to content that they give.

import { type RawBuilder, sql } from 'kysely'
import type { RowReader } from '../../database/database.js'
import { type AttributeGrants, type ContentRight, grantedBelow, unionOf } from '../../foundation/grants.js'
import type { ContentType, Model, Schema } from '../../model/schema/types.js'

/** A row of admin_permissions. */
export interface PermissionRow {
  readonly action: string
  /** The uid of a type; null or empty for actions without type. */
  readonly subject: string | null
  /** `fields` and `locales`, unless malformed. */
  readonly properties: unknown
  /** Names of conditions, one of which must be met, unless malformed. */
  readonly conditions: unknown
}

/** Reads the permissions of roles, in the order of their ids. */
export async function readPermissions(database: RowReader, roles: readonly number[]): Promise<readonly PermissionRow[]> {
  if (roles.length === 0) return []
  const rows = await database.rows<PermissionRow>(sql`select p.action, p.subject, p.properties, p.conditions from admin_permissions p
    where p.id in (select permission_id from admin_permissions_role_lnk where role_id in (${sql.join([...roles])})) order by p.id`)
  return rows.map((row) => ({ ...row, properties: parseStoredJson(row.properties), conditions: parseStoredJson(row.conditions) }))
}

/** Parses JSON that a database returns as text. Invalid JSON stays text and grants nothing. */
export function parseStoredJson(value: unknown): unknown {
  if (typeof value !== 'string') return value
  try {
    return JSON.parse(value) as unknown
  } catch {
    return value
  }
}

/** The attributes of an administrator that rights depend on. */
export interface RightsHolder {
  /** The row id in admin_users. */
  readonly id: number
  /** The row ids of the roles. */
  readonly roles: readonly number[]
  /** Has the role `strapi-super-admin`, which may do everything regardless of its rows. */
  readonly isSuperAdmin: boolean
}

type Filters = Readonly<Record<string, unknown>>

interface Condition {
  filters(holder: RightsHolder): Filters
  /** `creator`: the column with the row id of the creator. */
  holds(holder: RightsHolder, creator: RawBuilder<unknown>): RawBuilder<unknown>
}

const conditionsByName: Readonly<Record<string, Condition>> = {
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

export const conditionNames: readonly string[] = Object.keys(conditionsByName)

/** The known conditions; null: there are none; `nothing`: none is known, and unknown conditions are never met. */
export function knownConditions(conditions: unknown): readonly string[] | null | 'nothing' {
  if (conditions === null || conditions === undefined) return null
  if (!Array.isArray(conditions)) return 'nothing'
  if (conditions.length === 0) return null
  const some = conditions.filter((name): name is string => typeof name === 'string' && Object.hasOwn(conditionsByName, name))
  return some.length === 0 ? 'nothing' : some
}

/** The union of several lists. */
export function unionOfConditions(lists: readonly unknown[]): readonly string[] | null | 'nothing' {
  const all = lists.map(knownConditions).filter((one) => one !== 'nothing')
  if (all.length === 0) return 'nothing'
  return all.includes(null) ? null : [...new Set(all.flatMap((one) => one ?? []))]
}

/** Filters for documents that meet one of the conditions; null: there are no conditions; `nothing`: none can be met. */
export function conditionFilters(conditions: unknown, holder: RightsHolder): Filters | null | 'nothing' {
  const some = knownConditions(conditions)
  if (some === null || some === 'nothing') return some
  const filters = some.map((name) => conditionsByName[name]!.filters(holder))
  return filters.length === 1 ? filters[0]! : { $or: filters }
}

/** An SQL condition for rows that meet one of the conditions. */
export function creatorCondition(conditions: readonly string[], holder: RightsHolder, creator: RawBuilder<unknown>): RawBuilder<unknown> {
  const parts = conditions.map((name) => conditionsByName[name]!.holds(holder, creator))
  return sql`(${sql.join(parts, sql` or `)})`
}

export type RightAction = 'read' | 'create' | 'update' | 'delete' | 'publish'

export type TypeRights = Readonly<Record<RightAction, readonly ContentRight[]>>

const rightActions: readonly RightAction[] = ['read', 'create', 'update', 'delete', 'publish']

const actionName = (action: RightAction): string => `plugin::content-manager.explorer.${action}`

const actionsByName = new Map(rightActions.map((action) => [actionName(action), action]))

/** The content action of a row; null: it concerns no documents. */
export const parseAction = (name: string): RightAction | null => actionsByName.get(name) ?? null

/** Administrators may also have rights to users of the content API. */
const userType = 'plugin::users-permissions.user'

export const hasRights = ({ uid, exposed }: ContentType): boolean => exposed || uid === userType

/** Fields that are always readable. */
const alwaysShown = ['id', 'documentId', 'createdAt', 'updatedAt', 'publishedAt', 'createdBy', 'updatedBy', 'locale', 'localizations']

/** Attributes that rights can include: all of the project, including private ones, and the public ones of other types. */
export function allAttributes(type: ContentType): ReadonlyMap<string, AttributeGrants> {
  const isGiven = (name: string, isPrivate: boolean): boolean => {
    if (!type.localized && (name === 'locale' || name === 'localizations')) return false
    return type.exposed || !isPrivate || name === 'createdBy' || name === 'updatedBy'
  }
  const names = [...type.attributes.values()].filter(({ name, private: isPrivate }) => isGiven(name, isPrivate))
  return new Map(names.map(({ name }) => [name, 'all' as const]))
}

type GrantableAttributes = (type: ContentType) => ReadonlyMap<string, AttributeGrants>

export const namesFields = (action: RightAction): boolean => action !== 'delete' && action !== 'publish'

/** The fields and locales of a row; null if malformed. */
export function parseProperties({ properties }: PermissionRow): { readonly fields?: unknown; readonly locales?: unknown } | null {
  const said = properties ?? {}
  return typeof said === 'object' && !Array.isArray(said) ? said : null
}

/** Parses rows to rights by the uid of the type. Malformed rows give no rights. */
export function parseRights(
  rows: readonly PermissionRow[],
  model: Model,
  holder: RightsHolder,
  givable: GrantableAttributes = allAttributes,
): ReadonlyMap<string, TypeRights> {
  const rights = new Map<string, Record<RightAction, ContentRight[]>>()
  for (const row of rows) {
    const action = actionsByName.get(row.action)
    const type = row.subject === null ? undefined : model.types.get(row.subject)
    if (action === undefined || type === undefined || !hasRights(type)) continue
    const right = parseRight(row, action, { model, type, all: givable(type) }, holder)
    if (right === null) continue
    const ofType = rights.get(type.uid) ?? { read: [], create: [], update: [], delete: [], publish: [] }
    rights.set(type.uid, ofType)
    ofType[action].push(right)
  }
  return new Map([...rights].map(([uid, ofType]) => [uid, mergeRights(ofType)]))
}

const mergeRights = (rights: TypeRights): TypeRights =>
  Object.fromEntries(rightActions.map((action) => [action, mergeAlike(rights[action])])) as unknown as TypeRights

interface RightScope {
  readonly model: Model
  readonly type: ContentType
  readonly all: ReadonlyMap<string, AttributeGrants>
}

function parseRight(row: PermissionRow, action: RightAction, place: RightScope, holder: RightsHolder): ContentRight | null {
  const { type, all } = place
  const properties = parseProperties(row)
  if (properties === null) return null
  const { fields, locales: given } = properties
  const attributes = namesFields(action) ? parseFields(fields, place) : all
  const locales = type.localized ? parseLocales(given) : null
  const scope = conditionFilters(row.conditions, holder)
  if (attributes === null || scope === 'nothing' || locales?.length === 0) return null
  return { attributes, locales, scope }
}

/** Null: all locales. Absent: none. */
function parseLocales(given: unknown): readonly string[] | null {
  if (given === null) return null
  return Array.isArray(given) ? given.filter((locale): locale is string => typeof locale === 'string') : []
}

/** The attributes in `fields`; null: none. */
function parseFields(fields: unknown, { model, type, all }: RightScope): ReadonlyMap<string, AttributeGrants> | null {
  if (fields === undefined || fields === null) return all
  if (!Array.isArray(fields) || fields.length === 0) return null
  const named = new Map<string, AttributeGrants>(alwaysShown.flatMap((name) => (all.has(name) ? [[name, 'all']] : [])))
  for (const field of fields) {
    if (typeof field !== 'string') continue
    const found = parseFieldPath(model, type, field)
    if (found === null || !all.has(found[0]!)) continue
    const [name, ...below] = found
    named.set(name!, unionOf(named.get(name!) ?? new Map(), toGrantTree(below)))
  }
  return new Map([...named].map(([name, below]) => [name, wholeIfAll(model, type, name, below)]))
}

/** A component is granted as a whole if all its attributes are named. */
function wholeIfAll(model: Model, shape: Schema, name: string, below: AttributeGrants): AttributeGrants {
  const attribute = shape.attributes.get(name)
  if (below === 'all' || attribute?.kind !== 'component') return below
  const component = model.components.get(attribute.component)!
  const inner = new Map([...below].map(([key, deeper]) => [key, wholeIfAll(model, component, key, deeper)]))
  return [...component.attributes.keys()].every((key) => inner.get(key) === 'all') ? 'all' : inner
}

/** The steps of a dotted field through components; null if invalid. Zones are named as a whole. */
function parseFieldPath(model: Model, type: ContentType, field: string): readonly string[] | null {
  const steps = field.split('.')
  let shape: ContentType | ReturnType<Model['components']['get']> = type
  for (const [index, step] of steps.entries()) {
    const attribute = shape?.attributes.get(step)
    if (attribute === undefined) return null
    if (index === steps.length - 1) return steps
    if (attribute.kind !== 'component') return null
    shape = model.components.get(attribute.component)
  }
  return null
}

/** Grants a path. A partly granted component includes its id, which identifies entries. */
function toGrantTree([name, ...below]: readonly string[]): AttributeGrants {
  return name === undefined
    ? 'all'
    : new Map([
        ['id', 'all'],
        [name, toGrantTree(below)],
      ])
}

/** Merges rights to the same documents, and drops covered ones. */
function mergeAlike(rights: readonly ContentRight[]): readonly ContentRight[] {
  const places = new Map<string, ContentRight>()
  for (const right of rights) {
    const place = JSON.stringify([right.scope, right.locales?.toSorted() ?? null])
    const former = places.get(place)
    places.set(place, former === undefined ? right : { ...former, attributes: unionOf(former.attributes, right.attributes) })
  }
  const all = [...places.values()]
  return all.filter((right, index) => !all.some((other, at) => at !== index && covers(other, right)))
}

/** True if one right covers another. */
export function covers(other: ContentRight, right: ContentRight): boolean {
  const holdsEverywhere = other.scope === null || (right.scope !== null && isWithin(right.scope, other.scope))
  const inEveryLocale = other.locales === null || right.locales?.every((locale) => other.locales!.includes(locale)) === true
  return holdsEverywhere && inEveryLocale && includesAll(other.attributes, right.attributes)
}

/** True if one condition implies another. */
function isWithin(inner: NonNullable<ContentRight['scope']>, outer: NonNullable<ContentRight['scope']>): boolean {
  const parts = ({ $or, ...one }: NonNullable<ContentRight['scope']>) =>
    (Array.isArray($or) ? $or : [one]).map((part) => JSON.stringify(part))
  const known = parts(outer)
  return parts(inner).every((part) => known.includes(part))
}

/** True if one grant includes another. */
export function includesAll(one: AttributeGrants, other: AttributeGrants): boolean {
  if (one === 'all') return true
  if (other === 'all') return false
  return [...other].every(([name, below]) => one.has(name) && includesAll(grantedBelow(one, name), below))
}
