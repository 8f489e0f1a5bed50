// POST /content-type-builder/update-schema: several types and components in one request.
import { listedAttributes, type NewAttributes, newAttributes, tidied } from './attributes.js'
import { componentTableName, componentUid, typeUid } from './names.js'
import {
  attributesOf,
  type BuilderAttributes,
  builtinAttributes,
  type Draft,
  isBuiltin,
  isComponentUid,
  type ProjectSchema,
  type ProjectSchemas,
  type Refusal,
} from './project-schemas.js'
import { refused } from './refusals.js'
import { setAttributes } from './relations.js'
import { changeComponent, changeType, createComponent, createType, deleteComponent, deleteType, movedUid } from './schemas.js'
import { type ListedComponent, type ListedType, readUpdateSchema, type UpdateSchema } from './update-schema-request.js'

const isTypeOf = (draft: ReadonlyMap<string, unknown>, uid: string): boolean => draft.has(uid) && !isComponentUid(uid)

/** Carries out a request to update-schema on a draft; returns why it cannot. */
export function updateSchema(current: ProjectSchemas, draft: Draft, body: unknown): Refusal | null {
  const data = readUpdateSchema(body)
  if (typeof data === 'string') return refused(data)
  const wrong = wrongComponent(current, data) ?? wrongType(current, data)
  if (wrong !== null) return refused(wrong)
  const wishes = new Map<string, NewAttributes>()
  const deleted: string[] = []
  for (const component of data.components) {
    if (component.action === 'delete') deleted.push(component.uid)
    else wishes.set(...componentWish(current, draft, component))
  }
  for (const type of data.contentTypes) {
    if (type.action === 'delete') deleted.push(type.uid)
    else wishes.set(...typeWish(current, draft, type))
  }
  const before = new Map(current.schemas)
  for (const [uid] of wishes) if (!before.has(uid)) before.set(uid, draft.get(uid)!)
  const unknown = unknownTarget(draft, wishes)
  if (unknown !== null) return refused(unknown)
  const [mistake] = setAttributes(draft, before, wishes)
  if (mistake !== undefined) return refused(mistake.message)
  for (const uid of deleted) {
    if (isComponentUid(uid)) deleteComponent(draft, uid)
    else deleteType(draft, uid)
  }
  return null
}

function componentWish(current: ProjectSchemas, draft: Draft, component: ListedComponent): [string, NewAttributes] {
  const attributes = listedAttributes(component)
  if (component.action === 'create') {
    createComponent(draft, component.uid, { ...component, config: {} })
    return [component.uid, newAttributes({}, attributes)]
  }
  const uid = changeComponent(draft, component.uid, component)
  return [uid, newAttributes(attributesOf(current.schemas, component.uid), tidied(attributes))]
}

function typeWish(current: ProjectSchemas, draft: Draft, type: ListedType): [string, NewAttributes] {
  const attributes = toItself(listedAttributes(type), type.uid)
  if (type.action === 'create') return [createType(draft, type), newAttributes({}, attributes)]
  changeType(draft, type.uid, type)
  return [type.uid, newAttributes(attributesOf(current.schemas, type.uid), tidied(attributes), builtinAttributes(type.uid))]
}

/** Attributes with the type's uid in place of `__self__`. */
const toItself = (attributes: BuilderAttributes, uid: string): BuilderAttributes =>
  Object.fromEntries(
    Object.entries(attributes).map(([name, attribute]) => [
      name,
      attribute.type === 'relation' && attribute.target === '__self__' ? { ...attribute, target: uid } : attribute,
    ]),
  )

function wrongComponent({ schemas }: ProjectSchemas, { components }: UpdateSchema): string | null {
  const tables = new Set([...schemas.values()].map(({ content }) => content.collectionName))
  for (const component of components) {
    const { action, uid } = component
    if (action === 'create') {
      const { category, displayName } = component as ListedComponent
      if (uid !== componentUid(category, displayName) || uid.endsWith('.')) return 'component.invalidUID'
      if (schemas.has(uid) || tables.has(componentTableName(category, displayName))) return 'component.alreadyExists'
      continue
    }
    if (!isComponentUid(uid) || !schemas.has(uid)) return 'component.notFound'
    if (action === 'delete') continue
    const { category } = component as Partial<ListedComponent>
    if (category === undefined) return 'Expected a string, got `undefined`'
    const moved = movedUid(uid, category)
    if (moved !== uid && schemas.has(moved)) return 'component.edit.alreadyExists'
  }
  return null
}

function wrongType({ schemas }: ProjectSchemas, { contentTypes }: UpdateSchema): string | null {
  for (const type of contentTypes) {
    const { action, uid } = type
    if (action === 'create') {
      const { singularName, plugin } = type as ListedType
      if (uid !== typeUid(singularName!, plugin)) return 'contentType.invalidUID'
      if (schemas.has(uid)) return 'contentType.alreadyExists'
      continue
    }
    if (!isTypeOf(schemas, uid)) return 'contentType.notFound'
    if (uid.startsWith('admin::') || (action === 'delete' && isBuiltin(uid))) return `The type ${uid} is part of the system`
    if (action === 'update' && enablesDraftsBesideStatus(schemas.get(uid)!, type as ListedType)) return statusIsReserved
  }
  return null
}

const statusIsReserved = 'Cannot enable draft and publish while the following attribute names are reserved: status'

/** With draft & publish, `status` is the version that a request asks for. */
const enablesDraftsBesideStatus = ({ content }: ProjectSchema, type: ListedType): boolean =>
  type.draftAndPublish &&
  content.options?.draftAndPublish !== true &&
  Object.hasOwn(content.attributes, 'status') &&
  Object.hasOwn(listedAttributes(type), 'status')

/** Strapi's sentence for a relation whose target is no type. */
export function unknownTarget(draft: Draft, wishes: ReadonlyMap<string, NewAttributes>): string | null {
  for (const { attributes } of wishes.values())
    for (const { type, target } of Object.values(attributes))
      if (type === 'relation' && target !== undefined && !isTypeOf(draft, target as string)) return `Content type ${target} not found`
  return null
}
