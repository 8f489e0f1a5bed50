// Actions of the current screen, for the palette.
import { useEffect, useSyncExternalStore } from 'react'

/** An action that the palette offers while its screen is open. */
export interface ScreenAction {
  readonly id: string
  readonly label: string
  /** Keys that do the same. */
  readonly keys?: string
  readonly run: () => void
}

let current: readonly ScreenAction[] = []
const listeners = new Set<() => void>()

function offer(actions: readonly ScreenAction[]): void {
  current = actions
  for (const listener of listeners) listener()
}

/** Offers actions while the screen is open. */
export function useScreenActions(actions: readonly ScreenAction[]): void {
  useEffect(() => offer(actions), [actions])
  useEffect(() => () => offer([]), [])
}

/** The actions of the current screen. */
export const useOfferedActions = (): readonly ScreenAction[] =>
  useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => current,
  )
