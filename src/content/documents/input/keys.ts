// Validates the keys of a body, before any value: refuses unknown and forbidden ones.

import { ApiError, validationError } from '../../../foundation/errors/errors.js'
import type { Grants } from '../../../foundation/grants.js'
import { isTooDeep } from '../../../foundation/runtime/json-structure.js'
import { fileType } from '../../../model/schema/link.js'
import type { Attribute, Component, ContentType, Model, Schema } from '../../../model/schema/types.js'
import { assertNever } from '../../../model/schema/types.js'
import type { Body } from './types.js'

/** Written only by the service. */
const refused = new Set(['createdAt', 'updatedAt', 'createdBy', 'updatedBy', 'localizations'])
/** Accepted and ignored; `data` appears in bodies wrapped twice. */
const ignored = new Set(['publishedAt', 'locale', 'data'])
/** Additional keys of a component. `documentId` is ignored: responses of the specification contain it. */
const componentKeys = new Set(['id', 'documentId'])
const zoneKeys = new Set([...componentKeys, '__component'])
const operations = new Set(['set', 'connect', 'disconnect', 'options'])
const referenceKeys = new Set([...operations, 'id', 'documentId', 'locale'])

const isBody = (value: unknown): value is Body => typeof value === 'object' && value !== null
const listed = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [value])

/** Origin of the data of a write. */
export interface WriteAccess {
  readonly grants: Grants
  /** Attributes added by the project's hooks, which may reference types that the caller may not find. */
  readonly addedByHooks: ReadonlySet<string>
}

/**
 * Checks the keys of `data` against the model and the grants. A relation to a type that the caller may not find is refused for any value,
 * so that linking does not reveal whether a document exists.
 * @throws ApiError 400 `Invalid key …` for the first invalid key
 */
export function checkKeys(model: Model, { grants, addedByHooks }: WriteAccess, type: ContentType, data: unknown): void {
  if (isTooDeep(data)) throw validationError('The data is nested too deeply')
  for (const body of listed(data).filter(isBody)) {
    for (const key of ['id', 'documentId']) if (Object.hasOwn(body, key)) throw refusal('forbidden', key)
    for (const key of Object.keys(body)) if (refused.has(key) || isReadOnly(type.attributes.get(key))) throw refusal('forbidden', key, key)
    const walk: Walk = { model, grants, addedByHooks, forbidden: null }
    checkNames(walk, type, body, ignored, null)
    if (walk.forbidden !== null) throw walk.forbidden
  }
}

/** State of a walk. The first forbidden relation is reported only if there is no unknown key. */
interface Walk extends WriteAccess {
  readonly model: Model
  forbidden: ApiError | null
}

/** `writable: false`: set by code or by default, never by a body. */
export const isReadOnly = (attribute: Attribute | undefined): boolean => attribute?.source.writable === false

/** The component of a zone entry; undefined if it names none. */
const componentNamed = (model: Model, uid: unknown): Component | undefined =>
  typeof uid === 'string' ? model.components.get(uid) : undefined

/** False for attributes that the service itself writes. */
export function isWritable(shape: Schema, attribute: Attribute | undefined): attribute is Attribute {
  if (attribute === undefined || (attribute.kind === 'scalar' && attribute.system)) return false
  return shape.kind === 'component' || !refused.has(attribute.name)
}

/** True for keys that bodies may have without effect, in addition to attributes. */
export const isExtraKey = (shape: Schema, name: string): boolean =>
  !isWritable(shape, shape.attributes.get(name)) &&
  ((shape.kind === 'component' ? zoneKeys : ignored).has(name) || shape.unstored.has(name))

/** The administration finds the positions of the key in the data (`admin/error-paths.ts`). */
export function refusal(code: 'unknown' | 'forbidden', key: string, path?: string | null): ApiError {
  const where = path !== undefined && path !== null && path !== key ? ` at ${path}` : ''
  const at = path === undefined ? {} : { path }
  const message = `Invalid key ${key}${where}`
  const error = new ApiError('ValidationError', message, { key, ...at, source: 'body' })
  return error.because([{ path: [key], message, code, params: { name: key } }])
}

function checkNames(walk: Walk, shape: Schema, body: Body, beside: ReadonlySet<string>, parent: string | null): void {
  for (const [key, value] of Object.entries(body)) {
    const attribute = shape.attributes.get(key)
    if (!isWritable(shape, attribute)) {
      if (!beside.has(key) && !shape.unstored.has(key)) throw refusal('unknown', key, parent)
      continue
    }
    const path = parent === null ? key : `${parent}.${key}`
    if (isReadOnly(attribute)) throw refusal('forbidden', key, path)
    if (!mayRelate(walk, attribute, value, path)) walk.forbidden ??= refusal('forbidden', key, path)
    if (isBody(value)) checkBelow(walk, attribute, value, path)
  }
}

function checkBelow(walk: Walk, attribute: Attribute, value: Body, path: string): void {
  const { model } = walk
  switch (attribute.kind) {
    case 'scalar':
    case 'morphTo':
      return
    case 'component': {
      const component = model.components.get(attribute.component)!
      for (const entry of listed(value).filter(isBody)) checkNames(walk, component, entry, componentKeys, path)
      return
    }
    case 'dynamiczone':
      for (const entry of listed(value).filter(isBody)) {
        const component = componentNamed(model, entry.__component)
        if (component !== undefined) checkNames(walk, component, entry, zoneKeys, path)
      }
      return
    case 'media':
      checkReferences(model, fileType, value, path)
      return
    case 'relation':
    case 'morphFrom':
      checkReferences(model, attribute.target, value, path)
      return
    default:
      assertNever(attribute)
  }
}

/** Entries of `connect` and similar keys may have other members, unless these make them no reference. */
function checkReferences(model: Model, target: string, value: Body, path: string): void {
  const attributes = model.types.get(target)?.attributes
  for (const entry of listed(value).filter(isBody)) {
    for (const key of Object.keys(entry)) if (!referenceKeys.has(key) && !attributes?.has(key)) throw refusal('unknown', key, path)
  }
}

/**
 * Relations require `find` on their target type, which entries of polymorphic ones name in `__type`. Polymorphic to-one relations are
 * read-only.
 */
function mayRelate(walk: Walk, attribute: Attribute, value: unknown, path: string): boolean {
  if (attribute.kind === 'morphTo') return attribute.many && morphEntries(value).every((entry) => namesType(walk, entry, path))
  if (attribute.kind !== 'relation' && attribute.kind !== 'morphFrom') return true
  return attribute.target === fileType || mayName(walk, attribute.target, path)
}

const mayName = ({ grants, addedByHooks }: Walk, target: string, path: string): boolean =>
  grants.may(`${target}.find`) || (addedByHooks.size > 0 && addedByHooks.has(path.split('.', 1)[0]!))

function morphEntries(value: unknown): readonly unknown[] {
  if (!isBody(value)) return [value]
  if (Array.isArray(value)) return value.filter((entry) => entry !== null)
  const named = ['set', 'connect', 'disconnect'].filter((key) => Object.hasOwn(value, key))
  if (named.length === 0) return [value]
  return named.flatMap((key) => listed(value[key])).filter((entry) => entry !== null)
}

const namesType = (walk: Walk, entry: unknown, path: string): boolean =>
  isBody(entry) && typeof entry.__type === 'string' && walk.model.types.has(entry.__type) && mayName(walk, entry.__type, path)
