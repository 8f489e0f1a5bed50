// Open entries of lists and zones by their paths; all others are folded.
import { useCallback, useSyncExternalStore } from 'react'

/** Open entries. */
export interface Folding {
  readonly isOpen: (path: string) => boolean
  readonly set: (path: string, isOpen: boolean) => void
  /** Opens every entry above a path. */
  readonly reveal: (path: string) => void
  readonly subscribe: (listener: () => void) => () => void
}

/** Creates the state with everything folded. */
export function createFolding(): Folding {
  const open = new Set<string>()
  const listeners = new Set<() => void>()
  const changed = () => {
    for (const listener of [...listeners]) listener()
  }
  return {
    isOpen: (path) => open.has(path),
    set: (path, isOpen) => {
      if (isOpen) open.add(path)
      else open.delete(path)
      changed()
    },
    reveal: (path) => {
      const parts = path.split('/')
      for (let length = 1; length <= parts.length; length += 1) open.add(parts.slice(0, length).join('/'))
      changed()
    },
    subscribe: (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}

/** True if an entry is open. */
export function useIsOpen(folding: Folding, path: string): boolean {
  return useSyncExternalStore(
    folding.subscribe,
    useCallback(() => folding.isOpen(path), [folding, path]),
  )
}
