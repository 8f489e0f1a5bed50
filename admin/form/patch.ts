// The body of a PATCH: what differs between the stored document and mine, with operations on lists by the names of their entries.
import { compareOrders } from './order.js'
import { joinPath, valueAt, withValueAt } from './paths.js'
import {
  attributesOf,
  type Entry,
  type FormAttribute,
  type FormAttributes,
  isEqual,
  isKeyed,
  keyOf,
  kindOf,
  type Shape,
  type ValueKind,
} from './values.js'

/** An operation on a list of components or a dynamic zone. */
export type ListOperation =
  | { readonly insert: Entry; readonly key: string; readonly after?: string; readonly at?: 'start' }
  | { readonly move: string; readonly after?: string; readonly at?: 'start' }
  | { readonly remove: string }

/** The body of a PATCH. */
export interface PatchBody {
  readonly changes: Readonly<Record<string, unknown>>
  readonly lists: Readonly<Record<string, readonly ListOperation[]>>
}

/** A PATCH, and the document that it leads to. */
export interface Patch {
  readonly body: PatchBody
  /** The stored document after the request. */
  readonly next: Entry
  /** Paths of inserted entries by the names that the request gives them. */
  readonly inserted: ReadonlyMap<string, string>
}

/** Knowledge of a patch apart from the two documents. */
export interface PatchTerms {
  readonly shape: Shape
  /** The name of a stored entry; null: unknown, its position counts. */
  nameOf(path: string): string | null
  /** True for values that are not sent: conflicts, and values that the server refuses. */
  isHeld(path: string): boolean
  /** True for relations whose links are not all loaded. */
  isPartial(path: string): boolean
}

export const isEmptyPatch = ({ body }: Patch): boolean => Object.keys(body.changes).length + Object.keys(body.lists).length === 0

interface Patching {
  readonly terms: PatchTerms
  readonly changes: Record<string, unknown>
  readonly lists: Record<string, readonly ListOperation[]>
  readonly inserted: Map<string, string>
}

/** A position: the path in the form, and the one in the request. */
interface Position {
  readonly path: string
  readonly name: string
}

const below = ({ path, name }: Position, part: string, named = part): Position => ({
  path: joinPath(path, part),
  name: joinPath(name, named),
})

/** The difference of two documents as a request. */
export function buildPatch(base: Entry, mine: Entry, terms: PatchTerms): Patch {
  const patching: Patching = { terms, changes: {}, lists: {}, inserted: new Map() }
  const next = patchEntry(patching, terms.shape.attributes, base, mine, { path: '', name: '' })
  return { body: { changes: patching.changes, lists: patching.lists }, next, inserted: patching.inserted }
}

/** The values of a new document, without those that are held. */
export function buildDocument(mine: Entry, terms: PatchTerms): { readonly data: Entry; readonly next: Entry } {
  const next = withoutHeld(mine, terms, '') as Entry
  return { data: toData(terms.shape, terms.shape.attributes, next), next }
}

function patchEntry(patching: Patching, attributes: FormAttributes, base: Entry, mine: Entry, at: Position): Entry {
  const changed = Object.entries(attributes).flatMap(([name, attribute]) => {
    if (!Object.hasOwn(mine, name) || isEqual(base[name], mine[name])) return []
    return [[name, patchValue(patching, attribute, base[name], mine[name], below(at, name))] as const]
  })
  return changed.length === 0 ? base : { ...base, ...Object.fromEntries(changed) }
}

function patchValue(patching: Patching, attribute: FormAttribute, base: unknown, mine: unknown, at: Position): unknown {
  const { terms, changes } = patching
  if (terms.isHeld(at.path)) return base
  const kind = kindOf(attribute)
  if ((kind === 'list' || kind === 'zone') && isKeyed(mine)) return patchList(patching, attribute, isKeyed(base) ? base : [], mine, at)
  if (kind === 'component' && keyOf(base) !== undefined && keyOf(mine) !== undefined)
    return patchEntry(patching, attributesOf(terms.shape, attribute, mine as Entry), base as Entry, mine as Entry, at)
  const allowed = withoutHeld(mine, terms, at.path)
  if (kind === 'links' && isKeyed(allowed)) changes[at.name] = linkChanges(isKeyed(base) ? base : [], allowed, terms.isPartial(at.path))
  else changes[at.name] = valueData(terms.shape, attribute, kind, allowed)
  return allowed
}

