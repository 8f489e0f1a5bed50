// The rights of an administrator as grants, which documents and query check. Pure.
import { createHash } from 'node:crypto'
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
import { fileType } from '../../model/schema/link.js'
import type { ContentType, Model } from '../../model/schema/types.js'
import { filtersOf as conditionFilters, joinedConditions, type RightsHolder } from './conditions.js'
import { allAttributes, hasRights, includesAll, type RightAction, rightsOf, type TypeRights } from './parse.js'
import type { PermissionRow } from './rows.js'

/** The right that an operation on a document needs. */
const needed: Readonly<Record<string, RightAction>> = {
  create: 'create',
  update: 'update',
  delete: 'delete',
  publish: 'publish',
  unpublish: 'publish',
  discardDraft: 'update',
} satisfies Record<HookAction, RightAction>

/** Names of operations in actions of the content API, by the right that they need. */
const contentActions: Readonly<Record<RightAction, readonly string[]>> = {
  read: ['find', 'findOne', 'findDraft'],
  create: ['create'],
  update: ['update', 'discard'],
  delete: ['delete'],
  publish: ['publish', 'unpublish'],
}

/** What is shown of the administrators that `createdBy` and `updatedBy` name. */
export const shownOfAdministrators = new Map(
  ['id', 'documentId', 'firstname', 'lastname', 'username'].map((name) => [name, 'all' as const]),
)

/** Strapi's action of seeing files in the media library. */
export const readsFiles = 'plugin::upload.read'

/** The conditions of each row that gives one of Strapi's rights to files. */
export const conditionsOfFiles = (rows: readonly PermissionRow[], action: string): readonly unknown[] =>
  rows.filter((row) => row.action === action && !row.subject).map(({ conditions }) => conditions)

/** The grants of an administrator: for one who may do everything, or by the rows of the administrator's roles. */
export function grantsOfAdministrator(rows: readonly PermissionRow[], model: Model, administrator: RightsHolder): Grants {
  if (administrator.isSuperAdmin) return superAdminGrants(model)
  const rights = rightsOf(rows, model, administrator)
  const actions = new Set([...rights].flatMap(([uid, ofType]) => actionsOf(uid, ofType)))
  if (rows.some(({ action, conditions }) => action === readsFiles && isEmpty(conditions))) actions.add(`${fileType}.find`)
  return {
    key: keyOf(rows, administrator),
    may: (action) => actions.has(action),
    scopes: readScopes(rights),
    content: contentOf(model, rights, linkableFiles(rows, administrator)),
  }
}

/** Whoever may not read documents of a type may not write them either: what is written is answered. */
const actionsOf = (uid: string, rights: TypeRights): readonly string[] =>
  rights.read.length === 0
    ? []
    : (Object.keys(contentActions) as RightAction[])
        .filter((action) => rights[action].length > 0)
        .flatMap((action) => contentActions[action].map((name) => `${uid}.${name}`))

const isEmpty = (conditions: unknown): boolean =>
  conditions === null || conditions === undefined || (Array.isArray(conditions) && conditions.length === 0)

/** Conditions depend on who asks. */
function keyOf(rows: readonly PermissionRow[], { id, roles }: RightsHolder): string {
  const isPersonal = rows.some(({ conditions }) => !isEmpty(conditions))
  const text = JSON.stringify([rows, isPersonal ? [id, roles] : null])
  return `administrator ${createHash('sha256').update(text).digest('base64url').slice(0, 22)}`
}

/** The documents that rights to read show. */
function readScopes(rights: ReadonlyMap<string, TypeRights>): Scopes {
  const scopes = [...rights].flatMap(([uid, { read }]) => {
    const parts = read.map(filtersOf)
    return parts.length === 0 || parts.includes(null) ? [] : [[uid, parts.length === 1 ? parts[0]! : { $or: parts }] as const]
  })
  return scopes.length === 0 ? noScopes : new Map(scopes)
}

/** The documents for which a right holds, as filters; null: all. */
function filtersOf({ locales, scope }: ContentRight): Readonly<Record<string, unknown>> | null {
  if (locales === null) return scope
  const inLocales = { locale: { $in: locales } }
  return scope === null ? inLocales : { $and: [inLocales, scope] }
}

/** Where several rights show different documents, the attributes that all of them name are shown of each. */
function contentOf(model: Model, rights: ReadonlyMap<string, TypeRights>, files: Scopes): ContentRights {
  const readable = new Map<string, AttributeGrants>(alwaysReadable(model))
  for (const [uid, { read }] of rights) {
    if (read.length > 0) readable.set(uid, read.map(({ attributes }) => attributes).reduce(intersectionOf, 'all'))
  }
  const toWrite: ContentRights['toWrite'] = (uid, action) => {
    const right = needed[action]
    const found = right === undefined ? [] : (rights.get(uid)?.[right] ?? [])
    // Whoever discards a draft gives all its attributes other values.
    return action === 'discardDraft'
      ? found.filter(({ attributes }) => includesAll(attributes, allAttributes(model.types.get(uid)!)))
      : found
  }
  return { readable, toWrite, linkableFiles: files }
}

/** Whoever sees a file in the media library may link to it. */
function linkableFiles(rows: readonly PermissionRow[], holder: RightsHolder): Scopes {
  const scope = conditionFilters(joinedConditions(conditionsOfFiles(rows, readsFiles)), holder)
  return scope === null ? noScopes : new Map([[fileType, scope === 'nothing' ? null : scope]])
}

/** Files are shown where media attributes are. */
const alwaysReadable = (model: Model): readonly (readonly [string, AttributeGrants])[] => [
  ['admin::user', shownOfAdministrators],
  [fileType, allAttributes(model.types.get(fileType)!)],
]

const superAdmins = new WeakMap<Model, Grants>()

/** Grants to do everything with documents of the project. */
export function superAdminGrants(model: Model): Grants {
  const known = superAdmins.get(model)
  if (known !== undefined) return known
  const types = [...model.types.values()].filter(hasRights)
  const uids = new Set([...types.map(({ uid }) => uid), fileType])
  const everything = (type: ContentType): ContentRight => ({ attributes: allAttributes(type), locales: null, scope: null })
  const rights = new Map(types.map((type) => [type.uid, [everything(type)]]))
  const made: Grants = {
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
