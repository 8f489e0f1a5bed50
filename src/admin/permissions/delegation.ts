// Rights that an administrator gives to a role: only those that Strapi keeps, and only those that the administrator has.

import { forbidden, mistakenInput } from '../../foundation/errors/errors.js'
import type { InputMistake } from '../../foundation/errors/issues.js'
import type { AttributeGrants, ContentRight } from '../../foundation/grants.js'
import type { Attribute, ContentType, Model, Schema } from '../../model/schema/types.js'
import {
  allAttributes,
  conditionNames,
  covers,
  hasRights,
  knownConditions,
  namesFields,
  type PermissionRow,
  parseAction,
  parseProperties,
  parseRights,
} from './permissions.js'

export interface RoleRight {
  readonly action: string
  /** The uid of a type; null for actions that concern none. */
  readonly subject: string | null
  /** Attributes, dotted through components; null: all current ones. */
  readonly fields: string[] | null
  readonly locales: string[] | null
  /** One of these must be met; empty: no condition. */
  readonly conditions: string[]
}

/** The administrator who grants rights. */
interface GrantingAdministrator {
  readonly isSuperAdmin: boolean
  readonly rows: readonly PermissionRow[]
  /** True if a role allows an action without content-type. */
  may(action: string): boolean
}

/** A right as a row of Strapi. */
interface StoredRow extends PermissionRow {
  readonly properties: { readonly fields?: readonly string[]; readonly locales?: readonly string[] | null }
  readonly conditions: readonly string[]
}

/** Converts a row to a right. Malformed rows allow nothing and have no fields. */
export function toRoleRight(model: Model, row: PermissionRow): RoleRight {
  const { action, conditions } = row
  const subject = row.subject === '' ? null : row.subject
  const properties = parseProperties(row)
  const isRead = properties !== null && (conditions === null || conditions === undefined || Array.isArray(conditions))
  const { fields, locales } = properties ?? {}
  const texts = (value: unknown): string[] => (Array.isArray(value) ? value.map(String) : [])
  const hasLocales = locales !== null && (subject === null ? undefined : model.types.get(subject))?.localized === true
  return {
    action,
    subject,
    fields: isRead && (fields === undefined || fields === null) ? null : isRead ? texts(fields) : [],
    locales: hasLocales ? texts(locales) : null,
    conditions: texts(conditions),
  }
}

/** The same key for equal rights. */
export function rightKey({ action, subject, fields, locales, conditions }: RoleRight): string {
  const sorted = (names: readonly string[] | null) => (names === null ? null : [...new Set(names)].sort())
  return JSON.stringify([action, subject, sorted(fields), sorted(locales), sorted(conditions)])
}

/** Converts a right to a row as Strapi writes it: attributes by name, locales only for localized types. */
export function toRow(model: Model, { action, subject, fields, locales, conditions }: RoleRight): StoredRow {
  const type = subject === null ? undefined : model.types.get(subject)
  const isAbout = parseAction(action)
  if (type === undefined || isAbout === null) return { action, subject, properties: {}, conditions }
  return {
    action,
    subject,
    properties: {
      ...(namesFields(isAbout) ? { fields: fields ?? fieldNames(model, type, (attribute) => isOfAll(type, attribute)) } : {}),
      ...(type.localized ? { locales } : {}),
    },
    conditions,
  }
}

/** System attributes, which rights of Strapi do not name. */
const systemAttributes = new Set([
  'id',
  'documentId',
  'createdAt',
  'updatedAt',
  'publishedAt',
  'createdBy',
  'updatedBy',
  'locale',
  'localizations',
])

/** A deeper component is named as a whole, because it may contain itself. */
const maxDepth = 10

/** Attributes that rows may name. Rows of Strapi also name private attributes of system types, which are never readable. */
const nameable = (type: ContentType): ReadonlyMap<string, AttributeGrants> =>
  type.exposed ? allAttributes(type) : new Map([...type.attributes.keys()].map((name) => [name, 'all' as const]))

