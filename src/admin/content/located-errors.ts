// Where in the data of a write an error is: the content API says of documents that are not there, and of keys that may not be given, what they
// are, as Strapi does; administrators are told every place.
import { checkKeys, type WriteAccess } from '../../content/documents/input/keys.js'
import type { Body } from '../../content/documents/input/types.js'
import { ApiError } from '../../foundation/errors/errors.js'
import { fileType } from '../../model/schema/link.js'
import type { Attribute, ContentType, Model, Schema } from '../../model/schema/types.js'
import type { ContentAccess } from './content-access.js'

type Path = readonly string[]

/** Places that are told. */
const mostErrors = 100

/** Does a write of `data`. @throws what it throws, with all places of what is wrong in `details.errors` */
export async function locating<Result>(
  access: ContentAccess,
  type: ContentType,
  data: Body,
  write: () => Promise<Result>,
): Promise<Result> {
  try {
    return await write()
  } catch (error) {
    throw error instanceof ApiError ? located(access, type, data, error) : error
  }
}

function located({ documents, grants }: ContentAccess, type: ContentType, data: Body, error: ApiError): ApiError {
  const { model } = documents.context
  const { situation } = error
  if (situation?.kind === 'targets') {
    const named = new Set(situation.named.map(String))
    const leads = (attribute: Attribute) => mayLeadTo(attribute, situation.uid)
    const paths = attributesIn(model, type, data, []).flatMap(({ attribute, path, value }) =>
      leads(attribute) && mentions(value, named) ? [path] : [],
    )
    return withErrors(
      error,
      paths.map((path) => ({ path, message: error.message })),
    )
  }
  if (error.details?.source !== 'body') return error
  return withErrors(error, wrongKeys(model, { grants, addedByHooks: new Set() }, type, data, error))
}

/** An error about one place. */
interface Located {
  readonly path: Path
  readonly message: string
}

function withErrors({ name, message, details, situation }: ApiError, found: readonly Located[]): ApiError {
  const errors = (found.length === 0 ? [{ path: [], message }] : found.slice(0, mostErrors)).map((one) => ({
    ...one,
    name: 'ValidationError',
  }))
  const error = new ApiError(name, errors.length === 1 ? message : `${errors.length} errors occurred`, { ...details, errors })
  return situation === null ? error : error.about(situation)
}

/** An attribute that the data gives, also inside of components. */
interface Given {
  readonly attribute: Attribute
  readonly path: Path
  readonly value: unknown
}

function attributesIn(model: Model, shape: Schema, body: Body, parent: Path): readonly Given[] {
  return Object.entries(body).flatMap(([name, value]) => {
    const attribute = shape.attributes.get(name)
    if (attribute === undefined) return []
    const path = [...parent, name]
    const below = entriesIn(attribute, value, path).flatMap(({ uid, entry, at }) => {
      const component = model.components.get(uid)
      return component === undefined ? [] : attributesIn(model, component, entry, at)
    })
    return [{ attribute, path, value }, ...below]
  })
}

const isEntry = (value: unknown): value is Body => typeof value === 'object' && value !== null && !Array.isArray(value)

function entriesIn(attribute: Attribute, value: unknown, path: Path) {
  if (attribute.kind !== 'component' && attribute.kind !== 'dynamiczone') return []
  const entries = Array.isArray(value)
    ? value.map((entry, index) => ({ entry, at: [...path, String(index)] }))
    : [{ entry: value, at: path }]
  return entries.flatMap(({ entry, at }) => {
    if (!isEntry(entry)) return []
    return [{ entry, at, uid: attribute.kind === 'component' ? attribute.component : String(entry.__component) }]
  })
}

function mayLeadTo(attribute: Attribute, uid: string): boolean {
  if (attribute.kind === 'media') return uid === fileType
  if (attribute.kind === 'morphTo') return true
  return (attribute.kind === 'relation' || attribute.kind === 'morphFrom') && attribute.target === uid
}

/** Whether a value has one of these ids anywhere. */
function mentions(value: unknown, named: ReadonlySet<string>): boolean {
  if (typeof value === 'object' && value !== null) return Object.values(value).some((inner) => mentions(inner, named))
  return named.has(String(value))
}

/** All keys of the data that may not be there: those of the first error, and what is wrong without them. */
function wrongKeys(model: Model, writer: WriteAccess, type: ContentType, data: Body, first: ApiError): readonly Located[] {
  const found: Located[] = []
  const left = structuredClone(data)
  let error: ApiError | null = first
  while (error !== null && found.length < mostErrors) {
    const { message } = error
    const places = takeOut(left, error)
    if (places.length === 0) return found
    found.push(...places.map((path) => ({ path, message })))
    error = refusalOf(() => checkKeys(model, writer, type, left))
  }
  return found
}

function refusalOf(check: () => void): ApiError | null {
  try {
    check()
    return null
  } catch (error) {
    return error instanceof ApiError ? error : null
  }
}

/** Takes the key that an error is about out of the data. Returns where it was: in one entry of a list, or in several. */
function takeOut(data: Body, { details }: ApiError): readonly Path[] {
  const { key, path } = details as { readonly key?: unknown; readonly path?: unknown }
  if (typeof key !== 'string') return []
  const at = typeof path === 'string' ? path.split('.') : []
  const inside = takeBelow(data, at, key, [])
  // Of a key that may not be given, the path ends with the key itself.
  return inside.length > 0 || at.at(-1) !== key ? inside : takeBelow(data, at.slice(0, -1), key, [])
}

function takeBelow(value: unknown, at: Path, key: string, path: Path): readonly Path[] {
  if (Array.isArray(value)) return value.flatMap((entry, index) => takeBelow(entry, at, key, [...path, String(index)]))
  if (!isEntry(value)) return []
  const [next, ...further] = at
  if (next !== undefined) return takeBelow(value[next], further, key, [...path, next])
  if (!Object.hasOwn(value, key)) return []
  delete (value as Record<string, unknown>)[key]
  return [[...path, key]]
}
