// Changes of which the valid part is stored: values that the service refuses are left out, and the others are tried again.

import type { Body } from '../../content/documents/input/types.js'
import { ApiError, mistakenInput } from '../../foundation/errors/errors.js'
import type { InputMistake } from '../../foundation/errors/issues.js'
import type { Model, Schema } from '../../model/schema/types.js'
import { isObject } from '../../query/request.js'
import { type DocumentChanges, isNothing, type ListOperation, operationName, type RequestPath } from './document-changes.js'

/** Attempts for one request. Each finds all errors of a kind: of paths, keys, values, links or rights. */
const maxAttempts = 20
/** Errors of all attempts of one request: leaving out each one takes time that depends on the size of the request. */
const maxErrors = 100

/** An attempt to store changes. `note` is called with the path of the attribute at the path of each error. @throws ApiError */
export type Attempt = (changes: DocumentChanges, note: (path: RequestPath, attribute: RequestPath) => void) => Promise<void>

/**
 * Stores what can be stored. Returns the errors of the rest.
 * @throws ApiError if nothing can be stored, there are too many errors, or one is about no value
 */
export async function storeLeniently(given: DocumentChanges, attempt: Attempt): Promise<readonly InputMistake[]> {
  const refused: InputMistake[] = []
  let left = given
  let errors = 0
  for (let attempts = 1; ; attempts++) {
    const attributes = new Map<string, RequestPath>()
    try {
      await attempt(left, (path, attribute) => void attributes.set(path.join('/'), attribute))
      return refused
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 400 || error.mistakes === null || attempts === maxAttempts) throw error
      errors += error.mistakes.length
      if (errors > maxErrors) throw error
      const before = left
      for (const mistake of error.mistakes) {
        const path = mistake.path.map(String)
        const rest = leaveOut(left, { ...mistake, path: attributes.get(path.join('/')) ?? path })
        refused.push(...(rest.paths ?? [path]).map((one) => ({ ...mistake, path: one })))
        left = rest.left
      }
      if (left === before) throw error
      if (isNothing(left)) throw mistakenInput(refused)
    }
  }
}

const isAtOrBelow = (path: RequestPath, above: RequestPath): boolean =>
  above.length <= path.length && above.every((name, index) => name === path[index])

/** The changes without those that an error is about. */
interface LeftChanges {
  readonly left: DocumentChanges
  /** The changes and operations that were left out; absent: the one at the path of the error. */
  readonly paths?: readonly RequestPath[]
}

type LocatedMistake = InputMistake & { readonly path: RequestPath }

/** Leaves out a change, an operation, or one attribute of a new entry. An error above several changes is about all of them. */
function leaveOut(given: DocumentChanges, mistake: LocatedMistake): LeftChanges {
  const { path } = mistake
  const left = leaveOutValue(given, path) ?? leaveOutOperation(given, path)
  return left === null ? leaveOutBelow(given, mistake) : { left }
}

function leaveOutValue({ changes, lists }: DocumentChanges, path: RequestPath): DocumentChanges | null {
  const prefixes = path.map((_, index) => path.slice(0, path.length - index).join('/'))
  const found = prefixes.find((key) => Object.hasOwn(changes, key))
  if (found === undefined) return null
  const { [found]: value, ...others } = changes
  const kept = withoutMember(value, path.slice(found.split('/').length))
  return { changes: kept === null ? others : { ...others, [found]: kept.value }, lists }
}

function leaveOutOperation({ changes, lists }: DocumentChanges, path: RequestPath): DocumentChanges | null {
  for (const [key, operations] of Object.entries(lists)) {
    const { length } = key.split('/')
    const isMeant = (operation: ListOperation) => operationName(operation) === path[length]
    if (!isAtOrBelow(path, key.split('/')) || !operations.some(isMeant)) continue
    const kept = operations.flatMap((operation) => {
      if (!isMeant(operation)) return [operation]
      const inner = 'insert' in operation ? withoutMember(operation.insert, path.slice(length + 1)) : null
      return inner === null ? [] : [{ ...operation, insert: inner.value as Body } as ListOperation]
    })
    return { changes, lists: { ...lists, [key]: kept } }
  }
  return null
}

function leaveOutBelow(given: DocumentChanges, { path, code }: LocatedMistake): LeftChanges {
  const { changes, lists } = given
  if (path.length === 0) return { left: given }
  const own = lists[path.join('/')] ?? []
  const causes = own.filter((operation) => mayCause(operation, code))
  const gone = new Set(causes.length > 0 ? causes : own)
  const isBelow = (key: string) => gone.size === 0 && isAtOrBelow(key.split('/'), path)
  const paths: RequestPath[] = []
  const leftLists = Object.entries(lists).map(([key, operations]) => {
    const isAllGone = isBelow(key)
    const isGone = (operation: ListOperation) => isAllGone || gone.has(operation)
    for (const operation of operations) if (isGone(operation)) paths.push([...key.split('/'), operationName(operation)])
    return [key, operations.filter((operation) => !isGone(operation))] as const
  })
  const leftChanges = Object.entries(changes).filter(([key]) => {
    if (isBelow(key)) paths.push(key.split('/'))
    return !isBelow(key)
  })
  if (paths.length === 0) return { left: given }
  return { left: { changes: Object.fromEntries(leftChanges), lists: Object.fromEntries(leftLists) }, paths }
}

/** True if an operation may have caused an error of its list: a removal is not permitted, or the list is too long. */
const mayCause = (operation: ListOperation, code: InputMistake['code']): boolean =>
  code === 'forbidden' ? 'remove' in operation : code === 'maxItems' && 'insert' in operation

/** A value without one of its members, at any depth; null: it has no such member. Entries of lists are no members. */
function withoutMember(value: unknown, [name, ...rest]: RequestPath): { readonly value: unknown } | null {
  if (name === undefined || typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return null
  const members = value as Readonly<Record<string, unknown>>
  if (rest.length === 0) {
    const { [name]: _, ...others } = members
    return Array.isArray(value) ? null : { value: others }
  }
  const inner = withoutMember(members[name], rest)
  if (inner === null) return null
  return { value: Array.isArray(value) ? value.with(Number(name), inner.value) : { ...members, [name]: inner.value } }
}

/** The path of the attribute, or of the entry, to which the value at a path of the data belongs: it ends before paths inside of values. */
export function toAttributePath(model: Model, type: Schema, data: Body, path: RequestPath): RequestPath {
  let shape = type
  let entry: unknown = data
  let at = 0
  while (at < path.length) {
    const name = path[at]!
    const attribute = shape.attributes.get(name)
    if (attribute?.kind !== 'component' && attribute?.kind !== 'dynamiczone') return path.slice(0, name === '__component' ? at : at + 1)
    const value = isObject(entry) ? entry[name] : undefined
    const isList = Array.isArray(value)
    entry = isList ? value[Number(path[at + 1])] : value
    at += isList ? 2 : 1
    const uid = attribute.kind === 'component' ? attribute.component : isObject(entry) ? String(entry.__component) : ''
    const component = model.components.get(uid)
    if (component === undefined) return path.slice(0, at)
    shape = component
  }
  return path
}