/** True if a right to all attributes includes one: passwords are writable but never readable. */
const isOfAll = (type: ContentType, attribute: Attribute): boolean =>
  allAttributes(type).has(attribute.name) || (attribute.kind === 'scalar' && attribute.type === 'password')

/** Names of the attributes that `isNamed`, in Strapi's notation. */
function fieldNames(model: Model, type: ContentType, isNamed: (attribute: Attribute) => boolean): readonly string[] {
  const names = (shape: Schema, above: string, depth: number): readonly string[] =>
    [...shape.attributes.values()].flatMap((attribute) => {
      if (attribute.name === 'id' || (shape === type && (systemAttributes.has(attribute.name) || !isNamed(attribute)))) return []
      const name = `${above}${attribute.name}`
      return attribute.kind === 'component' && depth < maxDepth
        ? names(model.components.get(attribute.component)!, `${name}.`, depth + 1)
        : [name]
    })
  return names(type, '', 0)
}

/** A new right and its index in the request. */
interface PositionedRight {
  readonly right: RoleRight
  readonly index: number
}

const maxErrors = 100

/** Checks that Strapi would keep new rights. Unknown fields that the role already has may stay. @throws ApiError 400 with all errors */
export function checkStorable(model: Model, present: readonly PermissionRow[], given: readonly PositionedRight[]): void {
  const mistakes = given.flatMap(({ right, index }) =>
    findErrors(model, right, present).map((mistake) => ({ ...mistake, path: ['rights', index, ...mistake.path] })),
  )
  if (mistakes.length > 0) throw mistakenInput(mistakes.slice(0, maxErrors))
}

/** Checks that the administrator has the rights that are granted; rights that the role already has may stay. @throws ApiError 403 */
export function checkGiver(
  model: Model,
  giver: GrantingAdministrator,
  present: readonly PermissionRow[],
  given: readonly RoleRight[],
): void {
  if (giver.isSuperAdmin) return
  for (const right of given) {
    const row = toRow(model, right)
    if (!roleHas(model, present, row) && !mayGrant(model, giver, row)) throw forbidden(right.action)
  }
}

function findErrors(model: Model, right: RoleRight, present: readonly PermissionRow[]): readonly InputMistake[] {
  const { action, subject, fields, locales, conditions } = right
  const strange = conditions.flatMap((name, index) =>
    conditionNames.includes(name)
      ? []
      : [{ path: ['conditions', index], message: `The condition ${name} is not known`, code: 'notFound' as const }],
  )
  const mistakes = (...found: readonly (InputMistake | false)[]) => [...found.filter((mistake) => mistake !== false), ...strange]
  const isAbout = parseAction(action)
  if (isAbout === null)
    return mistakes(
      !panelActions.has(action) && { path: ['action'], message: `The action ${action} is not known`, code: 'notFound' },
      (subject !== null || fields !== null || locales !== null) && {
        path: [],
        message: `The action ${action} has neither subject, fields nor locales`,
        code: 'unsupported',
      },
      conditions.length > 0 &&
        !conditionalActions.has(action) && { path: ['conditions'], message: `The action ${action} has no conditions`, code: 'unsupported' },
    )
  const type = subject === null ? undefined : model.types.get(subject)
  if (type === undefined || !hasRights(type))
    return mistakes({ path: ['subject'], message: `The subject ${subject} is not a type of content`, code: 'notFound' })
  const known = fieldNames(model, type, ({ name }) => nameable(type).has(name))
  const alike = present.map((row) => toRoleRight(model, row)).filter((one) => one.action === action && one.subject === subject)
  const former = new Set(alike.flatMap((one) => one.fields ?? []))
  const isField = (name: string) => known.some((field) => field === name || field.startsWith(`${name}.`)) || former.has(name)
  return mistakes(
    isAbout === 'publish' &&
      !type.draftAndPublish && { path: ['action'], message: `${subject} has no Draft & Publish`, code: 'unsupported' },
    !namesFields(isAbout) && fields !== null && { path: ['fields'], message: `The action ${action} has no fields`, code: 'unsupported' },
    !type.localized && locales !== null && { path: ['locales'], message: `${subject} has no locales`, code: 'unsupported' },
    ...(namesFields(isAbout) ? (fields ?? []) : []).map(
      (name, index): InputMistake | false =>
        !isField(name) && { path: ['fields', index], message: `${subject} has no attribute ${name}`, code: 'unknown', params: { name } },
    ),
  )
}

