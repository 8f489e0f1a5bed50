// The rights of an administrator as grants, which documents and queries check, cached until the next commit.

import { createHash } from 'node:crypto'
import type { RowReader } from '../../database/database.js'
import {
  type AttributeGrants,
  type ContentRight,
  type ContentRights,
  type Grants,
  intersectionOf,
  noScopes,
  type Scopes,
} from '../../foundation/grants.js'
import type { HookAction } from '../../foundation/public/documents.js'
import type { Identification } from '../../identity/access/identify.js'
import { fileType } from '../../model/schema/link.js'
import type { ContentType, Model } from '../../model/schema/types.js'
import type { Administrator } from '../identity/identify.js'
import {
  allAttributes,
  conditionFilters,
  hasRights,
  includesAll,
  type PermissionRow,
  parseRights,
  type RightAction,
  type RightsHolder,
  readPermissions,
  type TypeRights,
  unionOfConditions,
} from './permissions.js'

/** The grants of an administrator, which name attributes. */
export type AdministratorGrants = Grants & { readonly content: ContentRights }

/** Returns the grants of an administrator by the committed rows. @throws ApiError 503 if the database is not available */
export type FindGrants = (administrator: Pick<Administrator, 'id' | 'roles' | 'isSuperAdmin'>, model: Model) => Promise<AdministratorGrants>

/** Creates the cache of grants. Each request is identified first, so that the cache is up to date. */
export function createFindGrants(database: RowReader, { cacheRows }: Pick<Identification, 'cacheRows'>): FindGrants {
  const rows = cacheRows((roles: string) => readPermissions(database, JSON.parse(roles) as readonly number[]))
  const made = new WeakMap<readonly PermissionRow[], WeakMap<Model, Map<number, AdministratorGrants>>>()
  return async ({ id, roles, isSuperAdmin }, model) => {
    const holder = { id, isSuperAdmin, roles: roles.map((role) => role.id).sort((a, b) => a - b) }
    const ofRoles = isSuperAdmin ? noRows : await rows.get(JSON.stringify(holder.roles))
    const ofModels = made.get(ofRoles) ?? new WeakMap<Model, Map<number, AdministratorGrants>>()
    made.set(ofRoles, ofModels)
    const known = ofModels.get(model) ?? new Map<number, AdministratorGrants>()
    ofModels.set(model, known)
    const grants = known.get(id) ?? createGrants(ofRoles, model, holder)
    if (known.size < maxCachedPerRoles) known.set(id, grants)
    return grants
  }
}

const noRows: readonly PermissionRow[] = []

const maxCachedPerRoles = 1_000

/** The required right of each operation. */
const neededRights: Readonly<Record<string, RightAction>> = {
  create: 'create',
  update: 'update',
  delete: 'delete',
  publish: 'publish',
  unpublish: 'publish',
  discardDraft: 'update',
} satisfies Record<HookAction, RightAction>

/** Operations of the content API, by the required right. */
const contentActions: Readonly<Record<RightAction, readonly string[]>> = {
  read: ['find', 'findOne', 'findDraft'],
  create: ['create'],
  update: ['update', 'discard'],
  delete: ['delete'],
  publish: ['publish', 'unpublish'],
}

/** Readable fields of the administrators in `createdBy` and `updatedBy`. */
export const visibleAdministratorFields = new Map(
  ['id', 'documentId', 'firstname', 'lastname', 'username'].map((name) => [name, 'all' as const]),
)

export const readsFiles = 'plugin::upload.read'

/** The conditions of each row with this action on files. */
export const fileConditions = (rows: readonly PermissionRow[], action: string): readonly unknown[] =>
  rows.filter((row) => row.action === action && !row.subject).map(({ conditions }) => conditions)

/** The grants of an administrator, by the rows of its roles. */
export function createGrants(rows: readonly PermissionRow[], model: Model, administrator: RightsHolder): AdministratorGrants {
  if (administrator.isSuperAdmin) return superAdminGrants(model)
  const rights = parseRights(rows, model, administrator)
  const actions = new Set([...rights].flatMap(([uid, ofType]) => contentActionsFor(uid, ofType)))
  if (rows.some(({ action, conditions }) => action === readsFiles && isEmpty(conditions))) actions.add(`${fileType}.find`)
  return {
    key: grantsKey(rows, administrator),
    may: (action) => actions.has(action),
    scopes: readScopes(rights),
    content: createContentRights(model, rights, linkableFiles(rows, administrator)),
  }
}

