// Creates, changes, moves and deletes whole types and components.

import { removeRelationsTo } from './attributes.js'
import { categorySlug, componentTableName, schemaPath, typeTableName, typeUid } from './names.js'
import { type Draft, edit, type ProjectSchema, type SchemaContent, without } from './project-schemas.js'

type Json = Readonly<Record<string, unknown>>

/** A type in a request, without attributes. */
interface TypeInfo {
  readonly displayName: string
  readonly description?: string
  readonly kind?: string
  readonly singularName?: string
  readonly pluralName?: string
  readonly plugin?: string
  readonly collectionName?: string
  readonly draftAndPublish?: boolean
  readonly options?: Json
  readonly pluginOptions?: Json
  readonly config?: Json
}

/** A component in a request, without attributes. */
interface ComponentInfo {
  readonly displayName: string
  readonly category: string
  readonly icon?: string
  readonly description?: string
  readonly pluginOptions?: Json
  readonly config?: Json
}

const withoutUndefined = <Value extends object>(object: Value): Value =>
  Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)) as Value

/** Adds a type without attributes. */
export function createType(draft: Draft, info: TypeInfo): string {
  const { singularName, pluralName, displayName, description, draftAndPublish, config } = info
  const uid = typeUid(singularName!, info.plugin)
  const content: SchemaContent = withoutUndefined({
    kind: info.kind ?? 'collectionType',
    collectionName: info.collectionName || typeTableName(pluralName!),
    info: withoutUndefined({ singularName, pluralName, displayName, description }),
    options: withoutUndefined({ ...info.options, draftAndPublish }),
    pluginOptions: info.pluginOptions,
    attributes: {},
    config: config ?? undefined,
  })
  draft.set(uid, { uid, path: schemaPath(uid), content })
  return uid
}

/** Changes a type; names and table stay. */
export function changeType(draft: Draft, uid: string, info: TypeInfo): void {
  const { content, path } = draft.get(uid)!
  const { displayName, description, draftAndPublish } = info
  draft.set(uid, {
    uid,
    path: path ?? schemaPath(uid),
    content: {
      ...content,
      kind: info.kind ?? content.kind ?? 'collectionType',
      info: withoutUndefined({ ...content.info, displayName, ...withoutUndefined({ description }) }),
      options: withoutUndefined({ ...info.options, draftAndPublish: draftAndPublish ?? content.options?.draftAndPublish }),
      ...withoutUndefined({ pluginOptions: info.pluginOptions ?? content.pluginOptions }),
    },
  })
}

/** Removes a type and all relations to it. */
export function deleteType(draft: Draft, uid: string): void {
  draft.delete(uid)
  removeRelationsTo(draft, uid)
}

/** Adds a component without attributes. */
export function createComponent(draft: Draft, uid: string, info: ComponentInfo): void {
  const { category, displayName, icon, description, pluginOptions, config } = info
  const content: SchemaContent = withoutUndefined({
    collectionName: componentTableName(category, displayName),
    info: withoutUndefined({ displayName, icon, description }),
    options: {},
    pluginOptions,
    attributes: {},
    config,
  })
  draft.set(uid, { uid, path: schemaPath(uid), content })
}

/** The uid of a component in another category. */
export const movedUid = (uid: string, category: string): string => `${categorySlug(category)}.${uid.split('.')[1]}`

/** Changes a component and moves it to its category; returns its uid. */
export function changeComponent(draft: Draft, uid: string, info: ComponentInfo): string {
  const moved = movedUid(uid, info.category)
  moveComponents(draft, new Map([[uid, moved]]))
  const { content } = draft.get(moved)!
  const { displayName, icon, description } = info
  edit(draft, moved, {
    info: withoutUndefined({ ...content.info, ...withoutUndefined({ displayName, icon, description }) }),
    ...withoutUndefined({ pluginOptions: info.pluginOptions ?? content.pluginOptions }),
  })
  return moved
}

/** Renames components everywhere. The table keeps its name. */
function moveComponents(draft: Draft, uids: ReadonlyMap<string, string>): void {
  const moved = (uid: unknown): unknown => uids.get(uid as string) ?? uid
  if ([...uids].every(([from, to]) => from === to)) return
  for (const schema of [...draft.values()]) {
    const entries = Object.entries(schema.content.attributes)
    const attributes = entries.map(([name, attribute]) => {
      if (attribute.type === 'component' && uids.has(attribute.component as string))
        return [name, { ...attribute, component: moved(attribute.component) }] as const
      if (attribute.type === 'dynamiczone' && (attribute.components as readonly string[]).some((uid) => uids.has(uid)))
        return [name, { ...attribute, components: (attribute.components as readonly string[]).map(moved) }] as const
      return [name, attribute] as const
    })
    if (attributes.some(([, attribute], index) => attribute !== entries[index]![1]))
      edit(draft, schema.uid, { attributes: Object.fromEntries(attributes) })
  }
  for (const [from, to] of uids) {
    const schema: ProjectSchema = draft.get(from)!
    draft.delete(from)
    draft.set(to, { uid: to, path: schemaPath(to), content: schema.content, movedFrom: schema.movedFrom ?? from })
  }
}

/** Removes a component, the attributes that hold it, and its uid in dynamic zones. */
export function deleteComponent(draft: Draft, uid: string): void {
  draft.delete(uid)
  for (const schema of [...draft.values()])
    for (const [name, attribute] of Object.entries(schema.content.attributes)) {
      const { attributes } = draft.get(schema.uid)!.content
      if (attribute.type === 'component' && attribute.component === uid) edit(draft, schema.uid, { attributes: without(attributes, name) })
      else if (attribute.type === 'dynamiczone' && (attribute.components as readonly string[]).includes(uid)) {
        const components = (attribute.components as readonly string[]).filter((one) => one !== uid)
        edit(draft, schema.uid, { attributes: { ...attributes, [name]: { ...attribute, components } } })
      }
    }
}
