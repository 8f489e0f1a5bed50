// Errors of the content API with positions, codes and parameters, which Strapi leaves out.

import { checkKeys, type WriteAccess } from '../content/documents/input/keys.js'
import { namesTargets, relationForm } from '../content/documents/input/relations.js'
import type { Body } from '../content/documents/input/types.js'
import { ApiError, type Situation } from '../foundation/errors/errors.js'
import type { InputMistake, IssueCode, IssueParams } from '../foundation/errors/issues.js'
import { type AttributeGrants, grantedBelow, isGranted, noAttributes } from '../foundation/grants.js'
import { fileType } from '../model/schema/link.js'
import type { Attribute, ContentType, Model, Schema } from '../model/schema/types.js'
import { isObject } from '../query/request.js'
import type { ContentAccess } from './content/content-access.js'

/** An error about input in a response. */
export interface InputErrorView {
  readonly path: readonly string[]
  readonly code: IssueCode
  readonly params: IssueParams
  readonly message: string
  readonly name: string
}

/** An error about input for a response. */
export const toErrorView = ({ path, code = 'invalid', params = {}, message }: InputMistake): InputErrorView => ({
  path: path.map(String),
  code,
  params,
  message,
  name: 'ValidationError',
})

/** The errors about input of an error; null: it is about something else. */
export function inputErrors({ name, message, details, mistakes }: ApiError): readonly InputErrorView[] | null {
  if (mistakes !== null) return mistakes.map(toErrorView)
  if (Array.isArray(details?.errors)) return details.errors.map((given) => toErrorView(toMistake(given)))
  return name === 'ValidationError' ? [toErrorView({ path: [], message })] : null
}

/** Why a document was left unchanged. */
export interface DocumentError {
  readonly status: number
  readonly name: string
  readonly message: string
  /** The locale of the errors; null on types without locales, and if it is unknown. */
  readonly locale: string | null
  /** The first errors about its values. */
  readonly errors: readonly InputErrorView[]
}

const maxErrorsPerDocument = 10

/** The error of a document for a response. `only`: the locale of the request. */
export function toDocumentError(error: ApiError, only: string | null): DocumentError {
  const { status, name, message, locale } = error
  return { status, name, message, locale: locale ?? only, errors: (inputErrors(error) ?? []).slice(0, maxErrorsPerDocument) }
}

/** An error in the details of another one, which code of the project may have thrown. */
function toMistake(given: unknown): InputMistake {
  const { path, message } = (isObject(given) ? given : {}) as { readonly path?: unknown; readonly message?: unknown }
  const names = Array.isArray(path) ? path : path === undefined || path === null ? [] : [path]
  return { path: names.map(String), message: String(message ?? '') }
}

/** An error in the form of the administration API: errors about input with codes, and details in any case. */
export function inAdministration(error: unknown): unknown {
  if (!(error instanceof ApiError)) return error
  const { message, details, mistakes, locale } = error
  const errors = inputErrors(error)
  if (errors === null && locale === null && details !== null) return error
  const others = mistakes === null ? details : {}
  return error.reworded(message, { ...others, ...(errors === null ? {} : { errors }), ...(locale === null ? {} : { locale }) })
}

