// Rights that an administrator gives to a role: only what Strapi knows and keeps, and only what the administrator may do.
import { forbidden, type InputMistake, mistakenInput } from '../../foundation/errors/errors.js'
import type { AttributeGrants, ContentRight } from '../../foundation/grants.js'
import type { Attribute, ContentType, Model, Schema } from '../../model/schema/types.js'
import { conditionNames, knownConditions } from './conditions.js'
import { conditionalActions, panelActions } from './known-actions.js'
import { actionOfRow, allAttributes, covers, hasFields, hasRights, propertiesOf, rightsOf } from './parse.js'
import type { PermissionRow } from './rows.js'

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

/** A right as a row says it. What is no row of Strapi's allows nothing, and is shown with no fields. */
export function rightOf(model: Model, row: PermissionRow): RoleRight {
  const { action, conditions } = row
  const subject = row.subject === '' ? null : row.subject
  const properties = propertiesOf(row)
  const isRead = properties !== null && (conditions === null || conditions === undefined || Array.isArray(conditions))
  const { fields, locales } = properties ?? {}
  const texts = (value: unknown): readonly string[] => (Array.isArray(value) ? value.map(String) : [])
  const hasLocales = locales !== null && (subject === null ? undefined : model.types.get(subject))?.localized === true
  return {
    ...{ action, subject },
    fields: isRead && (fields === undefined || fields === null) ? null : isRead ? texts(fields) : [],
    locales: hasLocales ? texts(locales) : null,
    conditions: texts(conditions),
  }
}

/** A text that is the same for rights that say the same. */
export function textOf({ action, subject, fields, locales, conditions }: RoleRight): string {
  const sorted = (names: readonly string[] | null) => (names === null ? null : [...new Set(names)].sort())
  return JSON.stringify([action, subject, sorted(fields), sorted(locales), sorted(conditions)])
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
      ...(hasFields(isAbout) ? { fields: fields ?? fieldNames(model, type, (attribute) => isOfAll(type, attribute)) } : {}),
      ...(type.localized ? { locales } : {}),
    },
    conditions,
  }
}

/** Written by the service alone, and in no right of Strapi's. */
const unnamed = new Set(['id', 'documentId', 'createdAt', 'updatedAt', 'publishedAt', 'createdBy', 'updatedBy', 'locale', 'localizations'])

/** Components in components that are named at most; a component that holds itself is named as a whole. */
const deepest = 10

/** Which attributes rows may name. Private ones of types that are not the project's are named in rows of Strapi's, and give nothing to read. */
const nameable = (type: ContentType): ReadonlyMap<string, AttributeGrants> =>
  type.exposed ? allAttributes(type) : new Map([...type.attributes.keys()].map((name) => [name, 'all' as const]))

/** Whether a right to all attributes names one: passwords may be given, though they are never shown. */
const isOfAll = (type: ContentType, attribute: Attribute): boolean =>
  allAttributes(type).has(attribute.name) || (attribute.kind === 'scalar' && attribute.type === 'password')

/** The names of all attributes of a type that `isNamed`, as Strapi names them. */
function fieldNames(model: Model, type: ContentType, isNamed: (attribute: Attribute) => boolean): readonly string[] {
  const names = (shape: Schema, above: string, depth: number): readonly string[] =>
    [...shape.attributes.values()].flatMap((attribute) => {
      if (attribute.name === 'id' || (shape === type && (unnamed.has(attribute.name) || !isNamed(attribute)))) return []
      const name = `${above}${attribute.name}`
      return attribute.kind === 'component' && depth < deepest
        ? names(model.components.get(attribute.component)!, `${name}.`, depth + 1)
        : [name]
    })
  return names(type, '', 0)
}

/** A right that a role shall have, and its place among all of them. */
interface PlacedRight {
  readonly right: RoleRight
  readonly index: number
}

/** The most mistakes that are told. */
const mostMistakes = 100

/**
 * Checks rights that a role does not have yet; fields that its rows of the same action and subject name may stay.
 * @throws ApiError 400 with everything that Strapi would not keep
 */
export function checkForm(model: Model, present: readonly PermissionRow[], given: readonly PlacedRight[]): void {
  const mistakes = given.flatMap(({ right, index }) =>
    mistakesOf(model, right, present).map(({ path, message }) => ({ path: ['rights', index, ...path], message })),
  )
  if (mistakes.length > 0) throw mistakenInput(mistakes.slice(0, mostMistakes))
}

/** Checks who gives rights; those that the role has already may stay, whoever gives them. @throws ApiError 403 for what the administrator may not do */
export function checkGiver(model: Model, giver: GivingAdministrator, present: readonly PermissionRow[], given: readonly RoleRight[]): void {
  if (giver.isSuperAdmin) return
  for (const right of given) {
    const row = rowOf(model, right)
    if (!isThere(model, present, row) && !mayGive(model, giver, row)) throw forbidden(right.action)
  }
}

/** What is wrong with a right. */
function mistakesOf(model: Model, right: RoleRight, present: readonly PermissionRow[]): readonly InputMistake[] {
  const { action, subject, fields, locales, conditions } = right
  const strange = conditions.flatMap((name, index) =>
    conditionNames.includes(name) ? [] : [{ path: ['conditions', index], message: `The condition ${name} is not known` }],
  )
  const mistakes = (...found: readonly (InputMistake | false)[]) => [...found.filter((mistake) => mistake !== false), ...strange]
  const isAbout = actionOfRow(action)
  if (isAbout === null)
    return mistakes(
      !panelActions.has(action) && { path: ['action'], message: `The action ${action} is not known` },
      (subject !== null || fields !== null || locales !== null) && {
        ...{ path: [], message: `The action ${action} has neither subject, fields nor locales` },
      },
      conditions.length > 0 &&
        !conditionalActions.has(action) && { path: ['conditions'], message: `The action ${action} has no conditions` },
    )
  const type = subject === null ? undefined : model.types.get(subject)
  if (type === undefined || !hasRights(type))
    return mistakes({ path: ['subject'], message: `The subject ${subject} is not a type of content` })
  const known = fieldNames(model, type, ({ name }) => nameable(type).has(name))
  const alike = present.map((row) => rightOf(model, row)).filter((one) => one.action === action && one.subject === subject)
  const former = new Set(alike.flatMap((one) => one.fields ?? []))
  const isField = (name: string) => known.some((field) => field === name || field.startsWith(`${name}.`)) || former.has(name)
  return mistakes(
    isAbout === 'publish' && !type.draftAndPublish && { path: ['action'], message: `${subject} has no Draft & Publish` },
    !hasFields(isAbout) && fields !== null && { path: ['fields'], message: `The action ${action} has no fields` },
    !type.localized && locales !== null && { path: ['locales'], message: `${subject} has no locales` },
    ...(hasFields(isAbout) ? (fields ?? []) : []).map(
      (name, index) => !isField(name) && { path: ['fields', index], message: `${subject} has no attribute ${name}` },
    ),
  )
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
  rightsOf(rows, model, nobody, nameable).get(row.subject!)?.[actionOfRow(row.action)!] ?? []

/** Whether one of some rights allows all that a row does. A row that allows nothing is covered by anything. */
function isCovered(model: Model, rights: readonly ContentRight[], row: WrittenRow): boolean {
  return rightsIn(model, [row], row).every((right) => rights.some((other) => covers(other, right)))
}

function isWider(conditions: unknown, asked: readonly string[]): boolean {
  const some = knownConditions(conditions)
  return some === null || (some !== 'nothing' && asked.length > 0 && asked.every((name) => some.includes(name)))
}
