// Rows of Strapi's admin_permissions become rights to attributes, locales and documents of the types of a model. Pure.
import { type AttributeGrants, type ContentRight, grantedBelow, unionOf } from '../../foundation/grants.js'
import type { ContentType, Model, Schema } from '../../model/schema/types.js'
import { filtersOf, type RightsHolder } from './conditions.js'
import type { PermissionRow } from './rows.js'

/** What Strapi's rights to content are about. */
export type RightAction = 'read' | 'create' | 'update' | 'delete' | 'publish'

/** The rights to one type, for each action. */
export type TypeRights = Readonly<Record<RightAction, readonly ContentRight[]>>

const rightActions: readonly RightAction[] = ['read', 'create', 'update', 'delete', 'publish']

/** The name of an action in Strapi's rows. */
export const actionName = (action: RightAction): string => `plugin::content-manager.explorer.${action}`

const actionsByName = new Map(rightActions.map((action) => [actionName(action), action]))

/** What the action of a row is about; null: no documents. */
export const actionOfRow = (name: string): RightAction | null => actionsByName.get(name) ?? null

/** The type of users, of which administrators may be given the rights too. */
const userType = 'plugin::users-permissions.user'

/** Whether rows may give rights to documents of a type. */
export const hasRights = ({ uid, exposed }: ContentType): boolean => exposed || uid === userType

/** What Strapi shows of every document, whatever fields a row names. */
const alwaysShown = [
  ...['id', 'documentId', 'createdAt', 'updatedAt', 'publishedAt'],
  ...['createdBy', 'updatedBy', 'locale', 'localizations'],
]

/** The attributes that administrators may be given: those of the project, private ones too, of other types only what is public. */
export function allAttributes(type: ContentType): ReadonlyMap<string, AttributeGrants> {
  const isGiven = (name: string, isPrivate: boolean): boolean => {
    if (!type.localized && (name === 'locale' || name === 'localizations')) return false
    return type.exposed || !isPrivate || name === 'createdBy' || name === 'updatedBy'
  }
  const names = [...type.attributes.values()].filter(({ name, private: isPrivate }) => isGiven(name, isPrivate))
  return new Map(names.map(({ name }) => [name, 'all' as const]))
}

/** The attributes of a type that rows count for. */
export type GivableAttributes = (type: ContentType) => ReadonlyMap<string, AttributeGrants>

/** Whether rows of an action name fields. */
export const hasFields = (action: RightAction): boolean => action !== 'delete' && action !== 'publish'

/** What a row says of fields and locales; null where it is nothing that Strapi writes. */
export function propertiesOf({ properties }: PermissionRow): { readonly fields?: unknown; readonly locales?: unknown } | null {
  const said = properties ?? {}
  return typeof said === 'object' && !Array.isArray(said) ? said : null
}

/** The rights that rows give, by the uid of their type. Rows that are not what Strapi writes give none. */
export function rightsOf(
  rows: readonly PermissionRow[],
  model: Model,
  holder: RightsHolder,
  givable: GivableAttributes = allAttributes,
): ReadonlyMap<string, TypeRights> {
  const rights = new Map<string, Record<RightAction, ContentRight[]>>()
  for (const row of rows) {
    const action = actionsByName.get(row.action)
    const type = row.subject === null ? undefined : model.types.get(row.subject)
    if (action === undefined || type === undefined || !hasRights(type)) continue
    const right = rightOf(row, action, { model, type, all: givable(type) }, holder)
    if (right === null) continue
    const ofType = rights.get(type.uid) ?? { read: [], create: [], update: [], delete: [], publish: [] }
    rights.set(type.uid, ofType)
    ofType[action].push(right)
  }
  return new Map([...rights].map(([uid, ofType]) => [uid, joinedRights(ofType)]))
}

const joinedRights = (rights: TypeRights): TypeRights =>
  Object.fromEntries(rightActions.map((action) => [action, joined(rights[action])])) as unknown as TypeRights

/** A type, and the attributes of it that rows count for. */
interface RightPlace {
  readonly model: Model
  readonly type: ContentType
  readonly all: ReadonlyMap<string, AttributeGrants>
}