function patchList(
  patching: Patching,
  attribute: FormAttribute,
  base: readonly Entry[],
  given: readonly Entry[],
  at: Position,
): readonly Entry[] {
  const { terms } = patching
  const keys = base.map((item) => keyOf(item)!)
  const stored = new Map(base.map((item) => [keyOf(item)!, item]))
  // Entries that wait for a decision keep the state of the base.
  const mine = given.filter((item) => stored.has(keyOf(item)!) || !terms.isHeld(joinPath(at.path, keyOf(item)!)))
  const nameOfStored = (key: string) => terms.nameOf(joinPath(at.path, key)) ?? String(keys.indexOf(key))
  const names = new Map<string, string>()
  const nameOf = (key: string) => names.get(key) ?? nameOfStored(key)
  const changes = compareOrders(
    keys,
    mine.map((item) => keyOf(item)!),
  )
  const byKey = new Map(mine.map((item) => [keyOf(item)!, item]))
  const operations: ListOperation[] = changes.removed.map((key) => ({ remove: nameOfStored(key) }))
  const inserted = new Map<string, Entry>()
  for (const { key, after, isNew } of changes.placed) {
    const position = after === null ? ({ at: 'start' } as const) : { after: nameOf(after) }
    if (isNew) {
      const name = `k${patching.inserted.size}`
      names.set(key, name)
      patching.inserted.set(name, joinPath(at.path, key))
      const entry = withoutHeld(byKey.get(key)!, terms, joinPath(at.path, key)) as Entry
      inserted.set(key, entry)
      operations.push({ insert: toData(terms.shape, attributesOf(terms.shape, attribute, entry), entry), key: name, ...position })
    } else operations.push({ move: nameOf(key), ...position })
  }
  if (operations.length > 0) patching.lists[at.name] = operations
  return mine.map((item) => {
    const key = keyOf(item)!
    const before = stored.get(key)
    if (before === undefined) return inserted.get(key)!
    if (terms.isHeld(joinPath(at.path, key)) || isEqual(before, item)) return before
    return patchEntry(patching, attributesOf(terms.shape, attribute, item), before, item, below(at, key, nameOfStored(key)))
  })
}

/** The value without the held values below its path. */
function withoutHeld(value: unknown, terms: PatchTerms, path: string): unknown {
  if (isKeyed(value)) {
    const items = value.filter((item) => !terms.isHeld(joinPath(path, keyOf(item)!)))
    return items.map((item) => withoutHeld(item, terms, joinPath(path, keyOf(item)!)))
  }
  if (keyOf(value) === undefined || keyOf(value)!.startsWith('@')) return value
  const entry = value as Entry
  const held = Object.keys(entry).filter((name) => terms.isHeld(joinPath(path, name)))
  const members = Object.keys(entry).flatMap((name) =>
    held.includes(name) ? [] : [[name, withoutHeld(entry[name], terms, joinPath(path, name))]],
  )
  const copy: Record<string, unknown> = { ...entry, ...Object.fromEntries(members) }
  for (const name of held) delete copy[name]
  return copy
}

const linkData = (link: Entry): Entry => ({
  documentId: link.documentId,
  ...(typeof link.locale === 'string' ? { locale: link.locale } : {}),
  ...typeOf(link),
})

/** The type of a link of a polymorphic relation. */
const typeOf = ({ __type: type }: Entry): Entry => (typeof type === 'string' ? { __type: type } : {})

function linkChanges(base: readonly Entry[], mine: readonly Entry[], isPartial: boolean): Entry {
  const before = new Map(base.map((link) => [keyOf(link)!, link]))
  const links = new Map(mine.map((link) => [keyOf(link)!, link]))
  const { removed, placed } = compareOrders([...before.keys()], [...links.keys()])
  // Links that are not loaded follow the last loaded one.
  const order = [...links.keys()]
  const lastStored = order.findLastIndex((key) => before.has(key))
  const connect = placed.map(({ key, after, isNew }) => {
    const isLast = isPartial && isNew && order.indexOf(key) > lastStored
    const position = isLast
      ? { end: true }
      : after === null
        ? { start: true }
        : { after: links.get(after)!.documentId, ...typeOf(links.get(after)!) }
    return { ...linkData(links.get(key)!), position }
  })
  return {
    ...(removed.length > 0 ? { disconnect: removed.map((key) => linkData(before.get(key)!)) } : {}),
    ...(connect.length > 0 ? { connect } : {}),
  }
}

function valueData(shape: Shape, attribute: FormAttribute, kind: ValueKind, value: unknown): unknown {
  if (kind === 'value' || value === null || value === undefined) return value ?? null
  if (kind === 'files') return (value as readonly Entry[]).map(({ id }) => id)
  if (kind === 'file') return (value as Entry).id
  if (kind === 'link') return { set: [linkData(value as Entry)] }
  if (kind === 'links') return { set: (value as readonly Entry[]).map(linkData) }
  const entryData = (entry: Entry): Entry => toData(shape, attributesOf(shape, attribute, entry), entry)
  return kind === 'component' ? entryData(value as Entry) : (value as readonly Entry[]).map(entryData)
}

/** An entry in the form of a request body: components without ids, links and files by their ids. */
export function toData(shape: Shape, attributes: FormAttributes, entry: Entry): Entry {
  const members = Object.entries(attributes).filter(([name]) => Object.hasOwn(entry, name) && entry[name] !== undefined)
  const data = members.map(([name, attribute]) => [name, valueData(shape, attribute, kindOf(attribute), entry[name])])
  return { ...(entry.__component === undefined ? {} : { __component: entry.__component }), ...Object.fromEntries(data) }
}

/** The stored document if the server has refused some of the values: these are as before. */
export function withoutRefused(next: Entry, base: Entry, refused: readonly string[]): Entry {
  return refused.reduce<Entry>((at, path) => withValueAt(at, path, valueAt(base, path)) as Entry, next)
}