/** 400 for a name that is already used. */
export function nameTaken(kind: string): ApiError {
  const message = `A ${kind} with this name already exists`
  return new ApiError('ApplicationError', message).because([{ path: ['name'], message, code: 'unique' }])
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

/** Runs a write. @throws its errors, with all positions */
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
const inRequest = (error: ApiError, toRequestPath: (path: Path) => Path): ApiError =>
  error.mistakes === null ? error : error.because(error.mistakes.map((one) => ({ ...one, path: toRequestPath(one.path.map(String)) })))

function locate(access: ContentAccess, type: ContentType, data: Body, error: ApiError): ApiError {
  const { documents, grants } = access
  const { model } = documents.context
  const { situation } = error
  if (situation?.kind === 'targets' || situation?.kind === 'entries') {
    const given = findAttributes(model, type, data, [])
    const paths = situation.kind === 'targets' ? pathsOfTargets(given, situation) : pathsOfEntries(given, situation)
    return withMistakes(
      error,
      paths.map((path) => ({ path, message: error.message, code: 'notFound' })),
    )
  }
  if (error.mistakes?.some(({ path }) => path.length === 0) === true)
    return withMistakes(error, locateLinks(model, type, data, error.mistakes))
  if (error.details?.source !== 'body') return error
  const wrong = findWrongKeys(model, { grants, addedByHooks: new Set() }, type, data, error)
  return withMistakes(
    error,
    wrong.map((mistake) => (mayKnow(access, type, mistake.path) ? mistake : unknownAttribute(mistake))),
  )
}

function pathsOfTargets(given: readonly GivenAttribute[], { uid, named }: Extract<Situation, { kind: 'targets' }>): readonly Path[] {
  const ids = new Set(named.map(String))
  return given.filter(({ attribute, value }) => mayLeadTo(attribute, uid) && containsId(value, ids)).map(({ path }) => path)
}

function pathsOfEntries(
  given: readonly GivenAttribute[],
  { attribute: name, ids }: Extract<Situation, { kind: 'entries' }>,
): readonly Path[] {
  return given
    .filter(({ attribute }) => attribute.name === name)
    .flatMap(({ attribute, value, path }) => findEntries(attribute, value, path))
    .flatMap(({ entry, at }) => (ids.includes(Number(entry.id)) ? [at] : []))
}

/** The error about an attribute that is hidden from the administrator, as of one that does not exist. */
function unknownAttribute(mistake: InputMistake): InputMistake {
  const names = mistake.path.map(String).filter((step) => !/^\d+$/.test(step))
  const [name, above] = [names.at(-1), names.slice(0, -1)]
  return { ...mistake, code: 'unknown', message: `Invalid key ${name}${above.length === 0 ? '' : ` at ${above.join('.')}`}` }
}

/** The same errors, where one about links in the data as a whole is one for each attribute whose links name nothing. */
function locateLinks(model: Model, type: ContentType, data: Body, mistakes: readonly InputMistake[]): readonly InputMistake[] {
  const places = findAttributes(model, type, data, []).filter(
    ({ attribute, value }) => isLink(attribute) && !namesTargets(relationForm(value, attribute)),
  )
  return mistakes.flatMap((mistake) =>
    mistake.path.length > 0 || places.length === 0 ? [mistake] : places.map(({ path }) => ({ ...mistake, path })),
  )
}

const isLink = ({ kind }: Attribute): boolean => kind !== 'scalar' && kind !== 'component' && kind !== 'dynamiczone'

/** True if the administrator may read the attribute at a path of a document. */
export function mayKnow({ grants }: Pick<ContentAccess, 'grants'>, type: ContentType, path: InputMistake['path']): boolean {
  const attribute = type.attributes.get(String(path[0]))
  if (attribute?.kind === 'scalar' && attribute.system) return true
  let granted: AttributeGrants = grants.content.readable.get(type.uid) ?? noAttributes
  for (const name of path.map(String).filter((step) => !/^\d+$/.test(step))) {
    if (!isGranted(granted, name)) return false
    granted = grantedBelow(granted, name)
  }
  return true
}

function withMistakes(error: ApiError, found: readonly InputMistake[]): ApiError {
  const mistakes = found.length === 0 ? (error.mistakes ?? [{ path: [], message: error.message }]) : found.slice(0, maxErrors)
  const message = mistakes.length === 1 ? mistakes[0]!.message : `${mistakes.length} errors occurred`
  return error.reworded(message, {}).because(mistakes)
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
function findWrongKeys(model: Model, writer: WriteAccess, type: ContentType, data: Body, first: ApiError): readonly InputMistake[] {
  const found: InputMistake[] = []
  const left = structuredClone(data)
  let error: ApiError | null = first
  while (error !== null && found.length < maxErrors) {
    const { message, mistakes } = error
    const places = removeKey(left, error)
    if (places.length === 0) return found
    found.push(...places.map((path) => ({ ...mistakes?.[0], path, message })))
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
