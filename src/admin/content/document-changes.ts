// Changes of a draft, by paths and by operations on lists of components, as the data of an update.

import { isExtraKey } from '../../content/documents/input/keys.js'
import type { Body } from '../../content/documents/input/types.js'
import type { InputMistake, IssueCode } from '../../foundation/errors/issues.js'
import { type AttributeGrants, grantedBelow, isGranted } from '../../foundation/grants.js'
import type { ComponentAttribute, DynamicZone, Model, Schema } from '../../model/schema/types.js'
import { isObject } from '../../query/request.js'

/** The position of an entry: next to another one, or at an end of its list. */
interface ListPosition {
  readonly before?: string | undefined
  readonly after?: string | undefined
  readonly at?: 'start' | 'end' | undefined
}

/** Inserts an entry; `key` names it in the request and in the response. */
type InsertOperation = ListPosition & { readonly insert: Body; readonly key: string }
type MoveOperation = ListPosition & { readonly move: string }
type RemoveOperation = { readonly remove: string }

/** An operation on a repeatable component or dynamic zone. */
export type ListOperation = InsertOperation | MoveOperation | RemoveOperation

/** Changes of a draft by paths such as `title`, `seo/metaTitle`, `links/#12/metaTitle` and `sections/block.text#3/heading`. */
export interface DocumentChanges {
  readonly changes: Readonly<Record<string, unknown>>
  /** Operations by the path of their list, in their order. */
  readonly lists: Readonly<Record<string, readonly ListOperation[]>>
}

export type RequestPath = readonly string[]

/** The shape of entries, and what the administrator can read of them. */
interface ChangeScope {
  readonly model: Model
  readonly shape: Schema
  readonly readable: AttributeGrants
}

/** The data of an update. */
interface ChangedData {
  readonly data: Body
  /** Invalid and overlapping paths, and invalid operations. With any, the data is incomplete. */
  readonly mistakes: readonly InputMistake[]
  /** The path in the request of a value in the data: entries have the name by which the request addresses them. */
  toRequestPath(path: RequestPath): RequestPath
}

const maxDepth = 50

/** A tree of changes: a value, operations on a list, and changes below. */
interface ChangedNode {
  value?: { readonly set: unknown }
  operations?: readonly ListOperation[]
  readonly below: Map<string, ChangedNode>
}

/** The state of one conversion. */
interface Conversion {
  readonly mistakes: InputMistake[]
  /** Names of the entries of lists in the data. */
  readonly names: WeakMap<object, readonly string[]>
}

const localeHint = 'The locale is a parameter of the query, such as ?locale=en'

/** The message for a key that bodies may have without effect. */
export const extraKeyMessage = (shape: Schema, name: string): string =>
  name === 'locale' ? localeHint : `${shape.uid} has no attribute ${name} that can be given`

/** True if changes need the stored draft. */
export const needsDraft = ({ changes, lists }: DocumentChanges): boolean =>
  Object.keys(lists).length > 0 || Object.keys(changes).some((path) => path.includes('/'))

/** True if changes are about stored entries or components. */
export const namesStored = ({ changes, lists }: DocumentChanges): boolean =>
  [...Object.keys(changes), ...Object.keys(lists)].some((path) => path.includes('/')) ||
  Object.values(lists).some((operations) => operations.some((operation) => !('insert' in operation)))

export const isNothing = ({ changes, lists }: DocumentChanges): boolean =>
  Object.keys(changes).length === 0 && Object.values(lists).every((operations) => operations.length === 0)

/** The paths of changes, for the log of activity. */
export const changedPaths = ({ changes, lists }: DocumentChanges): readonly string[] => [
  ...new Set([...Object.keys(changes), ...Object.keys(lists)]),
]

/**
 * The data of an update with these changes. Components on the way keep their ids, and with them their other attributes.
 * `row`: the stored version with the ids of its components. Positions in lists refer to `row`.
 */
export function toData(scope: ChangeScope, given: DocumentChanges, row: Body): ChangedData {
  const conversion: Conversion = { mistakes: [], names: new WeakMap() }
  const data = toEntry(conversion, scope, toTree(conversion, given), row, [])
  return { data, mistakes: conversion.mistakes, toRequestPath: (path) => toNames(conversion, data, path) }
}

function toNames({ names }: Conversion, data: unknown, path: RequestPath): RequestPath {
  let at = data
  return path.map((part) => {
    const name = typeof at === 'object' && at !== null ? names.get(at)?.[Number(part)] : undefined
    at = typeof at === 'object' && at !== null && Object.hasOwn(at, part) ? (at as Body)[part] : undefined
    return name ?? part
  })
}

