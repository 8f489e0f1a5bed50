// Checks the keys of a body: unknown and forbidden ones are refused before any value is checked.

import { ApiError, validationError } from '../../../foundation/errors/errors.js'
import type { Grants } from '../../../foundation/grants.js'
import { isTooDeep } from '../../../foundation/runtime/json-structure.js'
import { fileType } from '../../../model/schema/link.js'
import type { Attribute, Component, ContentType, Model, Schema } from '../../../model/schema/types.js'
import { assertNever } from '../../../model/schema/types.js'
import type { Body } from './types.js'

/** Written by the service alone. */
const refused = new Set(['createdAt', 'updatedAt', 'createdBy', 'updatedBy', 'localizations'])
/** Accepted and ignored; `data` is a body that was wrapped twice. */
const ignored = new Set(['publishedAt', 'locale', 'data'])
/** Additional keys of a component. `documentId` is ignored: responses of the specification have one. */
const componentKeys = new Set(['id', 'documentId'])
const zoneKeys = new Set([...componentKeys, '__component'])
const operations = new Set(['set', 'connect', 'disconnect', 'options'])
const referenceKeys = new Set([...operations, 'id', 'documentId', 'locale'])

const isBody = (value: unknown): value is Body => typeof value === 'object' && value !== null
const listed = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [value])

/** The origin of the data of a write. */
export interface WriteAccess {
  readonly grants: Grants
  /** Attributes that the caller did not send and hooks of the project have added: these may name what the caller may not find. */
  readonly addedByHooks: ReadonlySet<string>
}

/**
 * Checks the keys of `data` against the model and the grants: a relation to a type that the caller may not find is refused for every
 * value, so that linking does not reveal whether a document exists.
 * @throws ApiError 400 `Invalid key …` for the first key that may not be there.
 */
export function checkKeys(model: Model, { grants, addedByHooks }: WriteAccess, type: ContentType, data: unknown): void {
  if (isTooDeep(data)) throw validationError('The data is nested too deeply')
  for (const body of listed(data).filter(isBody)) {
    for (const key of ['id', 'documentId']) if (Object.hasOwn(body, key)) throw refusal(key)
    for (const key of Object.keys(body)) if (refused.has(key) || isReadOnly(type.attributes.get(key))) throw refusal(key, key)
    const walk: Walk = { model, grants, addedByHooks, forbidden: null }
    checkNames(walk, type, body, ignored, null)
    if (walk.forbidden !== null) throw walk.forbidden
  }
}

/** State of one walk: the first forbidden relation, reported after all unknown keys. */
interface Walk extends WriteAccess {
  readonly model: Model
  forbidden: ApiError | null
}

/** `writable: false`: filled by code or by its default, never by a body. */
export const isReadOnly = (attribute: Attribute | undefined): boolean => attribute?.source.writable === false

/** The component that an entry of a zone names; undefined where it names none. */
const componentNamed = (model: Model, uid: unknown): Component | undefined =>
  typeof uid === 'string' ? model.components.get(uid) : undefined

/** True for attributes that a body may give, false for what the service itself writes. */
export function isWritable(shape: Schema, attribute: Attribute | undefined): attribute is Attribute {
  if (attribute === undefined || (attribute.kind === 'scalar' && attribute.system)) return false
  return shape.kind === 'component' || !refused.has(attribute.name)
}

/** True for a key that bodies may have in addition to the attributes of a type or a component, without effect. */
export const isExtraKey = (shape: Schema, name: string): boolean =>
  !isWritable(shape, shape.attributes.get(name)) &&
  ((shape.kind === 'component' ? zoneKeys : ignored).has(name) || shape.unstored.has(name))

function refusal(key: string, path?: string | null): ApiError {
  const where = path !== undefined && path !== null && path !== key ? ` at ${path}` : ''
  const at = path === undefined ? {} : { path }
  return new ApiError('ValidationError', `Invalid key ${key}${where}`, { key, ...at, source: 'body' })
}

function checkNames(walk: Walk, shape: Schema, body: Body, beside: ReadonlySet<string>, parent: string | null): void {
  for (const [key, value] of Object.entries(body)) {
    const attribute = shape.attributes.get(key)
    if (!isWritable(shape, attribute)) {
      if (!beside.has(key) && !shape.unstored.has(key)) throw refusal(key, parent)
      continue
    }
    const path = parent === null ? key : `${parent}.${key}`
    if (isReadOnly(attribute)) throw refusal(key, path)
    if (!mayRelate(walk, attribute, value, path)) walk.forbidden ??= refusal(key, path)
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

/** Entries of `connect` and similar keys may have other members; an entry used as a target must look like one. */
function checkReferences(model: Model, target: string, value: Body, path: string): void {
  const attributes = model.types.get(target)?.attributes
  for (const entry of listed(value).filter(isBody)) {
    for (const key of Object.keys(entry)) if (!referenceKeys.has(key) && !attributes?.has(key)) throw refusal(key, path)
  }
}

/**
 * Relations need `find` on their target type. Polymorphic ones name it in each entry's `__type`; polymorphic to-one relations
 * cannot be written at all.
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
