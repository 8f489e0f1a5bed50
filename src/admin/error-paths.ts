// Errors of the content API with the paths of the values that they are about, which Strapi leaves out.

import { checkKeys, type WriteAccess } from '../content/documents/input/keys.js'
import type { Body } from '../content/documents/input/types.js'
import { ApiError } from '../foundation/errors/errors.js'
import { fileType } from '../model/schema/link.js'
import type { Attribute, ContentType, Model, Schema } from '../model/schema/types.js'
import { isObject } from '../query/request.js'
import type { ContentAccess } from './content/content-access.js'

/** Runs an operation of the content API. @throws its errors, with the paths of fields in `details.errors` */
export async function withFieldPaths<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof ApiError) || error.situation?.kind !== 'fields') throw error
    const errors = error.situation.errors.map(({ path, message }) => ({ path, message, name: 'ValidationError' }))
    throw new ApiError(error.name, error.message, { ...error.details, errors })
  }
}

/** 400 for a name that is already used. */
export function nameTaken(kind: string): ApiError {
  const message = `A ${kind} with this name already exists`
  return new ApiError('ApplicationError', message, { errors: [{ path: ['name'], message, name: 'ValidationError' }] })
}

type Path = readonly string[]

const maxErrors = 100

/** The data of a write. */
interface WrittenData {
  readonly access: ContentAccess
  readonly type: ContentType
  readonly data: Body
  /** The path in the request of a value in the data; absent: the same. */
  readonly toRequestPath?: ((path: Path) => Path) | undefined
}

/** Runs a write. @throws its errors, with all positions in `details.errors` */
export async function withErrorPaths<Result>(
  { access, type, data, toRequestPath }: WrittenData,
  write: () => Promise<Result>,
): Promise<Result> {
  try {
    return await write()
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    const located = locate(access, type, data, error)
    throw toRequestPath === undefined ? located : inRequest(located, toRequestPath)
  }
}

/** The same error with the paths of the request. */
function inRequest(error: ApiError, toRequestPath: (path: Path) => Path): ApiError {
  const { name, message, details, situation } = error
  const errors = details?.errors as readonly LocatedError[] | undefined
  if (!Array.isArray(errors)) return error
  const renamed = new ApiError(name, message, { ...details, errors: errors.map((one) => ({ ...one, path: toRequestPath(one.path) })) })
  return situation === null ? renamed : renamed.about(situation)
}

function locate({ documents, grants }: ContentAccess, type: ContentType, data: Body, error: ApiError): ApiError {
  const { model } = documents.context
  const { situation } = error
  if (situation?.kind === 'targets') {
    const named = new Set(situation.named.map(String))
    const leads = (attribute: Attribute) => mayLeadTo(attribute, situation.uid)
    const paths = findAttributes(model, type, data, []).flatMap(({ attribute, path, value }) =>
      leads(attribute) && containsId(value, named) ? [path] : [],
    )
    return withErrors(
      error,
      paths.map((path) => ({ path, message: error.message })),
    )
  }
  if (error.details?.source !== 'body') return error
  return withErrors(error, findWrongKeys(model, { grants, addedByHooks: new Set() }, type, data, error))
}

/** An error at one position. */
interface LocatedError {
  readonly path: Path
  readonly message: string
}

function withErrors({ name, message, details, situation }: ApiError, found: readonly LocatedError[]): ApiError {
  const errors = (found.length === 0 ? [{ path: [], message }] : found.slice(0, maxErrors)).map((one) => ({
    ...one,
    name: 'ValidationError',
  }))
  const error = new ApiError(name, errors.length === 1 ? message : `${errors.length} errors occurred`, { ...details, errors })
  return situation === null ? error : error.about(situation)
}

/** An attribute in the data, also inside of components. */
interface GivenAttribute {
  readonly attribute: Attribute
  readonly path: Path
  readonly value: unknown
}

function findAttributes(model: Model, shape: Schema, body: Body, parent: Path): readonly GivenAttribute[] {
  return Object.entries(body).flatMap(([name, value]) => {
    const attribute = shape.attributes.get(name)
    if (attribute === undefined) return []
    const path = [...parent, name]
    const below = findEntries(attribute, value, path).flatMap(({ uid, entry, at }) => {
      const component = model.components.get(uid)
      return component === undefined ? [] : findAttributes(model, component, entry, at)
    })
    return [{ attribute, path, value }, ...below]
  })
}

function findEntries(attribute: Attribute, value: unknown, path: Path) {
  if (attribute.kind !== 'component' && attribute.kind !== 'dynamiczone') return []
  const entries = Array.isArray(value)
    ? value.map((entry, index) => ({ entry, at: [...path, String(index)] }))
    : [{ entry: value, at: path }]
  return entries.flatMap(({ entry, at }) => {
    if (!isObject(entry)) return []
    return [{ entry, at, uid: attribute.kind === 'component' ? attribute.component : String(entry.__component) }]
  })
}

function mayLeadTo(attribute: Attribute, uid: string): boolean {
  if (attribute.kind === 'media') return uid === fileType
  if (attribute.kind === 'morphTo') return true
  return (attribute.kind === 'relation' || attribute.kind === 'morphFrom') && attribute.target === uid
}

/** True if a value contains one of these ids. */
function containsId(value: unknown, named: ReadonlySet<string>): boolean {
  if (typeof value === 'object' && value !== null) return Object.values(value).some((inner) => containsId(inner, named))
  return named.has(String(value))
}

/** All invalid keys of the data: those of the first error, and those found after removing them. */
function findWrongKeys(model: Model, writer: WriteAccess, type: ContentType, data: Body, first: ApiError): readonly LocatedError[] {
  const found: LocatedError[] = []
  const left = structuredClone(data)
  let error: ApiError | null = first
  while (error !== null && found.length < maxErrors) {
    const { message } = error
    const places = removeKey(left, error)
    if (places.length === 0) return found
    found.push(...places.map((path) => ({ path, message })))
    error = catchRefusal(() => checkKeys(model, writer, type, left))
  }
  return found
}

function catchRefusal(check: () => void): ApiError | null {
  try {
    check()
    return null
  } catch (error) {
    return error instanceof ApiError ? error : null
  }
}

/** Removes the invalid key of an error from the data. Returns its positions: one, or several in a list. */
function removeKey(data: Body, { details }: ApiError): readonly Path[] {
  const { key, path } = details as { readonly key?: unknown; readonly path?: unknown }
  if (typeof key !== 'string') return []
  const at = typeof path === 'string' ? path.split('.') : []
  const inside = removeKeyBelow(data, at, key, [])
  // For a forbidden key, the path includes the key.
  return inside.length > 0 || at.at(-1) !== key ? inside : removeKeyBelow(data, at.slice(0, -1), key, [])
}

function removeKeyBelow(value: unknown, at: Path, key: string, path: Path): readonly Path[] {
  if (Array.isArray(value)) return value.flatMap((entry, index) => removeKeyBelow(entry, at, key, [...path, String(index)]))
  if (!isObject(value)) return []
  const [next, ...further] = at
  if (next !== undefined) return removeKeyBelow(value[next], further, key, [...path, next])
  if (!Object.hasOwn(value, key)) return []
  delete (value as Record<string, unknown>)[key]
  return [[...path, key]]
}
