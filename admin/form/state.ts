// The state of a form: what its parts share.
import { createErrorList, type ErrorList } from './errors.js'
import type { Conflict } from './merge.js'
import type { PatchTerms } from './patch.js'
import { isWithin, joinPath, lastPart, parentPath, splitPath, valueAt } from './paths.js'
import { createUndoHistory, type UndoHistory } from './undo.js'
import {
  attributesOf,
  type Entry,
  type FormAttribute,
  isEqual,
  isKeyed,
  keyOf,
  kindOf,
  type Shape,
  storedName,
  unfinishedText,
} from './values.js'

/** Listeners by path. */
export interface Listeners {
  add(path: string, listener: () => void): () => void
  /** Calls the listeners of a path, of its parents and of everything below. */
  call(path: string): void
}

function createListeners(): Listeners {
  const byPath = new Map<string, Set<() => void>>()
  return {
    add(path, listener) {
      const listeners = byPath.get(path) ?? new Set()
      byPath.set(path, listeners.add(listener))
      return () => {
        listeners.delete(listener)
        if (listeners.size === 0 && byPath.get(path) === listeners) byPath.delete(path)
      }
    },
    call(path) {
      for (const [at, listeners] of [...byPath])
        if (isWithin(at, path) || isWithin(path, at)) for (const listener of [...listeners]) listener()
    },
  }
}

/** The state of a form. Documents are replaced, never changed. */
export interface FormState {
  readonly shape: Shape
  base: Entry
  mine: Entry
  /** The document that a request under way, or one without a response, leads to. */
  sent: Entry | null
  edits: number
  readonly conflicts: Map<string, Conflict>
  /** Values that the server would not store, by path. */
  readonly refused: Map<string, unknown>
  /** Keys of entries that the page created, by component and id. */
  readonly keys: Map<string, string>
  /** Links that were loaded later, by path; null: not all are loaded. */
  readonly extensions: Map<string, { readonly links: readonly Entry[]; readonly isComplete: boolean }>
  readonly errors: ErrorList
  readonly undo: UndoHistory
  readonly listeners: Listeners
}

/** The initial state of a form. */
export interface FormStart {
  readonly shape: Shape
  readonly base: Entry
  readonly mine: Entry
  readonly sent?: Entry | null
  readonly keys?: Readonly<Record<string, string>>
  readonly conflicts?: readonly Conflict[]
  readonly partial?: readonly string[]
  readonly now?: () => number
  readonly edits?: number
}

/** Creates the state of a form. */
export function createState({
  shape,
  base,
  mine,
  sent = null,
  keys = {},
  conflicts = [],
  partial = [],
  now = Date.now,
  edits = 0,
}: FormStart): FormState {
  const state: FormState = {
    shape,
    base,
    mine,
    sent,
    edits,
    conflicts: new Map(conflicts.map((conflict) => [conflict.path, conflict])),
    refused: new Map(),
    keys: new Map(Object.entries(keys)),
    extensions: new Map(partial.map((path) => [path, { links: [], isComplete: false }])),
    errors: createErrorList(() => state.mine),
    undo: createUndoHistory(now),
    listeners: createListeners(),
  }
  return state
}

/** The key of a stored entry: the one that the page gave it, or its name. */
export const keyFor =
  ({ keys }: FormState) =>
  (uid: string, id: number, isInZone: boolean): string =>
    keys.get(`${uid}#${id}`) ?? storedName(uid, id, isInZone)

/** The attribute at a path and the entry that has it; undefined for the path of an entry, or of nothing. */
function attributeAt(shape: Shape, root: Entry, path: string): FormAttribute | undefined {
  let attributes = shape.attributes
  let at: unknown = root
  let attribute: FormAttribute | undefined
  for (const part of splitPath(path)) {
    if (isKeyed(at) && attribute !== undefined) {
      at = at.find((item) => keyOf(item) === part)
      if (at === undefined) return undefined
      attributes = attributesOf(shape, attribute, at as Entry)
      attribute = undefined
    } else {
      if (attribute !== undefined) attributes = kindOf(attribute) === 'component' ? attributesOf(shape, attribute, (at ?? {}) as Entry) : {}
      attribute = attributes[part]
      at = (at as Entry | null | undefined)?.[part]
    }
  }
  return attribute
}

/** The uid of the component of an entry with a path. */
function componentAt(shape: Shape, root: Entry, path: string): string {
  const entry = valueAt(root, path) as Entry | undefined
  if (typeof entry?.__component === 'string') return entry.__component
  return attributeAt(shape, root, parentPath(path))?.component ?? ''
}

/** Notes the id that an entry has got; its key stays. */
export function noteId({ shape, keys }: FormState, root: Entry, path: string, id: number): void {
  const uid = componentAt(shape, root, path)
  const isInZone = (valueAt(root, path) as Entry | undefined)?.__component !== undefined
  if (lastPart(path) !== '' && storedName(uid, id, isInZone) !== lastPart(path)) keys.set(`${uid}#${id}`, lastPart(path))
}

/** The name of a stored entry in requests; null: its id is not known yet. */
export function nameAt({ keys, base }: FormState, path: string): string | null {
  const key = lastPart(path)
  const isInZone = (valueAt(base, path) as Entry | undefined)?.__component !== undefined
  for (const [name, given] of keys) if (given === key) return isInZone ? name : name.slice(name.indexOf('#'))
  return key.includes('#') ? key : null
}

/** The terms of patches of a form. */
export const patchTerms = (state: FormState, retriesRefused: boolean): PatchTerms => ({
  shape: state.shape,
  nameOf: (path) => nameAt(state, path),
  isHeld: (path) =>
    state.conflicts.has(path) || unfinishedText(valueAt(state.mine, path)) !== undefined || (!retriesRefused && isRefused(state, path)),
  isPartial: (path) => state.extensions.get(path)?.isComplete === false,
})

/** True if the server has refused the present value. */
export const isRefused = ({ refused, mine }: FormState, path: string): boolean =>
  refused.has(path) && isEqual(refused.get(path), valueAt(mine, path))

/** Paths of all entries of lists in a document, with their lists' positions. */
export function entryPaths(value: unknown, path = ''): readonly string[] {
  if (isKeyed(value)) {
    return value.flatMap((item) => {
      const at = joinPath(path, keyOf(item)!)
      return keyOf(item)!.startsWith('@') ? [] : [at, ...entryPaths(item, at)]
    })
  }
  if (keyOf(value) === undefined || keyOf(value)!.startsWith('@')) return []
  return Object.entries(value as Entry).flatMap(([name, inner]) => entryPaths(inner, joinPath(path, name)))
}
