// The older routes of the content-type builder: one type, one component or one category at a time.
import type { AttributeSource } from '../schema/types.js'
import { type NewAttributes, newAttributes, tidied } from './attributes.js'
import { isObject } from './checks.js'
import { categorySlug, componentTableName, componentUid } from './names.js'
import { isUnreadable } from './older-attributes.js'
import { categoryMistakes, componentMistakes, typeMistakes } from './older-bodies.js'
import {
  type Accepted,
  attributesOf,
  type BuilderAttributes,
  builtinAttributes,
  type Draft,
  isBuiltin,
  isComponentUid,
  type ProjectSchemas,
  type Refusal,
} from './project-schemas.js'
import { invalidBody, refused, refusedCategory, unreadableBody } from './refusals.js'
import { setAttributes } from './relations.js'
import {
  type ComponentInfo,
  changeComponent,
  changeType,
  componentsOf,
  createComponent,
  createType,
  deleteComponent,
  deleteType,
  moveComponents,
  movedUid,
  type TypeInfo,
} from './schemas.js'
import { unknownTarget } from './update-schema.js'

type WithAttributes<Info> = Info & { readonly attributes: BuilderAttributes }
/** A type of a body; `uid` can only repeat what its names say. */
type SentType = WithAttributes<TypeInfo> & { readonly uid?: string }
/** A component that a body brings along. */
type NestedComponent = WithAttributes<ComponentInfo> & { readonly uid?: string; readonly tmpUID?: string }

const accepted = (status: number, body: unknown): Accepted => ({ kind: 'accepted', status, body })
const named = (status: number, uid: string): Accepted => accepted(status, { data: { uid } })

/** POST, PUT and DELETE of /content-types. */
export function changeOlderType(
  current: ProjectSchemas,
  draft: Draft,
  method: string,
  uid: string | undefined,
  body: unknown,
): Accepted | Refusal {
  if (uid !== undefined && (isComponentUid(uid) || !current.schemas.has(uid))) return refused('contentType.notFound', 404)
  if (uid !== undefined && (uid.startsWith('admin::') || (method === 'DELETE' && isBuiltin(uid))))
    return refused(`The type ${uid} is part of the system`)
  if (method === 'DELETE') {
    deleteType(draft, uid!)
    return named(200, uid!)
  }
  const sent = prepared(body, 'contentType', uid !== undefined)
  if (sent === null) return unreadableBody
  const mistakes = typeMistakes(current, sent, uid)
  if (mistakes.length > 0) return invalidBody(mistakes)
  const { contentType: type } = sent as { readonly contentType: SentType }
  if (
    uid !== undefined &&
    type.kind === 'singleType' &&
    current.schemas.get(uid)!.content.kind !== 'singleType' &&
    current.typesWithSeveralRows.has(uid)
  )
    return refused(severalRows)
  const made = uid ?? createType(draft, type)
  if (uid === undefined && (type.uid ?? made) !== made) return refused('contentType.invalidUID')
  if (uid !== undefined) changeType(draft, uid, type)
  return (
    withComponents(current, draft, sent, { uid: made, door: uid === undefined ? 'new' : 'changed', attributes: type.attributes }, made) ??
    named(201, made)
  )
}

/** POST, PUT and DELETE of /components. */
export function changeOlderComponent(
  current: ProjectSchemas,
  draft: Draft,
  method: string,
  uid: string | undefined,
  body: unknown,
): Accepted | Refusal {
  if (uid !== undefined && (!isComponentUid(uid) || !current.schemas.has(uid))) return refused('component.notFound', 404)
  if (method === 'DELETE') {
    deleteComponent(draft, uid!)
    return named(200, uid!)
  }
  const sent = prepared(body, 'component', uid !== undefined)
  if (sent === null) return unreadableBody
  const mistakes = componentMistakes(current, sent, uid)
  if (mistakes.length > 0) return invalidBody(mistakes)
  const { component } = sent as { readonly component: NestedComponent }
  const made = uid === undefined ? newComponent(draft, component) : changedComponent(draft, uid, component)
  if (typeof made !== 'string') return made
  const refusal = withComponents(
    current,
    draft,
    sent,
    { uid: made, from: uid, door: uid === undefined ? 'new' : 'changed', attributes: component.attributes },
    undefined,
  )
  return refusal ?? named(uid === undefined ? 201 : 200, made)
}

/** Strapi's sentence for a collection type with several rows that should become a single type. */
const severalRows = 'You cannot convert a collectionType to a singleType when having multiple entries in DB'

/** PUT and DELETE of /component-categories: all components of a category move, or go. */
export function changeCategory(draft: Draft, method: string, name: string, body: unknown): Accepted | Refusal {
  const components = componentsOf(draft, name)
  if (method === 'DELETE') {
    if (components.length === 0) return refusedCategory('category not found')
    for (const uid of components) deleteComponent(draft, uid)
    return accepted(200, { name })
  }
  const mistakes = categoryMistakes(body ?? {})
  if (mistakes.length > 0) return invalidBody(mistakes)
  const slug = categorySlug((body as { readonly name: string }).name)
  if (slug === name) return accepted(200, {})
  if (components.length === 0) return refusedCategory('category not found')
  if (componentsOf(draft, slug).length > 0) return refusedCategory('Name already taken')
  moveComponents(draft, new Map(components.map((uid) => [uid, movedUid(uid, slug)])))
  return accepted(200, { name: slug })
}

