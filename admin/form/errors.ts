// Errors of values by path. Paths have keys of entries, so an error follows its item.
import { comparePaths, isWithin, leadsSomewhere, placePath, type ServerNames, valueAt } from './paths.js'
import { type Entry, isEqual } from './values.js'

/** The check that found an error: the page's own, the server when saving, or the check before a publication. */
export type ErrorSource = 'own' | 'refused' | 'publication'

/** An error of one value. */
export interface FieldError {
  readonly path: string
  readonly code: string
  readonly params: Readonly<Record<string, unknown>>
  /** The sentence of the server, for codes without one of the page. */
  readonly message: string
  readonly source: ErrorSource
}

/** An error in a response of the server. */
export interface ServerError {
  readonly path: readonly (string | number)[]
  readonly message: string
  readonly code?: string | undefined
  readonly params?: Readonly<Record<string, unknown>> | undefined
}

/** Errors of the server with paths of the form. Those without a position have the empty path. */
export function placeErrors(root: Entry, errors: readonly ServerError[], names: ServerNames, source: ErrorSource): readonly FieldError[] {
  return errors.map(({ path, message, code = 'invalid', params = {} }) => ({
    path: placePath(root, path, names),
    code,
    params,
    message,
    source,
  }))
}

/** Errors by path. */
export interface ErrorList {
  /** Replaces the errors of one source, at and below a path. */
  replace(source: ErrorSource, errors: readonly FieldError[], path?: string): void
  /** Removes what a change makes obsolete: errors at its path, and those of values below that are different. */
  changed(path: string, before: Entry): void
  at(path: string): readonly FieldError[]
  /** Number of errors at and below a path. */
  count(path: string): number
  /** All errors in the order of the document. */
  all(): readonly FieldError[]
}

const none: readonly FieldError[] = []

/** Creates an empty list. `root` is the present document: errors of removed entries are not counted, and return with them. */
export function createErrorList(root: () => Entry): ErrorList {
  let errors: readonly FieldError[] = []
  let byPath = new Map<string, readonly FieldError[]>()
  const assign = (next: readonly FieldError[]): void => {
    errors = next
    byPath = new Map()
    for (const error of next) byPath.set(error.path, [...(byPath.get(error.path) ?? none), error])
  }
  const present = (path: string) => path === '' || leadsSomewhere(root(), path)
  return {
    replace(source, found, path = '') {
      assign([...errors.filter((error) => error.source !== source || !isWithin(error.path, path)), ...found])
    },
    changed(path, before) {
      const isSame = (at: string) => !present(at) || !leadsSomewhere(before, at) || isEqual(valueAt(before, at), valueAt(root(), at))
      const left = errors.filter(
        (error) => error.source === 'own' || !isWithin(error.path, path) || (error.path !== path && isSame(error.path)),
      )
      if (left.length < errors.length) assign(left)
    },
    at: (path) => byPath.get(path) ?? none,
    count: (path) => errors.filter((error) => isWithin(error.path, path) && present(error.path)).length,
    all: () => errors.filter(({ path }) => present(path)).sort((one, other) => comparePaths(root(), one.path, other.path)),
  }
}
