// Changes of a form by its editor: values, entries of lists, decisions of conflicts, undo and redo.
import { type ChangedBy, type Conflict, changedPaths } from './merge.js'
import { indexOfKey, lastPart, leadsSomewhere, parentPath, valueAt, withValueAt } from './paths.js'
import type { FormState } from './state.js'
import type { Change, Undone } from './undo.js'
import { type Entry, isEqual, isKeyed, keyOf } from './values.js'

/** Options of a change. */
export interface ChangeOptions {
  /** Joins the changes of one pause of typing in one step of undo. Default: for texts. */
  readonly isTyping?: boolean
}

/** Changes by the editor. Paths that lead nowhere change nothing. */
export interface Editing {
  set(path: string, value: unknown, options?: ChangeOptions): void
  /** Sets several values as one step of undo. */
  setAll(values: Readonly<Record<string, unknown>>): void
  insert(list: string, entry: Entry, index: number): void
  remove(path: string): void
  /** Moves an item to a position of its list. */
  move(path: string, index: number): void
  /** Takes one side of a conflict. */
  decide(path: string, side: 'mine' | 'theirs'): void
  /** Returns the paths that have changed; null: nothing can be undone. */
  undo(): readonly string[] | null
  redo(): readonly string[] | null
  /** Records values that the server replaced in an earlier document as one undo step. */
  noteReplaced(before: Entry, paths: readonly string[]): void
  /** Ends a step of typing. */
  pause(): void
}

/** Makes my document another one, as one step of undo. */
function change(state: FormState, changes: readonly Change[], isTyping: boolean): void {
  const real = changes.filter(({ path, before, after }) => before !== after && (path === '' || leadsSomewhere(state.mine, path)))
  if (real.length === 0) return
  const before = state.mine
  state.mine = real.reduce<Entry>((at, { path, after }) => withValueAt(at, path, after) as Entry, state.mine)
  state.undo.record(real, isTyping)
  announce(
    state,
    real.map(({ path }) => path),
    before,
  )
}

function announce(state: FormState, paths: readonly string[], before: Entry): void {
  state.edits += 1
  for (const path of paths) state.errors.changed(path, before)
  for (const path of paths) state.listeners.call(path)
}

const isText = (value: unknown) => typeof value === 'string' || value === null || value === undefined

/** The functions that change a form. */
export function createEditing(state: FormState): Editing {
  const changeTo = (path: string, after: unknown): Change => ({ path, before: valueAt(state.mine, path), after })
  const changeList = (path: string, edit: (list: readonly Entry[]) => readonly Entry[]): void => {
    const list = valueAt(state.mine, path)
    change(state, [changeTo(path, edit(isKeyed(list) ? list : []))], false)
  }
  const turn = (undone: Undone | null): readonly string[] | null => {
    if (undone === null) return null
    const before = state.mine
    state.mine = undone.document
    announce(state, undone.paths, before)
    return undone.paths
  }
  return {
    set(path, value, { isTyping } = {}) {
      const given = changeTo(path, value)
      change(state, [given], isTyping ?? (typeof value === 'string' && isText(given.before)))
    },
    setAll(values) {
      const changes = Object.entries(values).map(([path, value]) => changeTo(path, value))
      change(state, changes, false)
    },
    insert: (list, entry, index) => changeList(list, (items) => items.toSpliced(Math.max(0, index), 0, entry)),
    remove: (path) => changeList(parentPath(path), (items) => items.filter((item) => keyOf(item) !== lastPart(path))),
    move: (path, index) =>
      changeList(parentPath(path), (items) => {
        const from = indexOfKey(items, lastPart(path))
        return from < 0 || from === index ? items : items.toSpliced(from, 1).toSpliced(index, 0, items[from]!)
      }),
    decide(path, side) {
      const conflict = state.conflicts.get(path)
      if (conflict === undefined) return
      const before = state.mine
      state.conflicts.delete(path)
      decideValue(state, conflict, side)
      announce(state, [path], before)
    },
    undo: () => turn(state.undo.undo(state.mine)),
    redo: () => turn(state.undo.redo(state.mine)),
    noteReplaced(before, paths) {
      const changes = paths.map((path) => ({ path, before: valueAt(before, path), after: valueAt(state.mine, path) }))
      change(state, changes, false)
    },
    pause: () => state.undo.pause(),
  }
}

function decideValue(state: FormState, { path, mine, theirs }: Conflict, side: 'mine' | 'theirs'): void {
  const wanted = side === 'theirs' ? theirs : mine === undefined ? undefined : valueAt(state.mine, path)
  const before = valueAt(state.mine, path)
  if (isEqual(before, wanted) && wanted !== undefined) return
  const list = valueAt(state.mine, parentPath(path))
  const isItem = isKeyed(list) && path !== ''
  // An item is undone with its list: without it, its path leads nowhere.
  const at = isItem && wanted === undefined ? parentPath(path) : path
  const next = withValueAt(state.mine, path, isItem ? wanted : (wanted ?? null)) as Entry
  state.undo.record([{ path: at, before: valueAt(state.mine, at), after: valueAt(next, at) }], false)
  state.mine = next
}

/** The conflicts after a merge: those that remain open, and the new ones. */
export function openConflicts(state: FormState, theirs: Entry, found: readonly Conflict[], by?: ChangedBy): readonly Conflict[] {
  const named = by === undefined ? {} : { by }
  const open = [...state.conflicts.values()].flatMap((conflict): readonly Conflict[] => {
    if (found.some(({ path }) => path === conflict.path)) return []
    const present = valueAt(theirs, conflict.path)
    if (conflict.mine === undefined) return present === undefined ? [] : [{ ...conflict, theirs: present }]
    if (!leadsSomewhere(state.mine, conflict.path)) return []
    if (isEqual(valueAt(state.mine, conflict.path), present)) return []
    return [isEqual(conflict.theirs, present) ? conflict : { ...conflict, theirs: present, ...named }]
  })
  return [...open, ...found.map((conflict) => ({ ...conflict, ...named }))]
}

/** Paths of my changes. */
export const myChanges = ({ base, mine }: FormState): readonly string[] => changedPaths(base, mine)

/** True if something is different from the stored document, at or below a path. */
export const isChangedAt = ({ base, mine }: FormState, path: string): boolean => !isEqual(valueAt(base, path), valueAt(mine, path))
