// Rights that an administrator gives to a role: only what Strapi knows and keeps, and only what the administrator may do.
import { forbidden, validationError } from '../errors/errors.js'
import type { ContentRight } from '../grants.js'
import type { ContentType, Model, Schema } from '../model/types.js'
import { conditionNames } from './conditions.js'
import { conditionalActions, panelActions } from './known-actions.js'
import type { PermissionRow } from './permission-rows.js'
import { actionOfRow, allAttributes, covers, hasRights, type RightAction, rightsOf } from './rights.js'

/** A right of a role. */
export interface RoleRight {
  readonly action: string
  /** The uid of a type; null for actions that concern none. */
  readonly subject: string | null
  /** Names of attributes, dotted through components; null: all that there are now. */
  readonly fields: readonly string[] | null
  /** Null: all. */
  readonly locales: readonly string[] | null
  /** Of these one must hold; none: it always holds. */
  readonly conditions: readonly string[]
}

/** Who gives rights. */
export interface GivingAdministrator {
  readonly isSuperAdmin: boolean
  /** The rows of the administrator's roles. */
  readonly rows: readonly PermissionRow[]
  /** True if a role allows an action that concerns no content-type. */
  may(action: string): boolean
}

/** What a right says in Strapi's form. */
interface WrittenRow extends PermissionRow {
  readonly properties: { readonly fields?: readonly string[]; readonly locales?: readonly string[] | null }
  readonly conditions: readonly string[]
}

/** A right as Strapi writes it: every attribute by its name, locales for localized types alone. */
export function rowOf(model: Model, { action, subject, fields, locales, conditions }: RoleRight): WrittenRow {
  const type = subject === null ? undefined : model.types.get(subject)
  const isAbout = actionOfRow(action)
  if (type === undefined || isAbout === null) return { action, subject, properties: {}, conditions }
  return {
    action,
    subject,
    properties: {
      ...(hasFields(isAbout) ? { fields: fields ?? fieldNames(model, type) } : {}),
      ...(type.localized ? { locales } : {}),
    },
    conditions,
  }
}

const hasFields = (action: RightAction): boolean => action !== 'delete' && action !== 'publish'

/** Written by the service alone, and in no right of Strapi's. */
const unnamed = new Set(['id', 'documentId', 'createdAt', 'updatedAt', 'publishedAt', 'createdBy', 'updatedBy', 'locale', 'localizations'])

/** Components in components that are named at most; a component that holds itself is named as a whole. */
const deepest = 10

/** The names of all attributes of a type, as Strapi names them. */
export function fieldNames(model: Model, type: ContentType): readonly string[] {
  const given = allAttributes(type)
  const names = (shape: Schema, above: string, depth: number): readonly string[] =>
    [...shape.attributes.values()].flatMap((attribute) => {
      if (attribute.name === 'id' || (shape === type && (unnamed.has(attribute.name) || !given.has(attribute.name)))) return []
      const name = `${above}${attribute.name}`
      return attribute.kind === 'component' && depth < deepest
        ? names(model.components.get(attribute.component)!, `${name}.`, depth + 1)
        : [name]
    })
  return names(type, '', 0)
}

/**
 * Checks the rights that a role is given; those that it has already may stay, whoever gives them.
 * @throws ApiError 400 for what Strapi would not keep, 403 for what the administrator may not do
 */
export function checkRights(
  model: Model,
  giver: GivingAdministrator,
  present: readonly PermissionRow[],
  rights: readonly RoleRight[],
): void {
  for (const [index, right] of rights.entries()) {
    const problem = problemOf(model, right)
    if (problem !== null)
      throw validationError(problem, { errors: [{ path: ['rights', String(index)], message: problem, name: 'ValidationError' }] })
  }
  if (giver.isSuperAdmin) return
  for (const right of rights) {
    const row = rowOf(model, right)
    if (!isThere(model, present, row) && !mayGive(model, giver, row)) throw forbidden(right.action)
  }
}

/** What is wrong with a right, as a sentence; null: nothing. */
function problemOf(model: Model, { action, subject, fields, locales, conditions }: RoleRight): string | null {
  const unknown = conditions.find((name) => !conditionNames.includes(name))
  if (unknown !== undefined) return `The condition ${unknown} is not known`
  const isAbout = actionOfRow(action)
  if (isAbout === null) {
    if (!panelActions.has(action)) return `The action ${action} is not known`
    if (subject !== null || fields !== null || locales !== null) return `The action ${action} has neither subject, fields nor locales`
    return conditions.length === 0 || conditionalActions.has(action) ? null : `The action ${action} has no conditions`
  }
  const type = subject === null ? undefined : model.types.get(subject)
  if (type === undefined || !hasRights(type)) return `The subject ${subject} is no type of content`
  if (isAbout === 'publish' && !type.draftAndPublish) return `${subject} has no Draft & Publish`
  if (!hasFields(isAbout) && fields !== null) return `The action ${action} has no fields`
  if (!type.localized && locales !== null) return `${subject} has no locales`
  const wrong = (fields ?? []).find((name) => !isField(model, type, name))
  return wrong === undefined ? null : `${subject} has no attribute ${wrong}`
}

/** True for the name of an attribute, or of a part of a component. */
function isField(model: Model, type: ContentType, name: string): boolean {
  return fieldNames(model, type).some((field) => field === name || field.startsWith(`${name}.`))
}

/** Whether the role has the right already, or a wider one. */
const isThere = (model: Model, present: readonly PermissionRow[], row: WrittenRow): boolean =>
  row.subject === null
    ? present.some(({ action, subject, conditions }) => action === row.action && !subject && isWider(conditions, row.conditions))
    : isCovered(model, rightsIn(model, present, row), row)

const mayGive = (model: Model, { rows, may }: GivingAdministrator, row: WrittenRow): boolean =>
  row.subject === null ? may(row.action) : isCovered(model, rightsIn(model, rows, row), row)

/** Conditions are compared by their names: they are about the documents of whoever has the right. */
const nobody = { id: 0, roles: [0], isSuperAdmin: false }

const rightsIn = (model: Model, rows: readonly PermissionRow[], row: WrittenRow): readonly ContentRight[] =>
  rightsOf(rows, model, nobody).get(row.subject!)?.[actionOfRow(row.action)!] ?? []

/** Whether one of some rights allows all that a row does. A row that allows nothing is covered by anything. */
function isCovered(model: Model, rights: readonly ContentRight[], row: WrittenRow): boolean {
  return rightsIn(model, [row], row).every((right) => rights.some((other) => covers(other, right)))
}

const isWider = (conditions: unknown, asked: readonly string[]): boolean =>
  !Array.isArray(conditions) || conditions.length === 0 || (asked.length > 0 && asked.every((name) => conditions.includes(name)))