const noSuchPath = (path: RequestPath): InputMistake => ({ path, message: `The path ${path.join('/')} leads nowhere`, code: 'unknown' })
const overlappingPath = (path: RequestPath): InputMistake => ({
  path,
  message: `The path ${path.join('/')} is below another one`,
  code: 'conflict',
})

function toTree({ mistakes }: Conversion, { changes, lists }: DocumentChanges): ChangedNode {
  const root: ChangedNode = { below: new Map() }
  const nodeAt = (path: RequestPath): ChangedNode | null => {
    let at = root
    for (const name of path) {
      if (at.value !== undefined) return null
      const next: ChangedNode = at.below.get(name) ?? { below: new Map() }
      at.below.set(name, next)
      at = next
    }
    return at.value === undefined ? at : null
  }
  const add = (joined: string, apply: (node: ChangedNode) => boolean): void => {
    const path = joined.split('/')
    if (path.length > maxDepth || path.includes('')) mistakes.push(noSuchPath(path))
    else {
      const node = nodeAt(path)
      if (node === null || !apply(node)) mistakes.push(overlappingPath(path))
    }
  }
  for (const [path, operations] of Object.entries(lists)) {
    if (operations.length === 0) continue
    add(path, (node) => {
      node.operations = operations
      return true
    })
  }
  for (const [path, set] of Object.entries(changes)) {
    add(path, (node) => {
      if (node.below.size > 0 || node.operations !== undefined) return false
      node.value = { set }
      return true
    })
  }
  return root
}

function toEntry(conversion: Conversion, scope: ChangeScope, changed: ChangedNode, row: Body, above: RequestPath): Record<string, unknown> {
  return Object.fromEntries(
    [...changed.below].flatMap(([name, below]) => {
      const path = [...above, name]
      if (isExtraKey(scope.shape, name)) {
        conversion.mistakes.push(
          path.length === 1 && name === 'locale' ? { path, message: localeHint, code: 'forbidden' } : noSuchPath(path),
        )
        return []
      }
      return [[name, toValue(conversion, scope, below, { name, stored: row[name], path })] as const]
    }),
  )
}

interface ChangedPlace {
  readonly name: string
  readonly stored: unknown
  readonly path: RequestPath
}

function toValue(conversion: Conversion, scope: ChangeScope, changed: ChangedNode, { name, stored, path }: ChangedPlace): unknown {
  if (changed.value !== undefined) return changed.value.set
  const { model, shape, readable } = scope
  const attribute = shape.attributes.get(name)
  const refuse = (): undefined => void conversion.mistakes.push(noSuchPath(path))
  // The number of unreadable entries must not be revealed.
  if (!isGranted(readable, name) || (attribute?.kind !== 'component' && attribute?.kind !== 'dynamiczone')) return refuse()
  const inside: ChangeEntry = (entry, below, at) => {
    const component = model.components.get(attribute.kind === 'component' ? attribute.component : String(entry.__component))
    if (component === undefined) conversion.mistakes.push(noSuchPath(at))
    else {
      const place = { model, shape: component, readable: grantedBelow(readable, name) }
      return { ...keptEntry(attribute, entry), ...toEntry(conversion, place, below, entry, at) }
    }
    return {}
  }
  if (attribute.kind === 'dynamiczone' || attribute.repeatable) {
    const entries = Array.isArray(stored) ? (stored as readonly Body[]) : []
    return toList(conversion, { attribute, entries, path, inside }, changed)
  }
  return isObject(stored) && changed.operations === undefined ? inside(stored, changed, path) : refuse()
}

/** The data of a changed entry. */
type ChangeEntry = (entry: Body, below: ChangedNode, path: RequestPath) => Body

type ListAttribute = ComponentAttribute | DynamicZone

const keptEntry = ({ kind }: ListAttribute, entry: Body): Body => ({
  id: entry.id,
  ...(kind === 'dynamiczone' ? { __component: entry.__component } : {}),
})

interface ChangedList {
  readonly attribute: ListAttribute
  readonly entries: readonly Body[]
  readonly path: RequestPath
  readonly inside: ChangeEntry
}

/** Refuses an operation or a change of an entry. */
type Refuse = (name: string, code: IssueCode, message: string) => void

/** An entry of a list, stored or new, by its name. */
interface ListItem {
  readonly name: string
  readonly entry: Body
  readonly isNew: boolean
}

const position = /^(?:0|[1-9]\d{0,5})$/

/** The name of a stored entry: `#3`, and in a dynamic zone, where ids are those of several tables, `block.text#3`. */
const entryName = ({ kind }: ListAttribute, { id, __component }: Body): string =>
  `${kind === 'dynamiczone' ? String(__component) : ''}#${String(id)}`