function rightOf(row: PermissionRow, action: RightAction, place: RightPlace, holder: RightsHolder): ContentRight | null {
  const { type, all } = place
  const properties = propertiesOf(row)
  if (properties === null) return null
  const { fields, locales: given } = properties
  const attributes = hasFields(action) ? attributesOf(fields, place) : all
  const locales = type.localized ? localesOf(given) : null
  const scope = filtersOf(row.conditions, holder)
  if (attributes === null || scope === 'nothing' || locales?.length === 0) return null
  return { attributes, locales, scope }
}

/** Null: all locales. What is absent names none. */
function localesOf(given: unknown): readonly string[] | null {
  if (given === null) return null
  return Array.isArray(given) ? given.filter((locale): locale is string => typeof locale === 'string') : []
}

/** The attributes that `fields` names; null: none. */
function attributesOf(fields: unknown, { model, type, all }: RightPlace): ReadonlyMap<string, AttributeGrants> | null {
  if (fields === undefined || fields === null) return all
  if (!Array.isArray(fields) || fields.length === 0) return null
  const named = new Map<string, AttributeGrants>(alwaysShown.flatMap((name) => (all.has(name) ? [[name, 'all']] : [])))
  for (const field of fields) {
    if (typeof field !== 'string') continue
    const found = pathOf(model, type, field)
    if (found === null || !all.has(found[0]!)) continue
    const [name, ...below] = found
    named.set(name!, unionOf(named.get(name!) ?? new Map(), treeOf(below)))
  }
  return new Map([...named].map(([name, below]) => [name, wholeIfAll(model, type, name, below)]))
}

/** A component of which every attribute is named, as Strapi names them, is granted as a whole. */
function wholeIfAll(model: Model, shape: Schema, name: string, below: AttributeGrants): AttributeGrants {
  const attribute = shape.attributes.get(name)
  if (below === 'all' || attribute?.kind !== 'component') return below
  const component = model.components.get(attribute.component)!
  const inner = new Map([...below].map(([key, deeper]) => [key, wholeIfAll(model, component, key, deeper)]))
  return [...component.attributes.keys()].every((key) => inner.get(key) === 'all') ? 'all' : inner
}

/** The names of a dotted field, as far as they lead into components; null where they lead nowhere. Zones are named as a whole. */
function pathOf(model: Model, type: ContentType, field: string): readonly string[] | null {
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

/** A component that is named by its attributes shows its id, by which entries are told apart. */
function treeOf([name, ...below]: readonly string[]): AttributeGrants {
  return name === undefined
    ? 'all'
    : new Map([
        ['id', 'all'],
        [name, treeOf(below)],
      ])
}

/** Rights that hold for the same documents become one; those that another one covers are left out. */
function joined(rights: readonly ContentRight[]): readonly ContentRight[] {
  const places = new Map<string, ContentRight>()
  for (const right of rights) {
    const place = JSON.stringify([right.scope, right.locales?.toSorted() ?? null])
    const former = places.get(place)
    places.set(place, former === undefined ? right : { ...former, attributes: unionOf(former.attributes, right.attributes) })
  }
  const all = [...places.values()]
  return all.filter((right, index) => !all.some((other, at) => at !== index && covers(other, right)))
}

/** Whether one right allows all that another one does. */
export function covers(other: ContentRight, right: ContentRight): boolean {
  const holdsEverywhere = other.scope === null || (right.scope !== null && isWithin(right.scope, other.scope))
  const inEveryLocale = other.locales === null || right.locales?.every((locale) => other.locales!.includes(locale)) === true
  return holdsEverywhere && inEveryLocale && includesAll(other.attributes, right.attributes)
}

/** Whether the documents of a condition are among those of another one. */
function isWithin(inner: NonNullable<ContentRight['scope']>, outer: NonNullable<ContentRight['scope']>): boolean {
  const parts = ({ $or, ...one }: NonNullable<ContentRight['scope']>) =>
    (Array.isArray($or) ? $or : [one]).map((part) => JSON.stringify(part))
  const known = parts(outer)
  return parts(inner).every((part) => known.includes(part))
}

/** Whether the first has all attributes of the second. */
export function includesAll(one: AttributeGrants, other: AttributeGrants): boolean {
  if (one === 'all') return true
  if (other === 'all') return false
  return [...other].every(([name, below]) => one.has(name) && includesAll(grantedBelow(one, name), below))
}
