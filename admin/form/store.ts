// The form of one document: values by path with listeners, errors and conflicts; see editing.ts for changes, storing.ts for the server.
import { createEditing, type Editing, isChangedAt, myChanges } from './editing.js'
import type { ErrorSource, FieldError } from './errors.js'
import type { Conflict } from './merge.js'
import { isWithin, valueAt } from './paths.js'
import { createState, type FormStart, type FormState, isRefused } from './state.js'
import { createStoring, mapConflicts, type StoredForm, type Storing } from './storing.js'
import { type Entry, readDocument, type Shape, unpack } from './values.js'

/** The form of a document. */
export interface DocumentStore extends Editing, Storing {
  readonly shape: Shape
  get(path: string): unknown
  /** The stored value. */
  baseAt(path: string): unknown
  /** Calls a listener after changes at, above or below a path. Returns the end of it. */
  subscribe(path: string, listener: () => void): () => void
  /** True if the value at the path differs from the stored one. */
  isChanged(path?: string): boolean
  /** Paths of values that differ from the stored ones. */
  changes(): readonly string[]
  /** Number of changes by the editor so far. */
  readonly edits: number
  errors(path: string): readonly FieldError[]
  /** Number of errors and conflicts at and below a path. */
  errorCount(path: string): number
  /** All errors in the order of the document. */
  allErrors(): readonly FieldError[]
  setErrors(source: ErrorSource, errors: readonly FieldError[], path?: string): void
  /** True if the server has refused to store the present value. */
  isRefused(path: string): boolean
  conflict(path: string): Conflict | undefined
  conflicts(): readonly Conflict[]
  readonly canUndo: boolean
  readonly canRedo: boolean
}

/** The origin of a form. */
export interface DocumentStoreOptions {
  readonly shape: Shape
  /** The draft in a response; empty for a new document. */
  readonly data: Entry
  /** Paths of relations with more links than the response has. */
  readonly partial?: readonly string[]
  readonly now?: () => number
}

/** Creates the form of a document. */
export function createDocumentStore({ shape, data, ...options }: DocumentStoreOptions): DocumentStore {
  const base = readDocument(shape, data)
  return createForm({ shape, base, mine: base, ...options })
}

/** Creates the form of a stored copy. It counts as edited: a new document is copied again and saved. */
export function restoreDocumentStore(stored: StoredForm, options: Omit<DocumentStoreOptions, 'data'>): DocumentStore {
  const { base, mine, sent, keys, conflicts = [] } = stored
  const read = (packed: unknown) => unpack(packed) as Entry
  return createForm({
    ...{ base: read(base), mine: read(mine), sent: sent === null ? null : read(sent), keys },
    conflicts: mapConflicts(conflicts, unpack),
    edits: 1,
    ...options,
  })
}

/** Values that a new document begins with, as changes of its editor. */
export function createNewDocumentStore(shape: Shape, defaults: Entry, now?: () => number): DocumentStore {
  const form: FormStart = { shape, base: readDocument(shape, {}), mine: readDocument(shape, defaults) }
  return createForm(now === undefined ? form : { ...form, now })
}

function createForm(start: FormStart): DocumentStore {
  const state = createState(start)
  return {
    ...createEditing(state),
    ...createStoring(state),
    ...createReading(state),
    get sent() {
      return state.sent
    },
    get edits() {
      return state.edits
    },
    get canUndo() {
      return state.undo.canUndo
    },
    get canRedo() {
      return state.undo.canRedo
    },
  }
}

function createReading(state: FormState) {
  return {
    shape: state.shape,
    get: (path: string) => valueAt(state.mine, path),
    baseAt: (path: string) => valueAt(state.base, path),
    subscribe: (path: string, listener: () => void) => state.listeners.add(path, listener),
    isChanged: (path = '') => isChangedAt(state, path),
    changes: () => myChanges(state),
    errors: (path: string) => state.errors.at(path),
    errorCount: (path: string) => state.errors.count(path) + countConflicts(state, path),
    allErrors: () => state.errors.all(),
    setErrors: (source: ErrorSource, errors: readonly FieldError[], path = '') => {
      state.errors.replace(source, errors, path)
      state.listeners.call(path)
    },
    isRefused: (path: string) => isRefused(state, path),
    conflict: (path: string) => state.conflicts.get(path),
    conflicts: () => [...state.conflicts.values()],
  }
}

const countConflicts = ({ conflicts }: FormState, above: string): number =>
  [...conflicts.keys()].filter((path) => isWithin(path, above)).length
