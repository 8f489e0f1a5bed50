// A content-type for an administrator: the attributes, components and layouts that roles give rights to.

import type { RowReader } from '../../database/database.js'
import { forbidden, notFound } from '../../foundation/errors/errors.js'
import { type AttributeGrants, grantedBelow, isGranted, noAttributes, unionOf } from '../../foundation/grants.js'
import type { AttributeSource, ContentType, Model, Schema } from '../../model/schema/types.js'
import type { Administrator } from '../identity/identify.js'
import { allAttributes, hasRights, parseRights, type RightAction } from '../permissions/permissions.js'
import { type AttributeLayout, type Layout, readLayouts } from './layouts.js'

interface ComponentView {
  readonly uid: string
  readonly displayName: string
  readonly attributes: Readonly<Record<string, AttributeSource>>
  readonly layout: Layout
}

interface TypeView {
  readonly type: ContentType
  readonly displayName: string
  readonly attributes: Readonly<Record<string, AttributeSource>>
  readonly components: readonly ComponentView[]
  readonly layout: Layout
  /** By action, the attributes of all rights, dotted through components; a document may allow fewer. */
  readonly fields: Readonly<Record<'read' | 'create' | 'update', readonly string[]>>
  readonly actions: readonly RightAction[]
  /** By action, the locales of all rights; null: every locale. */
  readonly locales: Readonly<Record<'create' | 'publish', readonly string[] | null>>
}

const rightActions: readonly RightAction[] = ['create', 'read', 'update', 'delete', 'publish']

/** Reads a type. @throws ApiError 404; 403 without any right to it */
export async function readTypeView(database: RowReader, model: Model, administrator: Administrator, uid: string): Promise<TypeView> {
  const type = model.types.get(uid)
  if (type === undefined || !hasRights(type)) throw notFound(`There is no type ${uid}`)
  const { id, roles, isSuperAdmin, permissions } = administrator
  const everyRight = parseRights(permissions, model, { id, roles: roles.map((role) => role.id), isSuperAdmin })
  const rights = everyRight.get(uid)
  const grantsFor = (action: RightAction): AttributeGrants =>
    isSuperAdmin ? allAttributes(type) : (rights?.[action] ?? []).map(({ attributes }) => attributes).reduce(unionOf, noAttributes)
  const localesFor = (action: RightAction): readonly string[] | null => {
    const held = isSuperAdmin ? [{ locales: null }] : (rights?.[action] ?? [])
    return held.some(({ locales }) => locales === null) ? null : [...new Set(held.flatMap(({ locales }) => locales ?? []))]
  }
  const actions = rightActions.filter((action) => isSuperAdmin || (rights?.[action] ?? []).length > 0)
  if (actions.length === 0) throw forbidden(`${uid}.find`)
  const granted = { read: grantsFor('read'), create: grantsFor('create'), update: grantsFor('update') }
  const all = [granted.read, granted.create, granted.update].reduce(unionOf, noAttributes)
  const components = grantedComponents(model, type, all)
  const schemas: readonly Schema[] = [type, ...[...components.keys()].map((name) => model.components.get(name)!)]
  const [layout, ...layouts] = await readLayouts(database, model, schemas)
  const isNamed: IsNamed = (target, name) =>
    isSuperAdmin || target === 'admin::user' || (everyRight.get(target)?.read ?? []).some(({ attributes }) => isGranted(attributes, name))
  return {
    type,
    displayName: displayName(type),
    attributes: grantedSources(type, all),
    components: [...components].map(([name, inner], index) => {
      const component = model.components.get(name)!
      return {
        uid: name,
        displayName: displayName(component),
        attributes: grantedSources(component, inner),
        layout: restrictLayout(component, layouts[index]!, inner, isNamed),
      }
    }),
    layout: restrictLayout(type, layout!, all, isNamed),
    fields: { read: fieldNames(type, granted.read), create: fieldNames(type, granted.create), update: fieldNames(type, granted.update) },
    actions,
    locales: { create: localesFor('create'), publish: localesFor('publish') },
  }
}

const displayName = ({ uid, source }: Schema): string => String(source.info.displayName ?? uid)

/** Granted attributes of the schema, including passwords, which can be written. */
const grantedSources = ({ source }: Schema, granted: AttributeGrants): Readonly<Record<string, AttributeSource>> =>
  Object.fromEntries(Object.entries(source.attributes).filter(([name]) => isGranted(granted, name)))

/** The components in granted attributes at every depth, each with the union of its grants. */
function grantedComponents(model: Model, type: ContentType, granted: AttributeGrants): ReadonlyMap<string, AttributeGrants> {
  const found = new Map<string, AttributeGrants>()
  const visit = (schema: Schema, of: AttributeGrants): void => {
    for (const attribute of schema.attributes.values()) {
      if (!isGranted(of, attribute.name)) continue
      const below = grantedBelow(of, attribute.name)
      const uids = attribute.kind === 'component' ? [attribute.component] : attribute.kind === 'dynamiczone' ? attribute.components : []
      for (const uid of uids) {
        const before = found.get(uid)
        const now = before === undefined ? below : unionOf(before, below)
        // A component may contain itself.
        if (before !== undefined && isSameGrant(before, now)) continue
        found.set(uid, now)
        visit(model.components.get(uid)!, below)
      }
    }
  }
  visit(type, granted)
  return found
}

const isSameGrant = (one: AttributeGrants, other: AttributeGrants): boolean => grantsText(one) === grantsText(other)
const grantsText = (granted: AttributeGrants): string =>
  granted === 'all' ? 'all' : JSON.stringify([...granted].map(([name, below]) => [name, grantsText(below)]).sort())

/** True if an attribute of a relation's target is readable. */
type IsNamed = (target: string, name: string) => boolean

/** A layout without attributes that are not granted, here and in targets of relations. */
function restrictLayout({ source }: Schema, { settings, metadatas, layouts }: Layout, granted: AttributeGrants, isNamed: IsNamed): Layout {
  const isShown = (name: unknown): boolean => !Object.hasOwn(source.attributes, String(name)) || isGranted(granted, String(name))
  const shown = { ...settings }
  for (const key of ['mainField', 'defaultSortBy']) if (!isShown(shown[key])) shown[key] = 'documentId'
  return {
    settings: shown,
    metadatas: Object.fromEntries(
      Object.entries(metadatas).flatMap(([name, one]) =>
        isShown(name) ? [[name, hideMainField(one, source.attributes[name], isNamed)]] : [],
      ),
    ),
    layouts: {
      list: layouts.list.filter(isShown),
      edit: layouts.edit.map((row) => row.filter(({ name }) => isShown(name))).filter((row) => row.length > 0),
    },
  }
}

/** The settings of an attribute, with ids instead of an unreadable main field. */
function hideMainField(one: AttributeLayout, attribute: AttributeSource | undefined, isNamed: IsNamed): AttributeLayout {
  const { mainField } = one.edit
  if (mainField === undefined || attribute === undefined || isNamed(String(attribute.target), String(mainField))) return one
  return { ...one, edit: { ...one.edit, mainField: 'documentId' } }
}

/** Granted attributes, dotted for parts of components. */
function fieldNames({ attributes }: Schema, granted: AttributeGrants): readonly string[] {
  const below = (name: string, of: AttributeGrants): readonly string[] =>
    of === 'all' ? [name] : [...of].filter(([inner]) => inner !== 'id').flatMap(([inner, deeper]) => below(`${name}.${inner}`, deeper))
  return [...attributes.keys()].flatMap((name) => (isGranted(granted, name) ? below(name, grantedBelow(granted, name)) : []))
}