function toList({ mistakes, names }: Conversion, list: ChangedList, changed: ChangedNode): readonly Body[] {
  const { attribute, entries, path, inside } = list
  const items = entries.map((entry): ListItem => ({ name: entryName(attribute, entry), entry, isNew: false }))
  const byName = new Map(items.map((item) => [item.name, item]))
  const find = (given: string) => (position.test(given) ? items[Number(given)] : byName.get(given))
  const refuse: Refuse = (name, code, message) => void mistakes.push({ path: [...path, name], message, code })
  const { order, removed } = applyOperations(changed.operations ?? [], items, find, refuse)
  const below = new Map<ListItem, readonly [string, ChangedNode]>()
  for (const [given, node] of changed.below) {
    const item = find(given)
    if (item === undefined || node.value !== undefined || node.operations !== undefined) mistakes.push(noSuchPath([...path, given]))
    else if (removed.has(item)) refuse(given, 'conflict', 'The same request removes the entry')
    else if (below.has(item)) refuse(given, 'duplicate', 'The same request names the entry in another way')
    else below.set(item, [given, node])
  }
  const data = order.map((item) => {
    const [given, node] = below.get(item) ?? []
    if (item.isNew) return item.entry
    return node === undefined ? keptEntry(attribute, item.entry) : inside(item.entry, node, [...path, given!])
  })
  names.set(
    data,
    order.map((item) => below.get(item)?.[0] ?? item.name),
  )
  return data
}

/** The name or key of the entry of an operation. */
export const operationName = (operation: ListOperation): string =>
  'insert' in operation ? operation.key : 'move' in operation ? operation.move : operation.remove

/** Applies operations in their order. Positions next to new entries name their keys. */
function applyOperations(
  operations: readonly ListOperation[],
  items: readonly ListItem[],
  find: (name: string) => ListItem | undefined,
  refuse: Refuse,
): { readonly order: readonly ListItem[]; readonly removed: ReadonlySet<ListItem> } {
  const removed = new Set(operations.flatMap((operation) => ('remove' in operation ? (find(operation.remove) ?? []) : [])))
  const order = [...items]
  const inserted = new Map<string, ListItem>()
  const concerned = new Set<ListItem>()
  for (const operation of operations) {
    const name = operationName(operation)
    const isNew = 'insert' in operation
    const item = isNew ? { name, entry: operation.insert, isNew } : find(name)
    if (item === undefined) refuse(name, 'notFound', `The list has no entry ${name}`)
    else if (inserted.has(name)) refuse(name, 'duplicate', `The key ${name} appears twice`)
    else if (concerned.has(item)) refuse(name, 'conflict', 'The entry has two operations')
    else {
      concerned.add(item)
      const wanted = 'remove' in operation ? null : findPosition(operation, item, { find, inserted, removed })
      if (wanted !== null && 'code' in wanted) refuse(name, wanted.code, wanted.message)
      else {
        if (isNew) inserted.set(name, item)
        else order.splice(order.indexOf(item), 1)
        if (wanted !== null) order.splice(toIndex(wanted, order), 0, item)
      }
    }
  }
  return { order, removed }
}

/** An end of a list, or the neighbour of an entry. */
type FoundPosition = { readonly end: 'start' | 'end' } | { readonly neighbour: ListItem; readonly isBefore: boolean }

interface ListState {
  find(name: string): ListItem | undefined
  readonly inserted: ReadonlyMap<string, ListItem>
  readonly removed: ReadonlySet<ListItem>
}

const refused = (code: IssueCode, message: string) => ({ code, message })

/** The position of an entry, or the reason why it has none. */
function findPosition({ before, after, at, ...operation }: InsertOperation | MoveOperation, item: ListItem, list: ListState) {
  const given = [before, after, at].filter((one) => one !== undefined)
  if (given.length > 1 || (given.length === 0 && !('insert' in operation))) return refused('invalid', 'Name one of before, after and at')
  const name = before ?? after
  if (name === undefined) return { end: at ?? 'end' } satisfies FoundPosition
  const neighbour = list.inserted.get(name) ?? list.find(name)
  if (neighbour === undefined) return refused('notFound', `The list has no entry ${name}`)
  if (list.removed.has(neighbour)) return refused('conflict', `The same request removes the entry ${name}`)
  if (neighbour === item) return refused('conflict', 'An entry cannot be next to itself')
  return { neighbour, isBefore: before !== undefined } satisfies FoundPosition
}

function toIndex(wanted: FoundPosition, order: readonly ListItem[]): number {
  if ('end' in wanted) return wanted.end === 'start' ? 0 : order.length
  return order.indexOf(wanted.neighbour) + (wanted.isBefore ? 0 : 1)
}
