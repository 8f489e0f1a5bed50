// Undo and redo of changes across fields, one step for each pause of typing.
import { merge } from './merge.js'
import { leadsSomewhere, valueAt, withValueAt } from './paths.js'
import { type Entry, isEqual } from './values.js'

/** A change of one value. */
export interface Change {
  readonly path: string
  readonly before: unknown
  readonly after: unknown
}

interface Step {
  readonly changes: readonly Change[]
  readonly time: number
  /** True if a change of the same value may join the step. */
  readonly isTyping: boolean
}

/** Changes that can be undone. */
export interface UndoHistory {
  /** Records changes that were made together. */
  record(changes: readonly Change[], isTyping: boolean): void
  /** Ends the step of typing: the next change starts another one. */
  pause(): void
  /** The document without the last step, and the path of the change; null: there is none that can be undone. */
  undo(document: Entry): Undone | null
  redo(document: Entry): Undone | null
  clear(): void
  readonly canUndo: boolean
  readonly canRedo: boolean
}

/** A document after undo or redo. */
export interface Undone {
  readonly document: Entry
  readonly paths: readonly string[]
}

const maxSteps = 100
/** Longest pause between two keys of one step, in milliseconds. */
const typingPause = 1_000

/** Creates an empty history. `now` is a clock in milliseconds. */
export function createUndoHistory(now: () => number): UndoHistory {
  let done: Step[] = []
  let undone: Step[] = []

  const turn = (from: Step[], to: Step[], document: Entry, forwards: boolean): Undone | null => {
    for (let step = from.pop(); step !== undefined; step = from.pop()) {
      const applied = applyStep(document, step, forwards)
      if (applied === null) continue
      to.push(step)
      return applied
    }
    return null
  }

  return {
    record(changes, isTyping) {
      const time = now()
      const last = done.at(-1)
      const [change] = changes
      undone = []
      if (isTyping && last?.isTyping === true && time - last.time <= typingPause && last.changes[0]!.path === change?.path) {
        done[done.length - 1] = { changes: [{ ...change, before: last.changes[0]!.before }], time, isTyping }
        return
      }
      done.push({ changes, time, isTyping })
      if (done.length > maxSteps) done = done.slice(-maxSteps)
    },
    pause() {
      const last = done.at(-1)
      if (last !== undefined) done[done.length - 1] = { ...last, isTyping: false }
    },
    clear() {
      done = []
      undone = []
    },
    undo: (document) => turn(done, undone, document, false),
    redo: (document) => turn(undone, done, document, true),
    get canUndo() {
      return done.length > 0
    },
    get canRedo() {
      return undone.length > 0
    },
  }
}

/**
 * Applies a step to the present document. Values that others have replaced stay as they are. Null: the step changes nothing.
 */
function applyStep(document: Entry, { changes }: Step, forwards: boolean): Undone | null {
  const paths: string[] = []
  let at = document
  for (const change of forwards ? changes : changes.toReversed()) {
    const [from, to] = forwards ? [change.before, change.after] : [change.after, change.before]
    if (change.path !== '' && !leadsSomewhere(at, change.path)) continue
    const present = valueAt(at, change.path)
    const { value, conflicts } = isEqual(present, from) ? { value: to, conflicts: [] } : merge(from, to, present)
    if (conflicts.length > 0 || isEqual(value, present)) continue
    at = withValueAt(at, change.path, value ?? null) as Entry
    paths.push(change.path)
  }
  return paths.length === 0 ? null : { document: at, paths }
}
