// POST /content-type-builder/update-schema: several types and components in one request, as Strapi 5.54's Content-Type Builder sends them.
import { boundedText } from '../../foundation/errors/errors.js'
import { listedAttributes, type NewAttributes, newAttributes, setAttributes, withoutStaleOptions } from './attributes.js'
import { deletedFiles, writtenFiles } from './files.js'
import { findUnloadable } from './loadable.js'
import { componentTableName, componentUid, typeUid } from './names.js'
import {
  type BuilderAttributes,
  builtinAttributes,
  type Draft,
  getAttributes,
  isBuiltin,
  isComponentUid,
  type ProjectSchema,
  type ProjectSchemas,
  type Refusal,
  type SchemaChange,
} from './project-schemas.js'
import { excessOf, longUid } from './request-bounds.js'
import { changeComponent, changeType, createComponent, createType, deleteComponent, deleteType, movedUid } from './schemas.js'
import { type ListedComponent, type ListedType, readUpdateSchema, type UpdateSchema } from './update-schema-request.js'

const refused = (message: string): Refusal => ({ kind: 'refusal', status: 400, body: { error: message } })

/** Plans what a request writes and deletes; writes nothing. */
export function updateSchema(current: ProjectSchemas, body: unknown): SchemaChange | Refusal {
  const excess = excessOf(body)
  if (excess !== null) return refused(`${excess.path.join('.')} ${excess.message}`)
  const draft: Draft = new Map(current.schemas)
  const wrong = applyRequest(current, draft, body)
  if (wrong !== null) return refused(wrong)
  const long = [...draft.keys()].find((uid) => !current.schemas.has(uid) && longUid(uid) !== null)
  if (long !== undefined) return refused(`The uid ${boundedText(long, 60)} ${longUid(long)}`)
  const unloadable = findUnloadable(current, draft)
  if (unloadable !== null) return refused(unloadable)
  const files = writtenFiles(current, draft)
  const deleted = deletedFiles(current, draft, files)
  return { kind: 'change', status: 200, body: {}, files, deleted, moved: movedComponents(draft), schemas: withoutMoves(draft) }
}

const movedComponents = (draft: Draft): ReadonlyMap<string, string> =>
  new Map([...draft.values()].flatMap(({ uid, movedFrom }) => (movedFrom === undefined || movedFrom === uid ? [] : [[movedFrom, uid]])))

/** The next request starts from the current uids. */
const withoutMoves = (draft: Draft): Draft => new Map([...draft].map(([uid, { movedFrom: _, ...schema }]) => [uid, schema]))

const hasType = (schemas: ReadonlyMap<string, unknown>, uid: string): boolean => schemas.has(uid) && !isComponentUid(uid)

/** Applies a request to a draft; returns why it cannot. */
function applyRequest(current: ProjectSchemas, draft: Draft, body: unknown): string | null {
  const data = readUpdateSchema(body)
  if (typeof data === 'string') return data
  const wrong = wrongComponent(current, data) ?? wrongType(current, data)
  if (wrong !== null) return wrong
  const requested = new Map<string, NewAttributes>()
  const deleted: string[] = []
  for (const component of data.components) {
    if (component.action === 'delete') deleted.push(component.uid)
    else requested.set(...requestedComponent(current, draft, component))
  }
  for (const type of data.contentTypes) {
    if (type.action === 'delete') deleted.push(type.uid)
    else requested.set(...requestedType(current, draft, type))
  }
  const before = new Map(current.schemas)
  for (const [uid] of requested) if (!before.has(uid)) before.set(uid, draft.get(uid)!)
  const unknown = unknownTarget(draft, requested)
  if (unknown !== null) return unknown
  const mistake = setAttributes(draft, before, requested)
  if (mistake !== null) return mistake
  for (const uid of deleted) {
    if (isComponentUid(uid)) deleteComponent(draft, uid)
    else deleteType(draft, uid)
  }
  return null
}

function requestedComponent(current: ProjectSchemas, draft: Draft, component: ListedComponent): [string, NewAttributes] {
  const attributes = listedAttributes(component)
  if (component.action === 'create') {
    createComponent(draft, component.uid, { ...component, config: {} })
    return [component.uid, newAttributes({}, attributes)]
  }
  const uid = changeComponent(draft, component.uid, component)
  return [uid, newAttributes(getAttributes(current.schemas, component.uid), withoutStaleOptions(attributes))]
}

function requestedType(current: ProjectSchemas, draft: Draft, type: ListedType): [string, NewAttributes] {
  const attributes = resolveSelf(listedAttributes(type), type.uid)
  if (type.action === 'create') return [createType(draft, type), newAttributes({}, attributes)]
  changeType(draft, type.uid, type)
  return [type.uid, newAttributes(getAttributes(current.schemas, type.uid), withoutStaleOptions(attributes), builtinAttributes(type.uid))]
}

/** Replaces `__self__` with the type's uid. */
const resolveSelf = (attributes: BuilderAttributes, uid: string): BuilderAttributes =>
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
    if (!hasType(schemas, uid)) return 'contentType.notFound'
    if (uid.startsWith('admin::') || (action === 'delete' && isBuiltin(uid))) return `The type ${uid} is part of the system`
    if (action === 'update' && enablesDraftsWithStatus(schemas.get(uid)!, type as ListedType)) return statusIsReserved
  }
  return null
}

const statusIsReserved = 'Cannot enable draft and publish while the following attribute names are reserved: status'

/** With draft & publish, `status` selects a version. */
const enablesDraftsWithStatus = ({ content }: ProjectSchema, type: ListedType): boolean =>
  type.draftAndPublish &&
  content.options?.draftAndPublish !== true &&
  Object.hasOwn(content.attributes, 'status') &&
  Object.hasOwn(listedAttributes(type), 'status')

/** Strapi's sentence for a relation whose target is not a type. */
function unknownTarget(draft: Draft, requested: ReadonlyMap<string, NewAttributes>): string | null {
  for (const { attributes } of requested.values())
    for (const { type, target } of Object.values(attributes))
      if (type === 'relation' && target !== undefined && !hasType(draft, target as string)) return `Content type ${target} not found`
  return null
}