/** True if the role has the right, or a wider one. */
const roleHas = (model: Model, present: readonly PermissionRow[], row: StoredRow): boolean =>
  row.subject === null
    ? present.some(({ action, subject, conditions }) => action === row.action && !subject && isWider(conditions, row.conditions))
    : isCovered(model, rightsIn(model, present, row), row)

const mayGrant = (model: Model, { rows, may }: GrantingAdministrator, row: StoredRow): boolean =>
  row.subject === null ? may(row.action) : isCovered(model, rightsIn(model, rows, row), row)

/** Conditions are compared by name, because they refer to the holder of a right. */
const noHolder = { id: 0, roles: [0], isSuperAdmin: false }

const rightsIn = (model: Model, rows: readonly PermissionRow[], row: StoredRow): readonly ContentRight[] =>
  parseRights(rows, model, noHolder, nameable).get(row.subject!)?.[parseAction(row.action)!] ?? []

/** True if one of the rights covers a row. A row that allows nothing is always covered. */
function isCovered(model: Model, rights: readonly ContentRight[], row: StoredRow): boolean {
  return rightsIn(model, [row], row).every((right) => rights.some((other) => covers(other, right)))
}

function isWider(conditions: unknown, asked: readonly string[]): boolean {
  const some = knownConditions(conditions)
  return some === null || (some !== 'nothing' && asked.length > 0 && asked.every((name) => some.includes(name)))
}

const scoped = (scope: string, ...names: readonly string[]): readonly string[] => names.map((name) => `${scope}.${name}`)

/** The actions of Strapi 5 without subject. Strapi deletes rows with other actions at its start. */
const panelActions: ReadonlySet<string> = new Set([
  'admin::marketplace.read',
  ...scoped('admin::webhooks', 'create', 'read', 'update', 'delete'),
  ...scoped('admin::users', 'create', 'read', 'update', 'delete'),
  ...scoped('admin::roles', 'create', 'read', 'update', 'delete'),
  ...scoped('admin::api-tokens', 'access', 'create', 'read', 'update', 'regenerate', 'delete'),
  ...scoped('admin::transfer.tokens', 'access', 'create', 'read', 'update', 'regenerate', 'delete'),
  ...scoped('admin::project-settings', 'read', 'update'),
  'plugin::content-manager.single-types.configure-view',
  'plugin::content-manager.collection-types.configure-view',
  'plugin::content-manager.components.configure-layout',
  'plugin::content-type-builder.read',
  ...scoped(
    'plugin::upload',
    'read',
    'assets.create',
    'assets.update',
    'assets.download',
    'assets.copy-link',
    'configure-view',
    'settings.read',
  ),
  ...scoped('plugin::i18n.locale', 'create', 'read', 'update', 'delete'),
  'plugin::email.settings.read',
  ...scoped('plugin::users-permissions.roles', 'create', 'read', 'update', 'delete'),
  ...scoped('plugin::users-permissions.providers', 'read', 'update'),
  ...scoped('plugin::users-permissions.email-templates', 'read', 'update'),
  ...scoped('plugin::users-permissions.advanced-settings', 'read', 'update'),
  ...scoped('plugin::content-releases', 'read', 'create', 'update', 'delete', 'publish', 'create-action', 'delete-action'),
  ...scoped('plugin::content-releases.settings', 'read', 'update'),
])

/** Actions that may have conditions: those on files, which have a creator. */
const conditionalActions: ReadonlySet<string> = new Set(
  scoped('plugin::upload', 'read', 'assets.create', 'assets.update', 'assets.download', 'assets.copy-link'),
)