/** Writing requires reading, because the written document is in the response. */
const contentActionsFor = (uid: string, rights: TypeRights): readonly string[] =>
  rights.read.length === 0
    ? []
    : (Object.keys(contentActions) as RightAction[])
        .filter((action) => rights[action].length > 0)
        .flatMap((action) => contentActions[action].map((name) => `${uid}.${name}`))

const isEmpty = (conditions: unknown): boolean =>
  conditions === null || conditions === undefined || (Array.isArray(conditions) && conditions.length === 0)

/** Conditions depend on the caller. */
function grantsKey(rows: readonly PermissionRow[], { id, roles }: RightsHolder): string {
  const isPersonal = rows.some(({ conditions }) => !isEmpty(conditions))
  const text = JSON.stringify([rows, isPersonal ? [id, roles] : null])
  return `administrator ${createHash('sha256').update(text).digest('base64url').slice(0, 22)}`
}

/** Scopes of the readable documents. */
function readScopes(rights: ReadonlyMap<string, TypeRights>): Scopes {
  const scopes = [...rights].flatMap(([uid, { read }]) => {
    const parts = read.map(rightFilters)
    return parts.length === 0 || parts.includes(null) ? [] : [[uid, parts.length === 1 ? parts[0]! : { $or: parts }] as const]
  })
  return scopes.length === 0 ? noScopes : new Map(scopes)
}

/** The documents of a right, as filters; null: all. */
function rightFilters({ locales, scope }: ContentRight): Readonly<Record<string, unknown>> | null {
  if (locales === null) return scope
  const inLocales = { locale: { $in: locales } }
  return scope === null ? inLocales : { $and: [inLocales, scope] }
}

/** If several rights cover different documents, only attributes of all of them are readable. */
function createContentRights(model: Model, rights: ReadonlyMap<string, TypeRights>, files: Scopes): ContentRights {
  const readable = new Map<string, AttributeGrants>(alwaysReadable(model))
  for (const [uid, { read }] of rights) {
    if (read.length > 0) readable.set(uid, read.map(({ attributes }) => attributes).reduce(intersectionOf, 'all'))
  }
  const toWrite: ContentRights['toWrite'] = (uid, action) => {
    const right = neededRights[action]
    const found = right === undefined ? [] : (rights.get(uid)?.[right] ?? [])
    // Discarding a draft changes all its attributes.
    return action === 'discardDraft'
      ? found.filter(({ attributes }) => includesAll(attributes, allAttributes(model.types.get(uid)!)))
      : found
  }
  return { readable, toWrite, linkableFiles: files }
}

/** Files that are visible in the media library may be linked to. */
function linkableFiles(rows: readonly PermissionRow[], holder: RightsHolder): Scopes {
  const scope = conditionFilters(unionOfConditions(fileConditions(rows, readsFiles)), holder)
  return scope === null ? noScopes : new Map([[fileType, scope === 'nothing' ? null : scope]])
}

/** Media attributes show their files. */
const alwaysReadable = (model: Model): readonly (readonly [string, AttributeGrants])[] => [
  ['admin::user', visibleAdministratorFields],
  [fileType, allAttributes(model.types.get(fileType)!)],
]

const superAdmins = new WeakMap<Model, AdministratorGrants>()

/** Grants of super administrators. */
export function superAdminGrants(model: Model): AdministratorGrants {
  const known = superAdmins.get(model)
  if (known !== undefined) return known
  const types = [...model.types.values()].filter(hasRights)
  const uids = new Set([...types.map(({ uid }) => uid), fileType])
  const everything = (type: ContentType): ContentRight => ({ attributes: allAttributes(type), locales: null, scope: null })
  const rights = new Map(types.map((type) => [type.uid, [everything(type)]]))
  const made: AdministratorGrants = {
    key: 'administrator everything',
    may: (action) => uids.has(action.slice(0, action.lastIndexOf('.'))),
    scopes: noScopes,
    content: {
      readable: new Map([...alwaysReadable(model), ...types.map((type) => [type.uid, allAttributes(type)] as const)]),
      toWrite: (uid) => rights.get(uid) ?? [],
      linkableFiles: noScopes,
    },
  }
  superAdmins.set(model, made)
  return made
}
