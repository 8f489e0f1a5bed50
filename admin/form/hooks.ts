// React's view of forms: one value, its errors, or a state of the whole.
import { useCallback, useRef, useSyncExternalStore } from 'react'
import type { FieldError } from './errors.js'
import type { Conflict } from './merge.js'
import type { Saver, SaverState } from './saver.js'
import type { DocumentStore } from './store.js'

function useForm<Value>(store: DocumentStore, path: string, read: () => Value): Value {
  const subscribe = useCallback((listener: () => void) => store.subscribe(path, listener), [store, path])
  return useSyncExternalStore(subscribe, read)
}

/** The value at a path; draws again after changes at, above or below it. */
export function useValue(store: DocumentStore, path: string): unknown {
  return useForm(store, path, () => store.get(path))
}

/** The errors of a value itself. */
export function useErrors(store: DocumentStore, path: string): readonly FieldError[] {
  return useForm(store, path, () => store.errors(path))
}

/** Number of errors and conflicts at and below a path. */
export function useErrorCount(store: DocumentStore, path: string): number {
  return useForm(store, path, () => store.errorCount(path))
}

/** True if the server has refused to store the present value. */
export function useRefused(store: DocumentStore, path: string): boolean {
  return useForm(store, path, () => store.isRefused(path))
}

/** The conflict at a value. */
export function useConflict(store: DocumentStore, path: string): Conflict | undefined {
  return useForm(store, path, () => store.conflict(path))
}

/** A part of the form that is compared by its JSON, such as a list of errors. */
export function useFormState<Value>(store: DocumentStore, read: (store: DocumentStore) => Value): Value {
  const last = useRef<{ readonly json: string; readonly value: Value }>(null)
  return useForm(store, '', () => {
    const value = read(store)
    const json = JSON.stringify(value)
    if (last.current?.json !== json) last.current = { json, value }
    return last.current.value
  })
}

/** The state of saving. */
export function useSaver(saver: Saver): SaverState {
  return useSyncExternalStore(saver.subscribe, () => saver.state)
}
