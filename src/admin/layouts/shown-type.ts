// A content-type as an administrator sees it: its attributes, the components in them, and their layouts, as far as a role gives any right to them.
import type { RowReader } from '../../database/database.js'
import { forbidden, notFound } from '../../foundation/errors/errors.js'
import { type AttributeGrants, grantedBelow, isGranted, noAttributes, unionOf } from '../../foundation/grants.js'
import type { AttributeSource, ContentType, Model, Schema } from '../../model/schema/types.js'
import type { Administrator } from '../identity/identify.js'
import { allAttributes, hasRights, type RightAction, rightsOf } from '../permissions/parse.js'
import type { AttributeLayout, Layout } from './layout-defaults.js'
import { readLayouts } from './layouts.js'

/** A component that attributes lead to. */
export interface ShownComponent {
  readonly uid: string
  readonly displayName: string
  readonly attributes: Readonly<Record<string, AttributeSource>>
  readonly layout: Layout
}

/** A content-type for one administrator. */
export interface ShownType {
  readonly type: ContentType
  readonly displayName: string
  readonly attributes: Readonly<Record<string, AttributeSource>>
  readonly components: readonly ShownComponent[]
  readonly layout: Layout
  /** By right, the attributes that some row names, dotted through components; each document may show or take fewer. */
  readonly fields: Readonly<Record<'read' | 'create' | 'update', readonly string[]>>
  /** The rights that some row gives. */
  readonly actions: readonly RightAction[]
}

const rightActions: readonly RightAction[] = ['create', 'read', 'update', 'delete', 'publish']

/** Reads a type. @throws ApiError 404; 403 without any right to it */
export async function readShownType(database: RowReader, model: Model, administrator: Administrator, uid: string): Promise<ShownType> {
  const type = model.types.get(uid)
  if (type === undefined || !hasRights(type)) throw notFound(`There is no type ${uid}`)
  const { id, roles, isSuperAdmin, permissions } = administrator
  const everyRight = rightsOf(permissions, model, { id, roles: roles.map((role) => role.id), isSuperAdmin })
  const rights = everyRight.get(uid)
  const grantsFor = (action: RightAction): AttributeGrants =>
    isSuperAdmin ? allAttributes(type) : (rights?.[action] ?? []).map(({ attributes }) => attributes).reduce(unionOf, noAttributes)
  const actions = rightActions.filter((action) => isSuperAdmin || (rights?.[action] ?? []).length > 0)
  if (actions.length === 0) throw forbidden(`${uid}.find`)
  const granted = { read: grantsFor('read'), create: grantsFor('create'), update: grantsFor('update') }
  const all = [granted.read, granted.create, granted.update].reduce(unionOf, noAttributes)
  const components = componentsIn(model, type, all)
  const schemas: readonly Schema[] = [type, ...[...components.keys()].map((name) => model.components.get(name)!)]
  const [layout, ...layouts] = await readLayouts(database, model, schemas)
  const isNamed: IsNamed = (target, name) =>
    isSuperAdmin || target === 'admin::user' || (everyRight.get(target)?.read ?? []).some(({ attributes }) => isGranted(attributes, name))
  return {
    type,
    displayName: nameOf(type),
    attributes: attributesIn(type, all),
    components: [...components].map(([name, inner], index) => {
      const component = model.components.get(name)!
      return {
        uid: name,
        displayName: nameOf(component),
        attributes: attributesIn(component, inner),
        layout: within(component, layouts[index]!, inner, isNamed),
      }
    }),
    layout: within(type, layout!, all, isNamed),
    fields: { read: names(type, granted.read), create: names(type, granted.create), update: names(type, granted.update) },
    actions,
  }
}

const nameOf = ({ uid, source }: Schema): string => String(source.info.displayName ?? uid)

/** The attributes as their schema describes them; passwords are named, as they may be given. */
const attributesIn = ({ source }: Schema, granted: AttributeGrants): Readonly<Record<string, AttributeSource>> =>
  Object.fromEntries(Object.entries(source.attributes).filter(([name]) => isGranted(granted, name)))

/** The components that lie in granted attributes, at every depth, each with all that is granted of it in any place. */
function componentsIn(model: Model, type: ContentType, granted: AttributeGrants): ReadonlyMap<string, AttributeGrants> {
  const found = new Map<string, AttributeGrants>()
  const visit = (schema: Schema, of: AttributeGrants): void => {
    for (const attribute of schema.attributes.values()) {
      if (!isGranted(of, attribute.name)) continue
      const below = grantedBelow(of, attribute.name)
      const uids = attribute.kind === 'component' ? [attribute.component] : attribute.kind === 'dynamiczone' ? attribute.components : []
      for (const uid of uids) {
        const before = found.get(uid)
        const now = before === undefined ? below : unionOf(before, below)
        // A component may hold itself.
        if (before !== undefined && same(before, now)) continue
        found.set(uid, now)
        visit(model.components.get(uid)!, below)
      }
    }
  }
  visit(type, granted)
  return found
}

const same = (one: AttributeGrants, other: AttributeGrants): boolean => textOf(one) === textOf(other)
const textOf = (granted: AttributeGrants): string =>
  granted === 'all' ? 'all' : JSON.stringify([...granted].map(([name, below]) => [name, textOf(below)]).sort())

/** Whether the administrator may see an attribute of a type that a relation leads to. */
type IsNamed = (target: string, name: string) => boolean

/** A layout without what is not granted, of other types too. */
function within({ source }: Schema, { settings, metadatas, layouts }: Layout, granted: AttributeGrants, isNamed: IsNamed): Layout {
  const isShown = (name: unknown): boolean => !Object.hasOwn(source.attributes, String(name)) || isGranted(granted, String(name))
  const shown = { ...settings }
  for (const key of ['mainField', 'defaultSortBy']) if (!isShown(shown[key])) shown[key] = 'documentId'
  return {
    settings: shown,
    metadatas: Object.fromEntries(
      Object.entries(metadatas).flatMap(([name, one]) => (isShown(name) ? [[name, nameless(one, source.attributes[name], isNamed)]] : [])),
    ),
    layouts: {
      list: layouts.list.filter(isShown),
      edit: layouts.edit.map((row) => row.filter(({ name }) => isShown(name))).filter((row) => row.length > 0),
    },
  }
}

/** The settings of an attribute, whose entries are known by their ids where the naming attribute may not be seen. */
function nameless(one: AttributeLayout, attribute: AttributeSource | undefined, isNamed: IsNamed): AttributeLayout {
  const { mainField } = one.edit
  if (mainField === undefined || attribute === undefined || isNamed(String(attribute.target), String(mainField))) return one
  return { ...one, edit: { ...one.edit, mainField: 'documentId' } }
}

/** Granted attributes, dotted where a part of a component is granted. */
function names({ attributes }: Schema, granted: AttributeGrants): readonly string[] {
  const below = (name: string, of: AttributeGrants): readonly string[] =>
    of === 'all' ? [name] : [...of].filter(([inner]) => inner !== 'id').flatMap(([inner, deeper]) => below(`${name}.${inner}`, deeper))
  return [...attributes.keys()].flatMap((name) => (isGranted(granted, name) ? below(name, grantedBelow(granted, name)) : []))
}