/** The body, with attributes tidied for an update; null if Strapi cannot read it. */
function prepared(body: unknown, key: 'contentType' | 'component', isUpdate: boolean): unknown {
  const isAboutType = key === 'contentType'
  if (Array.isArray(body)) return isAboutType && isUpdate ? null : body
  if (!isObject(body)) return null
  const { [key]: main } = body
  if (main === undefined) return isAboutType ? null : body
  if (!isObject(main)) return isAboutType && isUpdate ? null : body
  if (isUpdate && !isObject(main.attributes)) return null
  if (!isObject(main.attributes)) return body
  const attributes = main.attributes as BuilderAttributes
  if (isUnreadable(attributes)) return null
  const isSound = Object.values(attributes).every(isObject)
  return isUpdate && isSound ? { ...body, [key]: { ...main, attributes: tidied(attributes) } } : body
}

function newComponent(draft: Draft, component: ComponentInfo): string | Refusal {
  const uid = componentUid(component.category, component.displayName)
  const table = componentTableName(component.category, component.displayName)
  if (uid.endsWith('.')) return refused('component.invalidUID')
  if (draft.has(uid) || [...draft.values()].some(({ content }) => content.collectionName === table))
    return refused('component.alreadyExists')
  createComponent(draft, uid, component)
  return uid
}

function changedComponent(draft: Draft, uid: string, component: ComponentInfo): string | Refusal {
  const moved = movedUid(uid, component.category)
  return moved !== uid && draft.has(moved) ? refused('component.edit.alreadyExists') : changeComponent(draft, uid, component)
}

/** The schema that a request is about. */
interface Main {
  readonly uid: string
  /** Its uid until now, if it is a component that moves. */
  readonly from?: string | undefined
  readonly door: 'new' | 'changed'
  readonly attributes: BuilderAttributes
}

/** Creates and changes the components that a body brings along, and sets the attributes of everything. */
function withComponents(current: ProjectSchemas, draft: Draft, body: unknown, main: Main, type: string | undefined): Refusal | null {
  const { components: nested = [] } = body as { readonly components?: readonly NestedComponent[] }
  const uids = new Map<string, string>()
  const all: Main[] = [main]
  for (const component of nested) {
    const { uid: from, tmpUID, attributes } = component
    if (from !== undefined && !draft.has(from)) return refused('component.notFound')
    const uid = from === undefined ? newComponent(draft, component) : changedComponent(draft, from, component)
    if (typeof uid !== 'string') return uid
    uids.set((tmpUID ?? from)!, uid)
    all.push({ uid, from, door: from === undefined ? 'new' : 'changed', attributes })
  }
  const wishes = new Map<string, NewAttributes>()
  for (const { uid, from = uid, door, attributes } of all) {
    const before = door === 'new' ? {} : attributesOf(current.schemas, from)
    wishes.set(uid, newAttributes(before, resolved(attributes, uids, uid, uid === type ? undefined : type), builtinAttributes(uid)))
  }
  // A new component is not there yet when its attributes are read.
  const isKnown = (uid: string) => isComponentUid(uid) && draft.has(uid) && (main.door === 'changed' || uid !== main.uid)
  const before = new Map(current.schemas)
  for (const { uid } of all) if (!before.has(uid)) before.set(uid, draft.get(uid)!)
  for (const { attributes } of wishes.values())
    for (const attribute of Object.values(attributes))
      if (attribute.type === 'component' && !isKnown(attribute.component as string)) return refused('component.notFound')
  const unknown = unknownTarget(draft, wishes)
  if (unknown !== null) return refused(unknown)
  const mistakes = setAttributes(draft, before, wishes)
  return mistakes.length > 0 ? invalidBody(mistakes) : null
}

/** Attributes with the uids that a body leaves open: `__self__`, those of new components, and `__contentType__` in these. */
function resolved(
  attributes: BuilderAttributes,
  uids: ReadonlyMap<string, string>,
  self: string,
  type: string | undefined,
): BuilderAttributes {
  const real = (uid: unknown): unknown => uids.get(uid as string) ?? uid
  const target = (uid: unknown): unknown => (uid === '__self__' ? self : uid === '__contentType__' ? (type ?? uid) : uid)
  const entries = Object.entries(attributes).map(([name, attribute]): [string, AttributeSource] => {
    if (attribute.type === 'component') return [name, { ...attribute, component: real(attribute.component) }]
    if (attribute.type === 'dynamiczone')
      return [name, { ...attribute, components: (attribute.components as readonly unknown[]).map(real) }]
    return [name, attribute.type === 'relation' ? { ...attribute, target: target(attribute.target) } : attribute]
  })
  return Object.fromEntries(entries)
}
